//! `attribute create` with something missing: it is asked for, one question after the other; Esc goes back one.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::CreateArgs;
use crate::cli::field_flags::parse_store_label;
use crate::commands::equivalent::{flag, parse, tell, typed};
use crate::failure::{Failure, FailureKind};
use crate::input::{Draft, options_file};
use crate::ops::Operation as _;
use crate::ops::attribute::assign::set_names;
use crate::ops::attribute::names;
use crate::plan::validate::attribute::{FRONTEND_INPUTS, FrontendInput, is_valid_code, suggest_code};
use crate::plan::validate::lint;
use crate::prompt::{Objection, Prompt, Question};
use crate::report::attribute;
use crate::session::Session;
use crate::session::service::Service;
use crate::text::shell::Shell;

/// What is asked, in this order: the field of the attribute that it fills (docs/interface.md, "Attribute"), but for the
/// option that is chosen by default.
const STEPS: [&str; 10] =
    [LABEL, CODE, KIND, OPTIONS, DEFAULT, LABELS, REQUIRED, FILTERABLE, SEARCHABLE, SET];
const LABEL: &str = "default_frontend_label";
const CODE: &str = "attribute_code";
const KIND: &str = "frontend_input";
const OPTIONS: &str = "options";
const DEFAULT: &str = "options.is_default";
const LABELS: &str = "frontend_labels";
const REQUIRED: &str = "is_required";
const FILTERABLE: &str = "is_filterable";
const SEARCHABLE: &str = "is_searchable";
const SET: &str = "attribute_set";

/// Where the questions stand.
pub struct Wizard<'a> {
    session: &'a Session<'a>,
    prompt: &'a Prompt,
    /// The attribute as far as flags or input gave it.
    given: Map<String, Value>,
    /// The flags that were typed, with all answers.
    flags: CreateArgs,
    /// The steps that are answered.
    asked: Vec<&'static str>,
    /// Answers as flags; those of steps that are no longer answered are offered again.
    answers: HashMap<&'static str, Vec<String>>,
    /// Whether it can be created only by force.
    needs_force: bool,
}

impl<'a> Wizard<'a> {
    /// Begins with the flags that were typed, and with the attribute that `--input` holds.
    pub fn new(
        session: &'a Session<'a>,
        prompt: &'a Prompt,
        flags: CreateArgs,
        input: Map<String, Value>,
    ) -> Self {
        let mut given = input;
        // What is wrong with the flags is refused with the answers.
        let _ = flags.apply(&mut given);
        let (asked, answers) = (Vec::new(), HashMap::new());
        Self { session, prompt, given, flags, asked, answers, needs_force: false }
    }

    /// Whether something is missing that an attribute cannot do without.
    pub fn lacks_something(&self) -> bool {
        [LABEL, CODE, KIND, OPTIONS].into_iter().any(|step| self.is_open(step))
    }

    /// Asks what is missing, shows the whole and has it confirmed. `document` is what `--input` held.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves or says no at the end, `usage` for input that is refused.
    pub async fn run(&mut self, service: &Service<'_>, document: Option<Value>) -> Result<Draft, Failure> {
        self.prompt.show("Esc goes back one step, Ctrl-C cancels.");
        loop {
            let mut steps = STEPS.into_iter().filter(|step| self.is_open(step));
            if let Some(step) = steps.find(|step| !self.asked.contains(step)) {
                match self.ask(step)? {
                    Some(answer) => {
                        self.answers.insert(step, answer);
                        let answers = STEPS.iter().filter_map(|step| self.answers.get(step)).flatten();
                        self.flags = parse(&typed().into_iter().chain(answers.cloned()).collect::<Vec<_>>())?;
                        match self.look_up(service, step).await {
                            // Asked again, the answer offered to be corrected.
                            Err(unknown) if unknown.kind == FailureKind::Usage => {
                                self.session.report.failure(&unknown);
                            }
                            // What could not be looked up is found when it is sent.
                            _ => self.asked.push(step),
                        }
                    }
                    None => self.go_back()?,
                }
            } else if let Some(draft) = self.confirm(document.clone())? {
                return Ok(draft);
            } else {
                self.go_back()?;
            }
        }
    }

