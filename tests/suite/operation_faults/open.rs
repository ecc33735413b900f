//! Where no look can tell what became of a write, so that a run may say `unknown`; and what looks untrue and is not.

use super::cell::Cell;
use super::columns::{Column, Disturbance};
use super::verdict::{Effect, Untruth};
use crate::support::rows::{Owner, Row};

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

/// Why what looks untrue is true after all.
pub struct Excuse {
    pub because: &'static str,
    is_so: fn(&Row, &Column, Untruth, &Cell) -> bool,
}

/// All of them.
pub const EXCUSES: [Excuse; 4] = [
    Excuse {
        because: "what cannot be read cannot show what was lost",
        is_so: |row, _, untruth, _| untruth == Untruth::YesWithLosses && !row.can_be_read(),
    },
    Excuse {
        because: "the status alone says whether it was done, where the interface shows neither carts nor attributes",
        is_so: |row, _, untruth, _| matches!(untruth, Untruth::No | Untruth::Yes) && !row.can_be_read(),
    },
    Excuse {
        because: "an empty cart more, of which it speaks, is nothing that was asked for, and the next command uses it",
        is_so: |_, _, untruth, cell| untruth == Untruth::No && is_told_of_an_empty_cart(cell),
    },
    Excuse {
        because: "a call on a cart names one item, and others may change the rest of it at any time; what is saved to the \
                  whole of it warns of other quantities",
        is_so: |row, column, untruth, cell| {
            let is_cart = matches!(row.call.owner, Owner::Cart(_) | Owner::NewCart(_));
            let is_told =
                row.call.operation != "quote ship" || cell.outcome.stderr.contains("the quantities in cart ");
            untruth == Untruth::YesWithLosses && column.has("lose=") && is_cart && is_told
        },
    },
];

/// Whether all that a run has left is an empty cart, of which it speaks.
fn is_told_of_an_empty_cart(cell: &Cell) -> bool {
    let difference = cell.before.difference(&cell.after);
    let is_cart = |line: &str| line.split(' ').nth(1) == Some("quotes");
    difference.lines().all(is_cart) && cell.outcome.stderr.contains("an empty cart ")
}

/// Why this is true after all.
pub fn excuse(row: &Row, column: &Column, untruth: Untruth, cell: &Cell) -> Option<&'static Excuse> {
    EXCUSES.iter().find(|excuse| (excuse.is_so)(row, column, untruth, cell))
}

/// Why a run may say that nobody knows, with this effect.
pub fn reason(row: &Row, column: &Column, effect: Effect) -> Option<&'static Reason> {
    REASONS.iter().find(|reason| (reason.is_so)(row, column, effect))
}
