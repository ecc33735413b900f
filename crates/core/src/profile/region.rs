//! The region of an address: three fields in two places, which must never contradict each other, and the shop's list of
//! regions by code and name.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::address::{address_list, find_address};
use super::equal::same_value;
use crate::failure::Failure;
use crate::hint::{Hint, hint, storefront};
use crate::id::{self, AddressId};
use crate::text::fold::folded;
use crate::text::sanitize::quoted;

/// The texts of a region.
pub const TEXTS: [&str; 2] = ["region", "region_code"];
const ID: &str = "region_id";

/// Takes what a draft says about the region out of it. `None` if it names none of `region`, `region_code` and
/// `region_id`, or only what is stored already. Other fields of the draft's region object stay in the draft.
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
    if let Some(Value::Object(region)) = draft.get_mut("region") {
        for name in [TEXTS[1], TEXTS[0], ID] {
            patch.extend(region.shift_remove(name).map(|value| (name.to_owned(), value)));
        }
    }
    if draft.get("region").is_some_and(|region| region.as_object().is_none_or(Map::is_empty)) {
        draft.shift_remove("region");
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

/// Whether a stored address has the region that a draft names. A region id in one of the two places counts for both.
fn is_unchanged(draft: &Map<String, Value>, stored: &Map<String, Value>) -> bool {
    let ids = |address| {
        let (outer, inner) = ids(address);
        [outer.or(inner), inner.or(outer)]
    };
    let mut named_ids = ids(draft).into_iter().zip(ids(stored)).filter(|(named, _)| named.is_some());
    let is_stored_text = |name: &&str| {
        let [text, stored] = [draft, stored].map(|address| address.get("region")?.get(name));
        text.is_none() || same_value(name, text, stored)
    };
    named_ids.all(|(named, stored)| same_value(ID, named, stored)) && TEXTS.iter().all(is_stored_text)
}

/// The region id in both of its places.
fn ids(address: &Map<String, Value>) -> (Option<&Value>, Option<&Value>) {
    (address.get(ID), address.get("region").and_then(|region| region.get(ID)))
}

/// A text of the region. In a quote's address it is in the address itself.
fn text<'a>(address: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let region = address.get("region").and_then(Value::as_object).unwrap_or(address);
    region.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

/// Whether an address names the text of a region.
pub fn names_text(address: &Map<String, Value>) -> bool {
    TEXTS.iter().any(|name| text(address, name).is_some())
}

/// Whether an address names a region without an id.
fn names_only_text(address: &Map<String, Value>) -> bool {
    let (outer, inner) = ids(address);
    names_text(address) && outer.or(inner).is_none_or(Value::is_null)
}

/// Whether an address has a region id other than 0.
pub fn has_id(address: &Map<String, Value>) -> bool {
    let (outer, inner) = ids(address);
    !same_value(ID, outer, None) || !same_value(ID, inner, None)
}

/// Whether an address has a region: an id that is not 0, or a text that is not empty.
pub fn is_stored(address: &Map<String, Value>) -> bool {
    has_id(address) || names_text(address)
}

/// What `--no-region` sends: both ids 0, texts null, as Magento writes it. The interface does not show it: this is our
/// own choice.
pub fn none() -> Value {
    json!({"region_code": null, "region": null, "region_id": 0})
}

/// The region of a stored address as a draft names it: code, name and id, also those that it lacks.
pub fn as_object(address: &Value) -> Value {
    let inner = |name: &str| address.get("region").and_then(|region| region.get(name));
    let id = address.get(ID).or(inner(ID)).filter(|id| !id.is_null());
    let text = |name: &str| inner(name).cloned().unwrap_or_default();
    json!({"region_code": text("region_code"), "region": text("region"), ID: id.cloned().unwrap_or(0.into())})
}

/// Applies what a draft says about the region to an address.
///
/// If any of the three is named, it is set, unnamed texts become null, and both region ids are made equal.
///
/// # Errors
/// `usage` when a region id is stored and the draft names none: the old id would contradict the new text.
pub fn apply(
    address: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    label: &str,
) -> Result<(), Failure> {
    let id = patch.get(ID);
    if id.is_none() && has_id(address) {
        return Err(Failure::usage(format!(
            "{label}: the stored region has an id, and the new region names none"
        ))
        .hint("add --region-id, or use --no-region; --region-id 0 stores the name without an id"));
    }
    let mut region = match address.get_mut("region").map(Value::take) {
        Some(Value::Object(region)) => region,
        _ => Map::new(),
    };
    let texts = TEXTS.map(|name| (name, patch.get(name).cloned().unwrap_or_default()));
    region.extend(texts.into_iter().chain(id.cloned().map(|id| (ID, id))).map(own_name));
    address.insert("region".to_owned(), Value::Object(region));
    address.extend(id.cloned().map(|id| own_name((ID, id))));
    Ok(())
}

fn own_name((name, value): (&str, Value)) -> (String, Value) {
    (name.to_owned(), value)
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
        .hint("set --region-code, --region or --region-id, or --no-region"))
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

    /// The regions of a country; empty if it was not read.
    pub fn regions(&self, country: &str) -> &[Region] {
        self.countries.get(country).map_or(&[], Vec::as_slice)
    }

    /// The regions that the addresses of a profile are in.
    pub fn of(profile: &Map<String, Value>) -> Self {
        let mut countries: HashMap<String, Vec<Region>> = HashMap::new();
        for address in address_list(profile).iter().filter_map(Value::as_object) {
            let (outer, inner) = ids(address);
            let country = address.get("country_id").and_then(Value::as_str);
            let id = inner.or(outer).and_then(id::integer).filter(|id| *id != 0);
            let own = |name| text(address, name).unwrap_or_default().to_owned();
            if let (Some(country), Some(id)) = (country, id) {
                let region = Region { id, code: own("region_code"), name: own("region") };
                let regions = countries.entry(country.to_owned()).or_default();
                if !regions.contains(&region) {
                    regions.push(region);
                }
            }
        }
        Self { countries }
    }

    /// The only region of a country that this text names.
    ///
    /// # Errors
    /// `usage` if it names none or several, with those that the country has.
    pub fn named(&self, country: &str, text: &str) -> Result<&Region, Failure> {
        find(country, self.regions(country), None, Some(text))
    }

    /// The region that a person means: by its name, its code, or the beginning of its name.
    ///
    /// # Errors
    /// What is wrong with the text, and which regions there are.
    pub fn meant(&self, country: &str, typed: &str) -> Result<&Region, String> {
        let regions = self.regions(country);
        let start = folded(typed);
        let begins = |region: &&Region| !start.is_empty() && folded(&region.name).starts_with(&start);
        let begun: Vec<&Region> = regions.iter().filter(begins).collect();
        match (find(country, regions, None, Some(typed)), &begun[..]) {
            (Ok(region), _) => Ok(region),
            (Err(_), [only]) => Ok(*only),
            (Err(failure), []) => Err(format!("{}; {}", failure.message, nearest(regions, typed))),
            (Err(_), several) => {
                Err(format!("{country} has several regions `{typed}…`: {}", listed(several)))
            }
        }
    }

    /// The one field that says which region of a list is meant: its code, or its id if other regions have that code,
    /// too. All fields of a region that is in no list.
    pub fn shortest(&self, country: &str, region: &Map<String, Value>) -> Map<String, Value> {
        let regions = self.regions(country);
        let id = region.get(ID).and_then(id::integer);
        let Some(listed) = regions.iter().find(|listed| Some(listed.id) == id) else { return region.clone() };
        let has_code = !listed.code.trim().is_empty();
        let is_known_by_code = has_code && find(country, regions, Some(&listed.code), None).is_ok();
        Map::from_iter([if is_known_by_code {
            ("region_code".to_owned(), listed.code.as_str().into())
        } else {
            (ID.to_owned(), listed.id.into())
        }])
    }

    /// The region of an address, in words, if its country does not have it. A country that was not read has any region;
    /// a country without a list takes any text.
    pub fn misfit(&self, country: &str, address: &Map<String, Value>) -> Option<String> {
        let regions = self.countries.get(country)?;
        let (outer, inner) = ids(address);
        let id = [outer, inner].into_iter().flatten().filter_map(id::integer).find(|id| *id != 0);
        let name = text(address, "region").or_else(|| text(address, "region_code"));
        match (id, name) {
            (Some(id), _) if regions.iter().any(|region| region.id == id) => None,
            (Some(id), Some(name)) => Some(format!("{} (ID {id})", quoted(name))),
            (Some(id), None) => Some(format!("ID {id}")),
            (None, Some(name)) if !regions.is_empty() && candidates(regions, None, Some(name)).is_empty() => {
                Some(quoted(name))
            }
            (None, _) => None,
        }
    }

    /// The draft with the ids of the regions whose name or code is known; others stay as they are.
    pub fn resolve_known(
        &self,
        draft: &Map<String, Value>,
        stored: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut draft = draft.clone();
        let addresses = draft.get_mut("addresses").and_then(Value::as_array_mut).into_iter().flatten();
        for address in addresses.filter_map(Value::as_object_mut) {
            let Some(country) = Self::needed_by(address, stored) else { continue };
            let code = text(address, "region_code");
            let name = text(address, "region");
            if let Ok(Region { id, code, name }) = find(&country, self.regions(&country), code, name) {
                set_region(address, *id, code, name);
            }
        }
        draft
    }

    /// Takes the reply to a read of a country: `{"available_regions": [{"id", "code", "name"}]}`.
    pub fn insert(&mut self, country: &str, reply: &Value) {
        let region = |region: &Value| {
            let text = |name: &str| region.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            Some(Region { id: id::integer(region.get("id")?)?, code: text("code"), name: text("name") })
        };
        let regions = reply.get("available_regions").and_then(Value::as_array).into_iter().flatten();
        self.countries.insert(country.to_owned(), regions.filter_map(region).collect());
    }

    /// The countries whose regions a draft names by code or name alone.
    pub fn needed(draft: &Map<String, Value>, stored: &Map<String, Value>) -> Vec<String> {
        let addresses = address_list(draft).iter().filter_map(Value::as_object);
        let countries: BTreeSet<_> =
            addresses.filter_map(|address| Self::needed_by(address, stored)).collect();
        countries.into_iter().collect()
    }

    /// The draft with an id for each region that it names by code or name. A country without a list takes any text,
    /// with the id 0.
    ///
    /// # Errors
    /// `usage` for a region that its country does not have, with those that it has.
    pub fn resolve(
        &self,
        draft: &Map<String, Value>,
        stored: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Failure> {
        let mut draft = draft.clone();
        let addresses = draft.get_mut("addresses").and_then(Value::as_array_mut).into_iter().flatten();
        for address in addresses.filter_map(Value::as_object_mut) {
            if !names_text(address) || has_id(address) {
                continue;
            }
            if !names_only_text(address) {
                // The id 0 says that the text stands for no region of the list.
                set_free_text(address, "a region without an ID")?;
                continue;
            }
            let country = country_of(address, stored).ok_or_else(|| {
                Failure::usage("the new address has a region and no country")
                    .hint("add --country, or give the ID of the region with --region-id")
            })?;
            if self.regions(&country).is_empty() {
                set_free_text(address, &country)?;
            }
            self.resolve_address(&country, address)?;
        }
        Ok(draft)
    }

    /// The country of an address that names a region by code or name alone; `stored` is the profile of the draft that it is in.
    pub fn needed_by(address: &Map<String, Value>, stored: &Map<String, Value>) -> Option<String> {
        country_of(address, stored).filter(|_| names_only_text(address))
    }

    /// Sets id, code and name of the region of an address, if its country has a list.
    ///
    /// # Errors
    /// `usage` for a region that its country does not have, with those that it has.
    pub fn resolve_address(&self, country: &str, address: &mut Map<String, Value>) -> Result<(), Failure> {
        let regions = self.regions(country);
        if !regions.is_empty() {
            let Region { id, code, name } =
                find(country, regions, text(address, "region_code"), text(address, "region"))?;
            set_region(address, *id, code, name);
        }
        Ok(())
    }
}

fn find<'a>(
    country: &str,
    regions: &'a [Region],
    code: Option<&str>,
    name: Option<&str>,
) -> Result<&'a Region, Failure> {
    let found = candidates(regions, code, name);
    let asked = [code, name].into_iter().flatten().collect::<Vec<_>>().join(" ");
    match *found {
        [one] => Ok(one),
        [] => Err(Failure::usage(format!("{country} has no region {}", quoted(&asked)))
            .hint(regions_hint(country, regions, &asked))),
        ref several => Err(Failure::usage(format!(
            "{country} has several regions {}: {}",
            quoted(&asked),
            listed(several)
        ))
        .hint("name it by --region or --region-id")),
    }
}

