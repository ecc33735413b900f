//! Countries and their regions, and store views.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::call::Call;
use crate::plan::validate::country::Country;
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::Database;

/// A region of a country.
#[derive(Debug, serde::Deserialize)]
pub struct Region(pub i64, pub String, pub String);

/// Ids, codes and names as Magento ships them, of a few countries only.
static REGIONS: LazyLock<BTreeMap<String, Vec<Region>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("regions.json")).unwrap_or_default());

/// Countries without regions of their own that the list shows; any other known code is answered by itself.
const LISTED: &[&str] =
    &["AE", "BE", "ES", "FR", "GB", "IE", "IL", "IS", "IT", "JP", "LB", "NL", "PL", "PT", "SE"];

/// Whether this is a country, as Magento writes its code.
pub fn exists(code: &str) -> bool {
    find(code).is_some()
}

/// The regions of a country, none where there are none.
pub fn regions(country: &str) -> &'static [Region] {
    REGIONS.get(country).map_or(&[], Vec::as_slice)
}

/// The region with this id, in any country.
pub fn region(id: i64) -> Option<&'static Region> {
    REGIONS.values().flatten().find(|region| region.0 == id)
}

/// All countries that have regions here, and some others.
#[allow(clippy::unnecessary_wraps, reason = "every operation of the route table has this type")]
pub fn list(_: &Database<'_>, _: Call) -> Result<Reply, ApiError> {
    let mut codes: Vec<&str> = REGIONS.keys().map(String::as_str).chain(LISTED.iter().copied()).collect();
    codes.sort_unstable();
    Ok(Reply::ok(
        codes.into_iter().filter_map(|code| find(code).map(|country| document(code, &country))).collect(),
    ))
}

/// One country.
pub fn show(_: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let code = call.parameters.first().map_or("", String::as_str);
    let country = find(code).ok_or_else(|| ApiError::new(404, "The country isn't available."))?;
    Ok(Reply::ok(document(code, &country)))
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
pub fn store_views(records: &Database<'_>, _: Call) -> Result<Reply, ApiError> {
    let view = |id: &Value, code: &Value, name: &Value, website: i64| json!({"id": id, "code": code, "name": name, "website_id": website, "store_group_id": website, "is_active": 1});
    let mut views = vec![view(&json!(0), &json!("admin"), &json!("Admin"), 0)];
    let stored = records.store_views()?;
    views.extend(stored.iter().map(|stored| view(&stored["id"], &stored["code"], &stored["name"], 1)));
    Ok(Reply::ok(Value::from(views)))
}
