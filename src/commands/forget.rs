//! `storefront forget`: deletes what this machine keeps of customers. The shop is not touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::past::order_id;
use crate::batch::listing::Listing;
use crate::cli::{ConfirmArgs, RequestArgs};
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::journal::open::is_in_use;
use crate::log::{Forgotten, Name, Whose, WriteLog};
use crate::plan::assistants::{self, Held};
use crate::plan::is_there;
use crate::state::{self, LockName, acquire};
use crate::system::storage::Lock;
use storefront_core::email::CustomerName;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::interface::request::Bearer;
use storefront_core::operation::scalar;
use storefront_core::text::duration;

/// Flags of `forget`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("whose").required(true).args(["customer", "order", "older_than", "all", "token"]))]
#[command(after_help = "Examples:
  storefront forget --sandbox --customer 2 --yes
  storefront forget --sandbox --older-than 30d --yes
  storefront forget --sandbox --all --yes")]
pub struct ForgetArgs {
    /// Delete what is kept of this customer
    #[arg(long, value_name = "ID|EMAIL", value_parser = NonEmptyStringValueParser::new())]
    pub customer: Option<String>,
    /// Delete what is kept of the order with this ID, which is not its number
    #[arg(long, value_name = "ID", value_parser = order_id)]
    pub order: Option<u64>,
    /// Delete what is older, such as 30d, of all customers
    #[arg(long, value_name = "AGE", value_parser = duration::age)]
    pub older_than: Option<SignedDuration>,
    /// Delete everything of this shop: the same input could be sent again
    #[arg(long)]
    pub all: bool,
    /// Forget only whose the token is
    #[arg(long)]
    pub token: bool,
    /// The flags of every command that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Deletes what the log has, and plans of assistants, after a question with the numbers.
///
/// # Errors
/// `guard` without a yes, and where an update of the last 10 minutes or a running batch is among it; `unavailable` while
/// another command writes to the customer; `partial` where the log could not be emptied of what was deleted.
pub async fn run(session: &Session<'_>, args: &ForgetArgs) -> Result<(), Failure> {
    with_service(session, async |service| {
        let log = WriteLog::open(session.context)?;
        if args.token {
            return forget_token(service, &log).await;
        }
        let id = service.settings.service_id().to_string();
        let now = session.context.clock.now();
        let (whose, named) = match (&args.customer, args.order, args.older_than) {
            (Some(customer), ..) => of_customer(&log, &id, customer)?,
            (None, Some(order), _) => (Whose::Order(order), format!("order {order}")),
            (None, None, Some(age)) => {
                let limit = now.checked_sub(age).unwrap_or(Timestamp::MIN);
                (Whose::Before(limit), "all customers".to_owned())
            }
            (None, None, None) => (Whose::Everybody, "all customers of this shop".to_owned()),
        };
        forget(service, &log, &id, &whose, &named).await
    })
    .await
}

/// The customer whom an id or an email names, as far as this machine knows.
fn of_customer(log: &WriteLog, service: &str, customer: &str) -> Result<(Whose, String), Failure> {
    let named = format!("customer {customer}");
    match CustomerName::parse(customer) {
        Some(CustomerName::Id(id)) => Ok((Whose::Customers(vec![id.to_string()], None), named)),
        Some(CustomerName::Email(email)) => {
            let mut keys = log.customers_with_email(service, &email.folded())?;
            keys.push(email.folded());
            Ok((Whose::Customers(keys, Some(email.folded())), named))
        }
        None => Err(Failure::usage(format!("`{customer}` is neither a customer ID nor an email"))),
    }
}

async fn forget(
    service: &Service<'_>,
    log: &WriteLog,
    id: &str,
    whose: &Whose,
    named: &str,
) -> Result<(), Failure> {
    let session = service.session;
    let found = log.forgettable(id, whose)?;
    ensure_over(session, &found).await?;
    let held = held(service, whose)?;
    let plans = match held.alone.len() {
        0 => String::new(),
        number => format!(" and {} of assistants", count(number, "plan", "plans")),
    };
    let counted = format!("{} of {named}{plans}", count(found.writes, "update", "updates"));
    if found != Forgotten::default() || !held.alone.is_empty() {
        let question =
            format!("Delete {counted} from this machine? The shop is not touched; this cannot be undone");
        session.prompt().confirm_deletion(&question)?;
    }
    let _locks = locks(service, whose, &found).await?;
    // Something may have been sent while a person thought.
    ensure_over(session, &log.forgettable(id, whose)?).await?;
    let emptied = log.forget(id, &service.settings.service_name(), whose).await;
    remove_plans(session, &held)?;
    emptied.map_err(|failure| {
        let message = format!("deleted, but the log could not be emptied of it: {}", failure.message);
        Failure::new(FailureKind::Partial, message).hint("run it again")
    })?;
    let left = left(service, &held, &found)?;
    if session.report.is_json() {
        let said =
            json!({"operation": "forget", "updates": found.writes, "plans": held.alone.len(), "left": left});
        return session.report.json(&said);
    }
    session.report.status(&format!("deleted {counted}"));
    warn_of_left(session, &left);
    Ok(())
}

/// Names the files that may hold what was deleted from the log.
fn warn_of_left(session: &Session<'_>, left: &[PathBuf]) {
    if left.is_empty() {
        return;
    }
    let left: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
    session.report.warn(&format!(
        "not deleted, and may hold data of customers (without the journal of an input, the same input would be sent \
         again):\n{}",
        left.join("\n")
    ));
}

/// Refuses to delete what later commands still need.
async fn ensure_over(session: &Session<'_>, found: &Forgotten) -> Result<(), Failure> {
    if found.recent > 0 {
        let recent = count(found.recent, "update", "updates");
        return Err(Failure::guard(format!(
            "{recent} of the last 10 minutes: the next update is compared with them"
        ))
        .hint("run it again in 10 minutes"));
    }
    for journal in &found.journals {
        if is_in_use(&*session.context.storage, Path::new(journal)).await? {
            return Err(Failure::guard(format!("a batch is running: journal `{journal}`"))
                .hint("wait for it to finish"));
        }
    }
    Ok(())
}

/// The plans of assistants that change these customers.
fn held(service: &Service<'_>, whose: &Whose) -> Result<Held, Failure> {
    let context = service.session.context;
    let id = service.settings.service_id();
    assistants::held(context, &id, |record| {
        let order = scalar(record.expect.owner.get("order_id"));
        let owner = ["id", "email"].map(|name| scalar(record.expect.owner.get(name)));
        let mut names = owner.into_iter().flatten().chain(record.customer.clone());
        match whose {
            Whose::Customers(keys, email) => names.any(|name| {
                let is_it = |own: &String| own.eq_ignore_ascii_case(&name);
                keys.iter().chain(email).any(is_it)
            }),
            Whose::Order(id) => order == Some(id.to_string()),
            // They expire by themselves.
            Whose::Before(_) => false,
            Whose::Everybody => order.is_some() || names.next().is_some(),
        }
    })
}

/// Removes plans of assistants.
fn remove_plans(session: &Session<'_>, held: &Held) -> Result<(), Failure> {
    for plan in &held.alone {
        let failed = |error| Failure::internal(format!("cannot remove `{}`: {error}", plan.display()));
        session.context.storage.remove(plan).map_err(failed)?;
    }
    Ok(())
}

/// The remaining files that may hold data of customers: started plans, journals of these updates, and journals of batches
/// from standard input with customers' own tokens.
fn left(service: &Service<'_>, held: &Held, found: &Forgotten) -> Result<Vec<PathBuf>, Failure> {
    let session = service.session;
    let id = service.settings.service_id();
    let storage = &*session.context.storage;
    let journals = storage.list(&state::journals_of_stdin(session.context)?);
    let is_of_people = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "journal")
            && Listing::read(session, path).is_ok_and(|listing| {
                let header = &listing.header;
                let operation = listing.operation;
                header.service == id.url
                    && header.interface == id.interface
                    && operation.bearer == Bearer::Customer
            })
    };
    let of_updates = found.journals.iter().map(PathBuf::from).filter(|path| is_there(storage, path));
    let mut left: BTreeSet<PathBuf> = held.others.iter().cloned().chain(of_updates).collect();
    left.extend(journals.unwrap_or_default().into_iter().filter(is_of_people));
    Ok(left.into_iter().collect())
}

