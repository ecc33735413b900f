//! How many records may be in flight, and when the next may start: a concurrency that is halved when the service asks
//! for fewer requests and grows again automatically (AIMD), a rate (token bucket), and a circuit breaker.

use std::time::Duration;

use tokio::time::Instant;

use crate::cli::Rate;
use crate::client::{MAX_WAIT, ServiceSignal};

/// Requests to slow down come in bursts: one burst lowers the number once.
const COOLDOWN: Duration = Duration::from_millis(200);
/// How far a run that was held up may catch up with its rate.
const BURST_ALLOWANCE: Duration = Duration::from_millis(20);

/// The pauses before the first, second … trial of a failing service, in seconds. This many trials without another answer
/// end the batch.
const PAUSES: [u64; 5] = [1, 2, 4, 8, 16];
/// How many 500s in a row mean that the service, and not one request, is the reason.
const INTERNAL_ERRORS: u32 = 3;

/// The pace of a run.
#[derive(Debug, Default)]
pub struct Pace {
    max: f64,
    limit: f64,
    lowered: Option<Instant>,
    interval: Option<Duration>,
    /// Nothing starts before this time because of the rate.
    next: Option<Instant>,
    /// Nothing starts before this time because the service asked for it.
    asked: Option<Instant>,
    circuit: Circuit,
    /// 500s since the last other answer.
    internal_errors: u32,
    /// Pauses since the last other answer.
    pauses: usize,
    /// Records started since the first sign of failure, one at a time.
    trials: usize,
}

/// Whether new records may start.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Circuit {
    #[default]
    Closed,
    /// Nothing starts before this time.
    Open(Instant),
    /// One record at a time.
    HalfOpen,
    /// Nothing starts any more.
    Exhausted,
}

impl Pace {
    /// At most `jobs` at a time, and no faster than `rate`.
    pub fn new(jobs: u16, rate: Option<Rate>) -> Self {
        let interval = rate.map(|rate| Duration::from_secs_f64((1.0 / rate.per_second).min(1e9)));
        Self { max: jobs.into(), limit: jobs.into(), interval, ..Self::default() }
    }

    /// At most `jobs` at a time from here on.
    pub fn limit_to(&mut self, jobs: u16) {
        self.max = jobs.into();
        self.limit = self.limit.min(self.max);
    }

    /// Notes what an attempt showed of the service, reads and repeats included.
    pub fn on_signal(&mut self, signal: ServiceSignal, now: Instant) {
        match signal {
            ServiceSignal::Healthy => self.on_answer(),
            ServiceSignal::InternalError => {
                self.internal_errors += 1;
                if self.circuit != Circuit::Closed || self.internal_errors >= INTERNAL_ERRORS {
                    self.on_failing(Duration::ZERO, now);
                }
            }
            ServiceSignal::Failing(retry_after) => {
                self.on_failing(retry_after.unwrap_or_default().min(MAX_WAIT), now);
            }
            ServiceSignal::Throttled(retry_after) => {
                self.on_answer();
                self.asked = self.asked.max(Some(now + retry_after.unwrap_or_default().min(MAX_WAIT)));
                if self.lowered.is_none_or(|lowered| now - lowered >= COOLDOWN) {
                    self.limit = (self.limit / 2.0).max(1.0);
                    self.lowered = Some(now);
                }
            }
        }
    }

    /// An answer that is not a sign of failure.
    fn on_answer(&mut self) {
        if self.circuit != Circuit::Exhausted {
            (self.circuit, self.internal_errors, self.pauses, self.trials) = (Circuit::Closed, 0, 0, 0);
        }
    }

    fn on_failing(&mut self, asked: Duration, now: Instant) {
        self.circuit = match self.circuit_at(now) {
            Circuit::Exhausted => Circuit::Exhausted,
            // Records that were in flight when it opened fail as well: that is the same failure.
            Circuit::Open(until) => Circuit::Open(until.max(now + asked)),
            _ if self.trials >= PAUSES.len() => Circuit::Exhausted,
            _ => {
                self.pauses += 1;
                let pause = Duration::from_secs(PAUSES[self.pauses.min(PAUSES.len()) - 1]);
                Circuit::Open(now + pause.max(asked))
            }
        };
    }

