//! Each record is in exactly one of done, unknown, failed permanently and left to a resumed run, and report, summary, journal
//! and the file of failed records agree on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::Rule;
use super::journal::{entries, state};
use crate::disk::Disk;
use crate::states::State;
use crate::world::{Reported, Run, World};

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
    for (record, (tag, _)) in (1..).zip(&ended.records) {
        let (Some(said), entry) = (said.get(tag), entries.get(&record)) else { continue };
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

/// Checks what `--failed` has left: the rows of the records that have failed permanently, and of no others. `rows` are those
/// of the input.
pub fn check_failed_file(world: &mut World, run: usize, rows: &[String], file: &Path, disk: &Disk) {
    let ended = &world.runs[run];
    let entries = entries(ended.journal.as_ref().and_then(|path| disk.content(path)).unwrap_or_default());
    let is_failed = |record: &usize| {
        let entry = entries.get(record);
        state(entry) == "failed" && is_permanent(entry) && entry.is_some_and(|entry| entry["applied"] == "no")
    };
    let tags: BTreeSet<u32> =
        world.reported.iter().filter(|said| said.run == run).map(|said| said.tag).collect();
    let is_said = |record: &usize| ended.records.get(record - 1).is_some_and(|(tag, _)| tags.contains(tag));
    let failed: BTreeSet<usize> = (1..=rows.len()).filter(is_failed).filter(is_said).collect();
    let found = found_in(rows, file);
    let is_right = if ended.is_part { failed.is_subset(&found) } else { failed == found };
    if !failed.is_empty() {
        world.reach(State::Extract);
        let is_earlier = |other: &Run| other.command == world.runs[run].command && other.has_extract;
        if world.runs[..run].iter().any(is_earlier) {
            world.reach(State::ExtractTwice);
        }
        world.runs[run].has_extract = true;
    }
    if !is_right {
        let what = format!("the records {failed:?} have failed permanently, and --failed has {found:?}");
        world.broke(Rule::Partition, run, None, what);
    }
}

/// The records in a file of failed records, and in those of parts, which have a name that begins with its own.
fn found_in(rows: &[String], file: &Path) -> BTreeSet<usize> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let directory = file.parent().and_then(|directory| std::fs::read_dir(directory).ok());
    let paths = directory.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_own = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&stem))
    };
    let texts = paths.filter(is_own).filter_map(|path| std::fs::read_to_string(path).ok());
    let plain = |text: &str| {
        let mut row: Value = serde_json::from_str(text).unwrap_or_default();
        if let Some(members) = row.as_object_mut() {
            members.shift_remove("reason");
        }
        row
    };
    let rows: Vec<Value> = rows.iter().map(|row| plain(row)).collect();
    let of_text = |text: String| {
        let found =
            text.lines().map(|line| rows.iter().position(|row| *row == plain(line)).map_or(0, |at| at + 1));
        found.collect::<Vec<_>>()
    };
    texts.flat_map(of_text).collect()
}
