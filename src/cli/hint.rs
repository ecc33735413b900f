//! The commands of hints, for the service and the customer of this command: a command from a hint must not act somewhere
//! else.

use super::GlobalArgs;
use super::command_line::CommandLine;
use storefront_core::hint::{Hint, HintCommand};

/// A command line for a hint.
pub fn typed(line: &CommandLine) -> HintCommand {
    HintCommand::of(line.words().into_iter().skip(1))
}

/// A hint whose commands name the service and the customer of this command.
pub fn for_command(hint: Hint, global: &GlobalArgs) -> Hint {
    for_customer(hint, global, global.customer.as_deref())
}

/// A hint whose commands name the service, and the customer of a record.
pub fn for_customer(hint: Hint, global: &GlobalArgs, customer: Option<&str>) -> Hint {
    for_target(hint, &service_flags(global), customer)
}

/// Whether a command of a hint would be for the token's own customer.
pub fn is_for_customer(hint: &Hint) -> bool {
    for_target(hint.clone(), &[], Some("1")) != for_target(hint.clone(), &[], None)
}

/// The flags with which this command named the service.
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

/// The hint with its commands for that service and that customer.
fn for_target(hint: Hint, service: &[String], customer: Option<&str>) -> Hint {
    hint.map_commands(|command| {
        typed(&CommandLine::of_words(command.words().to_vec()).for_target(service, customer))
    })
}

#[cfg(test)]
mod tests {
    use super::for_target;
    use storefront_core::hint::{hint, storefront};

    fn with_service(hint: storefront_core::hint::Hint, service: &str, customer: Option<&str>) -> String {
        let service: Vec<String> = service.split_whitespace().map(str::to_owned).collect();
        for_target(hint, &service, customer).to_string()
    }

    #[test]
    fn commands_for_a_service_name_it_and_others_stay_as_they_are() {
        for (words, expected) in [
            ("customer show", "--sandbox customer show"),
            ("--sandbox customer show", "--sandbox customer show"),
            ("customer show -p shop", "customer show -p shop"),
            ("customer show --store-view fr", "customer show --store-view fr"),
            ("config path", "config path"),
            ("auth login", "auth login"),
        ] {
            let expected = format!("`storefront {expected}`");
            assert_eq!(with_service(storefront(words).into(), "--sandbox", None), expected);
        }
        assert_eq!(
            with_service(
                hint!(storefront("quote show"), ", then ", storefront("customer show")),
                "--sandbox",
                None
            ),
            "`storefront --sandbox quote show`, then `storefront --sandbox customer show`"
        );
        assert_eq!(
            with_service(storefront("auth login").into(), "-p shop", None),
            "`storefront -p shop auth login`"
        );
        assert_eq!(with_service(storefront("quote show").into(), "", None), "`storefront quote show`");
        assert_eq!(with_service("add --yes".into(), "--sandbox", Some("7")), "add --yes");
    }

    #[test]
    fn commands_for_a_customer_name_the_one_of_this_command() {
        for (hint, expected) in [
            (
                hint!(
                    "look with ",
                    storefront("customer show").arg("-v"),
                    ", or ",
                    storefront("customer find TEXT")
                ),
                "look with `storefront --api magento customer show --customer 7 -v`, or `storefront --api magento customer find TEXT`",
            ),
            (
                storefront("quote show --customer 8").into(),
                "`storefront --api magento quote show --customer 8`",
            ),
            (
                hint!(storefront("quote methods"), " lists them"),
                "`storefront --api magento quote methods --customer 7` lists them",
            ),
        ] {
            assert_eq!(with_service(hint, "--api magento", Some("7")), expected);
        }
    }
}
