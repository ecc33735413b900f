//! What is known to be broken in the program as it is: tolerated, counted and printed. Each is a rule, a condition on
//! the ledger, and a sentence on the case. Nothing else is tolerated. Repairing one means removing its line.

use super::{Break, Rule};
use crate::world::World;

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
pub const KNOWN: &[Known] = &[];

/// The known case that something broken is.
pub fn find(world: &World, broken: &Break) -> Option<&'static Known> {
    // Without tolerance, to see what a rule notices by itself.
    if std::env::var_os("STOREFRONT_KNOWN").is_some_and(|known| known == "none") {
        return None;
    }
    KNOWN.iter().find(|known| known.rules.contains(&broken.rule) && (known.is_it)(world, broken))
}
