//! What is different in a Magento shop: its routes, the two ways in which a default address is shown, and what a PUT makes
//! of what it leaves out.

use std::time::Duration;

use serde_json::{Map, Value, json};
use url::Url;

use super::call::Call;
use super::customers::{DEFAULT, Stored, Writer, addresses, is_empty};
use super::goods::{self, Scope};
use super::states::State;
use super::world::{Effect, World};

/// The regions that the shop knows: id, code and name.
const REGIONS: [(i64, &str, &str); 2] = [(12, "CA", "California"), (43, "NY", "New York")];
/// Ids of carts begin here.
const FIRST_CART: usize = 100;

/// What a request calls. `owner` is the customer whose token it carries; without one it is the administrator's.
pub fn route(world: &World, method: &str, url: &Url, path: &[&str], owner: Option<usize>) -> Call {
    if let Some(call) = owner.is_none().then(|| of_goods(world, method, url, path)).flatten() {
        return call;
    }
    let known = |number: usize| (number < world.customers.len()).then_some(number);
    let id = |text: &str| known(text.parse::<usize>().ok()?.checked_sub(1)?).filter(|_| owner.is_none());
    let cart =
        |text: &str| known(text.parse::<usize>().ok()?.checked_sub(FIRST_CART)?).filter(|_| owner.is_none());
    let value = |of: &str| {
        let named = |(name, value): &(_, std::borrow::Cow<str>)| -> bool {
            let name: &std::borrow::Cow<str> = name;
            name.ends_with("[field]") && value == of
        };
        let (field, _) = url.query_pairs().find(named)?;
        let wanted = field.replace("[field]", "[value]");
        url.query_pairs().find(|(name, _)| *name == wanted).map(|(_, value)| value.into_owned())
    };
    let call = match (method, path) {
        ("GET", ["customers", "me"]) => owner.map(Call::Read),
        ("PUT", ["customers", "me"]) => owner.map(Call::Put),
        ("GET", ["customers", "search"]) if owner.is_none() => value("email").map(Call::Search),
        ("GET", ["customers", text]) => id(text).map(Call::Read),
        ("PUT", ["customers", text]) => id(text).map(Call::Put),
        ("DELETE", ["addresses", text]) if owner.is_none() => address(world, text),
        ("POST", ["customers", text, "carts"]) => id(text).map(Call::OpenCart),
        ("POST", ["carts", "mine"]) => owner.map(Call::OpenCart),
        ("GET", ["carts", "mine"]) => owner.map(Call::Cart),
        ("GET", ["carts", "mine", "items"]) => owner.map(Call::Items),
        ("POST", ["carts", "mine", "items"]) => owner.map(Call::Item),
        ("POST", ["carts", "mine", "estimate-shipping-methods"]) => owner.map(Call::Estimate),
        ("POST", ["carts", "mine", "shipping-information"]) => owner.map(Call::Ship),
        ("PUT", ["carts", "mine", "selected-payment-method"]) => owner.map(Call::Pay),
        ("GET", ["carts", "mine", "selected-payment-method"]) => owner.map(Call::Payment),
        ("GET", ["carts", "search"]) => value("customer_id").and_then(|text| id(&text)).map(Call::Carts),
        ("GET", ["carts", text]) => cart(text).map(Call::Cart),
        ("GET", ["carts", text, "items"]) => cart(text).map(Call::Items),
        ("POST", ["carts", text, "items"]) => cart(text).map(Call::Item),
        ("POST", ["carts", text, "estimate-shipping-methods"]) => cart(text).map(Call::Estimate),
        ("POST", ["carts", text, "shipping-information"]) => cart(text).map(Call::Ship),
        ("PUT", ["carts", text, "selected-payment-method"]) => cart(text).map(Call::Pay),
        ("GET", ["carts", text, "selected-payment-method"]) => cart(text).map(Call::Payment),
        ("POST", ["products", "attributes"]) => Some(Call::Create),
        ("POST", ["products", "attribute-sets", "attributes"]) => Some(Call::Assign(String::new())),
        ("GET", ["products", "attribute-sets", "sets", "list"]) => Some(Call::Sets("set")),
        ("GET", ["products", "attribute-sets", "groups", "list"]) => Some(Call::Sets("group")),
        ("GET", ["products", "attributes"]) => Some(Call::Members),
        ("POST", ["products", "attributes", code, "options"]) => Some(Call::AddOption((*code).to_owned())),
        ("PUT", ["products", "attributes", code]) => Some(Call::SetDefault((*code).to_owned())),
        ("GET", ["products", "attributes", code]) => Some(Call::Attribute((*code).to_owned())),
        ("GET", ["directory", "countries", code]) => Some(Call::Country((*code).to_owned())),
        ("GET", ["attributeMetadata", _, "custom"]) => Some(Call::CustomAttributes),
        _ => None,
    };
    call.unwrap_or(Call::Nothing)
}