    /// Looks up what the answer to a step names in the shop: store views and attribute sets.
    async fn look_up(&self, service: &Service<'_>, step: &str) -> Result<(), Failure> {
        let mut fields = Map::new();
        // What is wrong otherwise is said with the whole.
        let _ = self.flags.apply(&mut fields);
        fields.retain(|name, _| name == step);
        names::resolve_store_views(service, &mut fields).await?;
        names::places(service, &set_names(&fields)).await.map(drop)
    }

    /// Shows the whole and asks; `None` for Esc. What cannot work is shown before the question, and does not throw the
    /// answers away.
    fn confirm(&mut self, document: Option<Value>) -> Result<Option<Draft>, Failure> {
        let (report, dialect, global) = (self.session.report, self.session.dialect, self.session.global);
        self.needs_force = false;
        let flags: CreateArgs = parse(&self.words())?;
        let forced = CreateArgs { force: true, ..flags.clone() };
        let mut draft = forced.prepare(dialect, document, global.input.allow_unknown)?;
        self.needs_force = !flags.force && !lint::attribute_errors(&draft.fields).is_empty();
        self.prompt.show(&format!("\n{}\n", attribute::text(&draft.fields, report.stderr_style)));
        // Once shown, they are not printed again.
        draft.warnings.drain(..).for_each(|warning| self.prompt.warn(report, &warning));
        let is_agreed =
            global.dry_run || self.prompt.confirm_or_back("Create it?").inspect_err(|_| self.tell())?;
        Ok(is_agreed.then_some(draft))
    }

    /// The same as one command line, to keep in a script.
    pub fn tell(&self) {
        tell(self.session, &self.words());
    }

    fn words(&self) -> Vec<String> {
        let answers = self.asked.iter().flat_map(|step| self.answers[step].clone());
        let force = self.needs_force.then(|| "--force".to_owned());
        typed().into_iter().chain(answers).chain(force).collect()
    }

    fn go_back(&mut self) -> Result<(), Failure> {
        self.asked.pop().map(drop).ok_or_else(Failure::cancelled)
    }

    fn is_open(&self, step: &str) -> bool {
        let kind = || FrontendInput::find(self.text_of(KIND)?);
        let applies = match step {
            OPTIONS => kind().is_some_and(|kind| kind.takes_options),
            DEFAULT => self.is_open(OPTIONS) && !self.flags.options.labels.is_empty(),
            SET => self.session.dialect.is_magento(),
            _ => true,
        };
        applies && !self.given.contains_key(step)
    }

    fn text_of(&self, step: &str) -> Option<&str> {
        self.flags.attribute.named.get(step).or_else(|| self.given.get(step))?.as_str()
    }

    /// The answer as flags; none after Esc.
    fn ask(&self, step: &str) -> Result<Option<Vec<String>>, Failure> {
        let prompt = self.prompt;
        match step {
            LABEL => {
                let is_given = |text: &str| Objection::unless(!text.trim().is_empty(), "required");
                self.text("label", step, "Label (shown to shoppers)", is_given)
            }
            CODE => {
                let wrong = "a code is a letter and up to 59 of a-z, 0-9 and _";
                let is_usual = |text: &str| Objection::unless(is_valid_code(text.trim()), wrong);
                self.text("code", step, "Code", is_usual)
            }
            KIND => {
                let choices = FRONTEND_INPUTS.map(|kind| format!("{:<14} {}", kind.name, kind.meaning));
                let present = FRONTEND_INPUTS.iter().position(|kind| Some(kind.name) == self.text_of(KIND));
                let kind = prompt.select("Input type", &choices, present.unwrap_or(0))?;
                Ok(kind.map(|kind| flag("type", FRONTEND_INPUTS[kind].name)))
            }
            OPTIONS => self.options(),
            DEFAULT => {
                let choices = [vec!["None".to_owned()], self.flags.options.labels.clone()].concat();
                let present = self.flags.options.default_option.as_ref();
                let present = choices.iter().skip(1).position(|option| Some(option) == present);
                let choice = prompt.select("Default option", &choices, present.map_or(0, |at| at + 1))?;
                let label = |choice: usize| {
                    if choice == 0 { Vec::new() } else { flag("default-option", &choices[choice]) }
                };
                Ok(choice.map(label))
            }
            LABELS => {
                let present = self.flags.store_labels.iter();
                let present: Vec<String> = present.map(|(id, label)| format!("{id}={label}")).collect();
                let note = "Labels per store view, such as 2=Couleur. Leave empty to finish.";
                // The marketplace knows store views by their IDs alone.
                let is_view = |view: &str| self.session.dialect.is_magento() || view.parse::<u64>().is_ok();
                let is_label = |_, text: &str| {
                    let is_right =
                        text.is_empty() || parse_store_label(text).is_ok_and(|(view, _)| is_view(&view));
                    Objection::unless(is_right, "type STORE=LABEL, such as 2=Couleur")
                };
                let lines = prompt.text_lines(|_| "STORE=LABEL".to_owned(), note, &present, is_label)?;
                Ok(lines.map(|lines| flags("store-label", &lines)))
            }
            REQUIRED => self.yes_or_no("required", step, "Required?"),
            FILTERABLE => self.yes_or_no("filterable", step, "Use in layered navigation? (filter)"),
            SET => {
                let note = "Products can have it only in a set, such as Default or Default/Content.";
                let initial = self.flags.sets.first().map_or("", String::as_str);
                let question =
                    Question { text: "Attribute set (optional)", note, initial, ..Question::default() };
                let typed = prompt.text(&question, |_| Ok(()))?;
                Ok(typed.map(|text| match text.trim() {
                    "" => Vec::new(),
                    name => flag("set", name),
                }))
            }
            _ => self.yes_or_no("searchable", step, "Include in search?"),
        }
    }