/// The regions that code and name may mean.
fn candidates<'a>(regions: &'a [Region], code: Option<&str>, name: Option<&str>) -> Vec<&'a Region> {
    let is_same = |one: &str, other: &str| one.trim().to_lowercase() == other.trim().to_lowercase();
    let has_code = |region: &Region, code: &str| is_same(without_zeros(code), without_zeros(&region.code));
    // A name may be given without its accents, or the code in its place: the nearest match counts.
    let distance = |region: &Region| match name {
        _ if !code.is_none_or(|code| has_code(region, code)) => None,
        None => Some(0),
        Some(name) if is_same(name, &region.name) => Some(0),
        Some(name) if !folded(name).is_empty() && folded(name) == folded(&region.name) => Some(1),
        Some(name) => has_code(region, name).then_some(2),
    };
    let nearest = regions.iter().filter_map(distance).min();
    regions.iter().filter(|region| nearest.is_some() && distance(region) == nearest).collect()
}

/// A number without its leading zeros: Magento has the department `6` where people write `06`.
fn without_zeros(code: &str) -> &str {
    let code = code.trim();
    let number = code.trim_start_matches('0');
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) { number } else { code }
}

fn listed(regions: &[&Region]) -> String {
    let each: Vec<String> = regions.iter().map(|region| format!("{} {}", region.code, region.name)).collect();
    each.join(", ")
}

