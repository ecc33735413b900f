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
pub const KNOWN: &[Known] = &[
    Known {
        name: "own-cart-refused",
        rules: &[Rule::Healing],
        is_it: |_, broken| broken.what.contains("had no active cart when this was planned"),
        case: "a plan for customers without a cart, killed after its first record made one, is to be planned again",
    },
    Known {
        name: "other-cart-refused",
        rules: &[Rule::Healing],
        is_it: |_, broken| {
            broken.what.contains("is not the active cart")
                && broken.what.contains("the record was sent to it")
        },
        case: "a record of unknown outcome whose cart was ordered is never sent to the next one: a person marks it",
    },
    Known {
        name: "log-between-read-and-put",
        rules: &[Rule::Waits],
        is_it: |_, broken| broken.what.contains("ms between the last read and it"),
        case: "where several records are written down at a time, the log of a slow disk stands between read and PUT for \
               less than a second; after two seconds the steps start again at the read",
    },
    Known {
        name: "no-lines-without-a-log",
        rules: &[Rule::Once],
        is_it: |_, broken| broken.what.contains("the log of this machine cannot be read"),
        case: "a batch whose log cannot be read while it looks for earlier records ends without a line for each: it has \
               sent nothing",
    },
];

/// The known case that something broken is.
pub fn find(world: &World, broken: &Break) -> Option<&'static Known> {
    // Without tolerance, to see what a rule notices by itself.
    if std::env::var_os("STOREFRONT_KNOWN").is_some_and(|known| known == "none") {
        return None;
    }
    KNOWN.iter().find(|known| known.rules.contains(&broken.rule) && (known.is_it)(world, broken))
}
