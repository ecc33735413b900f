//! What a person meets in a terminal: one address after another, what is required, whose profile it is, and the setup of a profile.

use crate::support::raw_http::{ADMIN, CUSTOMER};
use crate::support::storefront::Home;
use crate::support::terminal::{CTRL_C, ENTER, ESC, Look, Terminal};
use crate::support::test_env::TestEnv;

fn terminal<'home>(home: &'home Home, line: &str) -> Terminal<'home> {
    Terminal::run(home, 200, &line.split(' ').collect::<Vec<_>>(), &[])
}

#[test]
fn edits_that_are_left_are_printed_as_a_command() {
    Look::each(|look| {
        let home = Home::new();
        let mut terminal = Terminal::looking(&home, look, 200, "--sandbox customer update");
        terminal
            .picks("75002 Paris")
            .picks("City")
            .asks("City")
            .replaces("Lyon")
            .sees("Lyon  (was Paris)")
            .types(ESC)
            .sees("Discard the changes?")
            .types(ESC)
            .sees("Lyon  (was Paris)")
            .types(ESC)
            .sees("Discard the changes?")
            .confirms("y");
        terminal.sees("Equivalent command:\n  storefront --sandbox customer update --address 1 --city Lyon");
        terminal.sees("What do you want to change?").types(CTRL_C);
        assert_eq!(terminal.ends().0, 130);
    });
}

#[test]
fn edits_are_printed_where_the_question_about_them_is_left_too() {
    let home = Home::new();
    let mut terminal = terminal(&home, "--sandbox customer update --address 1");
    terminal.picks("City").asks("City").replaces("Lyon").sees("Lyon  (was Paris)").types(ESC);
    terminal.sees("Discard the changes?").types(CTRL_C);
    terminal.sees("Equivalent command:\n  storefront --sandbox customer update --address 1 --city Lyon");
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn a_new_address_needs_its_required_fields() {
    Look::each(|look| {
        let home = Home::new();
        let mut terminal = Terminal::looking(&home, look, 200, "--sandbox customer update --add-address");
        terminal.asks("First name").replaces("").sees("required").answers("Ann");
        terminal.asks("Last name").replaces("").sees("required").answers("Lee");
        terminal
            .sees("Street, line 1")
            .types(ENTER)
            .sees("required")
            .answers("1 Main St")
            .sees("Street, line 2");
        terminal
            .answers("Suite 4")
            .sees("Street, line 3")
            .answers("Door 5")
            .asks("Street, line 4")
            .types(ENTER)
            .sees("most shops accept 2 street lines only")
            .sees("Keep all lines?")
            .confirms("")
            .sees("type y or n")
            .confirms("n");
        terminal.asks("Street, line 1").types(ENTER).asks("Street, line 2").types(ENTER);
        terminal
            .asks("Street, line 3")
            .replaces("")
            .asks("Country")
            .types(ENTER)
            .sees("required")
            .answers("us");
        terminal.sees("Postcode").types(ENTER).sees("most countries require a postcode").types(ENTER);
        terminal.sees("City").types(ENTER).sees("required").answers("Rome");
        terminal.sees("Region, by name or code (empty: none)").types(ENTER);
        terminal.sees("Telephone").types(ENTER).sees("required").types(ESC).sees("Region").types(CTRL_C);
        let (code, screen) = terminal.ends();
        assert_eq!(code, 130, "{screen}");
        let line = "--add-address --address-firstname Ann --address-lastname Lee --street '1 Main St' --street 'Suite 4'";
        assert!(screen.contains(line), "{screen}");
    });
}

#[test]
fn only_an_administrators_token_leads_to_the_question_which_customer() {
    let env = TestEnv::new();
    let home = Home::with_config(&format!("{PROFILE}api = \"magento\"\nbase-url = {:?}\n", env.url()));
    let admin = [("STOREFRONT_ADMIN_TOKEN", ADMIN)];
    let mut terminal = Terminal::run(&home, 200, &["customer", "show"], &admin);
    terminal.sees("Customer (ID, email or words)").types(ENTER).sees("required").answers("nobody at all");
    terminal.sees("No customer found").sees("Customer (ID").answers("haddad").sees("Which one?");
    terminal.picks("amina.haddad@example.com").sees("18 rue de la Paix");
    assert_eq!(terminal.ends().0, 0);
    let mut update = Terminal::run(&home, 200, &["customer", "update"], &admin);
    update.sees("Customer (ID, email or words)").answers("1").picks("75002 Paris").picks("City");
    update.asks("City").replaces("Lyon").types(CTRL_C);
    let (code, screen) = update.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("storefront customer update --customer 1 --address 1 --city Lyon"), "{screen}");
}

