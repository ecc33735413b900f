//! Edited fields as the one command line that gives them, so that nothing that was typed is lost.

use serde_json::{Map, Value};

use super::Edit;
use crate::cli::GlobalArgs;
use crate::cli::customer::{AddressFlags, ProfileFlags};
use crate::cli::field_flags::{FieldFlag, FieldFlags};
use crate::interactive::attribute::command_line::{for_global, given, quoted, switch};
use crate::plan::profile::region;
use crate::shell::Shell;

/// The command lines for what was edited, quoted for a shell; `customer` is the one that `--customer` names. It is one,
/// unless two addresses become defaults.
pub fn command_lines(edit: &Edit, customer: Option<&str>, global: &GlobalArgs, shell: Shell) -> Vec<String> {
    edit.clone().split().iter().map(|edit| command_line(edit, customer, global, shell)).collect()
}

/// What no flag can say is given as JSON.
fn command_line(edit: &Edit, customer: Option<&str>, global: &GlobalArgs, shell: Shell) -> String {
    let draft = &edit.draft;
    let mut words: Vec<String> = ["storefront", "customer", "update"].map(str::to_owned).into();
    for_global(global, &mut |name, value| words.extend(given(name, value)));
    words.extend(customer.iter().flat_map(|customer| given("customer", customer)));
    if let Some(flags) = flags(draft) {
        words.extend(flags);
        return quoted(&words, shell);
    }
    // The flags say more than the field: another address loses what this one gets.
    if let Some(default) = edit.default_addresses.iter().find(|default| default.address.is_some()) {
        words.extend(default.address.iter().flat_map(|id| given("address", &id.to_string())));
        words.extend(default.names().map(|name| format!("--{}", name.replace('_', "-"))));
    }
    words.extend(["--input", "-"].map(str::to_owned));
    let json = Value::Object(draft.clone()).to_string();
    shell.pipe_json(&json, &quoted(&words, shell))
}

/// `None` where a value has no flag, such as one that is emptied.
fn flags(draft: &Map<String, Value>) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for (name, value) in draft.iter().filter(|(name, _)| *name != "addresses") {
        words.extend(flag(ProfileFlags::FLAGS, None, name, value)?);
    }
    let addresses = draft.get("addresses").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let address = match addresses {
        [] => return Some(words),
        [address] => address.as_object()?,
        _ => return None,
    };
    match address.get("id") {
        Some(id) => words.extend(given("address", &id.to_string())),
        None => words.push("--add-address".to_owned()),
    }
    for (name, value) in address.iter().filter(|(name, _)| *name != "id") {
        match value {
            Value::Bool(true) if name.starts_with("default_") => {
                words.push(format!("--{}", name.replace('_', "-")));
            }
            Value::Array(attributes) if name == "custom_attributes" => {
                for attribute in attributes {
                    words.extend(custom_attribute(attribute)?);
                }
            }
            Value::Object(_) if *value == region::none() => words.push("--no-region".to_owned()),
            Value::Object(inner) => {
                for (inner, value) in inner.iter().filter(|(_, value)| !value.is_null()) {
                    words.extend(flag(AddressFlags::FLAGS, Some(name), inner, value)?);
                }
            }
            _ => words.extend(flag(AddressFlags::FLAGS, None, name, value)?),
        }
    }
    Some(words)
}

fn custom_attribute(attribute: &Value) -> Option<Vec<String>> {
    let (code, value) = (attribute.get("attribute_code")?.as_str()?, attribute.get("value")?.as_str()?);
    Some(given("custom-attribute", &format!("{code}={value}")))
}

