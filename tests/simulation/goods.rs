//! Orders and products as the modelled Magento shop has them. A call on the address of an order stores what it is sent, adds a row
//! where it names none, and answers with an echo; a call on a product stores its values in one scope, and more than was named where
//! nothing stops it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::action::Action;
use super::call::Call;
use super::customers::{Kept, Stored, Writer, addresses, fields};
use super::rules;
use super::states::State;
use super::world::{Changed, Effect, Owner, Sent, World};

/// Ids of orders begin here.
pub const FIRST_ORDER: usize = 500;
/// Ids of products begin here.
pub const FIRST_PRODUCT: usize = 1000;
/// The attribute that has a default option, and of which no product has a value.
const WITH_DEFAULT: (&str, &str) = ("x_kind", "49");
const LIST: &str = "custom_attributes";

/// An address of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Where the invoice goes.
    Billing,
    /// Where the goods go.
    Shipping,
}

impl Side {
    /// As the shop calls it.
    pub fn word(self) -> &'static str {
        if self == Self::Billing { "billing" } else { "shipping" }
    }
}

/// For whom a value of a product is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All store views.
    All,
    /// One of them.
    View,
}

impl Scope {
    /// Its code in paths.
    pub fn code(self) -> &'static str {
        if self == Self::All { "all" } else { "fr" }
    }

    /// The list of its values in a stored product.
    pub fn list(self) -> &'static str {
        if self == Self::All { LIST } else { "fr.custom_attributes" }
    }
}

/// The number by which people know an order.
pub fn increment_id(order: usize) -> String {
    format!("{:09}", order + 1)
}

/// The SKU of a product.
pub fn sku(product: usize) -> String {
    format!("mug_{}", product + 1)
}

/// Order `number`, with both addresses.
pub fn order(number: usize) -> Kept {
    let address = |side: Side| {
        let id = 900 + 10 * number + side as usize;
        json!({"id": id, "entity_id": id, "parent_id": FIRST_ORDER + number, "address_type": side.word(),
            "email": format!("c{}@example.com", number + 1), "firstname": "A", "lastname": "B",
            "street": [format!("Main {id}")], "city": format!("Town {id}"), "postcode": "75001",
            "country_id": "FR", "telephone": format!("{id}"), "company": "Co"})
    };
    let stored = json!({"entity_id": FIRST_ORDER + number, "increment_id": increment_id(number),
        "customer_id": number + 1, "customer_email": format!("c{}@example.com", number + 1),
        "addresses": [address(Side::Billing), address(Side::Shipping)], "comments": []});
    Kept::new(stored.as_object().unwrap().clone())
}

/// Product `number`, perhaps with a special price.
pub fn product(number: usize, is_on_sale: bool) -> Kept {
    let mut values = vec![of("x_note", &format!("Note {number}")), of("x_maker", "Maker")];
    values.extend(is_on_sale.then(|| of("special_price", "5.00")));
    let stored = json!({"id": FIRST_PRODUCT + number, "sku": sku(number), "name": "Mug", LIST: values,
        Scope::View.list(): [of("x_text", "Texte")]});
    Kept::new(stored.as_object().unwrap().clone())
}

fn of(code: &str, value: &str) -> Value {
    json!({"attribute_code": code, "value": value})
}

/// The attributes of products, by their codes.
pub fn attributes() -> [(&'static str, Value); 4] {
    let text = |code: &'static str, scope| {
        let shown = json!({"attribute_code": code, "frontend_input": "text", "is_user_defined": true, "scope": scope,
            "default_frontend_label": code, "options": []});
        (code, shown)
    };
    let kind = json!({"attribute_code": WITH_DEFAULT.0, "frontend_input": "select", "is_user_defined": true,
        "scope": "global", "default_frontend_label": "Kind", "default_value": WITH_DEFAULT.1,
        "options": [{"label": "Plain", "value": WITH_DEFAULT.1}]});
    [text("x_note", "store"), text("x_text", "store"), text("x_maker", "global"), (WITH_DEFAULT.0, kind)]
}

/// The value of an attribute in a list of them.
fn value<'a>(list: Option<&'a Value>, code: &str) -> Option<&'a Value> {
    let mut list = list?.as_array()?.iter();
    list.find(|own| own["attribute_code"] == code).map(|own| &own["value"])
}

/// The value of a stored product, or of one as its scope shows it.
pub fn value_in<'a>(product: &'a Stored, scope: Scope, code: &str) -> Option<&'a Value> {
    value(product.get(scope.list()), code)
}

/// An order as a read shows it.
fn order_shown(stored: &Stored) -> Value {
    let address = |side: Side| {
        let mut all = addresses(stored).filter(|address| address["address_type"] == side.word());
        let mut shown = all.next().cloned().unwrap_or_default();
        if let Value::Object(members) = &mut shown {
            members.shift_remove("id");
        }
        shown
    };
    let mut shown = stored.clone();
    for name in ["addresses", "comments"] {
        shown.shift_remove(name);
    }
    let more = json!({"state": "processing", "status": "processing", "customer_is_guest": 0, "is_virtual": 0, "store_id": 1,
        "items": [], "billing_address": address(Side::Billing), "status_histories": stored["comments"],
        "extension_attributes": {"shipping_assignments": [{"shipping": {"address": address(Side::Shipping)}}]}});
    shown.extend(more.as_object().unwrap().clone());
    Value::Object(shown)
}

