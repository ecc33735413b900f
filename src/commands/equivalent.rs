//! What a person is asked instead of typing flags. The answers are flags, after those that were typed: the command runs as
//! if all of them had been typed, and is printed, so that it can be kept in a script.

use clap::{Args, Parser};

use crate::cli::GlobalFlags;
use crate::client::Session;
use crate::client::service::Service;
use crate::system::shell::Shell;
use storefront_core::failure::Failure;
use storefront_core::text::sanitize::sanitize;

/// The line of a command that takes these arguments.
#[derive(Debug, Parser)]
struct Line<A: Args> {
    #[command(flatten)]
    _global: GlobalFlags,
    _noun: String,
    _verb: String,
    #[command(flatten)]
    args: A,
}

/// The command line that was typed.
pub fn typed() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("storefront".to_owned()).chain(words).collect()
}

/// The same without these flags and their values, and with the customer who was named or asked for.
pub fn typed_for(service: &Service<'_>, left_out: &[&str]) -> Vec<String> {
    let id = service.customer.map(|id| id.to_string());
    let customer = id.as_deref().or(service.email.as_deref());
    let is_left_out = |flag: &str| left_out.contains(&flag) || customer.is_some() && flag == "--customer";
    let (mut words, mut is_value) = (typed(), false);
    words.retain(|word| {
        let was_value = std::mem::replace(&mut is_value, is_left_out(word));
        !was_value && !is_left_out(word.split('=').next().unwrap_or_default())
    });
    words.extend(customer.into_iter().flat_map(|customer| flag("customer", customer)));
    words
}

/// The arguments of a command line.
pub fn parse<A: Args>(words: &[String]) -> Result<A, Failure> {
    let line = Line::try_parse_from(words);
    line.map(|line| line.args).map_err(|error| Failure::internal(error.to_string()))
}

/// A flag and its value: one word where the value could be taken for a flag itself.
pub fn flag(name: &str, value: &str) -> Vec<String> {
    if value.starts_with('-') {
        vec![format!("--{name}={value}")]
    } else {
        vec![format!("--{name}"), value.to_owned()]
    }
}

/// Prints a command line on standard error.
pub fn tell(session: &Session<'_>, words: &[String]) {
    let words: Vec<String> = words.iter().map(|word| quoted(word, Shell::NATIVE)).collect();
    session.report.laid_out(&format!("Equivalent command:\n  {}", sanitize(&words.join(" "))));
}

/// An equals sign needs no quotes: `--searchable=false` stays as one would type it.
fn quoted(word: &str, shell: Shell) -> String {
    match word.split_once('=') {
        // PowerShell takes a quote within a word for a word of its own.
        Some((name, value)) if shell == Shell::Posix && !name.is_empty() && !value.is_empty() => {
            format!("{}={}", shell.quote(name), shell.quote(value))
        }
        _ => shell.quote(word).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{flag, parse, quoted};
    use crate::commands::attribute::create::CreateArgs;
    use crate::commands::customer::update::UpdateArgs;
    use crate::system::shell::Shell;
    use storefront_core::id::AddressId;

    #[test]
    fn a_command_line_reads_as_one_would_type_it() {
        for (word, expected) in [
            ("--searchable=false", "--searchable=false"),
            ("2=Couleur d'été", "2='Couleur d'\\''été'"),
            ("=x", "'=x'"),
        ] {
            assert_eq!(quoted(word, Shell::Posix), expected);
        }
        assert_eq!(quoted("2=Couleur d'été", Shell::Windows), "\"2=Couleur d'été\"");
    }

    #[test]
    fn answers_follow_what_was_typed() {
        let line = "storefront --sandbox customer update -v --customer 7 --address 2 --city Lyon --clear company vat-id";
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let args: UpdateArgs = parse(&words).unwrap();
        assert_eq!((args.choice.customer.as_deref(), args.address), (Some("7"), Some(AddressId(2))));
        assert_eq!(args.members.named["city"], "Lyon");
        assert_eq!(args.clear, ["company", "vat-id"]);
    }

    proptest! {
        #[test]
        fn any_value_survives_the_shell_and_the_flags(label in "\\PC{1,12}", option in "\\PC{1,8}") {
            let words = ["storefront", "attribute", "create"].map(str::to_owned).to_vec();
            let words = [words, flag("label", &label), flag("option", &option)].concat();
            let line: Vec<String> = words.iter().map(|word| quoted(word, Shell::Posix)).collect();
            let args: CreateArgs = parse(&shell_words::split(&line.join(" ")).unwrap()).unwrap();
            prop_assert_eq!(&args.attribute.named["default_frontend_label"], &label);
            prop_assert_eq!(args.options.labels, [option]);
        }
    }
}
