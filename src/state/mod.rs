//! Locks: only the holder of the lock of a customer, an attribute, a product or an order writes to it from this machine.
//! And the customers of tokens and emails, so that a customer's lock can be taken before the read.

pub mod page_file;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::Settings;
use crate::log::{CustomerStore, Name, WriteLog};
use crate::system::context::Context;
use crate::system::environment::STATE_HOME;
use crate::system::storage::Lock;
use storefront_core::email::Email;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::text::hash::{fnv1a, sha256};
use storefront_core::text::token::Credential;

/// The directory of the journals of batches from standard input.
///
/// # Errors
/// `usage` when no state directory is known.
pub fn journals_of_stdin(context: &Context) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("stdin"))
}

/// The text for an email, in any spelling, in the names of files.
fn email_hash(email: &Email) -> String {
    // Reading from memory cannot fail.
    let hash = sha256(&mut email.folded().as_bytes()).unwrap_or_default();
    hash.chars().take(32).collect()
}

/// A name that is one file name on every platform: any byte but small letters, digits, `-`, `_`, `.` and `@` is written
/// as `%` and its hexadecimal digits, so that names that differ only in case stay apart on every file system. A long name
/// is cut, and its hash keeps it apart from others.
fn file_name(name: &str) -> String {
    const MAX_LENGTH: usize = 120;
    let mut safe = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        let is_inside = index > 0 && index + 1 < name.len();
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'@' => safe.push(byte.into()),
            b'.' if is_inside => safe.push('.'),
            _ => {
                let _ = write!(safe, "%{byte:02X}");
            }
        }
    }
    if safe.len() > MAX_LENGTH {
        safe.truncate(MAX_LENGTH);
        let _ = write!(safe, "~{:016x}", fnv1a(name.as_bytes()));
    }
    safe
}

/// The pause before the lock is tried again.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The object of a lock, at one host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockName {
    /// The text in the name of its file.
    text: String,
    /// The token or the email that it is of.
    name: Option<Name>,
}

impl LockName {
    /// The customer with this id.
    pub fn customer(id: &str) -> Self {
        Self { text: format!("customer-{id}"), name: None }
    }

    /// A customer without an id, by the hash of the email.
    pub fn email(email: &Email) -> Self {
        Self { text: format!("email-{}", email_hash(email)), name: Some(Name::email(email)) }
    }

    /// The customer with this key ([`storefront_core::profile::stored::Profile::customer_key`]).
    pub fn of_key(key: &str) -> Self {
        if key.contains('@') { Self::email(&Email::new(key)) } else { Self::customer(key) }
    }

    /// The attribute with this code.
    pub fn attribute(code: &str) -> Self {
        Self { text: format!("attribute-{code}"), name: None }
    }

    /// The product with this SKU, in small letters.
    pub fn product(sku: &str) -> Self {
        Self { text: format!("product-{sku}"), name: None }
    }

    /// The order with this id.
    pub fn order(id: u64) -> Self {
        Self { text: format!("order-{id}"), name: None }
    }

    /// The word for its object.
    pub fn noun(&self) -> &'static str {
        match self.text.split_once('-') {
            Some(("attribute", _)) => "attribute",
            Some(("product", _)) => "product",
            Some(("order", _)) => "order",
            _ => "customer",
        }
    }

    /// The holder of this token.
    pub fn token(token: &Credential) -> Self {
        let text = format!("token-{:016x}", fnv1a(token.expose().as_bytes()));
        Self { text, name: Some(Name::token(token)) }
    }
}

