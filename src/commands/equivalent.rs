//! Flags as the one command line that gives them: what was typed into a dialogue is not lost, and can be kept in a script.

use serde_json::{Map, Value};

use crate::cli::GlobalArgs;
use crate::cli::attribute::CreateArgs;
use crate::cli::customer::UpdateArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlag, FieldFlags};
use crate::plan::profile::region;
use crate::session::Session;
use crate::shell::Shell;

/// Prints the command on standard error.
pub fn tell(session: &Session<'_>, words: &[String]) {
    session.report.status(&format!("Equivalent command:\n  {}", quoted(words, Shell::NATIVE)));
}

/// `attribute create` with these flags, as words that are not yet quoted.
pub fn create(args: &CreateArgs, global: &GlobalArgs) -> Vec<String> {
    let mut words = Words::of("attribute", "create", global);
    words.fields(&args.attribute);
    if let Some(yes) = args.searchable {
        words.switch("searchable", yes);
    }
    args.store_labels.iter().for_each(|(id, label)| words.flag("store-label", &format!("{id}={label}")));
    args.options_file.iter().for_each(|file| words.flag("options", &file.display().to_string()));
    if let Some(encoding) = global.encoding.filter(|_| args.options_file.is_some()) {
        words.flag("encoding", encoding.name());
    }
    args.options.iter().for_each(|label| words.flag("option", label));
    args.default_option.iter().for_each(|label| words.flag("default-option", label));
    words.switches(&[("force", args.force)]);
    words.0
}

/// `customer update` with these flags, as words that are not yet quoted.
pub fn update(args: &UpdateArgs, customer: Option<&str>, global: &GlobalArgs) -> Vec<String> {
    let mut words = Words::of("customer", "update", global);
    if let Some(customer) = customer {
        words.flag("customer", customer);
    }
    words.fields(&args.profile);
    args.address.iter().for_each(|id| words.flag("address", &id.to_string()));
    words.switches(&[("add-address", args.add_address)]);
    words.fields(&args.members);
    let attributes = args.custom_attributes.iter();
    attributes.for_each(|(code, value)| words.flag("custom-attribute", &format!("{code}={value}")));
    words.switches(&[
        ("default-shipping", args.default_shipping),
        ("default-billing", args.default_billing),
        ("allow-duplicate", args.allow_duplicate),
    ]);
    args.remove_addresses.iter().for_each(|id| words.flag("remove-address", &id.to_string()));
    words.0
}

struct Words(Vec<String>);

impl Words {
    /// The command, and of the global flags those that decide where it acts.
    fn of(group: &str, command: &str, global: &GlobalArgs) -> Self {
        let mut words = Self(["storefront", group, command].map(str::to_owned).into());
        words.switches(&[("sandbox", global.sandbox)]);
        global.profile.iter().for_each(|profile| words.flag("profile", profile));
        global.api.iter().for_each(|interface| words.flag("api", interface.dialect().name));
        global.store_view.iter().for_each(|code| words.flag("store-view", code));
        global.input.iter().for_each(|input| words.flag("input", &input.display().to_string()));
        words.switches(&[("allow-unknown", global.allow_unknown)]);
        words
    }

    /// A flag and its value: one word where the value could be taken for a flag itself.
    fn flag(&mut self, name: &str, value: &str) {
        if value.starts_with('-') {
            self.0.push(format!("--{name}={value}"));
        } else {
            self.0.extend([format!("--{name}"), value.to_owned()]);
        }
    }

    fn switch(&mut self, name: &str, yes: bool) {
        self.0.push(if yes { format!("--{name}") } else { format!("--{name}=false") });
    }

    fn switches(&mut self, switches: &[(&str, bool)]) {
        switches.iter().filter(|(_, yes)| *yes).for_each(|(name, _)| self.switch(name, true));
    }

    /// The flags of a family, in its order; what is emptied is cleared.
    fn fields<F: FieldFlags>(&mut self, args: &FieldArgs<F>) {
        let has_no_region = args.named.get("region") == Some(&region::none());
        for flag in F::FLAGS {
            let object = match flag.within {
                None => Some(&args.named),
                Some(_) if has_no_region => None,
                Some(object) => args.named.get(object).and_then(Value::as_object),
            };
            match flag.constant {
                Some(_) => self.switches(&[(flag.long, has_no_region)]),
                None => self.field(flag, object),
            }
        }
    }

