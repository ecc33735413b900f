//! Foreign editors: people and programs that change the same profiles at any moment.

use std::time::Duration;

use serde_json::{Value, json};

use super::action::GoodsKind;
use super::customers::{Stored, make_last_default};
use super::goods::{self, Scope};
use super::random::Random;
use super::world::Owner;

/// When an editor acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// At this time.
    At(Duration),
    /// Just before the request with this number is processed.
    Before(usize),
    /// Just after it.
    After(usize),
}

/// What an editor does.
#[derive(Debug, Clone)]
pub struct Edit {
    /// When.
    pub moment: Moment,
    /// Whose fields.
    pub owner: Owner,
    /// What.
    pub act: Act,
}

/// One change.
#[derive(Debug, Clone)]
pub enum Act {
    /// Sets a field of an address, counted from 0.
    Address(usize, &'static str, String),
    /// Sets a field of the customer.
    Profile(&'static str, String),
    /// Adds an address.
    Add(Value),
    /// Removes an address, counted from 0.
    Remove(usize),
    /// Adds an address that is the default. No record of ours asks for the same: the two could not be distinguished.
    AddDefault(Value),
    /// Adds a comment to an order.
    Comment(String),
    /// Sets a value of a product.
    Value(Scope, &'static str, String),
}

impl Edit {
    /// A random one. `similar` are addresses that our own commands add: an editor adds one that is almost the same.
    pub fn random(random: &mut Random, customers: usize, similar: &[Value], number: usize) -> Self {
        let request = usize::try_from(random.below(8)).unwrap();
        let moment = match random.below(3) {
            0 => Moment::At(random.millis(0, 20_000)),
            1 => Moment::Before(request),
            _ => Moment::After(request),
        };
        let customer = usize::try_from(random.below(customers as u64)).unwrap();
        let address = usize::try_from(random.below(2)).unwrap();
        let value = format!("Foreign {number}");
        let act = match random.below(11) {
            0 | 1 => Act::Address(address, "telephone", value),
            2 | 3 => Act::Address(address, "city", value),
            4 => Act::Profile("firstname", value),
            5 => Act::Profile("lastname", value),
            6 if !similar.is_empty() => {
                let mut like = similar[usize::try_from(random.below(similar.len() as u64)).unwrap()].clone();
                like["telephone"] = json!(value);
                Act::Add(like)
            }
            7 => Act::Remove(address),
            8 | 9 => Act::AddDefault(json!({"street": [value], "city": "Elsewhere", "telephone": "2"})),
            _ => Act::Add(json!({"street": [value], "city": "Elsewhere", "telephone": "1"})),
        };
        Self { moment, owner: Owner::Customer(customer), act }
    }

    /// A random one of an order or of a product.
    pub fn of_goods(random: &mut Random, kind: GoodsKind, count: usize, number: usize) -> Self {
        let request = usize::try_from(random.below(9)).unwrap();
        let moment = match random.below(3) {
            0 => Moment::At(random.millis(0, 60_000)),
            1 => Moment::Before(request),
            _ => Moment::After(request),
        };
        let owner = usize::try_from(random.below(count as u64)).unwrap();
        let value = format!("Foreign {number}");
        let (owner, act) = match kind {
            GoodsKind::Orders => {
                let at = usize::try_from(random.below(2)).unwrap();
                let act = match random.below(5) {
                    0 => Act::Comment(value),
                    1 => Act::Address(at, "telephone", value),
                    _ => Act::Address(at, random.pick(&["city", "company"]), value),
                };
                (Owner::Order(owner), act)
            }
            GoodsKind::Products => {
                let scope = random.pick(&[Scope::All, Scope::View]);
                (Owner::Product(owner), Act::Value(scope, random.pick(&["x_note", "x_text"]), value))
            }
        };
        Self { moment, owner, act }
    }

    /// Does it; `id` is for a new address. Whether it could be done.
    pub fn apply(&self, profile: &mut Stored, id: i64) -> bool {
        if let Act::Profile(name, value) = &self.act {
            profile.insert((*name).to_owned(), json!(value));
            return true;
        }
        if let Act::Value(scope, code, value) = &self.act {
            goods::set(profile, *scope, &json!({"attribute_code": code, "value": value}));
            return true;
        }
        if let (Act::Comment(text), Some(comments)) = (&self.act, profile.get_mut("comments")) {
            comments.as_array_mut().unwrap().insert(0, json!({"entity_id": id, "comment": text}));
            return true;
        }
        let Some(addresses) = profile.get_mut("addresses").and_then(Value::as_array_mut) else {
            return false;
        };
        match &self.act {
            Act::Address(at, name, value) => match addresses.get_mut(*at) {
                Some(address) => address[*name] = json!(value),
                None => return false,
            },
            Act::Add(address) | Act::AddDefault(address) => {
                let mut address = address.clone();
                address["id"] = json!(id);
                addresses.push(address);
                if let Act::AddDefault(_) = &self.act {
                    make_last_default(addresses);
                }
            }
            Act::Remove(at) if *at < addresses.len() => drop(addresses.remove(*at)),
            Act::Remove(_) | Act::Profile(..) | Act::Comment(_) | Act::Value(..) => return false,
        }
        true
    }
}
