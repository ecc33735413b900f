//! A process that is killed.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as Poller, Poll};

use super::disk::Process;

/// A run that is killed: it is dropped wherever it waits.
pub struct Killable<F> {
    /// What it does.
    pub inner: Option<Pin<Box<F>>>,
    /// How often it is polled before it dies; none where nothing kills it that way.
    pub polls: Option<u32>,
    /// The process.
    pub process: Arc<Mutex<Process>>,
}

impl<F: Future> Future for Killable<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Self::Output> {
        if self.polls == Some(0) {
            self.process.lock().unwrap().is_dead = true;
            self.inner = None;
            return Poll::Ready(None);
        }
        self.polls = self.polls.map(|polls| polls - 1);
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        let state = inner.as_mut().poll(poller);
        if self.process.lock().unwrap().is_dead {
            self.inner = None;
            return Poll::Ready(None);
        }
        state.map(Some)
    }
}
