//! `customer update` with no change named: what is to be changed is picked and edited. Esc goes back one step.

mod form;

use serde_json::{Map, Value, json};

use crate::exact_json;
use crate::failure::Failure;
use crate::plan::profile::Profile;
use crate::plan::region;
use crate::plan::roster::id_of;
use crate::prompt::Prompt;
use crate::redact::secrets;
use crate::report::Report;
use crate::report::changes::shown;
use crate::wire::Holds;
use form::{Field, Form, whole_number};

/// Which way the questions begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With the list of addresses.
    List,
    /// With this address.
    Address(i64),
    /// With an address to be added.
    NewAddress,
}

/// Asks what is to be changed; gives the members of the customer that were edited (interface 2.3).
///
/// # Errors
/// `interrupted` when the person leaves.
pub fn ask(
    prompt: &Prompt,
    report: &Report,
    profile: &Profile,
    start: Start,
) -> Result<Map<String, Value>, Failure> {
    report.show("Esc goes back one step, Ctrl-C leaves. Nothing is sent before you say so.");
    let mut form = match start {
        Start::List => None,
        Start::NewAddress => Some(Form::of_new_address()),
        Start::Address(id) => forms(profile).find(|form| form.title == format!("Address {id}")),
    };
    loop {
        if let Some(mut form) = form.take()
            && fill(prompt, report, &mut form)?
        {
            return Ok(form.draft());
        }
        form = pick(prompt, profile)?;
    }
}

fn forms(profile: &Profile) -> impl Iterator<Item = Form> {
    profile.addresses().iter().filter_map(Value::as_object).filter_map(Form::of_address)
}

/// `None` for Esc: there is nothing to go back to, so the list comes again.
fn pick(prompt: &Prompt, profile: &Profile) -> Result<Option<Form>, Failure> {
    let mut forms: Vec<Form> = forms(profile).collect();
    let addresses = profile.addresses().iter().filter_map(Value::as_object);
    let mut choices: Vec<String> =
        addresses.filter(|address| address.get("id").and_then(id_of).is_some()).map(one_liner).collect();
    choices.push("Add an address".to_owned());
    choices.push("The profile itself".to_owned());
    forms.push(Form::of_new_address());
    forms.push(Form::of_profile(profile.customer()));
    let picked = prompt.pick("What is to be changed?", &choices, 0)?;
    Ok(picked.map(|position| forms.swap_remove(position)))
}

fn one_liner(address: &Map<String, Value>) -> String {
    let member = |name: &str| address.get(name).filter(|it| !it.is_null()).map(|it| shown(Some(it)));
    let joined =
        |names: &[&str], by: &str| names.iter().filter_map(|name| member(name)).collect::<Vec<_>>().join(by);
    let place = joined(&["postcode", "city"], " ");
    let parts = [
        joined(&["firstname", "lastname"], " "),
        joined(&["street"], ""),
        place,
        joined(&["country_id"], ""),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("Address {}  {}", joined(&["id"], ""), parts.join(", "))
}

/// Whether it was filled; not, when Esc led out of it.
fn fill(prompt: &Prompt, report: &Report, form: &mut Form) -> Result<bool, Failure> {
    let mut present = 0;
    if form.is_new() {
        while present < form.fields.len() {
            match edit(prompt, report, &mut form.fields[present])? {
                true => present += 1,
                false if present == 0 => return Ok(false),
                false => present -= 1,
            }
        }
    }
    let done = form.fields.len();
    loop {
        let mut choices = form.lines();
        choices.push("Done: show what changes".to_owned());
        let Some(picked) = prompt.pick(&form.title, &choices, present)? else { return Ok(false) };
        if picked == done {
            return Ok(true);
        }
        let edited = edit(prompt, report, &mut form.fields[picked])?;
        if form.leaves_region_in_doubt() {
            report.show("The country is another one, so the region cannot stay as it is.");
            if let Some(region) = form.fields.iter_mut().find(|field| field.member.name == "region") {
                edit(prompt, report, region)?;
            }
        }
        present = if edited { done } else { picked };
    }
}

/// Whether the field was answered; not, after Esc.
fn edit(prompt: &Prompt, report: &Report, field: &mut Field) -> Result<bool, Failure> {
    let value = match field.member.holds {
        Holds::TextList => lines(prompt, report, field)?,
        Holds::Object(_) => self::region(prompt, field)?,
        _ => {
            let check = |text: &str| field.parse(text.trim()).map(drop);
            let typed = prompt.line(field.member.doc, &field.text(), check)?;
            typed.and_then(|text| field.parse(text.trim()).ok())
        }
    };
    Ok(value.map(|value| field.set(value)).is_some())
}

fn lines(prompt: &Prompt, report: &Report, field: &Field) -> Result<Option<Value>, Failure> {
    let stored = field.value().as_array().into_iter().flatten().filter_map(Value::as_str);
    let stored: Vec<String> = stored.map(|line| secrets().text(line).into_owned()).collect();
    report.show("One line after the other; an empty line ends them.");
    let lines = prompt.lines(|number| format!("Street, line {number}"), &stored, |_| Ok(()))?;
    Ok(lines.map(|lines| json!(lines)))
}

fn region(prompt: &Prompt, field: &Field) -> Result<Option<Value>, Failure> {
    let choices = ["No region", "Name one"].map(str::to_owned);
    match prompt.pick("Region", &choices, 1)? {
        None => return Ok(None),
        Some(0) => return Ok(Some(region::none())),
        Some(_) => {}
    }
    let present = |name: &str| {
        let text = field.value().get(name).and_then(Value::as_str).unwrap_or_default();
        secrets().text(text).into_owned()
    };
    let Some(name) = prompt.line("Region", &present("region"), |_| Ok(()))? else { return Ok(None) };
    let Some(code) = prompt.line("Region code (may be empty)", &present("region_code"), |_| Ok(()))? else {
        return Ok(None);
    };
    let number = |text: &str| whole_number(text.trim()).map(drop);
    let question = "Region id, as the service numbers it (0: it has none)";
    let Some(id) = prompt.line(question, "0", number)? else { return Ok(None) };
    let text = |text: String| if text.trim().is_empty() { Value::Null } else { text.trim().into() };
    let id = whole_number(id.trim()).unwrap_or_default();
    Ok(Some(exact_json::object([("region_code", text(code)), ("region", text(name)), ("region_id", id)])))
}
