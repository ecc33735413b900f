//! A placed order and its two addresses: what is sent when one of them is corrected (docs/magento.md, "Orders").
//!
//! The call that saves an address checks nothing: without the id of the address it adds another one, with the id of
//! another order's address it moves that one away, and it stores an empty city. So the whole address of the read is
//! sent, with its ids and the change.

use serde_json::{Map, Value};

use crate::check::country::Country;
use crate::effect::{self, Before, Change, Created, Effect, Kept, Kind, Sent};
use crate::failure::Failure;
use crate::hint::{hint, storefront};
use crate::id;
use crate::interface::dialect::{Dialect, OrderRoutes, Target};
use crate::interface::fields::ORDER_FORM;
use crate::interface::label::label;
use crate::interface::request::{Bearer, Filter, Request, search_query, with_fields};
use crate::lint;
use crate::operation::scalar;
use crate::profile::equal::{is_unchanged, same_value};
use crate::profile::path::{FieldPath, List};
use crate::profile::region::{self, RegionDirectory, set_free_text};
use crate::text::exact_json;

const REGION: &str = "region";
const REGION_ID: &str = "region_id";
/// A shop does not store this field: it shows the code of the region that has the id.
const REGION_CODE: &str = "region_code";
/// The states of an order that is finished.
const ENDED: [&str; 3] = ["complete", "closed", "canceled"];

/// One of the two addresses of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Where the goods go.
    Shipping,
    /// What stands on the invoice.
    Billing,
}

impl Which {
    /// The name of the type, as the service has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shipping => "shipping",
            Self::Billing => "billing",
        }
    }

    /// The member of [`Order::document`].
    pub const fn member(self) -> &'static str {
        match self {
            Self::Shipping => "shipping_address",
            Self::Billing => "billing_address",
        }
    }

    /// What people call it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Shipping => "shipping address",
            Self::Billing => "billing address",
        }
    }

    /// The place of one of its fields.
    fn path(self, field: &str) -> FieldPath {
        FieldPath::default().member(self.member()).member(field)
    }
}

/// The calls on orders.
#[derive(Debug, Clone, Copy)]
pub struct OrderCalls {
    routes: &'static OrderRoutes,
    target: Target<'static>,
}

impl OrderCalls {
    /// The calls of an interface.
    ///
    /// # Errors
    /// `usage` if the interface has none.
    pub fn new(dialect: &'static Dialect) -> Result<Self, Failure> {
        let routes = dialect.orders.ok_or_else(|| {
            Failure::usage(format!("the interface `{}` has no calls on orders", dialect.name))
                .hint("use --api magento where the service is a Magento shop")
        })?;
        Ok(Self { routes, target: Target { dialect, store_view: None, customer: None } })
    }

    /// Searches the orders that meet a filter, the newest first; with `fields`, only these of each.
    pub fn search(&self, filter: Filter, limit: usize, fields: Option<&str>) -> Request {
        const NEWEST_FIRST: &str = "searchCriteria%5BsortOrders%5D%5B0%5D%5Bfield%5D=entity_id\
            &searchCriteria%5BsortOrders%5D%5B0%5D%5Bdirection%5D=DESC";
        let query = format!("{}&{NEWEST_FIRST}", search_query(&[filter], limit));
        let query = fields.map(|fields| with_fields(&query, fields)).unwrap_or(query);
        Request::get(format!("{}?{query}", self.target.path(self.routes.search, &[])), Bearer::Admin)
    }

    /// Reads an order.
    pub fn read(&self, id: u64) -> Request {
        Request::get(self.path(self.routes.by_id, id), Bearer::Admin)
    }

    /// Saves an address of an order.
    pub fn save_address(&self, id: u64, body: String) -> Request {
        let path = self.path(self.routes.by_id, id);
        Request::put(path, body.into(), Bearer::Admin)
    }

    /// Adds a comment, which no customer sees or is told of.
    pub fn comment(&self, id: u64, text: &str) -> Request {
        let fields =
            [("comment", text.into()), ("is_customer_notified", 0.into()), ("is_visible_on_front", 0.into())];
        let body = exact_json::object([("statusHistory", exact_json::object(fields))]);
        Request::post(self.path(self.routes.comments, id), body.to_string().into(), Bearer::Admin)
    }

    fn path(&self, template: &str, id: u64) -> String {
        self.target.path(template, &[("order", &id.to_string())])
    }
}

