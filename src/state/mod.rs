//! What the state directory keeps of each customer: snapshots taken before a replacement and what became of it, the
//! locks that keep two replacements of one customer apart, recent additions to carts, and the address ids seen last, for
//! completion.

mod erasure;
mod listing;
mod outcome;
pub mod page_file;
mod recent;
mod record;
mod snapshot;

use std::cell::RefCell;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub use erasure::{
    Customer, customers_of, customers_with_email, forget_names, forget_old_names, remove_expired,
};
pub use listing::{SnapshotEntry, date_of_name, stem};
pub use recent::{LastRead, PendingWrite, Reach};
pub use record::WriteRecord;
pub use snapshot::{Snapshot, Unsent};

use crate::config::{ServiceId, Settings};
use crate::system::clock::Clock;
use crate::system::context::Context;
use crate::system::environment::STATE_HOME;
use crate::system::storage::{Lock, Storage};
use storefront_core::email::Email;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::text::hash::{fnv1a, sha256};
use storefront_core::text::token::Credential;

/// The files of one customer.
#[derive(Debug, Clone)]
pub struct CustomerStore {
    /// What the files are known by: of a customer without an id the email that the first update found.
    pub key: String,
    /// Where the snapshots are.
    pub directory: PathBuf,
    /// The service the customer is of, as snapshots name it.
    pub service: String,
    storage: Arc<dyn Storage>,
    clock: Clock,
    /// The snapshots, where they were listed under the customer's lock: nobody else adds or removes any then.
    listed: RefCell<Option<listing::Listing>>,
}

/// Where the journals of batches from standard input are.
///
/// # Errors
/// `usage` when no state directory is known.
pub fn journals_of_stdin(context: &Context) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("stdin"))
}

impl CustomerStore {
    /// The files of a customer of the service; `customer` is [`storefront_core::profile::stored::Profile::customer_key`] or what
    /// stands for it.
    ///
    /// # Errors
    /// `usage` when no state directory is known.
    pub fn of(context: &Context, settings: &Settings, customer: &str) -> Result<Self, Failure> {
        let snapshots = context.directories()?.state.join("snapshots");
        let service = snapshots.join(file_name(&settings.service_id().to_string()));
        // An update of a customer without an id may have changed the email.
        let earlier = Some(customer).filter(|customer| customer.contains('@'));
        let earlier = earlier.and_then(|key| load_customer(context, settings, &LockName::of_key(key)));
        let key = earlier.filter(|key| key.contains('@')).unwrap_or_else(|| customer.to_owned());
        let directory = service.join(directory_name(&key));
        Ok(Self::at(context, &settings.service_id().to_string(), key, directory))
    }

    /// The files in a directory.
    fn at(context: &Context, service: &str, key: String, directory: PathBuf) -> Self {
        let (storage, clock) = (context.storage.clone(), context.clock);
        Self { key, directory, service: service.to_owned(), storage, clock, listed: RefCell::default() }
    }

    /// The directories of the customers of a service that have snapshots on this machine.
    pub fn directories(context: &Context, service: &ServiceId) -> Vec<PathBuf> {
        let Ok(directories) = context.directories() else { return Vec::new() };
        let snapshots = directories.state.join("snapshots").join(file_name(&service.to_string()));
        context.storage.list(&snapshots).unwrap_or_default()
    }

    /// Deletes the snapshots of all customers of a service.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn delete_all(context: &Context, service: &ServiceId) -> std::io::Result<()> {
        for directory in Self::directories(context, service) {
            std::fs::remove_dir_all(directory)?;
        }
        Ok(())
    }
}

/// The names of all snapshots of a service on this machine, newest first, for completion.
pub fn snapshot_names(context: &Context, service: &ServiceId) -> Vec<String> {
    let directories = CustomerStore::directories(context, service);
    let stores =
        directories.into_iter().map(|directory| CustomerStore::at(context, "", String::new(), directory));
    let names = |store: CustomerStore| {
        store.entries().flatten().map(|entry| entry.name().to_owned()).collect::<Vec<_>>()
    };
    let mut names: Vec<String> = stores.flat_map(names).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names
}

/// The name of the directory of a customer with this key. One without an id is not named by the email, but by its hash: what
/// is left of a customer who was erased says nothing.
fn directory_name(key: &str) -> String {
    if key.contains('@') { format!("{BY_EMAIL}{}", email_hash(&Email::new(key))) } else { file_name(key) }
}

/// How the directories of customers without an id begin: [`file_name`] writes another name so.
const BY_EMAIL: &str = "email=";

