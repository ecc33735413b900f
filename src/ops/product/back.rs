//! The values of a product as an earlier call left them: read again, and set back.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::catalog::AttributeSet;
use super::set::{Read, Ready, warn_of_websites};
use super::{Catalog, Wanted, search};
use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use storefront_core::effect::{Change, Effect, Inverse, Sent};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, HintCommand, hint, storefront};
use storefront_core::product::attribute::FIELDS;
use storefront_core::product::attribute::{Attribute, Attributes};
use storefront_core::product::{ALL, Product};
use storefront_core::profile::equal::same_value;

/// The call that sets values back.
pub struct Back<'a> {
    /// The call.
    pub ready: Ready<'a>,
    /// What is not set back, in words.
    pub left: Vec<String>,
    /// The warnings before it is sent.
    pub notes: Vec<String>,
}

/// What a read shows of the product that an effect changed, in its scope; `None` if it is gone.
///
/// # Errors
/// As [`Service::read`].
pub async fn read(service: &Service<'_>, effect: &Effect) -> Result<Option<Map<String, Value>>, Failure> {
    let catalog = Catalog::default();
    let mut attributes = Attributes::default();
    for change in &effect.changes {
        if let Ok(attribute) = catalog.attribute(service, change.path.last_name()).await? {
            attributes.insert(attribute);
        }
    }
    Ok(product(service, effect, &attributes).await?.map(|product| product.document()))
}

/// The product that an effect changed.
async fn product(
    service: &Service<'_>,
    effect: &Effect,
    attributes: &Attributes,
) -> Result<Option<Product>, Failure> {
    let scope = effect.owner.scope.as_deref().unwrap_or(ALL);
    let id = effect.owner.id.as_deref().unwrap_or_default();
    let Some(shown) = search::by_id(service, scope, id).await? else { return Ok(None) };
    let unexpected = || Failure::unexpected_reply("unexpected response: not a product").hint(LOOK_CLOSER);
    Product::of(&shown, attributes).map(Some).ok_or_else(unexpected)
}

/// The SKU of the product that an effect changed; `None` if it is gone.
///
/// # Errors
/// As [`Service::read`].
pub async fn sku(service: &Service<'_>, effect: &Effect) -> Result<Option<String>, Failure> {
    Ok(product(service, effect, &Attributes::default()).await?.map(|product| product.sku))
}

/// The call that sets back the values that an effect changed, in its scope, from what the shop shows now; if nothing can
/// be set back, the reasons in words.
///
/// # Errors
/// `guard` if a sale would begin; as [`Service::read`].
pub async fn back<'a>(
    service: &'a Service<'a>,
    whole: &Effect,
) -> Result<Result<Back<'a>, Vec<String>>, Failure> {
    let catalog = Catalog::default();
    let scope = whole.owner.scope.as_deref().unwrap_or(ALL);
    let gone = || Ok(Err(vec![format!("{} is gone", whole.owner)]));
    let Some(found) = product(service, whole, &Attributes::default()).await? else { return gone() };
    let set = catalog.set(service, &found.set).await?;
    let mut left = Vec::new();
    let attributes = attributes(service, &catalog, &set, whole, &mut left).await?;
    let wanted = Wanted { sku: found.sku, scope: scope.to_owned(), targets: Vec::new(), attributes };
    let read = Read::basis(service, &catalog, &wanted, true).await?;
    if Some(&read.product.id) != whole.owner.id.as_ref() {
        return gone();
    }
    let Inverse { effect: inverse, left: own } = whole.inverse(&read.product.document());
    left.extend(
        own.iter()
            .filter(|left| wanted.attributes.get(left.path.last_name()).is_some())
            .map(ToString::to_string),
    );
    let mut effect = read.product.effect(scope);
    let mut notes = Vec::new();
    for change in inverse.changes {
        let code = change.path.last_name();
        let Some(attribute) = wanted.attributes.get(code) else { continue };
        match gone_option(attribute, &change) {
            Some(gone) => left.push(format!("{code}: its option {gone} is gone")),
            None => effect.changes.push(inherited(change, read.of_all.as_ref(), &mut notes)),
        }
    }
    if effect.is_empty() {
        return Ok(Err(left));
    }
    let set_by_hand = by_hand(&wanted, &effect);
    read.refuse_sale(&wanted, false)
        .map_err(|failure| failure.hint(hint!("if the sale may begin, set it back with ", set_by_hand)))?;
    warn_of_websites(service, &catalog, &wanted);
    Ok(Ok(Back { ready: Ready::new(service, wanted, read, effect, false)?, left, notes }))
}

/// The attributes whose values an effect changed, as far as the product still has them.
async fn attributes(
    service: &Service<'_>,
    catalog: &Catalog,
    set: &Rc<AttributeSet>,
    whole: &Effect,
    left: &mut Vec<String>,
) -> Result<Attributes, Failure> {
    let mut attributes = Attributes::default();
    for change in &whole.changes {
        let code = change.path.last_name();
        match catalog.attribute(service, code).await? {
            Err(refused) => left.push(refused.message),
            Ok(attribute) if FIELDS.contains(&code) || set.has(code) => attributes.insert(attribute),
            Ok(_) => left.push(format!("{code} is no longer in the attribute set of the product")),
        }
    }
    Ok(attributes)
}

/// An option that a value names and that does not exist any more: the shop would store its id.
fn gone_option<'c>(attribute: &Attribute, change: &'c Change) -> Option<&'c str> {
    let Sent::Value(Some(Value::String(ids))) = &change.sent else { return None };
    let is_gone = |id: &&str| !attribute.options.iter().any(|option| option.id == *id);
    ids.split(',').filter(|_| attribute.has_options()).find(is_gone)
}

/// Clears a store view's value if it equals the value for all. Fields of the product itself cannot be cleared: no call
/// was seen to do that.
fn inherited(mut change: Change, of_all: Option<&Product>, notes: &mut Vec<String>) -> Change {
    let code = change.path.last_name();
    let Some(of_all) = of_all else { return change };
    let Sent::Value(before) = &change.sent else { return change };
    if !same_value("value", of_all.values.get(code), before.as_ref()) {
        return change;
    }
    if FIELDS.contains(&code) {
        notes.push(format!("{code} stays a value of the store view, equal to that for all"));
    } else {
        change.sent = Sent::Value(None);
    }
    change
}

/// The command that sets the same values.
fn by_hand(wanted: &Wanted, effect: &Effect) -> Hint {
    let mut line = storefront("product set").arg(&*wanted.sku);
    let mut cleared = Vec::new();
    for change in &effect.changes {
        let code = change.path.last_name();
        match &change.sent {
            Sent::Value(Some(value)) => {
                let words = wanted.attributes.in_words(code, value.clone());
                let words = words.as_str().map_or_else(|| words.to_string(), str::to_owned);
                line = line.arg(format!("{code}={words}"));
            }
            _ => cleared.push(code),
        }
    }
    if !cleared.is_empty() {
        line = cleared.into_iter().fold(line.arg("--clear"), HintCommand::arg);
    }
    line.arg("--store-view").arg(&*wanted.scope).arg("--allow-special-price").into()
}
