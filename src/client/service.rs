//! The service an operation talks to: settings, client, tokens, and the sandbox if it is asked for.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;

use crate::cli::command_line::{CommandLine, flag};
use crate::client::Session;
use crate::client::http_trace;
use crate::client::local_service::open_sandbox;
use crate::client::stage::Stage;
use crate::client::{Attempt, Attempts, CHECK_BEFORE_RETRY, Client, NO_SUCH_PATH, Reply, says};
use crate::config::{Settings, TokenSource, Writes};
use crate::journal::write::WriteAhead;
use crate::log::{NewRun, People, RunId, WriteLog, new_uuid};
use crate::report::changes::expiry;
use crate::report::outcome::RequestPreview;
use crate::system::environment::ADMIN_TOKEN;
use storefront_core::absent::Absent;
use storefront_core::attribute::Named;
use storefront_core::email::Email;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::id::CustomerId;
use storefront_core::interface::request::{Bearer, Method, Request, Target};
use storefront_core::profile::custom::AttributeDirectory;
use storefront_core::profile::region::RegionDirectory;
use storefront_core::text::hash::fnv1a;
use storefront_core::text::oauth;
use storefront_core::text::redact::{MASK, secrets};
use storefront_core::text::token::Credential;

/// Whether the user has asked to stop.
#[derive(Debug, Default)]
pub struct Stopping {
    is_set: Cell<bool>,
    changed: Notify,
}

impl Stopping {
    /// Whether nothing new starts.
    pub fn get(&self) -> bool {
        self.is_set.get()
    }

    /// Asks everything to stop.
    pub fn set(&self) {
        self.is_set.set(true);
        self.changed.notify_waiters();
    }
}

/// The service for as long as a command runs: the way to it, and what is read, reported or decided once.
pub struct Shop {
    /// Where and how.
    pub settings: Settings,
    /// Sends the calls.
    pub client: Client,
    /// Regions by code and name, for an interface that wants their ids.
    pub regions: RefCell<RegionDirectory>,
    /// The custom attributes of customers and addresses, for an interface that lists them.
    pub custom_attributes: RefCell<AttributeDirectory>,
    /// Held while the regions of a country are read: records that need the same country wait for it.
    pub country_reads: tokio::sync::Mutex<()>,
    /// Lists of the shop by their paths: attribute sets, groups, store views.
    pub lists: RefCell<HashMap<String, Rc<Vec<Named>>>>,
    /// The customer or the order as the form of this command showed it before it asked; null without a form.
    pub shown: RefCell<Value>,
    /// Ids of the carts that this run created.
    pub made_carts: RefCell<HashSet<u64>>,
    /// Ids of the customers that were read first, by the hashes of the email or token that led to them.
    customer_ids: RefCell<HashMap<u64, String>>,
    /// The hashes of the tokens that records bring, by the ids of the customers to whom they led.
    record_tokens: RefCell<HashMap<String, u64>>,
    /// The customer's token from the settings, once a call has used it.
    customer_token: OnceCell<Credential>,
    /// The administrator's token from the settings, once a call has used it.
    admin_token: OnceCell<Credential>,
    /// The run of the writes, once there is one.
    pub run: Cell<Option<RunId>>,
    /// The run that this command undoes.
    pub undoes: Cell<Option<RunId>>,
    /// The log of this machine, once a write has opened it.
    log: OnceCell<WriteLog>,
    announced: Cell<bool>,
    /// Whether the warning about text around the shop's JSON was given.
    told_of_print: Cell<bool>,
    /// Set by the first signal: nothing new starts; the request in flight is waited for and verified, and not repeated.
    pub stopping: Stopping,
    _sandbox: Option<storefront_sandbox::Running>,
}

/// Which token the calls of a record carry.
#[derive(Clone)]
pub enum CallToken {
    /// The one in the settings, for the kind of call.
    OfSettings,
    /// One for the whole run: a command has printed it again, or it belongs to a customer of the sandbox.
    OfRun(Rc<Credential>),
    /// One that the record brings.
    OfRecord(Rc<Credential>),
}

impl CallToken {
    fn own(&self) -> Option<&Credential> {
        match self {
            Self::OfSettings => None,
            Self::OfRun(token) | Self::OfRecord(token) => Some(token),
        }
    }
}

