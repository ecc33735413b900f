//! Customers as the modelled service stores them, and who wrote what of them.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use serde_json::{Map, Value};

/// The flag of the default address.
pub const DEFAULT: &str = "default_billing";

/// A customer object as it is stored, in either interface; the default address has [`DEFAULT`].
pub type Stored = Map<String, Value>;

/// Who wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The request with this number, one of ours.
    Ours(usize),
    /// A foreign editor.
    Foreign,
    /// The service itself, which stores something else than was sent.
    Service,
}

/// A customer.
#[derive(Debug)]
pub struct Customer {
    /// What leads to it: two tokens.
    pub tokens: [String; 2],
    /// Its profile.
    pub kept: Kept,
    /// Whether there is an active cart.
    pub has_cart: bool,
}

/// Most of the simulation is about profiles.
impl Deref for Customer {
    type Target = Kept;

    fn deref(&self) -> &Kept {
        &self.kept
    }
}

impl DerefMut for Customer {
    fn deref_mut(&mut self) -> &mut Kept {
        &mut self.kept
    }
}

/// A profile, an order or a product, now and before.
#[derive(Debug)]
pub struct Kept {
    /// As it is.
    pub now: Stored,
    /// As it was, oldest first, for replicas that lag behind.
    pub past: Vec<(Duration, Stored)>,
    /// Who wrote a field, and when, oldest first.
    pub writers: BTreeMap<String, Vec<(Writer, Duration)>>,
    /// Who added an address.
    pub creators: BTreeMap<i64, Writer>,
}

impl Customer {
    /// Customer `number`, with two addresses.
    pub fn new(number: usize, is_magento: bool) -> Self {
        let id = number + 1;
        let address = |at: usize| {
            let number = id * 10 + at;
            let default = if at == 1 { r#""default_billing":true,"# } else { "" };
            let unlisted = if is_magento {
                r#""custom_attributes":[{"attribute_code":"x_door","value":"D1"}]"#.to_owned()
            } else {
                format!(r#""x_rate":1E{at}"#)
            };
            let (country, region) = if is_magento {
                (
                    "US",
                    r#""region":{"region_code":"CA","region":"California","region_id":12},"region_id":12,"#,
                )
            } else {
                ("FR", "")
            };
            format!(
                r#"{{"id":{number},"customer_id":{id},"street":["Main {number}"],"city":"Town {number}","company":"","vat_id":"V{number}","postcode":"7500{at}",
                "country_id":"{country}",{region}{default}"telephone":"{number}","firstname":"A","lastname":"B",{unlisted}}}"#
            )
        };
        let unlisted = if is_magento {
            r#""website_id":1,"extension_attributes":{"x_weight":0.10},"custom_attributes":[
                {"attribute_code":"x_since","value":"2020-02-29 00:00:00"},
                {"attribute_code":"x_limit","value":"1500.5000"},
                {"attribute_code":"x_note","value":"N"}]"#
        } else {
            r#""x_weight":0.10"#
        };
        let text = format!(
            r#"{{"id":{id},"email":"c{id}@example.com","firstname":"First","lastname":"Last",{unlisted},
            "updated_at":"0","addresses":[{},{}]}}"#,
            address(1),
            address(2)
        );
        let now: Stored = serde_json::from_str(&text).unwrap();
        Self {
            tokens: [format!("token-of-customer-{id}"), format!("second-token-of-customer-{id}")],
            kept: Kept::new(now),
            has_cart: number == 0,
        }
    }
}

impl Kept {
    /// As it is in the beginning.
    pub fn new(now: Stored) -> Self {
        Self {
            past: vec![(Duration::ZERO, now.clone())],
            now,
            writers: BTreeMap::new(),
            creators: BTreeMap::new(),
        }
    }

    /// Takes note of who wrote what.
    pub fn changed(&mut self, before: &Stored, at: Duration, by: Writer) {
        let (old, new) = (fields(before), fields(&self.now));
        for path in new.keys().chain(old.keys().filter(|path| !new.contains_key(*path))) {
            if old.get(path) != new.get(path) && !path.starts_with("updated_at") {
                self.writers.entry(path.clone()).or_default().push((by, at));
            }
        }
        for id in ids(&self.now) {
            if !ids(before).contains(&id) {
                self.creators.insert(id, by);
            }
        }
        self.past.push((at, self.now.clone()));
    }

