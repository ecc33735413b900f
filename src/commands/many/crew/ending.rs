//! The end of a run: its files closed, what became of the records, and how to go on.

use super::{Crew, Stop};
use crate::commands::many::resume_command;
use crate::failure::{Applied, Failure, Kind};
use crate::report::progress::Count;
use crate::report::summary;

impl Crew<'_> {
    /// Closes the files, tells what became of the records and how to go on.
    pub(super) async fn end(mut self, left: usize) -> Result<(), Failure> {
        if matches!(self.stop, Some(Stop::OnError)) {
            self.tell_the_rest().await?;
        }
        let closed = self.journal.close();
        self.results.close()?;
        if let Some(failed) = self.failed.take() {
            failed.close()?;
        }
        let took = self.progress.elapsed();
        drop(self.progress);
        let report = self.shared.service.session.report;
        if let Some(doubts) = &self.doubts {
            doubts.tell_rest();
        }
        let operation = self.intake.work.operation().name();
        report.note(&summary::sentence(operation, self.count, took));
        for line in self.reasons.lines() {
            report.note(&line);
        }
        let resume = resume_command(self.shared.service.session, self.source);
        match self.stop {
            Some(Stop::Broken(failure)) => Err(failure),
            Some(Stop::Interrupted) => Err(interrupted(self.count, left, &resume)),
            _ => closed.and_then(|()| summary::partial(self.count, &resume).map_or(Ok(()), Err)),
        }
    }
}

fn interrupted(count: Count, left: usize, resume: &str) -> Failure {
    let applied = match (left as u64 + count.unknown, count.done) {
        (1.., _) => Applied::Unknown,
        (_, 1..) => Applied::Yes,
        _ => Applied::No,
    };
    let abandoned = if left > 0 {
        format!("; {} under way may have been applied", summary::records(left as u64))
    } else {
        String::new()
    };
    Failure::new(
        Kind::Interrupted,
        format!("interrupted after {}{abandoned}", summary::records(count.total())),
    )
    .applied(applied)
    .hint(resume)
}