    fn text(
        &self,
        name: &str,
        step: &str,
        text: &str,
        check: impl Fn(&str) -> Result<(), Objection>,
    ) -> Result<Option<Vec<String>>, Failure> {
        let suggested = match step {
            CODE => suggest_code(self.text_of(LABEL).unwrap_or_default()),
            _ => String::new(),
        };
        let initial = self.text_of(step).unwrap_or(&suggested);
        let typed = self.prompt.text(&Question { text, initial, ..Question::default() }, check)?;
        Ok(typed.map(|text| flag(name, text.trim())))
    }

    fn yes_or_no(&self, name: &str, step: &str, question: &str) -> Result<Option<Vec<String>>, Failure> {
        let present = self.flags.attribute.named.get(step) == Some(&Value::Bool(true));
        let answer = self
            .prompt
            .yes_no(question, present || step == SEARCHABLE && self.flags.searchable == Some(true))?;
        Ok(answer.map(|yes| vec![format!("--{name}{}", if yes { "" } else { "=false" })]))
    }

    fn options(&self) -> Result<Option<Vec<String>>, Failure> {
        let choices =
            ["Enter options, one per line", "Import from a CSV file", "No options"].map(str::to_owned);
        loop {
            let answer = match self.prompt.select("Options", &choices, 0)? {
                None => return Ok(None),
                Some(0) => {
                    let note = "One option a line, typed or pasted. Leave empty to finish.";
                    // Cells side by side come with tabs between them.
                    let wrong = "looks like several columns; press Esc and import them as CSV";
                    let is_cell = |_, text: &str| Objection::unless(!text.contains('\t'), wrong);
                    let question = |number: usize| format!("Option {number}");
                    let labels =
                        self.prompt.text_lines(question, note, &self.flags.options.labels, is_cell)?;
                    labels.map(|labels| flags("option", &labels))
                }
                Some(1) => {
                    let read = |file: &str| options_file(&file_meant(file), self.flags.run.input.encoding);
                    let readable = |file: &str| match read(file) {
                        Ok(options) => Objection::unless(!options.is_empty(), "the file has no options"),
                        Err(failure) => Err(failure.message.into()),
                    };
                    let note = "Columns: label,sort_order,is_default,label:STORE…; the first is enough.";
                    let question = Question { text: "CSV file", note, ..Question::default() };
                    let file = self.prompt.text(&question, readable)?;
                    file.map(|file| flag("options", &file_meant(&file).display().to_string()))
                }
                Some(_) => Some(Vec::new()),
            };
            if answer.is_some() {
                return Ok(answer);
            }
        }
    }
}

fn flags(name: &str, values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| flag(name, value)).collect()
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
