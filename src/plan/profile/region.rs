//! The region of an address: three fields in two places, which must never contradict each other, and the shop's list of
//! regions by code and name.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::diff::same_value;
use super::diff::{self, id_of};
use crate::failure::Failure;

const TEXTS: [&str; 2] = ["region", "region_code"];
const ID: &str = "region_id";

/// Takes what a draft says about the region out of it: `None` when it names none of `region`, `region_code` and
/// `region_id`, or all that it names is stored already. Whatever else the draft's region object has stays in the draft.
///
/// `stored` is the address that the draft changes, if it changes one.
///
/// # Errors
/// `usage` when the draft gives two different region ids.
pub fn take_region_patch(
    draft: &mut Map<String, Value>,
    stored: Option<&Map<String, Value>>,
    label: &str,
) -> Result<Option<Map<String, Value>>, Failure> {
    let is_stored = stored.is_some_and(|stored| is_unchanged(draft, stored));
    let outer_id = draft.shift_remove(ID);
    let mut patch = Map::new();
    if let Some(region) = draft.get_mut("region") {
        if let Value::Object(region) = region {
            for name in [TEXTS[1], TEXTS[0], ID] {
                patch.extend(region.shift_remove(name).map(|value| (name.to_owned(), value)));
            }
        }
        if region.as_object().is_none_or(Map::is_empty) {
            draft.shift_remove("region");
        }
    }
    if is_stored {
        return Ok(None);
    }
    if let Some(id) = outer_id {
        if patch.contains_key(ID) && !same_value(ID, patch.get(ID), Some(&id)) {
            return Err(
                Failure::usage(format!("{label}: region_id and region.region_id differ")).hint("set it once")
            );
        }
        patch.insert(ID.to_owned(), id);
    }
    Ok((!patch.is_empty()).then_some(patch))
}

/// Whether a stored address has the region that a draft names. A region id that the draft names in one place counts for
/// both.
fn is_unchanged(draft: &Map<String, Value>, stored: &Map<String, Value>) -> bool {
    let (region, stored_region) = (region_object(draft), region_object(stored));
    let inner_id = region.and_then(|region| region.get(ID));
    let outer_id = draft.get(ID).or(inner_id);
    let is_id = |id: Option<&Value>, stored: Option<&Value>| {
        id.is_none() || stored.is_none() || same_value(ID, id, stored)
    };
    let stored_ids = (stored.get(ID), stored_region.and_then(|region| region.get(ID)));
    // An id that is stored nowhere is no region.
    let is_new_id = stored_ids == (None, None) && !same_value(ID, outer_id.or(inner_id), None);
    let is_text = |name: &str| {
        let text = region.and_then(|region| region.get(name));
        text.is_none() || same_value(name, text, stored_region.and_then(|region| region.get(name)))
    };
    !is_new_id
        && is_id(outer_id, stored_ids.0)
        && is_id(inner_id.or(outer_id), stored_ids.1)
        && TEXTS.iter().all(|name| is_text(name))
}

/// Whether a draft names the text of a region.
pub fn names_text(draft: &Map<String, Value>) -> bool {
    region_object(draft).is_some_and(|region| TEXTS.iter().any(|name| is_text(region.get(*name))))
}

/// Whether an address has a region id other than 0.
pub fn has_id(address: &Map<String, Value>) -> bool {
    stored_id(address).is_some()
}

/// What `--no-region` says: both ids 0, texts null, as Magento writes it. The interface does not show it: ours.
pub fn none() -> Value {
    json!({"region_code": null, "region": null, "region_id": 0})
}

/// The region of a stored address as a draft names it: code, name and id, whether it has them or not.
pub fn as_object(address: &Value) -> Value {
    let inner = |name: &str| address.get("region").and_then(|region| region.get(name));
    let id = address.get(ID).or(inner(ID)).filter(|id| !id.is_null());
    let text = |name: &str| inner(name).cloned().unwrap_or_default();
    json!({"region_code": text("region_code"), "region": text("region"), ID: id.cloned().unwrap_or(0.into())})
}

/// Whether an address has a region: an id that is not 0, or a text that is not empty.
pub fn is_stored(address: &Map<String, Value>) -> bool {
    stored_id(address).is_some()
        || region_object(address).is_some_and(|region| TEXTS.iter().any(|name| is_text(region.get(*name))))
        || is_text(address.get("region"))
}

/// Applies what a draft says about the region to an address.
///
/// Naming any of the three sets it, makes the unnamed texts null, and keeps both region ids equal.
///
/// # Errors
/// `usage` when a region id is stored and the draft names none: the old id would contradict the new text.
pub fn apply(
    address: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    label: &str,
) -> Result<(), Failure> {
    let id = match patch.get(ID) {
        Some(id) => Some(id.clone()),
        None if stored_id(address).is_some() => return Err(id_needed(label)),
        None => None,
    };
    if !matches!(address.get("region"), Some(Value::Object(_))) {
        address.insert("region".to_owned(), Value::Object(Map::new()));
    }
    if let Some(Value::Object(region)) = address.get_mut("region") {
        for name in TEXTS {
            region.insert(name.to_owned(), patch.get(name).cloned().unwrap_or(Value::Null));
        }
        for (name, value) in patch {
            region.insert(name.clone(), value.clone());
        }
    }
    if let Some(id) = id {
        address.insert(ID.to_owned(), id);
    }
    Ok(())
}

