//! The customers that a command goes through, one after another: the one who is named, those of a search, of a file, or all.

use std::collections::HashSet;

use futures_util::stream::{self, StreamExt as _};
use tokio::time::Instant;

use super::paced::Paced;
use crate::cli::InputArgs;
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::commands;
use crate::input::customers::listed;
use crate::input::document::quoted;
use crate::ops::customers::{self, Pages};
use crate::ops::profile::read;
use crate::report::progress::Progress;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::interface::request::{Bearer, MAX_PAGE};
use storefront_core::profile::stored::{Pointers, Profile};

/// What is done with each customer.
pub trait Visitor {
    /// How many there are, where that is known; called before the first one.
    fn expect(&mut self, total: Option<u64>);

    /// Takes a profile; `named` is how an administrator names the customer.
    ///
    /// # Errors
    /// Whatever went wrong.
    async fn visit(&mut self, profile: &Profile, named: Option<String>) -> Result<(), Failure>;

    /// Takes a customer of a file whom the shop does not have.
    ///
    /// # Errors
    /// Whatever went wrong.
    fn unknown(&mut self, name: &str, failure: Failure) -> Result<(), Failure>;

    /// Notes that this customer is done, by the name that [`Who::after`] takes.
    fn passed(&mut self, _name: &str) {}
}

/// The progress through `total` customers since `begun`; `None` for one customer or an unknown number.
pub fn progress_of(service: &Service<'_>, total: Option<u64>, begun: Instant) -> Option<Progress> {
    let total = total.filter(|total| *total > 1)?;
    Some(Progress::new(service.session.report, total, total).since(begun))
}

/// Which customers.
pub enum Who {
    /// The one who is named, or the token's own.
    One,
    /// All, or those with these words, in the order of their ids, after this one.
    Search { words: Option<String>, after: u64 },
    /// Those of a file, by id or email, each once.
    Listed(Vec<String>),
}

impl Who {
    /// The choice that flags make. A file is read whole before the service is asked.
    ///
    /// # Errors
    /// As [`listed`].
    pub fn of(text: &[String], all: bool, input: Option<InputArgs>) -> Result<Self, Failure> {
        Ok(match input {
            Some(input) => Self::Listed(listed(&input)?),
            None if text.is_empty() && !all => Self::One,
            None => Self::Search { words: (!all).then(|| text.join(" ")), after: 0 },
        })
    }

    /// Only the customers after this one, in the order of the command.
    ///
    /// # Errors
    /// `usage` for a single customer, for a name that is not an ID, and for a customer whom the file does not have.
    pub fn after(self, named: &str) -> Result<Self, Failure> {
        Ok(match self {
            Self::One => {
                return Err(Failure::usage("--after is for several customers")
                    .hint("name them with words, --all or --input"));
            }
            Self::Search { words, .. } => {
                let after = named.parse().map_err(|_| {
                    Failure::usage(format!("--after: expected the ID of a customer, found {}", quoted(named)))
                })?;
                Self::Search { words, after }
            }
            Self::Listed(mut listed) => {
                let place = listed.iter().position(|name| name == named).ok_or_else(|| {
                    Failure::usage(format!("--after: the file has no customer {}", quoted(named)))
                })?;
                listed.drain(..=place);
                Self::Listed(listed)
            }
        })
    }

    /// Opens the service for them.
    ///
    /// # Errors
    /// Whatever went wrong.
    pub async fn with_service(
        &self,
        session: &Session<'_>,
        task: impl AsyncFnOnce(&Service<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::One => commands::with_customer(session, task).await,
            _ => with_service(session, task).await,
        }
    }

    /// Visits them.
    ///
    /// # Errors
    /// Whatever stops a customer from being read, and the visitor's.
    pub async fn each(&self, service: &Service<'_>, visitor: &mut impl Visitor) -> Result<(), Failure> {
        match self {
            Self::One => {
                visitor.expect(None);
                let profile = read::read_profile(service).await?;
                read::remember(service, &profile);
                let is_named = service.customer.is_some() || service.email.is_some();
                let named = service.session.global.customer.clone();
                visitor.visit(&profile, if is_named { profile.text("id") } else { named }).await
            }
            Self::Search { words, after } => {
                let pages = words.as_deref().map_or_else(|| Ok(Pages::of_all()), Pages::of_words)?;
                of_pages(service, pages.after(*after), visitor).await
            }
            Self::Listed(listed) => of_file(service, listed, visitor).await,
        }
    }
}

/// The customers of a search, as they come.
async fn of_pages(
    service: &Service<'_>,
    mut pages: Pages,
    visitor: &mut impl Visitor,
) -> Result<(), Failure> {
    let mut is_first = true;
    let paced = Paced::new(service);
    loop {
        let Some(page) = paced.read(async || pages.next(service, MAX_PAGE).await).await? else {
            return Ok(());
        };
        if std::mem::take(&mut is_first) {
            visitor.expect(pages.total);
        }
        for customer in page {
            let profile = Profile::find(customer, &Pointers::default())?;
            visitor.visit(&profile, profile.text("id")).await?;
            visitor.passed(&profile.text("id").unwrap_or_default());
        }
    }
}

async fn of_file(
    service: &Service<'_>,
    listed: &[String],
    visitor: &mut impl Visitor,
) -> Result<(), Failure> {
    service.target()?;
    if service.settings.dialect.customers.is_some() {
        service.token(Bearer::Admin).await?;
    }
    visitor.expect(Some(listed.len() as u64));
    let mut seen = HashSet::new();
    let paced = Paced::new(service);
    let read = async |name: &String| {
        let service = customers::select(service, Some(name))?;
        let read = paced.read(async || Box::pin(read::read_profile(&service)).await).await;
        Ok::<_, Failure>((name.clone(), read))
    };
    let jobs = service.session.global.pace.jobs().into();
    let mut read = stream::iter(listed).map(read).buffered(jobs);
    while let Some(read) = read.next().await {
        let (name, read) = read?;
        match read {
            Ok(profile) => {
                // An id and an email may name one customer.
                if seen.insert(profile.customer_key()) {
                    let is_id = service.settings.dialect.customers.is_some();
                    let named = if is_id { profile.text("id") } else { Some(name.clone()) };
                    visitor.visit(&profile, named).await?;
                }
            }
            Err(failure) if failure.kind == FailureKind::Usage => visitor.unknown(&name, failure)?,
            Err(failure) => return Err(failure),
        }
        visitor.passed(&name);
    }
    Ok(())
}
