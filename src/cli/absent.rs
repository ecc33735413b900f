//! Commands that people look for and that do not exist, each with what exists instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The words of a command that does not exist, and what to do instead.
const INSTEAD: &[(&str, &str)] = &[
    ("alias", "use an alias of your shell"),
    (
        "attribute delete",
        "send the service's own call: 'storefront api DELETE /V1/products/attributes/CODE --admin'",
    ),
    (
        "attribute list",
        "send the service's own call: 'storefront api GET \"/V1/products/attributes?searchCriteria[pageSize]=100\" --admin'",
    ),
    ("attribute update", "send the service's own call: 'storefront api PUT PATH --admin --input FILE'"),
    (
        "config edit",
        "open the file that 'storefront config path' prints, or run 'storefront config set KEY VALUE'",
    ),
    ("customer add-address", "run 'storefront customer update --add-address'"),
    ("customer delete", "to remove an address, run 'storefront customer update --remove-address ID'"),
    ("customer edit", "run 'storefront customer update'"),
    ("customer get", "run 'storefront customer show'"),
    ("customer list", "run 'storefront customer find TEXT'"),
    ("customer search", "run 'storefront customer find TEXT'"),
    ("customer undo", "run 'storefront customer restore'"),
    (
        "delete",
        "run 'storefront customer update --remove-address ID' for an address, or 'storefront api DELETE PATH' for anything else",
    ),
    ("find", "run 'storefront customer find TEXT'"),
    ("history", "run 'storefront customer history'"),
    ("init", "run 'storefront config init'"),
    ("list", "run 'storefront customer find TEXT', 'storefront config list' or 'storefront api GET PATH'"),
    ("login", "run 'storefront auth login'"),
    ("logout", "run 'storefront auth logout'"),
    ("quote list", "run 'storefront quote show'"),
    ("restore", "run 'storefront customer restore'"),
    ("serve", "run 'storefront sandbox serve'"),
    ("show", "run 'storefront customer show', 'storefront quote show' or 'storefront attribute show CODE'"),
    ("undo", "run 'storefront customer restore'"),
    ("update", "run 'storefront customer update'"),
    ("version", "run 'storefront --version'"),
];

/// Adds to the error about an unknown subcommand what exists instead, in place of a guess by spelling.
pub fn explain(mut error: clap::Error, words: &[std::ffi::OsString]) -> clap::Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let is_given = |word: &str| words.iter().any(|given| given == word);
    let line = INSTEAD.iter().find(|(command, _)| match command.split_once(' ') {
        Some((noun, verb)) => verb == typed && is_given(noun),
        None => command == typed && !is_noun_given(words, typed),
    });
    if let Some((_, instead)) = line {
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = clap::builder::StyledStr::from(*instead);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Whether the unknown word follows a noun: `quote delete` is not `delete`.
fn is_noun_given(words: &[std::ffi::OsString], typed: &str) -> bool {
    const NOUNS: [&str; 7] = ["quote", "customer", "attribute", "journal", "config", "auth", "sandbox"];
    words.iter().take_while(|word| *word != typed).any(|word| NOUNS.iter().any(|noun| word == noun))
}
