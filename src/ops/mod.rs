//! The operations on one record: from the input to what the service made of it.

pub mod add_item;
mod added_item;
pub mod address_book;
pub mod attribute;
mod basis;
pub mod calls;
pub mod cart;
pub mod cart_basis;
pub mod cart_owner;
pub mod cart_state;
pub mod customers;
pub mod list;
pub mod order_owner;
pub mod order_update;
pub mod orders;
pub mod product;
pub mod profile;
pub mod ship;
mod ship_checks;
pub mod ship_owner;
pub mod shown;

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::client::{LOOK_CLOSER, Reply, may_be_saved, pause};
use crate::input::{Draft, Overrides, RawInput};
use crate::journal::Ahead;
use crate::log::Write;
use crate::report::outcome::Outcome;
use crate::state::{LockName, acquire};
use crate::system::storage::Lock;
pub use crate::write::reads::Reads;
use storefront_core::absent::Absent;
use storefront_core::check::body::Warnings;
use storefront_core::effect::{Effect, are_shown};
use storefront_core::failure::{Applied, Failure, FailureKind, Persistence};
use storefront_core::hint::Hint;
use storefront_core::interface::request::{Bearer, Dialect, Request, Target};
use storefront_core::operation::OperationSpec;

/// The number of an id; `None` if it is not one.
pub fn positive(id: &str) -> Option<u64> {
    id.trim().parse().ok().filter(|id| *id > 0)
}

/// Waits until no other process of this machine writes to the thing with this name; returns whether it had to wait, which
/// it reports.
///
/// # Errors
/// As [`acquire`].
pub async fn lock(
    service: &Service<'_>,
    name: &LockName,
    timeout: Duration,
) -> Result<(Lock, bool), Failure> {
    let session = service.session;
    let waiting = || {
        let noun = name.noun();
        session.report.status(&format!("waiting for another storefront process to finish with this {noun}"));
    };
    acquire(session.context, &service.settings, name, timeout, waiting).await
}

/// The result of a record of an earlier run, if a read shows all that its calls were to change. That is noted: from then on a
/// later read has to show it, too.
///
/// # Errors
/// `guard` where the log cannot be written.
pub fn seen_earlier(
    service: &Service<'_>,
    operation: &OperationSpec,
    writes: &[Write],
    document: &Map<String, Value>,
) -> Result<Option<Outcome>, Failure> {
    let effects: Vec<Effect> = writes.iter().filter_map(Write::changes).collect();
    if !are_shown(&effects, document) {
        return Ok(None);
    }
    service.log()?.note_shown(writes, document);
    Ok(Some(Outcome::seen_earlier(operation.name)))
}

/// The line of a record that cannot be sent, and why.
pub type Refused = (u64, Failure);

/// Checks the records of a batch against the shop before any of them is sent.
pub trait Examiner {
    /// Takes a record. It may return what is wrong with it, or with records that were taken before.
    ///
    /// # Errors
    /// If the shop cannot be read.
    fn take<'s>(
        &'s mut self,
        line: u64,
        draft: &'s Draft,
    ) -> LocalBoxFuture<'s, Result<Vec<Refused>, Failure>>;

    /// Checks the records that were taken and not checked yet.
    ///
    /// # Errors
    /// As [`Self::take`].
    fn finish(&mut self) -> LocalBoxFuture<'_, Result<Vec<Refused>, Failure>>;
}

/// A record that is being run.
pub type RunFuture<'a> = LocalBoxFuture<'a, Result<Outcome, Failure>>;

/// A record whose outcome is being found out; `None` if it stays unknown.
pub type Resolved<'a> = LocalBoxFuture<'a, Result<Option<Outcome>, Failure>>;

/// An operation with the flags of its command. A single record and each of many are prepared, then run.
pub trait Operation {
    /// What distinguishes it from the others, as data.
    fn spec(&self) -> &'static OperationSpec;

    /// Applies the flags to what is inside the body's wrapper (or to the body itself if it has none). Flags take
    /// precedence.
    ///
    /// # Errors
    /// `usage` for flags that contradict each other or name what is not there.
    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure>;

    /// Whether flags set fields that `verify` would take from the input: the journal does not keep their values.
    fn sets_what_is_compared(&self) -> bool {
        false
    }

    /// Warns of what is unusual, and refuses what cannot work, as far as that is known without the service.
    ///
    /// # Errors
    /// `usage` for what cannot work.
    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure>;

