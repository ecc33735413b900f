//! What the address book refuses.

use serde_json::Value;

use super::countries;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::Document;

/// Street lines of an address, unless the shop is set up for more.
const STREET_LINES: usize = 2;

/// Countries whose addresses need no postcode; Lebanon is this shop's own setting, the others are Magento's.
const WITHOUT_POSTCODE: &[&str] = &["HK", "IE", "LB", "MO", "PA"];

/// Refuses an address that cannot be stored as `merged`, of which `sent` was sent; `is_new` where nothing was stored.
pub fn check(merged: &Document, sent: &Document, is_new: bool) -> Result<(), ApiError> {
    check_stored_blanks(merged, sent, is_new)?;
    let lines = merged.get("street").and_then(Value::as_array).map_or(0, Vec::len);
    let mut missing: Vec<ApiError> = Vec::new();
    for name in ["firstname", "lastname", "street", "city", "telephone", "postcode"] {
        if is_blank(merged.get(name)) && is_required(name, merged) {
            missing.push(ApiError::required(name));
        }
    }
    let country = text(merged, "country_id");
    if country.is_empty() {
        missing.push(ApiError::required("countryId"));
    } else if !countries::exists(country) {
        missing.push(ApiError::invalid_value("countryId", &Value::from(country)));
    } else if let Some(refusal) = foreign_region(merged, country) {
        missing.push(refusal);
    }
    if let Some(refusal) = ApiError::all(missing) {
        return Err(refusal);
    }
    if lines > STREET_LINES {
        return Err(ApiError::new(400, "\"Street Address\" cannot contain more than 2 lines."));
    }
    Ok(())
}

/// A field that is stored empty and not sent is reported with its label.
fn check_stored_blanks(merged: &Document, sent: &Document, is_new: bool) -> Result<(), ApiError> {
    let labels = [
        ("firstname", "First Name"),
        ("lastname", "Last Name"),
        ("city", "City"),
        ("telephone", "Phone Number"),
        ("postcode", "Zip/Postal Code"),
    ];
    let blanks: Vec<String> = labels
        .into_iter()
        .filter(|(name, _)| !is_new && sent.get(*name).is_none_or(Value::is_null))
        .filter(|(name, _)| is_blank(merged.get(*name)) && is_required(name, merged))
        .map(|(_, label)| format!("\"{label}\" is a required value."))
        .collect();
    if blanks.is_empty() { Ok(()) } else { Err(ApiError::new(400, &blanks.join("\n"))) }
}

fn is_required(name: &str, address: &Document) -> bool {
    name != "postcode" || !WITHOUT_POSTCODE.contains(&text(address, "country_id"))
}

fn foreign_region(address: &Document, country: &str) -> Option<ApiError> {
    let id = address.get("region_id").and_then(Value::as_i64).filter(|id| *id != 0)?;
    let fits = countries::regions(country).iter().any(|region| region.0 == id);
    (!fits).then(|| ApiError::invalid_value("regionId", &Value::from(id.to_string())))
}

fn is_blank(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(lines)) => lines.iter().all(|line| is_blank(Some(line))),
        Some(_) => false,
    }
}

fn text<'address>(address: &'address Document, name: &str) -> &'address str {
    address.get(name).and_then(Value::as_str).unwrap_or_default()
}
