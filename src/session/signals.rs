//! Ctrl-C, as often as it comes; and SIGTERM, by which a cluster asks a pod to leave.

use crate::failure::Failure;

/// Listens for signals.
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// Begins to listen: from now on a signal does not end the process by itself.
    ///
    /// # Errors
    /// `internal` when signals cannot be received.
    pub fn listen() -> Result<Self, Failure> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let failed = |error| Failure::internal(format!("cannot listen for signals: {error}"));
            let listening = Self {
                interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
                terminate: signal(SignalKind::terminate()).map_err(failed)?,
            };
            crate::prompt::signals_are_listened_to();
            Ok(listening)
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Resolves on the next signal.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Resolves on Ctrl-C, and on SIGTERM where there is one.
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()>, Failure> {
    let failed = |error| Failure::internal(format!("cannot listen for signals: {error}"));
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
        Ok(async move {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
        })
    }
    #[cfg(windows)]
    {
        let mut interrupted = tokio::signal::windows::ctrl_c().map_err(failed)?;
        Ok(async move {
            let _ = interrupted.recv().await;
        })
    }
}
