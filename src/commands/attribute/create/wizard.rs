//! Asks for what `attribute create` lacks, one question at a time; Esc goes back one.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::CreateArgs;
use crate::cli::command_line::{CommandLine, flag};
use crate::cli::field_flags::parse_store_label;
use crate::client::Session;
use crate::client::service::Service;
use crate::commands::grammar;
use crate::input::Draft;
use crate::ops::attribute::names;
use crate::ops::{self, Operation as _};
use crate::prompt::{Objection, Prompt, Question};
use crate::report::attribute;
use storefront_core::attribute::Named;
use storefront_core::attribute::rules::{
    FRONTEND_INPUTS, FrontendInput, NOT_FILTERABLE, is_valid_code, suggest_code,
};
use storefront_core::failure::{Failure, FailureKind};

/// A question. Its answers are values of a flag.
struct Step {
    /// The field of the attribute that it fills, except the default option.
    field: &'static str,
    flag: &'static str,
    text: &'static str,
    note: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Lines until an empty one.
    Lines,
    /// One of a list.
    Choice,
    YesNo,
}

const LABEL: &str = "default_frontend_label";
const CODE: &str = "attribute_code";
const INPUT_TYPE: &str = "frontend_input";
const OPTIONS: &str = "options";
const DEFAULT: &str = "options.is_default";
const LABELS: &str = "frontend_labels";
const SET: &str = "attribute_set";

/// The questions, in order.
const STEPS: [Step; 10] = [
    step(LABEL, "label", Kind::Text, "Label (shown to shoppers)", ""),
    step(CODE, "code", Kind::Text, "Code", ""),
    step(INPUT_TYPE, "type", Kind::Choice, "Input type", ""),
    step(
        OPTIONS,
        "option",
        Kind::Lines,
        "Option",
        "One option a line, typed or pasted. Leave empty to finish.",
    ),
    step(DEFAULT, "default-option", Kind::Choice, "Default option", ""),
    step(
        LABELS,
        "store-label",
        Kind::Lines,
        "Store view label",
        "Labels per store view as STORE=LABEL, such as 2=Couleur. Leave empty to finish.",
    ),
    step("is_required", "required", Kind::YesNo, "Required?", ""),
    step("is_filterable", "filterable", Kind::YesNo, "Use as a filter in layered navigation?", ""),
    step("is_searchable", "searchable", Kind::YesNo, "Include in search?", ""),
    step(
        SET,
        "set",
        Kind::Lines,
        "Attribute set",
        "Products can have it only in a set, such as Default or Default/Content. Leave empty to finish.",
    ),
];

const fn step(
    field: &'static str,
    flag: &'static str,
    kind: Kind,
    text: &'static str,
    note: &'static str,
) -> Step {
    Step { field, flag, text, note, kind }
}

/// The questions and their answers so far.
pub struct Wizard<'a> {
    session: &'a Session<'a>,
    prompt: &'a Prompt,
    /// The attribute as far as flags or input gave it.
    given: Map<String, Value>,
    /// The steps that are answered.
    asked: Vec<&'static Step>,
    /// The answers by field; those of steps that are no longer answered are offered again.
    answers: HashMap<&'static str, Vec<String>>,
    /// The store views of the shop, where it lists them.
    views: Option<Rc<Vec<Named>>>,
}

/// However the questions end, no answer is lost: the command that does the same is printed.
impl Drop for Wizard<'_> {
    fn drop(&mut self) {
        if !self.asked.is_empty() {
            self.session.report.equivalent(&self.line());
        }
    }
}

impl<'a> Wizard<'a> {
    /// Begins with the flags that were typed, and with the attribute that `--input` holds.
    pub fn new(
        session: &'a Session<'a>,
        prompt: &'a Prompt,
        flags: &CreateArgs,
        input: Map<String, Value>,
    ) -> Self {
        let mut given = input;
        // Mistakes in the flags are refused with the answers.
        let _ = flags.apply(&mut given);
        given.extend(flags.options.default_option.is_some().then(|| (DEFAULT.to_owned(), Value::Null)));
        Self { session, prompt, given, asked: Vec::new(), answers: HashMap::new(), views: None }
    }