    /// Notes that the service answered in time: after about as many answers as are in flight, one more may be.
    pub fn on_success(&mut self) {
        self.limit = (self.limit + 1.0 / self.limit).min(self.max);
    }

    /// Whether one more may be in flight in addition to these.
    pub fn has_capacity(&self, in_flight: usize, now: Instant) -> bool {
        let fits =
            u32::try_from(in_flight).is_ok_and(|in_flight| f64::from(in_flight) + 1.0 <= self.limit + 1e-9);
        fits && match self.circuit_at(now) {
            // After a 500, records start one at a time until it is clear whether the service is failing.
            Circuit::Closed => self.internal_errors == 0 || in_flight == 0,
            Circuit::HalfOpen => in_flight == 0,
            Circuit::Open(_) | Circuit::Exhausted => false,
        }
    }

    /// Whether one more may start now, in addition to these.
    pub fn can_start(&self, in_flight: usize) -> bool {
        let now = Instant::now();
        self.delay(now).is_none() && self.has_capacity(in_flight, now)
    }

    /// How long to wait before the next record may start.
    pub fn delay(&self, now: Instant) -> Option<Duration> {
        let pause = if let Circuit::Open(until) = self.circuit { Some(until) } else { None };
        let until = self.next.max(self.asked).max(pause)?;
        Some(until.saturating_duration_since(now)).filter(|wait| !wait.is_zero())
    }

    /// Notes that a record has started.
    pub fn on_start(&mut self, now: Instant) {
        self.circuit = self.circuit_at(now);
        self.trials += usize::from(self.circuit == Circuit::HalfOpen || self.internal_errors > 0);
        if let Some(interval) = self.interval {
            let earliest = now.checked_sub(BURST_ALLOWANCE).unwrap_or(now);
            self.next = Some(self.next.map_or(now, |next| next.max(earliest)) + interval);
        }
    }

    /// Whether the service was failing for so long that nothing more is sent.
    pub fn is_exhausted(&self) -> bool {
        self.circuit == Circuit::Exhausted
    }

