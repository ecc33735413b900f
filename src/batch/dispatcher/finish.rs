//! The end of a run: its files closed, what became of the records, and how to go on.

use futures_util::FutureExt;

use super::Stop;
use crate::batch::command_line;
use crate::batch::dispatcher::Dispatcher;
use crate::failure::{Applied, Failure, FailureKind};
use crate::report::summary::{self, NextSteps};
use crate::session::runtime::Signals;

impl Dispatcher<'_> {
    /// Closes the files, reports the outcome of the records and the next command.
    pub(super) async fn finish(mut self, signals: &mut Signals) -> Result<(), Failure> {
        if self.stop.is_some() && !matches!(self.stop, Some(Stop::OutputClosed)) {
            self.rest(signals).await;
        }
        let failed = self.close_failed();
        let closed = self.journal.close();
        let printed = self.results.close();
        let took = self.progress.elapsed();
        self.progress.finish();
        let report = self.shared.service.session.report;
        if let Some(doubts) = &self.warnings {
            doubts.emit_suppressed_count();
        }
        let operation = self.input.preparer.operation.operation().name();
        report.status(&summary::sentence(operation, self.count, took));
        for line in self.reasons.lines() {
            report.status(&line);
        }
        let next = command_line::next_steps(
            self.shared.service.session,
            self.input.source,
            self.input.args,
            self.journal.path(),
        );
        for ended in [closed, failed, printed] {
            if let Err(failure) = ended {
                self.request_stop(Stop::Broken(failure));
            }
        }
        self.verdict(&next)
    }

    /// Every record has its line, those that are never sent too. A signal ends that.
    async fn rest(&mut self, signals: &mut Signals) {
        let signals = std::cell::RefCell::new(signals);
        let is_over = || signals.borrow_mut().next().now_or_never().is_some();
        let rest = self.print_the_rest(is_over).await;
        // What cannot be read or printed now is not worth more than the reason to stop.
        if let Err(failure) = rest
            && self.stop.is_none()
        {
            self.request_stop(Stop::Broken(failure));
        }
    }

    /// Gives the file of failed records its name, and writes down how it was left.
    fn close_failed(&mut self) -> Result<(), Failure> {
        let Some(failed) = self.failed.take() else { return Ok(()) };
        let (entry, place) = failed.close()?;
        self.journal.failed_file(&entry);
        if self.input.args.failed.as_ref().is_some_and(|path| place.file_name() != path.file_name()) {
            self.shared.service.session.report.warn(&format!(
                "the file given with --failed was changed during the run: the failed records are in `{}`",
                place.display()
            ));
        }
        Ok(())
    }

    fn verdict(self, next: &NextSteps) -> Result<(), Failure> {
        self.outcome(next).map_err(|failure| Failure { is_batch: true, ..failure })
    }

    fn outcome(self, next: &NextSteps) -> Result<(), Failure> {
        let count = self.count;
        let go_on = summary::hint(count, next);
        let ended = |kind, message: String| Failure::new(kind, message).applied(count.applied()).hint(&go_on);
        match self.stop {
            None | Some(Stop::OnError) => summary::partial(count, next).map_or(Ok(()), Err),
            Some(Stop::Interrupted) => {
                Err(ended(FailureKind::Interrupted, format!("interrupted: {}", summary::counts(count))))
            }
            Some(Stop::Unavailable) => Err(ended(
                FailureKind::Partial,
                format!("stopped because the service is failing: {}", summary::counts(count)),
            )),
            Some(Stop::OutputClosed) => Err(ended(
                FailureKind::Partial,
                format!("stopped because standard output was closed: {}", summary::counts(count)),
            )),
            Some(Stop::Unauthorized(failure)) => {
                let applied = count.applied();
                let kind = if applied == Applied::No { FailureKind::Auth } else { FailureKind::Partial };
                let first = failure.hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
                Err(Failure { kind, applied, hint: None, ..failure }.hint(format!("{first}{go_on}")))
            }
            Some(Stop::Broken(failure)) => {
                let first = failure.hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
                let hint = format!("{first}{go_on}");
                Err(Failure { applied: count.applied(), hint: Some(hint), ..failure })
            }
        }
    }
}
