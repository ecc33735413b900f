//! `attribute create` with something missing: it is asked for, one question after the other; Esc goes back one.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::cli::attribute::CreateArgs;
use crate::cli::field_flags::parse_number_label;
use crate::commands::equivalent;
use crate::failure::Failure;
use crate::input::{Draft, options_file};
use crate::plan::operation::Operation;
use crate::plan::validate::attribute::{FRONTEND_INPUTS, FrontendInput, is_valid_code, suggest_code};
use crate::plan::validate::lint;
use crate::prompt::{Objection, Prompt, Question};
use crate::report::attribute;
use crate::session::Session;
use crate::shell::Shell;

/// What is asked, in this order: the field of the attribute that it fills (docs/interface.md, "Attribute"), but for the
/// option that is chosen by default.
const STEPS: [&str; 9] = [LABEL, CODE, KIND, OPTIONS, DEFAULT, LABELS, REQUIRED, FILTERABLE, SEARCHABLE];
const LABEL: &str = "default_frontend_label";
const CODE: &str = "attribute_code";
const KIND: &str = "frontend_input";
const OPTIONS: &str = "options";
const DEFAULT: &str = "options.is_default";
const LABELS: &str = "frontend_labels";
const REQUIRED: &str = "is_required";
const FILTERABLE: &str = "is_filterable";
const SEARCHABLE: &str = "is_searchable";

/// The flags as they are filled, and where the questions stand.
pub struct Wizard<'a> {
    session: &'a Session<'a>,
    prompt: &'a Prompt,
    flags: CreateArgs,
    /// What flags or input gave.
    given: Vec<&'static str>,
    kind_of_input: Option<String>,
    asked: Vec<&'static str>,
}

impl<'a> Wizard<'a> {
    /// Begins with the flags that were given, and with the attribute that `--input` holds.
    pub fn new(
        session: &'a Session<'a>,
        prompt: &'a Prompt,
        flags: CreateArgs,
        input: &Map<String, Value>,
    ) -> Self {
        let is_given = |step: &&str| {
            input.contains_key(*step)
                || match *step {
                    OPTIONS => !flags.options.is_empty() || flags.options_file.is_some(),
                    // A CSV and JSON have a place for it.
                    DEFAULT => {
                        let has_place = flags.options_file.is_some() || input.contains_key(OPTIONS);
                        has_place || flags.default_option.is_some()
                    }
                    LABELS => !flags.store_labels.is_empty(),
                    SEARCHABLE => flags.searchable.is_some(),
                    _ => flags.attribute.named.contains_key(*step),
                }
        };
        let given = STEPS.into_iter().filter(is_given).collect();
        let kind_of_input = input.get("frontend_input").and_then(Value::as_str).map(str::to_owned);
        Self { session, prompt, flags, given, kind_of_input, asked: Vec::new() }
    }

    /// Whether something is missing that an attribute cannot do without.
    pub fn lacks_something(&self) -> bool {
        [LABEL, CODE, KIND, OPTIONS].into_iter().any(|step| self.is_open(step))
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
            let text = attribute::text(&draft.fields, session.report.stderr_style);
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

    fn next(&self) -> Option<&'static str> {
        STEPS.into_iter().find(|step| self.is_open(step) && !self.asked.contains(step))
    }

    fn is_open(&self, step: &str) -> bool {
        let applies = match step {
            OPTIONS => self.takes_options(),
            DEFAULT => !self.flags.options.is_empty(),
            _ => true,
        };
        applies && !self.given.contains(&step)
    }

    fn takes_options(&self) -> bool {
        let kind = self.named(KIND).or(self.kind_of_input.as_deref());
        kind.and_then(FrontendInput::find).is_some_and(|kind| kind.takes_options)
    }

    fn named(&self, step: &str) -> Option<&str> {
        self.flags.attribute.named.get(step).and_then(Value::as_str)
    }

    fn name(&mut self, step: &str, value: Value) {
        self.flags.attribute.named.insert(step.to_owned(), value);
    }

