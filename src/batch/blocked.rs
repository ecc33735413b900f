//! Records that are not sent because of an earlier one that replaces the same thing.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::failure::{Applied, Failure, FailureKind};
use crate::journal::record_state::{RecordState, state_after};
use crate::plan::operation::Operation;

/// Keys of which a record failed in a way that holds up later ones.
#[derive(Debug, Default)]
pub struct Blocked(RefCell<HashMap<u64, Blocker>>);

/// A record that holds up later ones of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Blocker {
    record: u64,
    is_unknown: bool,
}

impl Blocked {
    /// Takes note of a record that failed. After an unknown outcome, later records that replace the same thing are not
    /// sent: the unknown request may still take effect, and undo what they do. Nor are they after one that a resumed run
    /// sends again: it would undo them.
    pub fn note(&self, operation: Operation, key: u64, record: u64, failure: &Failure) {
        let is_unknown = failure.applied == Applied::Unknown;
        let holds_up = is_unknown || state_after(failure) == RecordState::FailedTemporary;
        if operation.spec().replaces.is_some() && holds_up {
            let own = Blocker { record, is_unknown };
            self.0.borrow_mut().entry(key).and_modify(|first| *first = own.min(*first)).or_insert(own);
        }
    }

    /// Why a record of this key is not sent, if an earlier one holds it up.
    pub fn refusal(&self, operation: Operation, key: u64, record: u64) -> Option<Failure> {
        let first = self.0.borrow().get(&key).copied().filter(|first| first.record < record)?;
        let what = operation.spec().replaces.unwrap_or("customer");
        Some(if first.is_unknown {
            behind_unknown(what, first.record)
        } else {
            behind_failed(what, first.record)
        })
    }
}

fn behind_unknown(what: &str, unknown: u64) -> Failure {
    Failure::guard(format!("not sent: the outcome of record {unknown}, of the same {what}, is unknown"))
        .hint(format!("check whether record {unknown} took effect first"))
}

/// A resumed run sends that one again, after which this one is due.
fn behind_failed(what: &str, failed: u64) -> Failure {
    let message = format!("not sent: record {failed}, of the same {what}, failed and comes first");
    Failure::new(FailureKind::Unavailable, message).hint("--resume sends both in their order")
}