/// The service as one record of a run, or a single command, talks to it. It dereferences to its [`Shop`].
#[derive(Clone)]
pub struct Service<'a> {
    /// What all records share.
    pub shop: Rc<Shop>,
    /// What the user runs, and the record's own way to speak.
    pub session: &'a Session<'a>,
    /// Id of the customer whom an administrator names; without it and [`Self::email`], the token's own.
    pub customer: Option<CustomerId>,
    /// Email of the customer whom an administrator names, until the id is known.
    pub email: Option<Email>,
    /// The token.
    pub token: CallToken,
    /// How far its writes are.
    pub stage: Rc<Stage>,
    /// What is written down before a write leaves: the journal of a batch.
    pub write_ahead: Option<&'a WriteAhead>,
}

impl Deref for Service<'_> {
    type Target = Shop;

    fn deref(&self) -> &Shop {
        &self.shop
    }
}

impl<'a> Service<'a> {
    /// The same service as it speaks for this customer; without one, for the token's own.
    #[must_use]
    pub fn of_customer(&self, customer: Option<CustomerId>) -> Self {
        Self { customer, email: None, ..self.clone() }
    }

    /// Resolves the settings, starts the sandbox if it is asked for, and makes a client. Opens no connection to any other
    /// service.
    ///
    /// # Errors
    /// `usage` for settings that are missing or wrong, and when the sandbox cannot start.
    pub async fn open(session: &'a Session<'a>) -> Result<Self, Failure> {
        refuse_fault(session)?;
        let (settings, sandbox) = if session.global.flags.sandbox {
            let (settings, running) = open_sandbox(session).await?;
            (settings, Some(running))
        } else {
            (Settings::resolve(session.context, session.global, session.config)?, None)
        };
        // Masks tokens that earlier records may contain. This reads no file and runs no command.
        for token in [&settings.token, &settings.admin_token].into_iter().filter_map(TokenSource::at_hand) {
            secrets().add(token);
        }
        let context = session.context;
        let transport = (session.connect)(&settings.endpoint)?;
        let client = Client::over(&settings.endpoint, transport, context.clock)
            .with(http_trace::tracer(session.report), context.random)
            .for_interface(settings.dialect)
            .with_time_for_long_bodies(settings.timeout_grows);
        let shop = Shop {
            settings,
            client,
            regions: RefCell::default(),
            custom_attributes: RefCell::default(),
            country_reads: tokio::sync::Mutex::default(),
            lists: RefCell::default(),
            shown: RefCell::default(),
            made_carts: RefCell::default(),
            customer_ids: RefCell::default(),
            record_tokens: RefCell::default(),
            customer_token: OnceCell::new(),
            admin_token: OnceCell::new(),
            run: Cell::default(),
            undoes: Cell::default(),
            log: OnceCell::new(),
            announced: Cell::default(),
            told_of_print: Cell::default(),
            stopping: Stopping::default(),
            _sandbox: sandbox,
        };
        Ok(Self {
            shop: Rc::new(shop),
            session,
            customer: None,
            email: None,
            token: CallToken::OfSettings,
            stage: Rc::default(),
            write_ahead: None,
        })
    }

    /// Whether its calls have a token that is not that of the settings.
    pub fn has_own_token(&self) -> bool {
        self.token.own().is_some()
    }

    /// The command line that was typed, with the customer who was named or asked for.
    pub fn typed(&self) -> CommandLine {
        let id = self.customer.map(|id| id.to_string());
        match id.as_deref().or(self.email.as_ref().map(Email::as_str)) {
            Some(customer) => {
                self.session.global.typed.without(&["--customer"]).with(flag("customer", customer))
            }
            None => self.session.global.typed.clone(),
        }
    }