/// An order as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Its id.
    pub id: u64,
    /// The number that people name it by.
    pub number: String,
    /// All that the service shows of it.
    pub shown: Value,
}

impl Order {
    /// The order in a reply; `None` for another reply.
    pub fn of(shown: Value) -> Option<Self> {
        let id = id::integer(shown.get("entity_id")?).and_then(|id| u64::try_from(id).ok())?;
        let number = scalar(shown.get("increment_id"))?;
        shown.get("billing_address").is_some_and(Value::is_object).then_some(Self { id, number, shown })
    }

    /// One of its addresses.
    pub fn address(&self, which: Which) -> Option<&Map<String, Value>> {
        let address = match which {
            Which::Billing => self.shown.get("billing_address"),
            Which::Shipping => {
                self.shown.pointer("/extension_attributes/shipping_assignments/0/shipping/address")
            }
        };
        address?.as_object()
    }

    /// Whether nothing is shipped, so that there is no shipping address.
    pub fn is_virtual(&self) -> bool {
        same_value("default_billing", self.shown.get("is_virtual"), Some(&true.into()))
    }

    /// The customer's id; `None` for a guest.
    pub fn customer_id(&self) -> Option<u64> {
        id::integer(self.shown.get("customer_id")?).and_then(|id| u64::try_from(id).ok()).filter(|id| *id > 0)
    }

