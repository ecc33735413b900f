//! The questions of `attribute create` to a person, one after the other; Esc goes back one.

use serde_json::{Number, Value};

use super::command_line;
use super::steps::{Answers, Step};
use crate::cli::attribute::CreateArgs;
use crate::cli::field_flags::parse_number_label;
use crate::failure::Failure;
use crate::input::{Draft, options_file};
use crate::plan::operation::Operation;
use crate::plan::validate::attribute::FRONTEND_INPUTS;
use crate::plan::validate::attribute::{is_valid_code, suggest_code};
use crate::plan::validate::lint;
use crate::prompt::{Objection, Prompt, Question, file_meant};
use crate::report::attribute;
use crate::session::Session;
use crate::shell::Shell;

/// The wizard and where it stands.
pub struct Wizard<'a> {
    session: &'a Session<'a>,
    prompt: &'a Prompt,
    answers: Answers,
    asked: Vec<Step>,
}

/// `None` is Esc: back one step.
type Answered = Result<Option<()>, Failure>;

impl<'a> Wizard<'a> {
    /// Begins with what need not be asked.
    pub fn new(session: &'a Session<'a>, prompt: &'a Prompt, answers: Answers) -> Self {
        Self { session, prompt, answers, asked: Vec::new() }
    }

    /// Asks what is missing, shows the whole and has it confirmed. `document` is what `--input` held.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves or says no at the end, `usage` for input that is refused.
    pub fn run(&mut self, document: Option<Value>) -> Result<Draft, Failure> {
        self.prompt.show("Esc goes back one step, Ctrl-C cancels.");
        loop {
            if let Some(step) = self.answers.next(&self.asked) {
                match self.ask(step)? {
                    Some(()) => self.asked.push(step),
                    None => self.go_back()?,
                }
                continue;
            }
            // What cannot work is shown before the question, and does not throw the answers away.
            let flags = CreateArgs { force: true, ..self.answers.flags.clone() };
            let mut draft = Draft::new(
                self.session.dialect,
                Operation::AttributeCreate,
                document.clone(),
                &flags,
                self.session.global.allow_unknown,
            )?;
            self.answers.flags.force |= !lint::attribute_errors(&draft.fields).is_empty();
            self.show(&draft);
            // They have just been shown.
            draft.warnings.clear();
            match self.confirm() {
                Ok(true) => return Ok(draft),
                Ok(false) => self.go_back()?,
                Err(failure) => {
                    self.tell_command_line();
                    return Err(failure);
                }
            }
        }
    }

    /// The same as one command line, to keep in a script.
    pub fn tell_command_line(&self) {
        let words = command_line::words(&self.answers.flags, self.session.global);
        let line = command_line::quoted(&words, Shell::NATIVE);
        self.session.report.status(&format!("Equivalent command:\n  {line}"));
    }

    fn go_back(&mut self) -> Result<(), Failure> {
        self.asked.pop().map(drop).ok_or_else(Failure::cancelled)
    }

    fn confirm(&self) -> Result<bool, Failure> {
        if self.session.global.dry_run {
            return Ok(true);
        }
        self.prompt.confirm_or_back("Create it?")
    }

    fn show(&self, draft: &Draft) {
        let report = self.session.report;
        self.prompt.show(&format!("\n{}\n", attribute::text(&draft.fields, report.stderr_style())));
        draft.warnings.iter().for_each(|warning| self.prompt.warn(report, warning));
    }

    fn ask(&mut self, step: Step) -> Answered {
        match step {
            Step::Label => self.label(),
            Step::Code => self.code(),
            Step::Kind => self.kind(),
            Step::Options => self.options(),
            Step::DefaultOption => self.default_option(),
            Step::StoreLabels => self.store_labels(),
            Step::Required => self.yes_or_no(step, "Required?"),
            Step::Filterable => self.yes_or_no(step, "Use in layered navigation? (filter)"),
            Step::Searchable => self.yes_or_no(step, "Include in search?"),
        }
    }

    fn label(&mut self) -> Answered {
        let present = self.answers.text(Step::Label).unwrap_or_default();
        let question =
            Question { text: "Label (shown to shoppers)", initial: present, ..Question::default() };
        let Some(label) = self.prompt.text(&question, not_empty)? else { return Ok(None) };
        self.answers.set(Step::Label, label.trim().into());
        Ok(Some(()))
    }

