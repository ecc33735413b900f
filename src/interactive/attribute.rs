//! `attribute create` with something missing: it is asked for, one question after the other; Esc goes back one.

use serde_json::{Map, Number, Value};

use super::equivalent;
use crate::cli::attribute::CreateArgs;
use crate::cli::field_flags::parse_number_label;
use crate::failure::Failure;
use crate::input::{Draft, options_file};
use crate::plan::operation::Operation;
use crate::plan::validate::attribute::{FRONTEND_INPUTS, FrontendInput, is_valid_code, suggest_code};
use crate::plan::validate::lint;
use crate::prompt::{Objection, Prompt, Question, file_meant};
use crate::report::attribute;
use crate::session::Session;

/// One thing to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Label,
    Code,
    Kind,
    Options,
    DefaultOption,
    StoreLabels,
    Required,
    Filterable,
    Searchable,
}

use Step::{Code, DefaultOption, Filterable, Kind, Label, Options, Required, Searchable, StoreLabels};

/// In the order of asking, each with the field of the attribute it fills (docs/interface.md, "Attribute").
const STEPS: [(Step, &str); 9] = [
    (Label, "default_frontend_label"),
    (Code, "attribute_code"),
    (Kind, "frontend_input"),
    (Options, "options"),
    (DefaultOption, "options"),
    (StoreLabels, "frontend_labels"),
    (Required, "is_required"),
    (Filterable, "is_filterable"),
    (Searchable, "is_searchable"),
];

/// Without which there is nothing to create.
const ESSENTIAL: [Step; 4] = [Label, Code, Kind, Options];

/// The flags as they are filled, and where the questions stand.
pub struct Wizard<'a> {
    session: &'a Session<'a>,
    prompt: &'a Prompt,
    flags: CreateArgs,
    /// What flags or input gave.
    given: Vec<Step>,
    kind_of_input: Option<String>,
    asked: Vec<Step>,
}

impl<'a> Wizard<'a> {
    /// Begins with the flags that were given, and with the attribute that `--input` holds.
    pub fn new(
        session: &'a Session<'a>,
        prompt: &'a Prompt,
        flags: CreateArgs,
        input: &Map<String, Value>,
    ) -> Self {
        let is_given = |step: Step, field: &str| {
            input.contains_key(field)
                || match step {
                    Options => !flags.options.is_empty() || flags.options_file.is_some(),
                    // A CSV has a column for it.
                    DefaultOption => flags.default_option.is_some() || flags.options_file.is_some(),
                    StoreLabels => !flags.store_labels.is_empty(),
                    Searchable => flags.searchable.is_some(),
                    _ => flags.attribute.named.contains_key(field),
                }
        };
        let given = STEPS.iter().filter(|(step, field)| is_given(*step, field)).map(|(step, _)| *step);
        let given = given.collect();
        let kind_of_input = input.get("frontend_input").and_then(Value::as_str).map(str::to_owned);
        Self { session, prompt, flags, given, kind_of_input, asked: Vec::new() }
    }

    /// Whether something is missing that an attribute cannot do without.
    pub fn lacks_something(&self) -> bool {
        ESSENTIAL.into_iter().any(|step| self.is_open(step))
    }

    /// Asks what is missing, shows the whole and has it confirmed. `document` is what `--input` held.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves or says no at the end, `usage` for input that is refused.
    pub fn run(&mut self, document: Option<Value>) -> Result<Draft, Failure> {
        self.prompt.show("Esc goes back one step, Ctrl-C cancels.");
        loop {
            if let Some(step) = self.next() {
                if self.ask(step)? {
                    self.asked.push(step);
                } else {
                    self.go_back()?;
                }
                continue;
            }
            let (session, operation) = (self.session, Operation::AttributeCreate);
            // What cannot work is shown before the question, and does not throw the answers away.
            let flags = CreateArgs { force: true, ..self.flags.clone() };
            let allow_unknown = session.global.allow_unknown;
            let mut draft = Draft::new(session.dialect, operation, document.clone(), &flags, allow_unknown)?;
            self.flags.force |= !lint::attribute_errors(&draft.fields).is_empty();
            let text = attribute::text(&draft.fields, session.report.stderr_style());
            self.prompt.show(&format!("\n{text}\n"));
            // Once shown, they are not printed again.
            draft.warnings.drain(..).for_each(|warning| self.prompt.warn(session.report, &warning));
            if session.global.dry_run {
                return Ok(draft);
            }
            if self.prompt.confirm_or_back("Create it?").inspect_err(|_| self.tell())? {
                return Ok(draft);
            }
            self.go_back()?;
        }
    }

