//! `customer update` with no change named: what is to be changed is picked and edited. Esc goes back one step.

mod command_line;
mod edit;
mod field;
mod form;
mod region;

use serde_json::{Map, Value, json};

pub use command_line::command_lines;
pub use edit::Edit;

use crate::failure::Failure;
use crate::plan::profile::diff::id_of;
use crate::plan::profile::stored::Profile;
use crate::prompt::{Prompt, Question};
use crate::report::changes::format_value;
use crate::session::service::Service;
use crate::wire::FieldType;
use field::Field;
use form::{Form, Owner};

const DONE: &str = "Done, review changes";
const STREET_NOTE: &str = "Enter on an empty line ends the street.";

/// Which way the questions begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartScreen {
    /// With the list of addresses.
    List,
    /// With this address.
    Address(i64),
    /// With an address to be added.
    NewAddress,
}

/// The questions and what was answered so far.
pub struct Editor<'a> {
    prompt: &'a Prompt,
    service: &'a Service<'a>,
    profile: &'a Profile,
    form: Option<Form>,
    /// Forms that Esc led out of, with what was edited in them.
    left: Vec<Form>,
}

impl<'a> Editor<'a> {
    /// Begins the questions about a profile.
    pub fn new(
        prompt: &'a Prompt,
        service: &'a Service<'a>,
        profile: &'a Profile,
        start: StartScreen,
    ) -> Self {
        let addresses = profile.addresses();
        let form = match start {
            StartScreen::List => None,
            StartScreen::NewAddress => Some(Form::of_new_address(addresses)),
            StartScreen::Address(id) => forms(addresses).find(|form| form.owner == Owner::Address(id)),
        };
        prompt.show("Esc goes back one step, Ctrl-C cancels.");
        Self { prompt, service, profile, form, left: Vec::new() }
    }

    /// Asks what is to be changed. Asked again, it goes on where it was.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves; as [`Service::read`], where the shop is asked for its regions.
    pub async fn ask(&mut self) -> Result<Edit, Failure> {
        loop {
            let mut form = match self.form.take() {
                Some(form) => form,
                None => match self.pick()? {
                    Some(form) => form,
                    None => match self.incomplete() {
                        Some(form) => form,
                        None => return Ok(self.joined()),
                    },
                },
            };
            let filled = self.fill(&mut form).await;
            self.keep_one_default(&form);
            if let Ok(false) = filled {
                self.left.push(form);
                continue;
            }
            self.form = Some(form);
            filled?;
            match self.incomplete() {
                Some(incomplete) => self.left.extend(self.form.replace(incomplete)),
                None => return Ok(self.joined()),
            }
        }
    }

    /// What was edited so far, in all forms; `None` where nothing was.
    pub fn edit(&self) -> Option<Edit> {
        Some(self.joined()).filter(|edit| !edit.draft.is_empty())
    }

    fn joined(&self) -> Edit {
        let mut forms: Vec<&Form> = self.left.iter().chain(&self.form).collect();
        forms.sort_by_key(|form| form.owner);
        let mut joined = Edit::default();
        for form in forms {
            joined.add(form.edit());
        }
        joined
    }

    /// An address to be added that Esc led out of before all was answered.
    fn incomplete(&mut self) -> Option<Form> {
        let position = self.left.iter().position(|form| form.missing().is_some())?;
        Some(self.left.swap_remove(position))
    }

    /// The form that is picked; `None` where all edits are to be reviewed.
    fn pick(&mut self) -> Result<Option<Form>, Failure> {
        let addresses = self.profile.addresses();
        let mut forms: Vec<Form> = forms(addresses).collect();
        let stored = addresses.iter().filter_map(Value::as_object);
        let mut choices: Vec<String> =
            stored.filter(|address| address.get("id").and_then(id_of).is_some()).map(one_liner).collect();
        choices.push("Add an address".to_owned());
        choices.push("Profile fields".to_owned());
        forms.push(Form::of_new_address(addresses));
        forms.push(Form::of_profile(self.profile.customer()));
        let edited = |form: &Form| self.left.iter().any(|left| left.owner == form.owner && left.is_edited());
        for (choice, form) in choices.iter_mut().zip(&forms) {
            if edited(form) {
                choice.push_str("  (edited)");
            }
        }
        if self.left.iter().any(Form::is_edited) {
            choices.push(DONE.to_owned());
        }
        let picked = self.prompt.select("What do you want to change?", &choices, 0)?;
        let picked = picked.ok_or_else(Failure::cancelled)?;
        if picked == forms.len() {
            return Ok(None);
        }
        let form = forms.swap_remove(picked);
        let left = self.left.iter().position(|left| left.owner == form.owner);
        Ok(Some(left.map_or(form, |left| self.left.swap_remove(left))))
    }

