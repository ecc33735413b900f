//! What is known to be broken in the program as it is: tolerated, counted and printed. Each is a rule, a condition on
//! the ledger, and a sentence on the case. Nothing else is tolerated. Whoever repairs one removes its line.

use super::{Break, Rule};
use crate::simulation::action::{Action, Undo};
use crate::simulation::faults::Quirk;
use crate::simulation::service::Call;
use crate::simulation::world::{Reported, Sent, World};

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
        name: "clock set back",
        rules: &[Rule::OwnOverwrite, Rule::Twice],
        is_it: |world, broken| {
            let machine = world.runs[broken.run].machine;
            world.set_back.iter().any(|(of, _)| *of == machine)
        },
        case: "a clock that is set back ends the ten minutes in which an unknown update may still come",
    },
    Known {
        name: "after exit 9",
        rules: &[Rule::OwnOverwrite, Rule::Twice],
        is_it: |world, broken| {
            let tag = broken.other.and_then(|other| world.requests[other].tag);
            let is_it = |said: &Reported| Some(said.tag) == tag && said.kind.as_deref() == Some("mismatch");
            world.reported.iter().any(is_it)
        },
        case: "after exit 9 the next update is built from the old profile and deletes what was added",
    },
    Known {
        name: "PUT sent again",
        rules: &[Rule::OwnOverwrite, Rule::Order, Rule::Twice],
        is_it: |world, broken| {
            let Some(late) = broken.request.map(|request| &world.requests[request]) else { return false };
            let is_again = |other: &Sent| {
                other.run == late.run
                    && other.tag == late.tag
                    && other.replaces().is_some()
                    && other.at != late.at
            };
            world.requests.iter().any(is_again)
        },
        case: "a PUT of unknown outcome is sent again, and the first one comes after a later update",
    },
    Known {
        name: "reads that lag",
        rules: &[Rule::OwnOverwrite, Rule::Twice, Rule::Order],
        is_it: |world, broken| {
            let late = broken.request.and_then(|request| world.requests[request].shown.as_ref());
            late.is_some_and(|shown| shown.is_stale)
        },
        case: "an update is built from a read of a replica that lacks what an earlier one of ours has written",
    },
    Known {
        name: "old --base",
        rules: &[Rule::OwnOverwrite, Rule::Twice],
        is_it: |world, broken| world.runs[broken.run].has_base,
        case: "a profile given with --base lacks what an earlier update of ours has written",
    },
    Known {
        name: "unreadable snapshot",
        rules: &[Rule::Healing],
        is_it: |world, _| world.began_with_read_faults,
        case: "a record that failed because a snapshot could not be read counts as failed for good",
    },
    Known {
        name: "another customer's profile",
        rules: &[Rule::OtherProfile],
        is_it: |world, broken| {
            let Some(request) = broken.request else { return false };
            let Some(customer) = world.requests[request].replaces() else { return false };
            let own = &world.customers[customer].now["id"];
            // Each record of a batch compares its own reads only.
            let of_run = world.requests[..request].iter().rev().filter(|sent| sent.run == broken.run);
            let mut profiles = of_run
                .filter(|sent| sent.profile_of() == Some(customer))
                .take_while(|sent| sent.replaces().is_none())
                .filter_map(|sent| sent.heard.as_ref()?.profile.as_ref());
            !profiles.any(|profile| profile.get("id") == Some(own))
        },
        case: "a cache answers all reads of a command with the profile of another customer",
    },
    Known {
        name: "restored twice",
        rules: &[Rule::Twins],
        is_it: |world, broken| {
            let tag = broken.request.and_then(|request| world.requests[request].tag);
            let action = tag.map(|tag| &world.actions[&tag]);
            matches!(action, Some(Action::Restore(Undo::All(_) | Undo::Of(_))))
        },
        case: "a restore brings back an address that an earlier one, or the service with a new id, has back",
    },
    Known {
        name: "renumbered",
        rules: &[Rule::Mismatch],
        is_it: |world, _| world.began_with == Quirk::Renumbers,
        case: "addresses to which the service gave new ids count as lost: exit 9",
    },
    Known {
        name: "exit 9 in a batch",
        rules: &[Rule::Journal],
        is_it: |_, broken| broken.what.contains("Some(\"mismatch\")"),
        case: "a record of exit 9 stands at failed in the journal",
    },
    Known {
        name: "sent more than once",
        rules: &[Rule::Liveness, Rule::Healing],
        is_it: |world, broken| {
            let run = &world.runs[broken.run];
            let is_of_customer = |sent: &&Sent| {
                sent.replaces().is_some_and(|customer| run.records.iter().any(|(_, of)| *of == customer))
            };
            let mut sent: Vec<u32> =
                world.requests.iter().filter(is_of_customer).filter_map(|sent| sent.tag).collect();
            let has_restore = sent.iter().any(|tag| matches!(world.actions[tag], Action::Restore(_)));
            sent.sort_unstable();
            let is_unknown = |sent: &&Sent| sent.heard.as_ref().is_none_or(|heard| heard.status != Some(200));
            has_restore
                || sent.windows(2).any(|pair| pair[0] == pair[1])
                || world
                    .requests
                    .iter()
                    .filter(is_of_customer)
                    .any(|sent| is_unknown(&sent) && sent.call.is_write())
        },
        case: "after an update, its restore and the same update again, an addition is refused for ten minutes",
    },
    Known {
        name: "Retry-After while verifying",
        rules: &[Rule::RetryAfter],
        is_it: |world, broken| {
            let Some(request) = broken.request else { return false };
            let sent = &world.requests[request];
            let has_written = |other: &Sent| other.run == sent.run && other.call.is_write();
            matches!(sent.call, Call::Read(_)) && world.requests[..request].iter().any(has_written)
        },
        case: "the reads that verify an update go on at their own intervals after a 429",
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
