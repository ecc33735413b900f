//! The flags of `attribute create` as the one command line that gives them.

use serde_json::Value;

use crate::cli::GlobalArgs;
use crate::cli::attribute::{AttributeFlags, CreateArgs};
use crate::cli::field_flags::FieldFlags;
use crate::shell::Shell;

/// The words of the command, not yet quoted. Of the global flags those that decide what is created and where.
pub fn words(flags: &CreateArgs, global: &GlobalArgs) -> Vec<String> {
    let mut words: Vec<String> = ["storefront", "attribute", "create"].map(str::to_owned).into();
    let mut flag = |name: &str, value: &str| words.extend(given(name, value));
    for_global(global, &mut flag);
    for member in AttributeFlags::FLAGS {
        match flags.attribute.named.get(member.member) {
            Some(Value::String(text)) => flag(member.long, text),
            Some(Value::Bool(yes)) => flag(&switch(member.long, *yes), ""),
            _ => {}
        }
    }
    if let Some(yes) = flags.searchable {
        flag(&switch("searchable", yes), "");
    }
    for (id, label) in &flags.store_labels {
        flag("store-label", &format!("{id}={label}"));
    }
    if let Some(file) = &flags.options_file {
        flag("options", &file.display().to_string());
    }
    for label in &flags.options {
        flag("option", label);
    }
    if let Some(label) = &flags.default_option {
        flag("default-option", label);
    }
    if flags.force {
        flag("force", "");
    }
    words
}

/// The words as a shell takes them.
pub fn quoted(words: &[String], shell: Shell) -> String {
    words.iter().map(|word| quoted_word(word, shell)).collect::<Vec<_>>().join(" ")
}

/// An equals sign needs no quotes: `--searchable=false` stays as one would type it.
fn quoted_word(word: &str, shell: Shell) -> String {
    match word.split_once('=') {
        // PowerShell takes a quote within a word for a word of its own.
        Some((name, value)) if shell == Shell::Posix && !name.is_empty() && !value.is_empty() => {
            format!("{}={}", shell.quote(name), shell.quote(value))
        }
        _ => shell.quote(word).into_owned(),
    }
}

/// The global flags that decide where a command acts.
pub fn for_global(global: &GlobalArgs, flag: &mut impl FnMut(&str, &str)) {
    if global.sandbox {
        flag("sandbox", "");
    }
    if let Some(profile) = &global.profile {
        flag("profile", profile);
    }
    if let Some(interface) = global.api {
        flag("api", interface.dialect().name);
    }
    if let Some(code) = &global.store_view {
        flag("store-view", code);
    }
    if let Some(input) = &global.input {
        flag("input", &input.display().to_string());
    }
    if global.allow_unknown {
        flag("allow-unknown", "");
    }
}

/// A flag that is yes by itself.
pub fn switch(name: &str, yes: bool) -> String {
    if yes { name.to_owned() } else { format!("{name}=false") }
}

/// A flag and its value: one word where the value could be taken for a flag itself.
pub fn given(name: &str, value: &str) -> Vec<String> {
    match value {
        "" => vec![format!("--{name}")],
        value if value.starts_with('-') => vec![format!("--{name}={value}")],
        value => vec![format!("--{name}"), value.to_owned()],
    }
}

#[cfg(test)]
#[allow(missing_docs)]
pub mod tests {
    use crate::plan::request::dialect::MARKETPLACE;
    use clap::Parser;
    use proptest::prelude::*;

    use super::{Shell, quoted, words};
    use crate::cli::GlobalArgs;
    use crate::cli::attribute::CreateArgs;
    use crate::commands::attribute::AttributeCommand;
    use crate::commands::{Cli, Command};
    use crate::input::Draft;
    use crate::plan::operation::Operation;

    /// The flags of a command line that comes after `attribute create`.
    pub fn flags(line: &[&str]) -> CreateArgs {
        parsed(["storefront", "attribute", "create"].iter().chain(line).map(|word| (*word).to_owned())).0
    }

    fn parsed(words: impl IntoIterator<Item = String>) -> (CreateArgs, GlobalArgs) {
        let cli = Cli::try_parse_from(words).unwrap();
        let global = cli.global_args();
        let Command::Attribute(AttributeCommand::Create(flags)) = cli.command else {
            panic!("another command")
        };
        (*flags, global)
    }

    fn draft(flags: &CreateArgs) -> Draft {
        Draft::new(&MARKETPLACE, Operation::AttributeCreate, None, flags, false).unwrap()
    }

    #[test]
    fn a_command_line_reads_as_one_would_type_it() {
        let line = "storefront attribute create --sandbox --code colour --label 'Couleur d'\\''été' --type select \
            --required --searchable=false --store-label 2=Couleur --option Red --option='-5 °C' \
            --default-option Red";
        let (flags, global) = parsed(shell_words::split(line).unwrap());
        assert_eq!(quoted(&words(&flags, &global), Shell::Posix), line);
    }

    proptest! {
        #[test]
        fn a_command_line_gives_the_same_draft_again(
            label in "\\PC{1,12}",
            options in prop::collection::vec("\\PC{1,8}", 1..4),
            store in proptest::option::of((0..99_u32, "\\PC{0,8}")),
            required in proptest::option::of(any::<bool>()),
            searchable in proptest::option::of(any::<bool>()),
        ) {
            let mut flags = flags(&["--code", "c", "--type", "select"]);
            flags.attribute.named.insert("default_frontend_label".to_owned(), label.into());
            if let Some(required) = required {
                flags.attribute.named.insert("is_required".to_owned(), required.into());
            }
            flags.searchable = searchable;
            // Equal options are two defaults, which only this lets pass.
            flags.force = true;
            flags.store_labels = store.into_iter().map(|(id, label)| (id.into(), label)).collect();
            flags.default_option = options.last().cloned();
            flags.options = options;
            let line = quoted(&words(&flags, &GlobalArgs::default()), Shell::Posix);
            let (again, _) = parsed(shell_words::split(&line).unwrap());
            prop_assert_eq!(draft(&again), draft(&flags), "{}", line);
        }
    }
}
