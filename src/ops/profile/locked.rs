//! A customer's profile, read under the locks that keep our own commands apart.

use std::time::Duration;

use super::read;
use crate::failure::Failure;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Bearer;
use crate::session::service::Service;
use crate::state::{self, CustomerLock, CustomerStore, LockName, acquire};

/// A profile that was read.
pub struct Held {
    /// The profile.
    pub stored: Profile,
    /// Whether it comes from the service, and not from `--base`.
    pub is_readable: bool,
    /// The customer's files.
    pub store: CustomerStore,
    /// What the customer was named by: the id, the email or the token.
    pub name: LockName,
    _locks: Vec<CustomerLock>,
}

impl Held {
    /// Reads the profile; with `locks`, no other storefront command on this machine replaces it while this is held.
    ///
    /// Whose profile a token or an email leads to is known from an earlier replacement, or only when it was read. So a
    /// lock on the token or email comes first, then the one on the customer; where that was not known, it is taken after
    /// the read, and the profile is read again if it may have changed meanwhile.
    ///
    /// # Errors
    /// `unavailable` when a lock is not free in time, and as [`read::read_or_base`].
    pub async fn read(
        service: &Service<'_>,
        base: Option<&Profile>,
        lock_timeout: Option<Duration>,
        locks: bool,
    ) -> Result<Self, Failure> {
        let (context, settings) = (service.session.context, &*service.settings);
        let name = match (service.customer, &service.email) {
            (Some(id), _) => LockName::customer(&id.to_string()),
            (None, Some(email)) => LockName::email(email),
            (None, None) => LockName::token(service.token(Bearer::Customer).await?),
        };
        let known = state::load_customer(context, settings, &name).map(|key| LockName::of_key(&key));
        let mut names: Vec<LockName> = vec![name.clone()];
        names.extend(known.filter(|known| *known != name));
        let timeout = lock_timeout.unwrap_or(settings.lock_timeout);
        let mut held = Vec::new();
        for name in names.iter().filter(|_| locks) {
            held.push(lock(service, name, timeout).await?);
        }
        let started = context.clock.now();
        let (mut stored, mut is_readable) = read::read_or_base(service, base).await?;
        let store = CustomerStore::of(context, settings, &stored.customer_key())?;
        let by_id = stored.text("id").map(|id| LockName::customer(&id));
        let own = by_id.or_else(|| stored.text("email").map(|email| LockName::email(&email)));
        let own = own.filter(|own| locks && !names.contains(own));
        if let Some(own) = own {
            let by_customer = lock(service, &own, timeout).await?;
            if by_customer.was_waited_for || store.changed_since(started)? {
                (stored, is_readable) = read::read_or_base(service, base).await?;
            }
            held.push(by_customer);
        }
        Ok(Self { stored, is_readable, store, name, _locks: held })
    }

    /// The service with the customer's id, where an email named it.
    pub fn service<'a>(&self, service: &Service<'a>) -> Service<'a> {
        let id = self.stored.text("id").and_then(|id| id.parse().ok());
        service.with_customer(if service.email.is_some() { id } else { service.customer })
    }
}

async fn lock(service: &Service<'_>, name: &LockName, timeout: Duration) -> Result<CustomerLock, Failure> {
    let session = service.session;
    acquire(session.context, &service.settings, name, timeout, || {
        session.report.status("waiting for another storefront process to finish with this customer");
    })
    .await
}
