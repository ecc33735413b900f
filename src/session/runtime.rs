//! Runs what talks to the service, until it is done or interrupted.

use std::pin::pin;

use crate::failure::{Applied, Failure, FailureKind};
use crate::http::CHECK_BEFORE_RETRY;
use crate::session::Session;
use crate::session::service::{Service, Stage};
use crate::session::signals::Signals;

/// Runs what talks to the service, until it is done or the user interrupts it.
///
/// # Errors
/// Whatever went wrong; `interrupted`, with what is known of the write, after Ctrl-C.
pub async fn with_service(
    session: &Session<'_>,
    task: impl AsyncFnOnce(&Service<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut signals = Signals::listen()?;
    let service = Service::open(session).await?;
    let mut task = pin!(task(&service));
    tokio::select! {
        // In this order, so that signals are listened to before the task asks its first question.
        biased;
        () = signals.next() => {}
        result = &mut task => return result,
    }
    if service.stage.get() == Stage::NothingSent {
        return Err(interrupted(&service));
    }
    service.stop();
    session.report.status("stopping: waiting for the request in flight; press Ctrl-C again to stop at once");
    tokio::select! {
        biased;
        () = signals.next() => Err(interrupted(&service)),
        result = &mut task => Err(stopped(&service, result)),
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
    // A name look-up that hangs must not hold the exit.
    runtime.shutdown_background();
    result
}

pub(crate) fn interrupted(service: &Service<'_>) -> Failure {
    let stage = service.stage.get();
    let (applied, message) = match stage {
        Stage::NothingSent => (Applied::No, "interrupted before anything was written"),
        Stage::Sent => {
            (Applied::Unknown, "interrupted while waiting for the response; the change may have been applied")
        }
        Stage::Accepted => (Applied::Yes, "interrupted before the change was verified"),
    };
    let hint = match stage {
        Stage::NothingSent => "try again",
        _ if service.replaces_profile.get() => {
            "check with `storefront customer show` before trying again; `storefront customer history` lists the snapshots"
        }
        _ => CHECK_BEFORE_RETRY,
    };
    Failure::new(FailureKind::Interrupted, message).applied(applied).hint(hint)
}

/// The end of a command that was waited for after a signal: what it came to, and that it was interrupted.
fn stopped(service: &Service<'_>, result: Result<(), Failure>) -> Failure {
    if let Err(failure) = result {
        return Failure { kind: FailureKind::Interrupted, ..failure };
    }
    let applied = if service.stage.get() == Stage::Accepted { Applied::Yes } else { Applied::No };
    Failure::new(FailureKind::Interrupted, "interrupted; the request in flight was waited for")
        .applied(applied)
}
