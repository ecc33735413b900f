//! Reads the stored profile. "Could not read the addresses" never becomes "there are no addresses".

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::client::service::Service;
use crate::client::{Reply, check_url};
use crate::config::ReadSettings;
use crate::input::document;
use crate::log::{CustomerStore, SeenAddresses, WriteLog};
use crate::ops::{customers, lock};
use crate::state::{self, LockName};
use crate::system::storage::Lock;
use storefront_core::absent::{Absent, named_in};
use storefront_core::effect::{self, Kind};
use storefront_core::email::Email;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::id::{AddressId, CustomerId};
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::profile::diff::{self, FieldChange};
use storefront_core::profile::stored::{self, Pointers, Profile};

/// An older read is not the basis of a call.
const MAX_READ_AGE: Duration = Duration::from_secs(2);

/// A profile that was read, with the log of the customer, and its locks if it was locked.
pub struct LoadedProfile {
    /// The profile.
    pub stored: Profile,
    /// Whether it comes from the service, and not from `--base`.
    pub is_readable: bool,
    /// When it was read.
    read_at: Instant,
    /// The log of the customer.
    pub store: CustomerStore,
    /// How the customer was named: by the id, the email or the token.
    pub name: LockName,
    _locks: Vec<Lock>,
}

impl LoadedProfile {
    /// Reads the profile, which other commands may replace meanwhile.
    ///
    /// # Errors
    /// As [`read_or_base`].
    pub async fn read(service: &Service<'_>, base: Option<&Profile>) -> Result<Self, Failure> {
        let name = named(service).await?;
        let (stored, is_readable) = read_or_base(service, base).await?;
        let read_at = Instant::now();
        let is_dry_run = service.session.global.dry_run;
        let store =
            state::store(service.session.context, &service.settings, &stored.customer_key(), is_dry_run)?;
        Ok(Self { stored, is_readable, read_at, store, name, _locks: Vec::new() })
    }

    /// Reads the profile, which no other storefront command on this machine replaces while this is held.
    ///
    /// The customer of a token or an email is known from an earlier replacement, or else only after the read. So the lock
    /// on the token or email comes first, then the one on the customer. If the customer was not known, that lock is taken
    /// after the read, and the profile is read again if it may have changed meanwhile.
    ///
    /// # Errors
    /// `unavailable` when a lock is not free in time, and as [`read_or_base`].
    pub async fn lock(service: &Service<'_>, base: Option<&Profile>) -> Result<Self, Failure> {
        let context = service.session.context;
        let settings = &service.settings;
        let name = named(service).await?;
        let known = state::load_customer(context, settings, &name).map(|key| LockName::of_key(&key));
        let mut names: Vec<LockName> = vec![name.clone()];
        names.extend(known.filter(|known| *known != name));
        let mut locks = Vec::new();
        for name in &names {
            locks.push(lock(service, name, settings.lock_timeout).await?.0);
        }
        // Before anything is read, because nothing is sent without the log.
        WriteLog::open(context)?;
        let started = context.clock.now();
        let (mut stored, mut is_readable) = read_or_base(service, base).await?;
        let mut read_at = Instant::now();
        let store = state::store(context, settings, &stored.customer_key(), false)?;
        let key = stored.text("id").or_else(|| stored.text("email"));
        let own = key.map(|key| LockName::of_key(&key)).filter(|own| !names.contains(own));
        let mut was_waited_for = None;
        if let Some(own) = own {
            let (by_customer, waited) = lock(service, &own, settings.lock_timeout).await?;
            locks.push(by_customer);
            was_waited_for = Some(waited);
        }
        if let Some(waited) = was_waited_for
            && (waited || store.changed_since(started)?)
        {
            (stored, is_readable) = read_or_base(service, base).await?;
            read_at = Instant::now();
        }
        Ok(Self { stored, is_readable, read_at, store, name, _locks: locks })
    }

    /// Reads the profile again.
    ///
    /// # Errors
    /// As [`read_or_base`].
    pub async fn read_again(&mut self, service: &Service<'_>, base: Option<&Profile>) -> Result<(), Failure> {
        (self.stored, self.is_readable) = read_or_base(service, base).await?;
        self.read_at = Instant::now();
        Ok(())
    }

    /// The owner of calls that are made from it.
    pub fn owner(&self) -> effect::Owner {
        effect::Owner::new(Kind::Customer, &self.store.key)
    }

    /// Whether it was read too long ago to be the basis of a call.
    pub fn is_old(&self) -> bool {
        self.read_at.elapsed() > MAX_READ_AGE
    }

    /// The service with the customer's id, if an email named the customer.
    pub fn service<'a>(&self, service: &Service<'a>) -> Service<'a> {
        let id = self.stored.text("id").and_then(|id| id.parse().ok());
        let customer = if service.email.is_some() { id } else { service.customer };
        service.of_customer(customer)
    }
}

