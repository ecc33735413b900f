//! A spinner on standard error while a call takes long; none off a terminal.

use std::pin::Pin;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Report;

/// What takes no longer is not worth a sign.
const SHOW_AFTER: Duration = Duration::from_millis(500);
const TURN: Duration = Duration::from_millis(100);

impl Report {
    /// Does the work; a spinner says `what` is going on when it takes longer than half a second. There is none where
    /// standard error is no terminal, where animations are unwanted, and with `-v`, whose lines it would break.
    pub async fn while_waiting<T>(&self, what: &str, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        if !self.shows_progress {
            return work.await;
        }
        if let Ok(done) = tokio::time::timeout(SHOW_AFTER, work.as_mut()).await {
            return done;
        }
        let spinner = Spinner::start(what);
        let done = work.await;
        drop(spinner);
        done
    }
}

/// Is gone from the screen when it goes out of scope, also when the work is interrupted.
struct Spinner(ProgressBar);

impl Spinner {
    fn start(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(TURN);
        Self(bar)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