    fn field(&mut self, flag: &FieldFlag, object: Option<&Map<String, Value>>) {
        match object.and_then(|object| object.get(flag.member)) {
            Some(Value::Null) if flag.within.is_some() => {}
            Some(Value::Null) => self.flag("clear", flag.long),
            Some(Value::String(text)) if text.is_empty() => self.flag("clear", flag.long),
            Some(Value::String(text)) => self.flag(flag.long, text),
            Some(Value::Number(number)) => self.flag(flag.long, &number.to_string()),
            Some(Value::Bool(yes)) => self.switch(flag.long, *yes),
            Some(Value::Array(lines)) => {
                lines.iter().filter_map(Value::as_str).for_each(|line| self.flag(flag.long, line));
            }
            _ => {}
        }
    }
}

fn quoted(words: &[String], shell: Shell) -> String {
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

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Shell, create, quoted, update};
    use crate::cli::GlobalArgs;
    use crate::cli::attribute::CreateArgs;
    use crate::cli::customer::UpdateArgs;
    use crate::commands::attribute::AttributeCommand;
    use crate::commands::customer::CustomerCommand;
    use crate::commands::{Cli, Command};
    use crate::input::{Draft, FlagOverrides};
    use crate::plan::operation::Operation;
    use crate::plan::request::dialect::MARKETPLACE;

    fn parsed(line: &str) -> (Command, GlobalArgs) {
        let cli = Cli::try_parse_from(shell_words::split(line).unwrap()).unwrap();
        let global = cli.global_args();
        (cli.command, global)
    }

    fn create_args(line: &str) -> (CreateArgs, GlobalArgs) {
        let (Command::Attribute(AttributeCommand::Create(args)), global) = parsed(line) else {
            panic!("{line}")
        };
        (*args, global)
    }

    fn update_args(line: &str) -> (UpdateArgs, GlobalArgs) {
        let (Command::Customer(CustomerCommand::Update(args)), global) = parsed(line) else {
            panic!("{line}")
        };
        (*args, global)
    }

    fn draft(operation: Operation, flags: &dyn FlagOverrides) -> Draft {
        Draft::new(&MARKETPLACE, operation, None, flags, false).unwrap()
    }

    #[test]
    fn a_command_line_reads_as_one_would_type_it() {
        let line = "storefront attribute create --sandbox --code colour --label 'Couleur d'\\''été' --type select \
            --required --searchable=false --store-label 2=Couleur --option Red --option='-5 °C' \
            --default-option Red";
        let (args, global) = create_args(line);
        assert_eq!(quoted(&create(&args, &global), Shell::Posix), line);
        for line in [
            "storefront customer update --api magento --store-view fr --customer a@example.com --address 2 \
             --default-shipping",
            "storefront customer update --address 2 --street='-5, rue d'\\''Été' --street b --city 'New York' \
             --country US --region 'New York' --region-code NY --region-id 43",
            "storefront customer update --add-address --no-region --telephone '+33 1'",
            "storefront customer update --firstname O\\''Neil' --gender 2 --remove-address 4",
            "storefront customer update --address 2 --company X --custom-attribute door_code='B 1' --default-billing",
        ] {
            let line = shell_words::join(shell_words::split(line).unwrap());
            let (args, global) = update_args(&line);
            let again = quoted(&update(&args, args.choice.customer.as_deref(), &global), Shell::Posix);
            let (args, again_args) = (args, update_args(&again).0);
            assert_eq!(
                draft(Operation::CustomerUpdate, &args),
                draft(Operation::CustomerUpdate, &again_args),
                "{again}"
            );
            assert_eq!(shell_words::split(&again).unwrap().len(), shell_words::split(&line).unwrap().len());
        }
    }

    #[test]
    fn what_is_emptied_is_cleared() {
        let (mut args, global) = update_args("storefront customer update --address 2");
        args.members.named.insert("postcode".to_owned(), Value::Null);
        args.members.named.insert("telephone".to_owned(), json!(""));
        let line = quoted(&update(&args, Some("7"), &global), Shell::Posix);
        let start = "storefront customer update --customer 7 --address 2";
        assert_eq!(line, format!("{start} --clear postcode --clear telephone"));
        let again = update_args(&line).0;
        assert_eq!(draft(Operation::CustomerUpdate, &again), draft(Operation::CustomerUpdate, &args));
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
            let (mut args, global) = create_args("storefront attribute create --code c --type select");
            args.attribute.named.insert("default_frontend_label".to_owned(), label.into());
            if let Some(required) = required {
                args.attribute.named.insert("is_required".to_owned(), required.into());
            }
            args.searchable = searchable;
            // Equal options are two defaults, which only this lets pass.
            args.force = true;
            args.store_labels = store.into_iter().map(|(id, label)| (id.into(), label)).collect();
            args.default_option = options.last().cloned();
            args.options = options;
            let line = quoted(&create(&args, &global), Shell::Posix);
            let (again, _) = create_args(&line);
            let draft = |args: &CreateArgs| draft(Operation::AttributeCreate, args);
            prop_assert_eq!(draft(&again), draft(&args), "{}", line);
        }
    }
}