    /// After its pause, the circuit is half open.
    fn circuit_at(&self, now: Instant) -> Circuit {
        match self.circuit {
            Circuit::Open(until) if until <= now => Circuit::HalfOpen,
            circuit => circuit,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{COOLDOWN, Pace};
    use crate::cli::Rate;
    use crate::client::ServiceSignal;

    const THROTTLED: ServiceSignal = ServiceSignal::Throttled(None);
    const FAILING: ServiceSignal = ServiceSignal::Failing(None);

    #[test]
    fn throttling_lowers_the_number_and_success_raises_it_again() {
        let mut pace = Pace::new(8, None);
        let start = Instant::now();
        assert!(pace.has_capacity(7, start) && !pace.has_capacity(8, start));
        pace.on_signal(THROTTLED, start);
        pace.on_signal(THROTTLED, start + COOLDOWN / 2);
        assert!(pace.has_capacity(3, start) && !pace.has_capacity(4, start), "one burst lowers it once");
        for burst in 1..9 {
            pace.on_signal(THROTTLED, start + COOLDOWN * burst);
        }
        let later = start + COOLDOWN * 9;
        assert!(pace.has_capacity(0, later) && !pace.has_capacity(1, later), "one is always let through");
        for _ in 0..40 {
            pace.on_success();
        }
        assert!(pace.has_capacity(7, later) && !pace.has_capacity(8, later));
    }

    #[test]
    fn what_the_service_asks_for_holds_new_records_back() {
        let mut pace = Pace::new(8, None);
        let start = Instant::now();
        pace.on_signal(ServiceSignal::Throttled(Some(Duration::from_secs(7))), start);
        pace.on_signal(THROTTLED, start);
        assert_eq!(pace.delay(start), Some(Duration::from_secs(7)));
        pace.on_signal(ServiceSignal::Throttled(Some(Duration::from_secs(7000))), start);
        assert_eq!(pace.delay(start), Some(Duration::from_secs(60)));
        assert_eq!(pace.delay(start + Duration::from_secs(60)), None);
    }

    #[test]
    fn a_rate_is_kept_over_time() {
        let mut pace = Pace::new(8, Some(Rate { per_second: 100.0 }));
        let mut now = Instant::now();
        let start = now;
        for _ in 0..50 {
            now += pace.delay(now).unwrap_or_default() + Duration::from_millis(1);
            pace.on_start(now);
        }
        let taken = now - start;
        assert!(taken >= Duration::from_millis(470) && taken < Duration::from_millis(560), "{taken:?}");
    }

    /// Plays an outage in which every started record fails: how many records failed, and how long the pauses were.
    fn outage(jobs: u16, signals: &[ServiceSignal]) -> (u16, Vec<u64>) {
        let mut pace = Pace::new(jobs, None);
        let mut now = Instant::now();
        let mut failed = 0;
        let mut in_flight = 0;
        let mut pauses = Vec::new();
        while !pace.is_exhausted() {
            while pace.has_capacity(in_flight.into(), now) {
                pace.on_start(now);
                in_flight += 1;
            }
            if in_flight > 0 {
                for signal in signals {
                    pace.on_signal(*signal, now);
                }
                in_flight -= 1;
                failed += 1;
            } else if let Some(delay) = pace.delay(now) {
                pauses.push(delay.as_secs());
                now += delay;
            }
        }
        (failed + in_flight, pauses)
    }

    #[test]
    fn an_outage_costs_at_most_the_jobs_and_five() {
        for jobs in [1, 2, 3, 8, 100] {
            let (failed, pauses) = outage(jobs, &[FAILING]);
            assert_eq!((failed, pauses), (jobs + 5, vec![1, 2, 4, 8, 16]), "{jobs}");
            for signals in [&[ServiceSignal::InternalError][..], &[FAILING, ServiceSignal::InternalError]] {
                let (failed, _) = outage(jobs, signals);
                assert!(failed <= jobs + 5, "{jobs}: {failed}");
            }
        }
    }

    #[test]
    fn retry_after_makes_a_pause_longer_up_to_a_minute() {
        let now = Instant::now();
        for (asked, pause) in [(0, 1), (7, 7), (3600, 60)] {
            let mut pace = Pace::new(8, None);
            pace.on_signal(ServiceSignal::Failing(Some(Duration::from_secs(asked))), now);
            assert_eq!(pace.delay(now), Some(Duration::from_secs(pause)));
            assert!(!pace.has_capacity(0, now + Duration::from_secs(pause - 1)));
            assert!(pace.has_capacity(0, now + Duration::from_secs(pause)));
        }
    }

    #[test]
    fn after_the_pause_one_at_a_time_until_another_answer_comes() {
        let start = Instant::now();
        let mut pace = Pace::new(8, None);
        pace.on_signal(FAILING, start);
        // Those that were in flight do not make it worse.
        pace.on_signal(FAILING, start);
        assert_eq!(pace.delay(start), Some(Duration::from_secs(1)));
        let later = start + Duration::from_secs(1);
        assert!(pace.has_capacity(0, later) && !pace.has_capacity(1, later));
        pace.on_start(later);
        pace.on_signal(FAILING, later);
        assert_eq!(pace.delay(later), Some(Duration::from_secs(2)));
        pace.on_answer();
        assert!(pace.has_capacity(7, later) && pace.delay(later).is_none());
        pace.on_signal(FAILING, later);
        assert_eq!(pace.delay(later), Some(Duration::from_secs(1)), "the count begins again");
    }

    #[test]
    fn one_500_is_no_outage_and_three_in_a_row_are() {
        let now = Instant::now();
        let mut pace = Pace::new(8, None);
        pace.on_signal(ServiceSignal::InternalError, now);
        pace.on_signal(ServiceSignal::InternalError, now);
        pace.on_answer();
        pace.on_signal(ServiceSignal::InternalError, now);
        pace.on_signal(ServiceSignal::InternalError, now);
        assert!(pace.delay(now).is_none() && pace.has_capacity(0, now) && !pace.has_capacity(1, now));
        pace.on_signal(ServiceSignal::InternalError, now);
        assert_eq!(pace.delay(now), Some(Duration::from_secs(1)));
    }
}
