//! Pictures of the terminal. `SNAPSHOTS=overwrite` rewrites them.

use anstyle_svg::{Palette, Term};
use snapbox::{Data, data::DataFormat};

use crate::support::storefront::Home;
use crate::support::terminal::{DOWN, ENTER, Terminal};

const COLUMNS: u16 = 80;

/// GitHub's colors of a terminal: text, background and the sixteen of the palette.
struct Look {
    suffix: &'static str,
    text: u32,
    background: u32,
    palette: [u32; 16],
}

const LIGHT: Look = Look {
    suffix: "",
    text: 0x1f_2328,
    background: 0xf6_f8fa,
    palette: [
        0x24_292f, 0xcf_222e, 0x11_6329, 0x9a_6700, 0x09_69da, 0x82_50df, 0x1b_7c83, 0x6e_7781, 0x57_606a,
        0xa4_0e26, 0x1a_7f37, 0x63_3c01, 0x21_8bff, 0xa4_75f9, 0x31_92aa, 0x8c_959f,
    ],
};

const DARK: Look = Look {
    suffix: "-dark",
    text: 0xe6_edf3,
    background: 0x0d_1117,
    palette: [
        0x48_4f58, 0xff_7b72, 0x3f_b950, 0xd2_9922, 0x58_a6ff, 0xbc_8cff, 0x39_c5cf, 0xb1_bac4, 0x8b_949e,
        0xff_a198, 0x56_d364, 0xe3_b341, 0x79_c0ff, 0xd2_a8ff, 0x56_d4dd, 0xff_ffff,
    ],
};

impl Look {
    fn picture_of(&self, text: &str) -> String {
        let rgb = |color: u32| {
            let [_, red, green, blue] = color.to_be_bytes();
            anstyle::RgbColor(red, green, blue)
        };
        let picture = Term::new()
            .palette(Palette(self.palette.map(rgb)))
            .fg_color(rgb(self.text).into())
            .bg_color(rgb(self.background).into())
            .render_svg(text);
        // Dim text has to be readable.
        picture.replace(".dimmed { opacity: 0.4; }", ".dimmed { opacity: 0.7; }")
    }
}

/// Compares the pictures, light and dark, with their files.
#[track_caller]
fn shows(name: &str, line: &str, picture: &str) {
    let actual = format!("\u{1b}[2m$\u{1b}[0m storefront {line}\n{picture}");
    for look in [LIGHT, DARK] {
        let file = format!("tests/snapshots/{name}{}.svg", look.suffix);
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let expected = Data::read_from(&path, Some(DataFormat::Text)).raw();
        let actual = Data::text(look.picture_of(&actual)).raw();
        snapbox::Assert::new().action_env("SNAPSHOTS").eq(actual, expected);
    }
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
    run_shows("help", &Home::new(), "undo -h", 0);
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
    let home = Home::new();
    let mut terminal = Terminal::run(&home, COLUMNS, &line.split(' ').collect::<Vec<_>>(), &[]);
    let picture = terminal.sees("Delete 1 address and send it?").picture();
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
    let home = Home::new();
    let mut terminal = Terminal::run(&home, COLUMNS, &["--sandbox", "customer", "update"], &[]);
    let list = terminal.sees("Profile fields").picture();
    shows("support-list", "--sandbox customer update", &list);
    terminal.types(ENTER).sees("Done, review changes").types(DOWN).types(DOWN).types(DOWN);
    shows("support-form", "--sandbox customer update", &terminal.picture());
}

#[test]
fn the_wizard_at_its_end() {
    let line = "--sandbox attribute create";
    let home = Home::new();
    let mut terminal = Terminal::run(&home, COLUMNS, &line.split(' ').collect::<Vec<_>>(), &[]);
    terminal.sees("Label (shown to shoppers)").types("Schuhgröße").types(ENTER).types(ENTER);
    terminal.sees("Input type").types(ENTER);
    terminal.sees("Option 1").types("36\r37\r38\r").sees("Option 4").types(ENTER);
    terminal.sees("Default option").types(DOWN).types(ENTER);
    terminal.sees("STORE=LABEL").types("2=Pointure").types(ENTER).types(ENTER);
    terminal
        .sees("Required?")
        .answers("n")
        .sees("Use as a filter in layered navigation?")
        .answers("y")
        .sees("Include in search?")
        .answers("y");
    let picture = terminal.sees("Create it?").picture();
    shows("wizard", line, &picture);
}