    /// Whether something is missing that an attribute cannot do without.
    pub fn lacks_something(&self) -> bool {
        STEPS[..4].iter().any(|step| self.is_open(step))
    }

    /// Asks for what is missing, shows the attribute and asks for agreement. `document` is what `--input` held.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves or says no at the end, `usage` for input that is refused.
    pub async fn run(&mut self, service: &Service<'_>, document: Option<Value>) -> Result<Draft, Failure> {
        self.prompt.show("Esc goes back one step, Ctrl-C cancels.");
        loop {
            let is_asked = |step: &Step| self.asked.iter().any(|asked| asked.field == step.field);
            let next = STEPS.iter().find(|step| self.is_open(step) && !is_asked(step));
            let is_answered = match next {
                Some(step) => self.answer(service, step).await?,
                None => match self.confirm(document.clone())? {
                    Some(draft) => return Ok(draft),
                    None => false,
                },
            };
            if !is_answered {
                self.asked.pop().ok_or_else(Failure::cancelled)?;
            }
        }
    }

    /// Asks one question, and again if the shop does not know the answer; `false` for Esc.
    async fn answer(&mut self, service: &Service<'_>, step: &'static Step) -> Result<bool, Failure> {
        if step.field == LABELS && self.session.dialect.lists_store_views {
            self.views = names::store_views(service).await.ok();
        }
        let Some(values) = self.ask(step)? else { return Ok(false) };
        self.answers.insert(step.field, values);
        self.asked.push(step);
        // If the look-up fails otherwise, sending the attribute finds a mistake.
        if let Err(unknown) = self.resolve_names(service, step).await
            && unknown.kind == FailureKind::Usage
        {
            self.session.report.failure(&unknown);
            self.asked.pop();
        }
        Ok(true)
    }

    /// Resolves what the answer to a step names in the shop: store views and attribute sets.
    async fn resolve_names(&self, service: &Service<'_>, step: &Step) -> Result<(), Failure> {
        let (flags, mut fields): (CreateArgs, _) = (self.line().parse(grammar())?, Map::new());
        // Other mistakes are reported with the whole attribute.
        let _ = flags.apply(&mut fields);
        fields.retain(|name, _| name == step.field);
        ops::attribute::resolve_names(service, &fields).await
    }

    /// Shows the whole and asks; `None` for Esc.
    fn confirm(&self, document: Option<Value>) -> Result<Option<Draft>, Failure> {
        let report = self.session.report;
        let dialect = self.session.dialect;
        let global = self.session.global;
        let flags: CreateArgs = self.line().parse(grammar())?;
        let mut draft = flags.prepare(dialect, document.into(), global.input.allow_unknown)?;
        self.prompt.show(&format!("\n{}\n", attribute::text(&draft.fields, report.stderr_style)));
        // Warnings that were shown are not printed again.
        draft.warnings.drain(..).for_each(|warning| report.warn(&warning));
        let is_agreed = global.dry_run || self.prompt.confirm_or_back("Create it?")?;
        Ok(is_agreed.then_some(draft))
    }

    /// The command that was typed, with the answers.
    fn line(&self) -> CommandLine {
        let words = |step: &&Step| {
            let words = self.answers[step.field].iter().map(|value| match (step.kind, &**value) {
                (Kind::YesNo, "true") => vec![format!("--{}", step.flag)],
                (Kind::YesNo, _) => vec![format!("--{}=false", step.flag)],
                _ => flag(step.flag, value),
            });
            words.flatten().collect::<Vec<_>>()
        };
        self.session.global.typed.with(self.asked.iter().flat_map(words).collect())
    }

    fn is_open(&self, step: &Step) -> bool {
        let applies = match step.field {
            OPTIONS => FrontendInput::find(self.text(INPUT_TYPE)).is_some_and(|kind| kind.takes_options),
            DEFAULT => self.asked.iter().any(|step| step.field == OPTIONS),
            "is_filterable" => !NOT_FILTERABLE.contains(&self.text(INPUT_TYPE)),
            SET => self.session.dialect.changes_attributes,
            _ => true,
        };
        applies && !self.given.contains_key(step.field)
    }

