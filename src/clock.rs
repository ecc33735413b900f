//! The time of day, by which snapshots are dated and waiting periods measured.

use jiff::Timestamp;
use tokio::time::Instant;

/// A clock: the time of day when it was made, and the time that went by since. It never jumps while a command runs,
/// and stands still with the paused time of a test.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: Timestamp,
    since: Instant,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self::starting_at(Timestamp::now())
    }

    /// A clock that shows `wall` now.
    pub fn starting_at(wall: Timestamp) -> Self {
        Self { wall, since: Instant::now() }
    }

    /// The time of day.
    pub fn now(&self) -> Timestamp {
        self.wall.saturating_add(self.since.elapsed()).unwrap_or(self.wall)
    }
}