    /// Whose order it is, for people.
    pub fn owner(&self) -> Map<String, Value> {
        let of_order = [("order_id", Value::from(self.id)), ("order", self.number.as_str().into())];
        let names = [
            ("id", "customer_id"),
            ("email", "customer_email"),
            ("firstname", "customer_firstname"),
            ("lastname", "customer_lastname"),
        ];
        let of_customer = names.into_iter().filter_map(|(name, own)| {
            Some((name, self.shown.get(own).filter(|value| !value.is_null())?.clone()))
        });
        of_order.into_iter().chain(of_customer).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The order as effects see it: its addresses and comments.
    pub fn document(&self) -> Map<String, Value> {
        let address = |which| (which, self.address(which));
        let addresses = [Which::Billing, Which::Shipping].map(address).into_iter();
        let addresses =
            addresses.filter_map(|(which, address)| Some((which.member(), address?.clone().into())));
        let comments = self.shown.get(List::Comments.name()).filter(|list| list.is_array());
        let comments = comments.map(|list| (List::Comments.name(), list.clone()));
        addresses.chain(comments).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// An effect on it that changes nothing so far.
    fn effect(&self) -> Effect {
        Effect::on(effect::Owner::new(Kind::Order, self.id))
    }

    /// The address as it is stored, with the ids by which it is saved.
    ///
    /// # Errors
    /// `usage` where it has none of this type, `guard` where the read does not show the ids.
    pub fn stored(&self, which: Which) -> Result<&Map<String, Value>, Failure> {
        let Some(address) = self.address(which) else {
            let why = if self.is_virtual() { "is virtual: it" } else { "" };
            let message = format!("order {} {why} has no {}", self.number, which.words());
            return Err(
                Failure::usage(message.replace("  ", " ")).hint("correct the billing address with --billing")
            );
        };
        let is_id = |name: &str, own: Option<u64>| {
            let id = address.get(name).and_then(id::integer).and_then(|id| u64::try_from(id).ok());
            id.is_some_and(|id| id > 0 && own.is_none_or(|own| own == id))
        };
        let is_whole = is_id("entity_id", None)
            && is_id("parent_id", Some(self.id))
            && address.get("address_type").and_then(Value::as_str) == Some(which.name())
            && scalar(address.get("email")).is_some();
        if is_whole {
            return Ok(address);
        }
        let message = format!(
            "the {} of order {} was answered without its IDs, type and email: saving it would add another one",
            which.words(),
            self.number
        );
        Err(Failure::guard(message)
            .hint(hint!("look at it with ", storefront("order show -o json").arg(&*self.number))))
    }

    /// What leads from the stored address to the one that is wanted.
    ///
    /// # Errors
    /// As [`Self::stored`].
    pub fn change(&self, which: Which, wanted: &Map<String, Value>) -> Result<Effect, Failure> {
        let stored = self.stored(which)?;
        let mut effect = self.effect();
        for name in ORDER_FORM.into_iter().filter(|name| *name != REGION_CODE) {
            let (before, after) = (stored.get(name), wanted.get(name).filter(|value| !is_nothing(value)));
            let is_same = same_value(name, before, after);
            if !is_same || !is_unchanged(name, before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null))
            {
                effect.changes.push(Change {
                    path: which.path(name),
                    before: Before::Read(before.cloned()),
                    sent: Sent::Value(after.cloned()),
                    seen: None,
                });
            }
        }
        let is_changed = |path: &FieldPath| effect.changes.iter().any(|change| change.path == *path);
        let others = stored.iter().filter(|(name, value)| *name != REGION_CODE && !is_nothing(value));
        let others = others.map(|(name, content)| Kept { path: which.path(name), content: content.clone() });
        effect.keeps = others.filter(|kept| !is_changed(&kept.path)).collect();
        Ok(effect)
    }

    /// The body that saves an address: that of the read with the effect in it. An emptied field is sent as null,
    /// because the service keeps a field that is left out.
    pub fn body(&self, which: Which, effect: &Effect) -> String {
        let mut document = effect.applied_to(&self.document());
        let mut address = document.shift_remove(which.member()).unwrap_or_default();
        if let Value::Object(address) = &mut address {
            address.shift_remove(REGION_CODE);
            for change in effect.changes.iter().filter(|change| change.sent == Sent::Value(None)) {
                address.insert(change.path.last_name().to_owned(), Value::Null);
            }
        }
        exact_json::object([("entity", address)]).to_string()
    }

    /// A comment that is added.
    pub fn comment(&self, text: &str) -> Effect {
        let list = List::Comments;
        let content = exact_json::object([("comment", text.into())]);
        let document = self.document();
        let known = effect::Document(&document).elements(list).map(|(id, _)| id).collect();
        Effect { creates: vec![Created { list, content, known, id: None, seen: None }], ..self.effect() }
    }

    /// Whether it has a comment with this text, whoever wrote it.
    pub fn has_comment(&self, text: &str) -> bool {
        self.any_comment(|said| same_value("comment", said, Some(&text.into())))
    }

    /// Whether a text stands in one of its comments.
    pub fn says(&self, text: &str) -> bool {
        self.any_comment(|said| scalar(said).is_some_and(|said| said.contains(text)))
    }

    fn any_comment(&self, is_it: impl Fn(Option<&Value>) -> bool) -> bool {
        let document = self.document();
        let mut comments = effect::Document(&document).elements(List::Comments);
        comments.any(|(_, comment)| is_it(comment.get("comment")))
    }

    /// The warnings about changes before they are sent.
    pub fn warnings(&self, effects: &[Effect]) -> Vec<String> {
        let state = scalar(self.shown.get("state")).unwrap_or_default();
        let items = self.shown.get("items").and_then(Value::as_array).into_iter().flatten();
        let is_shipped =
            |item: &Value| scalar(item.get("qty_shipped")).is_some_and(|qty| qty.parse() != Ok(0.0));
        let number = &self.number;
        let ended = ENDED.contains(&&*state).then(|| format!("order {number} is {state}"));
        let shipped =
            items.into_iter().any(is_shipped).then(|| format!("items of order {number} were shipped"));
        let left = ended.or(shipped).map(|what| format!("{what}: goods may have left"));
        let changes = |names: &[&str]| {
            let mut changes = effects.iter().flat_map(|effect| &effect.changes);
            changes.any(|change| names.contains(&change.path.last_name()))
        };
        let place = changes(&["country_id", REGION_ID, REGION, "postcode"]);
        let taxed = changes(&["country_id", "vat_id"]);
        let place = place.then(|| "shipping and tax are not calculated again".to_owned());
        let taxed = taxed.then(|| "the VAT number is not validated again".to_owned());
        let labelled = |text: String| format!("order {number}: {text}");
        left.into_iter().chain(place.map(labelled)).chain(taxed.map(labelled)).collect()
    }
}

/// The fields that an effect sets in each address; an emptied one is `null`.
pub fn changed_fields(effect: &Effect) -> Vec<(Which, Map<String, Value>)> {
    let of = |which: Which| {
        let is_own = |change: &&Change| change.path.order_address() == Some(which.words());
        let field = |change: &Change| match &change.sent {
            Sent::Value(value) => {
                Some((change.path.last_name().to_owned(), value.clone().unwrap_or_default()))
            }
            Sent::Plus(_) | Sent::IdOf(_) => None,
        };
        let fields: Map<String, Value> = effect.changes.iter().filter(is_own).filter_map(field).collect();
        Some((which, fields)).filter(|(_, fields)| !fields.is_empty())
    };
    [Which::Shipping, Which::Billing].into_iter().filter_map(of).collect()
}

/// The records of `order update` that make the changes of an effect, one for each address. Those of an inverse take an
/// earlier update back.
pub fn records_of(effect: &Effect) -> Vec<Map<String, Value>> {
    let Some(id) = effect.owner.id.as_deref().and_then(|id| id.parse::<u64>().ok()) else {
        return Vec::new();
    };
    let record = |(which, fields): (Which, Map<String, Value>)| {
        let named = [("order_id", id.into()), ("address", which.name().into())];
        let named = named.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value));
        named.chain(fields).collect()
    };
    changed_fields(effect).into_iter().map(record).collect()
}

