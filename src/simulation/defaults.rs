//! The default address of the modelled customers, which is a flag of an address: who may move it.

use serde_json::Value;

use super::customers::{DEFAULT, Stored, Writer, defaults};
use super::world::{Action, Sent, World};

/// Whether a request may set the flag at this path (`11.default_billing`) to what it sends.
pub fn may_move(world: &World, sent: &Sent, action: &Action, path: &str, now: Option<&Value>) -> bool {
    match action {
        Action::Default(id) => now == Some(&Value::from(path == format!("{id}.{DEFAULT}"))),
        Action::Restore(_) => !takes_from_others(world, sent),
        _ => false,
    }
}

/// Whether an editor has chosen a default that this request had read.
fn takes_from_others(world: &World, sent: &Sent) -> bool {
    let (Some(shown), Some(customer)) = (&sent.shown, sent.customer) else { return false };
    let customer = &world.customers[customer];
    let shown_defaults = defaults(&shown.profile);
    // A replica may not have what the editor chose.
    shown_defaults == defaults(&customer.now)
        && shown_defaults.iter().any(|id| {
            let is_foreign = |(writer, at): &(Writer, _)| *writer == Writer::Foreign && *at <= shown.at;
            customer.writers.get(&format!("{id}.{DEFAULT}")).is_some_and(is_foreign)
        })
}

/// What is wrong with the defaults that a request sends: more than one where one was read at most, or one that an
/// editor chose and that a restore takes away.
pub fn broken_defaults(world: &World, sent: &Sent, action: &Action, body: &Stored) -> Option<String> {
    let shown = defaults(&sent.shown.as_ref()?.profile);
    let after = defaults(body);
    // An editor who strikes between the last read and the PUT leaves two.
    let past = world.customers[sent.customer?].past.iter().map(|(_, past)| defaults(past).len());
    if after.len() > past.max().unwrap_or_default().max(1) {
        return Some(format!("it makes {after:?} the default, and {shown:?} were"));
    }
    let moves = matches!(action, Action::Restore(_)) && after != shown;
    (moves && takes_from_others(world, sent))
        .then(|| format!("it takes the default from {shown:?}, which an editor chose, for {after:?}"))
}
