//! Failures with one cause and nothing else between them: the records are not to blame.

use super::{Run, Stop};
use storefront_core::failure::{Applied, Failure, FailureKind};

/// How many stop the run.
const IN_A_ROW: u64 = 3;

/// The latest failures.
#[derive(Debug, Default)]
pub struct InARow {
    cause: Option<Cause>,
    count: u64,
    /// The last failure that is not the service's answer, as long as the service has answered nothing in this run.
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
    /// Adds a failure; returns how many have had its cause in a row.
    fn add(&mut self, cause: Cause) -> u64 {
        self.count = if self.cause.as_ref() == Some(&cause) { self.count + 1 } else { 1 };
        self.cause = Some(cause);
        self.count
    }

    /// Another result came between.
    pub fn end(&mut self) {
        *self = Self { was_answered: true, ..Self::default() };
    }
}

impl Run<'_> {
    /// Stops the run if too many failures have one cause.
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
            // Failures of records that were in flight.
            *failed = count;
        } else if count >= IN_A_ROW {
            self.request_stop(stop);
        }
    }

    /// Lets a run of few records, none of which the service has answered, end like a run of many that is stopped.
    pub(super) fn note_unanswered(&mut self) {
        if let Some(failure) = self.in_a_row.unanswered.take().filter(|_| self.stop.is_none()) {
            self.request_stop(Stop::NotTheService(failure));
        }
    }
}
