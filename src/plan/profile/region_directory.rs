//! Regions by code or name: the service stores a region only by its id, and drops a bare code without a word.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{diff, region};
use crate::failure::Failure;
use crate::plan::profile::address_ids::id_of;

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
            if !region::names_text(address) || region::has_id(address) {
                continue;
            }
            if !names_only_text(address) {
                // The id 0 says that the text stands for no region of the list.
                set_free_text(address, "")?;
                continue;
            }
            let regions = country_of(address, stored)
                .and_then(|country| self.countries.get(&country).map(|regions| (country, regions)));
            let Some((country, regions)) = regions.filter(|(_, regions)| !regions.is_empty()) else {
                // A country without a list takes any text, which stands for no id.
                let country = country_of(address, stored).unwrap_or_default();
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
    if nearest.len() <= SHOWN {
        return format!("use one of {}", listed(&nearest));
    }
    nearest.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)));
    nearest.truncate(SHOWN);
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
        let country = if country.is_empty() { "a region without an id" } else { country };
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
    region::names_text(address) && address.get("region_id").or(inner).is_none_or(Value::is_null)
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
mod tests {
    use serde_json::{Map, Value, json};

    use super::RegionDirectory;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_code_or_a_name_gets_its_id() {
        let stored = object(&json!({"addresses": [{"id": 1, "country_id": "US"}]}));
        let mut directory = RegionDirectory::default();
        directory
            .insert("US", &json!({"available_regions": [{"id": "12", "code": "CA", "name": "California"}]}));
        for region in [json!({"region_code": "CA"}), json!({"region": "california"})] {
            let draft = object(&json!({"addresses": [{"id": 1, "region": region}]}));
            assert_eq!(RegionDirectory::needed(&draft, &stored), ["US"]);
            let resolved = directory.resolve(&draft, &stored).unwrap();
            assert_eq!(
                resolved["addresses"][0],
                json!({"id": 1, "region_id": 12,
                    "region": {"region_code": "CA", "region": "California", "region_id": 12}})
            );
        }
        let draft = object(&json!({"addresses": [{"id": 1, "region": {"region_code": "ZZ"}}]}));
        let failure = directory.resolve(&draft, &stored).unwrap_err();
        assert!(failure.hint.unwrap().contains("CA California"));
        let named =
            object(&json!({"addresses": [{"id": 1, "region_id": 57, "region": {"region_code": "TX"}}]}));
        assert!(RegionDirectory::needed(&named, &stored).is_empty());
    }

    fn resolved(country: &str, region: &serde_json::Value) -> Result<serde_json::Value, String> {
        let mut directory = RegionDirectory::default();
        directory.insert(
            "FR",
            &json!({"available_regions": [{"id": "187", "code": "6", "name": "Alpes-Maritimes"}]}),
        );
        directory.insert("GB", &json!({}));
        let draft = object(&json!({"addresses": [{"country_id": country, "region": region}]}));
        let resolved = directory.resolve(&draft, &Map::new()).map_err(|failure| failure.message)?;
        Ok(resolved["addresses"][0]["region"].clone())
    }

    #[test]
    fn a_number_is_the_same_code_with_leading_zeros() {
        let region = resolved("FR", &json!({"region_code": "06"})).unwrap();
        assert_eq!(region, json!({"region_code": "6", "region_id": 187, "region": "Alpes-Maritimes"}));
        assert!(resolved("FR", &json!({"region_code": "60"})).is_err());
    }

    #[test]
    fn a_text_without_an_id_is_its_own_code() {
        let kent = json!({"region": "Kent", "region_id": 0, "region_code": "Kent"});
        for region in [
            json!({"region": "Kent"}),
            json!({"region": "Kent", "region_code": ""}),
            json!({"region": "Kent", "region_code": "Kent"}),
            json!({"region": "Kent", "region_id": 0}),
        ] {
            assert_eq!(resolved("GB", &region).unwrap(), kent, "{region}");
        }
        let code = resolved("GB", &json!({"region_code": "KEN"})).unwrap_err();
        assert_eq!(code, "GB has no region codes, found `KEN`");
        assert!(resolved("GB", &json!({"region": "Kent", "region_code": "KEN"})).is_err());
        let none = json!({"region": null, "region_code": null, "region_id": 0});
        assert_eq!(resolved("GB", &none).unwrap(), none);
    }
}
