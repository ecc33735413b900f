//! How many records may be in flight, and when the next may start: a concurrency that is halved when the service asks
//! for fewer requests and grows again by itself (AIMD), a rate (token bucket), and a circuit breaker.

use std::time::Duration;

use tokio::time::Instant;

use crate::cli::batch::Rate;
use crate::http::{MAX_WAIT, ServiceSignal};

/// Answers that ask for fewer come in bursts: one burst lowers the number once.
const BURST_ALLOWANCE: Duration = Duration::from_millis(200);
/// How far a run that was held up may catch up with its rate.
const COOLDOWN: Duration = Duration::from_millis(20);

/// The pace of a run.
#[derive(Debug)]
pub struct Throttle {
    max: f64,
    limit: f64,
    lowered: Option<Instant>,
    interval: Option<Duration>,
    next: Option<Instant>,
    /// Nothing starts before this time: the service asked for it.
    asked: Option<Instant>,
    breaker: CircuitBreaker,
}

impl Throttle {
    /// At most `jobs` at a time, and no faster than `rate`.
    pub fn new(jobs: u16, rate: Option<Rate>) -> Self {
        Self {
            max: jobs.into(),
            limit: jobs.into(),
            lowered: None,
            interval: rate.map(|rate| Duration::from_secs_f64((1.0 / rate.per_second).min(1e9))),
            next: None,
            asked: None,
            breaker: CircuitBreaker::default(),
        }
    }

    /// Takes note of what an attempt showed of the service, reads and repeats included.
    pub fn on_throttled(&mut self, signal: ServiceSignal, now: Instant) {
        match signal {
            ServiceSignal::Healthy => self.breaker.on_answer(),
            ServiceSignal::InternalError => self.breaker.on_internal_error(now),
            ServiceSignal::Failing(retry_after) => self.breaker.on_failing(retry_after, now),
            ServiceSignal::Throttled(retry_after) => {
                self.breaker.on_answer();
                let until = now + retry_after.unwrap_or_default().min(MAX_WAIT);
                self.asked = Some(self.asked.map_or(until, |asked| asked.max(until)));
                self.lower(now);
            }
        }
    }

    fn lower(&mut self, now: Instant) {
        if self.lowered.is_none_or(|lowered| now - lowered >= BURST_ALLOWANCE) {
            self.limit = (self.limit / 2.0).max(1.0);
            self.lowered = Some(now);
        }
    }

    /// A record went through: about as many as are in flight make room for one more.
    pub fn on_success(&mut self) {
        self.limit = (self.limit + 1.0 / self.limit).min(self.max);
    }

    /// Whether one more may be in flight in addition to these.
    pub fn has_capacity(&mut self, in_flight: usize, now: Instant) -> bool {
        let fits =
            u32::try_from(in_flight).is_ok_and(|in_flight| f64::from(in_flight) + 1.0 <= self.limit + 1e-9);
        fits && self.breaker.may_start(in_flight, now)
    }

    /// How long to wait before the next may start.
    pub fn delay(&self, now: Instant) -> Option<Duration> {
        let left = |until: Option<Instant>| until.map(|until| until.saturating_duration_since(now));
        let waits = [left(self.next), left(self.asked), self.breaker.delay(now)];
        waits.into_iter().flatten().max().filter(|wait| !wait.is_zero())
    }

    /// A record has started.
    pub fn on_start(&mut self, now: Instant) {
        self.breaker.on_start();
        if let Some(interval) = self.interval {
            let held_up = now.checked_sub(COOLDOWN).unwrap_or(now);
            self.next = Some(self.next.map_or(now, |next| next.max(held_up)) + interval);
        }
    }

    /// Whether the service was failing for so long that nothing more is to be sent.
    pub fn is_exhausted(&self) -> bool {
        self.breaker.is_exhausted()
    }
}

/// The pauses before the first, second … trial.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];
/// As many trials without another answer end the batch.
const MAX_TRIALS: usize = PAUSES.len();
/// So many 500s in a row mean that the service, and not one request, is the reason.
const INTERNAL_ERRORS: u32 = 3;

/// What decides whether a new record may start.
#[derive(Debug, Default)]
pub struct CircuitBreaker {
    state: State,
    /// 500s since the last other answer.
    internal_errors: u32,
    /// Pauses since the last other answer.
    pauses: usize,
    /// Records started since the first sign of failure, one at a time.
    trials: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// Nothing starts before this time.
    Open(Instant),
    /// One record at a time.
    HalfOpen,
    /// Nothing starts any more.
    Exhausted,
}

