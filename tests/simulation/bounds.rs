//! What may be excused at most, and what must be checked at least, in 1,000 worlds. An excuse that takes in everything, or a rule
//! that has nothing to look at any more, would otherwise pass. The default run fails outside of these bounds; they are half or
//! twice of what was measured, and for what is rare more.
//!
//! Each line names the page of docs/ whose promise, or whose limit of a promise, it is about.

use std::collections::BTreeMap;

use super::rules::Rule;
use super::world::OutOfReach;

/// Each excuse, how often it may be used in 1,000 worlds, and what the documentation says of it.
pub const EXCUSES: &[(OutOfReach, u64, &str)] = &[
    (
        OutOfReach::ForeignLost,
        110,
        "interface.md: the PUT is made from one read; what another client writes in between is out of reach",
    ),
    (OutOfReach::LongLag, 10, "interface.md: for a minute after an update, a read must show it"),
    (OutOfReach::ClockSetForward, 3, "interface.md: a clock that is set forward ends the 10 minutes"),
    (OutOfReach::Doubled, 30, "interface.md: a PUT whose outcome is unknown is never sent again"),
    (
        OutOfReach::Indistinguishable,
        5,
        "interface.md: it counts as applied if two reads show it, at least 1 second apart",
    ),
    (OutOfReach::Alike, 20, "interface.md: texts that differ in surrounding white space are equal"),
    (OutOfReach::Misled, 100, "interface.md: rejected is 4xx except 408 and 499, and 501"),
    (
        OutOfReach::Unknowable,
        20,
        "interface.md: a customer's own token must lead to the customer of its last verified update",
    ),
];

/// Each rule, how often it must have something to check in 1,000 worlds, and the sentence of the documentation that it stands for.
pub const CHECKS: &[(Rule, u64, &str)] = &[
    (
        Rule::LostAddress,
        1400,
        "interface.md: every stored address is in the result, unless it was removed by its ID",
    ),
    (Rule::Deletion, 250, "exit-codes.md: addresses would be deleted and nobody confirms it: exit 3"),
    (Rule::Exact, 1400, "interface.md: a field that the change does not mention keeps its exact value"),
    (Rule::OtherProfile, 45, "interface.md: all reads of one command must show the same customer ID"),
    (
        Rule::Waits,
        1400,
        "interface.md: nothing that waits for a person, another record or a rate limit stands between the two",
    ),
    (
        Rule::NoSnapshot,
        1400,
        "interface.md: lock, read, merge, diff, deletion check, snapshot, PUT, verify, unlock",
    ),
    (Rule::Defaults, 100, "interface.md: both ways of naming default addresses are sent"),
    (Rule::WrongUndo, 85, "support.md: undo takes back the write that it is given the ID of"),
    (Rule::Undo, 8, "journal.md: undo takes back what is still as the batch left it"),
    (Rule::RetryAfter, 70, "interface.md: Retry-After is honoured up to 60 seconds"),
    (Rule::OwnOverwrite, 850, "interface.md: a read must show what the updates from this machine wrote"),
    (Rule::CorrectionUndone, 4, "interface.md: a PUT whose outcome is unknown is never sent again"),
    (Rule::Twice, 250, "journal.md: a record is done: resume skips it"),
    (Rule::Twins, 80, "support.md: removed an address: adds it again, unless it was added again already"),
    (Rule::Order, 300, "journal.md: records with the same key are in one shard, in their order"),
    (Rule::FalseYes, 2600, "exit-codes.md: yes: the service said so, or it was seen when reading back"),
    (Rule::FalseNo, 1000, "exit-codes.md: no: it is certain that nothing was applied"),
    (Rule::Mismatch, 1200, "interface.md: a kept address that is missing: exit 9"),
    (Rule::Once, 1800, "exit-codes.md: Stdout stays empty, except for the records of a batch"),
    (Rule::Outage, 50, "exit-codes.md: whatever is not done was not sent or failed temporarily"),
    (Rule::ExitCode, 1800, "exit-codes.md: the table of codes"),
    (Rule::FalseUnknown, 170, "exit-codes.md: unknown: the request was sent and its outcome is unknown"),
    (Rule::Journal, 2600, "journal.md: a batch notes each record in its journal before the request is sent"),
    (Rule::History, 1000, "support.md: the table of outcomes"),
    (Rule::Liveness, 240, "exit-codes.md: 0 is done"),
    (Rule::Healing, 1100, "journal.md: not sent, failed temporarily: resume sends it"),
    (Rule::Verified, 20, "support.md: `verify` compares what was written with what the shop has"),
    (Rule::Comment, 60, "magento.md: a comment says what was corrected, or a warning that there is none"),
    (
        Rule::Planned,
        50,
        "plans.md: before each update the planned changes are compared with those to the stored profile",
    ),
    (Rule::Input, 40, "journal.md: each run copies the input, and checks and sends the copy"),
    (
        Rule::Partition,
        650,
        "exit-codes.md: the error of a batch has records, the number of them that are done, failed, …",
    ),
    (Rule::Signal, 45, "exit-codes.md: 130 is cancelled or interrupted"),
    (Rule::Output, 4900, "exit-codes.md: with -o json an error is one object on stderr"),
];

/// What is outside of the bounds in so many worlds.
pub fn broken(
    worlds: u64,
    excused: &BTreeMap<OutOfReach, u64>,
    checked: &BTreeMap<Rule, u64>,
) -> Vec<String> {
    let mut broken = Vec::new();
    for (excuse, most, of) in EXCUSES {
        let found = excused.get(excuse).copied().unwrap_or_default();
        if found * 1000 > most * worlds {
            broken.push(format!("{found} times {excuse:?}, at most {most} in 1,000 worlds ({of})"));
        }
    }
    for (rule, least, of) in CHECKS {
        let found = checked.get(rule).copied().unwrap_or_default();
        if found * 1000 < least * worlds {
            broken
                .push(format!("{rule:?} was checked {found} times, at least {least} in 1,000 worlds ({of})"));
        }
    }
    broken
}
