//! Commands in hints. A hint holds them between backticks, their words quoted as for a POSIX shell ([`command`]). Before it is
//! printed each becomes a [`CommandLine`] for the service that the command was run against, and for its customer: a command
//! from a hint must not act somewhere else.

use super::GlobalArgs;
use super::command_line::CommandLine;
use crate::system::shell::Shell;

/// A command for a hint, by its words without the program.
pub fn command<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    format!("{BEGIN}{}{END}", Shell::Posix.join(words))
}

/// What was typed, or is to be typed, for a hint.
pub fn typed(line: &CommandLine) -> String {
    command(&line.words()[1..])
}

/// A hint with the service that this command was run against, and its customer, in its commands.
pub fn for_command(hint: &str, global: &GlobalArgs) -> String {
    for_customer(hint, global, global.customer.as_deref())
}

/// A hint with the service in its commands, and the customer whom a record names.
pub fn for_customer(hint: &str, global: &GlobalArgs, customer: Option<&str>) -> String {
    for_target(hint, &service_flags(global), customer)
}

/// Whether a command of a hint is for the token's own customer, where it names none.
pub fn is_for_customer(hint: &str) -> bool {
    for_target(hint, &[], Some("1")) != for_target(hint, &[], None)
}

/// The flags that name the service which this command was run against, where it named any.
pub fn service_flags(global: &GlobalArgs) -> Vec<String> {
    let named = [
        ("-p", global.profile.as_deref()),
        ("--api", global.flags.api.map(|api| api.dialect().name)),
        ("--store-view", global.flags.store_view.as_deref()),
    ];
    let named = named.into_iter().filter_map(|(flag, value)| Some([flag, value?]));
    let sandbox = global.flags.sandbox.then_some("--sandbox");
    sandbox.into_iter().chain(named.flatten()).map(str::to_owned).collect()
}

/// How a command begins in a hint, and how it ends.
const BEGIN: &str = "`storefront ";
const END: char = '`';

/// The hint with its commands for that service and that customer, quoted for the shell of this system.
fn for_target(hint: &str, service: &[String], customer: Option<&str>) -> String {
    let (mut text, mut rest) = (String::new(), hint);
    while let Some((before, command, after)) = next_command(rest) {
        text.push_str(before);
        match Shell::Posix.split(command) {
            Ok(words) => {
                let line = CommandLine::of_words(words).for_target(service, customer);
                text.push_str(&format!("{END}{line}{END}"));
            }
            Err(_) => text.push_str(&format!("{BEGIN}{command}{END}")),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// The text before the next command, its words, and the text behind it. A backtick in quotes belongs to a word.
fn next_command(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = rest.char_indices().find(|(_, one)| {
        let is_end = *one == END && !is_quoted && !is_escaped;
        is_quoted ^= *one == '\'' && !is_escaped;
        is_escaped = *one == '\\' && !is_quoted && !is_escaped;
        is_end
    });
    let end = end.map(|(end, _)| end).or_else(|| rest.find(END))?;
    Some((before, &rest[..end], &rest[end + END.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{command, for_target, next_command};
    use crate::system::shell::Shell;

    fn with_service(hint: &str, service: &str, customer: Option<&str>) -> String {
        let service: Vec<String> = service.split_whitespace().map(str::to_owned).collect();
        for_target(hint, &service, customer)
    }

    #[test]
    fn commands_for_a_service_name_it_and_others_stay_as_they_are() {
        for (hint, expected) in [
            ("run `storefront customer show`", "run `storefront --sandbox customer show`"),
            (
                "`storefront quote show`, then `storefront customer history --check`",
                "`storefront --sandbox quote show`, then `storefront --sandbox customer history --check`",
            ),
            ("`storefront --sandbox customer show`", "`storefront --sandbox customer show`"),
            ("`storefront customer show -p shop`", "`storefront customer show -p shop`"),
            ("`storefront customer show --store-view fr`", "`storefront customer show --store-view fr`"),
            ("`storefront config path`", "`storefront config path`"),
            ("`storefront auth login`", "`storefront auth login`"),
            ("add --yes", "add --yes"),
        ] {
            assert_eq!(with_service(hint, "--sandbox", None), expected);
        }
        assert_eq!(
            with_service("`storefront auth login`", "-p shop", None),
            "`storefront -p shop auth login`"
        );
        assert_eq!(with_service("`storefront quote show`", "", None), "`storefront quote show`");
    }

    #[test]
    fn commands_for_a_customer_name_the_one_of_this_command() {
        for (hint, expected) in [
            (
                "look with `storefront customer restore 000001`, or `storefront customer find TEXT`",
                "look with `storefront --api magento customer restore --customer 7 000001`, or `storefront --api magento customer find TEXT`",
            ),
            ("`storefront quote show --customer 8`", "`storefront --api magento quote show --customer 8`"),
            (
                "`storefront quote methods` lists them",
                "`storefront --api magento quote methods --customer 7` lists them",
            ),
        ] {
            assert_eq!(with_service(hint, "--api magento", Some("7")), expected);
        }
    }

    proptest! {
        #[test]
        fn any_word_of_a_command_in_a_hint_survives(
            words in prop::collection::vec("[a-z`'\"\\\\ $é-]{0,8}", 1..4),
            before in "[a-z' ]{0,8}",
        ) {
            let hint = format!("{before}{}, then again", command(&words));
            let (text, found, after) = next_command(&hint).unwrap();
            prop_assert_eq!((text, after), (before.as_str(), ", then again"));
            prop_assert_eq!(Shell::Posix.split(found).unwrap(), words);
        }
    }
}
