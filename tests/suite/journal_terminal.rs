//! What people read of journals, and of topics of help, on a terminal.

use crate::journal_next_steps::moved;
use crate::support::storefront::Home;
use crate::support::terminal::Terminal;

fn shown(home: &Home, columns: u16, line: &str) -> String {
    let (code, screen) = Terminal::run(home, columns, &line.split(' ').collect::<Vec<_>>(), &[]).ends();
    assert_eq!(code, 0, "{screen}");
    screen
}

#[test]
fn times_of_a_journal_have_one_form_for_people() {
    let home = moved();
    let screen = shown(&home, 120, "history moves.csv.journal");
    // `2026-11-21 22:04:11+01:00`, as in `history`
    let time = screen.lines().nth(1).and_then(|line| line.find(':').map(|at| &line[at - 13..at + 12]));
    let shape: String =
        time.unwrap_or_default().chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    assert_eq!(shape.replace('-', "+"), "9999+99+99 99:99:99+99:99", "{screen}");
}

#[test]
fn topics_of_help_are_no_wider_than_the_terminal() {
    for topic in ["exit-codes", "input", "environment"] {
        let home = Home::new();
        let line = format!("help {topic}");
        let terminal = Terminal::run(&home, 80, &line.split(' ').collect::<Vec<_>>(), &[]);
        let (code, raw) = terminal.ends_raw();
        assert_eq!(code, 0);
        for line in raw.lines() {
            assert!(line.trim_end().chars().count() <= 80, "{topic}: {line:?}");
        }
    }
}

/// What a file holds a terminal would obey. Control characters are refused in an input; what turns the direction of a text is not.
#[test]
fn a_list_as_csv_is_escaped_on_a_terminal_and_as_it_is_in_a_file() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("in.csv"), "quote_id,sku,qty\n\"a\u{202e}b\",mug-blue,1\n").unwrap();
    let failed = home.run("--sandbox quote add-item -i in.csv --yes");
    assert_eq!(failed.code, 7, "{failed:?}");
    let line = ["history", "in.csv.journal", "--csv"];
    let file = home.run("history in.csv.journal --csv");
    let has_raw = |text: &str| text.contains('\u{202e}');
    for words in [&line[..], &["history", "in.csv.journal", "-o", "json"], &line[..2]] {
        let (code, raw) = Terminal::run(&home, 200, words, &[]).ends_raw();
        assert_eq!(code, 0, "{raw:?}");
        assert!(!has_raw(&raw), "{words:?}: {raw:?}");
    }
    assert!(has_raw(&file.stdout), "the test has something to show: {file:?}");
}