/// Rejects a country change that does not also set the region.
///
/// # Errors
/// `usage`, with both ways out.
pub fn require_region_for_new_country(
    address: &Map<String, Value>,
    new_country: &Value,
    label: &str,
) -> Result<(), Failure> {
    if address.get("country_id") == Some(new_country) || !is_stored(address) {
        return Ok(());
    }
    Err(Failure::usage(format!("{label}: the country changes but the region does not"))
        .hint("set --region-id (with --region, --region-code) or --no-region"))
}

fn id_needed(label: &str) -> Failure {
    Failure::usage(format!("{label}: the stored region has an id, and the new region names none"))
        .hint("add --region-id, or use --no-region; --region-id 0 stores the name without an id")
}

fn stored_id(address: &Map<String, Value>) -> Option<&Value> {
    let inner = region_object(address).and_then(|region| region.get(ID));
    [address.get(ID), inner].into_iter().flatten().find(|id| match id {
        Value::Null => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty() && text != "0",
        _ => true,
    })
}

fn region_object(address: &Map<String, Value>) -> Option<&Map<String, Value>> {
    address.get("region").and_then(Value::as_object)
}

fn is_text(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// A region of a country.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its id at the service.
    pub id: i64,
    /// Its code, such as `CA`.
    pub code: String,
    /// Its name.
    pub name: String,
}

/// The regions of the countries that were read so far.
#[derive(Debug, Clone, Default)]
pub struct RegionDirectory {
    countries: HashMap<String, Vec<Region>>,
}

impl RegionDirectory {
    /// Whether the regions of a country were read.
    pub fn knows(&self, country: &str) -> bool {
        self.countries.contains_key(country)
    }

    /// The regions of a country; none where it was not read.
    pub fn regions(&self, country: &str) -> &[Region] {
        self.countries.get(country).map_or(&[], Vec::as_slice)
    }

    /// Takes the reply to a read of a country: `{"available_regions": [{"id", "code", "name"}]}`.
    pub fn insert(&mut self, country: &str, reply: &Value) {
        let region = |region: &Value| {
            let text = |name: &str| region.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            Some(Region { id: region.get("id").and_then(id_of)?, code: text("code"), name: text("name") })
        };
        let regions = reply.get("available_regions").and_then(Value::as_array).into_iter().flatten();
        self.countries.insert(country.to_owned(), regions.filter_map(region).collect());
    }

    /// The countries whose regions a draft names by code or name alone.
    pub fn needed(draft: &Map<String, Value>, stored: &Map<String, Value>) -> Vec<String> {
        let mut countries: Vec<String> = diff::address_list(draft)
            .iter()
            .filter_map(Value::as_object)
            .filter(|address| names_only_text(address))
            .filter_map(|address| country_of(address, stored))
            .collect();
        countries.sort_unstable();
        countries.dedup();
        countries
    }

    /// The draft with an id for each region that it names by code or name.
    ///
    /// # Errors
    /// `usage` for a region that its country does not have, with those that it has.
    pub fn resolve(
        &self,
        draft: &Map<String, Value>,
        stored: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Failure> {
        let mut draft = draft.clone();
        let Some(Value::Array(addresses)) = draft.get_mut("addresses") else { return Ok(draft) };
        for address in addresses.iter_mut().filter_map(Value::as_object_mut) {
            if !names_text(address) || has_id(address) {
                continue;
            }
            if !names_only_text(address) {
                // The id 0 says that the text stands for no region of the list.
                set_free_text(address, "a region without an ID")?;
                continue;
            }
            let regions = country_of(address, stored)
                .and_then(|country| self.countries.get(&country).map(|regions| (country, regions)));
            let Some((country, regions)) = regions.filter(|(_, regions)| !regions.is_empty()) else {
                // A country without a list takes any text, which stands for no id.
                let Some(country) = country_of(address, stored) else {
                    return Err(Failure::usage("the new address has a region and no country")
                        .hint("add --country, or give the ID of the region with --region-id"));
                };
                set_free_text(address, &country)?;
                continue;
            };
            let (code, name) = (text(address, "region_code"), text(address, "region"));
            set_region(address, find(&country, regions, code, name)?);
        }
        Ok(draft)
    }

    /// The country of a quote address that names a region by code or name alone; there both are texts of the address.
    pub fn needed_by_quote_address(address: &Map<String, Value>) -> Option<String> {
        let names_text = quote_text(address, "region_code").or(quote_text(address, "region")).is_some();
        let has_id = address.get("region_id").is_some_and(|id| !id.is_null());
        let country = address.get("country_id")?.as_str()?;
        (names_text && !has_id).then(|| country.to_owned())
    }

    /// Sets id, code and name of the region of a quote address. A country without a list takes any text.
    ///
    /// # Errors
    /// `usage` for a region that its country does not have, with those that it has.
    pub fn resolve_quote_address(
        &self,
        country: &str,
        address: &mut Map<String, Value>,
    ) -> Result<(), Failure> {
        let Some(regions) = self.countries.get(country).filter(|regions| !regions.is_empty()) else {
            return Ok(());
        };
        let found =
            find(country, regions, quote_text(address, "region_code"), quote_text(address, "region"))?;
        let fields = [
            ("region_id", Value::from(found.id)),
            ("region_code", found.code.as_str().into()),
            ("region", found.name.as_str().into()),
        ];
        address.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        Ok(())
    }
}

fn quote_text<'a>(address: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    address.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

fn find<'a>(
    country: &str,
    regions: &'a [Region],
    code: Option<&str>,
    name: Option<&str>,
) -> Result<&'a Region, Failure> {
    let fits = |region: &&Region| {
        let is_same = |one: &str, other: &str| one.trim().to_lowercase() == other.trim().to_lowercase();
        code.is_none_or(|code| is_same(without_zeros(code), without_zeros(&region.code)))
            && name.is_none_or(|name| is_same(name, &region.name))
    };
    let asked = || [code, name].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let found: Vec<&Region> = regions.iter().filter(fits).collect();
    match *found {
        [one] => Ok(one),
        [] => Err(Failure::usage(format!("{country} has no region `{}`", asked())).hint(regions_hint(
            country,
            regions,
            &asked(),
        ))),
        ref several => {
            Err(Failure::usage(format!("{country} has several regions `{}`: {}", asked(), listed(several)))
                .hint("name it by --region or --region-id"))
        }
    }
}

