//! The death of a process.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as Poller, Poll};

use super::disk::Life;

/// A run that dies: it is dropped wherever it waits.
pub struct Mortal<F> {
    /// What it does.
    pub inner: Option<Pin<Box<F>>>,
    /// How often it is polled before it dies; none where nothing kills it so.
    pub polls: Option<u32>,
    /// Whether it lives.
    pub life: Arc<Mutex<Life>>,
}

impl<F: Future> Future for Mortal<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<Self::Output> {
        if self.polls == Some(0) {
            self.life.lock().unwrap().is_over = true;
            self.inner = None;
            return Poll::Ready(None);
        }
        self.polls = self.polls.map(|polls| polls - 1);
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        let state = inner.as_mut().poll(poller);
        if self.life.lock().unwrap().is_over {
            self.inner = None;
            return Poll::Ready(None);
        }
        state.map(Some)
    }
}