/// An order that was shown, in the form in which it is stored.
pub fn order_of(shown: &Value) -> Option<Stored> {
    let shipping = shown.pointer("/extension_attributes/shipping_assignments/0/shipping/address")?;
    let list = [shown.get("billing_address")?, shipping].map(|address| {
        let mut address = address.clone();
        address["id"] = address["entity_id"].clone();
        address
    });
    let order =
        json!({"entity_id": shown["entity_id"], "addresses": list, "comments": shown["status_histories"]});
    order.as_object().cloned()
}

/// The value that a read in a scope shows.
pub fn shown_in<'a>(product: &'a Stored, scope: Scope, code: &str) -> Option<&'a Value> {
    value_in(product, scope, code).or_else(|| value_in(product, Scope::All, code))
}

/// A product as a read in a scope shows it.
fn product_shown(stored: &Stored, scope: Scope) -> Value {
    let mut values: Vec<Value> = stored[LIST].as_array().unwrap().clone();
    if scope == Scope::View {
        for own in stored[scope.list()].as_array().unwrap() {
            values.retain(|value| value["attribute_code"] != own["attribute_code"]);
            values.push(own.clone());
        }
    }
    json!({"id": stored["id"], "sku": stored["sku"], "name": stored["name"], "attribute_set_id": 4, "status": 1,
        LIST: values, "extension_attributes": {"website_ids": [1]}})
}

/// A product that was shown, with its values in the list of the scope.
pub fn product_of(shown: &Value, scope: Scope) -> Option<Stored> {
    let product = json!({"id": shown.get("id")?, "sku": shown["sku"], scope.list(): shown.get(LIST)?});
    product.as_object().cloned()
}

/// The orders of a search, or one by its id.
pub fn read_orders(world: &mut World, orders: &[usize], at: Duration) -> Vec<Value> {
    orders.iter().map(|order| order_shown(&then(world, Owner::Order(*order), at))).collect()
}

/// The products of a search in a scope.
pub fn read_products(world: &mut World, scope: Scope, products: &[usize], at: Duration) -> Vec<Value> {
    let shown = |product: &usize| product_shown(&then(world, Owner::Product(*product), at), scope);
    products.iter().map(shown).collect()
}

/// As a replica has it.
fn then(world: &mut World, owner: Owner, at: Duration) -> Stored {
    let then = world.replica(at);
    let kept = world.kept(owner);
    let is_new = |(by, since): &(Writer, Duration)| matches!(by, Writer::Ours(_)) && *since > then;
    let is_old = kept.writers.values().flatten().any(is_new);
    let stored = kept.at(then).clone();
    if is_old {
        world.reach(State::LaggingReplica);
    }
    stored
}

fn refused(message: &str) -> (u16, String) {
    (400, json!({ "message": message }).to_string())
}

/// Saves an address of an order.
pub fn save_address(
    world: &mut World,
    request: usize,
    number: usize,
    at: Duration,
    is_copy: bool,
) -> (u16, String) {
    let Some(sent) = world.requests[request].body["entity"].as_object().cloned() else {
        return refused("The order address couldn't be saved.");
    };
    let mut after = world.orders[number].now.clone();
    let next = world.next_address;
    let list = after.get_mut("addresses").and_then(Value::as_array_mut).unwrap();
    let row = if let Some(id) = sent.get("entity_id") {
        let Some(row) = list.iter().position(|address| address["id"] == *id) else {
            return refused("The order address couldn't be saved.");
        };
        row
    } else {
        list.push(json!({ "id": next, "entity_id": next }));
        list.len() - 1
    };
    let row = list[row].as_object_mut().unwrap();
    for (name, value) in sent.clone() {
        if value.is_null() || value == "" {
            row.shift_remove(&name);
        } else {
            row.insert(name, value);
        }
    }
    world.next_address += 1;
    store(world, request, Owner::Order(number), after, (at, is_copy));
    (200, Value::Object(sent).to_string())
}

/// Adds a comment to an order.
pub fn comment(
    world: &mut World,
    request: usize,
    number: usize,
    at: Duration,
    is_copy: bool,
) -> (u16, String) {
    let text = world.requests[request].body["statusHistory"]["comment"].clone();
    let mut after = world.orders[number].now.clone();
    let comments = after.get_mut("comments").and_then(Value::as_array_mut).unwrap();
    let id = 100 * (number + 1) + comments.len();
    comments.insert(0, json!({"entity_id": id, "parent_id": FIRST_ORDER + number, "comment": text}));
    store(world, request, Owner::Order(number), after, (at, is_copy));
    (200, "true".to_owned())
}

