//! What `customer history` deletes: of one customer, or of all.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};

use crate::batch::listing::Listing;
use crate::client::Session;
use crate::client::service::Service;
use crate::config::ServiceId;
use crate::log::WriteLog;
use crate::ops::profile::whose::ensure_own;
use crate::plan::Planned;
use crate::plan::assistants::{self, Held};
use crate::state::{self, Customer, CustomerStore, LockName, Names, SnapshotEntry, acquire};
use crate::system::storage::Lock;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Bearer;
use storefront_core::operation::scalar;

/// What stands for every snapshot.
const ALL: &str = "all";

/// Removes the snapshot that `what` names, or `all` of this customer, under the customer's lock and after a question.
///
/// # Errors
/// `usage` where nothing or more than one snapshot has that name, `guard` without a yes and for a replacement that may
/// still take effect, `unavailable` while another command writes to the customer.
pub async fn of_one(
    service: &Service<'_>,
    store: &CustomerStore,
    customer: &str,
    what: &str,
) -> Result<(), Failure> {
    let session = service.session;
    let wanted = if what == ALL {
        store.entries().collect::<Result<_, _>>()?
    } else {
        ensure_own(service, store, what)?;
        vec![store.named(what)?]
    };
    let held = if what == ALL { Some(held_of(service, store, customer, &wanted)?) } else { None };
    let plans = held.as_ref().map_or(0, |held| held.alone.len());
    let named = match &wanted[..] {
        [one] => format!("snapshot {}", one.name()),
        all => format!("{} snapshots", all.len()),
    };
    let named = named + &and_plans(plans);
    if wanted.len() + plans > 0 {
        session.prompt().confirm_deletion(&format!("Delete {named}? This cannot be undone"))?;
    }
    let _lock = lock(service, &LockName::of_key(&store.key)).await?;
    store.list_once()?;
    if let Some(name) = still_open(store, &wanted)? {
        return Err(Failure::guard(format!(
            "the outcome of {name} is unknown, and it may still take effect"
        ))
        .hint(hint!(
            "run ",
            storefront("customer history --check"),
            ", or wait 10 minutes after its request left"
        )));
    }
    store.remove(&wanted, what == ALL)?;
    if what == ALL {
        for key in [customer, &store.key] {
            state::forget_names(session.context, &service.settings.service_id(), key);
        }
        if let Some(log) = WriteLog::to_read(session.context)? {
            log.forget_addresses(&service.settings.service_name());
        }
    }
    held.map_or(Ok(()), |held| remove_plans(session, &service.settings.service_id(), &held))?;
    session.report.status(&format!("deleted {named}"));
    Ok(())
}

/// The plans of assistants that change this customer, who is known by the id, or by an email that a snapshot has.
fn held_of(
    service: &Service<'_>,
    store: &CustomerStore,
    customer: &str,
    snapshots: &[SnapshotEntry],
) -> Result<Held, Failure> {
    let mut names = vec![customer.to_owned(), store.key.clone()];
    for snapshot in snapshots.iter().filter_map(|entry| store.read(&entry.path).ok()) {
        let emails = [&snapshot.customer, &snapshot.merged].map(|customer| scalar(customer.get("email")));
        names.extend(emails.into_iter().flatten());
    }
    let is_it = |name: &str| names.iter().any(|own| own.eq_ignore_ascii_case(name));
    let id = service.settings.service_id();
    assistants::held(service.session.context, &id, |record| {
        let owner = ["id", "email"].map(|name| scalar(record.expect.owner.get(name)));
        owner.into_iter().flatten().chain(record.customer.clone()).any(|name| is_it(&name))
    })
}

/// Removes plans of assistants, and says which files are left that may hold data of a customer.
fn remove_plans(session: &Session<'_>, id: &ServiceId, held: &Held) -> Result<(), Failure> {
    for plan in &held.alone {
        let failed = |error| Failure::internal(format!("cannot remove `{}`: {error}", plan.display()));
        session.context.storage.remove(plan).map_err(failed)?;
    }
    let journals = session.context.storage.list(&state::journals_of_stdin(session.context)?);
    let is_of_people = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "journal")
            && Listing::read(session, path).is_ok_and(|listing| {
                let (header, operation) = (&listing.header, listing.operation);
                header.service == id.url
                    && header.interface == id.interface
                    && operation.bearer == Bearer::Customer
            })
    };
    let mut left = held.others.clone();
    left.extend(journals.unwrap_or_default().into_iter().filter(is_of_people));
    if !left.is_empty() {
        left.sort();
        let left: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
        session.report.warn(&format!(
            "not deleted, and may hold data of customers (without the journal of an input from stdin, the same input would \
             be sent again):\n{}",
            left.join("\n")
        ));
    }
    Ok(())
}

fn and_plans(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {} of assistants", counted(count, "plan")) }
}

