//! Everything that a command has to know of the outside, resolved once: flag, then environment, then profile, then
//! default.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::{Host, Position, Url};

use super::file::{ConfigFile, Loaded, resolve_path};
use super::headers::Headers;
use super::profile::{Profile, ReadSettings, ShipLayout, parse_base_url};
use super::token::{TokenSource, Tokens, token_variable};
use super::writes::Writes;
use crate::cli::GlobalArgs;
use crate::config::Endpoint;
use crate::system::context::Context;
use crate::system::environment::{API, BASE_URL, STORE_VIEW};
use storefront_core::check::accepted::Version;
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::interface::request::{Bearer, Dialect, Interface, StoreView, Target};
use storefront_core::text::token::Credential;

/// The version at the start of every path.
const VERSION: &str = "V1";

/// A store view of this name would make calls asynchronous: their outcome could not be reported.
const ASYNC: &str = "async";

/// The name of the built-in service in files.
pub const SANDBOX: &str = "sandbox";

/// For how many days the log is kept by default, and for the sandbox.
pub const DEFAULT_RETENTION_DAYS: u32 = 30;

/// Everything that a command has to know of the outside.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the profile; `None` for the sandbox, and when the environment alone gives everything.
    pub profile: Option<String>,
    /// The database of the built-in local service, which is its identity; `None` for any other service.
    pub sandbox: Option<PathBuf>,
    /// The interface of the service.
    pub dialect: &'static Dialect,
    /// Where the service is, and how to reach it.
    pub endpoint: Endpoint,
    /// Store view code; see [`Self::target`].
    pub store_view: Option<StoreView>,
    /// The customer's token.
    pub token: TokenSource,
    /// The administrator's token; without one, the customer's.
    pub admin_token: TokenSource,
    /// Who may write: everybody to the sandbox.
    pub writes: Writes,
    /// How a stored profile is read.
    pub read: ReadSettings,
    /// Layout of shipping information.
    pub ship_layout: ShipLayout,
    /// How long a written profile may take to show the change.
    pub settle: Duration,
    /// Whether the timeout of an attempt is the default, which grows with the size of the body.
    pub timeout_grows: bool,
    /// How long to wait for another process that writes the same customer.
    pub lock_timeout: Duration,
    /// The version of Magento whose rules for texts hold, if one is named.
    pub magento_version: Option<Version>,
    /// For how many days the log is kept.
    pub retention_days: u32,
}

impl Settings {
    /// Resolves the settings for a service that is not the sandbox.
    ///
    /// # Errors
    /// `usage` if the address of the service is missing or wrong.
    pub fn resolve(context: &Context, global: &GlobalArgs, config: &Loaded) -> Result<Self, Failure> {
        let variable = context.var(BASE_URL)?.map(parse_base_url).transpose();
        let variable = variable.map_err(|problem| {
            Failure::usage(format!("{BASE_URL} {problem}")).hint(format!("correct or unset {BASE_URL}"))
        })?;
        let has_token = context.var(token_variable(Bearer::Customer))?.is_some();
        let file = ConfigFile::for_settings(context, config, variable.is_some() && has_token)?;
        let chosen = file.chosen(context, global)?;
        let own = chosen.as_ref().and_then(Profile::base_url);
        let Some(base_url) = variable.clone().or_else(|| own.clone()) else {
            return Err(chosen.map_or_else(|| file.no_profile_selected(), |profile| profile.no_base_url()));
        };
        let own_host = own.is_some_and(|own| own.origin() == base_url.origin());
        let tokens = Tokens { context, file: &file, profile: chosen.as_ref(), base_url: &base_url, own_host };
        let tokens = tokens.resolve()?;
        let view = global
            .flags
            .store_view
            .as_deref()
            .map_or_else(|| context.var(STORE_VIEW), |code| Ok(Some(code)))?;
        let dialect = dialect(context, global, chosen.as_ref())?;
        let (writes, _) = Writes::of(context, chosen.as_ref())?;
        let profile = chosen.unwrap_or_default();
        let view = view.map(str::to_owned).or_else(|| profile.text("store-view"));
        let mut settings = Self::new(global, &profile, dialect, base_url, tokens);
        settings.writes = writes;
        settings.store_view = view.map(|code| StoreView::new(&code)).transpose()?;
        settings.profile = Some(profile.name.clone()).filter(|name| !name.is_empty());
        let named = settings.profile.as_deref().filter(|_| variable.is_none());
        require_root(&settings.endpoint.base_url, dialect, named)?;
        let located = |key: &str| {
            profile.text(key).map(|path| resolve_path(context, file.directory(), &path)).transpose()
        };
        let endpoint = &mut settings.endpoint;
        endpoint.proxy_variable = context.proxy_variable(endpoint.base_url.scheme());
        endpoint.certificate_file = context.certificate_file();
        endpoint.ca_file = located("ca-file")?;
        // These are for the profile's own host only.
        if own_host {
            endpoint.headers = Headers::of(context, &file, &profile)?;
            endpoint.client_certificate = located("client-certificate")?;
            endpoint.allow_plain_http = profile.flag("allow-plain-http").unwrap_or(false);
        }
        Ok(settings)
    }