    /// Whether it was answered; not, after Esc.
    fn ask(&mut self, step: &str) -> Result<bool, Failure> {
        match step {
            LABEL => {
                let is_given = |text: &str| Objection::unless(!text.trim().is_empty(), "required");
                self.text(step, "Label (shown to shoppers)", String::new(), is_given)
            }
            CODE => {
                let suggested = suggest_code(self.named(LABEL).unwrap_or_default());
                let wrong = "a code is a letter and up to 59 of a-z, 0-9 and _";
                let is_usual = |text: &str| Objection::unless(is_valid_code(text.trim()), wrong);
                self.text(step, "Code", suggested, is_usual)
            }
            KIND => self.kind(),
            OPTIONS => self.options(),
            DEFAULT => self.default_option(),
            LABELS => self.store_labels(),
            REQUIRED => self.yes_or_no(step, "Required?"),
            FILTERABLE => self.yes_or_no(step, "Use in layered navigation? (filter)"),
            _ => {
                let present = self.flags.searchable.unwrap_or(false);
                let answer = self.prompt.yes_no("Include in search?", present)?;
                self.flags.searchable = answer.or(self.flags.searchable);
                Ok(answer.is_some())
            }
        }
    }

    fn text(
        &mut self,
        step: &str,
        text: &str,
        suggested: String,
        check: impl Fn(&str) -> Result<(), Objection>,
    ) -> Result<bool, Failure> {
        let present = self.named(step).map_or(suggested, str::to_owned);
        let question = Question { text, initial: &present, ..Question::default() };
        let typed = self.prompt.text(&question, check)?;
        Ok(typed.map(|text| self.name(step, text.trim().into())).is_some())
    }

    fn yes_or_no(&mut self, step: &str, question: &str) -> Result<bool, Failure> {
        let present = self.flags.attribute.named.get(step) == Some(&Value::Bool(true));
        let answer = self.prompt.yes_no(question, present)?;
        Ok(answer.map(|answer| self.name(step, answer.into())).is_some())
    }

    fn kind(&mut self) -> Result<bool, Failure> {
        let choices = FRONTEND_INPUTS.map(|kind| format!("{:<14} {}", kind.name, kind.meaning));
        let present = self.named(KIND);
        let present = FRONTEND_INPUTS.iter().position(|kind| Some(kind.name) == present).unwrap_or(0);
        let Some(kind) = self.prompt.select("Input type", &choices, present)? else { return Ok(false) };
        self.name(KIND, FRONTEND_INPUTS[kind].name.into());
        if !self.given.contains(&OPTIONS) && !self.takes_options() {
            self.set_options(Vec::new());
        }
        Ok(true)
    }

    fn options(&mut self) -> Result<bool, Failure> {
        let choices =
            ["Enter options, one per line", "Import from a CSV file", "No options"].map(str::to_owned);
        loop {
            let is_answered = match self.prompt.select("Options", &choices, 0)? {
                None => return Ok(false),
                Some(0) => {
                    let note = "One option a line, typed or pasted. Leave empty to finish.";
                    let question = |number: usize| format!("Option {number}");
                    // Cells side by side come with tabs between them.
                    let wrong = "looks like several columns; press Esc and import them as CSV";
                    let is_cell = |_, text: &str| Objection::unless(!text.contains('\t'), wrong);
                    let labels = self.prompt.text_lines(question, note, &self.flags.options, is_cell)?;
                    labels.map(|labels| self.set_options(labels)).is_some()
                }
                Some(1) => self.options_file()?,
                Some(_) => {
                    self.set_options(Vec::new());
                    true
                }
            };
            if is_answered {
                return Ok(true);
            }
        }
    }

    fn options_file(&mut self) -> Result<bool, Failure> {
        let readable = |file: &str| match options_file(&file_meant(file), self.flags.run.input.encoding) {
            Ok(options) if options.is_empty() => Err(Objection::Wrong("the file has no options".to_owned())),
            result => result.map(drop).map_err(|failure| failure.message.into()),
        };
        let note = "Columns: label,sort_order,is_default,label:STORE_ID…; the first is enough.";
        let question = Question { text: "CSV file", note, ..Question::default() };
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
        let is_label = |_, text: &str| {
            let is_right = text.is_empty() || parse_number_label(text).is_ok();
            Objection::unless(is_right, "type STORE_ID=LABEL, such as 2=Couleur")
        };
        let lines = self.prompt.text_lines(question, note, &present, is_label)?;
        let labels = |lines: Vec<String>| lines.iter().filter_map(|it| parse_number_label(it).ok()).collect();
        Ok(lines.map(|lines| self.flags.store_labels = labels(lines)).is_some())
    }
}

/// The file that was typed or dropped on the terminal, in a shell's quotes and with `~`.
fn file_meant(typed: &str) -> PathBuf {
    let words = Shell::NATIVE.split(typed.trim()).unwrap_or_default();
    let name = if let [word] = &words[..] { word } else { typed.trim() };
    match (name.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => name.into(),
    }
}
