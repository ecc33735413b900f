//! Collects non-fatal warnings about records and prints the first `MAX_SHOWN`.

use std::collections::HashSet;

use crate::batch::prepare::PreparedRecord;
use crate::journal::fnv::Fnv1a;
use crate::plan::operation::Operation;
use crate::report::Report;

/// As many doubts are told one by one.
const MAX_SHOWN: u64 = 20;
/// As many attribute codes are remembered to find doubled ones.
const MAX_CODES: usize = 100_000;

/// Looks at records as they come.
pub struct WarningCollector {
    report: Report,
    operation: Operation,
    codes: HashSet<u64>,
    found: u64,
}

impl WarningCollector {
    /// For records of one operation.
    pub fn new(report: &Report, operation: Operation) -> Self {
        Self { report: *report, operation, codes: HashSet::new(), found: 0 }
    }

    /// Tells what is doubtful about a record.
    pub fn emit(&mut self, record: u64, prepared: &PreparedRecord) {
        let doubled = self.is_duplicate(&prepared.key);
        let doubled = doubled.then(|| format!("duplicate attribute code `{}`", prepared.key));
        for doubt in prepared.body.warnings().iter().chain(&doubled) {
            self.found += 1;
            if self.found <= MAX_SHOWN {
                self.report.for_record(record).warn(doubt);
            }
        }
    }

    /// Takes note of a record that is done: a later one of its code is doubtful all the same.
    pub fn note_done(&mut self, prepared: &PreparedRecord) {
        self.is_duplicate(&prepared.key);
    }

    /// Counts those that were not told.
    pub fn emit_suppressed_count(&self) {
        if self.found > MAX_SHOWN {
            self.report.warn(&format!("{} more warnings not shown", self.found - MAX_SHOWN));
        }
    }

    /// The second attribute of a code would be refused, or overwrite the first.
    fn is_duplicate(&mut self, code: &str) -> bool {
        if self.operation != Operation::AttributeCreate {
            return false;
        }
        let hash = Fnv1a::new().update(code.as_bytes()).finish();
        let known = self.codes.contains(&hash);
        if !known && self.codes.len() < MAX_CODES {
            self.codes.insert(hash);
        }
        known
    }
}
