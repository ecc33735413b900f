//! Hints name the service that the command was run against: a command from a hint must not act somewhere else.

/// Commands that talk to a service or to what this machine keeps of it.
const SERVICE_COMMANDS: &[&str] = &["api", "attribute", "auth", "customer", "doctor", "quote"];

/// The hint with `target` (`--sandbox` or `-p NAME`) in each command of it that would otherwise use the default service.
pub fn with_target(hint: &str, target: &str) -> String {
    const PROGRAM: &str = "`storefront ";
    let mut parts = hint.split(PROGRAM);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let command = part.split('`').next().unwrap_or_default();
        let noun = command.split(' ').next().unwrap_or_default();
        let is_bare = !command.split(' ').any(|word| matches!(word, "--sandbox" | "-p" | "--profile"));
        // The built-in service has no stored tokens.
        let is_for_service = SERVICE_COMMANDS.contains(&noun) && !(noun == "auth" && target == "--sandbox");
        text.push_str(PROGRAM);
        if is_bare && is_for_service {
            text.push_str(target);
            text.push(' ');
        }
        text.push_str(part);
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
            ("`storefront config path`", "`storefront config path`"),
            ("`storefront auth login`", "`storefront auth login`"),
            ("add --yes", "add --yes"),
        ] {
            assert_eq!(with_target(hint, "--sandbox"), expected);
        }
        assert_eq!(with_target("`storefront auth login`", "-p shop"), "`storefront -p shop auth login`");
    }
}
