//! The service: where a request leads, and what comes of it. The marketplace's routes are here, those of a Magento shop in
//! [`super::magento`].

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::call::{ADMIN, Call};
use super::customers::{Stored, Writer};
use super::faults::Quirk;
use super::goods;
use super::magento;
use super::notation;
use super::rules;
use super::states::State;
use super::world::{Effect, World};

/// A path below the base URL, from the version on.
pub fn route(world: &World, method: &str, url: &Url, token: &str) -> Call {
    let owner = world.customers.iter().position(|customer| customer.tokens.iter().any(|own| own == token));
    let path: Vec<&str> = url.path().split('/').skip_while(|part| *part != "V1").skip(1).collect();
    if world.is_magento {
        return magento::route(world, method, url, &path, owner.filter(|_| token != ADMIN));
    }
    let call = match (method, path.as_slice()) {
        ("GET", ["storeview", "default", "customer", "profile"]) => owner.map(Call::Read),
        ("PUT", ["storeview", "default", "customer", "profile"]) => owner.map(Call::Put),
        ("POST", ["storeview", "default", "user", "quote", "item"]) => owner.map(Call::Item),
        ("POST", ["storeview", "default", "user", "quote", "shipping-information"]) => owner.map(Call::Ship),
        ("POST", ["admin", "product", "attribute", ""]) => Some(Call::Create),
        _ => None,
    };
    call.unwrap_or(Call::Nothing)
}

