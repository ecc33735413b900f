//! The service an operation talks to: settings, client, tokens, and the sandbox where that is asked for.

mod calls;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use crate::config::Settings;
use crate::failure::Failure;
use crate::http::{Client, Endpoint, Observer, Tracer};
use crate::journal::write_ahead::WriteAhead;
use crate::plan::request::{Bearer, Target};
use crate::redact::secrets;
use crate::report::http_trace;
use crate::sandbox;
use crate::session::Session;
use crate::session::local_service::{sandbox_settings, start_sandbox};
use crate::token::Token;

/// An open way to the service.
#[derive(Debug)]
pub struct Service<'a> {
    /// What the user runs.
    pub session: &'a Session<'a>,
    /// Where and how.
    pub settings: Rc<Settings>,
    /// Id of the customer whom an administrator names; without it, the token's own.
    pub customer: Option<u64>,
    /// How far a write has come, for the message of an interruption.
    pub stage: Rc<Cell<Stage>>,
    /// Whether the last write replaces a profile, which can be looked at.
    pub replaces_profile: Rc<Cell<bool>>,
    client: Rc<Client>,
    /// Id of the customer whose data was read first.
    customer_id: Rc<OnceCell<String>>,
    customer_token: Rc<OnceCell<Token>>,
    admin_token: Rc<OnceCell<Token>>,
    announced: Rc<Cell<bool>>,
    /// What is written down before a write leaves: the journal of a batch.
    write_ahead: Option<&'a dyn WriteAhead>,
    /// Set by the first signal: nothing new starts.
    stopping: Rc<Cell<bool>>,
    _sandbox: Option<sandbox::Running>,
}

/// How far a write has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stage {
    /// No write has left.
    #[default]
    NothingSent,
    /// A write has left, and there is no verdict yet.
    Sent,
    /// The service took the write.
    Accepted,
}

impl<'a> Service<'a> {
    /// Resolves the settings, starts the sandbox where it is asked for, and makes a client. Opens no connection
    /// to any other service.
    ///
    /// # Errors
    /// `usage` for settings that are missing or wrong, and when the sandbox cannot start.
    pub async fn open(session: &'a Session<'a>) -> Result<Self, Failure> {
        Self::open_traced(session, http_trace::tracer(session.report.verbose, session.report.is_json())).await
    }

