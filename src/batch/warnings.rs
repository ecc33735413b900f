//! Collects non-fatal warnings about records and prints the first `MAX_SHOWN`.

use std::collections::HashSet;

use crate::batch::prepare::PreparedRecord;
use crate::journal::fnv::Fnv1a;
use crate::plan::operation::Operation;
use crate::report::Report;

/// As many warnings are printed one by one.
const MAX_SHOWN: u64 = 20;
/// As many keys are remembered to find duplicates.
const MAX_KEYS: usize = 100_000;

/// Looks at records as they come.
pub struct WarningCollector {
    report: Report,
    operation: Operation,
    keys: HashSet<u64>,
    found: u64,
}

impl WarningCollector {
    /// For records of one operation.
    pub fn new(report: &Report, operation: Operation) -> Self {
        Self { report: *report, operation, keys: HashSet::new(), found: 0 }
    }

    /// Prints the warnings about a record.
    pub fn emit(&mut self, record: u64, prepared: &PreparedRecord) {
        let duplicate =
            self.duplicate(&prepared.key).map(|key| format!("duplicate {key} `{}`", prepared.key));
        for doubt in prepared.body.warnings().iter().chain(&duplicate) {
            self.found += 1;
            if self.found <= MAX_SHOWN {
                self.report.for_record(record).warn(doubt);
            }
        }
    }

    /// Remembers a record that is done: a later one with the same code still gets the warning.
    pub fn note_done(&mut self, prepared: &PreparedRecord) {
        self.duplicate(&prepared.key);
    }

    /// Counts those that were not printed.
    pub fn emit_suppressed_count(&self) {
        if self.found > MAX_SHOWN {
            self.report.warn(&format!("{} more warnings not shown", self.found - MAX_SHOWN));
        }
    }

    /// What the key is called, where it is not the first of its kind and has to be.
    fn duplicate(&mut self, key: &str) -> Option<&'static str> {
        let called = self.operation.spec().unique_key?;
        let hash = Fnv1a::new().update(key.as_bytes()).finish();
        let is_known = self.keys.contains(&hash);
        if !is_known && self.keys.len() < MAX_KEYS {
            self.keys.insert(hash);
        }
        is_known.then_some(called)
    }
}
