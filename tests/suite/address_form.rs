//! The form of `customer update`, in a real terminal: regions of the shop, defaults, custom attributes, and what is kept
//! of what was typed.

use serde_json::{Value, json};

use crate::support::storefront::Home;
use crate::support::terminal::{CTRL_C, ENTER, ESC, Look, Terminal};

fn terminal<'home>(home: &'home Home, columns: u16, line: &str) -> Terminal<'home> {
    Terminal::run(home, columns, &line.split(' ').collect::<Vec<_>>(), &[])
}

fn customer(home: &Home) -> Value {
    serde_json::from_str(&home.ok("--sandbox customer show -o json")).unwrap()
}

/// The words of the equivalent command, as the program gets them.
fn equivalent(screen: &str) -> Vec<String> {
    let (_, line) = screen.split_once("Equivalent command:\n").unwrap_or_else(|| panic!("{screen}"));
    let line = line.lines().next().unwrap().trim();
    shell_words::split(line).unwrap().split_off(1)
}

#[test]
fn a_region_of_the_shop_is_typed_and_saved_with_its_id() {
    Look::each(|look| {
        let home = Home::new();
        let line = "--sandbox --api magento customer update --customer 1 --address 2";
        let mut terminal = Terminal::looking(&home, look, 200, line);
        terminal.picks("Region");
        terminal.sees("Region, by name or code").replaces("Californa").sees("US has no region `Californa`");
        terminal.sees("did you mean `California`?").replaces("ca");
        terminal.sees("California  (was New York)").picks("Done, review changes");
        terminal.sees("Send it?").confirms("n");
        let (code, screen) = terminal.ends();
        assert_eq!(code, 130, "{screen}");
        let words = equivalent(&screen);
        assert_eq!(words[..7], ["--sandbox", "--api", "magento", "customer", "update", "--customer", "1"]);
        let outcome = home.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let address = &customer(&home)["addresses"][1];
        let region = json!({"region_code": "CA", "region": "California", "region_id": 12});
        assert_eq!((&address["region"], &address["region_id"]), (&region, &json!(12)));
    });
}

#[test]
fn a_new_country_that_has_regions_asks_for_one_also_where_none_was_stored() {
    let home = Home::new();
    let line = "--sandbox --api magento customer update --customer 1 --address 3";
    assert_eq!(terminal(&home, 200, &format!("{line} --no-region --yes")).ends().0, 0);
    let mut terminal = self::terminal(&home, 200, line);
    terminal.picks("Country").asks("Country").replaces("Germany").sees("Region, by name or code");
    // Nothing typed leads to the list.
    terminal.types(ENTER).sees("No region").sees("Berlin  BER").types(ESC).picks("Country");
    terminal.replaces("Germany").sees("Region, by name or code").replaces("berl");
    terminal.sees("Berlin").types(CTRL_C);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("--country DE --region-code BER"), "{screen}");
}

#[test]
fn a_country_without_a_list_takes_the_name_of_a_region() {
    let home = Home::new();
    let mut terminal =
        terminal(&home, 200, "--sandbox --api magento customer update --customer 1 --address 3");
    terminal.picks("Region");
    terminal.sees("Region, by name or code").replaces("Beirut").sees("Beirut  (was");
    terminal
        .picks("Done, review changes")
        .sees("Send it?")
        .confirms("y")
        .sees("Another change?")
        .picks("Done");
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(customer(&home)["addresses"][2]["region"]["region"], "Beirut");
}

#[test]
fn a_new_default_takes_it_from_the_old_one() {
    Look::each(|look| {
        let home = Home::new();
        let mut terminal = Terminal::looking(&home, look, 200, "--sandbox customer update --address 1");
        terminal.picks("Default billing");
        terminal.sees("to change the default, choose another address");
        terminal.picks("Default shipping");
        terminal.sees("Default shipping? (y/N)").answers("y").sees("Default shipping  yes");
        terminal
            .picks("Done, review changes")
            .sees("Send it?")
            .confirms("y")
            .sees("Another change?")
            .picks("Done");
        let (code, screen) = terminal.ends();
        assert_eq!(code, 0, "{screen}");
        let customer = customer(&home);
        let default = |at: usize| customer["addresses"][at]["default_shipping"].clone();
        assert_eq!((default(0), default(1)), (json!(true), json!(false)));
        assert_eq!(customer["default_shipping"], "1");
    });
}

#[test]
fn custom_attributes_country_names_and_an_interrupted_form_are_kept() {
    Look::each(|look| {
        let home = Home::new();
        let mut terminal = Terminal::looking(&home, look, 200, "--sandbox customer update --address 1");
        terminal.picks("door_code");
        terminal.sees("door_code").replaces("C 2").sees("(was B4711)");
        terminal.picks("Country");
        terminal.asks("Country").replaces("Narnia").sees("expected a country's code");
        terminal.replaces("germany").sees("DE  (was FR)");
        terminal.types(CTRL_C);
        let (code, screen) = terminal.ends();
        assert_eq!(code, 130, "{screen}");
        let words = equivalent(&screen);
        let outcome = home.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(outcome.code, 0, "{words:?} {outcome:?}");
        let address = &customer(&home)["addresses"][0];
        assert_eq!(address["country_id"], "DE");
        assert_eq!(address["custom_attributes"], json!([{"attribute_code": "door_code", "value": "C 2"}]));
    });
}

