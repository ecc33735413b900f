//! Each record is in exactly one of done, unknown, failed permanently and left to a resumed run, and report, summary and
//! journal agree on it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Rule;
use super::journal::{entries, found, state};
use crate::disk::Disk;
use crate::world::{Reported, World};

/// What became of a record, as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Done,
    Mismatch,
    Unknown,
    Failed,
    Temporary,
    NotSent,
}

impl Class {
    fn of_report(said: &Reported, is_permanent: bool) -> Self {
        match said.kind.as_deref() {
            _ if said.is_fine() => Self::Done,
            Some("mismatch") => Self::Mismatch,
            _ if said.applied == "unknown" => Self::Unknown,
            None => Self::NotSent,
            Some(_) if is_permanent => Self::Failed,
            Some(_) => Self::Temporary,
        }
    }

    /// Whether the journal may say this of it.
    fn allows(self, entry: Option<&Value>) -> bool {
        let is_permanent = is_permanent(entry);
        match (self, state(entry)) {
            // One that was not sent is sent by the next run, as it would have been by this one.
            (Self::Done, "done")
            | (Self::Mismatch, "mismatch")
            | (Self::Unknown, "unknown" | "sending")
            | (Self::NotSent, "none" | "failed") => true,
            (Self::Failed, "failed") => is_permanent,
            (Self::Temporary, "failed") => !is_permanent,
            _ => false,
        }
    }

    /// The name in the summary.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Done => &["done", "unchanged"],
            Self::Mismatch => &["mismatch"],
            Self::Unknown => &["unknown"],
            // What was applied in part and is refused counts as failed.
            Self::Failed | Self::Temporary => &["failed", "temporary"],
            Self::NotSent => &["not_sent"],
        }
    }
}

fn is_permanent(entry: Option<&Value>) -> bool {
    entry.is_some_and(|entry| entry["temporary"] == false)
}

/// Checks a run that came to its end; `error` is what it wrote on standard error.
pub fn check(world: &mut World, run: usize, error: &Value, disk: &Disk) {
    let ended = &world.runs[run];
    let Some(journal) = ended.journal.as_ref().filter(|path| !world.cut.contains(*path)) else { return };
    world.checks(Rule::Partition);
    let entries = entries(disk.content(journal).unwrap_or_default());
    let mut broken = Vec::new();
    let mut counts = BTreeMap::<Class, u64>::new();
    // The last word on each: one that is interrupted once it was done has two.
    let said: BTreeMap<u32, &Reported> =
        world.reported.iter().filter(|said| said.run == run).map(|said| (said.tag, said)).collect();
    for (at, (tag, _)) in ended.records.iter().enumerate() {
        let (Some(said), (record, entry)) = (said.get(tag), found(&entries, &ended.places, at)) else {
            continue;
        };
        let class = Class::of_report(said, is_permanent(entry));
        *counts.entry(class).or_default() += 1;
        if !class.allows(entry) {
            broken.push(format!(
                "record {record} counts as {class:?} by {said:?}, and in the journal as {entry:?}"
            ));
        }
    }
    if let Some(records) = error["records"].as_object() {
        for classes in [
            &[Class::Done][..],
            &[Class::Mismatch],
            &[Class::Unknown],
            &[Class::Failed, Class::Temporary],
            &[Class::NotSent],
        ] {
            let shown: u64 = classes.iter().filter_map(|class| counts.get(class)).sum();
            let told: u64 = classes[0].names().iter().filter_map(|name| records[*name].as_u64()).sum();
            if shown != told {
                broken.push(format!("{shown} records are {classes:?}, and the summary is {records:?}"));
            }
        }
        let has = |class| counts.contains_key(&class);
        let may_resume = has(Class::Temporary) || has(Class::NotSent);
        if error["resume"] == true && !may_resume || error["resume"] == false && has(Class::NotSent) {
            broken.push(format!(
                "the summary says resume: {}, and the records are {counts:?}",
                error["resume"]
            ));
        }
    }
    for what in broken {
        world.broke(Rule::Partition, run, None, what);
    }
}
