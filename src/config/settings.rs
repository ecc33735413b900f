//! Settings: everything a command has to know of the outside, resolved once. Flag, then environment, then profile, then default.

use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;

use super::base_url;
use super::file::{ConfigFile, ReadOnce};
use super::files;
use super::profile::Profile;
use super::rest_root::with_root;
use super::service_id::ServiceId;
use super::target::{dialect, store_view};
use super::token_source::TokenSource;
use super::tokens::{Tokens, token_variable};
use crate::cli::GlobalArgs;
use crate::context::Context;
use crate::environment::{BASE_URL, STORE_VIEW};
use crate::failure::Failure;
use crate::plan::request::{Bearer, Dialect, Interface, StoreView, Target};
use crate::token::Token;

/// What the built-in service is called in files.
pub const SANDBOX: &str = "sandbox";

/// What a command has to know of the outside.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the profile; `None` when the environment alone gave everything, and for the sandbox.
    pub profile: Option<String>,
    /// Whether this is the built-in local service.
    pub sandbox: bool,
    /// The database of the built-in service, which is its identity.
    pub sandbox_database: Option<PathBuf>,
    /// The interface the service has.
    pub dialect: &'static Dialect,
    /// Where the service is: `http` or `https`, a path is kept; no user, password, query or fragment.
    pub base_url: Url,
    /// The store view that the base URL named as it was written; [`Self::base_url`] is without it.
    pub base_url_store_view: Option<StoreView>,
    /// Store view code; see [`Self::target`].
    pub store_view: Option<StoreView>,
    /// The customer's token.
    pub token: TokenSource,
    /// The administrator's token; the customer's where none is set.
    pub admin_token: TokenSource,
    /// How a stored profile is read.
    pub read: ReadSettings,
    /// Layout of shipping information.
    pub ship_layout: ShipLayout,
    /// Whether `http://` beyond this machine is allowed.
    pub allow_plain_http: bool,
    /// PEM file of the certificates to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file of the client's private key and certificate chain.
    pub client_certificate: Option<PathBuf>,
    /// Time a request may take.
    pub timeout: Duration,
    /// Repeats of what cannot act twice.
    pub retry: u32,
    /// How long a written profile may take to show the change.
    pub settle: Duration,
    /// How long to wait for another process that writes the same customer.
    pub lock_timeout: Duration,
    /// Days a snapshot is kept.
    pub retention_days: u32,
    /// Whether the proxies of the environment are used; never for the sandbox.
    pub use_proxy: bool,
    /// The environment variable that names the proxy for the base URL's scheme, if one does.
    pub proxy_variable: Option<&'static str>,
    /// The file that `SSL_CERT_FILE` names: certificates to trust where `ca_file` is not set.
    pub certificate_file: Option<PathBuf>,
}

/// How a customer's stored profile is read (docs/interface.md, "Replacing a profile").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSettings {
    /// Path of the service, in which `{store_view}` stands for the store view code; the profile's own path where `None`.
    pub path: Option<String>,
    /// JSON pointer to the customer in the reply.
    pub customer: Option<String>,
    /// JSON pointer to the addresses, from the top of the reply or from the customer.
    pub addresses: Option<String>,
    /// Path that shows the quote, in which `{store_view}` stands for the store view code.
    pub quote_path: Option<String>,
    /// Path that shows an attribute, in which `{code}` stands for its code and `{store_view}` for the store view code.
    pub attribute_path: Option<String>,
    /// JSON pointers left out of comparisons.
    pub ignore: Vec<String>,
}

/// Layout of shipping information.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShipLayout {
    /// The addresses stand in `addressInformation`.
    #[default]
    Wrapped,
    /// The addresses stand at the top.
    Flat,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            path: None,
            customer: None,
            addresses: None,
            quote_path: None,
            attribute_path: None,
            ignore: vec!["/updated_at".to_owned()],
        }
    }
}

impl Settings {
    /// Resolves the settings for a service that is not the sandbox.
    ///
    /// # Errors
    /// `usage` when nothing says where the service is, or what says so is wrong.
    pub fn resolve(context: &Context, global: &GlobalArgs) -> Result<Self, Failure> {
        Self::resolve_with(context, global, &ReadOnce::default())
    }