/// Whether a value is empty. The id 0 stands for no region.
fn is_nothing(value: &Value) -> bool {
    same_value("", Some(value), None)
}

/// The text of the comment that effects add, if they add one.
pub fn comment_of(effect: &Effect) -> Option<&str> {
    let created = effect.creates.iter().find(|created| created.list == List::Comments)?;
    created.content.get("comment")?.as_str()
}

/// The text of a comment: the changes of addresses, and what a person adds, as in `shipping address corrected: postcode
/// 10118 → 10119. The customer called`.
pub fn comment_text(effects: &[Effect], added: Option<&str>) -> String {
    let address = |effect: &Effect| {
        let address = effect.changes.first()?.path.order_address()?;
        let shown = |value: Option<&Value>| match value {
            Some(Value::Array(lines)) => lines
                .iter()
                .map(|line| scalar(Some(line)).unwrap_or_default())
                .collect::<Vec<_>>()
                .join(" / "),
            value => scalar(value).unwrap_or_else(|| "(empty)".to_owned()),
        };
        // The id of a region says nothing to people if the name beside it changes, too.
        let has_name = effect.changes.iter().any(|change| change.path.last_name() == REGION);
        let changes =
            effect.changes.iter().filter(|change| change.path.last_name() != REGION_ID || !has_name);
        let changes = changes.map(|change| {
            let name = label(change.path.last_name());
            let after = change.after(&[]).flatten();
            let Before::Read(before) = &change.before else { return name.to_owned() };
            format!("{} {} → {}", in_sentence(name), shown(before.as_ref()), shown(after.as_ref()))
        });
        Some(format!("{address} corrected: {}", changes.collect::<Vec<_>>().join(", ")))
    };
    let said = effects.iter().filter_map(address).collect::<Vec<_>>().join("; ");
    match added.map(str::trim).filter(|text| !text.is_empty()) {
        Some(added) if said.is_empty() => added.to_owned(),
        Some(added) => format!("{said}. {added}"),
        None => said,
    }
}

/// A label inside a sentence; what begins with several capital letters stays.
fn in_sentence(label: &str) -> String {
    let mut letters = label.chars();
    let first = letters.next().unwrap_or_default();
    let is_word = letters.as_str().starts_with(|second: char| second.is_lowercase());
    if is_word { format!("{}{}", first.to_lowercase(), letters.as_str()) } else { label.to_owned() }
}

/// The country whose regions are needed for a draft: that of a draft that names a region.
pub fn region_country(stored: &Map<String, Value>, draft: &Map<String, Value>) -> Option<String> {
    let names_one = [REGION, REGION_CODE, REGION_ID]
        .iter()
        .any(|name| draft.get(*name).is_some_and(|value| !same_value(REGION_ID, Some(value), None)));
    names_one.then(|| country(stored, draft)).filter(|country| !country.is_empty())
}

fn country(stored: &Map<String, Value>, draft: &Map<String, Value>) -> String {
    scalar(draft.get("country_id").filter(|value| !value.is_null()).or_else(|| stored.get("country_id")))
        .unwrap_or_default()
}

