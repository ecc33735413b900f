//! Progress of a run, and waits: one moving line on a terminal; elsewhere a line now and then.

use std::cell::RefCell;
use std::pin::Pin;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::{Instant, timeout};

use super::{Report, style};
use storefront_core::failure::RecordCounts;
use storefront_core::text::sanitize::sanitize_line;

/// How often a run without a terminal tells its progress.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The time after which a wait is shown.
const SHOW_AFTER: Duration = Duration::from_millis(500);

thread_local! {
    /// The moving line at the end of standard error: the progress of a batch, or a wait. There is one terminal, so that
    /// everything that is written to it has to know the line.
    static LINE: RefCell<Option<ProgressBar>> = const { RefCell::new(None) };
}

/// Writes to the terminal while the moving line, if there is one, is hidden.
pub(super) fn suspend<T>(write: impl FnOnce() -> T) -> T {
    match LINE.with_borrow(Clone::clone) {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

/// The moving line, which is erased when this is dropped.
#[derive(Debug)]
struct ProgressLine(ProgressBar);

impl ProgressLine {
    /// `None` while there is another one.
    fn show(bar: ProgressBar, template: &str) -> Option<Self> {
        if LINE.with_borrow(Option::is_some) {
            return None;
        }
        bar.set_style(ProgressStyle::with_template(template).ok()?.progress_chars("█░"));
        LINE.set(Some(bar.clone()));
        Some(Self(bar))
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        LINE.take();
        self.0.finish_and_clear();
    }
}

impl Report {
    /// Does the work; after half a second a line tells that `what` continues. There is no line if standard error is not a
    /// terminal, if animations are unwanted, and with `-v`, whose lines it would break.
    pub async fn while_waiting<T>(&self, what: &str, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        if !self.shows_progress {
            return work.await;
        }
        if let Ok(done) = timeout(SHOW_AFTER, work.as_mut()).await {
            return done;
        }
        let bar = ProgressBar::new_spinner().with_elapsed(SHOW_AFTER).with_message(what.to_owned());
        let line = ProgressLine::show(bar, "{spinner} {msg} ({elapsed})");
        if let Some(ProgressLine(bar)) = &line {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        work.await
    }
}

impl Report {
    /// Shows the progress of several reads.
    pub fn steps(&self) -> Steps {
        let now = Instant::now();
        Steps { report: self.clone(), line: None, start: now, told: now }
    }
}

/// The progress of several reads that belong together.
#[derive(Debug)]
pub struct Steps {
    report: Report,
    /// Only on a terminal, until the last one ends.
    line: Option<ProgressLine>,
    start: Instant,
    told: Instant,
}

impl Steps {
    /// Shows what is being read, if the reads take long.
    pub fn show(&mut self, text: &str) {
        if self.report.shows_progress {
            if self.line.is_none() && self.start.elapsed() >= SHOW_AFTER {
                let bar = ProgressBar::new_spinner().with_elapsed(self.start.elapsed());
                bar.enable_steady_tick(Duration::from_millis(100));
                self.line = ProgressLine::show(bar, "{spinner} {msg} ({elapsed})");
            }
            if let Some(ProgressLine(bar)) = &self.line {
                bar.set_message(sanitize_line(text));
            }
        } else if self.told.elapsed() >= LINE_EVERY {
            self.told = Instant::now();
            self.report.status(text);
        }
    }
}

/// Progress of one run.
#[derive(Debug)]
pub struct Progress {
    report: Report,
    /// Only on a terminal, until the run ends.
    line: Option<ProgressLine>,
    total: u64,
    /// How many of them this run sends.
    to_send: u64,
    start: Instant,
    told: Instant,
}

impl Progress {
    /// Progress towards `total` records, of which `to_send` are sent.
    pub fn new(report: &Report, total: u64, to_send: u64) -> Self {
        let bar = || ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let is_narrow = report.stderr_style.width.is_some_and(|columns| columns < 70);
        let template = if is_narrow {
            "{pos} of {len}, {wide_msg}"
        } else {
            "{bar:30} {pos} of {len}, {prefix}{wide_msg}"
        };
        let show = || ProgressLine::show(bar(), template);
        let line = report.shows_progress.then(show).flatten();
        let now = Instant::now();
        Self { report: report.clone(), line, total, to_send, start: now, told: now }
    }

    /// This progress, for a run that began earlier, before its total was known.
    #[must_use]
    pub fn since(self, start: Instant) -> Self {
        Self { start, ..self }
    }

    /// Shows the progress of the run.
    pub fn show(&mut self, count: RecordCounts) {
        let message = format!("{} failed, {} unknown", count.failed + count.temporary, count.unknown);
        self.advance(count, "records", message);
    }

    /// Shows the progress of a check; this many customers have findings.
    pub fn show_checked(&mut self, checked: u64, with_findings: u64) {
        let count = RecordCounts { done: checked, ..RecordCounts::default() };
        self.advance(count, "customers", format!("{with_findings} with findings"));
    }

    /// Shows how many customers are exported.
    pub fn show_exported(&mut self, customers: u64) {
        let count = RecordCounts { done: customers, ..RecordCounts::default() };
        self.advance(count, "customers", String::new());
    }

    fn advance(&mut self, count: RecordCounts, noun: &str, message: String) {
        if let Some(ProgressLine(bar)) = &self.line {
            let remaining = time_left(count, self.to_send, self.start.elapsed());
            bar.set_prefix(
                remaining.map(|remaining| format!("{} left, ", style::time(remaining))).unwrap_or_default(),
            );
            bar.set_message(message);
            bar.set_position(count.total());
        } else if self.told.elapsed() >= LINE_EVERY {
            self.told = Instant::now();
            self.report.status(&format!("{} of {} {noun}, {message}", count.total(), self.total));
        }
    }

    /// Erases the line, and returns the time since the run began.
    pub fn finish(&mut self) -> Duration {
        self.line = None;
        self.start.elapsed()
    }
}

/// How long the rest takes at the same speed. Records that earlier runs have done took no time, and do not count.
fn time_left(count: RecordCounts, to_send: u64, elapsed: Duration) -> Option<Duration> {
    let sent = u32::try_from(count.total() - count.done_earlier).ok().filter(|sent| *sent > 0)?;
    let remaining = u32::try_from(to_send.saturating_sub(sent.into())).ok()?;
    Some(Duration::from_secs((elapsed * remaining / sent).as_secs()))
}

#[cfg(test)]
mod tests {
    use super::{Duration, RecordCounts, time_left};

    #[test]
    fn the_time_that_is_left_is_that_of_the_records_that_are_sent() {
        let second = Duration::from_secs(1);
        let resumed = RecordCounts { done_earlier: 900, done: 8, failed: 2, ..RecordCounts::default() };
        assert_eq!(time_left(resumed, 100, 10 * second), Some(90 * second));
        assert_eq!(time_left(RecordCounts { done: 0, ..resumed }, 2, second), Some(Duration::ZERO));
        let skipped = RecordCounts { done_earlier: 900, ..RecordCounts::default() };
        assert_eq!(time_left(skipped, 100, second), None);
    }
}
