//! `storefront customer history --delete`: removes snapshots, which hold customer data.

use crate::failure::Failure;
use crate::prompt::{Answer, Prompt};
use crate::session::service::Service;
use crate::state::{self, CustomerStore, LockName, SnapshotEntry, acquire};

/// Removes the snapshot that `what` names, or `all` of this customer, under the customer's lock and after a question.
///
/// # Errors
/// `usage` where nothing or more than one snapshot has that name, `guard` without a yes and for a replacement that may
/// still take effect, `unavailable` while another command writes to the customer.
pub async fn delete(service: &Service<'_>, store: &CustomerStore, what: &str) -> Result<(), Failure> {
    let session = service.session;
    let wanted = wanted(store, what)?;
    let customer = store.directory().file_name().unwrap_or_default().to_string_lossy();
    if wanted.is_empty() {
        forget(service, what, &customer);
        session.report.status("no snapshots to delete");
        return Ok(());
    }
    let prompt = Prompt::new(session.context, session.global, session.report);
    let question = match &wanted[..] {
        [one] => format!("Delete the snapshot {}? It can no longer be restored", one.name()),
        many => format!("Delete {} snapshots? They can no longer be restored", many.len()),
    };
    if let Answer::Back = prompt.confirm_deletion(&question)? {
        return Err(Failure::cancelled());
    }
    let name = LockName::of_key(&customer);
    let timeout = service.settings.lock_timeout;
    let waiting =
        || session.report.status("waiting for another storefront command that writes to this customer");
    let _lock = acquire(session.context, &service.settings, &name, timeout, waiting).await?;
    keep_pending(store, &wanted)?;
    for entry in &wanted {
        store.delete(&entry.path).map_err(|error| {
            Failure::internal(format!("cannot delete `{}`: {error}", entry.path.display()))
        })?;
    }
    forget(service, what, &customer);
    session.report.status(&match &wanted[..] {
        [one] => format!("deleted snapshot `{}`", one.name()),
        many => format!("deleted {} snapshots", many.len()),
    });
    Ok(())
}

fn wanted(store: &CustomerStore, what: &str) -> Result<Vec<SnapshotEntry>, Failure> {
    if what == "all" {
        return store.entries();
    }
    let found = store.named(what)?;
    match found.len() {
        1 => Ok(found),
        0 => Err(Failure::usage(format!("no snapshot named `{what}` of this customer on this machine"))
            .hint("run `storefront customer history` to list the snapshots")),
        number => Err(Failure::usage(format!("`{what}` names {number} snapshots"))
            .hint("give more of the name, or `--delete all`")),
    }
}

/// With all of a customer's snapshots goes what is known of the tokens that led to the customer.
fn forget(service: &Service<'_>, what: &str, customer: &str) {
    if what == "all" {
        let service_id = service.settings.service_id();
        state::forget_customers(service.session.context, &service_id, Some(customer));
    }
}

/// Later commands need the snapshot of a replacement that may still take effect, to recognise it.
fn keep_pending(store: &CustomerStore, wanted: &[SnapshotEntry]) -> Result<(), Failure> {
    let Some(open) = store.newest_open()? else { return Ok(()) };
    // One that cannot be read helps nobody.
    let is_needed = wanted.iter().any(|entry| entry.path == open.entry.path);
    if !is_needed || store.read(&open.entry.path).is_err() {
        return Ok(());
    }
    let name = open.entry.name();
    Err(Failure::guard(format!("the outcome of {name} is unknown, and it may still take effect"))
        .hint("run `storefront customer history --check`, or wait 10 minutes after its request left"))
}