/// The lock for the way in which the customer is named.
async fn named(service: &Service<'_>) -> Result<LockName, Failure> {
    Ok(match (service.customer, &service.email) {
        (Some(id), _) => LockName::customer(&id.to_string()),
        (None, Some(email)) => LockName::email(email),
        (None, None) => LockName::token(service.token(Bearer::Customer).await?),
    })
}

/// Reads the stored profile from the service, with one request even if the customer is named by email.
///
/// # Errors
/// `auth` for 401 and 403, `unavailable` for network trouble, 429 and 5xx, `guard` for any other reply in which the
/// complete address list cannot be identified, and for the profile of another customer than before.
pub async fn read_profile(service: &Service<'_>) -> Result<Profile, Failure> {
    let profile = fetch(service).await?;
    service.ensure_same_customer("profile", profile.text("id"))?;
    ensure_known_customer(service, &profile)?;
    Ok(profile)
}

/// Reads the profile without checking whose it is.
pub async fn fetch(service: &Service<'_>) -> Result<Profile, Failure> {
    if let Some(email) = &service.email {
        let found = customers::find_by_email(service, email).await?;
        return Profile::find(found, &Pointers::default());
    }
    let read = &service.settings.read;
    let request = Request::read_profile(&service.target()?, read.path.as_deref());
    let reply = service.read(&request).await.map_err(|failure| match service.customer {
        Some(id) if names_nobody(&failure, id) => customers::no_such_customer(id),
        _ => unreadable(service, failure),
    })?;
    if let Some(warning) = reply.warning {
        return Err(Failure::guard(format!("cannot read the stored addresses: {warning}"))
            .hint("try again with -vv to see the response"));
    }
    in_reply(service, reply)
}

/// Whether the service says that no customer has this id, or that something is missing without naming it.
fn names_nobody(failure: &Failure, id: CustomerId) -> bool {
    let [field, value] = named_in(failure.service.as_ref());
    let is_it = field.is_empty() || field == "customerId" && (value.is_empty() || value == id.to_string());
    failure.absent == Some(Absent::Entity) && is_it
}

/// The profile in the body of a reply.
///
/// # Errors
/// `guard` if the complete address list cannot be identified, or is that of another customer than the named one.
fn in_reply(service: &Service<'_>, reply: Reply) -> Result<Profile, Failure> {
    let value = reply.document().map_err(|error| stored::unreadable(&error.to_string()))?;
    let ReadSettings { customer, addresses, .. } = match service.customer {
        Some(_) => ReadSettings::default(),
        None => service.settings.read.clone(),
    };
    let profile = Profile::find(value, &Pointers { customer, addresses })?;
    match service.customer {
        // The id in the body of a PUT takes precedence over the one in the path.
        Some(id) if profile.text("id") != Some(id.to_string()) => {
            Err(stored::unreadable(&format!("it is not that of customer {id}")))
        }
        _ => Ok(profile),
    }
}

/// Refuses a profile of another customer than the token had at its last verified replacement: a cache that ignores the
/// token may have answered.
fn ensure_known_customer(service: &Service<'_>, profile: &Profile) -> Result<(), Failure> {
    if service.customer.is_some() || service.email.is_some() {
        return Ok(());
    }
    let (Some(token), Some(id)) = (service.customer_token(), profile.text("id")) else { return Ok(()) };
    let context = service.session.context;
    match state::load_customer(context, &service.settings, &LockName::token(token)) {
        Some(known) if known != id && !known.contains('@') => Err(Failure::guard(format!(
            "the service answered with the profile of customer {id}, and this token was customer {known}'s \
             before"
        ))
        .hint(hint!(
            "check any cache in front of the service; if the token is right, ",
            storefront("forget --token"),
            " forgets whose it was"
        ))),
        _ => Ok(()),
    }
}

/// Keeps what completion needs of a profile: the ids of its addresses.
pub fn remember(service: &Service<'_>, stored: &Profile) {
    let Ok(log) = WriteLog::open(service.session.context) else { return };
    let is_named = service.customer.is_some() || service.email.is_some();
    let name = |field: &str| stored.text(field).filter(|_| is_named);
    let addresses = stored.addresses().iter().filter_map(Value::as_object);
    let addresses = addresses
        .filter_map(|address| Some((AddressId::of(address.get("id")?)?.to_string(), label(address).into())))
        .collect();
    let seen = SeenAddresses { customer: name("id"), email: name("email"), addresses };
    log.note_addresses(&service.settings.service_name(), seen);
}

/// Words to know an address by: the first line of the street, and the city.
fn label(address: &Map<String, Value>) -> String {
    const MAX_CHARACTERS: usize = 40;
    let street = address.get("street").and_then(|street| street.get(0)).and_then(Value::as_str);
    let city = address.get("city").and_then(Value::as_str);
    let words: Vec<&str> = street.into_iter().chain(city).collect();
    words.join(", ").chars().take(MAX_CHARACTERS).collect()
}