const PROFILE: &str = "default-profile = \"shop\"\n[profiles.shop]\nstore-view = \"default\"\n";

#[test]
fn a_token_that_may_not_read_the_profile_is_not_stored() {
    let env = TestEnv::new();
    let home = Home::with_config(&format!("{PROFILE}base-url = {:?}\n", env.url()));
    let login = |token: &str, more: &[&str]| {
        home.storefront(&[&["auth", "login", "--with-token"], more].concat()).stdin(token).run()
    };
    assert_eq!(login(CUSTOMER, &[]).code, 0);
    let refused = login(ADMIN, &[]);
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(refused.stderr.contains("the token was not stored"), "{refused:?}");
    assert!(refused.stderr.contains("if it is an administrator's token, add --admin"), "{refused:?}");
    assert!(!home.read("credentials.toml").contains(ADMIN));
    assert_eq!(login(ADMIN, &["--admin"]).code, 0);
}

#[test]
fn the_same_token_stored_twice_has_two_sources() {
    let home = Home::with_config(&format!("{PROFILE}base-url = \"https://127.0.0.1:1\"\n"));
    for more in [&[][..], &["--admin"]] {
        let line = [&["auth", "login", "--with-token"], more].concat();
        assert_eq!(home.storefront(&line).stdin("hunter2").run().code, 0);
    }
    let status = home.ok("auth status");
    assert!(!status.contains("none of its own"), "{status}");
    assert!(status.contains("auth login --admin of profile shop"), "{status}");
}

#[test]
fn login_without_a_profile_says_what_is_missing() {
    let home = Home::new();
    let line = ["auth", "login", "--with-token"];
    let outcome = home.storefront(&line).env("STOREFRONT_BASE_URL", "https://shop.example").stdin("x").run();
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("a token is stored for a profile"), "{outcome:?}");
    assert!(outcome.stderr.contains("add -p NAME"), "{outcome:?}");
}

#[test]
fn init_for_magento_saves_the_interface_and_needs_no_store_view() {
    let home = Home::new();
    let mut flagged = terminal(&home, "--api magento config init -p mg --base-url https://shop.example");
    flagged.sees("store view code (optional)").types(ENTER);
    let (code, screen) = flagged.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("storefront auth login -p mg --admin"), "{screen}");
    let written = home.read("config.toml");
    assert!(written.contains("api = \"magento\"") && !written.contains("store-view"), "{written}");
    assert!(screen.contains("warning: the base URL has no `/rest` at its end"), "{screen}");
    let whole =
        ["--api", "magento", "config", "init", "-p", "whole", "--base-url", "https://shop.example/rest"];
    assert_eq!(home.run(&whole).code, 0);
    assert!(!home.run(&whole).stderr.contains("`/rest`"));
    let mut asked = terminal(&home, "config init -p other --base-url https://shop.example");
    asked.sees("Interface").sees("marketplace");
    asked.picks("magento");
    asked.sees("store view code (optional)").answers("fr;x").sees("invalid store view code").types(CTRL_C);
    assert_eq!(asked.ends().0, 130);
}

