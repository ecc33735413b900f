//! All that the simulation knows of the program: how one run of it is started, and what it is given in place of its
//! network, its standard streams and the signals it listens to.
//!
//! A run is a command line with environment variables, a disk, a clock and a network; it comes to an exit code and to
//! what it wrote on standard output and standard error. Everything else the simulation learns as a script would: from
//! the JSON of `-o json`, from files, and from the requests that arrive.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context as Poller, Poll};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::client::Transport;
use crate::commands::Cli;
use crate::system::clock::Clock;
use crate::system::context::Context;
use crate::system::storage::Storage;

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
}

/// Runs the program; gives its exit code.
///
/// # Panics
/// For a command line that the program does not understand.
pub async fn run(given: Given<'_>) -> u8 {
    let mut context = Context::detached(given.variables, given.home);
    let words = ["storefront", "-o", "json"].into_iter().chain(given.arguments.iter().map(String::as_str));
    context.arguments = words.map(OsString::from).collect();
    context.storage = given.storage;
    context.clock = given.clock;
    let cli = Cli::parse_args(&context.arguments)
        .unwrap_or_else(|error| panic!("{:?} cannot be parsed: {error}", given.arguments));
    crate::execute(&cli, &context).await
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

/// What stands around a run while it is polled.
#[derive(Clone)]
pub struct Surroundings {
    /// Makes its network.
    pub network: Rc<dyn Fn() -> Box<dyn Transport>>,
    /// Takes what it writes.
    pub written: Rc<RefCell<Written>>,
    /// Tells it of Ctrl-C.
    pub interrupt: Arc<Notify>,
}

thread_local! {
    /// Those of the run that this thread is polling; none where there is no simulation.
    static CURRENT: RefCell<Option<Surroundings>> = const { RefCell::new(None) };
}

/// A run with its surroundings.
pub struct Surrounded<F> {
    /// The run.
    inner: Option<Pin<Box<F>>>,
    /// What stands around it.
    surroundings: Surroundings,
}

impl<F> Surrounded<F> {
    /// Puts these around a run.
    pub fn new(run: F, surroundings: Surroundings) -> Self {
        Self { inner: Some(Box::pin(run)), surroundings }
    }
}

impl<F> Drop for Surrounded<F> {
    fn drop(&mut self) {
        self.surroundings.written.borrow_mut().is_closed = true;
        let outer = CURRENT.replace(Some(self.surroundings.clone()));
        self.inner = None;
        CURRENT.set(outer);
    }
}

impl<F: Future> Future for Surrounded<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, poller: &mut Poller<'_>) -> Poll<F::Output> {
        let outer = CURRENT.replace(Some(self.surroundings.clone()));
        let state = self.inner.as_mut().map(|inner| inner.as_mut().poll(poller));
        CURRENT.set(outer);
        state.unwrap_or(Poll::Pending)
    }
}

/// The network of the run that is polled: taken by the program where it would make its own.
pub fn network() -> Option<Box<dyn Transport>> {
    CURRENT.with_borrow(|current| current.as_ref().map(|around| (around.network)()))
}

/// Takes what the program is about to write on standard output; `false` where no simulation runs on this thread.
pub fn captures_stdout(bytes: &[u8]) -> bool {
    captures(|written| written.stdout.push((Instant::now(), bytes.to_vec())))
}

/// The same of standard error.
pub fn captures_stderr(text: &str) -> bool {
    captures(|written| written.stderr.push((Instant::now(), text.to_owned())))
}

fn captures(take: impl FnOnce(&mut Written)) -> bool {
    CURRENT.with_borrow(|current| {
        let written = current.as_ref().map(|around| around.written.borrow_mut());
        written
            .map(|mut written| {
                if !written.is_closed {
                    take(&mut written);
                }
            })
            .is_some()
    })
}

/// What tells the run that is polled of Ctrl-C, in place of the process's signals.
pub fn interrupt() -> Option<Arc<Notify>> {
    CURRENT.with_borrow(|current| current.as_ref().map(|around| around.interrupt.clone()))
}