/// How many regions a hint names.
const SHOWN: usize = 10;

/// The regions to choose from: all of a few, else the nearest and the command that lists all.
fn regions_hint(country: &str, regions: &[Region], asked: &str) -> Hint {
    let nearest = nearest(regions, asked);
    match regions.len() {
        0..=SHOWN => nearest.into(),
        all => hint!(
            format!("{nearest}, or list all {all} with "),
            storefront("api GET").arg(format!("/V1/directory/countries/{country}")).arg("--admin")
        ),
    }
}

fn nearest(regions: &[Region], asked: &str) -> String {
    let likeness = |region: &Region| {
        let alike = |text: &str| strsim::jaro_winkler(&asked.to_lowercase(), &text.to_lowercase());
        let is_code = asked.len() <= region.code.len();
        alike(&region.name).max(if is_code { alike(&region.code) } else { 0.0 })
    };
    let mut nearest: Vec<&Region> = regions.iter().collect();
    nearest.sort_by(|one, other| one.code.cmp(&other.code));
    nearest.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)));
    let meant = nearest.first().filter(|region| likeness(region) > 0.9);
    let meant =
        meant.map(|region| format!("did you mean {}? If not, ", quoted(&region.name))).unwrap_or_default();
    nearest.truncate(SHOWN);
    nearest.sort_by(|one, other| one.name.cmp(&other.name));
    format!("{meant}use one of {}", listed(&nearest))
}