    /// Runs a record, or shows what would be sent. `created` is the attribute that an earlier run created without making
    /// the calls that follow.
    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, created: Option<u64>) -> RunFuture<'a>;

    /// Tries to find out whether a record of an earlier run was applied, without sending a write; `ahead` is what the log
    /// has of it. `None` while that is unknown.
    ///
    /// # Errors
    /// If it could not be looked at; [`found_in_part`] if calls of it are missing.
    fn resolve_unknown<'a>(
        &'a self,
        _service: &'a Service<'_>,
        _draft: &'a Draft,
        _ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The check of the records of a batch against the shop before any of them is sent; `None` if only the names in
    /// attributes are looked up.
    fn examiner<'a>(&'a self, _service: &'a Service<'a>) -> Option<Box<dyn Examiner + 'a>> {
        None
    }

    /// The question before a single record that makes many calls: it comes after a look at the shop, so that it does not
    /// ask about what cannot be sent.
    ///
    /// # Errors
    /// As [`Self::run`], if the shop shows it before anything is sent.
    fn question<'a>(
        &'a self,
        _service: &'a Service<'_>,
        _draft: &'a Draft,
    ) -> LocalBoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The flag that was given and is for one record only.
    fn single_flag(&self) -> Option<&'static str> {
        None
    }

    /// Whether numbers of a sheet that a spreadsheet has shortened are meant so.
    fn allows_spreadsheet_loss(&self) -> bool {
        false
    }

    /// The warning once every record was read.
    fn leftover(&self) -> Option<String> {
        None
    }

    /// A document with the flags applied, checked.
    ///
    /// # Errors
    /// `usage` for what is refused.
    fn prepare(&self, dialect: &Dialect, written: RawInput, allow_unknown: bool) -> Result<Draft, Failure> {
        self.checked(dialect, written, &|fields| self.apply(fields), allow_unknown)
    }

    /// Prepares a draft with the given flags in place of the command's.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    fn checked(
        &self,
        dialect: &Dialect,
        written: RawInput,
        flags: Overrides<'_>,
        allow_unknown: bool,
    ) -> Result<Draft, Failure> {
        let mut draft = Draft::new(dialect, self.spec(), written, flags, allow_unknown)?;
        draft.warnings.extend(self.lint(&draft)?);
        Ok(draft)
    }
}

/// How long the steps of an operation start again while another process holds the log up, and how soon.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// Runs a record, and adds to the result what its writes are known by. If another process held up the log before anything
/// left, the read is old by then: the record starts again, for a while.
///
/// # Errors
/// As [`Operation::run`].
pub async fn run(
    operation: &dyn Operation,
    service: &Service<'_>,
    draft: &Draft,
    created: Option<u64>,
) -> Result<Outcome, Failure> {
    let start = tokio::time::Instant::now();
    loop {
        let done = operation.run(service, draft, created).await;
        if done.is_ok() || !service.stage.may_start_again() || start.elapsed() > PATIENCE {
            return service.stage.told(done);
        }
        pause(PAUSE, || service.stopping.get()).await;
    }
}

/// The call of an operation whose body is sent as it is documented.
///
/// # Errors
/// `usage` when no store view is set.
pub fn request(service: &Service<'_>, draft: &Draft, path: &str) -> Result<Request, Failure> {
    let bearer = draft.operation.bearer;
    let target = match bearer {
        Bearer::Admin => target_without_customer(service),
        Bearer::Customer => service.target()?,
    };
    Ok(Request::post(target.path(path, &[]), draft.body_text().into(), bearer))
}

/// The target of calls that belong to no store view, so that none needs to be set.
pub fn target_without_customer<'a>(service: &'a Service<'_>) -> Target<'a> {
    let settings = &service.settings;
    Target { dialect: settings.dialect, store_view: settings.store_view.as_ref(), customer: None }
}

/// Adds the hint to look first to a refused write that some shops have saved all the same, if it has no hint yet.
pub fn check_first(failure: Failure, hint: impl Into<Hint>) -> Failure {
    let is_told = failure.hint.is_some() || failure.absent.is_some();
    if may_be_saved(&failure) && !is_told { failure.hint(hint) } else { failure }
}

/// Reads the regions of a country into the service's directory: once a run, and only if the interface has a list.
///
/// # Errors
/// `usage` for a country that the shop does not have, and as [`Service::read`].
pub async fn read_country(service: &Service<'_>, country: &str) -> Result<(), Failure> {
    read_country_as(service, country, service.target()?.bearer()).await
}

/// As [`read_country`], with the token that the command has.
///
/// # Errors
/// As [`read_country`].
pub async fn read_country_as(service: &Service<'_>, country: &str, bearer: Bearer) -> Result<(), Failure> {
    let Some(path) = service.settings.dialect.country else { return Ok(()) };
    let knows = || service.regions.borrow().knows(country);
    if knows() {
        return Ok(());
    }
    let _reading = service.country_reads.lock().await;
    if knows() {
        return Ok(());
    }
    let target = target_without_customer(service);
    let path = target.path(path, &[("country", country)]);
    match service.read(&Request::get(path, bearer)).await {
        Ok(reply) if is_country(&reply, country) => {
            service.regions.borrow_mut().insert(country, &reply.value);
        }
        Ok(_) => {
            let message = format!("the regions of `{country}` could not be read: unexpected response");
            return Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER));
        }
        Err(failure) if failure.absent == Some(Absent::Country) => {
            return Err(Failure::usage(format!("the shop does not know the country `{country}`"))
                .hint("give the two-letter code of a country the shop allows"));
        }
        Err(failure) => return Err(failure),
    }
    Ok(())
}

/// Whether a reply is the whole description of this country: from a page or half a list every region would seem unknown.
fn is_country(reply: &Reply, country: &str) -> bool {
    let value = &reply.value;
    let is_named = |name: &str| {
        value.get(name).and_then(Value::as_str).is_some_and(|code| code.eq_ignore_ascii_case(country))
    };
    reply.warning.is_none() && (is_named("id") || is_named("two_letter_abbreviation"))
}

/// The failure of an operation that a look has found applied in part. The look sends none of the missing calls.
pub fn found_in_part(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Partial, message).applied(Applied::Partial).lasting(Persistence::Temporary)
}

/// Refuses a flag that is for one record only.
///
/// # Errors
/// `usage`.
pub fn refuse_single_flag(operation: &dyn Operation, with: &str) -> Result<(), Failure> {
    let refused = |flag| {
        Err(Failure::usage(format!("`{flag}` cannot be used with {with}"))
            .hint(format!("leave out `{flag}`")))
    };
    operation.single_flag().map_or(Ok(()), refused)
}
