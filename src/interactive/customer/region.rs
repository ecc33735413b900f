//! The region of an address, asked by name or code. What is left as it is keeps its id.

use serde_json::{Map, Value, json};

use super::field::{Field, whole_number};
use super::form::Form;
use crate::failure::Failure;
use crate::plan::profile::region;
use crate::plan::profile::region::Region;
use crate::plan::profile::stored::Profile;
use crate::prompt::{Prompt, Question};

const CODE_LENGTH: usize = 3;
const QUESTION: &str = "Region, by name or code (empty: none)";
const COUNTRY_CHANGED: &str = "The country changed: the stored region is of the old one.";
const ID_NOTE: &str = "The service has no list of regions. With 0 it stores the name alone.";

/// The region as it is to be, typed, with its id; `None` for Esc.
pub fn ask(prompt: &Prompt, profile: &Profile, form: &Form, field: &Field) -> Result<Option<Value>, Failure> {
    let is_unchanged = |typed: &str| !form.region_is_ambiguous() && typed == present(form, field).trim();
    loop {
        let Some(typed) = ask_text(prompt, form, field)? else { return Ok(None) };
        if is_unchanged(&typed) {
            return Ok(Some(field.value().clone()));
        }
        if typed.is_empty() {
            return Ok(Some(no_region(field)));
        }
        let country = form.field("country_id").map(Field::value);
        if let Some(known) = known(profile, country, &typed) {
            return Ok(Some(known));
        }
        if let Some(id) = ask_id(prompt)? {
            return Ok(Some(named(&typed, Some(id))));
        }
    }
}

/// The region as it is to be, one of those that the shop has for the country; typed where it has none. `None` for Esc.
pub fn choose(
    prompt: &Prompt,
    regions: &[Region],
    form: &Form,
    field: &Field,
) -> Result<Option<Value>, Failure> {
    if regions.is_empty() {
        let Some(typed) = ask_text(prompt, form, field)? else { return Ok(None) };
        return Ok(Some(match typed.as_str() {
            "" => no_region(field),
            typed if !form.region_is_ambiguous() && typed == present(form, field) => field.value().clone(),
            typed => named(typed, None),
        }));
    }
    let mut choices = vec!["No region".to_owned()];
    choices.extend(regions.iter().map(|region| format!("{}  {}", region.name, region.code)));
    let is_stored =
        |region: &Region| field.value().get("region_id").and_then(Value::as_i64) == Some(region.id);
    let present = regions.iter().position(is_stored).map_or(0, |position| position + 1);
    let Some(chosen) = prompt.search("Region", &choices, present)? else { return Ok(None) };
    Ok(Some(match chosen.checked_sub(1).map(|position| &regions[position]) {
        None => no_region(field),
        Some(region) if is_stored(region) => field.value().clone(),
        Some(region) => {
            json!({"region_code": region.code, "region": region.name, "region_id": region.id})
        }
    }))
}

fn ask_text(prompt: &Prompt, form: &Form, field: &Field) -> Result<Option<String>, Failure> {
    let note = if form.region_is_ambiguous() { COUNTRY_CHANGED } else { "" };
    let present = present(form, field);
    let question = Question { text: QUESTION, initial: &present, note, ..Question::default() };
    Ok(prompt.text(&question, |_| Ok(()))?.map(|typed| typed.trim().to_owned()))
}

/// No region; what has none stays as it is.
fn no_region(field: &Field) -> Value {
    if field.is_region() { region::none() } else { field.stored.clone() }
}

/// What is offered: nothing of another country.
fn present(form: &Form, field: &Field) -> String {
    if form.region_is_ambiguous() { String::new() } else { name_of(field.value()) }
}

fn ask_id(prompt: &Prompt) -> Result<Option<Value>, Failure> {
    let question =
        Question { text: "Region ID (0 for none)", initial: "0", note: ID_NOTE, ..Question::default() };
    let typed = prompt.text(&question, |text| Ok(whole_number(text.trim()).map(drop)?))?;
    Ok(typed.and_then(|text| whole_number(text.trim()).ok()))
}

/// A short word in capitals is a code, any other text a name.
fn named(typed: &str, id: Option<Value>) -> Value {
    let is_code = typed.len() <= CODE_LENGTH
        && typed.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let (code, name) = if is_code { (typed.into(), Value::Null) } else { (Value::Null, typed.into()) };
    let mut region = Map::from_iter([("region_code".to_owned(), code), ("region".to_owned(), name)]);
    region.extend(id.map(|id| ("region_id".to_owned(), id)));
    Value::Object(region)
}

/// The region of this name or code that another address in the same country has, with its id.
fn known(profile: &Profile, country: Option<&Value>, typed: &str) -> Option<Value> {
    let addresses = profile.addresses().iter().filter(|address| address.get("country_id") == country);
    let is_meant = |region: &&Map<String, Value>| {
        let texts = ["region", "region_code"].iter().filter_map(|name| region.get(*name)?.as_str());
        texts.into_iter().any(|text| text.to_lowercase() == typed.to_lowercase())
    };
    let region = addresses.filter_map(|address| address.get("region")?.as_object()).find(is_meant)?;
    let member = |name: &str| region.get(name).cloned().unwrap_or(Value::Null);
    let id = region.get("region_id").cloned().unwrap_or_else(|| 0.into());
    Some(json!({"region_code": member("region_code"), "region": member("region"), "region_id": id}))
}

fn name_of(region: &Value) -> String {
    let texts = ["region", "region_code"].iter().filter_map(|name| region.get(*name)?.as_str());
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned()
}
