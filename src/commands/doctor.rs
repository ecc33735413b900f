//! `storefront doctor`: checks the setup and suggests a fix for each problem.

use std::path::Path;

use serde_json::json;

use super::check::{self, Answer, Check};
use crate::config::{Settings, Writes};
use crate::failure::{Failure, FailureKind};
use crate::http::RUN_DOCTOR;
use crate::plan::profile::stored::Profile;
use crate::plan::request::Bearer;
use crate::session::Session;
use crate::session::runtime::Signals;
use crate::session::service::{Service, names_store};
use crate::system::environment::{BASE_URL, STATE_HOME, STORE_VIEW};
use crate::system::storage::without_path;
use crate::text::shell::Shell;

const NOT_FOUND: u16 = 404;

/// Checks the state directory, configuration, store view, tokens, service and profile.
///
/// # Errors
/// The kind of the first check that failed.
pub async fn run(session: &Session<'_>) -> Result<(), Failure> {
    let mut signals = Signals::listen()?;
    let checks = tokio::select! {
        biased;
        () = signals.next() => return Err(Failure::new(FailureKind::Interrupted, "interrupted")),
        checks = run_checks(session) => checks,
    };
    session.report.value(&json!({"checks": checks}), |screen| check::table(&checks, screen))?;
    let failed: Vec<FailureKind> = checks.iter().filter_map(|check| check.failure).collect();
    match failed.first() {
        None => Ok(()),
        Some(kind) => Err(Failure::new(*kind, format!("{} of {} checks failed", failed.len(), checks.len()))
            .hint("fix the failed checks from the top, then run `storefront doctor` again")),
    }
}

async fn run_checks(session: &Session<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    checks.extend(state_directory(session));
    let service = match Service::open(session).await {
        Ok(service) => service,
        Err(failure) => {
            let fix = fix_of(&failure, "correct it in the file, or with `storefront config set`");
            checks.push(Check::failed("configuration", &failure, fix));
            return checks;
        }
    };
    checks.push(Check::ok("configuration", where_to(&service.settings, is_set(&service, BASE_URL))));
    checks.extend(service_checks(&service).await);
    checks
}

/// Store view, tokens, service and profile.
async fn service_checks(service: &Service<'_>) -> Vec<Check> {
    let mut checks = Vec::from_iter(check::not_needed(service));
    let bearer = if checks.is_empty() { Bearer::Customer } else { Bearer::Admin };
    match (service.target(), check::unreadable(service, bearer).await) {
        (Ok(_), None) => checks.extend(read_checks(service, bearer, &check::ask(service, bearer).await)),
        (Ok(_), Some(unreadable)) => checks.extend([not_checked(service), unreadable]),
        (Err(failure), unreadable) => {
            let fix = fix_of(&failure, "set it with `storefront config set store-view CODE`");
            checks.push(Check::failed("store view", &failure, fix));
            let why = format!("{}; not checked: no store view set", service.settings.token_for(bearer).from);
            checks.push(unreadable.unwrap_or_else(|| Check::skipped(check::check_name(bearer), why)));
        }
    }
    if bearer == Bearer::Customer {
        checks.push(check::admin_token(service).await);
    }
    checks
}

fn where_to(settings: &Settings, is_overridden: bool) -> String {
    let profile = match &settings.profile {
        Some(profile) => format!("profile {profile}"),
        None if settings.sandbox.is_some() => "the sandbox".to_owned(),
        None => "the environment".to_owned(),
    };
    let variable =
        if is_overridden && settings.profile.is_some() { format!(" ({BASE_URL})") } else { String::new() };
    let writes = match settings.writes {
        Writes::Yes => String::new(),
        writes => format!("; writes: {}", writes.name()),
    };
    format!("{profile}: {}{variable}{writes}", settings.endpoint.base_url)
}

/// One read (of the profile, with a customer's token) shows whether the store view and the token are right, whether the
/// service is reached, over which TLS, and whether updates are possible.
fn read_checks(service: &Service<'_>, bearer: Bearer, answer: &Answer) -> Vec<Check> {
    let is_secure = service.settings.endpoint.base_url.scheme() == "https";
    let mut view = not_checked(service);
    let mut reached =
        Check::ok("service", if is_secure { "answers, over TLS" } else { "answers, without TLS" });
    let mut readable = None;
    match answer {
        Ok(profile) => {
            view = Check::ok("store view", view_code(service));
            let found = |profile: &Profile| format!("{} addresses can be read", profile.addresses().len());
            readable = profile.as_ref().map(|profile| Check::ok("profile", found(profile)));
        }
        Err(failure) if check::is_rejected(failure) => {}
        Err(failure) => match diagnosis(service, failure) {
            failed if failed.name == view.name => view = failed,
            failed if failed.name == reached.name => reached = failed,
            failed => readable = Some(failed),
        },
    }
    [view, check::finding(service, bearer, answer), reached].into_iter().chain(readable).collect()
}