/// The address that a draft asks for. Both fields of a region always agree, and what the country requires stays.
///
/// # Errors
/// `usage` for a region that the country does not have, a country without a word about the region, and a required field
/// that is emptied.
pub fn wanted(
    stored: &Map<String, Value>,
    draft: &Map<String, Value>,
    regions: &RegionDirectory,
    which: Which,
) -> Result<Map<String, Value>, Failure> {
    let mut wanted = stored.clone();
    let names = ORDER_FORM.into_iter().filter(|name| !name.starts_with(REGION));
    for (name, value) in names.filter_map(|name| Some((name, draft.get(name)?))) {
        let before = stored.get(name).unwrap_or(&Value::Null);
        if !is_unchanged(name, before, value) {
            wanted.insert(name.to_owned(), value.clone());
        }
    }
    if [REGION, REGION_CODE, REGION_ID].iter().any(|name| draft.contains_key(*name)) {
        set_region(&mut wanted, draft, regions)?;
    } else if let Some(new) = draft.get("country_id") {
        region::require_region_for_new_country(stored, new, which.words())?;
    }
    refuse_emptied(stored, &wanted, which)?;
    Ok(wanted)
}

/// Sets the region that a draft names by its id, code or name, or clears it.
fn set_region(
    wanted: &mut Map<String, Value>,
    draft: &Map<String, Value>,
    regions: &RegionDirectory,
) -> Result<(), Failure> {
    let country = scalar(wanted.get("country_id")).unwrap_or_default();
    let mut named = Map::new();
    for name in [REGION, REGION_CODE, REGION_ID] {
        let value = draft.get(name).filter(|value| !is_nothing(value));
        named.extend(value.map(|value| (name.to_owned(), value.clone())));
        wanted.shift_remove(name);
    }
    let listed = regions.regions(&country);
    let is_free = listed.is_empty()
        || same_value(REGION_ID, named.get(REGION_ID), Some(&0.into())) && named.contains_key(REGION_ID);
    match named.get(REGION_ID).and_then(id::integer).filter(|id| *id != 0) {
        Some(id) => named = region_of_id(id, &named, &country, regions)?,
        None if !region::names_text(&named) => named.clear(),
        None if is_free => {
            named.shift_remove(REGION_ID);
            set_free_text(&mut named, &country)?;
        }
        None => {
            named.shift_remove(REGION_ID);
            regions.resolve_address(&country, &mut named)?;
        }
    }
    named.shift_remove(REGION_CODE);
    wanted.extend(named);
    Ok(())
}

/// A region by its id; `named` is all that a draft says of it.
///
/// # Errors
/// `usage` if the country has no such region, or another one is named beside it.
fn region_of_id(
    id: i64,
    named: &Map<String, Value>,
    country: &str,
    regions: &RegionDirectory,
) -> Result<Map<String, Value>, Failure> {
    let Some(found) = regions.regions(country).iter().find(|region| region.id == id) else {
        let list = storefront("api GET").arg(format!("/V1/directory/countries/{country}")).arg("--admin");
        return Err(Failure::usage(format!("{country} has no region with the ID {id}"))
            .hint(hint!("list its regions with ", list)));
    };
    if region::names_text(named) {
        let mut by_text = named.clone();
        by_text.shift_remove(REGION_ID);
        regions.resolve_address(country, &mut by_text)?;
        if by_text.get(REGION_ID).and_then(id::integer) != Some(id) {
            let message =
                format!("the region ID {id} is {}, and another region is named beside it", found.name);
            return Err(Failure::usage(message).hint("name the region once"));
        }
    }
    Ok(Map::from_iter([(REGION_ID.to_owned(), id.into()), (REGION.to_owned(), found.name.as_str().into())]))
}

/// Refuses to empty what the country requires: the shop would store the empty value.
fn refuse_emptied(
    stored: &Map<String, Value>,
    wanted: &Map<String, Value>,
    which: Which,
) -> Result<(), Failure> {
    let country = scalar(wanted.get("country_id")).and_then(|code| Country::find(&code));
    let postcode = country.filter(Country::requires_postcode).map(|_| "postcode");
    let is_there = |address: &Map<String, Value>, name: &str| match address.get(name) {
        Some(Value::Array(lines)) => lines.iter().any(|line| !is_nothing(line)),
        value => value.is_some_and(|value| !is_nothing(value)),
    };
    let mut required = lint::REQUIRED.into_iter().chain(postcode);
    let emptied = required.find(|name| is_there(stored, name) && !is_there(wanted, name));
    let Some(name) = emptied else { return Ok(()) };
    let message = format!("{} cannot be empty in the {}", in_sentence(label(name)), which.words());
    Err(Failure::usage(message).hint(format!("give another value with {}", lint::flag_of(name))))
}

#[cfg(test)]
mod tests;
