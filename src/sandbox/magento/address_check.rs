//! What the address book refuses.

use serde_json::Value;

use super::countries;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::Document;

/// Street lines of an address, unless the shop is set up for more.
const STREET_LINES: usize = 2;

/// Countries whose addresses need no postcode; Lebanon is this shop's own setting, the others are Magento's.
const WITHOUT_POSTCODE: &[&str] = &["HK", "IE", "LB", "MO", "PA"];

/// Refuses an address that cannot be stored as `merged`.
pub fn check(merged: &Document) -> Result<(), ApiError> {
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
    check_lines(lines)
}

/// Refuses an address as it is stored. Magento saves the stored addresses before it looks at those sent: with one that
/// it does not take no PUT of the customer succeeds, not even one that corrects or removes it.
pub fn check_stored(address: &Document) -> Result<(), ApiError> {
    let labels = [
        ("firstname", "First Name"),
        ("lastname", "Last Name"),
        ("street", "Street Address"),
        ("city", "City"),
        ("telephone", "Phone Number"),
        ("postcode", "Zip/Postal Code"),
    ];
    let blanks: Vec<String> = labels
        .into_iter()
        .filter(|(name, _)| is_blank(address.get(*name)) && is_required(name, address))
        .map(|(_, label)| format!("\"{label}\" is a required value."))
        .collect();
    if blanks.is_empty() {
        check_lines(address.get("street").and_then(Value::as_array).map_or(0, Vec::len))
    } else {
        Err(ApiError::new(400, &blanks.join("\n")))
    }
}

fn check_lines(lines: usize) -> Result<(), ApiError> {
    if lines > STREET_LINES {
        return Err(ApiError::new(400, "\"Street Address\" cannot contain more than 2 lines."));
    }
    Ok(())
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
