//! Locks: on one machine two replacements of our own of one customer never overlap, whatever profile, spelling of the
//! host or token reaches that customer.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::file_name;
use crate::config::Settings;
use crate::context::Context;
use crate::environment::STATE_HOME;
use crate::failure::{Failure, FailureKind};
use crate::journal::Fnv1a;
use crate::storage::Lock;
use crate::token::Token;

/// How long to wait before asking for the lock again.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// What a lock stands for, at one host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockName(String);

impl LockName {
    /// The customer with this id.
    pub fn customer(id: &str) -> Self {
        Self(format!("customer-{id}"))
    }

    /// A customer who has no id, by e-mail address in any case.
    pub fn email(email: &str) -> Self {
        Self(format!("email-{}", email.to_lowercase()))
    }

    /// The customer with this key ([`crate::plan::profile::stored::Profile::customer_key`]).
    pub fn of_key(key: &str) -> Self {
        if key.contains('@') { Self::email(key) } else { Self::customer(key) }
    }

    /// The name as it stands in files.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The holder of this token.
    pub fn token(token: &Token) -> Self {
        Self(format!("token-{:016x}", Fnv1a::new().update(token.expose().as_bytes()).finish()))
    }
}

/// A lock that is held until it is dropped, or until the process dies.
pub struct CustomerLock {
    _lock: Lock,
    /// Whether another process had it first: what was read before may be out of date.
    pub was_waited_for: bool,
}

/// Waits for a lock, at most `timeout`. `waiting` is called once when somebody else holds it.
///
/// # Errors
/// `unavailable` when it does not become free in time, `internal` when the lock file cannot be made.
pub async fn acquire(
    context: &Context,
    settings: &Settings,
    name: &LockName,
    timeout: Duration,
    waiting: impl FnOnce(),
) -> Result<CustomerLock, Failure> {
    let path = lock_path(context, settings, name)?;
    let unusable = |error: std::io::Error| {
        Failure::internal(format!("the lock `{}` cannot be used: {error}", path.display()))
            .hint(format!("a profile is replaced only under its lock: free some space, or set {STATE_HOME}"))
    };
    let deadline = Instant::now() + timeout;
    let mut waiting = Some(waiting);
    loop {
        if let Some(lock) = context.storage.try_lock(&path).map_err(unusable)? {
            return Ok(CustomerLock { _lock: lock, was_waited_for: waiting.is_none() });
        }
        if let Some(waiting) = waiting.take() {
            waiting();
        }
        if Instant::now() >= deadline {
            return Err(Failure::new(
                FailureKind::Unavailable,
                format!(
                    "another storefront command has been writing to this customer for {} s",
                    timeout.as_secs_f64()
                ),
            )
            .hint("try again when it is done; --lock-timeout sets how long to wait"));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn lock_path(context: &Context, settings: &Settings, name: &LockName) -> Result<PathBuf, Failure> {
    let host = settings.service_id().lock_key;
    let file = format!("{}.{}.lock", file_name(&host), file_name(&name.0));
    Ok(context.directories()?.state.join("locks").join(file))
}