    /// What was stored at a moment.
    pub fn at(&self, moment: Duration) -> &Stored {
        let past = self.past.iter().rev().find(|(since, _)| *since <= moment);
        past.map_or(&self.past[0].1, |(_, past)| past)
    }

    /// Who wrote a field last before a moment, and when.
    pub fn writer_at(&self, path: &str, moment: Duration) -> Option<(Writer, Duration)> {
        self.writers.get(path)?.iter().rev().find(|(_, at)| *at <= moment).copied()
    }

    /// Whether an editor or the service has changed this address.
    pub fn was_edited(&self, id: i64) -> bool {
        let prefix = format!("{id}.");
        let is_foreign = |(writer, _): &(Writer, Duration)| !matches!(writer, Writer::Ours(_));
        self.writers.iter().any(|(path, writers)| path.starts_with(&prefix) && writers.iter().any(is_foreign))
    }
}

/// The addresses of a profile.
pub fn addresses(profile: &Stored) -> impl Iterator<Item = &Value> {
    profile.get("addresses").and_then(Value::as_array).into_iter().flatten()
}

/// Ids of the addresses of a profile, in their order.
pub fn ids(profile: &Stored) -> Vec<i64> {
    addresses(profile).filter_map(|address| address["id"].as_i64()).collect()
}

/// The fields of a profile by their paths: `firstname`, `11.city`. Addresses without an id have none here.
pub fn fields(profile: &Stored) -> BTreeMap<String, &Value> {
    let mut fields = BTreeMap::new();
    for (name, value) in profile {
        if name != "addresses" {
            insert(&mut fields, name.clone(), value);
        }
    }
    for address in addresses(profile) {
        let (Some(id), Some(members)) = (address["id"].as_i64(), address.as_object()) else { continue };
        for (name, value) in members {
            insert(&mut fields, format!("{id}.{name}"), value);
        }
    }
    fields
}

/// Custom attributes are fields by their codes.
fn insert<'a>(fields: &mut BTreeMap<String, &'a Value>, path: String, value: &'a Value) {
    match value.as_array().filter(|_| path.ends_with("custom_attributes")) {
        Some(list) => {
            let code = |own: &Value| own["attribute_code"].as_str().unwrap_or_default().to_owned();
            fields.extend(list.iter().map(|own| (format!("{path}.{}", code(own)), &own["value"])));
        }
        None => drop(fields.insert(path, value)),
    }
}

/// What an address says, whatever its id is and whether it is a default: two with the same are one address twice.
pub fn content(address: &Value) -> Option<Stored> {
    let mut fields = address.as_object()?.clone();
    for name in ["id", "customer_id", DEFAULT, "default_shipping"] {
        fields.shift_remove(name);
    }
    fields.retain(|_, value| !is_empty(value));
    Some(fields)
}

/// What stands for nothing, in an interface that fills up what is left out.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.values().all(is_empty),
        Value::Bool(true) => false,
    }
}

/// Whether two values count as the same: a number and its text, and what stands for nothing. Texts are compared to the letter.
pub fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        None | Some(Value::Null) => Some(String::new()),
        Some(_) => None,
    };
    one == other || text(one).is_some_and(|one| text(other) == Some(one))
}

/// [`is_same`], where blanks around a text do not count: so a read is compared with what was written.
pub fn is_nearly(one: Option<&Value>, other: Option<&Value>) -> bool {
    let trimmed = |value: Option<&Value>| match value {
        Some(Value::String(text)) => Some(Value::from(text.trim())),
        value => value.cloned(),
    };
    is_same(trimmed(one).as_ref(), trimmed(other).as_ref())
}

/// Addresses with [`DEFAULT`].
pub fn defaults(profile: &Stored) -> Vec<i64> {
    addresses(profile)
        .filter(|address| address[DEFAULT] == true)
        .map(|address| address["id"].as_i64().unwrap_or_default())
        .collect()
}

/// Makes the last address the only default, as an editor does.
pub fn make_last_default(addresses: &mut [Value]) {
    let Some((last, others)) = addresses.split_last_mut() else { return };
    others
        .iter_mut()
        .filter(|other| other.get(DEFAULT).is_some())
        .for_each(|other| other[DEFAULT] = false.into());
    last[DEFAULT] = true.into();
}

/// Whether two addresses of a profile say the same.
pub fn has_twins(profile: &Stored) -> bool {
    let contents: Vec<_> = addresses(profile).filter_map(content).collect();
    contents.iter().enumerate().any(|(at, one)| contents[..at].contains(one))
}
