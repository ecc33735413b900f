//! Whose snapshot a number or a name means. Each customer's snapshots have numbers of their own, so that it may be that of
//! several customers.

use crate::cli::command_line::flag;
use crate::cli::hint::typed;
use crate::client::service::Service;
use crate::state::{CustomerStore, customers_of};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};

/// How many customers a refusal names.
const SHOWN: usize = 3;

/// Refuses a name that snapshots of other customers have where the command names no customer: it was perhaps read in the
/// history of all customers, and `store` is only that of the token's own.
///
/// # Errors
/// `usage`, with a command for each customer.
pub fn ensure_own(service: &Service<'_>, store: &CustomerStore, name: &str) -> Result<(), Failure> {
    if service.customer.is_some() || service.email.is_some() {
        return Ok(());
    }
    let mut others = Vec::new();
    for customer in customers_of(service.session.context, &service.settings.service_id())? {
        if customer.store.directory != store.directory && !customer.store.all_named(name)?.is_empty() {
            others.push(customer.name());
        }
    }
    let own = store.all_named(name)?;
    let mut owners = others;
    owners.sort_by_key(|owner| (owner.len(), owner.clone()));
    let message = match (&owners[..], &own[..]) {
        ([], _) => return Ok(()),
        ([one], []) => {
            format!(
                "`{name}` names a snapshot of customer {one}, and the token is that of customer {}",
                store.key
            )
        }
        _ => {
            owners.splice(0..0, (!own.is_empty()).then(|| store.key.clone()));
            format!("`{name}` names snapshots of customers {}", listed(&owners))
        }
    };
    let hint = match &own[..] {
        _ if service.settings.dialect.customers.is_some() => for_each(service, &owners),
        // Another customer cannot be named there.
        [own] => hint!("name the file: ", storefront("customer restore").arg(own.path.to_string_lossy())),
        _ => "use the token of that customer".into(),
    };
    Err(Failure::usage(message).hint(hint))
}

/// The command that was typed, for each of these customers.
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