    /// The settings of the built-in service with this database at `url`: nothing of environment or profile.
    ///
    /// # Errors
    /// `usage` for a bad `--store-view` or `STOREFRONT_API`.
    pub fn sandbox(
        context: &Context,
        global: &GlobalArgs,
        database: PathBuf,
        url: Url,
        customer_token: Credential,
        admin_token: Credential,
    ) -> Result<Self, Failure> {
        let dialect = dialect(context, global, None)?;
        let url = url
            .join(dialect.rest_root.unwrap_or_default())
            .map_err(|error| Failure::internal(format!("the sandbox's address is not a URL: {error}")))?;
        let tokens = [customer_token, admin_token].map(|token| TokenSource::given(token, "the sandbox"));
        let mut settings = Self::new(global, &Profile::default(), dialect, url, tokens);
        settings.sandbox = Some(database);
        settings.endpoint.use_proxy = false;
        let view = global.flags.store_view.as_deref().or(dialect.sandbox_store_view);
        settings.store_view = view.map(StoreView::new).transpose()?;
        Ok(settings)
    }

    /// Flags over a profile over defaults.
    fn new(
        global: &GlobalArgs,
        profile: &Profile,
        dialect: &'static Dialect,
        base_url: Url,
        [token, admin_token]: [TokenSource; 2],
    ) -> Self {
        let seconds = |key: &str, default| profile.time(key).unwrap_or(Duration::from_secs(default));
        let is_flat = profile.text("ship-layout").as_deref() == Some("flat");
        Self {
            profile: None,
            sandbox: None,
            dialect,
            endpoint: Endpoint {
                base_url,
                allow_plain_http: false,
                ca_file: None,
                client_certificate: None,
                timeout: global.request.timeout.unwrap_or_else(|| seconds("timeout", 30)),
                retry: global.request.retry.or(profile.count("retry")).unwrap_or(2),
                sign_port: profile.flag("sign-port").unwrap_or(true),
                use_proxy: true,
                proxy_variable: None,
                certificate_file: None,
                headers: Headers::default(),
            },
            store_view: None,
            token,
            admin_token,
            writes: Writes::Yes,
            read: ReadSettings {
                path: profile.text("read.path"),
                customer: profile.text("read.customer"),
                addresses: profile.text("read.addresses"),
                quote_path: profile.text("read.quote-path"),
                attribute_path: profile.text("read.attribute-path"),
                ignore: profile.words("read.ignore").unwrap_or_else(|| vec!["/updated_at".to_owned()]),
            },
            ship_layout: if is_flat { ShipLayout::Flat } else { ShipLayout::Wrapped },
            settle: global.waits.settle.unwrap_or_else(|| seconds("settle", 10)),
            timeout_grows: global.request.timeout.is_none() && profile.time("timeout").is_none(),
            lock_timeout: global.waits.lock_timeout.unwrap_or_else(|| seconds("lock-timeout", 300)),
            magento_version: profile.text("magento-version").as_deref().and_then(Version::named),
            retention_days: profile.count("retention-days").unwrap_or(DEFAULT_RETENTION_DAYS),
        }
    }

