//! Erasing what is kept of customers: by age once a day, or what a person names.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::listing::is_half_written;
use super::{BY_EMAIL, CustomerStore, LockName, Names, directory_name, file_name, forget_customers, lock_at};
use crate::config::ServiceId;
use crate::log::WriteLog;
use crate::system::context::Context;
use storefront_core::email::Email;
use storefront_core::failure::Failure;

/// How often it is looked for what is too old.
const INTERVAL: SignedDuration = SignedDuration::from_hours(24);

/// A customer of whom files are kept.
#[derive(Debug)]
pub struct Customer {
    /// What locks them.
    pub lock: LockName,
    /// The files.
    pub store: CustomerStore,
}

impl Customer {
    /// The one whose files are in this directory; `None` where its name is not one that this program gives, or was cut.
    fn of(context: &Context, service: &str, directory: PathBuf) -> Option<Self> {
        let name = directory.file_name()?.to_str()?;
        let (key, lock) = if let Some(hash) = name.strip_prefix(BY_EMAIL) {
            (String::new(), LockName(format!("email-{hash}")))
        } else {
            let key = percent_decode_str(name).decode_utf8().ok()?.into_owned();
            // The name of a long key is cut.
            let lock = Some(LockName::of_key(&key)).filter(|_| file_name(&key) == name)?;
            (key, lock)
        };
        Some(Self { lock, store: CustomerStore::at(context, service, key, directory) })
    }

    /// What people know the customer by: the id, else the email that a snapshot shows.
    pub fn name(&self) -> String {
        let newest = || {
            let snapshot = self.store.entries().find_map(|entry| self.store.read(&entry.ok()?.path).ok())?;
            Some(snapshot.customer.get("email")?.as_str()?.to_owned())
        };
        if self.store.key.is_empty() { newest().unwrap_or_default() } else { self.store.key.clone() }
    }
}

/// The customers of a service of whom this machine keeps files.
///
/// # Errors
/// `internal` where the directory cannot be read, `usage` when no state directory is known.
pub fn customers_of(context: &Context, service: &ServiceId) -> Result<Vec<Customer>, Failure> {
    let service = service.to_string();
    let directory = context.directories()?.state.join("snapshots").join(file_name(&service));
    let found = context
        .storage
        .list(&directory)
        .map_err(|error| Failure::internal(format!("`{}` cannot be read: {error}", directory.display())))?;
    Ok(found.into_iter().filter_map(|found| Customer::of(context, &service, found)).collect())
}

/// The keys of the customers of a service who had this email before or after the newest update of them that this machine knows.
///
/// # Errors
/// As [`customers_of`].
pub fn customers_with_email(
    context: &Context,
    service: &ServiceId,
    email: &Email,
) -> Result<Vec<String>, Failure> {
    let is_it =
        |profile: &Map<String, Value>| profile.get("email").and_then(Email::of).as_ref() == Some(email);
    let has_email = |customer: &Customer| {
        let newest = customer.store.newest(|_| true).ok().flatten();
        let snapshot = newest.and_then(|newest| customer.store.read(&newest.path).ok());
        snapshot.is_some_and(|snapshot| is_it(&snapshot.customer) || is_it(&snapshot.merged))
    };
    let mut customers = customers_of(context, service)?;
    customers.retain(has_email);
    // Of a customer without an id the email leads to the files.
    let key = |customer: Customer| Some(customer.store.key).filter(|key| !key.is_empty());
    Ok(customers.into_iter().map(|customer| key(customer).unwrap_or_else(|| email.folded())).collect())
}

/// Forgets the emails that lead to a customer, and whose a token is where only an email says that.
pub fn forget_names(context: &Context, service: &ServiceId, customer: &str) {
    forget_customers(context, service, Names::EmailsOf(customer));
}

/// Forgets what was kept before `limit` beside snapshots: addresses for completion, and emails that lead to customers. With `all`
/// emails go whose customers have snapshots, too.
///
/// # Errors
/// `usage` when no state directory is known.
pub fn forget_old_names(
    context: &Context,
    service: &ServiceId,
    limit: Timestamp,
    all: bool,
) -> Result<(), Failure> {
    let state = &context.directories()?.state;
    forget_addresses_before(context, limit);
    if all && limit == Timestamp::MAX {
        forget_customers(context, service, Names::Emails);
    } else {
        forget_unused_names(context, state, file_name(&service.to_string()).as_ref());
    }
    Ok(())
}