    /// The same, with a listener of the caller's to what goes over the wire.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_traced(session: &'a Session<'a>, tracer: Option<Tracer>) -> Result<Self, Failure> {
        if !session.global.sandbox && !session.global.fault.is_empty() {
            return Err(Failure::usage("--fault requires --sandbox").hint("add --sandbox"));
        }
        let (settings, sandbox) = if session.global.sandbox {
            let running = start_sandbox(session).await?;
            (sandbox_settings(session, &running)?, Some(running))
        } else {
            (Settings::resolve_with(session.context, session.global, session.config)?, None)
        };
        mask_tokens(&settings);
        #[cfg(test)]
        if let Some(network) = crate::simulation::program::network() {
            let client = Client::over(&link(&settings), network);
            return Ok(Self::with_client(session, settings, client));
        }
        let client = Client::new(&link(&settings), tracer)?;
        Ok(Self { _sandbox: sandbox, ..Self::with_client(session, settings, client) })
    }

    fn with_client(session: &'a Session<'a>, settings: Settings, client: Client) -> Self {
        Self {
            session,
            settings: Rc::new(settings),
            customer: None,
            stage: Rc::default(),
            replaces_profile: Rc::default(),
            client: Rc::new(client),
            customer_id: Rc::default(),
            customer_token: Rc::default(),
            admin_token: Rc::default(),
            announced: Rc::default(),
            write_ahead: None,
            stopping: Rc::default(),
            _sandbox: None,
        }
    }

    /// The same service for one record of a run: with its own way to speak, its own token, if it has one, and what
    /// is written down before its write.
    pub fn for_record<'b>(
        &self,
        session: &'b Session<'b>,
        own_token: Option<Token>,
        write_ahead: Option<&'b dyn WriteAhead>,
    ) -> Service<'b> {
        let own = own_token.map(|token| Rc::new(OnceCell::from(token)));
        Service {
            session,
            settings: self.settings.clone(),
            customer: self.customer,
            stage: Rc::default(),
            replaces_profile: Rc::default(),
            client: self.client.clone(),
            customer_id: Rc::default(),
            customer_token: own.clone().unwrap_or_else(|| self.customer_token.clone()),
            admin_token: own.unwrap_or_else(|| self.admin_token.clone()),
            announced: self.announced.clone(),
            write_ahead,
            stopping: self.stopping.clone(),
            _sandbox: None,
        }
    }

    /// Sets the observer that is called after each attempt.
    pub fn observe(&self, observer: Observer) {
        self.client.observe(observer);
    }

    /// Starts nothing new from now on: what is in flight is waited for and verified, and not repeated.
    pub fn stop(&self) {
        self.stopping.set(true);
    }

    /// Whether [`Self::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Whether this is a record of a batch that is written down before it is sent.
    pub fn is_recorded(&self) -> bool {
        self.write_ahead.is_some()
    }

    /// Where calls go: the interface, the store view, and the customer.
    ///
    /// # Errors
    /// `usage` when no store view is set and the interface needs one.
    pub fn target(&self) -> Result<Target<'_>, Failure> {
        Ok(Target { customer: self.customer, ..self.settings.target()? })
    }

    /// Notes whose `profile` or `cart` was read. All reads of one command are of one customer: an answer with another one,
    /// from a cache that does not look at the token for one, must not be merged with it.
    ///
    /// # Errors
    /// `guard` for another id than that of the first read.
    pub fn ensure_same_customer(&self, what: &str, id: Option<String>) -> Result<(), Failure> {
        let Some(id) = id else { return Ok(()) };
        let first = self.customer_id.get_or_init(|| id.clone());
        if *first == id {
            return Ok(());
        }
        Err(Failure::guard(format!(
            "the service answered with the {what} of customer {id}, and before with that of customer {first}"
        ))
        .hint("check the token and any cache in front of the service, then try again"))
    }

    /// Whether [`Self::ensure_same_customer`] has noted a customer.
    pub fn has_read_customer(&self) -> bool {
        self.customer_id.get().is_some()
    }

    /// The same service, with the token of another customer.
    #[must_use]
    pub fn with_customer_token(&self, token: Token) -> Service<'a> {
        secrets().add(&token);
        Service { customer_token: Rc::new(OnceCell::from(token)), ..self.with_customer(None) }
    }

    /// The same service, for the customer with this id, whom an administrator names, or for the token's own.
    #[must_use]
    pub fn with_customer(&self, customer: Option<u64>) -> Service<'a> {
        Service {
            session: self.session,
            settings: self.settings.clone(),
            customer,
            stage: self.stage.clone(),
            replaces_profile: self.replaces_profile.clone(),
            client: self.client.clone(),
            customer_id: Rc::default(),
            customer_token: self.customer_token.clone(),
            admin_token: self.admin_token.clone(),
            announced: self.announced.clone(),
            write_ahead: self.write_ahead,
            stopping: self.stopping.clone(),
            _sandbox: None,
        }
    }

    /// The service's name for files.
    pub fn name(&self) -> String {
        self.settings.service_name()
    }

    /// The customer's token, once a call has used it.
    pub fn token_in_use(&self) -> Option<&Token> {
        self.customer_token.get()
    }

    /// The token of calls without one of their own. It is read or made once.
    ///
    /// # Errors
    /// `auth` when there is none.
    pub async fn token(&self, bearer: Bearer) -> Result<&Token, Failure> {
        let (cell, source) = match bearer {
            Bearer::Customer => (&self.customer_token, &self.settings.token),
            Bearer::Admin => (&self.admin_token, &self.settings.admin_token),
        };
        if let Some(token) = cell.get() {
            return Ok(token);
        }
        let token = source.token().await.map_err(|failure| self.without_token(failure, bearer))?;
        secrets().add(&token);
        Ok(cell.get_or_init(|| token))
    }

    /// An administrator's token alone is for customers that are named.
    fn without_token(&self, failure: Failure, bearer: Bearer) -> Failure {
        let can_name = self.session.global.takes_customer && self.settings.dialect.customers.is_some();
        if bearer != Bearer::Customer || !can_name || !self.settings.has_only_admin_token() {
            return failure;
        }
        let or = failure.hint.as_deref().map(|hint| format!("; for the token's own customer: {hint}"));
        failure.hint(format!("name the customer with --customer ID|EMAIL{}", or.unwrap_or_default()))
    }
}

/// Masks the tokens that are at hand from the start: what was recorded earlier may hold them. No file is read and no
/// command is run for it.
fn mask_tokens(settings: &Settings) {
    for source in [&settings.token, &settings.admin_token] {
        source.at_hand().into_iter().for_each(|token| secrets().add(token));
    }
}

fn link(settings: &Settings) -> Endpoint {
    Endpoint {
        base_url: settings.base_url.clone(),
        allow_plain_http: settings.allow_plain_http,
        ca_file: settings.ca_file.clone(),
        client_certificate: settings.client_certificate.clone(),
        timeout: settings.timeout,
        retry: settings.retry,
        use_proxy: settings.use_proxy,
        proxy_variable: settings.proxy_variable,
        certificate_file: settings.certificate_file.clone(),
    }
}

/// Whether the service said that there is no such store, and not that there is no such route.
pub fn names_store(failure: &Failure) -> bool {
    let text = failure.service.as_ref().map(serde_json::Value::to_string).unwrap_or_default().to_lowercase();
    let mut words = text.split(|one: char| !one.is_alphanumeric());
    match failure.status {
        Some(404) => words.any(|word| matches!(word, "store" | "storeview")),
        // Magento's answer to a store view that it does not know.
        Some(400) => failure.message.contains("Specified request cannot be processed"),
        _ => false,
    }
}