#[test]
fn esc_goes_back_one_question_of_init() {
    let home = Home::new();
    let mut asked = terminal(&home, "config init");
    asked.sees("profile name").replaces("one").sees("Interface").picks("marketplace");
    asked.sees("base URL").types(ESC).sees("Interface").types(ESC).sees("profile name").replaces("two");
    asked.sees("Interface").picks("magento").sees("base URL").answers("https://shop.example/rest");
    asked.sees("store view code (optional)").types(ENTER);
    let (code, screen) = asked.ends();
    assert_eq!(code, 0, "{screen}");
    let written = home.read("config.toml");
    assert!(written.contains("[profiles.two]") && !written.contains("one"), "{written}");
    let mut again = terminal(&home, "config init --api magento");
    again.sees("profile name").replaces("two").sees("profile `two` already exists").types(CTRL_C);
    assert_eq!(again.ends().0, 130, "it is not replaced by an answer");
    let mut left = terminal(&home, "config init -p three --api magento");
    left.sees("base URL").types(ESC);
    assert_eq!(left.ends().0, 130, "before the first question");
}

#[test]
fn a_pasted_command_or_url_is_no_store_view() {
    let home = Home::new();
    for pasted in ["clear; storefront auth login", "https://shop.example"] {
        let init =
            ["config", "init", "-p", "x", "--base-url", "https://shop.example", "--store-view", pasted];
        let outcome = home.run(&init);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains("invalid store view code"), "{outcome:?}");
        assert!(!home.path("config.toml").exists());
    }
}

#[test]
fn init_says_that_plain_http_has_to_be_allowed() {
    let home = Home::new();
    for (host, is_told) in [("shop.example", true), ("127.0.0.1:8080", false)] {
        let url = format!("http://{host}/rest");
        let init = home.run(&["config", "init", "-p", "x", "--replace", "--base-url", &url]);
        let told = init.stderr.contains("`storefront config set -p x allow-plain-http true`");
        assert_eq!((init.code, told), (0, is_told), "{init:?}");
    }
}

#[test]
fn csv_on_standard_input_gets_the_flag_that_names_it() {
    let home = Home::new();
    let line = ["--sandbox", "quote", "add-item", "-i", "-"];
    let outcome = home.storefront(&line).stdin("sku,qty\nA,1\n").run();
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("not valid JSON"), "{outcome:?}");
    assert!(outcome.stderr.contains("add --input-format csv"), "{outcome:?}");
}

#[test]
fn in_a_list_letters_filter_and_the_space_bar_chooses_nothing() {
    let home = Home::new();
    let line = ["--sandbox", "customer", "update"];
    let mut terminal = Terminal::run(&home, 100, &line, &[]);
    terminal.sees("What do you want to change?").types("address 2").sees_no_more("Profile fields");
    terminal.types(ENTER).sees("350 Fifth Avenue").types(ESC);
    // What is pasted with an Enter takes nothing by itself.
    terminal
        .sees("Profile fields")
        .types("address 3\r")
        .sees_no_more("Profile fields")
        .types(ENTER)
        .sees("Address 3");
    terminal
        .types(ESC)
        .sees("Profile fields")
        .types("xyz")
        .sees("nothing matches")
        .types(ESC)
        .sees("Profile fields");
    terminal.types(CTRL_C);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
}

#[test]
fn an_item_is_asked_for_with_its_quantity() {
    Look::each(|look| {
        let home = Home::new();
        let line = "--sandbox --api magento quote add-item --customer 1";
        let mut terminal = Terminal::looking(&home, look, 200, line);
        terminal.asks("SKU").answers("mug-blue");
        terminal.asks("Quantity (empty: 1)").answers("0").sees("enter a number above 0").replaces("2");
        terminal.sees("Equivalent command:");
        let (code, screen) = terminal.ends();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("--sku mug-blue --qty 2"), "{screen}");
        let line = "--sandbox --api magento quote set-item --customer 1";
        let mut terminal = Terminal::looking(&home, look, 200, line);
        terminal.picks("2 × mug-blue").asks("New quantity (now 2)").answers("5").sees("Equivalent command:");
        let (code, screen) = terminal.ends();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("--item 1 --qty 5"), "{screen}");
    });
}

