//! Prompts in a real terminal.

use serde_json::Value;

use crate::support::storefront::Home;
use crate::support::terminal::{CTRL_C, CTRL_D, DOWN, ENTER, ESC, Terminal};

fn stored(home: &Home, what: &str) -> Value {
    serde_json::from_str::<Value>(&home.ok("sandbox show -o json")).unwrap()[what].clone()
}

fn attribute(home: &Home, code: &str) -> Value {
    let all = stored(home, "attributes");
    all.as_array().unwrap().iter().find(|it| it["attribute_code"] == code).cloned().unwrap_or_default()
}

/// The command after `Equivalent command:`.
fn command_line(screen: &str) -> String {
    let (_, line) = screen.split_once("Equivalent command:\n").unwrap_or_else(|| panic!("{screen}"));
    line.trim().to_owned()
}

fn terminal<'home>(home: &'home Home, columns: u16, line: &str) -> Terminal<'home> {
    Terminal::run(home, columns, &line.split(' ').collect::<Vec<_>>(), &[])
}

/// The stored address with this id.
fn address(home: &Home, id: u64) -> Value {
    let customers = stored(home, "customers");
    let mut addresses =
        customers.as_array().unwrap().iter().flat_map(|it| it["addresses"].as_array().unwrap());
    addresses.find(|address| address["id"] == id).unwrap().clone()
}

#[test]
fn the_wizard_asks_step_by_step_and_prints_the_equivalent_command() {
    let home = Home::new();
    let mut terminal = terminal(&home, 300, "--sandbox attribute create --filterable");
    terminal.sees("Label (shown to shoppers)").types("Schuhgröße").types(ENTER);
    terminal.sees("schuhgroesse").types(ENTER);
    terminal.sees("Input type").types(ENTER);
    terminal.sees("Option 1").types("36 EU\r37 EU\r\r38 EU\r").sees("Option 4").types(ENTER);
    terminal.sees("Default option").types(DOWN).types(ENTER);
    terminal.sees("STORE=LABEL").types("2=Pointure").types(ENTER).types(ENTER);
    terminal.sees("Required?").answers("n");
    terminal.sees("Include in search?").answers("y");
    let screen = terminal.sees("Create it?").screen();
    assert!(
        screen.contains("Default option         36 EU")
            && !screen.contains("Use as a filter in layered navigation?"),
        "{screen}"
    );
    terminal.confirms("y");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    let made = attribute(&home, "schuhgroesse");
    let labels: Vec<&str> =
        made["options"].as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["36 EU", "37 EU", "38 EU"]);
    let line = command_line(&screen);
    assert!(line.contains("--filterable --label Schuhgröße"), "what was typed comes first: {line}");
    assert!(line.ends_with("--store-label 2=Pointure --required=false --searchable"), "{line}");
    let again = Home::new();
    let outcome = again.run(line.strip_prefix("storefront ").unwrap());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(attribute(&again, "schuhgroesse"), made);
}

#[test]
fn esc_goes_back_one_step_and_declining_prints_the_equivalent_command() {
    let home = Home::new();
    let mut terminal = terminal(&home, 200, "--sandbox attribute create --type text");
    terminal.sees("Label (shown to shoppers)").answers("Colour");
    terminal.sees("Code").sees("colour").types(ESC);
    terminal.sees_no_more("colour").replaces("Hue");
    terminal.sees("hue").replaces("9 Bad Code é").sees("a code is a letter").replaces("tint");
    terminal
        .sees("STORE=LABEL")
        .answers("de=Tinte")
        .sees("type STORE=LABEL")
        .replaces("2=Teinte")
        .types(ENTER);
    terminal
        .sees("Required?")
        .answers("n")
        // Text is no filter.
        .sees("Include in search?")
        .types(ENTER);
    terminal.sees("Create it?").types(ESC).sees_no_more("Create it?").sees("Include in search? (y/N)");
    terminal.answers("y").sees("Create it?").confirms("n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("\nCancelled") && !screen.contains("error"), "{screen}");
    let line = command_line(&screen);
    assert!(line.contains("--type text --label Hue --code tint") && line.contains("--searchable"), "{line}");
    assert_eq!(attribute(&home, "tint"), Value::Null);
}

#[test]
fn an_attribute_of_magento_is_put_into_a_set_that_is_asked_for() {
    let home = Home::new();
    let line = "--sandbox --api magento attribute create --type text --label Hue --required=false";
    let mut terminal = terminal(&home, 200, line);
    terminal.sees("Code").types(ENTER).sees("STORE=LABEL").answers("dee=Farbton");
    terminal.sees("unknown store view `dee`").replaces("de=Farbton");
    terminal.sees("label 2").answers("de=Ton").sees("has a label already").replaces("");
    terminal.sees("Include in search?").answers("n");
    // A name that the shop does not have is asked for again, with what was typed.
    terminal.sees("Attribute set 1").answers("Defalt").sees("Attribute set 2").types(ENTER);
    terminal.sees("did you mean `Default`?").replaces("Default").sees("Attribute set 2").types(ENTER);
    terminal.sees("Create it?").confirms("y");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("put it into 1 attribute set"), "{screen}");
    assert!(command_line(&screen).ends_with("--searchable=false --set Default"), "{screen}");
}