#[test]
fn a_new_address_is_asked_in_eight_questions_and_completed_in_the_list() {
    Look::each(|look| {
        let home = Home::new();
        let mut terminal = Terminal::looking(&home, look, 200, "--sandbox customer update --add-address");
        terminal.sees("First name").replaces("Ann").sees("Last name").replaces("Lee");
        terminal.sees("Street, line 1").answers("1 Main St").sees("Street, line 2").types(ENTER);
        terminal.sees("Country").answers("us").sees("Postcode").answers("10118").sees("City").answers("Rome");
        terminal.sees("Region, by name or code").types(ENTER).sees("Telephone").answers("+1 212 736 3100");
        terminal.picks("Company");
        terminal.sees("Company").answers("Lee Ltd").sees("Lee Ltd").picks("Done, review changes");
        let screen = terminal.sees("Send it?").screen();
        assert!(!screen.contains("region_id"), "no region is no field: {screen}");
        terminal.confirms("y").sees("Another change?").picks("Done");
        assert_eq!(terminal.ends().0, 0);
        let added = customer(&home)["addresses"][4].clone();
        assert_eq!((&added["company"], &added["country_id"]), (&json!("Lee Ltd"), &json!("US")));
    });
}

#[test]
fn a_refusal_by_the_service_keeps_what_was_typed() {
    let home = Home::new();
    let line = "--sandbox customer update --address 1 --fault PUT:500x9 --retry 0 --settle 0";
    let mut terminal = terminal(&home, 200, line);
    terminal.picks("City");
    terminal.sees("City").replaces("Lyon").sees("(was Paris)");
    terminal.picks("Done, review changes").sees("Send it?").confirms("y");
    let (code, screen) = terminal.ends();
    assert_ne!(code, 0, "{screen}");
    assert_eq!(equivalent(&screen).join(" "), line.replace(" --address 1", "") + " --address 1 --city Lyon");
}

#[test]
fn what_is_refused_can_be_corrected() {
    let home = Home::new();
    let mut terminal = terminal(&home, 200, "--sandbox --api magento customer update --customer 1");
    terminal.picks("Profile fields").picks("Email").asks("Email address").replaces("nobody");
    terminal.sees("does not look like an email address").replaces("sato.kenji@example.jp");
    terminal.picks("Done, review changes").sees("Send it?").confirms("y");
    terminal.sees("already exists").sees("No changes were made.").picks("Email");
    terminal.asks("Email address (Ctrl-U clears) › sato.kenji@example.jp").replaces("amina@example.com");
    terminal.picks("Done, review changes").sees("Send it?").confirms("y");
    terminal.sees("Another change?").types(ESC);
    assert_eq!((terminal.ends().0, customer(&home)["email"].as_str()), (0, Some("amina@example.com")));
}

#[test]
fn a_field_that_is_emptied_is_cleared_by_the_equivalent_command_too() {
    Look::each(|look| {
        let home = Home::new();
        let mut terminal = Terminal::looking(&home, look, 200, "--sandbox customer update --address 1");
        terminal.picks("Company").asks("Company").replaces("").sees("(was Haddad & Filles)");
        terminal.picks("Done, review changes").sees("Send it?").confirms("n");
        let (_, screen) = terminal.ends();
        let words = equivalent(&screen);
        assert_eq!(words, ["--sandbox", "customer", "update", "--address", "1", "--clear", "company"]);
        let outcome = home.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(outcome.code, 0, "{outcome:?}");
        home.ok("--sandbox customer update --address 1 --clear region vat-id");
        let address = &customer(&home)["addresses"][0];
        assert_eq!((&address["company"], &address["vat_id"]), (&Value::Null, &Value::Null));
        let unchanged = home.ok("--sandbox customer update --address 4 --clear company vat-id");
        assert!(unchanged.contains("no changes"), "{unchanged}");
        let mistyped = home.fails(2, "--sandbox customer update --address 1 --country Germny");
        assert!(
            mistyped.contains("'--country <COUNTRY>'") && mistyped.contains("did you mean `Germany`?"),
            "{mistyped}"
        );
    });
}

