//! The questions of `order update` on a terminal, for what the command line leaves open: which order of which customer,
//! which of its addresses, and what changes in it.

use serde_json::{Map, Value};

use super::update::UpdateArgs;
use crate::cli::command_line::{CommandLine, flag};
use crate::client::service::Service;
use crate::commands::{self, grammar};
use crate::ops::orders::{self, OrderName, of_customer};
use crate::ops::positive;
use crate::prompt::{Objection, Prompt, Question};
use crate::report::fields::{format_value, member};
use crate::report::profile;
use storefront_core::check::body::country;
use storefront_core::email::CustomerName;
use storefront_core::failure::Failure;
use storefront_core::interface::label::label;
use storefront_core::lint;
use storefront_core::operation::scalar;
use storefront_core::order::{Order, Which};

const DONE: &str = "Done, review changes";
/// How many orders are offered.
const OFFERED: usize = 20;

/// The fields that are asked for, each with its flag; the country decides about the region.
const FIELDS: [(&str, &str); 10] = [
    ("firstname", "address-firstname"),
    ("lastname", "address-lastname"),
    ("street", "street"),
    ("country_id", "country"),
    ("region", "region"),
    ("postcode", "postcode"),
    ("city", "city"),
    ("telephone", "telephone"),
    ("company", "company"),
    ("vat_id", "vat-id"),
];
const COUNTRY: usize = 3;
const REGION: usize = 4;

/// Asks for what is open, runs the command with the answers, and prints the outcome.
///
/// # Errors
/// [`Failure::cancelled`] when the person leaves; whatever goes wrong with the command.
pub async fn run(service: &Service<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    let session = service.session;
    let prompt = service.session.prompt();
    let mut line = service.typed();
    let name = if args.choice.is_given() {
        args.choice.name()?
    } else {
        let id = choose_order(service, &prompt).await?;
        line = line.with(flag("id", &id.to_string()));
        OrderName::Id(id)
    };
    let order = orders::read(service, &name).await?;
    *service.shown.borrow_mut() = order.shown.clone();
    prompt.show(&session.report.stderr_style.wrapped(&profile::owner(&order.owner())));
    let side = if let Some(side) = args.side() {
        side
    } else {
        let side = choose_side(&prompt, &order)?;
        line = line.with(vec![format!("--{side}")]);
        side
    };
    if !args.names_a_change() {
        let which = if side == Which::Billing.name() { Which::Billing } else { Which::Shipping };
        line = Form::of(order.stored(which)?).fill(service, &prompt, &line)?;
    }
    let args: UpdateArgs = line.parse(grammar())?;
    commands::run_answered(service, &args, &line).await
}

/// Asks for one of the newest orders of a customer.
async fn choose_order(service: &Service<'_>, prompt: &Prompt) -> Result<u64, Failure> {
    let question = Question { text: "Customer (ID or email)", ..Question::default() };
    let is_name =
        |text: &str| Objection::unless(CustomerName::parse(text).is_some(), "enter an ID or an email");
    loop {
        let typed = prompt.text(&question, |text| is_name(text.trim()))?.ok_or_else(Failure::cancelled)?;
        let (found, _) = of_customer(service, typed.trim(), OFFERED).await?;
        if found.is_empty() {
            prompt.show("No order found.");
            continue;
        }
        let choice = |order: &Value| {
            let member = |name: &str| scalar(order.get(name)).unwrap_or_default();
            let city = order.pointer("/extension_attributes/shipping_assignments/0/shipping/address/city");
            let city = scalar(city).unwrap_or_default();
            format!("{}  {} {} {city}", member("increment_id"), member("created_at"), member("status"))
        };
        let choices: Vec<String> = found.iter().map(choice).collect();
        if let Some(picked) = prompt.select("Which order?", &choices, 0)? {
            let id = scalar(found[picked].get("entity_id")).and_then(|id| positive(&id));
            return id
                .ok_or_else(|| Failure::unexpected_reply("unexpected response: an order without an ID"));
        }
    }
}

/// Asks for one of its addresses; returns the name of the flag.
fn choose_side(prompt: &Prompt, order: &Order) -> Result<&'static str, Failure> {
    let of = |which: Which| Some((which.name(), profile::place_first(order.address(which)?)));
    let mut sides: Vec<(&str, String)> =
        [Which::Shipping, Which::Billing].into_iter().filter_map(of).collect();
    if sides.len() > 1 {
        sides.push(("both", "the same correction".to_owned()));
    }
    let choices: Vec<String> = sides.iter().map(|(side, address)| format!("{side}  {address}")).collect();
    let picked = prompt.select("Which address?", &choices, 0)?.ok_or_else(Failure::cancelled)?;
    Ok(sides[picked].0)
}

