//! What is known to be broken in the program as it is: tolerated, counted and printed. Each is a rule, a condition on
//! the ledger, and a sentence on the case. Nothing else is tolerated. Repairing one means removing its line.

use std::time::Duration;

use super::{Break, Rule};
use crate::world::{Sent, World};

/// A case that is known.
pub struct Known {
    /// What it is called in the output.
    pub name: &'static str,
    /// The rules that it breaks.
    pub rules: &'static [Rule],
    /// Whether it is this case.
    pub is_it: fn(&World, &Break) -> bool,
    /// The case.
    pub case: &'static str,
}

/// All of them.
pub const KNOWN: &[Known] = &[Known {
    name: "history --delete",
    rules: &[Rule::OwnOverwrite],
    is_it: was_forgotten,
    case: "a deleted history lacks the update of a moment ago, and an older read is taken for the newest",
}];

/// Whether the history was deleted between two updates of a customer, within a minute after the first one.
fn was_forgotten(world: &World, broken: &Break) -> bool {
    let is_of = |sent: &&Sent| sent.tag.is_some_and(|tag| broken.tags.contains(&tag));
    let at = |customer: usize| {
        let puts = world.requests.iter().filter(is_of).filter(move |sent| sent.replaces() == Some(customer));
        puts.map(|sent| sent.at).collect::<Vec<_>>()
    };
    world.forgotten.iter().any(|(_, customer, deleted)| {
        let puts = at(*customer);
        puts.iter().any(|put| put <= deleted && *deleted < *put + Duration::from_secs(60))
            && puts.iter().any(|put| put > deleted)
    })
}

/// The known case that something broken is.
pub fn find(world: &World, broken: &Break) -> Option<&'static Known> {
    // Without tolerance, to see what a rule notices by itself.
    if std::env::var_os("STOREFRONT_KNOWN").is_some_and(|known| known == "none") {
        return None;
    }
    KNOWN.iter().find(|known| known.rules.contains(&broken.rule) && (known.is_it)(world, broken))
}
