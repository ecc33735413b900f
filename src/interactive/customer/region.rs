//! The region of an address, asked by name or code. What is left as it is keeps its id.

use serde_json::{Map, Value, json};

use super::field::{Field, whole_number};
use super::form::Form;
use crate::failure::Failure;
use crate::plan::profile::region;
use crate::plan::profile::stored::Profile;
use crate::prompt::{Prompt, Question};

const CODE_LENGTH: usize = 3;

/// The region as it is to be; `None` for Esc.
pub fn ask(prompt: &Prompt, profile: &Profile, form: &Form, field: &Field) -> Result<Option<Value>, Failure> {
    let country_changed = form.region_is_ambiguous();
    let present = if country_changed { String::new() } else { name_of(field.value()) };
    let note = if country_changed { "The country changed: the stored region is of the old one." } else { "" };
    let question = Question::new("Region, by name or code (empty: none)").initial(&present).note(note);
    loop {
        let Some(typed) = prompt.text(&question, |_| Ok(()))? else { return Ok(None) };
        let typed = typed.trim();
        if !country_changed && typed == present.trim() {
            return Ok(Some(field.value().clone()));
        }
        if typed.is_empty() {
            return Ok(Some(region::none()));
        }
        let country = form.field("country_id").map(Field::value);
        if let Some(known) = known(profile, country, typed) {
            return Ok(Some(known));
        }
        if let Some(id) = ask_id(prompt)? {
            return Ok(Some(named(typed, id)));
        }
    }
}

fn ask_id(prompt: &Prompt) -> Result<Option<Value>, Failure> {
    let question = Question::new("Region ID (0 for none)").initial("0");
    let typed = prompt.text(&question, |text| Ok(whole_number(text.trim()).map(drop)?))?;
    Ok(typed.and_then(|text| whole_number(text.trim()).ok()))
}

/// A short word in capitals is a code, any other text a name.
fn named(typed: &str, id: Value) -> Value {
    let is_code = typed.len() <= CODE_LENGTH
        && typed.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let (code, name) = if is_code { (typed.into(), Value::Null) } else { (Value::Null, typed.into()) };
    json!({"region_code": code, "region": name, "region_id": id})
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