#[test]
fn cancelling_a_prompt_exits_with_130_and_restores_the_terminal() {
    let home = Home::new();
    for (line, question) in [
        ("--sandbox attribute create", "Label (shown to shoppers)"),
        ("--sandbox attribute create --label C --code c", "weee"),
        ("--sandbox customer update --address 1 --city Lyon", "Send it?"),
    ] {
        // A list takes no Ctrl-D.
        let is_text = !question.contains("weee");
        for key in [CTRL_C, CTRL_D, ESC, "a signal"].into_iter().filter(|key| is_text || *key != CTRL_D) {
            let mut terminal = terminal(&home, 80, line);
            terminal.sees(question);
            assert!(!terminal.is_restored(), "this shows nothing");
            let _ = if key == "a signal" { terminal.terminate() } else { terminal.types(key) };
            assert_eq!(terminal.waits_for_end(), 130, "{key:?} {}", terminal.screen());
            assert!(terminal.is_restored(), "{key:?}");
            let screen = terminal.screen();
            assert!(screen.lines().any(|line| line == "Cancelled") && !screen.contains("error"), "{screen}");
        }
    }
    assert_eq!(address(&home, 1)["city"], "Paris");
}

#[test]
fn only_a_yes_typed_after_the_question_confirms() {
    let home = Home::new();
    let line = "--sandbox customer update --fault latency=300 --address 1 --city Lyon";
    let mut ahead = terminal(&home, 80, line);
    // Before the question: the profile is still being read.
    ahead.types("y\r").sees("Send it?");
    // Sooner than anybody reads.
    ahead.answers("y").sees("type the answer, then press Enter");
    std::thread::sleep(std::time::Duration::from_millis(400));
    // Pasted.
    ahead.types("\u{15}y\r").types("\u{15}yours sincerely\ry\r").sees("type the answer, then press Enter");
    assert_eq!(address(&home, 1)["city"], "Paris");
    ahead.replaces("maybe").sees("type y or n");
    ahead.replaces("y");
    assert_eq!(ahead.ends().0, 0);
    assert_eq!(address(&home, 1)["city"], "Lyon");
}

#[test]
fn a_paste_into_a_field_ends_with_its_first_line_and_answers_no_later_question() {
    let home = Home::new();
    let mut terminal = terminal(&home, 100, "--sandbox customer update --address 1");
    terminal.picks("City").asks("City").types("\u{15}Potsdam\r\ryours sincerely\r");
    let screen = terminal.sees("Potsdam  (was Paris)").sees("Done").screen();
    assert!(!screen.contains("yours"), "{screen}");
    terminal.types(CTRL_C);
    assert_eq!(terminal.ends().0, 130);
    assert_eq!(address(&home, 1)["city"], "Paris");
}

#[test]
fn redirected_stderr_leaves_the_question_on_the_terminal() {
    let home = Home::new();
    let errors = home.dir.path().join("errors.log");
    let line = ["--sandbox", "customer", "update", "--address", "1", "--city", "Lyon"];
    let mut terminal = Terminal::run_redirected(&home, &line, &errors, true);
    let screen = terminal.sees("Send it? (y/n)").screen();
    assert!(screen.contains("Paris") && screen.contains("Lyon"), "what it is about: {screen}");
    terminal.confirms("n");
    assert_eq!(terminal.ends().0, 130);
    let mut terminal = Terminal::run_redirected(&home, &line, &errors, false);
    assert_eq!(terminal.waits_for_end(), 3);
    assert!(std::fs::read_to_string(&errors).unwrap().contains("--yes"));
    assert_eq!(address(&home, 1)["city"], "Paris");
}