impl CircuitBreaker {
    /// The service answered something that is no sign of failure.
    pub fn on_answer(&mut self) {
        if self.state != State::Exhausted {
            *self = Self::default();
        }
    }

    /// The service answered 500.
    pub fn on_internal_error(&mut self, now: Instant) {
        self.internal_errors += 1;
        if self.state != State::Closed || self.internal_errors >= INTERNAL_ERRORS {
            self.on_failing(None, now);
        }
    }

    /// The service answered 502, 503 or 504, or did not answer at all; `retry_after` is what it asked for.
    pub fn on_failing(&mut self, retry_after: Option<Duration>, now: Instant) {
        let asked = retry_after.unwrap_or_default().min(MAX_WAIT);
        self.end_pause(now);
        self.state = match self.state {
            State::Exhausted => State::Exhausted,
            // Records that were in flight when it opened fail as well: that is the same failure.
            State::Open(until) => State::Open(until.max(now + asked)),
            State::Closed | State::HalfOpen if self.trials >= MAX_TRIALS => State::Exhausted,
            State::Closed | State::HalfOpen => {
                let pause = PAUSES[self.pauses.min(PAUSES.len() - 1)].max(asked);
                self.pauses += 1;
                State::Open(now + pause)
            }
        };
    }

    /// Whether a record may start while `in_flight` others are not finished.
    pub fn may_start(&mut self, in_flight: usize, now: Instant) -> bool {
        self.end_pause(now);
        match self.state {
            // After a 500 the next ones go one at a time until it is clear whether the service is failing.
            State::Closed => self.internal_errors == 0 || in_flight == 0,
            State::HalfOpen => in_flight == 0,
            State::Open(_) | State::Exhausted => false,
        }
    }

    /// A record has started.
    pub fn on_start(&mut self) {
        if self.state == State::HalfOpen || self.internal_errors > 0 {
            self.trials += 1;
        }
    }

    /// How long the current pause still lasts.
    pub fn delay(&self, now: Instant) -> Option<Duration> {
        match self.state {
            State::Open(until) => Some(until.saturating_duration_since(now)).filter(|left| !left.is_zero()),
            _ => None,
        }
    }

    /// Whether the service was tried often enough.
    pub fn is_exhausted(&self) -> bool {
        self.state == State::Exhausted
    }

    fn end_pause(&mut self, now: Instant) {
        if let State::Open(until) = self.state
            && until <= now
        {
            self.state = State::HalfOpen;
        }
    }
}

#[cfg(test)]
mod throttle_tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use crate::batch::pace::{BURST_ALLOWANCE, Throttle};
    use crate::cli::batch::Rate;
    use crate::http::ServiceSignal;

    const THROTTLED: ServiceSignal = ServiceSignal::Throttled(None);

    #[test]
    fn throttling_lowers_the_number_and_success_raises_it_again() {
        let mut throttle = Throttle::new(8, None);
        let start = Instant::now();
        assert!(throttle.has_capacity(7, start) && !throttle.has_capacity(8, start));
        throttle.on_throttled(THROTTLED, start);
        throttle.on_throttled(THROTTLED, start + BURST_ALLOWANCE / 2);
        assert!(
            throttle.has_capacity(3, start) && !throttle.has_capacity(4, start),
            "one burst lowers it once"
        );
        for burst in 1..9 {
            throttle.on_throttled(THROTTLED, start + BURST_ALLOWANCE * burst);
        }
        let later = start + BURST_ALLOWANCE * 9;
        assert!(
            throttle.has_capacity(0, later) && !throttle.has_capacity(1, later),
            "one is always let through"
        );
        for _ in 0..40 {
            throttle.on_success();
        }
        assert!(throttle.has_capacity(7, later) && !throttle.has_capacity(8, later));
    }

    #[test]
    fn what_the_service_asks_for_holds_new_records_back() {
        let mut throttle = Throttle::new(8, None);
        let start = Instant::now();
        throttle.on_throttled(ServiceSignal::Throttled(Some(Duration::from_secs(7))), start);
        throttle.on_throttled(THROTTLED, start);
        assert_eq!(throttle.delay(start), Some(Duration::from_secs(7)));
        throttle.on_throttled(ServiceSignal::Throttled(Some(Duration::from_secs(7000))), start);
        assert_eq!(throttle.delay(start), Some(Duration::from_secs(60)));
        assert_eq!(throttle.delay(start + Duration::from_secs(60)), None);
    }

    #[test]
    fn a_rate_is_kept_over_time() {
        let mut throttle = Throttle::new(8, Some(Rate { per_second: 100.0 }));
        let mut now = Instant::now();
        let start = now;
        for _ in 0..50 {
            now += throttle.delay(now).unwrap_or_default() + Duration::from_millis(1);
            throttle.on_start(now);
        }
        let taken = now - start;
        assert!(taken >= Duration::from_millis(470) && taken < Duration::from_millis(560), "{taken:?}");
    }
}