/// When it was last looked for what is too old, at one service.
#[derive(Debug, Serialize, Deserialize)]
struct Look {
    /// [`ServiceId::lock_key`].
    lock: String,
    /// The days that snapshots are kept.
    days: u32,
    /// When.
    at: Timestamp,
}

impl Look {
    fn is_due(&self, now: Timestamp) -> bool {
        self.days == 0 || now < self.at || now.duration_since(self.at) >= INTERVAL
    }

    /// What was made before this is too old. The clock counts for at most a day after the last look: where it is set years
    /// ahead, nothing is removed that would not have been removed soon anyway.
    fn limit(&self, now: Timestamp) -> Timestamp {
        let now = now.min(self.at.checked_add(INTERVAL).unwrap_or(now));
        now.checked_sub(SignedDuration::from_hours(i64::from(self.days) * 24)).unwrap_or(Timestamp::MIN)
    }
}

/// Removes what is older than the days that each service's settings say, of all customers of all services, once a day. `days` is
/// that of this service. It is housekeeping: what cannot be removed now, because another command holds the lock or the
/// disk fails, is tried again the next day.
pub fn remove_expired(context: &Context, service: &ServiceId, days: u32) {
    let Ok(directories) = context.directories() else { return };
    let (state, now) = (&directories.state, context.clock.now());
    let looks = state.join("retention");
    let own = looks.join(format!("{}.json", file_name(&service.to_string())));
    let save = |file: &Path, look: &Look| {
        let _ = serde_json::to_vec(look).map(|text| context.storage.replace(file, &text));
    };
    let files = context.storage.list(&looks).unwrap_or_default();
    if !files.contains(&own) {
        save(&own, &Look { lock: service.lock_key.clone(), days, at: now });
    }
    for file in files {
        let text = context.storage.read(&file).unwrap_or_default();
        let Ok(mut look) = serde_json::from_slice::<Look>(&text) else {
            // It is half written, or damaged: the next command writes a new one.
            let _ = context.storage.remove(&file);
            continue;
        };
        let is_new = file == own && look.days != days;
        if is_new {
            look.days = days;
        }
        if look.is_due(now) {
            let limit = look.limit(now);
            let name = file.file_stem().unwrap_or_default();
            remove_older(context, state, name.as_ref(), &look.lock, limit);
            if file == own {
                forget_addresses_before(context, limit);
            }
            look.at = now;
            save(&file, &look);
        } else if is_new {
            save(&file, &look);
        }
    }
}

/// Removes what is older than `limit` of all customers of a service, whose directories have this name.
fn remove_older(context: &Context, state: &Path, service: &Path, host: &str, limit: Timestamp) {
    for directory in context.storage.list(&state.join("snapshots").join(service)).unwrap_or_default() {
        let Some(Customer { lock, store }) = Customer::of(context, "", directory) else { continue };
        let Ok(Some(_lock)) = context.storage.try_lock(&lock_at(state, host, &lock)) else { continue };
        if store.list_once().is_err() {
            continue;
        }
        let (older, _) = store.older_than(limit).unwrap_or_default();
        let _ = store.remove(&older, store.last_read().is_none());
    }
    forget_unused_names(context, state, service);
}

/// Forgets the names that lead to an email of which no snapshots are left, and removes files that were not written to their end.
fn forget_unused_names(context: &Context, state: &Path, service: &Path) {
    let names = state.join("customers").join(service);
    for file in context.storage.list(&names).unwrap_or_default() {
        let key = context.storage.read(&file).ok().and_then(|key| String::from_utf8(key).ok());
        let is_over = |key: String| {
            let directory = state.join("snapshots").join(service).join(directory_name(&key));
            key.contains('@') && !has_snapshots(context, directory)
        };
        if is_half_written(&file) || key.is_some_and(is_over) {
            let _ = context.storage.remove(&file);
        }
    }
}

fn forget_addresses_before(context: &Context, limit: Timestamp) {
    if let Ok(Some(log)) = WriteLog::to_read(context) {
        log.forget_addresses_before(limit);
    }
}

fn has_snapshots(context: &Context, directory: PathBuf) -> bool {
    let store = CustomerStore::at(context, "", String::new(), directory);
    store.newest(|_| true).is_ok_and(|newest| newest.is_some())
}