    /// The same, where the configuration file may have been read already.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn resolve_with(context: &Context, global: &GlobalArgs, config: &ReadOnce) -> Result<Self, Failure> {
        let from_environment = context
            .var(BASE_URL)?
            .map(|text| {
                base_url::parse(text).map_err(|problem| Failure::usage(format!("{BASE_URL} {problem}")))
            })
            .transpose()?;
        let token = context.var(token_variable(Bearer::Customer))?;
        let file = match config.take() {
            Some(file) => file,
            None if from_environment.is_some() && token.is_some() => ConfigFile::load_if_reachable(context)?,
            None => ConfigFile::load_named(context)?,
        };
        let profile = file.chosen(context, global)?;
        let is_from_environment = from_environment.is_some();
        let own_base_url = profile.as_ref().and_then(Profile::base_url);
        let Some(base_url) = from_environment.or_else(|| own_base_url.clone()) else {
            return Err(profile.map_or_else(|| file.no_profile_selected(), |profile| profile.no_base_url()));
        };
        let own_host = own_base_url.is_some_and(|own| own.origin() == base_url.origin());
        let tokens = Tokens {
            context,
            directory: file.directory(),
            profile: profile.as_ref(),
            base_url: &base_url,
            own_host,
            secret_variables: file.token_variables(),
        };
        let (token, admin_token) = tokens.resolve()?;
        let mut settings = Self::plain(global, base_url, token, admin_token);
        settings.store_view = store_view(context, global, profile.as_ref())?;
        settings.dialect = dialect(context, global, profile.as_ref())?;
        let setter = profile.as_ref().filter(|_| !is_from_environment).map(|profile| profile.name.as_str());
        settings.cut_base_url(global.store_view.is_some(), setter)?;
        settings.proxy_variable = context.proxy_variable(settings.base_url.scheme());
        settings.certificate_file = context.certificate_file();
        if let Some(profile) = &profile {
            settings.add_profile(profile, global, own_host);
            settings.locate_certificates(context, &file, profile, own_host)?;
        }
        Ok(settings)
    }

    /// The settings of the built-in service at `url`: nothing of environment or profile.
    ///
    /// # Errors
    /// `usage` for a bad `--store-view` or `STOREFRONT_API`.
    pub fn sandbox(
        context: &Context,
        global: &GlobalArgs,
        url: Url,
        customer_token: Token,
        admin_token: Token,
    ) -> Result<Self, Failure> {
        let from = "the sandbox";
        let customer = TokenSource::given(customer_token, from);
        let admin = TokenSource::given(admin_token, from);
        let mut settings = Self::plain(global, url.clone(), customer, admin);
        settings.sandbox = true;
        settings.use_proxy = false;
        settings.dialect = dialect(context, global, None)?;
        settings.base_url =
            Url::parse(&format!("{}{}", url.as_str().trim_end_matches('/'), settings.dialect.sandbox_path))
                .map_err(|error| Failure::internal(format!("the sandbox's address is no URL: {error}")))?;
        let view = global.store_view.as_deref().or(settings.dialect.sandbox_store_view);
        settings.store_view = view.map(StoreView::new).transpose()?;
        Ok(settings)
    }

    /// Flags over defaults.
    fn plain(global: &GlobalArgs, base_url: Url, token: TokenSource, admin_token: TokenSource) -> Self {
        Self {
            profile: None,
            sandbox: false,
            sandbox_database: None,
            dialect: Interface::Marketplace.dialect(),
            base_url,
            base_url_store_view: None,
            store_view: None,
            token,
            admin_token,
            read: ReadSettings::default(),
            ship_layout: ShipLayout::default(),
            allow_plain_http: false,
            ca_file: None,
            client_certificate: None,
            timeout: global.timeout.unwrap_or(Duration::from_secs(30)),
            retry: global.retry.unwrap_or(2),
            settle: Duration::from_secs(10),
            lock_timeout: Duration::from_secs(300),
            retention_days: 30,
            use_proxy: true,
            proxy_variable: None,
            certificate_file: None,
        }
    }

    /// Adds a profile's values where no flag is given. Its permission for plain HTTP does not apply to another host.
    fn add_profile(&mut self, profile: &Profile, global: &GlobalArgs, own_host: bool) {
        self.profile = Some(profile.name.clone());
        self.timeout = global.timeout.or(profile.seconds("timeout")).unwrap_or(self.timeout);
        self.retry = global.retry.or(profile.count("retry")).unwrap_or(self.retry);
        self.settle = profile.seconds("settle").unwrap_or(self.settle);
        self.lock_timeout = profile.seconds("lock-timeout").unwrap_or(self.lock_timeout);
        self.retention_days = profile.count("retention-days").unwrap_or(self.retention_days);
        self.allow_plain_http = own_host && profile.flag("allow-plain-http");
        if profile.text("ship-layout") == Some("flat") {
            self.ship_layout = ShipLayout::Flat;
        }
        let text = |key| profile.text(key).map(str::to_owned);
        self.read.path = text("read.path");
        self.read.customer = text("read.customer");
        self.read.addresses = text("read.addresses");
        self.read.quote_path = text("read.quote-path");
        self.read.attribute_path = text("read.attribute-path");
        if let Some(ignore) = profile.list("read.ignore") {
            self.read.ignore = ignore.to_vec();
        }
    }

    fn locate_certificates(
        &mut self,
        context: &Context,
        file: &ConfigFile,
        profile: &Profile,
        own_host: bool,
    ) -> Result<(), Failure> {
        let located = |key| {
            let written = profile.text(key);
            written.map(|path| files::resolve_path(context, file.directory(), path)).transpose()
        };
        self.ca_file = located("ca-file")?;
        if own_host {
            self.client_certificate = located("client-certificate")?;
        }
        Ok(())
    }

    /// Where calls go that concern the token's own customer, or none.
    ///
    /// # Errors
    /// `usage` when no store view is set and the interface needs one.
    pub fn target(&self) -> Result<Target<'_>, Failure> {
        Target::new(self.dialect, self.store_view.as_ref()).map_err(|failure| {
            let keep = match &self.profile {
                Some(name) => format!("run `storefront config set -p {name} store-view CODE`"),
                None => format!("set {STORE_VIEW}=CODE"),
            };
            failure.hint(format!("use --store-view CODE, or {keep}"))
        })
    }

    /// The service's name for files: profile and host, for the environment can lead one profile to another host.
    pub fn service_name(&self) -> String {
        match &self.profile {
            Some(profile) => format!("{profile}@{}", self.service_id()),
            None if self.sandbox => SANDBOX.to_owned(),
            None => self.service_id().to_string(),
        }
    }

    /// The normalised identity of the service: the key of its files and locks.
    pub fn service_id(&self) -> ServiceId {
        match &self.sandbox_database {
            Some(database) => ServiceId::sandbox(database, self.dialect.name),
            None if self.sandbox => ServiceId::sandbox(Path::new(SANDBOX), self.dialect.name),
            None => ServiceId::new(&with_root(&self.base_url, self.dialect.rest_root), self.dialect.name),
        }
    }

    /// Host and port of the service, the port only where it is not the scheme's own.
    pub fn host(&self) -> String {
        let host = self.base_url.host_str().unwrap_or_default();
        self.base_url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Whether there is no administrator's token, so that the customer's is used.
    pub fn shares_token(&self) -> bool {
        self.admin_token.describe() == self.token.describe()
            && self.admin_token.at_hand() == self.token.at_hand()
    }

    /// Whether there is an administrator's token and no customer's.
    pub fn has_only_admin_token(&self) -> bool {
        self.token.is_absent() && !self.admin_token.is_absent()
    }

    /// The source of the token a call carries.
    pub fn token_for(&self, bearer: Bearer) -> &TokenSource {
        match bearer {
            Bearer::Customer => &self.token,
            Bearer::Admin => &self.admin_token,
        }
    }
}
