//! Values of products: which attributes are written, how a value that people write is sent, and how a product shows it.
//!
//! The values of a product are an object with a member for each attribute that has one in a store view, by its code: the name, the
//! weight and the status as well as what the service lists apart from them ([`attribute::Attributes::values`]).

pub mod asked;
pub mod attribute;

use serde_json::{Map, Value, json};

use self::asked::Target;
use self::attribute::{Attributes, FIELDS};
use crate::effect::{Before, Change, Effect, Kind, Owner, Sent};
use crate::operation::scalar;
use crate::profile::path::FieldPath;
use crate::text::hash::fnv1a;

/// The fields of a sale: a call in a store view sets its first day to today, in every store view of the website.
pub const SALE: [&str; 3] = ["special_price", "special_from_date", "special_to_date"];

/// The scope of the values for all store views, in paths.
pub const ALL: &str = "all";

/// Whether two SKUs are one for the service. Its search also ignores accents: `fyu` finds `fyü`, which is another
/// product.
pub fn is_same_sku(one: &str, other: &str) -> bool {
    folded_sku(one) == folded_sku(other)
}

/// A SKU as it is compared.
pub fn folded_sku(sku: &str) -> String {
    sku.trim().to_lowercase()
}

/// The hash of a SKU, for caches.
pub fn hash_of(sku: &str) -> u64 {
    fnv1a(folded_sku(sku).as_bytes())
}

/// A product as the service shows it in a scope.
#[derive(Debug, Clone)]
pub struct Product {
    /// Its id.
    pub id: String,
    /// Its SKU as the service has it.
    pub sku: String,
    /// Id of its attribute set.
    pub set: String,
    /// Ids of the websites that it is in; `None` if they are not shown.
    pub websites: Option<Vec<String>>,
    /// Its values by the codes of the attributes.
    pub values: Map<String, Value>,
}

impl Product {
    /// The product of a reply; `None` for another reply.
    pub fn of(shown: &Value, attributes: &Attributes) -> Option<Self> {
        let text = |name: &str| scalar(shown.get(name));
        let websites = shown.pointer("/extension_attributes/website_ids").and_then(Value::as_array);
        Some(Self {
            id: text("id")?,
            sku: shown.get("sku")?.as_str()?.to_owned(),
            set: text("attribute_set_id")?,
            websites: websites.map(|ids| ids.iter().filter_map(|id| scalar(Some(id))).collect()),
            values: attributes.values(shown)?,
        })
    }

    /// The product as effects see it.
    pub fn document(&self) -> Map<String, Value> {
        Map::from_iter([("values".to_owned(), Value::Object(self.values.clone()))])
    }

    /// Whether it has a special price here.
    pub fn has_special_price(&self) -> bool {
        self.values.contains_key(SALE[0])
    }

    /// An effect on its values in a scope that changes nothing so far.
    pub fn effect(&self, scope: &str) -> Effect {
        Effect::on(Owner { scope: Some(scope.to_owned()), ..Owner::new(Kind::Product, &self.id) })
    }

    /// What setting these values changes. Clearing a value of a store view always counts as a change: nothing tells a
    /// view's own value from the value for all views.
    pub fn changed(&self, scope: &str, targets: &[Target]) -> Effect {
        let mut effect = self.effect(scope);
        for target in targets {
            let now = self.values.get(&target.code);
            let sent = target.value(now);
            let is_cleared_view = target.clears() && scope != ALL;
            let before = if is_cleared_view { Before::NotRead } else { Before::Read(now.cloned()) };
            let path = FieldPath::value_of(&target.code);
            let change = Change { path, before, sent: Sent::Value(sent), seen: None };
            if is_cleared_view || change.tells(&[]) {
                effect.changes.push(change);
            }
        }
        effect
    }
}

/// The body of the call that carries an effect. Each attribute of `empty` is sent as `null`: without it the service
/// would write its default option.
pub fn body(sku: &str, effect: &Effect, empty: &[&str]) -> Value {
    let mut fields = Map::new();
    let mut custom = Vec::new();
    fields.insert("sku".to_owned(), sku.into());
    for change in &effect.changes {
        let (code, Sent::Value(value)) = (change.path.last_name(), &change.sent) else { continue };
        let value = value.clone().unwrap_or_default();
        if FIELDS.contains(&code) {
            fields.insert(code.to_owned(), attribute::as_field(code, value));
        } else {
            custom.push(json!({"attribute_code": code, "value": value}));
        }
    }
    custom.extend(empty.iter().map(|code| json!({"attribute_code": code, "value": null})));
    if !custom.is_empty() {
        fields.insert("custom_attributes".to_owned(), custom.into());
    }
    json!({"product": fields})
}

#[cfg(test)]
mod tests;