/// The fields of an address while they are edited: the lines of each, as stored and as edited.
struct Form {
    stored: Vec<Vec<String>>,
    edited: Vec<Option<Vec<String>>>,
}

impl Form {
    fn of(address: &Map<String, Value>) -> Self {
        let lines = |name: &str| match address.get(name) {
            Some(Value::Array(lines)) => lines.iter().filter_map(|line| scalar(Some(line))).collect(),
            _ => vec![member(address, name)],
        };
        Self {
            stored: FIELDS.iter().map(|(name, _)| lines(name)).collect(),
            edited: vec![None; FIELDS.len()],
        }
    }

    /// The command line with the edits. However the form is left, no edit is lost: the command is printed.
    fn fill(
        mut self,
        service: &Service<'_>,
        prompt: &Prompt,
        line: &CommandLine,
    ) -> Result<CommandLine, Failure> {
        let asked = self.ask_all(prompt);
        let line = line.with(self.words());
        let is_edited = self.edited.iter().any(Option::is_some);
        if is_edited && !matches!(asked, Ok(true)) {
            service.session.report.equivalent(&line);
        }
        match asked {
            Ok(true) => Ok(line),
            Ok(false) => Err(Failure::cancelled()),
            Err(failure) => Err(failure),
        }
    }

    /// Asks for fields until the person is done; `false` for Esc.
    fn ask_all(&mut self, prompt: &Prompt) -> Result<bool, Failure> {
        let mut present = 0;
        loop {
            let mut choices: Vec<String> = (0..FIELDS.len()).map(|at| self.line(at)).collect();
            choices.push(DONE.to_owned());
            let Some(picked) = prompt.menu("What is to be corrected?", &choices, present)? else {
                return Ok(false);
            };
            if picked < FIELDS.len() {
                let is_answered = self.ask(prompt, picked)?;
                if is_answered && picked == COUNTRY && self.edited[COUNTRY].is_some() {
                    self.ask(prompt, REGION)?;
                }
                present = if is_answered { FIELDS.len() } else { picked };
            } else if self.edited.iter().any(Option::is_some) {
                return Ok(true);
            } else {
                present = 0;
            }
        }
    }

    /// Asks for a field; `false` after Esc.
    fn ask(&mut self, prompt: &Prompt, at: usize) -> Result<bool, Failure> {
        let (name, _) = FIELDS[at];
        let is_required = lint::REQUIRED.contains(&name);
        let mut lines = self.edited[at].clone().unwrap_or_else(|| self.stored[at].clone());
        let check = |first: bool, text: &str| {
            Objection::unless(!first || !is_required || !text.trim().is_empty(), "required")?;
            if at == COUNTRY { Ok(country(text.trim()).map(drop)?) } else { Ok(()) }
        };
        let is_answered = if name == "street" {
            let question = |number| format!("Street, line {number} (leave empty to finish)");
            prompt.text_lines(question, "", &mut lines, |before, text| check(before.is_empty(), text))?
        } else {
            let region = if name == "region" { ", by name or code (empty: none)" } else { "" };
            let text = format!("{}{region}", label(name));
            let question = Question { text: &text, initial: &lines.concat(), ..Question::default() };
            let typed = prompt.text(&question, |text| check(true, text))?;
            typed.map(|text| lines = vec![text.trim().to_owned()]).is_some()
        };
        let is_new_country = self.edited[COUNTRY].is_some();
        if is_answered {
            // For a new country, the stored region is an answer, too.
            let is_same = lines == self.stored[at] && !(at == REGION && is_new_country);
            self.edited[at] = Some(lines).filter(|_| !is_same);
        }
        Ok(is_answered)
    }

    /// A field in the list.
    fn line(&self, at: usize) -> String {
        let shown = |lines: &[String]| {
            let lines: Value = lines.iter().filter(|line| !line.is_empty()).cloned().collect();
            format_value(Some(&lines))
        };
        let name = label(FIELDS[at].0);
        let stored = shown(&self.stored[at]);
        match &self.edited[at] {
            Some(lines) => format!("{name}: {}  (was {stored})", shown(lines)),
            None => format!("{name}: {stored}"),
        }
    }

    /// The edits, as flags.
    fn words(&self) -> Vec<String> {
        let words = FIELDS.iter().zip(&self.edited).filter_map(|((name, long), lines)| {
            let lines = lines.as_ref()?;
            Some(match lines.iter().all(String::is_empty) {
                true if *name == "region" => vec!["--no-region".to_owned()],
                true => flag("clear", long),
                false => lines.iter().flat_map(|line| flag(long, line)).collect(),
            })
        });
        words.flatten().collect()
    }
}
