//! Reads many customers at the pace of a batch: with limits for parallel reads and for the rate, and with pauses while
//! the service fails.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use crate::batch::pace::Pace;
use crate::client::ServiceSignal;
use crate::client::service::Service;
use storefront_core::failure::{Failure, FailureKind};

/// How often a read without an answer is repeated.
const REPEATS: usize = 5;
/// The pause before it is checked again whether a read may start.
const LOOK: Duration = Duration::from_millis(20);

/// The pace of the reads of a command.
pub struct Paced {
    pace: Rc<RefCell<Pace>>,
    running: Cell<usize>,
    /// How many signs of failure there were.
    failing: Rc<Cell<u64>>,
    was_answered: Cell<bool>,
}

impl Paced {
    /// The pace of the flags, which is told all answers of the service.
    pub fn new(service: &Service<'_>) -> Self {
        let args = service.session.global.pace;
        let pace = Rc::new(RefCell::new(Pace::new(args.jobs(), args.rate)));
        let failing = Rc::<Cell<u64>>::default();
        let seen = pace.clone();
        let noted = failing.clone();
        service.client.observe(Box::new(move |signal| {
            if !matches!(signal, ServiceSignal::Healthy) {
                noted.set(noted.get() + 1);
            }
            seen.borrow_mut().on_signal(signal, Instant::now());
        }));
        Self { pace, running: Cell::default(), failing, was_answered: Cell::default() }
    }

    /// Reads as soon as the pace permits. A read without an answer is repeated after a pause, at most `REPEATS` times,
    /// unless the service has answered nothing so far or has been failing for too long.
    ///
    /// # Errors
    /// Those of `read`.
    pub async fn read<T>(&self, mut read: impl AsyncFnMut() -> Result<T, Failure>) -> Result<T, Failure> {
        let mut repeats = 0;
        loop {
            self.room().await;
            let signs = self.failing.get();
            self.running.set(self.running.get() + 1);
            let done = read().await;
            self.running.set(self.running.get() - 1);
            let Err(failure) = done else {
                self.was_answered.set(true);
                self.pace.borrow_mut().on_success();
                return done;
            };
            let is_outage = failure.kind == FailureKind::Unavailable && self.failing.get() > signs;
            let is_over = self.pace.borrow().is_exhausted() || repeats == REPEATS;
            if !is_outage || is_over || !self.was_answered.get() {
                return Err(failure);
            }
            repeats += 1;
        }
    }

    /// Waits until another read may start.
    async fn room(&self) {
        loop {
            let now = Instant::now();
            let pause = {
                let pace = self.pace.borrow();
                let is_full = !pace.is_exhausted() && !pace.has_capacity(self.running.get(), now);
                pace.delay(now).or(is_full.then_some(LOOK))
            };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return self.pace.borrow_mut().on_start(now),
            }
        }
    }
}
