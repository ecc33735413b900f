//! Customers as the modelled service stores them, and who wrote what of them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The flag of the default address.
pub const DEFAULT: &str = "default_billing";

/// A customer object as it is stored.
pub type Stored = Map<String, Value>;

/// Who wrote something: one of our records, by its tag, or somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The request with this number.
    Ours(usize),
    /// A foreign editor.
    Foreign,
}

/// A customer, now and before.
#[derive(Debug)]
pub struct Customer {
    /// What leads to it.
    pub token: String,
    /// As it is.
    pub now: Stored,
    /// As it was, oldest first, for replicas that lag behind.
    pub past: Vec<(Duration, Stored)>,
    /// Who wrote a field last, and when.
    pub writers: BTreeMap<String, (Writer, Duration)>,
    /// Who added an address.
    pub creators: BTreeMap<i64, Writer>,
}

/// The list after a PUT: all or nothing; a known id gets the fields that were sent, no id is a new address.
pub fn addresses_after(
    before: &Value,
    sent: &[Value],
    next: &mut i64,
    added: &mut Vec<i64>,
) -> Option<Vec<Value>> {
    let mut after = Vec::new();
    for address in sent {
        let mut fields = address.as_object()?.clone();
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

impl Customer {
    /// Customer `number`, with two addresses.
    pub fn new(number: usize) -> Self {
        let id = number + 1;
        let address = |at: usize| {
            let number = id * 10 + at;
            let default = if at == 1 { r#""default_billing":true,"# } else { "" };
            format!(
                r#"{{"id":{number},"customer_id":{id},"street":["Main {number}"],"city":"Town {number}","postcode":"7500{at}",
                "country_id":"FR",{default}"telephone":"{number}","firstname":"A","lastname":"B","x_rate":1E{at}}}"#
            )
        };
        let text = format!(
            r#"{{"id":{id},"email":"c{id}@example.com","firstname":"First","lastname":"Last","x_weight":0.10,
            "updated_at":"0","addresses":[{},{}]}}"#,
            address(1),
            address(2)
        );
        let now: Stored = serde_json::from_str(&text).unwrap();
        Self {
            token: format!("token-of-customer-{id}"),
            past: vec![(Duration::ZERO, now.clone())],
            now,
            writers: BTreeMap::new(),
            creators: BTreeMap::new(),
        }
    }

    /// Takes note of who wrote what.
    pub fn changed(&mut self, before: &Stored, at: Duration, by: Writer) {
        let (old, new) = (fields(before), fields(&self.now));
        for (path, value) in &new {
            if old.get(path) != Some(value) && !path.starts_with("updated_at") {
                self.writers.insert(path.clone(), (by, at));
            }
        }
        for id in ids(&self.now) {
            if !ids(before).contains(&id) {
                self.creators.insert(id, by);
            }
        }
        self.past.push((at, self.now.clone()));
    }
}

/// Ids of the addresses of a profile, in their order.
pub fn ids(profile: &Stored) -> Vec<i64> {
    let addresses = profile.get("addresses").and_then(Value::as_array).into_iter().flatten();
    addresses.filter_map(|address| address["id"].as_i64()).collect()
}

/// Every field of a profile by its path, as it is to the digit: `firstname`, `11.city`. An address without an id has
/// none here.
pub fn fields(profile: &Stored) -> BTreeMap<String, &Value> {
    let mut fields = BTreeMap::new();
    for (name, value) in profile {
        if name != "addresses" {
            fields.insert(name.clone(), value);
        }
    }
    for address in profile.get("addresses").and_then(Value::as_array).into_iter().flatten() {
        let (Some(id), Some(members)) = (address["id"].as_i64(), address.as_object()) else { continue };
        for (name, value) in members {
            fields.insert(format!("{id}.{name}"), value);
        }
    }
    fields
}

/// Addresses with [`DEFAULT`].
pub fn defaults(profile: &Stored) -> Vec<i64> {
    let addresses = profile.get("addresses").and_then(Value::as_array).into_iter().flatten();
    addresses
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