/// Waits for a lock, at most `timeout`; it is held until it is dropped, or until the process dies. `waiting` is called
/// once when somebody else holds it; then `true` is returned, because an earlier read may be out of date.
///
/// # Errors
/// `unavailable` when it does not become free in time, `internal` when the lock file cannot be made.
pub async fn acquire(
    context: &Context,
    settings: &Settings,
    name: &LockName,
    timeout: Duration,
    waiting: impl FnOnce(),
) -> Result<(Lock, bool), Failure> {
    let path = lock_path(context, settings, name)?;
    let unusable = |error: std::io::Error| {
        Failure::internal(format!("the lock `{}` cannot be used: {error}", path.display()))
            .hint(format!("nothing is written without the lock: free some space, or set {STATE_HOME}"))
    };
    let deadline = Instant::now() + timeout;
    let mut waiting = Some(waiting);
    loop {
        if let Some(lock) = context.storage.try_lock(&path).map_err(unusable)? {
            return Ok((lock, waiting.is_none()));
        }
        if let Some(waiting) = waiting.take() {
            waiting();
        }
        if Instant::now() >= deadline {
            return Err(Failure::new(
                FailureKind::Unavailable,
                format!(
                    "another storefront command has been writing to this {} for {} s",
                    name.noun(),
                    timeout.as_secs_f64()
                ),
            )
            .hint("try again when it is done; the setting `lock-timeout` says how long to wait"));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn lock_path(context: &Context, settings: &Settings, name: &LockName) -> Result<PathBuf, Failure> {
    Ok(lock_at(&context.directories()?.state, &settings.service_id().lock_key, name))
}

/// The file of a lock; `host` is [`crate::config::ServiceId::lock_key`].
fn lock_at(state: &Path, host: &str, name: &LockName) -> PathBuf {
    state.join("locks").join(format!("{}.{}.lock", file_name(host), file_name(&name.text)))
}

/// Keeps the customer of a token or an email, but not of the customer's own id, after a verified replacement. For a
/// customer without an id, an email that an update may have set leads to the one before. Errors are ignored: it is only
/// an aid.
pub fn save_customer(context: &Context, settings: &Settings, name: &LockName, customer: &str) {
    if *name != LockName::of_key(customer)
        && let Some(name) = &name.name
        && let Ok(log) = WriteLog::open(context)
    {
        log.note_name(&settings.service_id().to_string(), name, customer);
    }
}

/// The key ([`storefront_core::profile::stored::Profile::customer_key`]) that is kept for a token or an email.
pub fn load_customer(context: &Context, settings: &Settings, name: &LockName) -> Option<String> {
    let log = WriteLog::to_read(context).ok().flatten()?;
    log.named(&settings.service_id().to_string(), name.name.as_ref()?).ok().flatten()
}

/// The customer's part of the log; `customer` is [`storefront_core::profile::stored::Profile::customer_key`] or the key
/// that stands for it.
///
/// # Errors
/// `guard` where the log cannot be used, except for a dry run.
pub fn store(
    context: &Context,
    settings: &Settings,
    customer: &str,
    is_dry_run: bool,
) -> Result<CustomerStore, Failure> {
    // An update of a customer without an id may have changed the email.
    let earlier = Some(customer).filter(|customer| customer.contains('@'));
    let earlier = earlier.and_then(|key| load_customer(context, settings, &LockName::of_key(key)));
    let key = earlier.filter(|key| key.contains('@')).unwrap_or_else(|| customer.to_owned());
    let log = WriteLog::to_write(context, is_dry_run)?;
    Ok(CustomerStore::new(log, settings.service_id().to_string(), key))
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn foreign_names_cannot_leave_their_directory() {
        assert_eq!(file_name("../../etc"), "%2E.%2F..%2Fetc");
        assert_eq!(file_name("a.b@c-d_1"), "a.b@c-d_1");
        assert_ne!(file_name("a/b"), file_name("a%2Fb"));
    }

    #[test]
    fn names_stay_apart_where_the_file_system_ignores_case() {
        let folded = |name: &str| file_name(name).to_lowercase();
        assert_ne!(folded("Anna@shop"), folded("anna@shop"));
        assert_eq!((file_name("a."), file_name(".")), ("a%2E".to_owned(), "%2E".to_owned()));
    }

    #[test]
    fn a_long_name_is_cut_and_stays_apart_from_others() {
        let long = "日本".repeat(200);
        let (one, other) = (file_name(&long), file_name(&format!("{long}x")));
        assert!(one.len() < 150 && one != other);
    }
}