fn set_region(address: &mut Map<String, Value>, id: i64, code: &str, name: &str) {
    let fields = [(ID, id.into()), ("region_code", code.into()), ("region", name.into())].map(own_name);
    match address.get_mut("region") {
        Some(Value::Object(region)) => {
            region.extend(fields);
            address.insert(ID.to_owned(), id.into());
        }
        _ => address.extend(fields),
    }
}

/// Sets a region that is only a text. The service stores the name, and also shows it as the code.
///
/// # Errors
/// `usage` for a code without that name, which the service drops silently.
pub(crate) fn set_free_text(address: &mut Map<String, Value>, country: &str) -> Result<(), Failure> {
    let code = text(address, "region_code");
    let name = text(address, "region");
    let Some(name) = name.filter(|name| code.is_none_or(|code| code == *name)).map(str::to_owned) else {
        let code = code.unwrap_or_default();
        return Err(Failure::usage(format!("{country} has no region codes, found {}", quoted(code)))
            .hint("give the name of the region with --region, and no code"));
    };
    set_region(address, 0, &name, &name);
    Ok(())
}

/// The country of a draft's address: the one it names, or the stored one of the address that it changes.
fn country_of(address: &Map<String, Value>, stored: &Map<String, Value>) -> Option<String> {
    let before = || find_address(stored, AddressId::of(address.get("id")?)?)?.get("country_id");
    address.get("country_id").filter(|own| own.is_string()).or_else(before)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
