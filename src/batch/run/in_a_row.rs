//! Failures of one cause with nothing else between: their cause is not the records.

use super::{Run, Stop};
use storefront_core::failure::{Applied, Failure, FailureKind};

/// So many stop the run.
const IN_A_ROW: u64 = 3;

/// The failures that came last.
#[derive(Debug, Default)]
pub struct InARow {
    cause: Option<Cause>,
    count: u64,
    /// The last of those that the service has not answered, as long as it has answered nothing in this run.
    unanswered: Option<Failure>,
    was_answered: bool,
}

/// What failures in a row have in common.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    /// Something else than the service answers.
    NotTheService,
    /// The service refuses a token, or forbids what is done, in these words.
    Forbidden(u16, String),
    /// This machine, such as a full disk.
    Machine,
}

impl Cause {
    fn of(failure: &Failure) -> Option<Self> {
        if failure.is_no_answer {
            return Some(Self::NotTheService);
        }
        match (failure.status, failure.kind, failure.applied) {
            (Some(status @ (401 | 403)), ..) => Some(Self::Forbidden(status, failure.message.clone())),
            (_, FailureKind::Internal, Applied::No) => Some(Self::Machine),
            _ if failure.cannot_be_noted => Some(Self::Machine),
            _ => None,
        }
    }
}

impl InARow {
    /// Takes a failure in; gives how many of its cause there are by now.
    fn add(&mut self, cause: Cause) -> u64 {
        self.count = if self.cause.as_ref() == Some(&cause) { self.count + 1 } else { 1 };
        self.cause = Some(cause);
        self.count
    }

    /// Something else came between.
    pub fn end(&mut self) {
        *self = Self { was_answered: true, ..Self::default() };
    }
}

impl Run<'_> {
    /// Stops the run where failures of one cause are too many.
    pub(super) fn note_in_a_row(&mut self, failure: &Failure) {
        let Some(cause) = Cause::of(failure) else { return self.in_a_row.end() };
        let stop = match cause {
            Cause::NotTheService => Stop::NotTheService(failure.clone()),
            Cause::Forbidden(..) => Stop::Forbidden(failure.clone(), IN_A_ROW),
            Cause::Machine => Stop::Broken(failure.clone()),
        };
        let is_unanswered = cause == Cause::NotTheService && !self.in_a_row.was_answered;
        self.in_a_row.unanswered = is_unanswered.then(|| failure.clone());
        self.in_a_row.was_answered |= !is_unanswered;
        let count = self.in_a_row.add(cause);
        if let Some(Stop::Forbidden(_, failed)) = &mut self.stop {
            // Those that were in flight.
            *failed = count;
        } else if count >= IN_A_ROW {
            self.request_stop(stop);
        }
    }

    /// A run of few records, none of which the service has answered, ends as one of many that is stopped.
    pub(super) fn note_unanswered(&mut self) {
        if let Some(failure) = self.in_a_row.unanswered.take().filter(|_| self.stop.is_none()) {
            self.request_stop(Stop::NotTheService(failure));
        }
    }
}