fn flag(flags: &[FieldFlag], within: Option<&str>, name: &str, value: &Value) -> Option<Vec<String>> {
    let flag =
        flags.iter().find(|flag| flag.member == name && flag.within == within && flag.constant.is_none())?;
    match value {
        Value::String(text) if !text.is_empty() => Some(given(flag.long, text)),
        Value::Number(number) => Some(given(flag.long, &number.to_string())),
        Value::Bool(yes) => Some(vec![format!("--{}", switch(flag.long, *yes))]),
        Value::Array(lines) => {
            let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
            let lines =
                lines.filter(|lines| !lines.is_empty() && lines.iter().all(|line| !line.is_empty()))?;
            Some(lines.iter().flat_map(|line| given(flag.long, line)).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::request::dialect::MARKETPLACE;
    use clap::Parser;
    use serde_json::json;

    use super::{Edit, Shell, command_line};
    use crate::cli::GlobalArgs;
    use crate::commands::customer::CustomerCommand;
    use crate::commands::{Cli, Command};
    use crate::input::Draft;
    use crate::plan::operation::Operation;
    use crate::plan::profile::merge::DefaultAddress;

    fn edit(draft: &serde_json::Value) -> Edit {
        Edit { draft: draft.as_object().unwrap().clone(), default_addresses: Vec::new() }
    }

    #[test]
    fn the_command_line_names_the_customer_the_interface_and_the_default() {
        let draft = json!({"addresses": [{"default_shipping": true, "id": 2}]});
        let default_addresses = vec![DefaultAddress { address: Some(2), shipping: true, billing: false }];
        let global = GlobalArgs {
            api: Some(crate::plan::request::Interface::Magento),
            store_view: Some("fr".to_owned()),
            ..GlobalArgs::default()
        };
        let mut edit = Edit { default_addresses, ..edit(&draft) };
        let start = "storefront customer update --api magento --store-view fr --customer a@example.com";
        let line = |edit: &Edit| command_line(edit, Some("a@example.com"), &global, Shell::Posix);
        assert_eq!(line(&edit), format!("{start} --address 2 --default-shipping"));
        edit.draft["addresses"][0]["postcode"] = serde_json::Value::Null;
        let json = r#"{"addresses":[{"default_shipping":true,"id":2,"postcode":null}]}"#;
        assert_eq!(
            line(&edit),
            format!("printf '%s' '{json}' | {start} --address 2 --default-shipping --input -")
        );
    }

    #[test]
    fn the_command_line_gives_the_same_draft_again() {
        for draft in [
            json!({"addresses": [{"street": ["-5, rue d'Été", "b"], "city": "New York", "id": 2,
                "region": {"region_code": "NY", "region": "New York", "region_id": 43}}]}),
            json!({"addresses": [{"telephone": "+33 1", "region": crate::plan::profile::region::none()}]}),
            json!({"firstname": "O'Neil", "gender": 2}),
            json!({"addresses": [{"custom_attributes": [{"attribute_code": "door_code", "value": "B 1"}],
                "company": "X", "default_billing": true, "id": 2}]}),
        ] {
            let line = command_line(&edit(&draft), None, &GlobalArgs::default(), Shell::Posix);
            let cli = Cli::try_parse_from(shell_words::split(&line).unwrap()).unwrap();
            let Command::Customer(CustomerCommand::Update(args)) = cli.command else { panic!("{line}") };
            let again = Draft::new(&MARKETPLACE, Operation::CustomerUpdate, None, &*args, false).unwrap();
            assert_eq!(json!(again.fields), draft, "{line}");
        }
    }

    #[test]
    fn what_no_flag_says_is_given_as_json() {
        let draft = json!({"addresses": [{"postcode": null, "id": 2}]});
        let global = GlobalArgs { sandbox: true, ..GlobalArgs::default() };
        let line = command_line(&edit(&draft), None, &global, Shell::Posix);
        let json = r#"'{"addresses":[{"postcode":null,"id":2}]}'"#;
        assert_eq!(line, format!("printf '%s' {json} | storefront customer update --sandbox --input -"));
        let line = command_line(&edit(&draft), None, &global, Shell::Windows);
        assert_eq!(line, format!("{json} | storefront customer update --sandbox --input -"));
    }
}