    /// The text of a field as it was answered or given.
    fn text(&self, field: &str) -> &str {
        let answer = self.answers.get(field).and_then(|values| Some(values.first()?.as_str()));
        answer.or_else(|| self.given.get(field)?.as_str()).unwrap_or_default()
    }

    /// The values of the flag; `None` after Esc.
    fn ask(&self, step: &Step) -> Result<Option<Vec<String>>, Failure> {
        let (prompt, check) = (self.prompt, |before: &[String], text: &str| self.check(step, before, text));
        Ok(match step.kind {
            Kind::Text => {
                let suggested =
                    if step.field == CODE { suggest_code(self.text(LABEL)) } else { String::new() };
                let initial =
                    Some(self.text(step.field)).filter(|text| !text.is_empty()).unwrap_or(&suggested);
                let question = Question { text: step.text, note: step.note, initial, ..Question::default() };
                let typed = prompt.text(&question, |text| check(&[], text.trim()))?;
                typed.map(|text| Vec::from_iter(Some(text.trim().to_owned()).filter(|text| !text.is_empty())))
            }
            Kind::Lines => {
                let mut lines = self.answers.get(step.field).cloned().unwrap_or_default();
                let question = |number| format!("{} {number}", step.text);
                prompt.text_lines(question, step.note, &mut lines, check)?.then_some(lines)
            }
            Kind::Choice => {
                let (values, shown): (Vec<_>, Vec<_>) = self.choices(step).into_iter().unzip();
                let present = values.iter().position(|value| value == self.text(step.field)).unwrap_or(0);
                let chosen = prompt.select(step.text, &shown, present)?;
                chosen
                    .map(|chosen| Vec::from_iter(Some(values[chosen].clone()).filter(|one| !one.is_empty())))
            }
            Kind::YesNo => {
                let yes = prompt.yes_no(step.text, self.text(step.field) == "true")?;
                yes.map(|yes| vec![yes.to_string()])
            }
        })
    }

    /// Values of a flag, and how each is shown.
    fn choices(&self, step: &Step) -> Vec<(String, String)> {
        if step.field == INPUT_TYPE {
            let choice =
                |kind: FrontendInput| (kind.name.to_owned(), format!("{:<14} {}", kind.name, kind.meaning));
            return FRONTEND_INPUTS.map(choice).to_vec();
        }
        let labels = self.answers.get(OPTIONS).into_iter().flatten();
        let none = (String::new(), "None".to_owned());
        std::iter::once(none).chain(labels.map(|label| (label.clone(), label.clone()))).collect()
    }

    /// The marketplace knows store views by their IDs alone.
    fn check_store_label(&self, before: &[String], text: &str) -> Result<(), Objection> {
        let (view, _) = parse_store_label(text)?;
        let is_same = |line: &String| parse_store_label(line).is_ok_and(|(other, _)| other == view);
        Objection::unless(!before.iter().any(is_same), "the store view has a label already")?;
        let is_id = view.parse::<u64>().is_ok();
        match &self.views {
            Some(views) if !is_id => match Named::find(views, "store view", &view) {
                Ok(_) => Ok(()),
                Err(unknown) => Err(unknown.message.into()),
            },
            None if !self.session.dialect.lists_store_views => {
                Objection::unless(is_id, "type STORE=LABEL, such as 2=Couleur")
            }
            _ => Ok(()),
        }
    }

    fn check(&self, step: &Step, before: &[String], text: &str) -> Result<(), Objection> {
        let wrong = match step.field {
            LABEL | OPTIONS if text.is_empty() && before.is_empty() => "required",
            CODE if !is_valid_code(text) => "a code is a letter and up to 59 of a-z, 0-9 and _",
            OPTIONS if before.iter().any(|label| label.to_lowercase() == text.to_lowercase()) => {
                "already there"
            }
            // Pasted cells of a row have tabs between them.
            OPTIONS if text.contains('\t') => {
                "looks like several columns; use --options FILE.csv for a table"
            }
            LABELS if !text.is_empty() => return self.check_store_label(before, text),
            _ => return Ok(()),
        };
        Err(Objection::Wrong(wrong.to_owned()))
    }
}