/// Processes a request.
pub fn serve(world: &mut World, request: usize, at: Duration, is_copy: bool) -> (u16, String) {
    let sent = &world.requests[request];
    let (call, body) = (sent.call.clone(), sent.body.clone());
    if let (Quirk::Refuses(percent), true) = (world.faults.quirk, call.is_write())
        && world.random.chance(percent)
    {
        return (400, r#"{"message":"It cannot be saved."}"#.to_owned());
    }
    let taken = |world: &mut World, reply: &str| {
        world.effects.push(Effect { at, request, is_copy });
        (200, reply.to_owned())
    };
    match call {
        Call::Read(_) if world.faults.has_no_read => (405, r#"{"message":"Not allowed."}"#.to_owned()),
        Call::Read(customer) => (200, read(world, customer, at)),
        Call::Put(customer) => replace(world, request, customer, at, is_copy),
        Call::Remove(customer, id) => magento::remove(world, request, (customer, id), at, is_copy),
        Call::Create => {
            let code = body["attribute"]["attribute_code"].as_str().unwrap_or_default().to_owned();
            if world.attributes.contains_key(&code) {
                return (400, r#"{"message":"Attribute with the same code already exists."}"#.to_owned());
            }
            world.attributes.insert(code, body["attribute"].as_object().cloned().unwrap_or_default());
            taken(world, r#"{"attribute_id":7}"#)
        }
        Call::Item(customer) if world.is_magento && !world.customers[customer].has_cart => {
            (404, r#"{"message":"No such entity with %fieldName = %fieldValue"}"#.to_owned())
        }
        Call::Item(_) => taken(world, r#"{"ok":true}"#),
        Call::Assign(_) => {
            let code = body["attributeCode"].as_str().unwrap_or_default().to_owned();
            world.assigned.insert(code);
            taken(world, "1")
        }
        Call::Ship(_) => taken(world, r#"{"payment_methods":[],"totals":{}}"#),
        Call::Pay(_) => taken(world, "\"1\""),
        Call::SaveAddress(order, _) => goods::save_address(world, request, order, at, is_copy),
        Call::Comment(order) => goods::comment(world, request, order, at, is_copy),
        Call::SetValues(scope, product) => goods::set_values(world, request, (scope, product), at, is_copy),
        Call::AddOption(code) => magento::add_option(world, &code, &body),
        Call::SetDefault(code) => magento::set_default_option(world, &code, &body),
        other => magento::look_up(world, &other, at),
    }
}

/// What a read shows: what one of the replicas has of the profile, or what the cache still has of the last answer.
fn read(world: &mut World, customer: usize, at: Duration) -> String {
    if let (Some(lifetime), Some((since, answer))) = (world.faults.cache, &world.cached)
        && at.saturating_sub(*since) < lifetime
    {
        let answer = answer.clone();
        let shown: Value = serde_json::from_str(&answer).unwrap();
        let own = &world.customers[customer].now["id"];
        if [&shown["id"], &shown["customer"]["id"]].iter().all(|id| *id != own) {
            world.reach(State::OtherCustomer);
        }
        return answer;
    }
    let answer = magento::shown(world, customer, at).to_string();
    world.cached = Some((at, answer.clone()));
    answer
}

fn replace(world: &mut World, request: usize, number: usize, at: Duration, is_copy: bool) -> (u16, String) {
    let refused = |status, message: &str| (status, json!({ "message": message }).to_string());
    let sent = &world.requests[request];
    let Some(mut body) = sent.body["customer"].as_object().cloned() else {
        return refused(400, "no customer");
    };
    if world.is_magento {
        let is_own = world.runs[sent.run].token.is_some();
        body = magento::as_stored(&body, &world.customers[number].now, is_own);
    }
    let before = world.customers[number].now.clone();
    let mut after = before.clone();
    let mut added = Vec::new();
    for (name, value) in body {
        let value = match (name.as_str(), value.as_array()) {
            ("addresses", Some(list)) => {
                let next = &mut world.next_address;
                match addresses_after(&before["addresses"], list, next, &mut added, world.is_magento) {
                    Some(list) => Value::Array(list),
                    None => return refused(404, "No such entity with %fieldName = %fieldValue"),
                }
            }
            _ => value,
        };
        after.insert(name, value);
    }
    after.insert("id".to_owned(), before["id"].clone());
    after.insert("updated_at".to_owned(), json!(format!("{}", at.as_millis())));
    rules::effect::check(world, request, (number, is_copy), &before, &after, &added);
    world.effects.push(Effect { at, request, is_copy });
    let as_sent = after.clone();
    quirk(world, &mut after);
    let customer = &mut world.customers[number];
    customer.now = as_sent;
    customer.changed(&before, at, Writer::Ours(request));
    if customer.now != after {
        let as_sent = std::mem::replace(&mut customer.now, after);
        customer.past.pop();
        customer.changed(&as_sent, at, Writer::Service);
    }
    if world.is_magento {
        // The reply is read from the database after the save.
        return (200, magento::as_shown(&world.customers[number].now).to_string());
    }
    (200, "{\"ok\":true}".to_owned())
}

/// The list after a PUT: all or nothing; a known id gets the fields that were sent, no id is a new address.
fn addresses_after(
    before: &Value,
    sent: &[Value],
    next: &mut i64,
    added: &mut Vec<i64>,
    ignores_zero: bool,
) -> Option<Vec<Value>> {
    let mut after = Vec::new();
    for address in sent {
        let mut fields = address.as_object()?.clone();
        if ignores_zero && fields.get("id").is_some_and(|id| id.is_null() || *id == 0) {
            fields.shift_remove("id");
        }
        if fields.contains_key("id") {
            let stored = before.as_array()?.iter().find(|stored| stored["id"] == fields["id"])?;
            let mut merged = stored.as_object()?.clone();
            merged.extend(fields);
            after.push(Value::Object(merged));
        } else {
            fields.shift_insert(0, "id".to_owned(), json!(*next));
            added.push(*next);
            *next += 1;
            after.push(Value::Object(fields));
        }
    }
    Some(after)
}

/// Stores something else than was sent.
fn quirk(world: &mut World, after: &mut Stored) {
    let before = after.clone();
    if world.faults.quirk == Quirk::Notation {
        notation::rewrite(after);
    }
    let drops = matches!(world.faults.quirk, Quirk::Drops(percent) if world.random.chance(percent));
    let Some(list) = after.get_mut("addresses").and_then(Value::as_array_mut) else { return };
    match world.faults.quirk {
        Quirk::Rewrites => {
            for address in list {
                if let Some(city) = address["city"].as_str() {
                    address["city"] = json!(city.to_uppercase());
                }
            }
        }
        Quirk::Drops(_) if drops && list.len() > 1 => drop(list.remove(0)),
        Quirk::Renumbers => {
            for address in list {
                address["id"] = json!(world.next_address);
                world.next_address += 1;
            }
        }
        _ => {}
    }
    let state = match world.faults.quirk {
        Quirk::Drops(_) => State::AddressDropped,
        Quirk::Renumbers => State::AddressesRenumbered,
        _ => State::ValueRewritten,
    };
    if before != *after {
        world.reach(state);
    }
}
