//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::time::Instant;

use super::Report;
use super::status_line::ShownLine;
use crate::failure::Applied;

/// How often a run that has no terminal says how far it is.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Characters of the bar.
const BAR: u64 = 30;

/// How many records came to which end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Applied, or nothing was to be changed.
    pub done: u64,
    /// Failed, for whatever reason.
    pub failed: u64,
    /// Of those that failed: for a reason that may pass.
    pub temporary: u64,
    /// Of those that failed: written all the same, but not as it was asked for.
    pub mismatched: u64,
    /// Sent, with unknown outcome.
    pub unknown: u64,
    /// Done by an earlier run, and left alone.
    pub already_done: u64,
    /// Not taken any more.
    pub not_sent: u64,
}

impl Count {
    /// All of them.
    pub fn total(self) -> u64 {
        self.done + self.failed + self.unknown + self.already_done + self.not_sent
    }

    /// What all of them amount to: unknown if any record is, else yes if any is, else no.
    pub fn applied(self) -> Applied {
        match (self.unknown, self.done + self.already_done + self.mismatched) {
            (1.., _) => Applied::Unknown,
            (_, 1..) => Applied::Yes,
            _ => Applied::No,
        }
    }
}

/// Progress of one run.
#[derive(Debug)]
pub struct Progress {
    report: Report,
    /// Only on a terminal, until the run ends.
    line: Option<ShownLine>,
    total: Option<u64>,
    begun: Instant,
    told: Instant,
}

impl Progress {
    /// Progress towards `total` records, where that is known.
    pub fn new(report: &Report, terminal: bool, total: Option<u64>) -> Self {
        let line = (terminal && !report.quiet).then(ShownLine::new);
        let now = Instant::now();
        Self { report: *report, line, total, begun: now, told: now }
    }

    /// Shows how far the run is.
    pub fn show(&mut self, count: Count) {
        let of = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
        if let Some(line) = &self.line {
            let bar = self.total.map(|total| bar(count.total(), total)).unwrap_or_default();
            line.show(format!("{bar}{}{of}, {}", count.total(), self.message(count)));
        } else if self.told.elapsed() >= LINE_EVERY {
            self.told = Instant::now();
            self.report.status(&format!("{}{of} records, {}", count.total(), self.message(count)));
        }
    }

    /// Time since the run began.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn message(&self, count: Count) -> String {
        let seconds = self.begun.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "shown with no more than three digits")]
        let per_second = (count.total() - count.already_done) as f64 / seconds.max(0.001);
        let mut words = format!("{} failed, {} unknown, {per_second:.0}/s", count.failed, count.unknown);
        if let Some(total) = self.total.filter(|_| per_second > 0.0) {
            #[expect(clippy::cast_precision_loss, reason = "a guess")]
            let left = total.saturating_sub(count.total()) as f64 / per_second;
            let _ = write!(words, ", {} left", time(Duration::from_secs_f64(left.min(1e9))));
        }
        words
    }
}

impl Progress {
    /// Takes the line off the terminal.
    pub fn finish(&mut self) {
        self.line = None;
    }
}

/// The part that is done, as a bar with a blank after it.
fn bar(done: u64, total: u64) -> String {
    let full = (done.min(total) * BAR).checked_div(total).unwrap_or(BAR);
    (0..BAR).map(|at| if at < full { '█' } else { '░' }).chain([' ']).collect()
}

/// A time as people say it.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn the_bar_is_full_only_at_the_end() {
        let full = |done, total| bar(done, total).matches('█').count();
        assert_eq!(
            [full(0, 40), full(20, 40), full(39, 40), full(40, 40), full(41, 40)],
            [0, 15, 29, 30, 30]
        );
        assert_eq!((full(0, 0), bar(7, 9).chars().count()), (30, 31));
    }
}