/// Removes all snapshots of all customers of this service, or those that are older than an age, after a question with their
/// number.
///
/// # Errors
/// `guard` without a yes, and where snapshots are kept because a replacement may still take effect; `unavailable` while
/// another command writes to a customer; `usage` where one snapshot is named.
pub async fn of_all(
    service: &Service<'_>,
    what: Option<&str>,
    age: Option<SignedDuration>,
) -> Result<(), Failure> {
    if what.is_some_and(|what| what != ALL) {
        return Err(Failure::usage("a snapshot is of one customer")
            .hint("name the customer with --customer, or delete `all`"));
    }
    let (session, id) = (service.session, service.settings.service_id());
    let now = session.context.clock.now();
    let limit = age.map(|age| now.checked_sub(age).unwrap_or(Timestamp::MIN));
    let customers = state::customers_of(session.context, &id)?;
    let (mut count, mut owners) = (0, 0);
    for customer in &customers {
        let (wanted, _) = wanted(&customer.store, limit)?;
        count += wanted.len();
        owners += usize::from(!wanted.is_empty());
    }
    // Those of an age expire by themselves.
    let of_people = |record: &Planned| record.customer.is_some() || !record.expect.owner.is_empty();
    let held = if age.is_none() { Some(assistants::held(session.context, &id, of_people)?) } else { None };
    let plans = held.as_ref().map_or(0, |held| held.alone.len());
    let of = format!("{} of {}", counted(count, "snapshot"), counted(owners, "customer"));
    let named = of + &and_plans(plans);
    if count + plans > 0 {
        session.prompt().confirm_deletion(&format!("Delete {named}? This cannot be undone"))?;
    }
    let (mut deleted, mut kept) = (0, Vec::new());
    for customer in &customers {
        let Customer { store, lock: name } = customer;
        let _lock = lock(service, name).await?;
        store.list_once()?;
        let (wanted, open) = wanted(store, limit)?;
        if let Some(open) = still_open(store, &wanted)? {
            kept.push(format!("{open} of customer {}", customer.name()));
            continue;
        }
        store.remove(&wanted, limit.is_none() || store.last_read().is_none())?;
        deleted += wanted.len();
        kept.extend(open.iter().map(|entry| format!("{} of customer {}", entry.name(), customer.name())));
    }
    let limit = limit.unwrap_or(Timestamp::MAX);
    state::forget_old_names(session.context, &id, limit, kept.is_empty())?;
    held.map_or(Ok(()), |held| remove_plans(session, &id, &held))?;
    session.report.status(&format!("deleted {}{}", counted(deleted, "snapshot"), and_plans(plans)));
    refuse_kept(&kept, age.is_some())
}

/// Says which snapshots were left where they are.
fn refuse_kept(kept: &[String], by_age: bool) -> Result<(), Failure> {
    const SHOWN: usize = 5;
    if kept.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> = kept.iter().take(SHOWN).cloned().collect();
    if kept.len() > SHOWN {
        names.push(format!("{} more", kept.len() - SHOWN));
    }
    let snapshots = counted(kept.len(), "snapshot");
    let (what, hint) = if by_age {
        (
            "outcome is unknown or a mismatch",
            hint!("delete each with ", storefront("customer history --customer ID --delete SNAPSHOT")),
        )
    } else {
        ("update may still take effect", "run the command again 10 minutes after the last update".into())
    };
    Err(Failure::guard(format!("{snapshots} kept whose {what}: {}", names.join(", "))).hint(hint))
}

/// The snapshots of a customer that are to go, and those that are kept because of their outcome.
fn wanted(
    store: &CustomerStore,
    limit: Option<Timestamp>,
) -> Result<(Vec<SnapshotEntry>, Vec<SnapshotEntry>), Failure> {
    match limit {
        Some(limit) => store.older_than(limit),
        None => Ok((store.entries().collect::<Result<_, _>>()?, Vec::new())),
    }
}

/// The newest replacement, where it is among these and may still take effect: later commands need it. One that cannot be
/// read helps none.
fn still_open(store: &CustomerStore, wanted: &[SnapshotEntry]) -> Result<Option<String>, Failure> {
    let open = store.newest_pending()?;
    let open = open.filter(|open| wanted.iter().any(|entry| entry.path == open.entry.path));
    Ok(open.filter(|open| store.read(&open.entry.path).is_ok()).map(|open| open.entry.name().to_owned()))
}

/// Forgets whose this token is.
///
/// # Errors
/// `auth` where there is no token.
pub async fn forget_token(service: &Service<'_>) -> Result<(), Failure> {
    let session = service.session;
    let name = LockName::token(service.token(Bearer::Customer).await?);
    let was_known = state::forget_name(session.context, &service.settings, &name);
    session.report.status(if was_known {
        "forgot whose this token is; the next update keeps it again"
    } else {
        "whose this token is was not kept"
    });
    Ok(())
}

/// Forgets which tokens and emails lead to a customer.
pub fn forget_owner(service: &Service<'_>, customer: &str) {
    let session = service.session;
    let id = service.settings.service_id();
    let count = state::forget_customers(session.context, &id, Names::Of(customer));
    session.report.status(&if count > 0 {
        format!("forgot which tokens and emails are customer {customer}'s")
    } else {
        format!("no token or email of customer {customer} was kept")
    });
}

async fn lock(service: &Service<'_>, name: &LockName) -> Result<Lock, Failure> {
    let (session, settings) = (service.session, &service.settings);
    let waiting =
        || session.report.status("waiting for another storefront command that writes to this customer");
    let (lock, _) = acquire(session.context, settings, name, settings.lock_timeout, waiting).await?;
    Ok(lock)
}

/// A number with its noun: `3 snapshots`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
