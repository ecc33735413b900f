//! `customer update` without a named change: a person picks one address, or the profile, and edits it; it is sent, and
//! the list comes again. If there is only an administrator's token, the person picks the customer, too.

use serde_json::{Value, json};

use super::UpdateArgs;
use super::form::{ASKED_OF_NEW_ADDRESS, Field, Form, region_text};
use crate::cli::command_line::{CommandLine, flag};
use crate::cli::field_flags::whole_number;
use crate::client::service::Service;
use crate::commands::{grammar, prepare};
use crate::ops::profile::{ProfileChange, read, replace};
use crate::ops::{customers, read_country};
use crate::prompt::{Objection, Prompt, Question};
use crate::report::outcome::Outcome;
use crate::report::profile::{defaults, owner, place_first};
use crate::report::style::TextStyle;
use storefront_core::failure::{Applied, Failure};
use storefront_core::id::AddressId;
use storefront_core::interface::fields::FieldType;
use storefront_core::profile::address::{AddressIndex, addresses_by_id};
use storefront_core::profile::region::{self, Region, RegionDirectory};
use storefront_core::profile::stored::Profile;

const DONE: &str = "Done, review changes";

/// How many customers are offered at once.
const MATCHES: usize = 20;

/// The service for the customer that was named. A person is asked if words name the customer, or if nobody is named and
/// there is only an administrator's token.
///
/// # Errors
/// As [`customers::select`]; [`Failure::cancelled`] when the person leaves.
pub async fn select<'a>(service: &Service<'a>, named: Option<&str>) -> Result<Service<'a>, Failure> {
    let session = service.session;
    let prompt = session.prompt();
    let is_plain = |text: &str| text.contains('@') || text.trim().parse::<u64>().is_ok();
    let mut words = named.filter(|text| !is_plain(text)).map(str::to_owned);
    let is_open = words.is_some() || named.is_none() && service.settings.has_only_admin_token();
    if !is_open || service.settings.dialect.customers.is_none() || !prompt.can_ask() {
        return customers::select(service, named);
    }
    let is_given = |text: &str| Objection::unless(!text.trim().is_empty(), "required");
    loop {
        let question = Question { text: "Customer (ID, email or words)", ..Question::default() };
        let text = match words.take() {
            Some(words) => words,
            None => prompt.text(&question, is_given)?.ok_or_else(Failure::cancelled)?,
        };
        let text = text.trim();
        if is_plain(text) {
            return customers::select(service, Some(text));
        }
        let found = customers::find(service, text, MATCHES).await?.customers;
        if found.is_empty() {
            prompt.show("No customer found.");
            continue;
        }
        let choice = |customer: &Value| {
            let member = |name| customers::text(customer, name);
            format!("{}  {} {} {}", member("email"), member("firstname"), member("lastname"), member("id"))
        };
        let choices: Vec<String> = found.iter().map(choice).collect();
        if let Some(picked) = prompt.select("Which one?", &choices, 0)? {
            return customers::select(service, Some(&customers::text(&found[picked], "id")));
        }
    }
}

/// Asks what is to be changed, sends it, and asks again.
///
/// # Errors
/// [`Failure::cancelled`] when the person leaves before anything was sent; whatever goes wrong with an update.
pub async fn update(service: &Service<'_>, prompt: &Prompt, args: &UpdateArgs) -> Result<(), Failure> {
    // The address is one of the answers.
    let typed = service.typed().without(&["--address", "--add-address"]);
    let mut has_sent = false;
    let mut is_introduced = false;
    let mut start = Some(args).filter(|args| args.address.is_some() || args.add_address);
    loop {
        let profile = match &args.base {
            Some(base) => read::read_base(base)?,
            None => read::read_profile(service).await?,
        };
        if !std::mem::replace(&mut is_introduced, true) {
            let style = service.session.report.stderr_style;
            prompt.show(&style.paint(TextStyle::Head, &style.wrapped(&owner(profile.customer()))));
            prompt.show("Esc goes back one step, Ctrl-C cancels.");
        }
        let form = match start.take() {
            Some(UpdateArgs { address, .. }) => {
                let index = AddressIndex::of(profile.addresses())?;
                address.map(|id| index.find(id)).transpose()?;
                Form::of_address(*address, profile.addresses())
            }
            None => match pick(service, prompt, &profile, has_sent)? {
                Some(form) => form,
                None => return Ok(()),
            },
        };
        *service.shown.borrow_mut() = profile.customer().clone().into();
        let mut dialogue = Dialogue { service, prompt, typed: &typed, profile: &profile, form, chosen: None };
        has_sent |= dialogue.run().await?;
        let is_over = service.session.global.dry_run || args.base.is_some() || service.stopping.get();
        if has_sent && is_over {
            return Ok(());
        }
    }
}

