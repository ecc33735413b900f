//! What a person sees and types: the program in a real terminal.

use serde_json::Value;

use crate::support::storefront::Home;
use crate::support::terminal::{CTRL_C, CTRL_U, DOWN, ENTER, ESC, Terminal, UP};

fn stored(home: &Home, what: &str) -> Value {
    serde_json::from_str::<Value>(&home.ok("sandbox show -o json")).unwrap()[what].clone()
}

fn attribute(home: &Home, code: &str) -> Value {
    let all = stored(home, "attributes");
    all.as_array().unwrap().iter().find(|it| it["attribute_code"] == code).cloned().unwrap_or_default()
}

/// The line after `The same as one command:`, unfolded.
fn command_line(screen: &str) -> String {
    let (_, line) = screen.split_once("The same as one command:\n").unwrap_or_else(|| panic!("{screen}"));
    line.trim().to_owned()
}

/// Words of a command line as the program gets them.
fn words(line: &str) -> Vec<String> {
    shell_words::split(line).unwrap().split_off(1)
}

fn terminal(home: &Home, columns: u16, line: &str) -> Terminal {
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
fn the_wizard_asks_step_by_step_and_gives_the_same_as_one_command() {
    let home = Home::new();
    let mut terminal = terminal(&home, 300, "--sandbox attribute create --filterable");
    terminal.sees("Label, as shoppers see it").types("Schuhgröße").types(ENTER);
    terminal.sees("schuhgrosse").types(ENTER);
    terminal.sees("Input kind").types(ENTER);
    terminal.sees("Type or paste them").types(ENTER);
    terminal.sees("Option 1").types("36 EU\r37 EU\r\r38 EU\r").sees("Option 4").types(ENTER);
    terminal.sees("Chosen by default").types(DOWN).types(ENTER);
    terminal.sees("STORE_ID=LABEL").types("2=Pointure").types(ENTER).types(ENTER);
    terminal.sees("Must every product have it?").types("n");
    terminal.sees("Does search look at it?").types("y");
    let screen = terminal.sees("Create it?").screen();
    assert!(screen.contains("36 EU (default)") && !screen.contains("Can shoppers filter"), "{screen}");
    terminal.types("y");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    let made = attribute(&home, "schuhgrosse");
    let labels: Vec<&str> =
        made["options"].as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["36 EU", "37 EU", "38 EU"]);
    let line = command_line(&screen);
    assert!(line.contains("--required=false --filterable --searchable --store-label 2=Pointure"), "{line}");
    let again = Home::new();
    let outcome = again.run(&words(&line).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(attribute(&again, "schuhgrosse"), made);
}

#[test]
fn esc_goes_back_one_step_and_no_at_the_end_writes_nothing_but_keeps_the_answers() {
    let home = Home::new();
    let mut terminal = terminal(&home, 200, "--sandbox attribute create --type text");
    terminal.sees("Label, as shoppers see it").types("Colour").types(ENTER);
    terminal.sees("Code").sees("colour").types(ESC);
    terminal.sees_no_more("colour").types(" of it").types(ENTER);
    terminal.sees("colour_of_it").types(CTRL_U).types("tint").types(ENTER);
    terminal.sees("STORE_ID=LABEL").types(ENTER);
    terminal.sees("Must every").types("n").sees("Can shoppers").types("n").sees("Does search").types("n");
    terminal.sees("Create it?").types(ESC).types("y");
    terminal.types("n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 3, "{screen}");
    assert!(screen.contains("nothing was written"), "{screen}");
    assert!(
        command_line(&screen).contains("--label 'Colour of it'") && screen.contains("--searchable"),
        "{screen}"
    );
    assert_eq!(attribute(&home, "tint"), Value::Null);
}

#[test]
fn ctrl_c_at_a_line_and_at_a_list_leaves_with_130_and_a_cursor() {
    let home = Home::new();
    for (line, question) in [
        ("--sandbox attribute create", "Label, as shoppers"),
        ("--sandbox attribute create --label C --code c", "weee"),
        ("--sandbox customer update --address 1 --city Lyon", "Send it?"),
    ] {
        let mut terminal = terminal(&home, 80, line);
        terminal.sees(question).types(CTRL_C);
        let (code, screen, cursor_is_shown) = terminal.ends_with_cursor();
        assert_eq!(code, 130, "{screen}");
        assert!(screen.contains("nothing was written"), "{screen}");
        assert!(cursor_is_shown, "{screen}");
    }
    assert_eq!(address(&home, 1)["city"], "Paris");
}

#[test]
fn support_picks_an_address_edits_one_field_and_sends_it() {
    let home = Home::new();
    let mut terminal = terminal(&home, 100, "--sandbox customer update");
    terminal.sees("What is to be changed?").sees("Address 1").sees("The profile itself").types(ENTER);
    terminal.sees("75002").types(DOWN).types(DOWN).types(DOWN).types(ENTER);
    terminal.sees("Postcode").types(CTRL_U).types("7500").types(ENTER);
    terminal.sees("(was 75002)").types(ENTER);
    let screen = terminal.sees("Send it?").screen();
    assert!(screen.contains("has not the form of France"), "{screen}");
    terminal.types("y");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(screen.matches("BEFORE").count(), 1, "what was shown is not shown again: {screen}");
    assert_eq!(address(&home, 1)["postcode"], "7500");
    assert_eq!(address(&home, 1)["company"], "Haddad & Filles");
}

#[test]
fn another_country_asks_for_the_region_and_esc_leads_back_to_the_list() {
    let home = Home::new();
    let mut terminal = terminal(&home, 100, "--sandbox customer update --address 2");
    terminal.sees("Address 2").sees("10118").types(ESC);
    terminal.sees("What is to be changed?").types(DOWN).types(ENTER);
    terminal.sees("Country code, two letters").types(UP).types(UP).types(UP).types(ENTER);
    terminal.types(CTRL_U).types("GB").types(ENTER);
    terminal.sees("No region").types(UP).types(ENTER);
    terminal.sees("Done").types(ENTER);
    terminal.sees("Send it?").types("n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 3, "{screen}");
    assert_eq!(address(&home, 2)["country_id"], "US");
}

#[test]
fn a_deletion_is_allowed_by_typing_its_number_and_by_no_other() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("one.json"), r#"{"addresses": [{"id": 1}]}"#).unwrap();
    let line = "--sandbox customer update -i one.json --replace-addresses";
    let before = stored(&home, "customers")[0]["addresses"].as_array().unwrap().len();
    let mut terminal = self::terminal(&home, 100, line);
    terminal.sees("Type that number").types("1").types(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 3, "{screen}");
    assert_eq!(stored(&home, "customers")[0]["addresses"].as_array().unwrap().len(), before);
    let mut terminal = self::terminal(&home, 100, line);
    terminal.sees("Type that number").types(&(before - 1).to_string()).types(ENTER);
    terminal.sees("Send it?").types("y");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(stored(&home, "customers")[0]["addresses"].as_array().unwrap().len(), 1);
}

#[test]
fn a_missing_payment_is_asked_for() {
    let home = Home::new();
    let line =
        "--sandbox quote ship --ship-to-address 1 --bill-same-as-ship --carrier flatrate --method flatrate";
    let mut terminal = terminal(&home, 100, line);
    terminal.sees("Payment").types("{\"method\"").types(ENTER).sees("not a JSON object");
    terminal.types(CTRL_U).types("checkmo").types(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(home.fails(2, line).contains("the payment is missing"));
}

#[test]
fn accessible_questions_are_numbered_and_nothing_moves() {
    let home = Home::new();
    let accessible = [("STOREFRONT_ACCESSIBLE", "1")];
    let line = ["--sandbox", "--fault", "latency=900", "customer", "update"];
    let mut terminal = Terminal::run(&home, 100, &line, &accessible);
    let screen = terminal.sees("Number").screen();
    assert!(screen.contains("1. Address 1") && !screen.contains("waiting"), "{screen}");
    terminal.types("99").types(ENTER).sees("type a number from 1 to").types(CTRL_C);
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn a_call_that_takes_long_shows_life_on_a_terminal_only() {
    let home = Home::new();
    let line = ["--sandbox", "--fault", "latency=1500", "customer", "show"];
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
    assert!(
        screen.contains("address 1, billing")
            && screen.contains("city      ")
            && screen.contains("75002 Paris"),
        "{screen}"
    );
    let mut terminal = terminal(&home, 40, "--sandbox customer update --address 1 --city Lyon");
    let screen = terminal.sees("Send it?").screen();
    assert!(screen.contains("    - Paris\n    + Lyon"), "{screen}");
    terminal.types("n");
    assert_eq!(terminal.ends().0, 3);
}

#[test]
fn a_run_shows_how_far_it_is_and_leaves_only_its_summary() {
    let home = Home::new();
    let rows = "1,mug-blue,1\n".repeat(40);
    std::fs::write(home.dir.path().join("items.csv"), format!("quote_id,sku,qty\n{rows}")).unwrap();
    let mut terminal = terminal(&home, 100, "--sandbox --fault latency=30 quote add-item -i items.csv");
    terminal.sees("Add the items of 40 records?").types("y");
    let screen = terminal.sees(" of 40, 0 failed, 0 unknown, ").sees(" left").screen();
    assert!(screen.contains("/s, "), "{screen}");
    let (code, screen) = terminal.ends();
    assert!(code == 0 && screen.contains("40 records: 40 done"), "{screen}");
    assert!(!screen.contains(" of 40"), "the bar is gone: {screen}");
}
