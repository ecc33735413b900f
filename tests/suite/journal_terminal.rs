//! What people read of topics of help on a terminal.

use crate::support::storefront::Home;
use crate::support::terminal::Terminal;

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
