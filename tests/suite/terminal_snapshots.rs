//! Pictures of the terminal. `SNAPSHOTS=overwrite` rewrites them.

use snapbox::{Data, data::DataFormat};

use crate::support::storefront::Home;
use crate::support::terminal::{DOWN, ENTER, Terminal};

const COLUMNS: u16 = 80;

/// Compares the picture with its file.
#[track_caller]
fn shows(name: &str, line: &str, picture: &str) {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.term.svg"));
    let actual = format!("\u{1b}[2m$\u{1b}[0m storefront {line}\n{picture}");
    let expected = Data::read_from(&path, Some(DataFormat::TermSvg)).raw();
    snapbox::Assert::new().action_env("SNAPSHOTS").eq(Data::text(actual), expected);
}

/// Runs a command line without prompts.
#[track_caller]
fn run_shows(name: &str, home: &Home, line: &str, expected_code: i32) {
    let mut terminal = Terminal::run(home, COLUMNS, &line.split(' ').collect::<Vec<_>>(), &[]);
    let code = terminal.waits_for_end();
    let picture = terminal.picture();
    assert_eq!(code, expected_code, "{picture}");
    shows(name, line, &picture);
}

#[test]
fn the_help_of_a_command() {
    run_shows("help", &Home::new(), "customer restore -h", 0);
}

#[test]
fn a_stored_customer() {
    run_shows("customer-show", &Home::new(), "--sandbox customer show", 0);
}

#[test]
fn errors_say_what_to_type_next() {
    let home = Home::new();
    let mut terminal = Terminal::run(&home, 300, &["customer", "show"], &[]);
    assert_eq!(terminal.waits_for_end(), 2);
    let picture = terminal.picture().replace(home.dir.path().to_str().unwrap(), "/home/you");
    shows("error-setup", "customer show", &picture);
    let typo = r#"{"addresses": [{"id": 1, "postcod": "75001"}]}"#;
    std::fs::write(home.dir.path().join("typo.json"), typo).unwrap();
    run_shows("error-typo", &home, "--sandbox customer update -i typo.json", 2);
    std::fs::write(home.dir.path().join("one.json"), r#"{"addresses": [{"id": 1}]}"#).unwrap();
    run_shows(
        "error-guard",
        &home,
        "--sandbox --no-input customer update -i one.json --replace-addresses",
        3,
    );
}

#[test]
fn the_changes_before_they_are_sent() {
    let line = "--sandbox customer update --address 2 --postcode 1018 --city Albany --remove-address 4";
    let mut terminal = Terminal::run(&Home::new(), COLUMNS, &line.split(' ').collect::<Vec<_>>(), &[]);
    let picture = terminal.sees("Send it?").picture();
    shows("customer-update", line, &picture);
}

#[test]
fn the_summary_of_a_run() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("items.csv"), include_str!("../readme/items.csv")).unwrap();
    let line = "--sandbox quote add-item -i items.csv --yes";
    let mut terminal = Terminal::run(&home, 120, &line.split(' ').collect::<Vec<_>>(), &[]);
    assert_eq!(terminal.waits_for_end(), 7);
    // The picture does not show how long it took.
    let picture = terminal.picture();
    let (before, rest) = picture.split_once(" failed (").unwrap();
    let (_, after) = rest.split_once(')').unwrap();
    shows("run-summary", line, &format!("{before} failed (0.0 s){after}"));
}

#[test]
fn the_form_of_an_address() {
    let mut terminal = Terminal::run(&Home::new(), COLUMNS, &["--sandbox", "customer", "update"], &[]);
    let list = terminal.sees("Profile fields").picture();
    shows("support-list", "--sandbox customer update", &list);
    terminal.types(ENTER).sees("Done, review changes").types(DOWN).types(DOWN).types(DOWN);
    shows("support-form", "--sandbox customer update", &terminal.picture());
}

#[test]
fn the_wizard_at_its_end() {
    let line = "--sandbox attribute create";
    let mut terminal = Terminal::run(&Home::new(), COLUMNS, &line.split(' ').collect::<Vec<_>>(), &[]);
    terminal.sees("Label (shown to shoppers)").types("Schuhgröße").types(ENTER).types(ENTER);
    terminal.sees("Input type").types(ENTER);
    terminal.sees("Enter options, one per line").types(ENTER);
    terminal.sees("Option 1").types("36\r37\r38\r").sees("Option 4").types(ENTER);
    terminal.sees("Default option").types(DOWN).types(ENTER);
    terminal.sees("STORE_ID=LABEL").types("2=Pointure").types(ENTER).types(ENTER);
    terminal
        .sees("Required?")
        .answers("n")
        .sees("Use in layered navigation?")
        .answers("y")
        .sees("Include in search?")
        .answers("y");
    let picture = terminal.sees("Create it?").picture();
    shows("wizard", line, &picture);
}
