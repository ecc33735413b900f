//! What is remembered between commands beside the snapshots: which customer a token or an email leads to, and the
//! addresses seen last, for completion.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{LockName, file_name};
use crate::config::{ServiceId, Settings};
use crate::context::Context;
use crate::exact_json;
use crate::failure::Failure;
use crate::plan::profile::diff::id_of;
use crate::plan::profile::stored::Profile;

/// Longest label, in characters.
const MAX_LABEL: usize = 40;

/// Keeps which customer a token or an email leads to, as a verified replacement has shown; a token as its hash.
pub fn save_customer(context: &Context, settings: &Settings, name: &LockName, customer: &str) {
    if load_customer(context, settings, name).as_deref() != Some(customer)
        && let Ok(directory) = customers(context, &settings.service_id())
    {
        // A help: what cannot be written is found out again.
        let _ = context.storage.replace(&directory.join(file_name(name.as_str())), customer.as_bytes());
    }
}

/// The key ([`Profile::customer_key`]) of the customer whom a token or an email led to.
pub fn load_customer(context: &Context, settings: &Settings, name: &LockName) -> Option<String> {
    let file = customers(context, &settings.service_id()).ok()?.join(file_name(name.as_str()));
    String::from_utf8(context.storage.read(&file).ok()?).ok()
}

/// Forgets what leads to a customer, or to any of this service.
pub fn forget_customers(context: &Context, service: &ServiceId, customer: Option<&str>) {
    let files = customers(context, service).ok().and_then(|directory| context.storage.list(&directory).ok());
    for file in files.into_iter().flatten() {
        let is_it = |customer: &str| context.storage.read(&file).is_ok_and(|key| key == customer.as_bytes());
        if customer.is_none_or(is_it) {
            let _ = context.storage.remove(&file);
        }
    }
}

fn customers(context: &Context, service: &ServiceId) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("customers").join(file_name(&service.to_string())))
}

/// An address by its id, and words to know it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedAddress {
    /// Id of the stored address.
    pub id: i64,
    /// First street line and city.
    pub label: String,
}

/// Keeps the ids of a profile's addresses in place of those seen before at this service
/// ([`crate::config::Settings::service_name`]); `is_named` says that an administrator named the customer. Only completion
/// needs them: what cannot be kept is forgotten.
pub fn save_addresses(context: &Context, service: &str, profile: &Profile, is_named: bool) {
    let addresses = profile.addresses().iter().filter_map(Value::as_object);
    let labels: Map<String, Value> = addresses
        .filter_map(|address| Some((id_of(address.get("id")?)?.to_string(), label(address).into())))
        .collect();
    let names: Vec<String> =
        ["id", "email"].into_iter().filter(|_| is_named).filter_map(|name| profile.text(name)).collect();
    if let Ok(path) = addresses_file(context, service) {
        let kept = exact_json::object([("customer", names.into()), ("addresses", Value::Object(labels))]);
        let _ = context.storage.replace(&path, kept.to_string().as_bytes());
    }
}

/// The addresses seen last at this service, none where nothing is kept, or where they are not those of `customer` (an id
/// or an email; without one, the token's own).
pub fn load_addresses(context: &Context, service: &str, customer: Option<&str>) -> Vec<CachedAddress> {
    let text = addresses_file(context, service).ok().and_then(|path| context.storage.read(&path).ok());
    let mut kept: Map<String, Value> =
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let names = kept.get("customer").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_asked = |name: &Value| {
        name.as_str().zip(customer).is_some_and(|(name, asked)| name.to_lowercase() == asked.to_lowercase())
    };
    let is_asked = if customer.is_some() { names.iter().any(is_asked) } else { names.is_empty() };
    if !is_asked {
        return Vec::new();
    }
    let labels = match kept.shift_remove("addresses") {
        Some(Value::Object(labels)) => labels,
        _ => Map::new(),
    };
    let remembered = |(id, label): (String, Value)| {
        Some(CachedAddress { id: id.parse().ok()?, label: label.as_str()?.to_owned() })
    };
    labels.into_iter().filter_map(remembered).collect()
}

fn addresses_file(context: &Context, service: &str) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("addresses").join(format!("{}.json", file_name(service))))
}

fn label(address: &Map<String, Value>) -> String {
    let street = address.get("street").and_then(|street| street.get(0)).and_then(Value::as_str);
    let city = address.get("city").and_then(Value::as_str);
    let words: Vec<&str> = street.into_iter().chain(city).collect();
    words.join(", ").chars().take(MAX_LABEL).collect()
}
