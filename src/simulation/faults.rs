//! What becomes of a request: whether and when it is processed, and what the client sees of that.

use std::time::Duration;

use super::random::Random;

/// How one request is delivered.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// How long after its arrival it is processed; never, where none.
    pub processed: Option<Duration>,
    /// What the client sees.
    pub observed: Observed,
}

/// What a client sees of a request it sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// The service's own answer.
    Answer,
    /// The head of it, and a part of its body.
    Cut,
    /// No connection.
    Refused,
    /// Nothing, until the time is up.
    Silence,
    /// The connection breaks.
    Reset,
    /// An answer of something else, with `Retry-After` in seconds.
    Status(u16, Option<u64>),
    /// A page with this status.
    Page(u16),
}

/// How network and service behave.
#[derive(Debug, Clone, Default)]
pub struct FaultProfile {
    /// How many of a hundred writes do not simply go through.
    pub writes: u64,
    /// The same of reads.
    pub reads: u64,
    /// How many of a hundred reads come from a replica, and how far it may lag behind, in milliseconds.
    pub stale: (u64, u64),
    /// From here to there nothing goes through, and the client observes this.
    pub outage: Option<(Duration, Duration, Observed)>,
    /// The service refuses the token of one request, with this number.
    pub unauthorized: Option<usize>,
}

impl FaultProfile {
    /// How far the replica lags behind that a read comes from.
    pub fn lag(&self, random: &mut Random) -> Duration {
        let (percent, lag) = self.stale;
        if percent > 0 && random.chance(percent) { random.millis(0, lag) } else { Duration::ZERO }
    }

    /// How request `number`, which leaves now.
    pub fn delivery(&self, random: &mut Random, number: usize, is_read: bool, now: Duration) -> Delivery {
        if let Some((from, until, observed)) = self.outage
            && (from..until).contains(&now)
        {
            let processed = observed != Observed::Refused && random.chance(50);
            return Delivery { processed: processed.then(|| random.millis(0, 5_000)), observed };
        }
        if self.unauthorized == Some(number) {
            return Delivery { processed: None, observed: Observed::Status(401, None) };
        }
        let fine = Delivery { processed: Some(Duration::ZERO), observed: Observed::Answer };
        let faults = if is_read { self.reads } else { self.writes };
        if !random.chance(faults) {
            return fine;
        }
        let retry_after = |random: &mut Random| Some(random.below(4));
        let observed = match random.below(16) {
            0 | 1 => Observed::Silence,
            2 => Observed::Reset,
            3 => Observed::Cut,
            4 => Observed::Refused,
            5 => Observed::Status(429, None),
            6 => Observed::Status(429, retry_after(random)),
            7 => Observed::Page(200),
            8 => Observed::Page(503),
            9 => Observed::Status(503, retry_after(random)),
            10 if !is_read => Observed::Status(202, None),
            10 => Observed::Status(500, None),
            11 => Observed::Status(random.pick(&[408, 499, 303]), None),
            _ => Observed::Status(random.pick(&[500, 502, 503, 504]), None),
        };
        let processed = match observed {
            Observed::Refused | Observed::Status(429, _) => None,
            Observed::Cut => Some(Duration::ZERO),
            _ => match random.below(10) {
                0..=3 => Some(Duration::ZERO),
                4 | 5 => Some(random.millis(100, 12_000)),
                6 => Some(random.millis(10_000, 8 * 60_000)),
                _ => None,
            },
        };
        Delivery { processed, observed }
    }
}