#[test]
fn the_form_edits_one_address_sends_it_and_offers_the_list_again() {
    let home = Home::new();
    let mut terminal = terminal(&home, 100, "--sandbox customer update");
    terminal.sees("What do you want to change?").sees("Profile fields").picks("75002 Paris").picks("Country");
    terminal.asks("Country").replaces("Narnia").sees("expected a country's code").replaces("fr");
    // The cursor goes on to the next field, where the text that is there is edited.
    terminal
        .sees("\u{276f} Postcode")
        .types(ENTER)
        .asks("Postcode (Ctrl-U clears) › 75002")
        .types("\u{7f}\u{7f}")
        .answers("x");
    terminal.sees("keep it)").replaces("7500").sees("keep it)").types(ENTER).sees("(was 75002)");
    // Esc returns to the form.
    terminal.picks("Done, review changes").sees("Send it?").types(ESC).sees("(was 75002)");
    terminal.picks("Done, review changes").sees("Send it?").confirms("y");
    terminal.sees("Equivalent command:").sees("--address 1 --postcode 7500");
    let screen = terminal.sees("Another change?").screen();
    assert_eq!(screen.matches("75002  → 7500").count(), 2, "the result does not show it once more: {screen}");
    assert!(!screen.contains("\u{2718}"), "what was refused does not stay: {screen}");
    terminal.picks("10118 New York").picks("City").asks("City").replaces("Albany");
    terminal
        .picks("Done, review changes")
        .sees("Albany")
        .asks("Send it?")
        .confirms("y")
        .sees("--city Albany")
        .sees("\u{276f} Done");
    // What was sent is no longer cancelled.
    let (code, screen) = {
        terminal.types(ESC);
        terminal.ends()
    };
    assert_eq!(code, 0, "{screen}");
    assert_eq!(
        (address(&home, 1)["postcode"].clone(), address(&home, 1)["country_id"].clone()),
        ("7500".into(), "FR".into())
    );
    assert_eq!(
        (&address(&home, 1)["company"], &address(&home, 2)["city"]),
        (&"Haddad & Filles".into(), &"Albany".into())
    );
}

#[test]
fn an_address_is_removed_after_a_confirmation() {
    let home = Home::new();
    let mut terminal = terminal(&home, 100, "--sandbox customer update --address 3");
    terminal.picks("Remove this address").sees("Delete 1 address and send it?").confirms("y");
    terminal.sees("--remove-address 3").sees("Another change?").types(ENTER);
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(stored(&home, "customers")[0]["addresses"].as_array().unwrap().len(), 3);
}

