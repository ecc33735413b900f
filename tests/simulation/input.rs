//! Somebody who edits the input of a batch while it runs: a spreadsheet that is saved again, a script that sorts.

use std::path::PathBuf;
use std::time::Duration;

use storefront_core::text::hash::fnv1a;

/// Blank space between two records: more than the program reads at a time.
const GAP: usize = 66 << 10;

/// An edit of an input. It comes after the run has begun its journal: what was checked is what stood there before.
#[derive(Debug, Clone)]
pub struct InputEdit {
    /// The input.
    pub path: PathBuf,
    /// What stands in it afterwards.
    pub content: String,
    /// Whether a new file takes its name; else it is written in place.
    pub is_renamed: bool,
    /// How long after the journal was begun; zero is the same moment.
    pub delay: Duration,
}

impl InputEdit {
    /// Does it.
    pub fn perform(&self) {
        if self.is_renamed {
            let new = self.path.with_extension("new");
            std::fs::write(&new, &self.content).unwrap();
            std::fs::rename(&new, &self.path).unwrap();
        } else {
            std::fs::write(&self.path, &self.content).unwrap();
        }
    }
}

/// The rows of a text as an input.
pub fn text(rows: &[String], has_gaps: bool) -> String {
    let gap = if has_gaps { " ".repeat(GAP) + "\n" } else { String::new() };
    rows.iter().flat_map(|row| [row, "\n", &gap]).collect()
}

/// Where each record of a text stands, and its hash, by which a journal knows it.
pub fn places(text: &str) -> Vec<(usize, u64)> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(line, text)| (line, fnv1a(text.as_bytes()))).collect()
}

/// The rows of an input.
pub fn rows(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}
