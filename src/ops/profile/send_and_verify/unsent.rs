//! Marks the snapshot of a replacement that does not leave.

use std::cell::Cell;
use std::path::Path;

use crate::clock::Clock;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark};

/// A snapshot whose replacement has not left. It is marked as refused when the command ends before that, by an error or
/// a signal: only a process that dies leaves the question open.
pub struct Unsent<'a> {
    store: &'a CustomerStore,
    snapshot: &'a Path,
    clock: Clock,
    left: Cell<bool>,
}

impl<'a> Unsent<'a> {
    /// Of a snapshot that was just taken.
    pub fn new(service: &Service<'_>, store: &'a CustomerStore, snapshot: &'a Path) -> Self {
        Self { store, snapshot, clock: service.session.context.clock, left: Cell::new(false) }
    }

    /// The first byte may leave now.
    pub fn leaves(&self) {
        self.left.set(true);
    }
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if !self.left.get() {
            self.store.mark(self.snapshot, Mark::Refused, self.clock.now());
        }
    }
}
