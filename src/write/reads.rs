//! When to read again while a write becomes visible.

use std::time::Duration;

use tokio::time::Instant;

/// The first pause between two reads; each pause is twice as long as the one before.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);
const MAX_INTERVAL: Duration = Duration::from_secs(2);

/// When to read again: at growing intervals, for a limited time.
pub struct Reads {
    deadline: Instant,
    interval: Duration,
}

impl Reads {
    /// Reads for at most this long.
    pub fn new(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit, interval: FIRST_INTERVAL }
    }

    /// Waits for the next read; `false` when the time is up.
    pub async fn wait(&mut self) -> bool {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return false;
        }
        tokio::time::sleep(self.interval.min(remaining)).await;
        self.interval = (self.interval * 2).min(MAX_INTERVAL);
        true
    }
}
