//! `storefront doctor`: checks the setup and suggests a fix for each problem.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::check::{self, Answer, Check, hint_or};
use crate::client::Session;
use crate::client::runtime::Signals;
use crate::client::service::{Service, names_store};
use crate::config::{Writes, with_root};
use crate::log::WriteLog;
use crate::system::environment::{BASE_URL, STATE_HOME, STORE_VIEW};
use crate::system::shell::Shell;
use crate::system::storage::without_path;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{Hint, HintCommand, hint, storefront};
use storefront_core::interface::request::Bearer;
use storefront_core::profile::stored::Profile;

/// Checks the state directory, configuration, store view, tokens, service and profile.
///
/// # Errors
/// The kind of the first check that failed.
pub async fn run(session: &Session<'_>) -> Result<(), Failure> {
    let mut signals = Signals::listen(session.context)?;
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
            .hint(hint!("fix the failed checks from the top, then run ", storefront("doctor"), " again"))),
    }
}

async fn run_checks(session: &Session<'_>) -> Vec<Check> {
    let mut checks = Vec::from_iter(state_directory(session));
    checks.extend(log(session));
    let service = match Service::open(session).await {
        Ok(service) => service,
        Err(failure) => {
            let fix = hint_or(&failure, hint!("correct it in the file, or with ", storefront("config set")));
            checks.push(Check::failed("configuration", &failure, fix));
            return checks;
        }
    };
    checks.push(Check::ok("configuration", where_to(&service)));
    checks.extend(history(&service));
    let (customer, answer) = check::token(&service, Bearer::Customer).await;
    let (admin, of_admin) = check::token(&service, Bearer::Admin).await;
    // An administrator's call shows the same of the service, where no customer's token is needed.
    let answer = answer.or(of_admin.filter(|_| customer.failure.is_none()));
    checks.extend(service_checks(&service, customer, answer));
    checks.push(admin);
    checks
}

fn where_to(service: &Service<'_>) -> String {
    let settings = &service.settings;
    let url = &settings.endpoint.base_url;
    let to = match &settings.profile {
        Some(profile) if is_set(service, BASE_URL) => format!("profile {profile}: {url} ({BASE_URL})"),
        Some(profile) => format!("profile {profile}: {url}"),
        None if settings.sandbox.is_some() => format!("the sandbox: {url}"),
        None => format!("the environment: {url}"),
    };
    if settings.writes == Writes::Yes { to } else { format!("{to}; writes: {}", settings.writes.name()) }
}

/// One read (of the profile, with a customer's token) shows whether the store view and the token are right, whether the
/// service is reached, over which TLS, and whether updates are possible.
fn service_checks(service: &Service<'_>, token: Check, answer: Option<Answer>) -> Vec<Check> {
    let settings = &service.settings;
    let view = settings.store_view.as_ref().map_or("the default one", |view| view.code());
    let mut checks = vec![Check::skipped("store view", format!("{view}; not checked")), token];
    if let Err(failure) = service.target() {
        let fix = hint_or(&failure, hint!("set it with ", storefront("config set store-view CODE")));
        checks[0] = Check::failed("store view", &failure, fix);
        return checks;
    }
    let Some(answer) = answer else { return checks };
    let is_secure = settings.endpoint.base_url.scheme() == "https";
    checks.push(Check::ok("service", if is_secure { "answers, over TLS" } else { "answers, without TLS" }));
    match answer {
        Ok(profile) => {
            checks[0] = Check::ok("store view", view);
            let found = |profile: Profile| format!("{} addresses can be read", profile.addresses().len());
            checks.extend(profile.map(|profile| Check::ok("profile", found(profile))));
        }
        Err(failure) if check::is_rejected(&failure) => {}
        Err(failure) => {
            let failed = diagnosis(service, &failure);
            match checks.iter_mut().find(|check| check.name == failed.name) {
                Some(check) => *check = failed,
                None => checks.push(failed),
            }
        }
    }
    checks
}

