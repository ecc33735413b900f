//! The steps of the wizard as data: which there are, which are asked, and what the answers are kept in.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::cli::attribute::CreateArgs;
use crate::plan::validate::attribute::FrontendInput;

/// One thing to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Label, as shoppers see it.
    Label,
    /// Code, suggested from the label.
    Code,
    /// Input kind.
    Kind,
    /// Options, for the kinds that take them.
    Options,
    /// Which option is chosen by default.
    DefaultOption,
    /// Labels per store view.
    StoreLabels,
    /// Whether every product must have it.
    Required,
    /// Whether shoppers can filter by it.
    Filterable,
    /// Whether search looks at it.
    Searchable,
}

impl Step {
    /// In the order of asking.
    pub const ALL: [Self; 9] = [
        Self::Label,
        Self::Code,
        Self::Kind,
        Self::Options,
        Self::DefaultOption,
        Self::StoreLabels,
        Self::Required,
        Self::Filterable,
        Self::Searchable,
    ];

    /// The field of the attribute it fills (docs/interface.md, "Attribute"). A default is a field of an
    /// option.
    const fn member(self) -> &'static str {
        match self {
            Self::Label => "default_frontend_label",
            Self::Code => "attribute_code",
            Self::Kind => "frontend_input",
            Self::Options | Self::DefaultOption => "options",
            Self::StoreLabels => "frontend_labels",
            Self::Required => "is_required",
            Self::Filterable => "is_filterable",
            Self::Searchable => "is_searchable",
        }
    }

    /// Without which there is nothing to create.
    const fn is_essential(self) -> bool {
        matches!(self, Self::Label | Self::Code | Self::Kind | Self::Options)
    }
}

/// The flags as they are filled, and what need not be asked.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The flags. What the wizard asks ends here too.
    pub flags: CreateArgs,
    given: HashSet<Step>,
    kind_of_input: Option<String>,
}

impl Answers {
    /// Begins with the flags that were given, and with the attribute that `--input` holds.
    pub fn new(flags: CreateArgs, input: &Map<String, Value>) -> Self {
        let given = Step::ALL.into_iter().filter(|step| is_given(*step, &flags, input)).collect();
        let kind_of_input = input.get("frontend_input").and_then(Value::as_str).map(str::to_owned);
        Self { flags, given, kind_of_input }
    }

    /// Whether something is missing that an attribute cannot do without.
    pub fn lack_something(&self) -> bool {
        Step::ALL.into_iter().any(|step| step.is_essential() && self.is_open(step))
    }

    /// The first step that is still to be asked.
    pub fn next(&self, asked: &[Step]) -> Option<Step> {
        Step::ALL.into_iter().find(|step| self.is_open(*step) && !asked.contains(step))
    }

    /// A text among the flags.
    pub fn text(&self, step: Step) -> Option<&str> {
        self.flags.attribute.named.get(step.member()).and_then(Value::as_str)
    }

    /// A yes or no among the flags.
    pub fn flag(&self, step: Step) -> bool {
        match step {
            Step::Searchable => self.flags.searchable == Some(true),
            step => self.flags.attribute.named.get(step.member()) == Some(&Value::Bool(true)),
        }
    }

    /// Answers a step that is one field of its own.
    pub fn set(&mut self, step: Step, answer: Value) {
        if let (Step::Searchable, Value::Bool(answer)) = (step, &answer) {
            self.flags.searchable = Some(*answer);
            return;
        }
        self.flags.attribute.named.insert(step.member().to_owned(), answer);
        if step == Step::Kind && !self.given.contains(&Step::Options) && !self.takes_options() {
            self.flags.options.clear();
            self.flags.options_file = None;
            self.flags.default_option = None;
        }
    }

    fn is_open(&self, step: Step) -> bool {
        let applies = match step {
            Step::Options => self.takes_options(),
            Step::DefaultOption => !self.flags.options.is_empty(),
            _ => true,
        };
        applies && !self.given.contains(&step)
    }

    fn takes_options(&self) -> bool {
        let kind = self.text(Step::Kind).or(self.kind_of_input.as_deref());
        kind.and_then(FrontendInput::find).is_some_and(|kind| kind.takes_options)
    }
}

fn is_given(step: Step, flags: &CreateArgs, input: &Map<String, Value>) -> bool {
    let by_flag = match step {
        Step::Options => !flags.options.is_empty() || flags.options_file.is_some(),
        // A CSV has a column for it.
        Step::DefaultOption => flags.default_option.is_some() || flags.options_file.is_some(),
        Step::StoreLabels => !flags.store_labels.is_empty(),
        Step::Searchable => flags.searchable.is_some(),
        step => flags.attribute.named.contains_key(step.member()),
    };
    by_flag || input.contains_key(step.member())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Answers, Step};
    use crate::interactive::attribute::command_line::tests::flags;

    fn answers(line: &str, input: Value) -> Answers {
        let words: Vec<&str> = line.split_whitespace().collect();
        Answers::new(flags(&words), input.as_object().unwrap_or(&Map::new()))
    }

    /// The steps in the order they come, each answered as it would be for a select.
    fn asked(mut answers: Answers, kind: &str) -> Vec<Step> {
        let mut asked = Vec::new();
        while let Some(step) = answers.next(&asked) {
            match step {
                Step::Kind => answers.set(step, kind.into()),
                Step::Options => answers.flags.options = vec!["Red".to_owned()],
                _ => {}
            }
            asked.push(step);
        }
        asked
    }

    #[test]
    fn everything_is_asked_of_who_said_nothing_and_options_only_where_they_fit() {
        assert_eq!(asked(answers("", Value::Null), "select"), Step::ALL);
        let of_a_text = asked(answers("", Value::Null), "text");
        assert!(!of_a_text.contains(&Step::Options) && !of_a_text.contains(&Step::DefaultOption));
    }

    #[test]
    fn what_flags_or_input_gave_is_not_asked() {
        let some = "--label Colour --type select --option Red --required --searchable=false";
        let left = [Step::Code, Step::DefaultOption, Step::StoreLabels, Step::Filterable];
        assert_eq!(asked(answers(some, Value::Null), ""), left);
        let input = json!({"attribute_code": "c", "frontend_input": "select", "is_filterable": true,
            "options": [{"label": "Red"}], "frontend_labels": []});
        assert_eq!(asked(answers("", input), ""), [Step::Label, Step::Required, Step::Searchable]);
    }

    #[test]
    fn the_wizard_begins_only_where_something_essential_is_missing() {
        for (line, lacks) in [
            ("", true),
            ("--label C --code c", true),
            ("--label C --code c --type text", false),
            ("--label C --code c --type select", true),
            ("--label C --code c --type select --options list.csv", false),
            ("--label C --code c --type unheard_of", false),
        ] {
            assert_eq!(answers(line, Value::Null).lack_something(), lacks, "{line}");
        }
        let select = json!({"frontend_input": "select"});
        assert!(answers("--label C --code c", select).lack_something());
    }

    #[test]
    fn another_kind_forgets_the_options_that_were_typed_for_the_first() {
        let mut answers = answers("--label C", Value::Null);
        answers.set(Step::Kind, "select".into());
        answers.flags.options = vec!["Red".to_owned()];
        answers.flags.default_option = Some("Red".to_owned());
        answers.set(Step::Kind, "multiselect".into());
        assert_eq!(answers.flags.options, ["Red"]);
        answers.set(Step::Kind, "text".into());
        assert!(answers.flags.options.is_empty() && answers.flags.default_option.is_none());
    }
}
