//! The questions of `attribute create` to a person, one after the other; Esc goes back one.

use serde_json::{Map, Number, Value};

use super::command_line;
use super::steps::{Answers, Step};
use crate::cli::attribute::CreateArgs;
use crate::cli::member_flags::numbered_text;
use crate::commands::{Session, operation};
use crate::failure::Failure;
use crate::input::{Draft, options_file};
use crate::plan::attribute_check;
use crate::plan::attribute_code;
use crate::plan::input_kind::INPUT_KINDS;
use crate::plan::operation::Operation;
use crate::prompt::Prompt;
use crate::report::attribute;

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
    /// `interrupted` when the person leaves, `guard` when they say no at the end, `usage` for input that is refused.
    pub fn run(&mut self, document: Option<Value>) -> Result<Draft, Failure> {
        self.session.report.show("Esc goes back one step, Ctrl-C leaves. Nothing is sent before you say so.");
        loop {
            if let Some(step) = self.answers.next(&self.asked) {
                match self.ask(step)? {
                    Some(()) => self.asked.push(step),
                    None => drop(self.asked.pop()),
                }
                continue;
            }
            // What cannot work is shown before the question, and does not throw the answers away.
            let flags = CreateArgs { force: true, ..self.answers.flags.clone() };
            let mut draft = Draft::new(
                Operation::AttributeCreate,
                document.clone(),
                &flags,
                self.session.global.allow_unknown,
            )?;
            let attribute = draft.body.get("attribute").and_then(Value::as_object);
            self.answers.flags.force |= attribute.is_some_and(|it| !attribute_check::errors(it).is_empty());
            self.show(&draft);
            // They have just been shown.
            draft.warnings.clear();
            match self.confirm()? {
                Some(true) => return Ok(draft),
                Some(false) => return Err(self.declined()),
                None => drop(self.asked.pop()),
            }
        }
    }

    /// The same as one command line, to keep in a script.
    pub fn tell_command_line(&self) {
        let words = command_line::words(&self.answers.flags, self.session.global);
        self.session.report.note(&format!("The same as one command:\n  {}", command_line::quoted(&words)));
    }

    fn confirm(&self) -> Result<Option<bool>, Failure> {
        if self.session.global.dry_run || self.prompt.says_yes() {
            return Ok(Some(true));
        }
        self.prompt.agree("Create it?", false)
    }

    fn declined(&self) -> Failure {
        self.tell_command_line();
        Failure::guard("not confirmed; nothing was written")
            .hint("the command above has every answer; change it and run it")
    }

    fn show(&self, draft: &Draft) {
        let report = self.session.report;
        let none = Map::new();
        let inner = draft.body.get("attribute").and_then(Value::as_object).unwrap_or(&none);
        report.show(&format!("\n{}\n", attribute::text(inner, report.stderr())));
        operation::warn(self.session, draft);
    }

    fn ask(&mut self, step: Step) -> Answered {
        match step {
            Step::Label => self.label(),
            Step::Code => self.code(),
            Step::Kind => self.kind(),
            Step::Options => self.options(),
            Step::DefaultOption => self.default_option(),
            Step::StoreLabels => self.store_labels(),
            Step::Required => self.yes_or_no(step, "Must every product have it?"),
            Step::Filterable => self.yes_or_no(step, "Can shoppers filter by it?"),
            Step::Searchable => self.yes_or_no(step, "Does search look at it?"),
        }
    }

    fn label(&mut self) -> Answered {
        let present = self.answers.text(Step::Label).unwrap_or_default();
        let Some(label) = self.prompt.line("Label, as shoppers see it", present, not_empty)? else {
            return Ok(None);
        };
        self.answers.set(Step::Label, label.trim().into());
        Ok(Some(()))
    }

    fn code(&mut self) -> Answered {
        let label = self.answers.text(Step::Label).unwrap_or_default();
        let present = self.answers.text(Step::Code).map(str::to_owned);
        let present = present.unwrap_or_else(|| attribute_code::suggested(label));
        let Some(code) = self.prompt.line("Code", &present, not_empty)? else { return Ok(None) };
        self.answers.set(Step::Code, code.trim().into());
        Ok(Some(()))
    }

    fn kind(&mut self) -> Answered {
        let choices = INPUT_KINDS.map(|kind| format!("{:<14} {}", kind.name, kind.meaning));
        let present = self.answers.text(Step::Kind);
        let present = INPUT_KINDS.iter().position(|kind| Some(kind.name) == present).unwrap_or(0);
        let Some(kind) = self.prompt.pick("Input kind", &choices, present)? else { return Ok(None) };
        self.answers.set(Step::Kind, INPUT_KINDS[kind].name.into());
        Ok(Some(()))
    }

    fn options(&mut self) -> Answered {
        let typed = self.answers.flags.options.len();
        loop {
            let mut choices =
                vec!["Type or paste them, one a line", "Take them from a CSV file", "None for now"]
                    .into_iter()
                    .map(str::to_owned)
                    .collect::<Vec<_>>();
            if typed > 0 {
                choices.push(format!("Keep the {typed} there are"));
            }
            let present = if typed > 0 { choices.len() - 1 } else { 0 };
            let answered = match self.prompt.pick("Options", &choices, present)? {
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
        self.session.report.show("One option a line, typed or pasted; an empty line ends the list.");
        let question = |number: usize| format!("Option {number}");
        let Some(labels) = self.prompt.lines(question, &[], one_cell)? else { return Ok(None) };
        self.set_options(labels.iter().map(|label| label.trim().to_owned()).collect());
        Ok(Some(()))
    }

    fn options_file(&mut self) -> Answered {
        let report = self.session.report;
        report.show("The columns are label,sort_order,is_default,label:STORE_ID…; the first is enough.");
        let readable = |file: &str| match options_file(file.trim().as_ref()) {
            Ok(options) if options.is_empty() => Err("it has no option".to_owned()),
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.message),
        };
        let Some(file) = self.prompt.line("CSV file", "", readable)? else { return Ok(None) };
        self.set_options(Vec::new());
        self.answers.flags.options_file = Some(file.trim().into());
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
        let Some(choice) = self.prompt.pick("Chosen by default", &choices, present)? else { return Ok(None) };
        flags.default_option = choice.checked_sub(1).map(|option| flags.options[option].clone());
        Ok(Some(()))
    }

    fn store_labels(&mut self) -> Answered {
        let present: Vec<String> =
            self.answers.flags.store_labels.iter().map(|(id, label)| format!("{id}={label}")).collect();
        self.session.report.show("Labels per store view, such as 2=Couleur; an empty line ends the list.");
        let question = |_| "STORE_ID=LABEL".to_owned();
        let Some(lines) = self.prompt.lines(question, &present, |line| numbered_text(line).map(drop))? else {
            return Ok(None);
        };
        let labels: Vec<(Number, String)> =
            lines.iter().filter_map(|line| numbered_text(line).ok()).collect();
        self.answers.flags.store_labels = labels;
        Ok(Some(()))
    }

    fn yes_or_no(&mut self, step: Step, question: &str) -> Answered {
        let Some(answer) = self.prompt.agree(question, self.answers.flag(step))? else { return Ok(None) };
        self.answers.set(step, answer.into());
        Ok(Some(()))
    }
}

fn not_empty(text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err("it cannot be empty".to_owned()) } else { Ok(()) }
}

/// Cells side by side come with tabs between them.
fn one_cell(text: &str) -> Result<(), String> {
    if text.trim().contains('\t') {
        return Err(
            "these are several columns: save them as CSV, and Esc leads back to where it is asked for"
                .to_owned(),
        );
    }
    Ok(())
}