    fn code(&mut self) -> Answered {
        let label = self.answers.text(Step::Label).unwrap_or_default();
        let present = self.answers.text(Step::Code).map(str::to_owned);
        let present = present.unwrap_or_else(|| suggest_code(label));
        let question = Question { text: "Code", initial: &present, ..Question::default() };
        let Some(code) = self.prompt.text(&question, usual_code)? else { return Ok(None) };
        self.answers.set(Step::Code, code.trim().into());
        Ok(Some(()))
    }

    fn kind(&mut self) -> Answered {
        let choices = FRONTEND_INPUTS.map(|kind| format!("{:<14} {}", kind.name, kind.meaning));
        let present = self.answers.text(Step::Kind);
        let present = FRONTEND_INPUTS.iter().position(|kind| Some(kind.name) == present).unwrap_or(0);
        let Some(kind) = self.prompt.select("Input type", &choices, present)? else { return Ok(None) };
        self.answers.set(Step::Kind, FRONTEND_INPUTS[kind].name.into());
        Ok(Some(()))
    }

    fn options(&mut self) -> Answered {
        let typed = self.answers.flags.options.len();
        loop {
            let mut choices = vec!["Enter options, one per line", "Import from a CSV file", "No options"]
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>();
            if typed > 0 {
                choices.push(format!("Keep the current {typed}"));
            }
            let present = if typed > 0 { choices.len() - 1 } else { 0 };
            let answered = match self.prompt.select("Options", &choices, present)? {
                None => return Ok(None),
                Some(0) => self.typed_options()?,
                Some(1) => self.options_file()?,
                Some(2) => {
                    self.set_options(Vec::new());
                    Some(())
                }
                Some(_) => Some(()),
            };
            if answered.is_some() {
                return Ok(answered);
            }
        }
    }

    fn typed_options(&mut self) -> Answered {
        let note = "One option a line, typed or pasted; Enter on an empty line ends the list.";
        let question = |number: usize| format!("Option {number}");
        let Some(labels) = self.prompt.text_lines(question, note, &[], one_cell)? else { return Ok(None) };
        self.set_options(labels);
        Ok(Some(()))
    }

    fn options_file(&mut self) -> Answered {
        let readable = |file: &str| match options_file(&file_meant(file)) {
            Ok(options) if options.is_empty() => Err(Objection::Wrong("the file has no options".to_owned())),
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.message.into()),
        };
        let question = Question {
            is_file: true,
            note: "Columns: label,sort_order,is_default,label:STORE_ID…; the first is enough. Tab completes names.",
            text: "CSV file",
            ..Question::default()
        };
        let Some(file) = self.prompt.text(&question, readable)? else { return Ok(None) };
        self.set_options(Vec::new());
        self.answers.flags.options_file = Some(file_meant(&file));
        Ok(Some(()))
    }

    fn set_options(&mut self, labels: Vec<String>) {
        self.answers.flags.options_file = None;
        self.answers.flags.default_option.take_if(|label| !labels.contains(label));
        self.answers.flags.options = labels;
    }

    fn default_option(&mut self) -> Answered {
        let flags = &mut self.answers.flags;
        let mut choices = vec!["None".to_owned()];
        choices.extend(flags.options.iter().cloned());
        let present = flags.default_option.as_ref();
        let present = present.and_then(|label| flags.options.iter().position(|option| option == label));
        let present = present.map_or(0, |option| option + 1);
        let Some(choice) = self.prompt.select("Default option", &choices, present)? else {
            return Ok(None);
        };
        flags.default_option = choice.checked_sub(1).map(|option| flags.options[option].clone());
        Ok(Some(()))
    }

    fn store_labels(&mut self) -> Answered {
        let present: Vec<String> =
            self.answers.flags.store_labels.iter().map(|(id, label)| format!("{id}={label}")).collect();
        let note = "Labels per store view, such as 2=Couleur; Enter on an empty line ends the list.";
        let question = |_| "STORE_ID=LABEL".to_owned();
        let Some(lines) = self.prompt.text_lines(question, note, &present, store_label)? else {
            return Ok(None);
        };
        let labels: Vec<(Number, String)> =
            lines.iter().filter_map(|line| parse_number_label(line).ok()).collect();
        self.answers.flags.store_labels = labels;
        Ok(Some(()))
    }

    fn yes_or_no(&mut self, step: Step, question: &str) -> Answered {
        let Some(answer) = self.prompt.yes_no(question, self.answers.flag(step))? else { return Ok(None) };
        self.answers.set(step, answer.into());
        Ok(Some(()))
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
    if text.trim().contains('\t') {
        return Err("looks like several columns; press Esc and import them as CSV".to_owned().into());
    }
    Ok(())
}