/// The form to edit; `None` if the person has finished.
fn pick(
    service: &Service<'_>,
    prompt: &Prompt,
    profile: &Profile,
    has_sent: bool,
) -> Result<Option<Form>, Failure> {
    let stored: Vec<(AddressId, &Value)> = addresses_by_id(profile.addresses()).collect();
    let line = |(id, address): &(AddressId, &Value)| {
        let address = address.as_object()?;
        Some(format!("{}  address {id}{}", place_first(address), defaults(profile.customer(), address)))
    };
    let lines = stored.iter().map(|stored| line(stored).unwrap_or_default());
    let mut choices: Vec<String> = lines.collect();
    choices.extend(["Add an address", "Profile fields"].map(str::to_owned));
    choices.extend(has_sent.then(|| "Done".to_owned()));
    let question = if has_sent { "Another change?" } else { "What do you want to change?" };
    let present = if has_sent { choices.len() - 1 } else { 0 };
    let picked = match prompt.select(question, &choices, present) {
        Ok(Some(picked)) => picked,
        Err(failure) if !failure.is_cancelled => return Err(failure),
        // Something was sent, so this is not a cancellation.
        _ if has_sent => return Ok(None),
        _ => return Err(Failure::cancelled()),
    };
    Ok(match picked.checked_sub(stored.len()) {
        None => Some(Form::of_address(Some(stored[picked].0), profile.addresses())),
        Some(0) => Some(Form::of_address(None, &[])),
        Some(1) => Some(Form::of_profile(profile.customer(), service.settings.dialect.fields.customer)),
        Some(_) => None,
    })
}

/// The questions about one address, or about the profile.
struct Dialogue<'a> {
    service: &'a Service<'a>,
    prompt: &'a Prompt,
    typed: &'a CommandLine,
    profile: &'a Profile,
    form: Form,
    /// The flags that were sent or are asked about.
    chosen: Option<Vec<String>>,
}

/// However a dialogue ends, nothing that was typed is lost: the command that does the same is printed.
impl Drop for Dialogue<'_> {
    fn drop(&mut self) {
        let chosen = self.chosen.take();
        if let Some(words) = chosen.or_else(|| self.form.is_edited().then(|| self.words())) {
            self.service.session.report.equivalent(&self.typed.with(words));
        }
    }
}

