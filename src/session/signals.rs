//! What asks this process to stop, as often as it comes: Ctrl-C and SIGTERM, by which a cluster asks a pod to leave; on
//! Windows Ctrl-C, Ctrl-Break, a closed console window, logging off and shutting down.

use crate::failure::Failure;

/// Listens for signals.
pub struct Signals {
    listeners: Option<platform::Listeners>,
    /// What stands for them in the simulation.
    #[cfg(test)]
    modelled: Option<std::rc::Rc<tokio::sync::Notify>>,
}

impl Signals {
    /// Begins to listen: from now on a signal does not end the process by itself.
    ///
    /// # Errors
    /// `internal` when signals cannot be received.
    pub fn listen() -> Result<Self, Failure> {
        #[cfg(test)]
        if let Some(modelled) = crate::simulation::program::interrupt() {
            return Ok(Self { listeners: None, modelled: Some(modelled) });
        }
        let listeners = platform::listen()
            .map_err(|error| Failure::internal(format!("cannot listen for signals: {error}")))?;
        crate::prompt::signals_are_listened_to();
        Ok(Self {
            listeners: Some(listeners),
            #[cfg(test)]
            modelled: None,
        })
    }

    /// Resolves on the next signal.
    pub async fn next(&mut self) {
        #[cfg(test)]
        if let Some(modelled) = &self.modelled {
            return modelled.notified().await;
        }
        if let Some(listeners) = &mut self.listeners {
            platform::next(listeners).await;
        }
    }
}

#[cfg(unix)]
mod platform {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    pub(super) struct Listeners {
        interrupt: Signal,
        terminate: Signal,
    }

    pub(super) fn listen() -> std::io::Result<Listeners> {
        Ok(Listeners {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    pub(super) async fn next(listeners: &mut Listeners) {
        tokio::select! {
            _ = listeners.interrupt.recv() => {}
            _ = listeners.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
mod platform {
    use tokio::signal::windows::{
        CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_logoff,
        ctrl_shutdown,
    };

    /// Made once: a listener made anew for each turn would miss what comes between two turns.
    pub(super) struct Listeners {
        interrupt: CtrlC,
        break_key: CtrlBreak,
        close: CtrlClose,
        log_off: CtrlLogoff,
        shutdown: CtrlShutdown,
    }

    pub(super) fn listen() -> std::io::Result<Listeners> {
        Ok(Listeners {
            interrupt: ctrl_c()?,
            break_key: ctrl_break()?,
            close: ctrl_close()?,
            log_off: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    pub(super) async fn next(listeners: &mut Listeners) {
        tokio::select! {
            _ = listeners.interrupt.recv() => {}
            _ = listeners.break_key.recv() => {}
            _ = listeners.close.recv() => {}
            _ = listeners.log_off.recv() => {}
            _ = listeners.shutdown.recv() => {}
        }
    }
}