/// What a failed read says is wrong, and how it is put right.
fn diagnosis(service: &Service<'_>, failure: &Failure) -> Check {
    let (name, fix) = match failure.kind {
        _ if let Some(fix) = interface_fix(service, failure) => ("profile", fix),
        _ if names_store(failure) => ("store view", store_view_fix(service)),
        FailureKind::Unavailable | FailureKind::Usage => {
            ("service", fix_of(failure, "check host and port of base-url, and the network"))
        }
        _ if failure.status == Some(NOT_FOUND) => ("profile", base_url_fix(service)),
        _ => ("profile", fix_of(failure, "set read.path to where the service gives the profile")),
    };
    Check::failed(name, failure, fix)
}

fn view_code<'a>(service: &'a Service<'_>) -> &'a str {
    service.settings.store_view.as_ref().map_or("the default one", |view| view.code())
}

fn not_checked(service: &Service<'_>) -> Check {
    Check::skipped("store view", format!("{}; not checked", view_code(service)))
}

fn store_view_fix(service: &Service<'_>) -> String {
    if is_set(service, STORE_VIEW) {
        return format!("correct {STORE_VIEW}, or pass --store-view CODE");
    }
    match &service.settings.profile {
        Some(profile) => {
            format!(
                "set it with `storefront config set -p {profile} store-view CODE`, or pass --store-view CODE"
            )
        }
        None => "pass --store-view CODE, or set STOREFRONT_STORE_VIEW".to_owned(),
    }
}

/// Whether an environment variable overrides the setting of the profile.
fn is_set(service: &Service<'_>, variable: &str) -> bool {
    service.settings.sandbox.is_none()
        && service.session.context.var(variable).is_ok_and(|value| value.is_some())
}

/// What to set where the answer shows that the calls are not those of the service: a shop of Magento without the setting
/// `api`, or a base URL that ends before the root of the API.
fn interface_fix(service: &Service<'_>, failure: &Failure) -> Option<String> {
    let settings = &service.settings;
    let url = &settings.endpoint.base_url;
    let has_no_route = failure.message.contains("Request does not match any route");
    if has_no_route && !settings.dialect.is_magento() {
        return Some(format!("for a Magento shop set `api` to magento; otherwise {}", base_url_fix(service)));
    }
    let root = settings.dialect.rest_root?;
    let is_root_missing = !url.path().split('/').any(|segment| segment == root);
    (is_root_missing && matches!(failure.status, Some(400 | NOT_FOUND))).then(|| {
        format!(
            "set base-url to {}/{root}, where a Magento shop has its API",
            url.as_str().trim_end_matches('/')
        )
    })
}

fn base_url_fix(service: &Service<'_>) -> String {
    let set = match &service.settings.profile {
        _ if is_set(service, BASE_URL) => BASE_URL.to_owned(),
        Some(profile) => format!("`storefront config set -p {profile} base-url URL`"),
        None => BASE_URL.to_owned(),
    };
    format!(
        "check the path of base-url ({}) and set it with {set}; if it is right, set read.path to where the service gives the profile",
        service.settings.endpoint.base_url
    )
}

/// Snapshots are customers' data, and nothing is replaced without one.
fn state_directory(session: &Session<'_>) -> Option<Check> {
    let state = &session.context.directories().ok()?.state;
    if let Err(error) = try_to_write(state) {
        let failure = Failure::internal(format!(
            "the state directory `{}` cannot be written: {error}",
            state.display()
        ));
        let fix = format!("make it writable, or set {STATE_HOME} to a directory that is");
        return Some(Check::failed("state directory", &failure, fix));
    }
    let snapshots = state.join("snapshots");
    let shown = snapshots.display();
    Some(if open_to_others(&snapshots) {
        Check::warning(
            "state directory",
            format!("`{shown}` contains customer data and is accessible to other users"),
            format!("run `chmod 700 {}`", Shell::NATIVE.quote(&shown.to_string())),
        )
    } else {
        let access = if cfg!(windows) { "; who else can read it is not checked on Windows" } else { "" };
        Check::ok("state directory", format!("`{}` can be written{access}", state.display()))
    })
}

/// Creates a file in the directory, or in the nearest one above that exists, and removes it again.
fn try_to_write(directory: &Path) -> std::io::Result<()> {
    let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(directory);
    tempfile::NamedTempFile::new_in(existing).map(drop).map_err(without_path)
}

#[cfg(unix)]
fn open_to_others(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(directory).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 > 0)
}

#[cfg(not(unix))]
fn open_to_others(_: &Path) -> bool {
    false
}

/// What to do about a failure; `doctor` itself is no answer here.
fn fix_of(failure: &Failure, otherwise: &str) -> String {
    failure.hint.clone().filter(|hint| hint != RUN_DOCTOR).unwrap_or_else(|| otherwise.to_owned())
}