/// Sets values of a product. In a store view a sale begins; a default option is written where nothing is.
pub fn set_values(
    world: &mut World,
    request: usize,
    (scope, number): (Scope, usize),
    at: Duration,
    is_copy: bool,
) -> (u16, String) {
    let sent = &world.requests[request].body["product"][LIST];
    let mut sent: Vec<Value> = sent.as_array().cloned().unwrap_or_default();
    let mut after = world.products[number].now.clone();
    if value(after.get(LIST), WITH_DEFAULT.0).is_none()
        && !sent.iter().any(|own| own["attribute_code"] == WITH_DEFAULT.0)
    {
        set(&mut after, Scope::All, &of(WITH_DEFAULT.0, WITH_DEFAULT.1));
    }
    if scope == Scope::View && value(after.get(LIST), "special_price").is_some() {
        sent.push(of("special_from_date", "2027-01-15 00:00:00"));
    }
    for own in &sent {
        // Of one value for all store views it is the same call.
        let is_global = own["attribute_code"] == "x_maker" || own["attribute_code"] == WITH_DEFAULT.0;
        set(&mut after, if is_global { Scope::All } else { scope }, own);
    }
    let shown = product_shown(&after, scope);
    store(world, request, Owner::Product(number), after, (at, is_copy));
    (200, shown.to_string())
}

/// Sets one value, or takes it away.
pub fn set(product: &mut Stored, scope: Scope, own: &Value) {
    let list = product.get_mut(scope.list()).and_then(Value::as_array_mut).unwrap();
    list.retain(|value| value["attribute_code"] != own["attribute_code"]);
    if !own["value"].is_null() {
        list.push(own.clone());
    }
}

/// Takes note of a write that took effect, and of all that it changed.
fn store(world: &mut World, request: usize, owner: Owner, after: Stored, (at, is_copy): (Duration, bool)) {
    let before = std::mem::replace(&mut world.kept_mut(owner).now, after.clone());
    let (old, new) = (fields(&before), fields(&after));
    let paths = new.keys().chain(old.keys().filter(|path| !new.contains_key(*path)));
    let changed: Vec<Changed> = paths
        .filter(|path| old.get(*path) != new.get(*path))
        .map(|path| {
            let value = |of: Option<&&Value>| of.map(|value| (*value).clone());
            let (before, after) = (value(old.get(path)), value(new.get(path)));
            Changed { request, at, path: path.clone(), before, after }
        })
        .collect();
    rules::goods::check_effect(world, request, owner, (at, is_copy), &changed);
    world.changed.extend(changed);
    world.effects.push(Effect { at, request, is_copy });
    world.kept_mut(owner).changed(&before, at, Writer::Ours(request));
}

/// The members of an address that a call sends, by their paths; as a read shows it, what is empty is not there.
pub fn address_fields(address: &Map<String, Value>) -> Vec<(String, Option<Value>)> {
    let id = address.get("entity_id").map(ToString::to_string).unwrap_or_default();
    let member = |(name, value): (&String, &Value)| {
        let value = (!value.is_null() && *value != "").then(|| value.clone());
        (format!("{id}.{name}"), value)
    };
    address.iter().filter(|(name, _)| *name != "id" && *name != "region_code").map(member).collect()
}

/// The orders and the products that an answer shows, these with the values of a scope. The echo of an address shows nothing.
pub fn shown_by(call: &Call, body: &Value) -> Vec<(Owner, Scope, Stored)> {
    let items = || body["items"].as_array().into_iter().flatten();
    let number =
        |shown: &Value, id: &str, first: usize| usize::try_from(shown[id].as_u64()?).ok()?.checked_sub(first);
    let order = |shown: &Value| {
        Some((Owner::Order(number(shown, "entity_id", FIRST_ORDER)?), Scope::All, order_of(shown)?))
    };
    let product = |shown: &Value, scope| {
        Some((Owner::Product(number(shown, "id", FIRST_PRODUCT)?), scope, product_of(shown, scope)?))
    };
    match call {
        Call::Order(_) => order(body).into_iter().collect(),
        Call::Orders(_) => items().filter_map(order).collect(),
        Call::Products(scope, _) => items().filter_map(|shown| product(shown, *scope)).collect(),
        Call::SetValues(scope, _) => product(body, *scope).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether a write to its order or product is what a record asks for: it has its value, or speaks of it. Of those that undo there is
/// one in a plan.
pub fn is_made_by(action: &Action, sent: &Sent) -> bool {
    match (&sent.call, action) {
        (Call::SaveAddress(_, id), Action::Correct(sides, field, value)) => {
            let is_of = |side: &Side| *id % 10 == *side as i64;
            sides.iter().any(is_of) && sent.body["entity"][*field] == **value
        }
        (Call::Comment(_), Action::Correct(_, _, value)) => {
            let text = sent.body["statusHistory"]["comment"].as_str().unwrap_or_default();
            text.contains(&format!("→ {value}"))
        }
        (Call::SetValues(scope, _), Action::Back(back)) => *scope == back.scope,
        (Call::SaveAddress(..) | Call::Comment(_), Action::Back(_)) => true,
        (Call::SetValues(scope, _), Action::Value(of, code, wanted)) => {
            let sent = value(sent.body["product"].get(LIST), code);
            scope == of && sent.is_some_and(|sent| sent.as_str() == wanted.as_deref())
        }
        _ => false,
    }
}
