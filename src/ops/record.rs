//! What a run does with each record: the same as the command would with one.

use serde_json::{Map, Value};

use crate::cli::customer::UpdateArgs;
use crate::cli::quote::ShipArgs;
use crate::failure::Failure;
use crate::input::{Draft, FlagOverrides};
use crate::ops::profile::{resolve, update};
use crate::ops::{attribute, cart, perform, shipping};
use crate::plan::operation::Operation;
use crate::plan::request::Dialect;
use crate::plan::validate::body::Warnings;
use crate::report::outcome::Outcome;
use crate::session::service::Service;

/// An operation over many records, with the flags applied to each.
#[derive(Clone, Copy)]
pub enum RecordOperation<'a> {
    /// Acts at once.
    Direct(Operation, &'a dyn FlagOverrides),
    /// Saves shipping with addresses of the stored profile.
    ShipToSavedAddress(&'a ShipArgs),
    /// Replaces a profile, step by step.
    UpdateProfile(&'a UpdateArgs),
}

/// A record that is ready to be run.
#[derive(Debug)]
pub enum PreparedBody {
    /// Checked, with the flags applied to it.
    Draft(Draft),
    /// Checked as far as it goes without the stored profile.
    Document(Map<String, Value>, Warnings),
}

impl PreparedBody {
    /// What the check mended, and what is doubtful.
    pub fn warnings(&self) -> &Warnings {
        match self {
            Self::Draft(draft) => &draft.warnings,
            Self::Document(_, warnings) => warnings,
        }
    }
}

impl RecordOperation<'_> {
    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Direct(operation, _) => *operation,
            Self::ShipToSavedAddress(_) => Operation::QuoteShip,
            Self::UpdateProfile(_) => Operation::CustomerUpdate,
        }
    }

    /// Checks a document and makes it ready.
    ///
    /// # Errors
    /// `usage` for what is refused.
    pub fn prepare(
        &self,
        dialect: &'static Dialect,
        document: Map<String, Value>,
        allow_unknown: bool,
    ) -> Result<PreparedBody, Failure> {
        match self {
            Self::Direct(operation, flags) => {
                Draft::new(dialect, *operation, Some(Value::Object(document)), *flags, allow_unknown)
                    .map(PreparedBody::Draft)
            }
            Self::UpdateProfile(args) => {
                let draft = Draft::new(
                    dialect,
                    self.operation(),
                    Some(Value::Object(document)),
                    *args,
                    allow_unknown,
                )?;
                draft.refuse_wrong_values()?;
                update::Update::new(draft.clone(), args)?;
                Ok(PreparedBody::Draft(draft))
            }
            Self::ShipToSavedAddress(args) => {
                let without = ShipArgs { bill_same_as_ship: false, ..(*args).clone() };
                let whole = Some(Value::Object(document.clone()));
                let draft = Draft::new(dialect, self.operation(), whole, &without, allow_unknown)?;
                Ok(PreparedBody::Document(document, draft.warnings))
            }
        }
    }

    /// Whether it can be found out later if a record was applied.
    pub fn can_resolve(&self) -> bool {
        matches!(self, Self::UpdateProfile(_) | Self::Direct(Operation::AttributeCreate, _))
    }

    /// Tries to find out whether a record of an earlier run was applied, without sending a write; `snapshot` names the
    /// one taken before it was sent. `None` while that is unknown.
    pub async fn resolve_unknown(
        &self,
        service: &Service<'_>,
        prepared: &PreparedBody,
        snapshot: Option<&str>,
    ) -> Option<Outcome> {
        match (self, snapshot) {
            (Self::Direct(Operation::AttributeCreate, _), _) => match prepared {
                PreparedBody::Draft(draft) => attribute::resolve_unknown(service, &draft.body).await,
                PreparedBody::Document(..) => None,
            },
            // What cannot be read now stays unknown.
            (Self::UpdateProfile(_), Some(snapshot)) => {
                resolve::resolve_unknown(service, snapshot).await.ok().flatten()
            }
            _ => None,
        }
    }

    /// Runs a record. `is_half_done` says that an earlier run made the first of its two calls.
    ///
    /// # Errors
    /// As the command's.
    pub async fn perform(
        &self,
        service: &Service<'_>,
        ready: &PreparedBody,
        is_half_done: bool,
    ) -> Result<Outcome, Failure> {
        let outcome = match (self, ready) {
            (Self::UpdateProfile(args), PreparedBody::Draft(draft)) => {
                let update = update::Update::new(draft.clone(), args)?;
                return update.replace(service).await;
            }
            (Self::ShipToSavedAddress(args), PreparedBody::Document(document, _)) => {
                let args = shipping::with_stored_addresses(service, args).await?;
                let allow_unknown = service.session.global.allow_unknown;
                let document = Some(Value::Object(document.clone()));
                let draft = Draft::new(
                    service.session.dialect,
                    Operation::QuoteShip,
                    document,
                    &args,
                    allow_unknown,
                )?;
                ship(service, draft, is_half_done).await?
            }
            (Self::Direct(Operation::QuoteShip, _), PreparedBody::Draft(draft)) => {
                ship(service, draft.clone(), is_half_done).await?
            }
            (_, PreparedBody::Draft(draft)) => {
                perform::perform(service, self.operation(), draft.clone()).await?
            }
            (_, PreparedBody::Document(..)) => return Err(Failure::internal("unprepared record")),
        };
        Ok(outcome)
    }
}

async fn ship(service: &Service<'_>, draft: Draft, is_half_done: bool) -> Result<Outcome, Failure> {
    match service.settings.dialect.carts {
        Some(_) => cart::ship::perform(service, draft.body, is_half_done).await,
        None => perform::perform(service, Operation::QuoteShip, draft).await,
    }
}