    /// Of two addresses that were made the default, the later one is it.
    fn keep_one_default(&mut self, form: &Form) {
        let is_set = |field: &Field| {
            field.makes_default() && form.field(&field.name).is_some_and(Field::makes_default)
        };
        self.left.iter_mut().for_each(|left| left.discard(is_set));
    }

    /// Whether it was filled; not, when Esc led out of it.
    async fn fill(&mut self, form: &mut Form) -> Result<bool, Failure> {
        let mut present = 0;
        if form.is_new() && !form.is_edited() {
            while present < form::ASKED_OF_NEW_ADDRESS {
                match self.ask_field(form, present).await? {
                    true => present += 1,
                    false if present == 0 => return Ok(false),
                    false => present -= 1,
                }
            }
        }
        let done = form.fields.len();
        if form.is_edited() {
            present = form.missing().unwrap_or(done);
        }
        let mut note = String::new();
        loop {
            let mut choices = form.lines();
            choices.push(DONE.to_owned());
            choices.extend(form.is_new().then(|| "Discard this address".to_owned()));
            let title = format!("{}{}", form.title, std::mem::take(&mut note));
            let Some(picked) = self.prompt.menu(&title, &choices, present)? else { return Ok(false) };
            if picked > done {
                form.discard(|_| true);
                return Ok(false);
            }
            if picked == done {
                let Some(missing) = form.missing() else { return Ok(true) };
                (note, present) = (format!(": {} is required", form.fields[missing].label), missing);
                continue;
            }
            if form.fields[picked].is_stored_default() {
                (note, present) = (": to change the default, choose another address".to_owned(), picked);
                continue;
            }
            let edited = self.ask_field(form, picked).await?;
            let region = form.fields.iter().position(|field| field.name == "region");
            if let Some(region) = region.filter(|_| form.region_is_ambiguous()) {
                self.ask_field(form, region).await?;
            }
            present = if edited { done } else { picked };
        }
    }

    /// Whether the field was answered; not, after Esc.
    async fn ask_field(&mut self, form: &mut Form, position: usize) -> Result<bool, Failure> {
        let field = &form.fields[position];
        let value = match field.field_type {
            FieldType::TextList => self.lines(form, field)?,
            FieldType::Object(_) => self.region(form, field).await?,
            FieldType::Boolean => {
                self.prompt.yes_no(&format!("{}?", field.label), *field.value() == true)?.map(Value::Bool)
            }
            _ => {
                let (text, label) = (field.text(), form.label(field));
                let question = Question { text: &label, initial: &text, ..Question::default() };
                let typed = self.prompt.text(&question, |text| form.check(field, text.trim()))?;
                typed.and_then(|text| field.parse(text.trim()).ok())
            }
        };
        Ok(value.map(|value| form.fields[position].set(value)).is_some())
    }

    fn lines(&self, form: &Form, field: &Field) -> Result<Option<Value>, Failure> {
        let stored = field.value().as_array().into_iter().flatten();
        let stored: Vec<String> = stored.filter_map(Value::as_str).map(str::to_owned).collect();
        let mut note = STREET_NOTE;
        loop {
            let optional = |number| if form.is_new() && number > 1 { " (optional)" } else { "" };
            let question = |number| format!("Street, line {number}{}", optional(number));
            let Some(lines) = self.prompt.text_lines(question, note, &stored, |_, _| Ok(()))? else {
                return Ok(None);
            };
            let is_missing = lines.is_empty() && field.is_required() && (form.is_new() || !stored.is_empty());
            if !is_missing {
                return Ok(Some(json!(lines)));
            }
            note = "The street cannot be empty. Enter on an empty line ends it.";
        }
    }

    /// The region: of the list of the shop where it has one for the country, else as it is typed.
    async fn region(&mut self, form: &Form, field: &Field) -> Result<Option<Value>, Failure> {
        if !self.service.settings.dialect.is_magento() {
            return region::ask(self.prompt, self.profile, form, field);
        }
        let country =
            form.field("country_id").and_then(|country| country.value().as_str()).unwrap_or_default();
        if !country.is_empty() {
            crate::ops::read_country(self.service, country).await?;
        }
        region::choose(self.prompt, self.service.regions.borrow().regions(country), form, field)
    }
}

fn forms(addresses: &[Value]) -> impl Iterator<Item = Form> {
    addresses.iter().filter_map(Value::as_object).filter_map(|stored| Form::of_address(stored, addresses))
}

fn one_liner(address: &Map<String, Value>) -> String {
    let member = |name: &str| address.get(name).filter(|it| !it.is_null()).map(|it| format_value(Some(it)));
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