/// A number without its leading zeros: Magento has the department `6` where everybody writes `06`.
fn without_zeros(code: &str) -> &str {
    let code = code.trim();
    let number = code.trim_start_matches('0');
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) { number } else { code }
}

fn listed(regions: &[&Region]) -> String {
    let each: Vec<String> = regions.iter().map(|region| format!("{} {}", region.code, region.name)).collect();
    each.join(", ")
}

/// The regions to choose from; of many the nearest, and the command that lists all.
fn regions_hint(country: &str, regions: &[Region], asked: &str) -> String {
    const SHOWN: usize = 10;
    let likeness = |region: &Region| {
        let alike = |text: &str| strsim::jaro_winkler(&asked.to_lowercase(), &text.to_lowercase());
        alike(&region.code).max(alike(&region.name))
    };
    let mut nearest: Vec<&Region> = regions.iter().collect();
    nearest.sort_by(|one, other| one.code.cmp(&other.code));
    if nearest.len() <= SHOWN {
        return format!("use one of {}", listed(&nearest));
    }
    nearest.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)));
    nearest.truncate(SHOWN);
    nearest.sort_by(|one, other| one.code.cmp(&other.code));
    format!(
        "use one of {}, or list all {} with `storefront api GET /V1/directory/countries/{country}`",
        listed(&nearest),
        regions.len()
    )
}

fn set_region(address: &mut Map<String, Value>, region: &Region) {
    address.insert("region_id".to_owned(), Value::from(region.id));
    if let Some(Value::Object(object)) = address.get_mut("region") {
        object.insert("region_id".to_owned(), Value::from(region.id));
        object.insert("region_code".to_owned(), region.code.as_str().into());
        object.insert("region".to_owned(), region.name.as_str().into());
    }
}

/// Sets a region that is a text only. The service stores the name, and shows it as the code too.
///
/// # Errors
/// `usage` for a code without that name, which the service drops without a word.
fn set_free_text(address: &mut Map<String, Value>, country: &str) -> Result<(), Failure> {
    let (code, name) = (text(address, "region_code"), text(address, "region"));
    let Some(name) = name.filter(|name| code.is_none_or(|code| code == *name)).map(str::to_owned) else {
        let code = code.unwrap_or_default();
        return Err(Failure::usage(format!("{country} has no region codes, found `{code}`"))
            .hint("give the name of the region with --region, and no code"));
    };
    address.insert("region_id".to_owned(), Value::from(0));
    if let Some(Value::Object(object)) = address.get_mut("region") {
        object.insert("region_id".to_owned(), Value::from(0));
        object.insert("region_code".to_owned(), Value::from(name));
    }
    Ok(())
}

/// Whether an address names a region, and no id of one.
fn names_only_text(address: &Map<String, Value>) -> bool {
    let inner = address.get("region").and_then(|region| region.get("region_id"));
    names_text(address) && address.get("region_id").or(inner).is_none_or(Value::is_null)
}

/// The country of a draft's address: the one it names, or the stored one of the address that it changes.
fn country_of(address: &Map<String, Value>, stored: &Map<String, Value>) -> Option<String> {
    let own = address.get("country_id").and_then(Value::as_str);
    let id = address.get("id").and_then(id_of);
    let before = || {
        let same = |one: &&Value| id.is_some() && one.get("id").and_then(id_of) == id;
        diff::address_list(stored).iter().find(same)?.get("country_id")?.as_str()
    };
    own.or_else(before).map(str::to_owned)
}

fn text<'a>(address: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    address.get("region")?.get(name)?.as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