    /// The same as one command line, to keep in a script.
    pub fn tell(&self) {
        equivalent::tell(self.session, &equivalent::create(&self.flags, self.session.global));
    }

    fn go_back(&mut self) -> Result<(), Failure> {
        self.asked.pop().map(drop).ok_or_else(Failure::cancelled)
    }

    fn next(&self) -> Option<Step> {
        let steps = STEPS.iter().map(|(step, _)| *step);
        steps.into_iter().find(|step| self.is_open(*step) && !self.asked.contains(step))
    }

    fn is_open(&self, step: Step) -> bool {
        let applies = match step {
            Options => self.takes_options(),
            DefaultOption => !self.flags.options.is_empty(),
            _ => true,
        };
        applies && !self.given.contains(&step)
    }

    fn takes_options(&self) -> bool {
        let kind = self.named(Kind).and_then(Value::as_str).or(self.kind_of_input.as_deref());
        kind.and_then(FrontendInput::find).is_some_and(|kind| kind.takes_options)
    }

    fn named(&self, step: Step) -> Option<&Value> {
        STEPS
            .iter()
            .find(|(one, _)| *one == step)
            .and_then(|(_, field)| self.flags.attribute.named.get(*field))
    }

    fn name(&mut self, step: Step, value: Value) {
        let field = STEPS.iter().find(|(one, _)| *one == step).map_or("", |(_, field)| *field);
        self.flags.attribute.named.insert(field.to_owned(), value);
    }

    /// Whether it was answered; not, after Esc.
    fn ask(&mut self, step: Step) -> Result<bool, Failure> {
        match step {
            Label => self.text(step, "Label (shown to shoppers)", String::new(), not_empty),
            Code => {
                let label = self.named(Label).and_then(Value::as_str).unwrap_or_default();
                self.text(step, "Code", suggest_code(label), usual_code)
            }
            Kind => self.kind(),
            Options => self.options(),
            DefaultOption => self.default_option(),
            StoreLabels => self.store_labels(),
            Required => self.yes_or_no(step, "Required?"),
            Filterable => self.yes_or_no(step, "Use in layered navigation? (filter)"),
            Searchable => {
                let present = self.flags.searchable.unwrap_or(false);
                let answer = self.prompt.yes_no("Include in search?", present)?;
                self.flags.searchable = answer.or(self.flags.searchable);
                Ok(answer.is_some())
            }
        }
    }

    fn text(
        &mut self,
        step: Step,
        text: &str,
        suggested: String,
        check: fn(&str) -> Result<(), Objection>,
    ) -> Result<bool, Failure> {
        let present = self.named(step).and_then(Value::as_str).map_or(suggested, str::to_owned);
        let question = Question { text, initial: &present, ..Question::default() };
        let typed = self.prompt.text(&question, check)?;
        Ok(typed.map(|text| self.name(step, text.trim().into())).is_some())
    }

    fn yes_or_no(&mut self, step: Step, question: &str) -> Result<bool, Failure> {
        let answer = self.prompt.yes_no(question, self.named(step) == Some(&Value::Bool(true)))?;
        Ok(answer.map(|answer| self.name(step, answer.into())).is_some())
    }

    fn kind(&mut self) -> Result<bool, Failure> {
        let choices = FRONTEND_INPUTS.map(|kind| format!("{:<14} {}", kind.name, kind.meaning));
        let present = self.named(Kind).and_then(Value::as_str);
        let present = FRONTEND_INPUTS.iter().position(|kind| Some(kind.name) == present).unwrap_or(0);
        let Some(kind) = self.prompt.select("Input type", &choices, present)? else { return Ok(false) };
        self.name(Kind, FRONTEND_INPUTS[kind].name.into());
        if !self.given.contains(&Options) && !self.takes_options() {
            self.set_options(Vec::new());
        }
        Ok(true)
    }