#[test]
fn declining_prints_the_edited_company_as_a_command() {
    let home = Home::new();
    let mut terminal = terminal(&home, 200, "--sandbox customer update --address 1");
    terminal.picks("Company").asks("Company").replaces("Haddad GmbH").sees("(was Haddad");
    terminal.picks("Done, review changes").sees("Send it?").confirms("n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    let (_, line) = screen.split_once("Equivalent command:\n").unwrap_or_else(|| panic!("{screen}"));
    assert!(line.contains("Haddad GmbH") && line.contains("--sandbox"), "{screen}");
    assert_eq!(address(&home, 1)["company"], "Haddad & Filles");
}

#[test]
fn a_new_country_asks_for_the_region_and_esc_returns_to_the_list() {
    let home = Home::new();
    let mut terminal = terminal(&home, 100, "--sandbox customer update --address 2");
    terminal.sees("Address 2").sees("10118").types(ESC);
    terminal
        .sees("What do you want to change?")
        .picks("10118 New York")
        .picks("Country")
        .asks("Country")
        .replaces("GB");
    let screen = terminal.sees("Region, by name or code").sees("The country changed").screen();
    assert!(!screen.contains("New York, US"), "the old region is not offered: {screen}");
    terminal.types(ESC).picks("Done, review changes").sees("Address 2: Region is required").picks("Region");
    terminal.sees("Region, by name or code").types(ENTER).picks("Done, review changes");
    terminal.sees("Send it?").confirms("n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("--country GB --no-region"), "{screen}");
    assert_eq!(address(&home, 2)["country_id"], "US");
}

#[test]
fn enter_through_the_region_keeps_its_id_and_a_known_name_finds_one() {
    let home = Home::new();
    let mut terminal = terminal(&home, 100, "--sandbox customer update --address 2");
    terminal.picks("Region").sees("Region, by name or code").types(ENTER).sees("Done");
    assert!(!terminal.screen().contains("(was"), "{}", terminal.screen());
    terminal.picks("Region").sees("Region, by name or code").replaces("Texas");
    terminal
        .sees("Region ID")
        .replaces("x")
        .sees("expected an integer")
        .replaces("57")
        .sees("(was New York)");
    terminal.picks("Region").sees("Region, by name or code").replaces("ny").sees_no_more("(was New York)");
    terminal.types(CTRL_C);
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn a_deletion_is_confirmed_by_typing_its_number() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("one.json"), r#"{"addresses": [{"id": 1}]}"#).unwrap();
    let line = "--sandbox customer update -i one.json --replace-addresses";
    let before = stored(&home, "customers")[0]["addresses"].as_array().unwrap().len();
    let mut terminal = self::terminal(&home, 100, line);
    terminal.sees("Type the number to confirm").confirms("1");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 3, "{screen}");
    assert_eq!(stored(&home, "customers")[0]["addresses"].as_array().unwrap().len(), before);
    let mut terminal = self::terminal(&home, 100, line);
    terminal.sees("Type the number to confirm").confirms(&(before - 1).to_string());
    terminal.sees("Delete 3 addresses and send it?").confirms("y");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(stored(&home, "customers")[0]["addresses"].as_array().unwrap().len(), 1);
}

#[test]
fn accessible_prompts_are_numbered_and_not_animated() {
    let home = Home::new();
    let accessible = [("STOREFRONT_ACCESSIBLE", "1")];
    let line = ["--sandbox", "customer", "update", "--fault", "latency=900"];
    let mut terminal = Terminal::run(&home, 100, &line, &accessible);
    let screen = terminal.asks("Number or words of a line (1 to 6, Enter for 1)").screen();
    assert!(screen.contains("1. 75002 Paris") && !screen.contains("waiting"), "{screen}");
    terminal.types("99").types(ENTER).sees("enter a number from 1 to").types(CTRL_C);
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn a_slow_request_shows_progress_on_a_terminal_only() {
    let home = Home::new();
    let line = ["--sandbox", "customer", "show", "--fault", "latency=1500"];
    let mut terminal = Terminal::run(&home, 100, &line, &[]);
    terminal.sees("waiting for the service").sees("Amina");
    let (code, screen) = terminal.ends();
    assert!(code == 0 && !screen.contains("waiting"), "{screen}");
    let piped = home.run(&line);
    assert!(piped.code == 0 && piped.stderr.is_empty(), "{piped:?}");
}

#[test]
fn forty_columns_are_enough() {
    let home = Home::new();
    let (code, screen) = terminal(&home, 40, "--sandbox customer show").ends();
    assert_eq!(code, 0);
    assert!(screen.contains("address 4") && screen.contains("02138 Berlin"), "{screen}");
    let mut terminal = self::terminal(&home, 40, "--sandbox customer update --address 1 --city Lyon");
    let screen = terminal.sees("Send it?").screen();
    assert!(screen.contains("address 1\n  City  Paris  → Lyon\n"), "{screen}");
    terminal.confirms("n");
    assert_eq!(terminal.ends().0, 130);
    let mut terminal = self::terminal(&home, 40, "--sandbox customer update --address 1");
    terminal.picks("Postcode");
    for text in ["nowhere", "nowhere near this place", "nowhere near this place either"] {
        terminal.sees("Postcode").replaces(text).sees("keep it)");
    }
    let screen = terminal.screen();
    assert_eq!(screen.matches("keep it)").count(), 1, "{screen}");
    terminal.replaces("75001").sees("(was 75002)").types(CTRL_C);
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn a_terminal_that_reports_no_columns_has_eighty() {
    let home = Home::new();
    let show = ["--sandbox", "customer", "show"];
    let (code, screen) = Terminal::run(&home, 0, &show, &[]).ends();
    assert_eq!(code, 0);
    assert_eq!(screen, Terminal::run(&home, 80, &show, &[]).ends().1);
}

#[test]
fn a_batch_shows_its_progress_and_leaves_only_its_summary() {
    let home = Home::new();
    let rows = "1,mug-blue,1\n".repeat(40);
    std::fs::write(home.dir.path().join("items.csv"), format!("quote_id,sku,qty\n{rows}")).unwrap();
    let mut terminal = terminal(&home, 100, "--sandbox quote add-item --fault latency=30 -i items.csv");
    terminal.sees("Add the items of 40 records?").confirms("y");
    terminal.sees(" of 40, ").sees(" left, 0 failed, 0 unknown");
    let (code, screen) = terminal.ends();
    assert!(code == 0 && screen.contains("40 records: 40 done"), "{screen}");
    assert!(!screen.contains(" of 40, "), "the bar is gone: {screen}");
}

#[test]
fn results_and_the_bar_of_a_slow_batch_never_share_a_line() {
    let home = Home::new();
    let rows = "1,mug-blue,1\n2,mug-blue,0\n".repeat(2);
    std::fs::write(home.dir.path().join("items.csv"), format!("quote_id,sku,qty\n{rows}")).unwrap();
    let line = "--sandbox quote add-item --fault latency=900 -i items.csv --skip-invalid --yes -o json";
    let mut terminal = terminal(&home, 200, line);
    terminal.sees(" of 4, ").sees("\"record\":1");
    let screen = terminal.sees("\"record\":3").screen();
    assert!(screen.lines().filter(|line| line.contains(" left, ")).count() <= 1, "{screen}");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 7, "{screen}");
    for line in screen.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line:?} in\n{screen}");
    }
}