#[cfg(test)]
mod circuit_breaker_tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::CircuitBreaker;

    /// Plays an outage in which every started record fails: how many records failed, and how long the pauses were.
    fn outage(jobs: usize, fail: impl Fn(&mut CircuitBreaker, Instant)) -> (usize, Vec<u64>) {
        let mut breaker = CircuitBreaker::default();
        let mut now = Instant::now();
        let (mut failed, mut in_flight, mut pauses) = (0, 0, Vec::new());
        while !breaker.is_exhausted() {
            while in_flight < jobs && breaker.may_start(in_flight, now) {
                breaker.on_start();
                in_flight += 1;
            }
            if in_flight > 0 {
                fail(&mut breaker, now);
                in_flight -= 1;
                failed += 1;
            } else if let Some(delay) = breaker.delay(now) {
                pauses.push(delay.as_secs());
                now += delay;
            }
        }
        (failed + in_flight, pauses)
    }

    #[test]
    fn an_outage_costs_at_most_the_jobs_and_five() {
        for jobs in [1, 2, 3, 8, 100] {
            let (failed, pauses) = outage(jobs, |breaker, now| breaker.on_failing(None, now));
            assert_eq!((failed, pauses), (jobs + 5, vec![1, 2, 4, 8, 16]), "{jobs}");
            let (failed, _) = outage(jobs, CircuitBreaker::on_internal_error);
            assert!(failed <= jobs + 5, "{jobs}: {failed}");
            let (failed, _) = outage(jobs, |breaker, now| {
                breaker.on_failing(None, now);
                breaker.on_internal_error(now);
            });
            assert!(failed <= jobs + 5, "{jobs}: {failed}");
        }
    }

    #[test]
    fn retry_after_makes_a_pause_longer_up_to_a_minute() {
        let now = Instant::now();
        for (asked, pause) in [(0, 1), (7, 7), (3600, 60)] {
            let mut breaker = CircuitBreaker::default();
            breaker.on_failing(Some(Duration::from_secs(asked)), now);
            assert_eq!(breaker.delay(now), Some(Duration::from_secs(pause)));
            assert!(!breaker.may_start(0, now + Duration::from_secs(pause - 1)));
            assert!(breaker.may_start(0, now + Duration::from_secs(pause)));
        }
    }

    #[test]
    fn after_the_pause_one_at_a_time_until_another_answer_comes() {
        let start = Instant::now();
        let mut breaker = CircuitBreaker::default();
        breaker.on_failing(None, start);
        // Those that were in flight do not make it worse.
        breaker.on_failing(None, start);
        assert_eq!(breaker.delay(start), Some(Duration::from_secs(1)));
        let later = start + Duration::from_secs(1);
        assert!(breaker.may_start(0, later) && !breaker.may_start(1, later));
        breaker.on_start();
        breaker.on_failing(None, later);
        assert_eq!(breaker.delay(later), Some(Duration::from_secs(2)));
        breaker.on_answer();
        assert!(breaker.may_start(7, later) && breaker.delay(later).is_none());
        breaker.on_failing(None, later);
        assert_eq!(breaker.delay(later), Some(Duration::from_secs(1)), "the count begins anew");
    }

    #[test]
    fn one_500_is_no_outage_and_three_in_a_row_are() {
        let now = Instant::now();
        let mut breaker = CircuitBreaker::default();
        breaker.on_internal_error(now);
        breaker.on_internal_error(now);
        breaker.on_answer();
        breaker.on_internal_error(now);
        breaker.on_internal_error(now);
        assert!(breaker.delay(now).is_none() && breaker.may_start(0, now) && !breaker.may_start(1, now));
        breaker.on_internal_error(now);
        assert_eq!(breaker.delay(now), Some(Duration::from_secs(1)));
    }
}