    /// Refuses a base URL of a profile that every command would refuse.
    ///
    /// # Errors
    /// `usage` for one that continues after the root of the REST API.
    pub fn check_base_url(profile: &Profile) -> Result<(), Failure> {
        let dialect = profile.dialect().unwrap_or_else(|| Interface::Marketplace.dialect());
        profile.base_url().map_or(Ok(()), |url| require_root(&url, dialect, Some(&profile.name)))
    }

    /// The target of calls for the token's own customer, or for none.
    ///
    /// # Errors
    /// `usage` when no store view is set and the interface needs one.
    pub fn target(&self) -> Result<Target<'_>, Failure> {
        Target::new(self.dialect, self.store_view.as_ref()).map_err(|failure| {
            let keep = match &self.profile {
                Some(name) => {
                    hint!("run ", storefront("config set -p").arg(name).arg("store-view").arg("CODE"))
                }
                None => format!("set {STORE_VIEW}=CODE; a Magento shop needs none: set {API}=magento").into(),
            };
            failure.hint(hint!("use --store-view CODE, or ", keep))
        })
    }

    /// The name under which the log keeps what was seen of the service: profile and host, because the environment can lead one
    /// profile to another host.
    pub fn service_name(&self) -> String {
        match &self.profile {
            Some(profile) => format!("{profile}@{}", self.service_id()),
            None if self.sandbox.is_some() => SANDBOX.to_owned(),
            None => self.service_id().to_string(),
        }
    }

    /// The normalised identity of the service: the key of its files and locks.
    pub fn service_id(&self) -> ServiceId {
        match &self.sandbox {
            Some(database) => ServiceId::sandbox(database, self.dialect.name),
            None => {
                ServiceId::new(&with_root(&self.endpoint.base_url, self.dialect.rest_root), self.dialect.name)
            }
        }
    }

    /// Host and port of the service; without the default port of the scheme.
    pub fn host(&self) -> String {
        self.endpoint.base_url[Position::BeforeHost..Position::AfterPort].to_owned()
    }

    /// Whether there is no administrator's token, so that the customer's is used.
    pub fn shares_token(&self) -> bool {
        self.admin_token.from == self.token.from && self.admin_token.at_hand() == self.token.at_hand()
    }

    /// Whether there is an administrator's token and no customer's.
    pub fn has_only_admin_token(&self) -> bool {
        self.token.is_absent() && !self.admin_token.is_absent()
    }

    /// The source of the token that a call carries.
    pub fn token_for(&self, bearer: Bearer) -> &TokenSource {
        match bearer {
            Bearer::Customer => &self.token,
            Bearer::Admin => &self.admin_token,
        }
    }
}

/// Refuses a base URL that continues after the root of the REST API, so that every service has one name. `profile` is the
/// one that sets the base URL; `None` for the environment.
fn require_root(url: &Url, dialect: &Dialect, profile: Option<&str>) -> Result<(), Failure> {
    let segments: Vec<&str> = url.path().split('/').filter(|one| !one.is_empty()).collect();
    let root = segments.iter().position(|segment| Some(*segment) == dialect.rest_root);
    let Some(end) = root.map(|root| root + 1).filter(|end| *end < segments.len()) else { return Ok(()) };
    let mut root = url.clone();
    root.set_path(&segments[..end].join("/"));
    let set = |key: &str, variable: &str, value: &str| match profile {
        Some(name) => storefront("config set -p").arg(name).arg(key).arg(value).into(),
        None => Hint::from(format!("{variable}={value}")),
    };
    let mut fix = set("base-url", BASE_URL, root.as_str());
    if let [view] | [view, VERSION] = segments[end..]
        && ![VERSION, ASYNC, segments[end - 1]].contains(&view)
        && let Ok(view) = StoreView::new(view)
    {
        fix = hint!(fix, " and ", set("store-view", STORE_VIEW, view.code()));
    }
    let verb = if profile.is_some() { "run" } else { "set" };
    let message = format!("the base URL {url} continues after the root of the REST API");
    Err(Failure::usage(message).hint(hint!(verb, " ", fix)))
}

