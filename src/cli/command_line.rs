//! A command line, made from what clap matched, so that it can be typed again: with the answers of a dialogue, to resume
//! a batch, in a plan, or in a hint. It is built and quoted for the shell in this file only.

use std::fmt::{self, Display, Formatter};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};

use super::{CustomerChoice, GlobalFlags, OperationArgs, ReplacementArgs};
use crate::system::shell::Shell;
use storefront_core::failure::Failure;

/// The flags that name the service. They stand before the command, as in hints.
const OF_SERVICE: [&str; 4] = ["profile", "sandbox", "api", "store_view"];

/// Commands that talk to a service or to what this machine keeps of it, by their first word.
const SERVICE_COMMANDS: &[&str] = &[
    "api",
    "apply",
    "attribute",
    "auth",
    "customer",
    "doctor",
    "forget",
    "history",
    "order",
    "product",
    "quote",
    "resume",
    "review",
    "undo",
    "verify",
];

/// A command with its arguments and flags.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// The flags that name the service.
    pub service: Vec<String>,
    /// The command without the program: `quote add-item`.
    command: Vec<String>,
    /// The arguments without a flag.
    arguments: Vec<String>,
    /// The flags, in the order in which they were typed.
    flags: Vec<Flag>,
}

/// A flag as it is typed.
#[derive(Debug, Clone)]
struct Flag {
    /// The name that clap has for it.
    id: String,
    /// The name with its dashes.
    name: String,
    /// The flag and its values.
    words: Vec<String>,
}

impl CommandLine {
    /// The command line that clap matched.
    pub fn of(mut command: &Command, mut matches: &ArgMatches) -> Self {
        let mut line = Self::default();
        while let Some((name, inner)) = matches.subcommand()
            && let Some(found) = command.find_subcommand(name)
        {
            line.command.push(name.to_owned());
            (command, matches) = (found, inner);
        }
        let is_typed = |id: &str| {
            matches.try_contains_id(id).unwrap_or(false)
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let typed = command.get_arguments().filter(|argument| is_typed(argument.get_id().as_str()));
        let mut typed: Vec<&Arg> =
            typed.filter(|argument| !OF_SERVICE.contains(&argument.get_id().as_str())).collect();
        typed.sort_by_key(|argument| matches.index_of(argument.get_id().as_str()));
        for argument in typed {
            let occurrences = occurrences(argument, matches);
            match argument.get_long() {
                None => line.arguments.extend(occurrences.into_iter().flatten()),
                Some(long) => line.flags.extend(occurrences.into_iter().map(|values| Flag {
                    id: argument.get_id().to_string(),
                    name: format!("--{long}"),
                    words: words(argument, long, values),
                })),
            }
        }
        line
    }

    /// The command line of a hint, without the program.
    pub fn of_words(mut words: Vec<String>) -> Self {
        let command = words.iter().take(2).take_while(|word| !word.starts_with('-')).count();
        let rest = words.split_off(command);
        Self { command: words, ..Self::default() }.with(rest)
    }

    /// This command line with the flags of that service and with that customer, unless it names its own.
    #[must_use]
    pub fn for_target(mut self, service: &[String], customer: Option<&str>) -> Self {
        let has = |flags: &[&str]| {
            let mut words = self.flags.iter().flat_map(|flag| &flag.words);
            words.any(|word| flags.contains(&word.as_str()))
        };
        let [noun, verb] = [0, 1].map(|at| self.command.get(at).map_or("", String::as_str));
        let is_of_service = SERVICE_COMMANDS.contains(&noun);
        let names_service = has(&["--sandbox", "-p", "--profile", "--api", "--store-view"]);
        // The built-in service has no stored tokens.
        let has_none = noun == "auth" && service.first().is_some_and(|flag| flag == "--sandbox");
        let is_own = matches!(noun, "customer" | "quote")
            && !["", "find"].contains(&verb)
            && !has(&["--customer", "--input"]);
        if is_of_service && !names_service && !has_none {
            self.service = service.to_vec();
        }
        if let Some(customer) = customer.filter(|_| is_own) {
            let id = String::new();
            let name = String::new();
            self.flags.insert(0, Flag { id, name, words: flag("customer", customer) });
        }
        self
    }

    /// This command line without these flags.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let mut line = self.clone();
        line.flags.retain(|flag| !names.contains(&&*flag.name));
        line
    }

    /// This command line with more flags, as [`flag`] makes them.
    #[must_use]
    pub fn with(&self, words: Vec<String>) -> Self {
        let mut line = self.clone();
        line.flags.push(Flag { id: String::new(), name: String::new(), words });
        line
    }