impl Dialogue<'_> {
    /// The edits, as flags.
    fn words(&self) -> Vec<String> {
        self.form.words(&self.service.regions.borrow())
    }

    /// Asks, and sends the edits; `false` if Esc led back to the list.
    async fn run(&mut self) -> Result<bool, Failure> {
        let session = self.service.session;
        loop {
            self.chosen = None;
            let Some(words) = self.fill_or_discard().await? else { return Ok(false) };
            self.chosen = Some(words.clone());
            return match self.send(words).await {
                Ok(None) => continue,
                // What was refused can be corrected, unless a signal came meanwhile.
                Err(failure) if failure.applied == Applied::No && !self.is_over(&failure) => {
                    session.report.failure(&failure);
                    continue;
                }
                Ok(Some(outcome)) => session.report.outcome(&outcome).map(|()| true),
                Err(failure) => Err(failure),
            };
        }
    }

    /// Whether nothing more is asked after a failure.
    fn is_over(&self, failure: &Failure) -> bool {
        failure.is_cancelled || self.service.stopping.get()
    }

    /// Sends what these flags ask for; `None` for Esc.
    async fn send(&self, words: Vec<String>) -> Result<Option<Outcome>, Failure> {
        let args: UpdateArgs = self.typed.with(words).parse(grammar())?;
        let update = args.update(prepare(self.service.session, &args, None)?)?;
        let done = replace::replace_or_back(self.service, ProfileChange::Update(&update)).await;
        if let Some(done) = done.as_ref().map(Option::as_ref).transpose() {
            self.service.stage.end(done);
        }
        done
    }

    /// The flags of the edits; `None` after Esc, once the person has agreed to discard the edits.
    async fn fill_or_discard(&mut self) -> Result<Option<Vec<String>>, Failure> {
        loop {
            let filled = self.fill().await?;
            let is_left = filled.is_some() || !self.form.is_edited();
            if is_left || self.prompt.yes_no("Discard the changes?", false)? == Some(true) {
                return Ok(filled);
            }
        }
    }

    /// The flags of the edits; `None` after Esc in the list of the fields.
    async fn fill(&mut self) -> Result<Option<Vec<String>>, Failure> {
        let done = self.form.fields.len();
        let mut present = if self.form.is_edited() { done } else { 0 };
        while self.form.is_new && present < ASKED_OF_NEW_ADDRESS {
            present = match (self.ask(present).await?, present) {
                (true, _) => present + 1,
                (false, 0) => return Ok(None),
                (false, _) => present - 1,
            };
        }
        let mut note = String::new();
        loop {
            let mut choices = self.form.lines();
            choices.push(DONE.to_owned());
            // Not after edits, which would be lost.
            let can_remove = self.form.id.is_some() && !self.form.is_edited();
            choices.extend(can_remove.then(|| "Remove this address".to_owned()));
            let title = format!("{}{}", self.form.title, std::mem::take(&mut note));
            let Some(picked) = self.prompt.menu(&title, &choices, present)? else { return Ok(None) };
            present = picked;
            match (self.form.fields.get(picked), self.form.id, self.form.missing()) {
                (None, Some(id), _) if picked > done => {
                    return Ok(Some(flag("remove-address", &id.to_string())));
                }
                (None, _, Some(missing)) => {
                    note = format!(": {} is required", self.form.fields[missing].label);
                    present = missing;
                }
                (None, ..) if self.form.is_edited() => return Ok(Some(self.words())),
                (None, ..) => ": nothing was changed".clone_into(&mut note),
                (Some(field), ..) if field.is_stored_default() => {
                    ": to change the default, choose another address".clone_into(&mut note);
                }
                _ => {
                    present += usize::from(self.ask(picked).await?);
                    if let Some(region) = self.region_after(picked).await? {
                        self.ask(region).await?;
                    }
                }
            }
        }
    }

    /// The place of the region, if a new country needs another region, or has a list of its own.
    async fn region_after(&self, picked: usize) -> Result<Option<usize>, Failure> {
        let is_new = self.form.is_new_country(picked);
        let country = self.form.value("country_id").as_str().unwrap_or_default();
        if is_new {
            read_country(self.service, country).await?;
        }
        let has_list = is_new && !self.service.regions.borrow().regions(country).is_empty();
        Ok(self.form.region_in_doubt().or_else(|| self.form.region().filter(|_| has_list)))
    }

    /// Asks for the field; `false` after Esc.
    async fn ask(&mut self, position: usize) -> Result<bool, Failure> {
        let field = &self.form.fields[position];
        let value = match field.holds {
            FieldType::TextList => return self.street(position),
            FieldType::Object(_) => self.region(field).await?,
            FieldType::Boolean => {
                self.prompt.yes_no(&format!("{}?", field.label), *field.value() == true)?.map(Value::Bool)
            }
            _ => {
                let text = self.form.initial(field, self.profile);
                let label = self.form.question(field);
                let question = Question { text: &label, initial: &text, ..Question::default() };
                let typed = self.prompt.text(&question, |text| self.form.check(field, text.trim()))?;
                typed.and_then(|text| field.parse(text.trim()).ok())
            }
        };
        Ok(value.map(|value| self.form.fields[position].set(value)).is_some())
    }

    /// Asks for the lines of the street, and sets them even if the person leaves; `false` after Esc.
    fn street(&mut self, position: usize) -> Result<bool, Failure> {
        let field = &self.form.fields[position];
        let stored = field.value().as_array().into_iter().flatten();
        let mut lines: Vec<String> = stored.filter_map(Value::as_str).map(str::to_owned).collect();
        let asked = self.ask_street(field, &mut lines);
        if !matches!(asked, Ok(false)) {
            self.form.fields[position].set(json!(lines));
        }
        asked
    }

    fn ask_street(&self, field: &Field, lines: &mut Vec<String>) -> Result<bool, Failure> {
        let question = |number| {
            format!("Street, line {number}{}", if number > 1 { " (leave empty to finish)" } else { "" })
        };
        let check = |before: &[String], text: &str| self.form.check_street(field, before.len() + 1, text);
        loop {
            if !self.prompt.text_lines(question, "", lines, check)? {
                return Ok(false);
            }
            let Some(risk) = field.too_many_lines(lines.len()) else { return Ok(true) };
            self.prompt.show(&self.service.session.report.stderr_style.wrapped(&risk));
            // One Enter is not an answer to this.
            if self.prompt.agrees("Keep all lines?")? {
                return Ok(true);
            }
        }
    }

    /// The region, by name or code: one of the shop's list for the country, if it has one. An unchanged region keeps its
    /// id.
    async fn region(&self, field: &Field) -> Result<Option<Value>, Failure> {
        let country = self.form.value("country_id").as_str().unwrap_or_default();
        if !country.is_empty() {
            read_country(self.service, country).await?;
        }
        let directory = self.service.regions.borrow();
        let stored = field.value();
        let has_list = !directory.regions(country).is_empty();
        let is_in_doubt = self.form.region_in_doubt().is_some();
        let note = if is_in_doubt { "The country changed; enter a region in the new one." } else { "" };
        let initial = if is_in_doubt { "" } else { region_text(stored) };
        let is_kept = |text: &str| !is_in_doubt && text == initial.trim();
        let check = |text: &str| match text.trim() {
            text if !has_list || text.is_empty() || is_kept(text) => Ok(()),
            text => Ok(directory.meant(country, text).map(drop)?),
        };
        let empty = if has_list { "list" } else { "none" };
        let text = format!("Region, by name or code (empty: {empty})");
        let question = Question { text: &text, note, initial, ..Question::default() };
        let Some(typed) = self.prompt.text(&question, check)? else { return Ok(None) };
        let typed = typed.trim();
        if typed.is_empty() {
            return self.pick_region(directory.regions(country));
        }
        if is_kept(typed) {
            return Ok(Some(stored.clone()));
        }
        let own = RegionDirectory::of(self.profile.customer());
        let known =
            if has_list { directory.meant(country, typed).ok() } else { own.named(country, typed).ok() };
        if let Some(known) = known {
            return Ok(Some(json_of(known)));
        }
        if self.service.settings.dialect.country.is_some() {
            return Ok(Some(json!({"region": typed})));
        }
        let note = "No region list; enter 0 to store the name only.";
        let question = Question { text: "Region ID", initial: "0", note, ..Question::default() };
        let id = self.prompt.text(&question, |text| Ok(whole_number(text.trim()).map(drop)?))?;
        let id = id.and_then(|id| whole_number(id.trim()).ok());
        Ok(id.map(|id| json!({"region": typed, "region_id": id})))
    }

    /// Asks for one of the regions, or none.
    fn pick_region(&self, regions: &[Region]) -> Result<Option<Value>, Failure> {
        if regions.is_empty() {
            return Ok(Some(region::none()));
        }
        let mut choices = vec!["No region".to_owned()];
        choices.extend(regions.iter().map(|region| format!("{}  {}", region.name, region.code)));
        let picked = self.prompt.select("Region", &choices, 1)?;
        Ok(picked.map(|picked| picked.checked_sub(1).map_or_else(region::none, |one| json_of(&regions[one]))))
    }
}

fn json_of(region: &Region) -> Value {
    json!({"region_code": region.code, "region": region.name, "region_id": region.id})
}
