//! The journal of a batch, read as it is documented (src/journal/mod.rs).

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::Rule;
use crate::call::Call;
use crate::disk::Disk;
use crate::world::{Reported, Run, Sent, World};

/// The last entry of each record, by the number that names it.
pub fn entries(text: &[u8]) -> BTreeMap<usize, Value> {
    let mut entries = BTreeMap::<usize, Value>::new();
    for line in text.split(|byte| *byte == b'\n') {
        let whole = serde_json::from_slice::<Value>(line).ok();
        let Some(mut entry) = whole.or_else(|| incomplete(line)) else { continue };
        let number = entry["line"].as_u64().and_then(|line| usize::try_from(line).ok());
        let Some(number) = number.filter(|_| entry["state"].is_string()) else { continue };
        // A line that was cut off before its hash is of the record that the line before it names.
        if entry["hash"].is_null()
            && let Some(before) = entries.get(&number)
        {
            entry["hash"] = before["hash"].clone();
        }
        entries.insert(number, entry);
    }
    entries
}

/// An incomplete last line, which counts as `sending` of the record that it names, with its hash where that is whole.
fn incomplete(line: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(line);
    let number: u64 = text.strip_prefix("{\"line\":")?.split_once(',')?.0.parse().ok()?;
    let hash = text.split_once("\"hash\":\"").and_then(|(_, rest)| rest.get(..16));
    Some(serde_json::json!({"line": number, "state": "sending", "hash": hash}))
}

/// The number by which the record in this place is named, and the entry that the journal has of it. Its rows may have been moved
/// since it was sent: it is known by its hash, and one of which no line has a hash by its place.
pub fn found<'a>(
    entries: &'a BTreeMap<usize, Value>,
    places: &[(usize, u64)],
    at: usize,
) -> (usize, Option<&'a Value>) {
    let Some((line, hash)) = places.get(at) else { return (at + 1, entries.get(&(at + 1))) };
    let hash = format!("{hash:016x}");
    let known = entries.iter().find(|(_, entry)| entry["hash"] == *hash);
    let cut = || entries.get(line).filter(|entry| entry["hash"].is_null());
    known.map_or_else(|| (*line, cut()), |(line, entry)| (*line, Some(entry)))
}

/// The state that an entry names.
pub fn state(entry: Option<&Value>) -> &str {
    entry.and_then(|entry| entry["state"].as_str()).unwrap_or("none")
}

/// What is wrong with what the journal has on disk as a write of a batch leaves: its record must stand at `sending`, with
/// at most as many as run at once.
pub fn unwritten(world: &World, sent: &Sent, disk: &Disk) -> Option<String> {
    let run = &world.runs[sent.run];
    if matches!(sent.call, Call::Assign(_)) {
        // It can be repeated.
        return None;
    }
    world.checks(Rule::Journal);
    let entries = entries(disk.durable(run.journal.as_deref()?).unwrap_or_default());
    let at = run.records.iter().position(|(tag, _)| Some(*tag) == sent.tag)?;
    let (record, entry) = found(&entries, &run.places, at);
    let now = state(entry);
    if now != "sending" {
        return Some(format!("record {record} stands at {now} in the journal on disk"));
    }
    if sent.sets().is_some() && !disk.has_open_write(record as u64) {
        return Some(format!("no write of record {record} is open in the log on disk"));
    }
    let sending = entries.values().filter(|entry| entry["state"] == "sending").count();
    (!run.is_resumed && sending > usize::from(run.jobs))
        .then(|| format!("{sending} records stand at sending, with --jobs {}", run.jobs))
}

/// Compares the journal with what a run said that came to its end.
pub fn check_run(world: &mut World, run: usize, disk: &Disk) {
    let Some(path) = world.runs[run].journal.clone() else { return };
    let Some(content) = disk.content(&path) else { return };
    let entries = entries(content);
    let mut broken = Vec::new();
    for said in world.reported.iter().filter(|said| said.run == run) {
        let Run { records, places, .. } = &world.runs[run];
        let at = records.iter().position(|(tag, _)| *tag == said.tag).unwrap_or_default();
        let (record, entry) = found(&entries, places, at);
        let now = state(entry);
        if entry.is_some() && said.line.is_some_and(|line| line != record) {
            let what = format!("record {record} of the journal was reported as {said:?}");
            broken.push((said.tag, what));
        }
        let is_right = match said {
            Reported { kind: Some(kind), .. } if kind == "mismatch" => now == "mismatch",
            said if said.is_fine() => now == "done",
            Reported { applied, .. } if applied == "unknown" => matches!(now, "unknown" | "sending"),
            Reported { applied, .. } if applied == "no" => matches!(now, "none" | "failed"),
            _ => now != "done",
        };
        if !is_right {
            let what =
                format!("record {record} stands at {now} in the journal, and was reported as {said:?}");
            broken.push((said.tag, what));
        }
    }
    for (tag, what) in broken {
        world.broke_of(Rule::Journal, run, None, &[tag], what);
    }
}

/// Compares what a journal says in the end with what took effect.
pub fn check_end(world: &mut World, run: usize, path: &Path, disk: &Disk) {
    let entries = entries(disk.content(path).unwrap_or_default());
    let mut broken = Vec::new();
    for (at, (tag, _)) in world.runs[run].records.iter().enumerate() {
        let (record, entry) = found(&entries, &world.runs[run].places, at);
        let command = world.runs[run].command;
        let restart = world.runs.iter().rposition(|run| run.command == command && run.is_restarted);
        let is_of_now = |request: usize| restart.is_none_or(|restart| world.requests[request].run >= restart);
        let has_effect = world.effects_of(*tag).any(|effect| is_of_now(effect.request));
        let is_partial =
            entry.is_some_and(|entry| entry["applied"] == "partial" || entry["applied"] == "yes");
        if state(entry) == "failed" && has_effect && !is_partial {
            broken.push((*tag, format!("record {record} stands at failed in the journal, and took effect")));
        }
    }
    for (tag, what) in broken {
        world.broke_of(Rule::Journal, run, None, &[tag], what);
    }
}