/// What a request calls of orders and products: each is as many as there are customers.
fn of_goods(world: &World, method: &str, url: &Url, path: &[&str]) -> Option<Call> {
    let known = |number: usize| (number < world.customers.len()).then_some(number);
    let order = |id: &str| known(id.parse::<usize>().ok()?.checked_sub(goods::FIRST_ORDER)?);
    let scope = if url.path().contains("/all/V1/") { Scope::All } else { Scope::View };
    let wanted: Vec<String> = url
        .query_pairs()
        .filter(|(name, _)| name.ends_with("[filters][0][value]"))
        .flat_map(|(_, value)| value.split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let numbers = |name: fn(usize) -> String| {
        let is_wanted = |number: &usize| wanted.contains(&name(*number));
        (0..world.customers.len()).filter(is_wanted).collect::<Vec<_>>()
    };
    let id = |number: usize| (goods::FIRST_PRODUCT + number).to_string();
    Some(match (method, path) {
        ("GET", ["orders"]) => Call::Orders(numbers(goods::increment_id)),
        ("GET", ["orders", text]) => Call::Order(order(text)?),
        ("PUT", ["orders", text]) => Call::SaveAddress(order(text)?, 0),
        ("POST", ["orders", text, "comments"]) => Call::Comment(order(text)?),
        ("GET", ["store", "storeViews"]) => Call::StoreViews,
        ("GET", ["products"]) => {
            let by_sku = numbers(goods::sku);
            Call::Products(scope, if by_sku.is_empty() { numbers(id) } else { by_sku })
        }
        ("PUT", ["products", text]) => {
            Call::SetValues(scope, (0..world.customers.len()).find(|number| goods::sku(*number) == *text)?)
        }
        _ => return None,
    })
}

/// The removal of an address: whose it is or was, an id says alone.
fn address(world: &World, id: &str) -> Option<Call> {
    let id = id.parse().ok()?;
    let had = |customer: &super::customers::Customer| {
        customer.past.iter().any(|(_, past)| super::customers::ids(past).contains(&id))
    };
    Some(Call::Remove(world.customers.iter().position(had)?, id))
}

/// Removes an address, and nothing else.
pub fn remove(
    world: &mut World,
    request: usize,
    (number, id): (usize, i64),
    at: Duration,
    is_copy: bool,
) -> (u16, String) {
    let customer = &mut world.customers[number];
    let before = customer.now.clone();
    if !super::customers::ids(&before).contains(&id) {
        let parameters = json!({"fieldName": "addressId", "fieldValue": id});
        let message = "No such entity with %fieldName = %fieldValue";
        return (404, json!({"message": message, "parameters": parameters}).to_string());
    }
    if let Some(list) = customer.now.get_mut("addresses").and_then(Value::as_array_mut) {
        list.retain(|address| address["id"].as_i64() != Some(id));
    }
    customer.changed(&before, at, Writer::Ours(request));
    world.effects.push(Effect { at, request, is_copy });
    world.reach(State::AddressRemovedByCall);
    (200, "true".to_owned())
}

/// A profile as a read of now shows it, in either shop.
pub fn shown(world: &mut World, customer: usize, at: Duration) -> Value {
    let then = world.replica(at);
    let stored = &world.customers[customer];
    let is_ours = |(by, since): &(Writer, Duration)| {
        matches!(by, Writer::Ours(_)) && (then + Duration::from_nanos(1)..=at).contains(since)
    };
    let is_old = stored.writers.values().flatten().any(is_ours);
    let profile = stored.at(then);
    let shown = if world.is_magento { as_shown(profile) } else { json!({ "customer": profile }) };
    if is_old {
        world.reach(State::LaggingReplica);
    }
    shown
}

/// Adds an option to an attribute, which loses its default.
pub fn add_option(world: &mut World, code: &str, body: &Value) -> (u16, String) {
    let attribute = world.attributes.get_mut(code).unwrap();
    let label = &body["option"]["label"];
    let options = attribute["options"].as_array_mut().unwrap();
    if options.iter().any(|option| option["label"] == *label) {
        return (400, json!({"message": "the label is already exists"}).to_string());
    }
    let id = (100 + options.len()).to_string();
    options.push(json!({"label": label, "value": id}));
    attribute.insert("default_value".to_owned(), json!(""));
    (200, json!(id).to_string())
}

/// Sets the default option of an attribute.
pub fn set_default_option(world: &mut World, code: &str, body: &Value) -> (u16, String) {
    let default = body["attribute"]["default_value"].clone();
    world.attributes.get_mut(code).unwrap().insert("default_value".to_owned(), default);
    (200, "{}".to_owned())
}

/// Answers what only reads, and what opens a cart.
pub fn look_up(world: &mut World, call: &Call, at: Duration) -> (u16, String) {
    let nothing = || (404, json!({"message": "No such entity with %fieldName = %fieldValue"}));
    let cart = |customer: &usize| json!({"id": FIRST_CART + customer, "is_active": true, "customer": {"id": customer + 1}, "items": items_of(world, *customer)});
    let (status, body) = match call {
        Call::Search(email) => {
            let is_it = |customer: &super::customers::Customer| customer.now["email"] == email.as_str();
            let found = world.customers.iter().position(is_it);
            let items: Vec<Value> = found.map(|customer| shown(world, customer, at)).into_iter().collect();
            (200, json!({"total_count": items.len(), "items": items}))
        }
        Call::OpenCart(customer) => {
            world.customers[*customer].has_cart = true;
            (200, json!(FIRST_CART + customer))
        }
        Call::Cart(customer) | Call::Payment(customer) | Call::Items(customer)
            if !world.customers[*customer].has_cart =>
        {
            nothing()
        }
        Call::Cart(customer) => (200, cart(customer)),
        Call::Carts(customer) => {
            let items: Vec<Value> =
                world.customers[*customer].has_cart.then(|| cart(customer)).into_iter().collect();
            (200, json!({"total_count": items.len(), "items": items}))
        }
        Call::Estimate(_) => (200, json!([{"carrier_code": "flatrate", "method_code": "flatrate"}])),
        Call::Items(customer) => (200, items_of(world, *customer)),
        Call::Payment(customer) => {
            let paid = world.effects.iter().rev().map(|effect| &world.requests[effect.request]);
            let last = paid.into_iter().find(|sent| sent.call == Call::Pay(*customer));
            (200, last.map_or(json!({"method": null}), |sent| sent.body["method"].clone()))
        }
        Call::Attribute(code) => match world.attributes.get(code) {
            Some(attribute) => {
                let mut attribute = attribute.clone();
                attribute.insert("attribute_id".to_owned(), json!(7));
                (200, Value::Object(attribute))
            }
            None => nothing(),
        },
        Call::Sets(what) => {
            let item =
                json!({format!("attribute_{what}_id"): 4, format!("attribute_{what}_name"): "Default"});
            (200, json!({"total_count": 1, "items": [item]}))
        }
        Call::Members => {
            let member = |code: &String| {
                let mut shown = world.attributes.get(code).cloned().unwrap_or_default();
                shown.insert("attribute_id".to_owned(), json!(7));
                shown.insert("attribute_code".to_owned(), json!(code));
                Value::Object(shown)
            };
            let items: Vec<Value> = world.assigned.iter().map(member).collect();
            (200, json!({"total_count": items.len(), "items": items}))
        }
        Call::Country(code) if code == "US" => {
            let regions =
                REGIONS.map(|(id, code, name)| json!({"id": id.to_string(), "code": code, "name": name}));
            (200, json!({"id": code, "available_regions": regions.to_vec()}))
        }
        Call::Country(code) => (200, json!({ "id": code })),
        Call::Order(order) => (200, goods::read_orders(world, &[*order], at).remove(0)),
        Call::Orders(orders) => {
            let items = goods::read_orders(world, orders, at);
            (200, json!({"total_count": items.len(), "items": items}))
        }
        Call::Products(scope, products) => {
            let items = goods::read_products(world, *scope, products, at);
            (200, json!({"total_count": items.len(), "items": items}))
        }
        Call::StoreViews => {
            let view =
                |id, code| json!({"id": id, "code": code, "name": code, "website_id": u8::from(id > 0)});
            (200, json!([view(0, "admin"), view(1, "default"), view(2, "fr")]))
        }
        _ => nothing(),
    };
    (status, body.to_string())
}

/// The items of a cart: what was added to it, a line for each SKU.
fn items_of(world: &World, customer: usize) -> Value {
    let added = world.effects.iter().map(|effect| &world.requests[effect.request]);
    let mut lines: Vec<(&Value, u64)> = Vec::new();
    for item in added.filter(|sent| sent.call == Call::Item(customer)).map(|sent| &sent.body["cartItem"]) {
        let qty = item["qty"].as_u64().unwrap_or_default();
        match lines.iter_mut().find(|(sku, _)| **sku == item["sku"]) {
            Some((_, total)) => *total += qty,
            None => lines.push((&item["sku"], qty)),
        }
    }
    let line = |(at, (sku, qty)): (usize, (&Value, u64))| json!({"item_id": at + 1, "sku": sku, "qty": qty, "quote_id": FIRST_CART + customer});
    lines.into_iter().enumerate().map(line).collect()
}

/// A stored profile as GET and the reply to a PUT show it: the default address at the top as well, `region_id` in every
/// address.
pub fn as_shown(profile: &Stored) -> Value {
    let mut shown = profile.clone();
    let default = addresses(profile).find(|address| address[DEFAULT] == true);
    if let Some(id) = default.and_then(|address| address["id"].as_i64()) {
        shown.insert(DEFAULT.to_owned(), json!(id.to_string()));
    }
    for address in shown.get_mut("addresses").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(members) = address.as_object_mut() else { continue };
        members.retain(|name, value| name != DEFAULT || *value == true);
        members.entry("region_id").or_insert(json!(0));
        members.entry("region").or_insert(json!({"region_code": null, "region": null, "region_id": 0}));
    }
    Value::Object(shown)
}