    /// Where calls go: the interface, the store view, and the customer.
    ///
    /// # Errors
    /// `usage` when no store view is set and the interface needs one.
    pub fn target(&self) -> Result<Target<'_>, Failure> {
        Ok(Target { customer: self.customer, ..self.settings.target()? })
    }

    /// Notes whose `profile` or `cart` was read. In one command a token or an email leads to one customer: an answer with
    /// another one, from a cache that ignores the token, must not be merged with it.
    ///
    /// # Errors
    /// `guard` for another id than at the first read.
    pub fn ensure_same_customer(&self, what: &str, id: Option<String>) -> Result<(), Failure> {
        let Some(id) = id else { return Ok(()) };
        let first = if let Some(named) = self.customer {
            named.to_string()
        } else {
            let by = self.name_hash().unwrap_or_default();
            if matches!(self.token, CallToken::OfRecord(_))
                && self.email.is_none()
                && *self.record_tokens.borrow_mut().entry(id.clone()).or_insert(by) != by
            {
                let message = format!("two tokens of this batch lead to customer {id}");
                return Err(Failure::guard(message)
                    .hint("check the tokens and any cache in front of the service, then try again"));
            }
            self.customer_ids.borrow_mut().entry(by).or_insert_with(|| id.clone()).clone()
        };
        if first == id {
            return Ok(());
        }
        Err(Failure::guard(format!(
            "the service answered with the {what} of customer {id}, and before with that of customer {first}"
        ))
        .hint("check the token and any cache in front of the service, then try again"))
    }

    /// The hash of the email or token that leads to the customer.
    fn name_hash(&self) -> Option<u64> {
        let token = self.customer_token().map(Credential::expose);
        let email = self.email.as_ref().map(Email::folded);
        email.as_deref().or(token.as_deref()).map(|name| fnv1a(name.as_bytes()))
    }

    /// The customer's token, once a call has used it.
    pub fn customer_token(&self) -> Option<&Credential> {
        self.token.own().or_else(|| self.shop.customer_token.get())
    }

    /// The token of a call: the record's own, or that of the settings, which is read or made once.
    ///
    /// # Errors
    /// `auth` if it is missing.
    pub async fn token(&self, bearer: Bearer) -> Result<&Credential, Failure> {
        if let Some(token) = self.token.own() {
            return Ok(token);
        }
        let (cell, source) = match bearer {
            Bearer::Customer => (&self.shop.customer_token, &self.settings.token),
            Bearer::Admin => (&self.shop.admin_token, &self.settings.admin_token),
        };
        if let Some(token) = cell.get() {
            return Ok(token);
        }
        let token = source.token().await.map_err(|failure| self.without_token(failure, bearer))?;
        secrets().add(&token);
        Ok(cell.get_or_init(|| token))
    }

    /// Completes the failure of a missing token: an administrator's token alone only suits named customers, and calls of
    /// `api` with `--admin`.
    fn without_token(&self, failure: Failure, bearer: Bearer) -> Failure {
        let settings = &self.settings;
        let global = self.session.global;
        let is_admin_set = settings.dialect.customers.is_some() && settings.has_only_admin_token();
        let (fix, other) = match bearer {
            Bearer::Customer if is_admin_set && global.takes_customer => {
                ("name the customer with --customer ID|EMAIL", "for the token's own customer")
            }
            Bearer::Customer if is_admin_set && global.takes_admin => {
                ("add --admin", "for a call with a customer's token")
            }
            _ => return failure,
        };
        let or = failure.hint.clone().map(|hint| hint!("; ", other, ": ", hint));
        failure.hint(hint!(fix, or.unwrap_or_default()))
    }
}

