//! Hints name the service that the command was run against: a command from a hint must not act somewhere else.

use crate::cli::GlobalArgs;

/// Commands that talk to a service or to what this machine keeps of it.
const SERVICE_COMMANDS: &[&str] = &["api", "apply", "attribute", "auth", "customer", "doctor", "quote"];

/// A text with the service that this command was run against, and its customer, in its commands.
pub fn for_command(hint: &str, global: &GlobalArgs) -> String {
    for_customer(hint, global, global.customer.as_deref())
}

/// The same for the customer whom a record names.
pub fn for_customer(hint: &str, global: &GlobalArgs, customer: Option<&str>) -> String {
    let customer = customer.map(shell_words::quote);
    with_target(hint, &shell_words::join(service_flags(global)), customer.as_deref())
}

/// Whether a command of a hint is for the token's own customer, where it names none.
pub fn is_for_customer(hint: &str) -> bool {
    with_target(hint, "", Some("1")) != hint
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

/// The hint with `target` (such as `--sandbox --api magento` or `-p NAME`) in each command of it that would otherwise use
/// the default service, and with the customer in each that would otherwise be for the token's own.
pub fn with_target(hint: &str, target: &str, customer: Option<&str>) -> String {
    const PROGRAM: &str = "`storefront ";
    let mut parts = hint.split(PROGRAM);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let words: Vec<&str> = part.split('`').next().unwrap_or_default().split(' ').collect();
        let has = |flags: &[&str]| words.iter().any(|word| flags.contains(word));
        text.push_str(PROGRAM);
        // The built-in service has no stored tokens.
        let is_for_service = SERVICE_COMMANDS.contains(&words[0])
            && !(words[0] == "auth" && target.starts_with("--sandbox"))
            && !has(&["--sandbox", "-p", "--profile", "--api", "--store-view"]);
        if is_for_service && !target.is_empty() {
            text.push_str(&format!("{target} "));
        }
        match (customer, &words[..]) {
            (Some(customer), [noun @ ("customer" | "quote"), verb, ..])
                if *verb != "find" && !has(&["--customer", "--input"]) =>
            {
                let (command, rest) = part.split_at(noun.len() + 1 + verb.len());
                text.push_str(&format!("{command} --customer {customer}{rest}"));
            }
            _ => text.push_str(part),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::with_target;

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
            assert_eq!(with_target(hint, "--sandbox", None), expected);
        }
        assert_eq!(
            with_target("`storefront auth login`", "-p shop", None),
            "`storefront -p shop auth login`"
        );
        assert_eq!(with_target("`storefront quote show`", "", None), "`storefront quote show`");
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
            assert_eq!(with_target(hint, "--api magento", Some("7")), expected);
        }
    }
}