/// Forgets whose this token is.
async fn forget_token(service: &Service<'_>, log: &WriteLog) -> Result<(), Failure> {
    let name = Name::token(service.token(Bearer::Customer).await?);
    let was_known = log.forget_name(&service.settings.service_id().to_string(), &name).await?;
    service.session.report.status(if was_known {
        "forgot whose this token is; the next update keeps it again"
    } else {
        "whose this token is was not kept"
    });
    Ok(())
}

/// Waits for every command that writes to what is forgotten.
async fn locks(service: &Service<'_>, whose: &Whose, found: &Forgotten) -> Result<Vec<Lock>, Failure> {
    let mut keys = found.customers.clone();
    if let Whose::Customers(customers, _) = whose {
        keys.extend(customers.iter().cloned());
    }
    let mut locks = Vec::new();
    for key in keys.iter().filter(|key| !key.is_empty()) {
        locks.push(lock(service, &LockName::of_key(key)).await?);
    }
    if let Whose::Order(order) = whose {
        locks.push(lock(service, &LockName::order(*order)).await?);
    }
    Ok(locks)
}

async fn lock(service: &Service<'_>, name: &LockName) -> Result<Lock, Failure> {
    let session = service.session;
    let settings = &service.settings;
    let waiting =
        || session.report.status("waiting for another storefront command that writes to this customer");
    let (lock, _) = acquire(session.context, settings, name, settings.lock_timeout, waiting).await?;
    Ok(lock)
}

/// A number with its noun: `3 updates`.
fn count(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
