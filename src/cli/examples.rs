//! Three examples for each command, at the end of its help. Every line runs as it is, those on settings where there is
//! a profile `shop` with a base URL and a number of repeats.

use clap::Command;

use crate::plan::operation::Operation;

/// A command by its words, and its examples. Those of operations are in their specs.
const EXAMPLES: &[(&str, [&str; 3])] = &[
    (
        "quote show",
        [
            "storefront quote show --sandbox --api magento --customer 1",
            "storefront quote show --sandbox --api magento --customer 1 -o json",
            "storefront quote show --sandbox --api magento --customer 1 --jq '.cart.items[].sku'",
        ],
    ),
    (
        "quote methods",
        [
            "storefront quote methods --sandbox --api magento --customer 1",
            "storefront quote methods --sandbox --api magento --customer 1 -o json",
            "storefront quote methods --sandbox --api magento --customer 1 --jq '.payment[].code'",
        ],
    ),
    (
        "attribute show",
        [
            "storefront attribute show color --sandbox --api magento",
            "storefront attribute show color --sandbox --api magento -o json",
            "storefront attribute show color --sandbox --api magento --jq '.options[].label'",
        ],
    ),
    (
        "customer show",
        [
            "storefront customer show --sandbox",
            "storefront customer show --sandbox -o json > before.json",
            "storefront customer show --sandbox --jq '.addresses[] | [.id, .city]'",
        ],
    ),
    (
        "customer find",
        [
            "storefront customer find --sandbox --api magento haddad",
            "storefront customer find --sandbox --api magento amina example.com --limit 5",
            "storefront customer find --sandbox --api magento haddad --jq .id",
        ],
    ),
    (
        "customer history",
        [
            "storefront customer history --sandbox",
            "storefront customer history --sandbox -o json",
            "storefront customer update --sandbox --firstname Amy && storefront customer history --sandbox",
        ],
    ),
    (
        "customer restore",
        [
            "storefront customer update --sandbox --gender 1 && storefront customer restore --sandbox",
            "storefront customer update --sandbox --gender 1 && storefront customer restore --sandbox -n",
            "storefront customer update --sandbox --gender 1 && storefront customer restore --sandbox --all",
        ],
    ),
    (
        "journal show",
        [
            "storefront journal show items.csv.journal",
            "storefront journal show items.csv.journal --csv > report.csv",
            "storefront journal show items.csv.journal --jq 'select(.state == \"failed\").key'",
        ],
    ),
    (
        "config init",
        [
            "storefront config init -p test --base-url https://test.example/rest",
            "storefront config init -p test --base-url https://test.example --store-view fr",
            "storefront config init -p shop --base-url https://shop.example --replace",
        ],
    ),
    (
        "config path",
        [
            "storefront config path",
            "storefront config path -o json",
            "ls -d \"$(storefront config path)\" || true",
        ],
    ),
    (
        "config list",
        ["storefront config list", "storefront config list -o json", "storefront config list --jq .exists"],
    ),
    (
        "config get",
        [
            "storefront config get -p shop retry",
            "storefront config get profiles.shop",
            "storefront config get profiles.shop.retry -o json",
        ],
    ),
    (
        "config set",
        [
            "storefront config set -p shop base-url https://shop.example/rest",
            "storefront config set -p shop token-command pass show shop",
            "storefront config set profiles.shop.store-view fr",
        ],
    ),
    (
        "config unset",
        [
            "storefront config unset -p shop retry",
            "storefront config unset profiles.shop.retry",
            "storefront config unset profiles.shop",
        ],
    ),
    (
        "config use",
        [
            "storefront config use shop",
            "storefront config use shop && storefront config get retry",
            "storefront config use shop -q",
        ],
    ),
    (
        "auth login",
        [
            "echo t0ken | storefront auth login --with-token",
            "echo t0ken | storefront auth login --with-token --admin",
            "echo t0ken | storefront auth login --with-token -p shop -o json",
        ],
    ),
    (
        "auth status",
        [
            "echo t0ken | storefront auth login --with-token && storefront auth status",
            "STOREFRONT_TOKEN=t0ken storefront auth status -o json",
            "STOREFRONT_TOKEN=t0ken storefront auth status -p shop",
        ],
    ),
    (
        "auth logout",
        ["storefront auth logout", "storefront auth logout --admin", "storefront auth logout -p shop"],
    ),
    (
        "doctor",
        [
            "storefront doctor --sandbox",
            "storefront doctor --sandbox -o json",
            "storefront doctor --sandbox -v",
        ],
    ),
    (
        "sandbox serve",
        [
            "timeout 1 storefront sandbox serve --listen 127.0.0.1:0 || true",
            "timeout 1 storefront sandbox serve --data shop.db || true",
            "timeout 1 storefront sandbox serve --fault 503@10 -v || true",
        ],
    ),
    (
        "sandbox reset",
        [
            "storefront sandbox reset",
            "storefront sandbox reset --data shop.db",
            "storefront sandbox reset -o json",
        ],
    ),
    (
        "sandbox show",
        [
            "storefront sandbox show",
            "storefront sandbox show --jq '.quotes[].items'",
            "storefront sandbox show --data shop.db -o json",
        ],
    ),
    (
        "sandbox openapi",
        [
            "storefront sandbox openapi",
            "storefront sandbox openapi > openapi.json",
            "storefront sandbox openapi | head -3",
        ],
    ),
    (
        "sandbox tokens",
        [
            "storefront sandbox tokens",
            "storefront sandbox tokens -o json",
            "storefront sandbox tokens --jq '.[0].token'",
        ],
    ),
    (
        "api",
        [
            "storefront api GET /V1/storeview/default/customer/profile --sandbox",
            "storefront template attribute-create > a.json && storefront api POST /V1/x --sandbox -i a.json -n",
            "storefront api GET /V1/storeview/fr/customer/profile --sandbox -n --curl",
        ],
    ),
    (
        "template",
        [
            "storefront template quote ship",
            "storefront template customer-update -q > change.json",
            "storefront template attribute create --format csv",
        ],
    ),
    (
        "schema",
        [
            "storefront schema quote ship",
            "storefront schema customer-update > customer.schema.json",
            "storefront schema attribute create",
        ],
    ),
    (
        "help",
        ["storefront help exit-codes", "storefront help environment", "storefront help customer update"],
    ),
    (
        "completions",
        [
            "storefront completions bash > storefront.bash",
            "storefront completions zsh > _storefront",
            "storefront completions fish > storefront.fish",
        ],
    ),
    ("man", ["storefront man", "storefront man man1", "storefront man man1 && ls man1"]),
];

/// A command, its help ending with the examples of these words, if there are any.
pub fn added_to(command: Command, words: &str) -> Command {
    let operation = Operation::ALL.into_iter().map(|operation| (operation.name(), operation.spec().examples));
    let others = EXAMPLES.iter().copied();
    match operation.chain(others).find(|(known, _)| *known == words) {
        Some((_, lines)) => command.after_help(format!("Examples:\n  {}", lines.join("\n  "))),
        None => command,
    }
}
