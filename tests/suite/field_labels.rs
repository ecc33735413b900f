//! Fields have the same labels in the form, in the difference that is confirmed, in the result and in the history; JSON keeps
//! their names.

use serde_json::Value;

use crate::support::storefront::Home;
use crate::support::terminal::{ENTER, Terminal};

#[test]
fn a_field_has_one_label_from_the_form_to_the_history() {
    let home = Home::new();
    let line = ["--sandbox", "customer", "update", "--address", "1"];
    let mut terminal = Terminal::run(&home, 200, &line, &[]);
    terminal.picks("VAT number").replaces("").sees("VAT number        (empty)  (was FR40303265045)");
    terminal.picks("Default shipping").answers("y").sees("Default shipping  yes");
    terminal.picks("Country").replaces("be").picks("Done, review changes").sees("Send it?");
    let changes = ["Country", "VAT number", "Default shipping"];
    let values = ["FR → BE", "FR40303265045 → (empty)", "no → yes"];
    let is_shown = |text: &str, head: &str| {
        let (_, shown) = text.rsplit_once(head).unwrap_or_else(|| panic!("{text}"));
        for (label, value) in changes.iter().zip(values) {
            let row = shown.lines().map(str::trim).find(|row| row.starts_with(label));
            let row = row.unwrap_or_else(|| panic!("{label}: {text}"));
            let words: Vec<&str> = row[label.len()..].split_whitespace().collect();
            assert_eq!(words.join(" "), value, "{text}");
        }
    };
    is_shown(&terminal.screen(), "address 1\n");
    terminal.confirms("y").sees("Another change?").types(ENTER);
    assert_eq!(terminal.ends().0, 0);
    is_shown(&home.ok("--sandbox history 1"), "address 1\n");
    let json: Value = serde_json::from_str(&home.ok("--sandbox history -o json")).unwrap();
    let changes = json["changes"].as_array().unwrap();
    let vat = changes.iter().find(|change| change["path"] == "addresses[id=1].vat_id").unwrap();
    assert_eq!((&vat["before"], &vat["after"]), (&"FR40303265045".into(), &Value::Null), "{json}");
    let shown = home.ok("--sandbox customer show");
    assert!(shown.contains("  Country  ") && shown.contains("is_residential    yes"), "{shown}");
}
