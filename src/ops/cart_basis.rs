//! The cart from which calls are built: it shows what our own calls of the last minute left.

use serde_json::{Map, Value};

use super::basis;
use super::cart::{self, ActiveCart, items_document};
use super::ship_owner::saved_document;
use crate::client::service::Service;
use storefront_core::effect::{Change, Effect, Kind, Owner};
use storefront_core::failure::Failure;
use storefront_core::hint::storefront;
use storefront_core::profile::path::Step;

/// What a call is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The items.
    Items,
    /// The items, the addresses and the shipping method, as far as the shop shows them.
    Whole,
}

/// As [`cart::find`], until the cart shows what our own calls left, for at most `--settle`. A person may continue with one that does
/// not.
///
/// # Errors
/// `guard` where it does not show that and nobody continues; as [`cart::find`].
pub async fn find(
    service: &Service<'_>,
    named: Option<&str>,
    part: Part,
) -> Result<Option<ActiveCart>, Failure> {
    read(
        service,
        async || cart::find(service, named).await,
        |found| {
            let Some(cart) = found else { return Ok(Vec::new()) };
            let saved = saved_document(&cart.shown).filter(|_| part == Part::Whole).unwrap_or_default();
            let document = saved.into_iter().chain(items_document(cart.items())).collect();
            not_shown(service, &cart.id.to_string(), &document)
        },
    )
    .await
}

/// The lines of a cart, in the same way.
///
/// # Errors
/// As [`find`]; as `lines`.
pub async fn read_lines(
    service: &Service<'_>,
    id: &str,
    lines: impl AsyncFn() -> Result<Vec<Value>, Failure>,
) -> Result<Vec<Value>, Failure> {
    read(service, lines, |lines| not_shown(service, id, &items_document(lines))).await
}

/// The cart that the service made, or says to be there already, after none was found: it is empty, and nothing is read, unless our own
/// calls left something in it, which it has to show.
///
/// # Errors
/// As [`find`].
pub async fn find_made(service: &Service<'_>, id: u64) -> Result<Option<ActiveCart>, Failure> {
    let missing = |found: &Option<ActiveCart>| {
        let items = found.as_ref().filter(|cart| cart.id == id).map(ActiveCart::items).unwrap_or_default();
        not_shown(service, &id.to_string(), &items_document(items))
    };
    if missing(&None)?.is_empty() {
        return Ok(None);
    }
    read(service, async || cart::find(service, None).await, missing).await
}

async fn read<T>(
    service: &Service<'_>,
    read: impl AsyncFn() -> Result<T, Failure>,
    missing: impl Fn(&T) -> Result<Vec<String>, Failure>,
) -> Result<T, Failure> {
    basis::read(service, Kind::Cart.noun(), storefront("quote show"), read, missing).await
}

/// What a cart does not show. Which line an item became whose id nobody knows is not known either: its product may have options,
/// and be shown by another SKU.
fn not_shown(service: &Service<'_>, id: &str, document: &Map<String, Value>) -> Result<Vec<String>, Failure> {
    let is_read = |change: &Change| matches!(change.path.steps().first(), Some(Step::Member(name)) if document.contains_key(name));
    let narrow = |effect: &mut Effect| {
        effect.changes.retain(is_read);
        effect.creates.retain(|created| created.id.is_some());
    };
    let owner = Owner { id: Some(id.to_owned()), ..Owner::to_be_made(Kind::Cart) };
    basis::not_shown(service, &owner, document, narrow)
}