/// A profile in one form, for comparisons of what was shown with what is sent: the default is a flag of its address, and
/// what stands for nothing is left out.
pub fn plain(profile: &Stored) -> Stored {
    let mut plain = profile.clone();
    let top = plain.shift_remove(DEFAULT).and_then(|id| as_id(&id));
    plain.shift_remove("default_shipping");
    let list = plain.get_mut("addresses").and_then(Value::as_array_mut);
    let Some(list) = list else { return plain };
    set_default(list, top);
    for address in list {
        let Some(members) = address.as_object_mut() else { continue };
        members.shift_remove("default_shipping");
        members.retain(|_, value| !is_empty(value));
    }
    plain.retain(|name, value| name == "addresses" || !is_empty(value));
    plain
}

/// What a PUT means: its flags and its top level say which address is the default, an address that is not mentioned is
/// deleted, and a list that is left out keeps all. Where neither says it, an administrator's PUT keeps the default, and a
/// customer's own loses it.
pub fn as_stored(body: &Stored, before: &Stored, is_own: bool) -> Stored {
    let mut stored = body.clone();
    let sent = stored.shift_remove(DEFAULT);
    let top = sent.as_ref().and_then(as_id);
    stored.shift_remove("default_shipping");
    if let Some(list) = stored.get_mut("addresses").and_then(Value::as_array_mut) {
        let is_refused = |id: i64| {
            list.iter().any(|address| address["id"].as_i64() == Some(id) && address[DEFAULT] == false)
        };
        let default = addresses(before).find(|address| address[DEFAULT] == true);
        let remembered = default.and_then(|address| address["id"].as_i64()).filter(|id| !is_refused(*id));
        set_default(list, top.or(remembered.filter(|_| !is_own && sent.is_none())));
        for address in list {
            let Some(members) = address.as_object_mut() else { continue };
            members.shift_remove("default_shipping");
            // A flag that is not sent is taken from the stored address otherwise.
            members.entry(DEFAULT).or_insert(json!(false));
            keep_region(members);
            members.retain(|name, value| name == "id" || !value.is_null());
        }
    } else {
        stored.shift_remove("addresses");
    }
    // A null keeps the stored value; an empty text clears it.
    stored.retain(|name, value| !value.is_null() || !before.contains_key(name));
    stored
}