#[test]
fn a_product_is_asked_for_with_an_attribute_and_a_value() {
    for (named, sku) in [("", true), (" cap", false)] {
        let home = Home::new();
        let line = format!("--sandbox --api magento product set --store-view fr{named}");
        let mut terminal = terminal(&home, &line);
        if sku {
            terminal.asks("SKU").answers("cap");
        }
        terminal.asks("Attribute (code or label)").answers("name");
        terminal.asks("Value").answers("Casquette d'hiver");
        terminal.sees("Equivalent command:");
        let (code, screen) = terminal.ends();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("product set"), "{screen}");
        let shown = home.ok("--sandbox --api magento product show cap --store-view fr --jq .name");
        assert_eq!(shown.trim(), "Casquette d'hiver");
        assert_eq!(
            home.ok("--sandbox --api magento product show cap --store-view de --jq .name").trim(),
            "Cap"
        );
    }
}

/// A date that is typed is read as one in a flag, a cell and JSON: of two readings neither is taken.
#[test]
fn a_date_that_could_be_two_days_is_refused_in_a_dialogue() {
    let home = Home::new();
    home.ok("--sandbox --api magento attribute create --code made --label Made --type date --set Default");
    for (typed, code, says) in [("03.04.2026", 2, "which may be"), ("2026-04-03", 0, "Equivalent command:")] {
        let mut terminal = terminal(&home, "--sandbox --api magento product set cap");
        terminal.asks("Attribute (code or label)").answers("made");
        terminal.asks("Value").answers(typed);
        terminal.sees(says);
        let (ended, screen) = terminal.ends();
        assert_eq!(ended, code, "{screen}");
    }
    let made = home.ok("--sandbox --api magento product show cap --jq .custom_attributes[0].value");
    assert!(made.trim().starts_with("2026-04-03"), "{made}");
}

#[test]
fn shipping_is_asked_for_from_what_the_shop_offers() {
    let home = Home::new();
    home.ok("--sandbox --api magento quote add-item --customer 1 --sku mug-blue --qty 1");
    let mut terminal = terminal(&home, "--sandbox --api magento quote ship --customer 1");
    terminal.sees("Ship to which address?").picks("10118 New York");
    terminal.sees("Which shipping method?").picks("Flat Rate");
    terminal.sees("Which payment method?").picks("Check");
    terminal.sees("Equivalent command:");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("--ship-to-address 2 --carrier flatrate --method flatrate --payment-method checkmo"),
        "{screen}"
    );
}

#[test]
fn what_names_no_line_of_a_list_is_typed_again() {
    let home = Home::new();
    let mut terminal = Terminal::looking(&home, Look::Accessible, 200, "--sandbox customer update");
    terminal.sees("What do you want to change?").answers("nowhere").sees("no line has `nowhere`");
    terminal.answers("2").sees("Address 2").types(CTRL_C);
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn what_was_removed_from_a_cart_comes_with_the_command_that_takes_it_back() {
    let home = Home::new();
    let quote = "--sandbox --api magento quote";
    for removal in ["remove-item --sku mug-blue", "clear"] {
        home.ok(&format!("{quote} add-item --customer 1 --sku mug-blue --qty 2"));
        let removed = home.run(&format!("{quote} {removal} --customer 1 --yes"));
        let (_, back) = removed
            .stderr
            .split_once("take it back with `storefront ")
            .unwrap_or_else(|| panic!("{removed:?}"));
        home.ok(&format!("{} --yes", back.split('`').next().unwrap()));
        assert!(home.ok(&format!("{quote} show --customer 1")).contains("mug-blue"), "{removal}");
        home.ok(&format!("{quote} clear --customer 1 --yes -q"));
    }
}
