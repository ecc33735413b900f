//! A customer's profile, read under the locks that keep our own commands apart.

use std::time::Duration;

use super::change::ProfileChange;
use crate::failure::Failure;
use crate::ops::profile::read;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Bearer;
use crate::session::service::Service;
use crate::state::{CustomerLock, LockName, acquire};

/// A profile that no other storefront command on this machine replaces while this is held.
pub struct Locked {
    /// As it was read under the locks.
    pub stored: Profile,
    /// Whether it comes from the service, and not from `--base`.
    pub is_readable: bool,
    _locks: Vec<CustomerLock>,
}

impl Locked {
    /// Takes the locks and reads the profile. Whose profile a token leads to is known only when it was read, so a lock
    /// on the token comes first, then the read, then the lock on the customer; if that had to be waited for, the
    /// profile is read again. Always in this order.
    ///
    /// # Errors
    /// `unavailable` when a lock is not free in time, and as [`read::read_or_base`].
    pub async fn read(service: &Service<'_>, change: &dyn ProfileChange) -> Result<Self, Failure> {
        let base = change.base();
        let timeout = change.replacement_args().lock_timeout.unwrap_or(service.settings.lock_timeout);
        let token = service.token(Bearer::Customer).await?;
        let by_token = lock(service, &LockName::token(token), timeout).await?;
        let (mut stored, mut is_readable) = read::read_or_base(service, base).await?;
        let name = lock_name(&stored).unwrap_or_else(|| LockName::token(token));
        let mut locks = vec![by_token];
        if name != LockName::token(token) {
            let by_customer = lock(service, &name, timeout).await?;
            if by_customer.was_waited_for {
                (stored, is_readable) = read::read_or_base(service, base).await?;
            }
            locks.push(by_customer);
        }
        Ok(Self { stored, is_readable, _locks: locks })
    }
}

fn lock_name(stored: &Profile) -> Option<LockName> {
    let text = |name: &str| stored.text(name);
    text("id")
        .map(|id| LockName::customer(&id))
        .or_else(|| text("email").map(|email| LockName::email(&email)))
}

async fn lock(service: &Service<'_>, name: &LockName, timeout: Duration) -> Result<CustomerLock, Failure> {
    let session = service.session;
    acquire(session.context, &service.settings, name, timeout, || {
        session.report.status("waiting for another storefront process to finish with this customer");
    })
    .await
}