impl Service<'_> {
    /// Sends a read.
    ///
    /// # Errors
    /// As [`crate::client::Client::send`], and `auth` when there is no token.
    pub async fn read(&self, request: &Request) -> Result<Reply, Failure> {
        self.send_waiting("waiting for the service", request).await
    }

    async fn send_waiting(&self, wait: &str, request: &Request) -> Result<Reply, Failure> {
        let token = self.token(request.bearer).await?;
        let stop = || !request.is_read() && self.stopping.get();
        let call = pin!(self.client.send(request, token, stop));
        let reply = self.session.report.while_waiting(wait, call).await;
        if let Ok(reply) = &reply {
            self.warn_of_print(reply);
        }
        reply.map_err(|failure| self.with_hint(failure, request.bearer))
    }

    /// Warns once in a run that the shop printed something around its JSON.
    fn warn_of_print(&self, reply: &Reply) {
        if reply.printed_around > 0 && !self.told_of_print.replace(true) {
            self.session.report.warn(&format!(
                "the shop printed {} bytes around its JSON, which are skipped: check its error log",
                reply.printed_around
            ));
        }
    }

    /// Adds a hint to a refusal without one: about the store view, or about the token.
    fn with_hint(&self, failure: Failure, bearer: Bearer) -> Failure {
        if let Some(hint) = oauth::hint(&failure.message) {
            return failure.hint(hint);
        }
        // A page or other text says nothing about the token.
        if failure.kind == FailureKind::Auth && failure.status.is_some() && !failure.is_foreign {
            let hint = self.token_hint(&failure, bearer);
            let token = self.settings.token_for(bearer);
            let is_renewable = failure.status == Some(401) && token.is_expired() && token.is_stored;
            return Failure { expired: is_renewable.then_some(bearer), ..failure.hint(hint) };
        }
        let Some(view) = self.settings.store_view.as_ref().filter(|_| names_store(&failure)) else {
            return failure;
        };
        let (may, fix) = match failure.status {
            Some(400) => ("shop may have", "check --store-view, or leave it out for the default one"),
            _ => ("service has", "name another with --store-view"),
        };
        failure.hint(format!("the {may} no store view `{}`: {fix}", view.code()))
    }

    /// The hint about a 401 or 403. Magento's answer names the permission that the token lacks; `self` stands for a
    /// customer's own data.
    fn token_hint(&self, failure: &Failure, bearer: Bearer) -> Hint {
        let token = self.settings.token_for(bearer);
        let is_shared = bearer == Bearer::Admin && self.settings.shares_token();
        let permission = failure.service.as_ref().and_then(|body| body.pointer("/parameters/resources"));
        let renewal = self.renewal(bearer);
        let set_admin = || hint!(format!("set {ADMIN_TOKEN}, or run "), storefront("auth login --admin"));
        let expired = token.expires.filter(|_| failure.status == Some(401) && token.is_expired());
        let hint = match permission.and_then(Value::as_str) {
            _ if expired.is_some() => {
                let expired = expired.map(expiry).unwrap_or_default();
                hint!(format!("the token {expired}: "), renewal)
            }
            _ if is_shared => {
                hint!("no administrator's token is set, so the customer token was used: ", set_admin())
            }
            Some("self") => {
                hint!(
                    "the token has expired or is not a customer's: check it with ",
                    storefront("auth status"),
                    ", or, with an administrator's token in the magento interface, name the customer with \
                     --customer ID|EMAIL"
                )
            }
            Some(permission) if token.is_integration => {
                format!("grant the integration the permission `{permission}`").into()
            }
            Some(permission) if bearer == Bearer::Customer => {
                let set_first = self.settings.shares_token().then(|| set_admin().and(", then "));
                hint!(
                    format!("the call needs an administrator's token with the permission `{permission}`: "),
                    set_first.unwrap_or_default(),
                    "add --admin"
                )
            }
            Some(permission) => hint!(
                format!("the token has expired or lacks the permission `{permission}`: "),
                renewal,
                ", or grant the permission; an integration's token must be allowed as a standalone Bearer token"
            ),
            None if failure.status == Some(401) => renewal,
            None => "the token lacks permission for this call".into(),
        };
        if self.settings.sandbox.is_some() {
            return hint;
        }
        let what = if token.is_integration { "credentials are" } else { "token is" };
        hint.and(format!(" (the {what} from {})", token.from))
    }

    /// The hint about a token that the service refuses.
    pub fn renewal(&self, bearer: Bearer) -> Hint {
        let settings = &self.settings;
        let token = self.settings.token_for(bearer);
        let profile = settings.profile.as_ref().filter(|_| token.is_stored);
        let log_in = match (token.is_integration, bearer) {
            (true, _) => "auth login --oauth",
            (_, Bearer::Admin) if settings.dialect.tokens.is_some() => "auth login --user NAME --admin",
            (_, Bearer::Admin) => "auth login --admin",
            (_, Bearer::Customer) if settings.dialect.tokens.is_some() => "auth login --user NAME",
            (_, Bearer::Customer) => "auth login",
        };
        match profile {
            Some(profile) => hint!("run ", storefront(log_in).arg("-p").arg(profile)),
            None if token.is_integration => {
                "correct the four values where they come from: System > Integrations shows them".into()
            }
            None => "renew the token where it comes from".into(),
        }
    }

    /// Exchanges a user name and a password for a token.
    pub async fn log_in(&self, request: &Request) -> Result<Reply, Failure> {
        let call = pin!(self.client.log_in(request));
        self.session.report.while_waiting("waiting for the service", call).await
    }

    /// Sends a write that the caller has written down, and again if it cannot act twice. One line says where it goes
    /// first (not for the sandbox).
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn send(&self, operation: &str, request: &Request) -> Result<Reply, Failure> {
        self.token(request.bearer).await?;
        let before = self.begin_write(operation, request);
        let reply = self.send_waiting(&waiting(operation), request).await;
        self.stage.answer(before, reply.as_ref().err());
        reply
    }

    /// Waits as long as the service has asked for, before a write that is made from no read. A signal ends that.
    pub async fn wait_as_asked(&self) {
        let wait = pin!(self.client.wait_as_asked(|| self.stopping.get()));
        self.session.report.while_waiting("waiting as the service has asked", wait).await;
    }

    /// Sends a call that only prepares for what is asked for, such as one that creates an empty cart: whatever becomes of
    /// it, nothing that was asked for is written yet, and a signal ends it at once.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn send_preparation(&self, operation: &str, request: &Request) -> Result<Reply, Failure> {
        // If the write that it prepares for could not be noted, it is not sent either.
        self.log()?;
        self.token(request.bearer).await?;
        self.announce(operation, Some(request));
        self.stage.note_preparation();
        self.send_waiting(&waiting(operation), request).await
    }

    /// Does this work. As long as nothing of it can have taken effect, a signal ends it at once, whatever it waits for.
    ///
    /// # Errors
    /// Those of the work, and `interrupted`.
    pub async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let mut work = pin!(work);
        loop {
            let changed = self.stopping.changed.notified();
            if self.stopping.get() && self.stage.get() == Applied::No {
                return Err(interrupted(self));
            }
            tokio::select! {
                biased;
                () = changed => {}
                done = &mut work => return done,
            }
        }
    }

    /// The run of this command for the log.
    pub fn new_run(&self, operation: &str) -> NewRun {
        let settings = &self.settings;
        NewRun {
            service: settings.service_id().to_string(),
            store_view: settings.store_view.as_ref().map(|view| view.code().to_owned()),
            profile: settings.profile.clone(),
            operation: operation.to_owned(),
            arguments: without_secrets(&self.session.global.typed.words()),
            retention_days: settings.retention_days,
            uuid: new_uuid(),
            undoes: self.undoes.get(),
            ..NewRun::default()
        }
    }

    /// The log of this machine, which has every write before it leaves.
    ///
    /// # Errors
    /// As [`WriteLog::open`]: nothing must be sent then.
    pub fn log(&self) -> Result<&WriteLog, Failure> {
        if let Some(log) = self.log.get() {
            return Ok(log);
        }
        let log = WriteLog::open(self.session.context)?;
        Ok(self.log.get_or_init(|| log))
    }

    /// The run of this command's writes, which begins with the first of them.
    ///
    /// # Errors
    /// As [`WriteLog::begin_run`].
    pub async fn run_of(&self, operation: &str) -> Result<RunId, Failure> {
        if let Some(run) = self.run.get() {
            return Ok(run);
        }
        let run = self.log()?.begin_run(self.new_run(operation)).await?;
        self.run.set(Some(run));
        Ok(run)
    }

    /// Notes that the command has ended, and whether it left nothing to do. Then old rows are deleted, once a day: not if
    /// the command failed, because it may be repeated, and may be the undo of an update that is as old; and only if the
    /// shop confirms the clock of this machine.
    pub fn end_run<T>(&self, ended: &Result<T, Failure>) {
        let (Some(run), Some(log)) = (self.run.get(), self.log.get()) else { return };
        log.end_run(run, ended.is_ok());
        let is_done = match ended {
            Ok(_) => true,
            Err(failure) => failure.kind == FailureKind::Partial,
        };
        if is_done && self.client.is_clock_right() {
            log.expire(&self.settings.service_name(), self.settings.retention_days);
        }
    }

    /// Whose data the writes of this record hold, as far as known.
    pub fn people(&self) -> People {
        let ids = self.customer_ids.borrow();
        let known = self.name_hash().and_then(|by| ids.get(&by).cloned());
        People {
            customer: self.customer.map(|id| id.to_string()).or(known),
            email: self.email.as_ref().map(ToString::to_string),
            email_after: None,
        }
    }

    /// Sends a write once. The caller has written down that it leaves, and decides whether it is sent again.
    ///
    /// # Errors
    /// As [`Self::token`], or if the request cannot be made.
    pub async fn attempt(&self, operation: &str, request: &Request) -> Result<Attempt, Failure> {
        let token = self.token(request.bearer).await?;
        let before = self.begin_write(operation, request);
        let call = pin!(self.client.attempt(request, Some(token)));
        let attempt = self.session.report.while_waiting(&waiting(operation), call).await;
        let attempt = attempt.map(|attempt| match attempt {
            Attempt::Rejected(failure) => Attempt::Rejected(self.with_hint(failure, request.bearer)),
            attempt => attempt,
        });
        self.stage.answer(before, attempt.as_ref().map_or_else(Some, Attempt::failure));
        if let Ok(Attempt::Applied(reply)) = &attempt {
            self.warn_of_print(reply);
        }
        attempt
    }

    /// How long to wait before a write that ended so may be sent again; `None` if it must not be.
    pub fn delay(&self, before: &Attempts, attempt: &Attempt, request: &Request) -> Option<Duration> {
        self.client.delay(before, attempt, request).filter(|_| !self.stopping.get())
    }

    /// Begins a write; returns the stage before it, to which the stage returns if the attempt changes nothing.
    fn begin_write(&self, operation: &str, request: &Request) -> Applied {
        self.announce(operation, Some(request));
        self.stage.begin(request.method == Method::PUT && operation.starts_with("customer "))
    }

    /// A request as a dry run shows it.
    pub fn preview(&self, request: Request) -> RequestPreview {
        if self.settings.sandbox.is_some() && self.session.global.curl && !self.announced.replace(true) {
            let serve = hint!(
                "the built-in service ends with this command: to send the request, start one that stays with ",
                storefront("sandbox serve")
            );
            self.session.report.for_line(None).status(&serve.to_string());
        }
        let is_signed = self.settings.token_for(request.bearer).is_integration;
        RequestPreview::new(&request, self.client.url(&request), self.session.global.curl, is_signed)
    }

    /// Says where a command writes, once, before it asks or sends.
    pub fn announce(&self, operation: &str, request: Option<&Request>) {
        if self.settings.sandbox.is_some() || self.announced.replace(true) {
            return;
        }
        let settings = &self.settings;
        let profile = settings.profile.as_ref().map(|name| format!("profile {name}, ")).unwrap_or_default();
        let view = settings.store_view.as_ref();
        let view = view.filter(|view| request.is_some_and(|request| request.is_in(view)));
        let view = view.map(|view| format!(", store view {}", view.code())).unwrap_or_default();
        let writes = if settings.writes == Writes::Yes { "" } else { ", every write is confirmed" };
        // The line is about the whole batch, whichever record comes first.
        let report = self.session.report.for_line(None);
        report.status(&format!("{operation}: {profile}host {}{view}{writes}", settings.host()));
    }
}