/// The problem that a failed read shows, and its fix.
fn diagnosis(service: &Service<'_>, failure: &Failure) -> Check {
    let settings = &service.settings;
    let url = &settings.endpoint.base_url;
    let set = |key: &str, variable: &str| match &settings.profile {
        Some(profile) if !is_set(service, variable) => {
            Hint::from(HintCommand::of(["config", "set", "-p", profile].into_iter().chain(key.split(' '))))
        }
        _ => variable.into(),
    };
    let rooted = with_root(url, settings.dialect.rest_root);
    let (name, fix) = match (failure.kind, failure.status) {
        // A shop answers so to paths outside of its API, sometimes as if the store view were unknown.
        (_, Some(400 | 404)) if rooted != *url => {
            ("profile", format!("set base-url to {rooted}, where a Magento shop has its API").into())
        }
        _ if names_store(failure) && service.session.global.flags.store_view.is_some() => {
            ("store view", "correct --store-view, or leave it out".into())
        }
        _ if names_store(failure) => (
            "store view",
            hint!("pass --store-view CODE, or set it with ", set("store-view CODE", STORE_VIEW)),
        ),
        (FailureKind::Unavailable | FailureKind::Usage, status) if status != Some(404) => {
            ("service", hint_or(failure, "check host and port of base-url, and the network"))
        }
        (_, Some(404)) => {
            let other = "for a Magento shop set `api` to magento; otherwise ";
            let other = if settings.dialect.documents_profile_read { "" } else { other };
            let set = set("base-url URL", BASE_URL);
            let check = format!("{other}check the path of base-url ({url}) and set it with ");
            let if_right = "; if it is right, set read.path to where the service gives the profile";
            ("profile", hint!(check, set, if_right))
        }
        _ => ("profile", hint_or(failure, "set read.path to where the service gives the profile")),
    };
    Check::failed(name, failure, fix)
}

/// Whether an environment variable overrides the setting of the profile.
fn is_set(service: &Service<'_>, variable: &str) -> bool {
    service.session.context.var(variable).is_ok_and(|value| value.is_some())
}

/// The writes whose outcome is unknown or a mismatch.
fn history(service: &Service<'_>) -> Option<Check> {
    const SHOWN: usize = 5;
    let log = WriteLog::to_read(service.session.context).ok().flatten()?;
    let mut newest = String::new();
    let mut of_owners = BTreeMap::<String, Vec<String>>::new();
    for (owner, write) in log.open_writes(&service.settings.service_id().to_string()).ok()? {
        let names = of_owners.entry(owner).or_default();
        let name = write.to_string();
        newest.clone_from(&name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let count = of_owners.len();
    let open = of_owners.into_iter().take(SHOWN);
    let mut open: Vec<String> =
        open.map(|(owner, writes)| format!("{owner}: {}", writes.join(", "))).collect();
    if count > SHOWN {
        open.push(format!("{} more", count - SHOWN));
    }
    let detail = format!("the outcome of writes is unknown or a mismatch: {}", open.join("; "));
    let fix =
        hint!("compare with the shop; ", storefront("verify").arg(newest), " looks again for the newest");
    (count > 0).then(|| Check::warning("history", detail, fix))
}

/// The log has customers' data, and nothing is sent that changes something without it.
fn state_directory(session: &Session<'_>) -> Option<Check> {
    let state = &session.context.directories().ok()?.state;
    let name = "state directory";
    let shown = state.display();
    // A directory that does not exist is created in the nearest one above.
    let existing = state.ancestors().find(|path| path.exists()).unwrap_or(state);
    let old: Vec<PathBuf> = OLD.iter().map(|name| state.join(name)).filter(|path| path.is_dir()).collect();
    Some(if let Err(error) = tempfile::NamedTempFile::new_in(existing).map_err(without_path) {
        let message = format!("the state directory `{shown}` cannot be written: {error}");
        let fix = format!("make it writable, or set {STATE_HOME} to a directory that is");
        Check::failed(name, &Failure::internal(message), fix)
    } else if open_to_others(state) {
        let detail = format!("`{shown}` contains customer data and is accessible to other users");
        let fix = format!("run `chmod 700 {}`", Shell::NATIVE.quote(&shown.to_string()));
        Check::warning(name, detail, fix)
    } else if !old.is_empty() {
        let detail =
            format!("`{shown}` has files of an older version, with customer data, that are not read");
        let words = old.iter().map(|path| path.display().to_string());
        let remove = Shell::NATIVE.join(["rm".to_owned(), "-r".to_owned()].into_iter().chain(words));
        Check::warning(name, detail, format!("delete them with `{remove}`"))
    } else {
        Check::ok(name, format!("`{shown}` can be written"))
    })
}

/// What older versions kept in files.
const OLD: [&str; 7] =
    ["snapshots", "customers", "addresses", "runs", "applied-plans", "default-options", "retention"];

/// Checks that the log can be used, and is not damaged.
fn log(session: &Session<'_>) -> Option<Check> {
    let name = "log";
    let found = WriteLog::to_read(session.context).and_then(|log| log.map(|log| log.damage()).transpose());
    match found {
        Ok(None) => None,
        Ok(Some(None)) => Some(Check::ok(name, "the log of what was written is in order".to_owned())),
        Ok(Some(Some(damage))) => {
            let failure = Failure::guard(format!("the log of what was written is damaged: {damage}"));
            Some(Check::failed(name, &failure, WriteLog::set_aside(session.context)))
        }
        Err(failure) => {
            let fix = failure.hint.clone().unwrap_or_default();
            Some(Check::failed(name, &failure, fix))
        }
    }
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
