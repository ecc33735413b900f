//! A spinner on standard error while a call takes long; none off a terminal.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::Report;
use super::status_line::ShownLine;

/// What takes no longer is not worth a sign.
const SHOW_AFTER: Duration = Duration::from_millis(500);
const TURN: Duration = Duration::from_millis(100);
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

impl Report {
    /// Does the work; a spinner says `what` is going on when it takes longer than half a second. There is none where
    /// standard error is no terminal, where animations are unwanted, and with `-v`, whose lines it would break.
    pub async fn while_waiting<T>(&self, what: &str, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        if !self.shows_progress {
            return work.await;
        }
        let begun = Instant::now();
        if let Ok(done) = timeout(SHOW_AFTER, work.as_mut()).await {
            return done;
        }
        let line = ShownLine::new();
        let mut turn = 0;
        loop {
            line.show(format!("{} {what} ({} s)", FRAMES[turn % FRAMES.len()], begun.elapsed().as_secs()));
            if let Ok(done) = timeout(TURN, work.as_mut()).await {
                return done;
            }
            turn += 1;
        }
    }
}
