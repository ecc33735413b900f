//! The time of day, for dates in the log and for waiting periods.

use jiff::Timestamp;
use tokio::time::Instant;

/// The system's time of day; the last possible moment if the system's clock is beyond the year 9999.
pub fn system_time() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// A clock: the time of day when it was made, and the time since. It never jumps while a command runs, and stands still
/// with the paused time of a test.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: Timestamp,
    since: Instant,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self::starting_at(system_time())
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