    fn options(&mut self) -> Result<bool, Failure> {
        let typed = self.flags.options.len();
        let mut choices =
            ["Enter options, one per line", "Import from a CSV file", "No options"].map(str::to_owned);
        if typed > 0 {
            choices[2] = format!("Keep the current {typed}");
        }
        loop {
            let present = if typed > 0 { 2 } else { 0 };
            let is_answered = match self.prompt.select("Options", &choices, present)? {
                None => return Ok(false),
                Some(0) => self.typed_options()?,
                Some(1) => self.options_file()?,
                Some(_) => true,
            };
            if is_answered {
                return Ok(true);
            }
        }
    }

    fn typed_options(&mut self) -> Result<bool, Failure> {
        let note = "One option a line, typed or pasted. Leave empty to finish.";
        let question = |number: usize| format!("Option {number}");
        let labels = self.prompt.text_lines(question, note, &[], one_cell)?;
        Ok(labels.map(|labels| self.set_options(labels)).is_some())
    }

    fn options_file(&mut self) -> Result<bool, Failure> {
        let readable = |file: &str| match options_file(&file_meant(file)) {
            Ok(options) if options.is_empty() => Err(Objection::Wrong("the file has no options".to_owned())),
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.message.into()),
        };
        let question = Question {
            text: "CSV file",
            note: "Columns: label,sort_order,is_default,label:STORE_ID…; the first is enough. Tab completes names.",
            is_file: true,
            ..Question::default()
        };
        let Some(file) = self.prompt.text(&question, readable)? else { return Ok(false) };
        self.set_options(Vec::new());
        self.flags.options_file = Some(file_meant(&file));
        Ok(true)
    }

    fn set_options(&mut self, labels: Vec<String>) {
        self.flags.options_file = None;
        self.flags.default_option.take_if(|label| !labels.contains(label));
        self.flags.options = labels;
    }

    fn default_option(&mut self) -> Result<bool, Failure> {
        let options = &self.flags.options;
        let choices: Vec<String> =
            std::iter::once("None".to_owned()).chain(options.iter().cloned()).collect();
        let present = self.flags.default_option.as_ref();
        let present = present.and_then(|label| options.iter().position(|option| option == label));
        let present = present.map_or(0, |option| option + 1);
        let Some(choice) = self.prompt.select("Default option", &choices, present)? else { return Ok(false) };
        self.flags.default_option = choice.checked_sub(1).map(|option| options[option].clone());
        Ok(true)
    }

    fn store_labels(&mut self) -> Result<bool, Failure> {
        let present = self.flags.store_labels.iter();
        let present: Vec<String> = present.map(|(id, label)| format!("{id}={label}")).collect();
        let note = "Labels per store view, such as 2=Couleur. Leave empty to finish.";
        let question = |_| "STORE_ID=LABEL".to_owned();
        let Some(lines) = self.prompt.text_lines(question, note, &present, store_label)? else {
            return Ok(false);
        };
        let labels = lines.iter().filter_map(|line| parse_number_label(line).ok());
        self.flags.store_labels = labels.collect::<Vec<(Number, String)>>();
        Ok(true)
    }
}

fn not_empty(text: &str) -> Result<(), Objection> {
    if text.trim().is_empty() { Err("required".to_owned().into()) } else { Ok(()) }
}

fn usual_code(text: &str) -> Result<(), Objection> {
    if is_valid_code(text.trim()) {
        return Ok(());
    }
    Err("a code is a letter and up to 59 of a-z, 0-9 and _".to_owned().into())
}

fn store_label(_: usize, text: &str) -> Result<(), Objection> {
    let expected = |_| Objection::Wrong("type STORE_ID=LABEL, such as 2=Couleur".to_owned());
    if text.is_empty() { Ok(()) } else { parse_number_label(text).map(drop).map_err(expected) }
}

/// Cells side by side come with tabs between them.
fn one_cell(_: usize, text: &str) -> Result<(), Objection> {
    if text.contains('\t') {
        return Err("looks like several columns; press Esc and import them as CSV".to_owned().into());
    }
    Ok(())
}
