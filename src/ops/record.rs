//! The way of each operation, for one record and for each of a run.

use serde_json::{Map, Value};

use crate::cli::customer::UpdateArgs;
use crate::cli::quote::ShipArgs;
use crate::failure::Failure;
use crate::input::{Draft, FlagOverrides};
use crate::ops::profile::{Change, Update};
use crate::ops::profile::{replace, verify};
use crate::ops::{add_item, attribute, customers, ship};
use crate::plan::operation::Operation;
use crate::plan::request::Dialect;
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

impl RecordOperation<'_> {
    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Direct(operation, _) => *operation,
            Self::ShipToSavedAddress(_) => Operation::QuoteShip,
            Self::UpdateProfile(_) => Operation::CustomerUpdate,
        }
    }

    /// Checks a document and applies the flags, as far as that goes without the stored profile.
    ///
    /// # Errors
    /// `usage` for what is refused.
    pub fn prepare(
        &self,
        dialect: &'static Dialect,
        document: Map<String, Value>,
        allow_unknown: bool,
    ) -> Result<Draft, Failure> {
        let checked = |flags: &dyn FlagOverrides| {
            Draft::new(dialect, self.operation(), Some(Value::Object(document)), flags, allow_unknown)
        };
        match self {
            Self::Direct(_, flags) => checked(*flags),
            Self::UpdateProfile(args) => {
                let draft = checked(*args)?;
                draft.refuse_wrong_values()?;
                Update::new(draft.clone(), args)?;
                Ok(draft)
            }
            Self::ShipToSavedAddress(args) => {
                checked(&ShipArgs { bill_same_as_ship: false, ..(*args).clone() })
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
        draft: &Draft,
        snapshot: Option<&str>,
    ) -> Option<Outcome> {
        match (self, snapshot) {
            (Self::Direct(Operation::AttributeCreate, _), _) => {
                attribute::resolve_unknown(service, &draft.fields).await
            }
            // What cannot be read now stays unknown.
            (Self::UpdateProfile(_), Some(snapshot)) => {
                verify::resolve_unknown(service, snapshot).await.ok().flatten()
            }
            _ => None,
        }
    }

    /// Runs a record. `half_done_cart` is the one on which an earlier run made the first of its two calls.
    ///
    /// # Errors
    /// As the command's.
    pub async fn perform(
        &self,
        service: &Service<'_>,
        draft: &Draft,
        half_done_cart: Option<u64>,
    ) -> Result<Outcome, Failure> {
        match self {
            Self::UpdateProfile(args) => {
                let update = Update::new(draft.clone(), args)?;
                Box::pin(replace::replace(service, Change::Update(&update))).await
            }
            Self::ShipToSavedAddress(args) => {
                let (args, service) = Box::pin(ship::with_stored_addresses(service, args)).await?;
                let body = Some(Value::Object(draft.clone().into_body()));
                let session = service.session;
                let allow_unknown = session.global.allow_unknown;
                let draft = Draft::new(session.dialect, draft.operation, body, &args, allow_unknown)?;
                perform(&service, &draft, half_done_cart).await
            }
            Self::Direct(..) => perform(&customers::with_id(service).await?, draft, half_done_cart).await,
        }
    }
}

/// Sends a draft, or shows what would be sent, and reports the outcome.
///
/// # Errors
/// As [`perform`].
pub async fn perform_and_report(service: &Service<'_>, draft: Draft) -> Result<(), Failure> {
    let outcome = perform(service, &draft, None).await?;
    service.session.report.outcome(&outcome)
}

/// Sends a draft, or shows what would be sent. `half_done_cart` is the cart on which an
/// earlier run made the first of its two calls.
///
/// # Errors
/// As [`Service::write`].
pub async fn perform(
    service: &Service<'_>,
    draft: &Draft,
    half_done_cart: Option<u64>,
) -> Result<Outcome, Failure> {
    // In boxes: the room for the largest of them would be held for each.
    match draft.operation {
        Operation::QuoteShip => Box::pin(ship::perform(service, draft, half_done_cart)).await,
        Operation::QuoteAddItem => Box::pin(add_item::perform(service, draft)).await,
        Operation::AttributeCreate => Box::pin(attribute::create(service, draft)).await,
        // Sent as it is, it would delete the stored addresses that it does not name.
        Operation::CustomerUpdate => Err(Failure::internal("a profile is not merged with the stored one")),
    }
}
