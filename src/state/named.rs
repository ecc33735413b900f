//! Snapshots as a person names them: by name, by number or by the beginning of the name.

use super::SnapshotEntry;

/// Those among `entries` that `name` stands for. A whole name and a number mean that snapshot, whatever else begins so.
pub fn named(entries: &[SnapshotEntry], name: &str) -> Vec<SnapshotEntry> {
    if name.is_empty() {
        return Vec::new();
    }
    let matches = |is_it: &dyn Fn(&SnapshotEntry) -> bool| -> Vec<SnapshotEntry> {
        entries.iter().filter(|entry| is_it(entry)).cloned().collect()
    };
    let number = name.parse::<u64>().ok().filter(|number| *number > 0);
    let exact = matches(&|entry| entry.name() == name || number == Some(entry.number));
    if exact.is_empty() { matches(&|entry| entry.name().starts_with(name)) } else { exact }
}