/// The interface: flag, then environment, then profile, then the marketplace's.
///
/// # Errors
/// `usage` for a name in the environment that is none.
fn dialect(
    context: &Context,
    global: &GlobalArgs,
    profile: Option<&Profile>,
) -> Result<&'static Dialect, Failure> {
    let named = given_dialect(context, global)?.or_else(|| profile.and_then(Profile::dialect));
    Ok(named.unwrap_or_else(|| Interface::Marketplace.dialect()))
}

/// The interface of flag or environment.
///
/// # Errors
/// `usage` for a name in the environment that is none.
pub fn given_dialect(context: &Context, global: &GlobalArgs) -> Result<Option<&'static Dialect>, Failure> {
    if let Some(interface) = global.flags.api {
        return Ok(Some(interface.dialect()));
    }
    let Some(name) = context.var(API)? else { return Ok(None) };
    Dialect::named(name).map(Some).ok_or_else(|| {
        Failure::usage(format!("unknown interface `{name}` (from {API})"))
            .hint(format!("set it to {}", Dialect::NAMES.join(" or ")))
    })
}

/// The interface alone, for checks before a service is opened, which reports a configuration that cannot be read.
///
/// # Errors
/// `usage` for a name in the environment that is none.
pub fn chosen_dialect(
    context: &Context,
    global: &GlobalArgs,
    config: &Loaded,
) -> Result<&'static Dialect, Failure> {
    let file = config.as_ref().ok().filter(|_| !global.flags.sandbox);
    let profile = file.and_then(|file| file.chosen(context, global).ok().flatten());
    dialect(context, global, profile.as_ref())
}

/// Which service files on disk belong to, and which lock serialises writes to it.
///
/// `Display` prints `INTERFACE URL`, for example `marketplace https://shop.example/rest`. It is the key of the log,
/// journals and all other state, so its form must not change between versions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServiceId {
    /// The interface of the service.
    pub interface: String,
    /// The normalised base URL, or `sandbox:DATABASE`.
    pub url: String,
    /// `HOST:PORT`, always with the port, or `sandbox:DATABASE`: the name of locks. Interface and path are left out,
    /// because several of them can reach one customer.
    pub lock_key: String,
}

impl ServiceId {
    /// The identity of the service at `base_url` that speaks `interface` (`marketplace` or `magento`).
    ///
    /// Scheme and host are lower-case, the scheme's default port and slashes at the end of the path are dropped;
    /// `localhost`, `127.0.0.1` and `[::1]` are one host, because a local service usually listens on all of them. User,
    /// password, query and fragment are not part of it.
    pub fn new(base_url: &Url, interface: &str) -> Self {
        let host = normalized_host(base_url);
        let port = base_url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let path = base_url.path().trim_end_matches('/');
        // A lock holds for both schemes on one port, so it always names the port.
        let lock_port = base_url.port_or_known_default().unwrap_or_default();
        Self {
            interface: interface.to_owned(),
            url: format!("{}://{host}{port}{path}", base_url.scheme()),
            lock_key: format!("{host}:{lock_port}"),
        }
    }

    /// The identity of the built-in service: its database, because its port changes with each start.
    pub fn sandbox(database: &Path, interface: &str) -> Self {
        let database = dunce::canonicalize(database).unwrap_or_else(|_| database.to_owned());
        let url = format!("sandbox:{}", database.display());
        Self { interface: interface.to_owned(), lock_key: url.clone(), url }
    }
}

impl fmt::Display for ServiceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.interface, self.url)
    }
}

/// The base URL that names a service: with the root of the API, also if it is written without, as for a gateway that adds
/// it.
pub fn with_root(base_url: &Url, root: Option<&str>) -> Url {
    let mut url = base_url.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    if let Some(root) = root.filter(|root| path.rsplit('/').next() != Some(root)) {
        url.set_path(&format!("{path}/{root}"));
    }
    url
}

/// The host in lower case, without the final dot of a fully qualified name, and `localhost` for this machine.
fn normalized_host(url: &Url) -> String {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    };
    if is_loopback {
        return "localhost".to_owned();
    }
    url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase()
}
