//! Records that failed without telling whether for good: how the others fare tells.

use std::rc::Rc;

use super::{Run, Stop};
use crate::batch::send::Job;
use crate::journal::State;
use crate::journal::write::WriteAhead;
use storefront_core::failure::{Applied, Failure, FailureKind, Persistence};

/// After so many in a row the cause is not the records.
const IN_A_ROW: usize = 3;
/// The service has trouble, or something with this one record: nobody knows after one run.
const INTERNAL_ERROR: Option<u16> = Some(500);

/// What is known of the records that are undecided.
#[derive(Debug, Default)]
pub struct Undecided {
    /// They are printed once they are decided.
    records: Vec<(Rc<Job>, Failure)>,
    /// Replies in a row that are not the service's, without those of records that an earlier run left so.
    in_a_row: usize,
    /// Failures of this machine in a row.
    internal: usize,
    /// Whether a record went through in this run, and whether one was written.
    went_through: bool,
    was_written: bool,
}

impl Run<'_> {
    /// A record went through, or was refused by the service itself: what failed for such as it did is at fault.
    pub(super) fn went_through(&mut self, job: &Job) {
        let is_written = has_left(job);
        self.undecided.in_a_row = 0;
        self.undecided.internal = 0;
        self.undecided.went_through = true;
        self.undecided.was_written |= is_written;
        let records = std::mem::take(&mut self.undecided.records);
        for (other, failure) in records {
            // That reads pass says nothing of writes.
            if is_written || !has_left(&other) {
                self.decide(&other, failure, true);
            } else {
                self.undecided.records.push((other, failure));
            }
        }
    }

    /// Counts and prints a record that failed, as soon as it is known for how long.
    pub(super) fn judge(&mut self, job: Rc<Job>, failure: Failure) {
        let is_not_applied = failure.applied == Applied::No;
        if is_not_applied && failure.kind == FailureKind::Internal {
            self.undecided.internal += 1;
            if self.undecided.internal >= IN_A_ROW {
                self.request_stop(Stop::Broken(failure.clone()));
            }
        }
        if failure.persistence != Persistence::Undecided {
            let is_answer = failure.status.is_some() && State::after(&failure) == State::FailedPermanent;
            if is_answer || failure.kind == FailureKind::Mismatch {
                self.went_through(&job);
            }
            return self.fail(job.position, Some(&job.prepared), &failure);
        }
        if failure.status != INTERNAL_ERROR && !self.failed_alike(&job, &failure) {
            self.undecided.in_a_row += 1;
            if self.undecided.in_a_row >= IN_A_ROW {
                self.request_stop(Stop::NotTheService(failure.clone()));
            }
        }
        if is_not_applied {
            self.undecided.records.push((job, failure));
        } else {
            self.fail(job.position, Some(&job.prepared), &failure);
        }
    }

    /// Decides what no later record told. At the end of the input the earlier ones tell.
    pub(super) fn decide_the_rest(&mut self) {
        let is_outage = self.undecided.in_a_row >= IN_A_ROW || self.stop.is_some();
        for (job, failure) in std::mem::take(&mut self.undecided.records) {
            let others_passed =
                if has_left(&job) { self.undecided.was_written } else { self.undecided.went_through };
            let failed_twice = self.failed_alike(&job, &failure) && self.input.past.has_done();
            if !others_passed && !failed_twice && self.stop.is_none() && failure.status != INTERNAL_ERROR {
                self.request_stop(Stop::NotTheService(failure.clone()));
            }
            self.decide(&job, failure, !is_outage && (others_passed || failed_twice));
        }
    }

    fn decide(&mut self, job: &Job, failure: Failure, is_at_fault: bool) {
        let is_proven = failure.status != INTERNAL_ERROR || self.failed_alike(job, &failure);
        let failure = failure.lasting(if is_at_fault && is_proven {
            Persistence::Permanent
        } else {
            Persistence::Temporary
        });
        if failure.persistence == Persistence::Permanent {
            self.note_failed(job, &failure);
        }
        self.fail(job.position, Some(&job.prepared), &failure);
    }

    /// Whether an earlier run left the record with the same answer.
    fn failed_alike(&self, job: &Job, failure: &Failure) -> bool {
        let latest = self.input.past.latest(job.position.location.record);
        latest.state == State::FailedTemporary
            && latest.is_of(job.position.hash)
            && failure.status == Some(latest.status)
    }
}

/// Whether a write was started for it.
fn has_left(job: &Job) -> bool {
    job.write_ahead.as_ref().is_some_and(WriteAhead::has_passed)
}
