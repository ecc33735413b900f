//! What becomes of a request: whether and when it is processed, and what the client sees of that.

use std::time::Duration;

use super::random::Random;

/// How one request is delivered.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// How long after its arrival it is processed; never, where none.
    pub processed: Option<Duration>,
    /// How long after that a proxy hands it on once more, if it does.
    pub copy: Option<Duration>,
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
    /// An error under the status 200, by its number in [`ERRORS`].
    Error(usize),
    /// A profile without its list of addresses.
    NoList,
}

/// Errors that services give under the status 200.
pub const ERRORS: [&str; 4] = [
    r#"{"message":"It cannot be saved."}"#,
    r#"{"code":500,"message":"It cannot be saved."}"#,
    r#"{"messages":{"error":[{"code":500,"message":"It cannot be saved."}]}}"#,
    "false",
];

/// What the service does to a profile besides what it was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Quirk {
    /// Nothing.
    #[default]
    None,
    /// It writes towns in capitals, dates with their time, and numbers with four decimals.
    Notation,
    /// It writes towns in capitals.
    Rewrites,
    /// It loses an address, at so many of a hundred PUTs.
    Drops(u64),
    /// All addresses get new ids at each PUT.
    Renumbers,
    /// It refuses so many of a hundred writes with 400.
    Refuses(u64),
}

/// How network and service behave.
#[derive(Debug, Clone, Default)]
pub struct FaultProfile {
    /// How many of a hundred writes do not simply go through.
    pub writes: u64,
    /// The same of reads.
    pub reads: u64,
    /// How many of a hundred writes are saved and answered with 4xx, or answered with an error under 200.
    pub misreported: u64,
    /// How many of a hundred writes a proxy hands on twice.
    pub doubled: u64,
    /// How far each of the two replicas lags behind. Reads are answered by either.
    pub replicas: [Duration; 2],
    /// From here to there nothing goes through, and the client observes this.
    pub outage: Option<(Duration, Duration, Observed)>,
    /// The service refuses the token of one request, with this number.
    pub unauthorized: Option<usize>,
    /// How long a cache answers with the last profile that was read, whichever customer asks.
    pub cache: Option<Duration>,
    /// Profiles cannot be read: 405.
    pub has_no_read: bool,
    /// What the service does besides.
    pub quirk: Quirk,
}

impl FaultProfile {
    /// How request `number`, which leaves now.
    pub fn delivery(&self, random: &mut Random, number: usize, is_read: bool, now: Duration) -> Delivery {
        let fine = Delivery { processed: Some(Duration::ZERO), copy: None, observed: Observed::Answer };
        if let Some((from, until, observed)) = self.outage
            && (from..until).contains(&now)
        {
            let processed = observed != Observed::Refused && random.chance(50);
            let processed = processed.then(|| random.millis(0, 5_000));
            return Delivery { processed, observed, ..fine };
        }
        if self.unauthorized == Some(number) {
            return Delivery { processed: None, observed: Observed::Status(401, None), ..fine };
        }
        if !is_read && self.misreported > 0 && random.chance(self.misreported) {
            return Self::misreport(random);
        }
        let copy =
            (!is_read && self.doubled > 0 && random.chance(self.doubled)).then(|| random.millis(0, 5_000));
        let fine = Delivery { copy, ..fine };
        let faults = if is_read { self.reads } else { self.writes };
        if !random.chance(faults) {
            return fine;
        }
        let observed = Self::fault(random, is_read);
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
        Delivery { processed, observed, ..fine }
    }

    /// Saved and answered as refused, or answered with an error under 200, saved or not.
    fn misreport(random: &mut Random) -> Delivery {
        let (observed, is_saved) = if random.chance(50) {
            (Observed::Status(random.pick(&[400, 404, 409, 422, 501]), None), true)
        } else {
            (Observed::Error(random.pick(&[0, 1, 2, 3])), random.chance(30))
        };
        Delivery { processed: is_saved.then_some(Duration::ZERO), copy: None, observed }
    }

    fn fault(random: &mut Random, is_read: bool) -> Observed {
        let retry_after = |random: &mut Random| Some(random.pick(&[0, 1, 2, 3, 20, 90]));
        match random.below(16) {
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
            12 if is_read => Observed::NoList,
            11 => Observed::Status(random.pick(&[408, 499, 303]), None),
            _ => Observed::Status(random.pick(&[500, 502, 503, 504]), None),
        }
    }
}

/// A way in which nothing works.
pub fn any_outage(random: &mut Random) -> Observed {
    random.pick(&[
        Observed::Silence,
        Observed::Reset,
        Observed::Refused,
        Observed::Page(503),
        Observed::Status(503, Some(2)),
        Observed::Status(502, None),
        Observed::Status(500, None),
    ])
}
