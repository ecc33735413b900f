//! The cart from which calls are built; it shows what our own calls of the last minute left.

use serde_json::{Map, Value};

use super::basis;
use super::cart::{self, ActiveCart, items_document};
use super::ship_owner::saved_document;
use crate::client::service::Service;
use crate::log::{self, Write, WriteLog};
use storefront_core::effect::{Change, Effect, Kind, Owner};
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::profile::path::Step;

/// How many writes to a cart are checked at most, newest first.
const MOST: usize = 50;

/// What a call is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The items.
    Items,
    /// The items, the addresses and the shipping method, as far as the shop shows them.
    Whole,
}

/// As [`cart::find`], repeated until the cart shows what our own calls left, for at most `--settle`. A person may
/// continue with a cart that does not.
///
/// # Errors
/// `guard` if it does not show that and nobody continues; as [`cart::find`].
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

/// The lines of a cart, read in the same way.
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

/// The cart that the service created, or says is there already, after none was found. It is taken as empty without a
/// read, unless our own calls left something in it, which it must show.
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

/// Refuses a single addition if an earlier one of the same item to the same cart was cut short, and nobody was told what
/// became of it. A person may continue. For the records of a batch, the journal does this.
///
/// # Errors
/// `guard` if there is one and nobody continues; as the log.
pub fn ensure_none_cut_short(
    service: &Service<'_>,
    id: &str,
    is_same: impl Fn(&Effect) -> bool,
) -> Result<(), Failure> {
    if service.write_ahead.is_some() {
        return Ok(());
    }
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Ok(()) };
    let owner = log::Owner { kind: Kind::Cart.noun(), id: Some(id.to_owned()), scope: None };
    let writes = log.newest(&service.settings.service_id().to_string(), &owner, None, MOST)?;
    let is_meant =
        |write: &&Write| is_untold(write) && write.changes().is_some_and(|effect| is_same(&effect));
    let Some(untold) = writes.iter().find(is_meant) else { return Ok(()) };
    let name = untold.name().to_string();
    let message = if untold.is_open {
        format!("whether write {name} added this item already is unknown: it was cut short, or is being sent")
    } else {
        format!("write {name} sent this item already, and was cut short before it said what became of that")
    };
    let look = hint!("look with ", storefront("verify").arg(&*name), "; after that it can be added again");
    if service.session.prompt().accepts(&Failure::guard(message).hint(look))? {
        Ok(())
    } else {
        Err(Failure::cancelled())
    }
}

/// Whether nobody was told what became of a write. What a batch did is in its journal, and its next run says it.
fn is_untold(write: &Write) -> bool {
    let is_of_batch = write.record.is_some();
    write.is_open || !write.has_ended && !is_of_batch && write.outcome.may_be_applied()
}

async fn read<T>(
    service: &Service<'_>,
    read: impl AsyncFn() -> Result<T, Failure>,
    missing: impl Fn(&T) -> Result<Vec<String>, Failure>,
) -> Result<T, Failure> {
    basis::read(service, Kind::Cart.noun(), storefront("quote show"), read, missing).await
}

/// What a cart does not show. An added item whose id is not known cannot be told by its line: its product may have
/// options, and be shown with another SKU.
fn not_shown(service: &Service<'_>, id: &str, document: &Map<String, Value>) -> Result<Vec<String>, Failure> {
    let is_read = |change: &Change| matches!(change.path.steps().first(), Some(Step::Member(name)) if document.contains_key(name));
    let narrow = |effect: &mut Effect| {
        effect.changes.retain(is_read);
        effect.creates.retain(|created| created.id.is_some());
    };
    let owner = Owner { id: Some(id.to_owned()), ..Owner::to_be_made(Kind::Cart) };
    basis::not_shown(service, &owner, document, narrow)
}