/// Reads a profile somebody saved, for `--base`.
///
/// # Errors
/// `usage` for a file that cannot be read, `guard` for one without a complete address list.
pub fn read_base(path: &Path) -> Result<Profile, Failure> {
    Profile::in_file(document::read_json(path)?, &document::quoted(&document::name(path)))
}

/// The stored profile and `true`; or `base` and `false` if the service has no call that reads it.
///
/// # Errors
/// As [`read_profile`]; `guard` for a base that is not what is stored.
pub async fn read_or_base(service: &Service<'_>, base: Option<&Profile>) -> Result<(Profile, bool), Failure> {
    let Some(base) = base else {
        let stored = read_profile(service).await.map_err(|failure| offer_base(service, failure))?;
        return Ok((stored, true));
    };
    let stored = match read_profile(service).await {
        Err(failure) if has_no_read(service, &failure) => {
            service.session.report.warn(&format!(
                "the service has no call that reads the profile ({}): using --base as is; the result cannot \
                 be verified",
                failure.message
            ));
            ensure_owner_of_base(service, base)?;
            return Ok((base.clone(), false));
        }
        read => read?,
    };
    let ignore = &service.settings.read.ignore;
    let mut differences = diff::customers(base.customer(), stored.customer());
    differences.retain(|change| !change.is_ignored(ignore));
    if differences.is_empty() {
        return Ok((stored, true));
    }
    let paths = list_paths(&differences);
    let verb = if differences.len() == 1 { "differs" } else { "differ" };
    Err(Failure::guard(format!(
        "the base is out of date: {paths} {verb}; an update based on it would delete newer data"
    ))
    .hint(hint!(
        "save the profile again with ",
        storefront("customer show -o json"),
        ", or leave --base out"
    )))
}

/// Only the base says whose profile it is: it must be that of the named customer, or of the customer to whom the token
/// led before.
fn ensure_owner_of_base(service: &Service<'_>, base: &Profile) -> Result<(), Failure> {
    let named = service.customer.map(|id| id.to_string());
    let is_other = match (&named, &service.email) {
        (Some(id), _) => base.text("id").is_some_and(|own| own != *id),
        (None, Some(email)) => base.customer().get("email").and_then(Email::of).as_ref() != Some(email),
        (None, None) => false,
    };
    if is_other {
        return Err(Failure::guard("the base is the profile of another customer")
            .hint("save the profile of this customer, or name the one whose it is with --customer"));
    }
    ensure_known_customer(service, base)
}

/// Offers `--base`, which only an update takes, only for a single record, and only if the service has no call that reads
/// the profile.
fn offer_base(service: &Service<'_>, failure: Failure) -> Failure {
    let is_batch = service.session.report.line.is_some();
    if is_batch || failure.kind != FailureKind::Guard || !has_no_read(service, &failure) {
        return failure;
    }
    let hint = failure.hint.clone().map(|hint| hint.and(", or ")).unwrap_or_default();
    failure.hint(hint.and("pass the profile with --base FILE"))
}

/// Whether the answer says that there is no such call. Any other failure only means that the profile was not read this
/// time.
fn has_no_read(service: &Service<'_>, failure: &Failure) -> bool {
    match failure.status {
        Some(405 | 501) => true,
        Some(404) => service.settings.read.path.is_none(),
        _ => false,
    }
}

/// The first few changes, by their paths.
pub fn list_paths(changes: &[FieldChange]) -> String {
    const SHOWN: usize = 4;
    let mut paths: Vec<String> = changes.iter().take(SHOWN).map(|change| change.path.to_string()).collect();
    if changes.len() > SHOWN {
        paths.push(format!("{} more", changes.len() - SHOWN));
    }
    paths.join(", ")
}

/// The refusal of a profile whose read was refused or not understood.
fn unreadable(service: &Service<'_>, failure: Failure) -> Failure {
    let is_answered = matches!(failure.status, Some(200..=299 | 404));
    if failure.kind != FailureKind::Refused && !is_answered {
        return failure;
    }
    let hint = match failure.status {
        _ if service.settings.dialect.documents_profile_read => {
            "check the base URL, which usually ends with `/rest`"
        }
        Some(404) => {
            "check the path of the base URL; if it is right, \
             set `read.path` to the path that returns the profile"
        }
        _ => "set `read.path` to the path that returns the profile",
    };
    let message = format!("cannot read the stored addresses: {}", failure.message);
    let own = failure.hint.filter(|hint| *hint != check_url());
    let hint = own.or_else(|| Some(hint.into()));
    Failure { kind: FailureKind::Guard, message, hint, ..failure }
}