/// The region is the one that its id names, at the top or else within; without one it is lost, but for its text.
fn keep_region(address: &mut Map<String, Value>) {
    let object = address.get("region").filter(|region| !region.is_null());
    let within = || object.map(|region| region.get("region_id").and_then(as_id).unwrap_or_default());
    let Some(id) = address.get("region_id").and_then(as_id).or_else(within) else { return };
    let region = if let Some((_, code, name)) = REGIONS.into_iter().find(|(own, ..)| *own == id) {
        json!({"region_code": code, "region": name, "region_id": id})
    } else {
        let text = object.map(|region| &region["region"]).filter(|text| id == 0 && **text != "");
        json!({"region_code": text, "region": text, "region_id": id})
    };
    address.insert("region".to_owned(), region);
    address.insert("region_id".to_owned(), json!(id));
}

fn set_default(list: &mut [Value], top: Option<i64>) {
    let flagged = list.iter().rposition(|address| address[DEFAULT] == true);
    let by_id = top.and_then(|id| list.iter().position(|address| address["id"].as_i64() == Some(id)));
    let default = flagged.or(by_id);
    for (at, address) in list.iter_mut().enumerate() {
        let Some(members) = address.as_object_mut() else { continue };
        members.shift_remove(DEFAULT);
        if Some(at) == default {
            members.insert(DEFAULT.to_owned(), json!(true));
        }
    }
}

fn as_id(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}
