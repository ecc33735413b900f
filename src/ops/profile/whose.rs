//! Whose update an id means: that of a run may be of another customer than the command's.

use crate::cli::command_line::flag;
use crate::cli::hint::typed;
use crate::client::service::Service;
use crate::log::{CustomerStore, WriteLog};
use storefront_core::failure::Failure;
use storefront_core::hint::Hint;

/// How many customers a refusal names.
const SHOWN: usize = 3;

/// Refuses an id of other customers' updates if the command names no customer: it may have been read in the history of
/// all customers, while `store` is only that of the token's own.
///
/// # Errors
/// `usage`, with a command for each customer.
pub fn ensure_own(service: &Service<'_>, store: &CustomerStore, name: &str) -> Result<(), Failure> {
    if service.customer.is_some() || service.email.is_some() || store.has(name)? {
        return Ok(());
    }
    let (Some(log), Some((run, _))) = (WriteLog::to_read(service.session.context)?, WriteLog::parse(name))
    else {
        return Ok(());
    };
    let mut owners = log.customers_of_run(&store.service, run)?;
    owners.sort_by_key(|owner| (owner.len(), owner.clone()));
    let message = match &owners[..] {
        [] => return Ok(()),
        [one] => {
            format!(
                "`{name}` is an update of customer {one}, and the token is that of customer {}",
                store.key
            )
        }
        _ => format!("`{name}` has updates of customers {}", listed(&owners)),
    };
    let hint = if service.settings.dialect.customers.is_some() {
        for_each(service, &owners)
    } else {
        "use the token of that customer".into()
    };
    Err(Failure::usage(message).hint(hint))
}

/// The typed command, for each of these customers.
fn for_each(service: &Service<'_>, owners: &[String]) -> Hint {
    let mut hint = Hint::from("run ");
    for (position, owner) in owners.iter().take(SHOWN).enumerate() {
        let command = typed(&service.typed().with(flag("customer", owner)));
        hint = hint.and(if position > 0 { " or " } else { "" }).and(command);
    }
    if owners.len() > SHOWN { hint.and(", or name another of them") } else { hint }
}

/// `1, 2 and 3`, or `1, 2, 3 and 4 more`.
fn listed(owners: &[String]) -> String {
    let (shown, rest) = owners.split_at(owners.len().min(SHOWN));
    match (shown, rest.len()) {
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (shown, more) => format!("{} and {more} more", shown.join(", ")),
    }
}
