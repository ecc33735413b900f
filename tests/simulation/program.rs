//! All that the simulation knows of the program: how one run of it is started, and what it is given in place of its
//! network, its standard streams and the signals it listens to.
//!
//! A run is a command line with environment variables, a disk, a clock and a network; it comes to an exit code and to
//! what it wrote on standard output and standard error. Everything else the simulation learns as a script would: from
//! the JSON of `-o json`, from files, and from the requests that arrive.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context as Poller, Poll};

use tokio::sync::Notify;
use tokio::time::Instant;

use storefront::client::Transport;
use storefront::system::clock::Clock;
use storefront::system::context::Context;
use storefront::system::output::Output;
use storefront::system::storage::Storage;
use storefront::{Surroundings, run_with};

/// What a run of the program is given.
pub struct Given<'a> {
    /// The command line, without the program's name.
    pub arguments: &'a [String],
    /// Environment variables.
    pub variables: &'a [(&'a str, &'a str)],
    /// The directory that stands for the home directory.
    pub home: &'a Path,
    /// Its disk.
    pub storage: Arc<dyn Storage>,
    /// Its time of day.
    pub clock: Clock,
    /// Makes its network.
    pub network: Rc<dyn Fn() -> Box<dyn Transport>>,
    /// Takes what it writes.
    pub written: Streams,
    /// Tells it of Ctrl-C.
    pub interrupt: Arc<Notify>,
}

/// A run of the program; it gives the exit code.
pub fn run(given: Given<'_>) -> Run<impl Future<Output = u8>> {
    let words = ["storefront", "-o", "json"].into_iter().chain(given.arguments.iter().map(String::as_str));
    let (network, written) = (given.network, given.written);
    let mut context = Context::detached(given.variables, given.home);
    context.arguments = words.map(OsString::from).collect();
    context.storage = given.storage;
    context.clock = given.clock;
    context.output = Arc::new(written.clone());
    context.stop = Some(given.interrupt);
    context.random = || 0.5;
    let surroundings = Surroundings { context, connect: Box::new(move |_| Ok(network())) };
    Run { inner: Some(Box::pin(async move { run_with(&surroundings).await })), written }
}

/// What a run wrote, and when.
#[derive(Debug, Default)]
pub struct Written {
    /// Standard output.
    pub stdout: Vec<(Instant, Vec<u8>)>,
    /// Standard error, line by line.
    pub stderr: Vec<(Instant, String)>,
    /// Set once the process is dead: what was in its buffers is lost.
    is_closed: bool,
}

/// The standard streams of a run.
#[derive(Debug, Clone, Default)]
pub struct Streams(Arc<Mutex<Written>>);

impl Streams {
    /// What was written.
    pub fn take(&self) -> Written {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn write(&self, write: impl FnOnce(&mut Written)) {
        let mut written = self.0.lock().unwrap();
        if !written.is_closed {
            write(&mut written);
        }
    }
}

impl Output for Streams {
    fn stdout(&self, bytes: &[u8]) -> io::Result<()> {
        self.write(|written| written.stdout.push((Instant::now(), bytes.to_vec())));
        Ok(())
    }

    fn stderr(&self, line: &str) {
        self.write(|written| written.stderr.push((Instant::now(), line.to_owned())));
    }
}

/// A run that can be dropped: what it writes while it is, is lost.
pub struct Run<F> {
    /// The run.
    inner: Option<Pin<Box<F>>>,
    /// Its streams.
    written: Streams,
}

impl<F> Drop for Run<F> {
    fn drop(&mut self) {
        self.written.0.lock().unwrap().is_closed = true;
        self.inner = None;
    }
}

impl<F: Future> Future for Run<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<F::Output> {
        self.inner.as_mut().map_or(Poll::Pending, |inner| inner.as_mut().poll(poller))
    }
}
