//! Calls of the service: reads, and writes with the line that says where they go.

use std::pin::pin;
use std::time::Duration;

use super::{Service, Stage, names_store};
use crate::environment::ADMIN_TOKEN;
use crate::failure::{Applied, Failure, FailureKind};
use crate::http::{Attempt, Attempts, Effect, Reply};
use crate::plan::request::{Bearer, Method, Request};
use crate::report::outcome::RequestPreview;

impl Service<'_> {
    /// Sends a read.
    ///
    /// # Errors
    /// As [`crate::http::Client::send`], and `auth` when there is no token.
    pub async fn read(&self, request: &Request) -> Result<Reply, Failure> {
        self.send_waiting("waiting for the service", request, Effect::Read).await
    }

    async fn send_waiting(&self, wait: &str, request: &Request, effect: Effect) -> Result<Reply, Failure> {
        let token = self.token(request.bearer).await?;
        let stop = || effect != Effect::Read && self.is_stopping();
        let call = pin!(self.client.send(request, token, effect, stop));
        let reply = self.session.report.while_waiting(wait, call).await;
        reply.map_err(|failure| self.with_hint(failure, request.bearer))
    }

    /// What to change where a refusal does not say it: the store view, or whose token it is.
    fn with_hint(&self, failure: Failure, bearer: Bearer) -> Failure {
        let is_auth = failure.kind == FailureKind::Auth;
        if is_auth && bearer == Bearer::Admin && self.settings.shares_token() {
            let hint = failure.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
            return failure.hint(format!(
                "no administrator's token is set, so the customer token was used: set {ADMIN_TOKEN}, or run \
                 `storefront auth login --admin`{hint}"
            ));
        }
        match &self.settings.store_view {
            Some(view) if names_store(&failure) && failure.status == Some(400) => failure.hint(format!(
                "the shop may have no store view `{}`: check --store-view, or leave it out for the default one",
                view.code()
            )),
            Some(view) if names_store(&failure) => failure.hint(format!(
                "the service has no store view `{}`: name another with --store-view",
                view.code()
            )),
            _ => failure,
        }
    }

    /// Exchanges a user name and a password for a token.
    pub async fn log_in(&self, request: &Request) -> Result<Reply, Failure> {
        let call = pin!(self.client.log_in(request));
        self.session.report.while_waiting("waiting for the service", call).await
    }

    /// Sends a write, and again what cannot act twice, after one line that says where to (not for the sandbox).
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn write(&self, operation: &str, request: &Request) -> Result<Reply, Failure> {
        self.token(request.bearer).await?;
        self.log_before_send(None).await?;
        self.send(operation, request, Effect::Write).await
    }

    /// The same; the caller has written down that it leaves.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn send(&self, operation: &str, request: &Request, effect: Effect) -> Result<Reply, Failure> {
        self.token(request.bearer).await?;
        let before = self.begin_write(operation, request);
        let reply = self.send_waiting(&waiting(operation), request, effect).await;
        match &reply {
            Ok(_) => self.stage.set(Stage::Accepted),
            Err(failure) if failure.applied == Applied::Unknown => {}
            Err(_) => self.stage.set(before),
        }
        reply
    }

    /// Writes down that a write is about to leave, where this is a record of a batch; `snapshot` is the name of the one
    /// taken for it.
    ///
    /// # Errors
    /// `internal` when that cannot be written: the request must not leave then.
    pub async fn log_before_send(&self, snapshot: Option<&str>) -> Result<(), Failure> {
        match self.write_ahead {
            Some(write_ahead) => write_ahead.log_before_send(snapshot).await,
            None => Ok(()),
        }
    }

    /// Sends a write once. The caller has written down that it leaves, and decides whether it is sent again.
    ///
    /// # Errors
    /// Only for a request that cannot be made.
    pub async fn attempt(&self, operation: &str, request: &Request) -> Result<Attempt, Failure> {
        let token = self.token(request.bearer).await?;
        let before = self.begin_write(operation, request);
        let call = pin!(self.client.attempt(request, token));
        let attempt = self.session.report.while_waiting(&waiting(operation), call).await;
        let attempt = attempt.map(|attempt| match attempt {
            Attempt::Rejected(failure) => Attempt::Rejected(self.with_hint(failure, request.bearer)),
            attempt => attempt,
        });
        match &attempt {
            Ok(Attempt::Applied(_)) => self.stage.set(Stage::Accepted),
            Ok(Attempt::Unknown { .. }) => {}
            _ => self.stage.set(before),
        }
        attempt
    }

    /// How long to wait before a write that ended like this may be sent again, by the rules for what cannot act twice;
    /// `None` where it must not be.
    pub fn delay(&self, before: &Attempts, attempt: &Attempt, effect: Effect) -> Option<Duration> {
        self.client.delay(before, attempt, effect).filter(|_| !self.is_stopping())
    }

    /// A read has shown the last write.
    pub fn verified(&self) {
        self.stage.set(Stage::Accepted);
    }

    /// The stage that an attempt goes back to if it changes nothing: what was sent before it, was sent.
    fn begin_write(&self, operation: &str, request: &Request) -> Stage {
        self.log_target(operation, request);
        self.replaces_profile.set(request.method == Method::Put && operation.starts_with("customer "));
        self.stage.replace(Stage::Sent)
    }

    /// A request as a dry run shows it.
    pub fn preview(&self, request: Request) -> RequestPreview {
        if self.settings.sandbox && self.session.global.curl && !self.announced.replace(true) {
            self.session.report.status(
                "the built-in service ends with this command: to send the request, \
                 start one that stays with `storefront sandbox serve`",
            );
        }
        RequestPreview { url: self.client.url(&request), request, curl: self.session.global.curl }
    }

    fn log_target(&self, operation: &str, request: &Request) {
        if self.settings.sandbox || self.announced.replace(true) {
            return;
        }
        let profile =
            self.settings.profile.as_ref().map(|profile| format!("profile {profile}, ")).unwrap_or_default();
        let view = self
            .settings
            .store_view
            .as_ref()
            .filter(|view| request.is_in(view))
            .map(|view| format!(", store view {}", view.code()))
            .unwrap_or_default();
        self.session.report.status(&format!("{operation}: {profile}host {}{view}", self.settings.host()));
    }
}

fn waiting(operation: &str) -> String {
    format!("{operation}: sent, waiting for the response")
}