/// What a message ends with after a call that makes an empty cart and whose outcome is unknown.
pub const CART_MAY_BE_MADE: &str = "; an empty cart may have been made";

/// The failure of an interrupted command, with what is known of its write.
pub fn interrupted(service: &Service<'_>) -> Failure {
    let applied = service.stage.get();
    let message = match applied {
        Applied::No if service.stage.has_prepared() => {
            &format!("interrupted before anything was written{CART_MAY_BE_MADE}")
        }
        Applied::No => "interrupted before anything was written",
        Applied::Unknown => "interrupted while waiting for the response; the change may have been applied",
        Applied::Partial => "interrupted between two calls, the first of which was applied",
        Applied::Yes => "interrupted before the change was verified",
    };
    let hint = match applied {
        Applied::No => "try again".into(),
        _ if service.stage.replaces_profile() => hint!(
            "check with ",
            storefront("customer show"),
            " before trying again; ",
            storefront("history"),
            " lists the writes"
        ),
        _ => CHECK_BEFORE_RETRY.into(),
    };
    service.stage.told_of(Failure::new(FailureKind::Interrupted, message).applied(applied).hint(hint))
}

fn waiting(operation: &str) -> String {
    format!("{operation}: sent, waiting for the response")
}

/// Whether the service said that there is no such store, rather than no such route.
pub fn names_store(failure: &Failure) -> bool {
    // Magento's answer to an unknown store view.
    let is_refused = failure.status == Some(400) && says(failure.service.as_ref(), NO_SUCH_PATH);
    is_refused || failure.absent == Some(Absent::Store)
}

/// The arguments of a command line, without the data of a payment.
fn without_secrets(arguments: &[String]) -> Vec<String> {
    const PAYMENT: &str = "--payment";
    let mut is_secret = false;
    let shown = |text: &String| {
        let was_named = std::mem::replace(&mut is_secret, text == PAYMENT);
        match text.split_once('=') {
            _ if was_named => MASK.to_owned(),
            Some((PAYMENT, _)) => format!("{PAYMENT}={MASK}"),
            _ => text.clone(),
        }
    };
    arguments.iter().skip(1).map(shown).collect()
}

/// Refuses faults of a service that is not the sandbox.
fn refuse_fault(session: &Session<'_>) -> Result<(), Failure> {
    if session.global.flags.sandbox || session.global.request.fault.is_empty() {
        return Ok(());
    }
    let has_profile = session.global.flags.profile.is_some();
    let hint = if has_profile { "replace --profile with --sandbox" } else { "add --sandbox" };
    Err(Failure::usage("--fault requires --sandbox").hint(hint))
}
