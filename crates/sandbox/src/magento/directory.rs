//! Countries and their regions, and store views.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::call::Call;
use crate::reply::ApiError;
use crate::store::Database;
use storefront_core::check::country::Country;

/// A region of a country.
#[derive(Debug, serde::Deserialize)]
pub struct Region(pub i64, pub String, pub String);

/// Ids, codes and names of Magento, for a few countries only.
static REGIONS: LazyLock<BTreeMap<String, Vec<Region>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("regions.json")).unwrap_or_default());

/// Whether this is a country's code, in Magento's spelling.
pub fn exists(code: &str) -> bool {
    find(code).is_some()
}

/// The regions of a country, or none.
pub fn regions(country: &str) -> &'static [Region] {
    REGIONS.get(country).map_or(&[], Vec::as_slice)
}

/// The region with this id, in any country.
pub fn region(id: i64) -> Option<&'static Region> {
    REGIONS.values().flatten().find(|region| region.0 == id)
}

/// One country.
pub fn country(_: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let code = call.parameter(0);
    let country = find(code).ok_or_else(|| ApiError::new(404, "The country isn't available."))?;
    Ok(document(code, &country))
}

fn find(code: &str) -> Option<Country> {
    let is_code = code.len() == 2 && code.bytes().all(|letter| letter.is_ascii_uppercase());
    is_code.then(|| Country::find(code)).flatten()
}

fn document(code: &str, country: &Country) -> Value {
    let name = if code == "US" { "United States" } else { country.name };
    let mut document = json!({
        "id": code,
        "two_letter_abbreviation": code,
        "three_letter_abbreviation": country.alpha3,
        "full_name_locale": name,
        "full_name_english": name,
    });
    let regions = regions(code);
    if !regions.is_empty() {
        document["available_regions"] = regions
            .iter()
            .map(|Region(id, code, name)| json!({"id": id.to_string(), "code": code, "name": name}))
            .collect();
    }
    document
}

/// All store views, the administrators' own first.
pub fn store_views(records: &Database<'_>, _: Call) -> Result<Value, ApiError> {
    let mut views = vec![json!({"id": 0, "code": "admin", "name": "Admin"})];
    views.extend(records.store_views()?);
    for view in &mut views {
        let website = i32::from(view["id"] != 0);
        view["website_id"] = json!(website);
        view["store_group_id"] = json!(website);
        view["is_active"] = json!(1);
    }
    Ok(Value::from(views))
}