    /// The flags of the operation itself: without those of the input, the request and the service, and without the
    /// customer.
    pub fn operation_flags(&self) -> Vec<String> {
        let shared = CustomerChoice::augment_args(ReplacementArgs::augment_args(
            OperationArgs::augment_args(GlobalFlags::augment_args(Command::new("shared"))),
        ));
        let is_shared = |id: &str| shared.get_arguments().any(|argument| argument.get_id() == id);
        let own = self.flags.iter().filter(|flag| flag.id == "allow_unknown" || !is_shared(&flag.id));
        self.in_order(own).collect()
    }

    /// The arguments and these flags. The arguments come first, so that no flag takes one as a value; if one looks like a
    /// flag, they come last, after two dashes.
    fn in_order<'a>(&'a self, flags: impl Iterator<Item = &'a Flag>) -> impl Iterator<Item = String> {
        let is_like_a_flag = self.arguments.iter().any(|word| is_like_a_flag(word));
        let (first, last) =
            if is_like_a_flag { (&[][..], &self.arguments[..]) } else { (&self.arguments[..], &[][..]) };
        let dashes = is_like_a_flag.then(|| "--".to_owned());
        let flags = flags.flat_map(|flag| flag.words.iter().cloned());
        first.iter().cloned().chain(flags).chain(dashes).chain(last.iter().cloned())
    }

    /// All words, the program first.
    pub fn words(&self) -> Vec<String> {
        let program = std::iter::once("storefront".to_owned());
        let command = self.service.iter().chain(&self.command).cloned();
        program.chain(command).chain(self.in_order(self.flags.iter())).collect()
    }

    /// The arguments of the command, as clap reads them.
    ///
    /// # Errors
    /// `internal`: what was matched is matched again.
    pub fn parse<A: Args>(&self, grammar: Command) -> Result<A, Failure> {
        let failed = |error: clap::Error| Failure::internal(error.to_string());
        let matches = grammar.try_get_matches_from(self.words()).map_err(failed)?;
        let mut matches = &matches;
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        A::from_arg_matches(matches).map_err(failed)
    }
}

/// The text to type in the shell of this system.
impl Display for CommandLine {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str(&Shell::NATIVE.join(self.words()))
    }
}

/// A flag and its value, in one word if the value looks like a flag.
pub fn flag(name: &str, value: &str) -> Vec<String> {
    if is_like_a_flag(value) {
        vec![format!("--{name}={value}")]
    } else {
        vec![format!("--{name}"), value.to_owned()]
    }
}

fn is_like_a_flag(word: &str) -> bool {
    word.starts_with('-') && word != "-"
}

/// The words of one occurrence of a flag.
fn words(argument: &Arg, long: &str, values: Vec<String>) -> Vec<String> {
    let values = match argument.get_value_delimiter() {
        Some(delimiter) if !values.is_empty() => vec![values.join(&delimiter.to_string())],
        _ => values,
    };
    match values.as_slice() {
        [value] if argument.is_require_equals_set() => match &**value {
            // The flag alone means this.
            "true" | "" => vec![format!("--{long}")],
            value => vec![format!("--{long}={value}")],
        },
        [value] => flag(long, value),
        _ => std::iter::once(format!("--{long}")).chain(values).collect(),
    }
}

