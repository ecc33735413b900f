//! A circuit breaker for a batch: while the service is failing, no new record starts, so that an outage leaves a few
//! records unknown and not the whole input.
//!
//! A failing answer opens the circuit for a pause. After the pause one record at a time is tried (half-open); any other
//! answer closes the circuit, another failing one opens it again, for longer. When that has happened often enough the
//! batch stops. States and names are those of the pattern: closed, open, half-open.

use std::time::Duration;

use tokio::time::Instant;

use crate::http::MAX_WAIT;

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
mod tests {
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