/// Stands for an email, however it is spelled, in the names of files.
fn email_hash(email: &Email) -> String {
    // Memory can be read.
    let hash = sha256(&mut email.folded().as_bytes()).unwrap_or_default();
    hash.chars().take(32).collect()
}

/// A name that is one file name on every platform: what is not a small letter, digit, `-`, `_`, `.` or `@` is written
/// as `%` and its bytes in hexadecimal. So names that differ only in case stay apart where the file system ignores it. A
/// long name is cut, and its hash keeps it apart from others.
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

    /// A customer who has no id, by the hash of the email.
    pub fn email(email: &Email) -> Self {
        Self(format!("email-{}", email_hash(email)))
    }

    /// The customer with this key ([`storefront_core::profile::stored::Profile::customer_key`]).
    pub fn of_key(key: &str) -> Self {
        if key.contains('@') { Self::email(&Email::new(key)) } else { Self::customer(key) }
    }

    /// The attribute with this code.
    pub fn attribute(code: &str) -> Self {
        Self(format!("attribute-{code}"))
    }

    /// What it stands for, in a person's words.
    fn noun(&self) -> &'static str {
        if self.0.starts_with("attribute-") { "attribute" } else { "customer" }
    }

    /// The holder of this token.
    pub fn token(token: &Credential) -> Self {
        Self(format!("token-{:016x}", fnv1a(token.expose().as_bytes())))
    }
}

/// Waits for a lock, at most `timeout`; it is held until it is dropped, or until the process dies. `waiting` is called once
/// when somebody else holds it; `true` says that: what was read before may be out of date.
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

/// The file of a lock; `host` is [`ServiceId::lock_key`].
fn lock_at(state: &Path, host: &str, name: &LockName) -> PathBuf {
    state.join("locks").join(format!("{}.{}.lock", file_name(host), file_name(&name.0)))
}

/// Keeps which customer a token or an email, but not the customer's own id, leads to, as a verified replacement has shown; a token
/// as its hash. Of a customer without an id, an email that an update may have set leads to the one before.
pub fn save_customer(context: &Context, settings: &Settings, name: &LockName, customer: &str) {
    if *name != LockName::of_key(customer)
        && load_customer(context, settings, name).as_deref() != Some(customer)
        && let Ok(directory) = customers(context, &settings.service_id())
    {
        // A help: what cannot be written is found out again.
        let _ = context.storage.replace(&directory.join(file_name(&name.0)), customer.as_bytes());
    }
}

/// The key ([`storefront_core::profile::stored::Profile::customer_key`]) of the customer whom a token or an email led to.
pub fn load_customer(context: &Context, settings: &Settings, name: &LockName) -> Option<String> {
    let file = customers(context, &settings.service_id()).ok()?.join(file_name(&name.0));
    String::from_utf8(context.storage.read(&file).ok()?).ok()
}

/// Forgets where a name leads to; whether that was known.
pub fn forget_name(context: &Context, settings: &Settings, name: &LockName) -> bool {
    let directory = customers(context, &settings.service_id());
    directory.is_ok_and(|directory| context.storage.remove(&directory.join(file_name(&name.0))).is_ok())
}

/// Which of the names that lead to customers are forgotten.
#[derive(Debug, Clone, Copy)]
pub enum Names<'a> {
    /// All of this service.
    All,
    /// Those that lead to the customer with this key.
    Of(&'a str),
    /// Emails that lead to the customer with this key, and any name where that key is an email. Whose a token is stays.
    EmailsOf(&'a str),
    /// Emails, and names that lead to an email.
    Emails,
}

/// Forgets names that lead to customers, and removes what commands left that were killed while they wrote one down. Gives the number of
/// names.
pub fn forget_customers(context: &Context, service: &ServiceId, names: Names<'_>) -> usize {
    let files = customers(context, service).ok().and_then(|directory| context.storage.list(&directory).ok());
    let is_meant = |file: &Path| {
        let key =
            context.storage.read(file).ok().and_then(|key| String::from_utf8(key).ok()).unwrap_or_default();
        let is_named = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("email-"));
        let is_email = is_named || key.contains('@');
        match names {
            Names::All => true,
            Names::Of(customer) => key == customer,
            Names::EmailsOf(customer) => is_email && key == customer,
            Names::Emails => is_email,
        }
    };
    let mut count = 0;
    for file in files.into_iter().flatten() {
        let is_half_written = listing::is_half_written(&file);
        if (is_half_written || is_meant(&file)) && context.storage.remove(&file).is_ok() {
            count += usize::from(!is_half_written);
        }
    }
    count
}

fn customers(context: &Context, service: &ServiceId) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("customers").join(file_name(&service.to_string())))
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
