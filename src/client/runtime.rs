//! Runs a task with the service until it is done or interrupted.

use std::pin::pin;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::client::Session;
use crate::client::service::{Service, interrupted};
use crate::system::context::Context;
use storefront_core::failure::{Applied, Failure, FailureKind};

/// Runs what talks to the service, until it is done or the user interrupts it.
///
/// # Errors
/// Whatever went wrong; `interrupted`, with what is known of the write, after Ctrl-C.
pub async fn with_service<T>(
    session: &Session<'_>,
    task: impl AsyncFnOnce(&Service<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut signals = Signals::listen(session.context)?;
    let service = Service::open(session).await?;
    let ended = until_interrupted(session, &service, &mut signals, task).await;
    service.end_run(&ended);
    ended
}

async fn until_interrupted<T>(
    session: &Session<'_>,
    service: &Service<'_>,
    signals: &mut Signals,
    task: impl AsyncFnOnce(&Service<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut task = pin!(task(service));
    tokio::select! {
        // In this order, so that signals are listened to before the task asks its first question.
        biased;
        () = signals.next() => {}
        result = &mut task => return result,
    }
    if service.stage.get() == Applied::No {
        return Err(interrupted(service));
    }
    service.stopping.set();
    session.report.status("stopping: waiting for the request in flight; press Ctrl-C again to stop at once");
    tokio::select! {
        biased;
        () = signals.next() => Err(interrupted(service)),
        // What the command came to, and that it was interrupted.
        result = &mut task => {
            let done = |_| {
                Failure::new(FailureKind::Interrupted, "interrupted; the request in flight was waited for")
                    .applied(service.stage.get())
            };
            Err(Failure { kind: FailureKind::Interrupted, ..result.map_or_else(|failure| failure, done) })
        }
    }
}

/// Runs a future on the runtime of this process, which has one thread.
///
/// # Errors
/// The future's own, and `internal` when the runtime cannot start.
pub fn on_runtime<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(format!("cannot start the async runtime: {error}")))?;
    let result = runtime.block_on(future);
    // A hanging name look-up must not delay the exit.
    runtime.shutdown_background();
    result
}

/// Listens for everything that asks this process to stop: Ctrl-C, SIGTERM, which a cluster sends to a pod, and SIGHUP of
/// a closed terminal; on Windows Ctrl-C, Ctrl-Break and a closed console window.
pub struct Signals(Arc<Notify>);

impl Signals {
    /// Starts to listen: from here a signal alone does not end the process.
    ///
    /// # Errors
    /// `internal` when signals cannot be received.
    pub fn listen(context: &Context) -> Result<Self, Failure> {
        if let Some(stop) = &context.stop {
            return Ok(Self(stop.clone()));
        }
        let notify = Arc::default();
        forward(&notify).map_err(|error| Failure::internal(format!("cannot listen for signals: {error}")))?;
        Ok(Self(notify))
    }

    /// For [`Context::stop`]: a listener that registers late still gets the signal that came before.
    pub fn shared(&self) -> Arc<Notify> {
        Arc::clone(&self.0)
    }

    /// Resolves on the next signal.
    pub async fn next(&mut self) {
        self.0.notified().await;
    }
}

/// Forwards each signal, even one that comes between two turns.
macro_rules! forward {
    ($to:ident, $($signal:expr),*) => {{
        $(
            let mut signal = $signal?;
            let to = Arc::clone($to);
            tokio::spawn(async move {
                while signal.recv().await.is_some() {
                    to.notify_one();
                }
            });
        )*
        Ok(())
    }};
}

#[cfg(unix)]
fn forward(to: &Arc<Notify>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // A command started with `nohup` is to outlive the terminal.
    if ignores_hang_up() {
        return forward!(to, signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    }
    forward!(
        to,
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup())
    )
}

/// Whether this process was started with SIGHUP ignored. Only Linux tells this without unsafe code; elsewhere SIGHUP
/// keeps the effect that it had when the process was started.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The lowest bit is that of signal 1.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// Windows ends the process 5 s after its console was closed.
#[cfg(windows)]
const BEFORE_THE_CONSOLE_IS_GONE: std::time::Duration = std::time::Duration::from_secs(4);

#[cfg(windows)]
fn forward(to: &Arc<Notify>) -> std::io::Result<()> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};
    let mut closed = ctrl_close()?;
    let closing = Arc::clone(to);
    tokio::spawn(async move {
        while closed.recv().await.is_some() {
            closing.notify_one();
            tokio::time::sleep(BEFORE_THE_CONSOLE_IS_GONE).await;
            closing.notify_one();
        }
    });
    forward!(to, ctrl_c(), ctrl_break())
}
