//! What a person meets in a terminal: several addresses in one review, what is required, and the setup of a profile.

use serde_json::Value;

use crate::support::raw_http::{ADMIN, CUSTOMER};
use crate::support::storefront::Home;
use crate::support::terminal::{CTRL_C, DOWN, ENTER, ESC, Terminal};
use crate::support::test_env::TestEnv;

fn terminal<'home>(home: &'home Home, line: &str) -> Terminal<'home> {
    Terminal::run(home, 200, &line.split(' ').collect::<Vec<_>>(), &[])
}

/// Moves the cursor to the line that starts so, and presses Enter.
fn picks(terminal: &mut Terminal<'_>, label: &str) {
    terminal.sees(label);
    let is_there = |screen: &str| screen.lines().any(|line| line.starts_with(&format!("\u{276f} {label}")));
    for _ in 0..30 {
        if is_there(&terminal.screen()) {
            break;
        }
        terminal.types(DOWN);
    }
    terminal.types(ENTER);
}

/// Changes Address 1 and goes back to the list.
fn edits_the_first(terminal: &mut Terminal<'_>) {
    picks(terminal, "Address 1");
    picks(terminal, "City");
    terminal.sees("City").replaces("Lyon").sees("Lyon  (was Paris)").types(ESC);
    terminal.sees("What do you want to change?").sees("(edited)");
}

#[test]
fn the_edits_of_two_addresses_are_one_review_and_one_update() {
    let home = Home::new();
    let mut terminal = terminal(&home, "--sandbox customer update");
    edits_the_first(&mut terminal);
    picks(&mut terminal, "Address 2");
    picks(&mut terminal, "Postcode");
    terminal.sees("Postcode").replaces("10119").sees("10119  (was").types(ENTER);
    let screen = terminal.sees("Send it?").screen();
    assert!(screen.contains("Lyon") && screen.contains("10119"), "{screen}");
    terminal.confirms("y");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    let customer: Value = serde_json::from_str(&home.ok("--sandbox customer show -o json")).unwrap();
    assert_eq!(customer["addresses"][0]["city"], "Lyon");
    assert_eq!(customer["addresses"][1]["postcode"], "10119");
}

#[test]
fn an_interrupt_in_the_list_prints_the_equivalent_command() {
    let home = Home::new();
    let mut terminal = terminal(&home, "--sandbox customer update");
    edits_the_first(&mut terminal);
    terminal.types(CTRL_C);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    let line = "Equivalent command:\n  storefront customer update --sandbox --address 1 --city Lyon";
    assert!(screen.contains(line), "{screen}");
}

#[test]
fn the_edits_can_be_reviewed_from_the_list() {
    let home = Home::new();
    let mut terminal = terminal(&home, "--sandbox customer update");
    edits_the_first(&mut terminal);
    picks(&mut terminal, "Done, review changes");
    terminal.sees("Send it?").confirms("n");
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn a_new_address_needs_its_required_fields() {
    let home = Home::new();
    let mut terminal = terminal(&home, "--sandbox customer update --add-address");
    terminal.sees("First name").types(ENTER).sees("required").answers("Ann");
    terminal.sees("Last name").types(ENTER).sees("required").answers("Lee");
    terminal.sees("Street, line 1").answers("1 Main St").sees("Street, line 2 (optional)").types(ENTER);
    terminal.sees("Country code").types(ENTER).sees("required").answers("us");
    terminal.sees("Postcode").types(ENTER).sees("most countries require a postcode").types(ENTER);
    terminal.sees("City").types(ENTER).sees("required").answers("Rome");
    terminal.sees("Region, by name or code (empty: none)").types(ENTER);
    terminal.sees("Telephone").types(ENTER).sees("required").types(ESC).sees("Region").types(ESC);
    // Esc leads out of the questions, and what was answered stays.
    for question in ["City", "Postcode", "Country code", "Street, line", "Last name", "First name"] {
        terminal.sees(question).types(ESC);
    }
    picks(&mut terminal, "Add an address  (edited)");
    picks(&mut terminal, "Done, review changes");
    terminal.sees("New address: Telephone is required");
    picks(&mut terminal, "Company");
    terminal.sees("Company (optional)").types(ESC);
    picks(&mut terminal, "Discard this address");
    terminal.sees("What do you want to change?").sees_no_more("(edited)").types(ESC);
    assert_eq!(terminal.ends().0, 130);
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
    let mut asked = terminal(&home, "config init -p other --base-url https://shop.example");
    asked.sees("Interface").sees("marketplace");
    picks(&mut asked, "magento");
    asked.sees("store view code (optional)").answers("fr;x").sees("invalid store view code").types(CTRL_C);
    assert_eq!(asked.ends().0, 130);
}

#[test]
fn a_pasted_command_is_no_store_view() {
    let home = Home::new();
    let pasted = "clear; storefront auth login";
    let init = ["config", "init", "-p", "x", "--base-url", "https://shop.example", "--store-view", pasted];
    let outcome = home.run(&init);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("invalid store view code"), "{outcome:?}");
    assert!(!home.path("config.toml").exists());
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
fn a_history_is_shown_when_the_token_is_refused() {
    let env = TestEnv::new();
    assert_eq!(env.run("customer update --address 1 --city Lyon -y -q").code, 0);
    for token in ["no-such-token", ADMIN] {
        let outcome = env.storefront(&["customer", "history"]).env("STOREFRONT_TOKEN", token).run();
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(outcome.stdout.contains("Lyon"), "{outcome:?}");
        assert!(outcome.stderr.contains("could not read the profile"), "{outcome:?}");
    }
}
