//! Where no look can tell what became of a write, so that a run may say `unknown`; and where none can show what was lost.

use super::cell::Cell;
use super::columns::{Column, Disturbance};
use super::verdict::Effect;
use crate::support::rows::Row;

/// Why nobody can tell.
pub struct Reason {
    pub because: &'static str,
    is_so: fn(&Row, &Column, Effect) -> bool,
}

/// All reasons to say `unknown`.
pub const REASONS: [Reason; 6] = [
    Reason {
        because: "the answer left it open, and what no look shows now may still come",
        is_so: |_, column, effect| effect != Effect::Everything && leaves_open(column),
    },
    Reason {
        because: "the request arrived after the last look",
        is_so: |_, column, _| column.has("writes latency=") || column.has("writes late="),
    },
    Reason {
        because: "the interface shows neither carts nor attributes",
        is_so: |row, _, _| !row.can_be_read(),
    },
    Reason {
        because: "another client may have added the same item",
        is_so: |row, _, _| row.call.operation == "quote add-item",
    },
    Reason {
        because: "no read worked after the write",
        is_so: |_, column, _| column.disturbance == Disturbance::Blind,
    },
    Reason {
        because: "the look was interrupted",
        is_so: |_, column, _| matches!(column.disturbance, Disturbance::CtrlC(_)),
    },
];

/// Answers after which nothing of the write, or of one of its calls, is there.
fn leaves_open(column: &Column) -> bool {
    ["500", "502", "503", "503=0", "reset-before-commit", "varnish=not-applied"].iter().any(|fault| {
        column.name.ends_with(&format!("write {fault}")) || column.name.ends_with(&format!("writes {fault}"))
    }) || column.has("writes error-under-200=")
}

/// Whether all that a run has left is an empty cart, of which it speaks: an empty cart more is nothing that was asked for, and the
/// next command uses it.
pub fn is_told_of_an_empty_cart(cell: &Cell) -> bool {
    let difference = cell.before.difference(&cell.after);
    let is_cart = |line: &str| line.split(' ').nth(1) == Some("quotes");
    difference.lines().all(is_cart) && cell.outcome.stderr.contains("an empty cart ")
}

/// Why a run may say that nobody knows, with this effect.
pub fn reason(row: &Row, column: &Column, effect: Effect) -> Option<&'static Reason> {
    REASONS.iter().find(|reason| (reason.is_so)(row, column, effect))
}