#[test]
fn a_field_of_the_profile_is_cleared_where_no_address_is_named() {
    let home = Home::new();
    assert_eq!(
        (&customer(&home)["prefix"], &customer(&home)["taxvat"]),
        (&json!("Dr."), &json!("FR40303265045"))
    );
    home.ok("--sandbox --api magento customer update --customer 1 --clear taxvat prefix");
    let profile = customer(&home);
    let is_empty = |value: &Value| value.is_null() || value == "";
    assert!(is_empty(&profile["taxvat"]) && is_empty(&profile["prefix"]), "{profile}");
    assert_eq!(profile["addresses"][0]["prefix"], "Dr.");
    home.ok("--sandbox --api magento customer update --customer 1 --address 1 --clear prefix fax");
    let address = &customer(&home)["addresses"][0];
    assert!(is_empty(&address["prefix"]) && is_empty(&address["fax"]), "{address}");
    let refused = |line: &str, what: &str| {
        let message = home.fails(2, line);
        assert!(message.contains(what), "{line}: {message}");
    };
    refused("--sandbox customer update --clear city", "`--clear city` requires --address ID");
    refused("--sandbox customer update --address 1 --clear dob", "an address has no `dob`");
    refused("--sandbox customer update --clear email", "invalid value 'email'");
    refused("--sandbox customer update --clear taxvat", "taxvat");
}

#[test]
fn a_region_is_known_by_name_where_another_address_has_it() {
    let home = Home::new();
    home.ok("--sandbox customer update --address 1 --country US --region new-york --postcode 10118");
    let address = &customer(&home)["addresses"][0];
    let region = json!({"region_code": "NY", "region": "New York", "region_id": 43});
    assert_eq!((&address["region"], &address["region_id"]), (&region, &json!(43)));
    let refused = home.fails(2, "--sandbox customer update --address 1 --region Texas");
    assert!(refused.contains("the stored region has an id, and the new region names none"), "{refused}");
}

/// Leads to the fourth street line of a new address.
fn with_three_lines(home: &Home) -> Terminal<'_> {
    let mut terminal = terminal(home, 200, "--sandbox customer update --add-address");
    terminal.asks("First name").replaces("Ann").asks("Last name").replaces("Lee");
    terminal.asks("Street, line 1").answers("1 Main St").asks("Street, line 2").answers("Floor 2");
    terminal.asks("Street, line 3").answers("Door 3").asks("Street, line 4");
    terminal
}

#[test]
fn street_lines_are_kept_where_their_question_is_left() {
    let typed = "--street '1 Main St' --street 'Floor 2' --street 'Door 3'";
    let home = Home::new();
    let mut at_a_line = with_three_lines(&home);
    at_a_line.types(CTRL_C);
    let mut at_the_doubt = with_three_lines(&home);
    at_the_doubt.types(ENTER).sees("Keep all lines?").types(CTRL_C);
    for terminal in [at_a_line, at_the_doubt] {
        let (code, screen) = terminal.ends();
        assert_eq!(code, 130, "{screen}");
        assert!(screen.contains(typed), "{screen}");
    }
    // Stored lines that were not reached stay.
    let mut stored = terminal(&home, 200, "--sandbox customer update --address 1");
    stored
        .picks("Street")
        .asks("Street, line 1")
        .replaces("2 rue Haute")
        .asks("Street, line 2")
        .types(CTRL_C);
    let (_, screen) = stored.ends();
    assert!(screen.contains("--street '2 rue Haute' --street 'Bâtiment C'"), "{screen}");
    let mut same = terminal(&home, 200, "--sandbox customer update --address 1");
    same.picks("Street").asks("Street, line 1").types(ENTER).asks("Street, line 2").types(CTRL_C);
    let (_, screen) = same.ends();
    assert!(!screen.contains("--street"), "{screen}");
}

#[test]
fn what_a_colleague_edited_meanwhile_is_shown_with_the_question() {
    let home = Home::new();
    let update = "--sandbox --api magento customer update --customer 1 --address";
    let mut terminal = terminal(&home, 200, &format!("{update} 2"));
    terminal.picks("Postcode").asks("Postcode").replaces("10119").sees("10119  (was 10118)");
    home.ok(&format!("{update} 2 --city Hoboken --telephone 5550100 --yes"));
    home.ok(&format!("{update} 3 --city Saida --yes"));
    terminal.picks("Done, review changes").sees("Changed by others meanwhile:");
    terminal
        .sees("New York")
        .sees("→ Hoboken")
        .sees("→ 5550100")
        .sees("→ Saida")
        .sees("Send it?")
        .confirms("y");
    let screen = terminal.sees("Another change?").screen();
    let (shown, _) = screen.split_once("Send it?").unwrap();
    assert_eq!(shown.matches("→ Hoboken").count(), 1, "{screen}");
    // What is offered next is read again.
    terminal.picks("Hoboken").picks("City").asks("City").replaces("Newark").picks("Done, review changes");
    terminal.sees("→ Newark").sees("Send it?").confirms("y").sees("Another change?").picks("Done");
    let (code, screen) = terminal.ends();
    assert_eq!((code, screen.matches("Changed by others").count()), (0, 1), "{screen}");
}