/// The values of each occurrence of an argument; none for a flag without a value.
fn occurrences(argument: &Arg, matches: &ArgMatches) -> Vec<Vec<String>> {
    let id = argument.get_id().as_str();
    if argument.get_action().takes_values() {
        let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
        let occurrences = matches.get_raw_occurrences(id).into_iter().flatten();
        return occurrences.map(|values| values.map(text).collect()).collect();
    }
    let is_counted = matches!(argument.get_action(), clap::ArgAction::Count);
    vec![Vec::new(); if is_counted { matches.get_count(id).into() } else { 1 }]
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory as _;
    use proptest::prelude::*;

    use super::{CommandLine, flag};
    use crate::commands::attribute::create::CreateArgs;
    use crate::commands::customer::update::UpdateArgs;
    use crate::commands::{Cli, grammar};
    use crate::ops::Operation;
    use crate::system::shell::Shell;
    use storefront_core::sheet::cells::bare;

    fn matched(words: &[String]) -> CommandLine {
        let mut grammar = Cli::command();
        let words = std::iter::once("storefront").chain(words.iter().map(String::as_str));
        let words: Vec<OsString> = words.map(Into::into).collect();
        let matches = grammar.try_get_matches_from_mut(words).unwrap();
        CommandLine::of(&grammar, &matches)
    }

    fn split(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_command_is_printed_as_it_was_understood() {
        for (typed, printed) in [
            (
                "quote add-item -qi a.csv --jobs 2 --journal=bad.journal --restart --qty 1 -vv",
                "quote add-item --quiet --input a.csv --jobs 2 --journal bad.journal --restart --qty 1 --verbose --verbose",
            ),
            (
                "attribute create --searchable --required=false --code c --",
                "attribute create --searchable --required=false --code c",
            ),
            (
                "quote add-item --retry-failed -i a.csv --resume --retry-unknown=2,3-9 --mark-done 4,5",
                "quote add-item --retry-failed --input a.csv --resume --retry-unknown=2,3-9 --mark-done 4,5",
            ),
            ("attribute option add --option A B -- color", "attribute option add color --option A B"),
            ("customer find --limit 2 -- -x y", "customer find --limit 2 -- -x y"),
            ("customer update --city=-x --address 2", "customer update --city=-x --address 2"),
        ] {
            assert_eq!(matched(&split(typed)).to_string(), format!("storefront {printed}"));
            assert_eq!(matched(&split(printed)).to_string(), format!("storefront {printed}"));
        }
    }

    #[test]
    fn a_plan_keeps_the_flags_of_its_operation() {
        let typed = "--sandbox customer update -q --customer 7 --allow-duplicate --settle 0 --allow-unknown --city Lyon \
                     --address 2 --plan a -n";
        let flags = matched(&split(typed)).operation_flags().join(" ");
        assert_eq!(flags, "--allow-duplicate --allow-unknown --city Lyon --address 2");
    }

    /// Flags typed before a dialogue: some of these, in any order, on either side of the command.
    fn typed(flags: &'static [&'static str]) -> impl Strategy<Value = (Vec<String>, bool, bool)> {
        let some = prop::sample::subsequence(flags, 0..=flags.len()).prop_shuffle();
        let split = |flags: Vec<&str>| flags.into_iter().flat_map(split).collect::<Vec<_>>();
        (some.prop_map(split), any::<bool>(), any::<bool>())
    }

    /// The draft of a command that was typed with these answers, and of the same command as it is printed.
    fn drafts<A: Operation + clap::Args>(
        command: &str,
        (flags, is_global_first, has_dashes): (Vec<String>, bool, bool),
        answers: &[String],
    ) -> [String; 2] {
        let global = if is_global_first { "--sandbox -q " } else { "" };
        let mut words = split(&format!("{global}{command}"));
        words.extend(flags);
        words.extend(has_dashes.then(|| "--".to_owned()));
        let line = matched(&words).with(answers.to_vec());
        let printed = Shell::Posix.split(&Shell::Posix.join(line.words())).unwrap();
        [line.parse(grammar()).unwrap(), matched(&printed[1..]).parse(grammar()).unwrap()].map(|args: A| {
            let mut fields = serde_json::Map::new();
            args.apply(&mut fields).unwrap();
            serde_json::Value::Object(fields).to_string()
        })
    }

    /// Texts as flags take them: blanks around a value are left out.
    fn bare_text(pattern: &'static str) -> impl Strategy<Value = String> {
        pattern.prop_filter("blanks are around it", |text: &String| bare(text) == text)
    }

    proptest! {
        #[test]
        fn a_printed_update_gives_the_draft_that_was_typed_and_answered(
            typed in typed(&["--customer=a@b.c", "-y", "--settle 0", "-vv", "--timeout=5", "--lock-timeout 1m"]),
            city in bare_text("\\PC{1,12}"), street in prop::collection::vec(bare_text("\\PC{1,8}"), 1..3), floor in "\\PC{0,6}",
        ) {
            let street = street.iter().flat_map(|line| flag("street", line)).collect::<Vec<_>>();
            let mut answers = [flag("address", "2"), flag("city", &city), street].concat();
            answers.extend(flag("custom-attribute", &format!("floor={floor}")));
            answers.extend(flag("clear", "company"));
            let [run, printed] = drafts::<UpdateArgs>("customer update", typed, &answers);
            prop_assert_eq!(&run, &printed);
            prop_assert!(run.contains(&format!("\"city\":{}", serde_json::Value::from(city))), "{}", run);
        }

        #[test]
        fn a_printed_attribute_gives_the_draft_that_was_typed_and_answered(
            typed in typed(&["--required=false", "--searchable", "--filterable=1", "--store-label 1=a 2=b", "--option A B"]),
            label in bare_text("\\PC{1,12}"),
        ) {
            let answers = [flag("code", "c"), flag("label", &label), flag("type", "select")].concat();
            let answers = [answers, flag("option", "-5"), flag("option", "C")].concat();
            let [run, printed] = drafts::<CreateArgs>("attribute create", typed, &answers);
            prop_assert_eq!(&run, &printed);
            prop_assert!(run.contains(&serde_json::Value::from(label).to_string()), "{}", run);
        }
    }
}
