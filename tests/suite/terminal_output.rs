//! Control characters of the service never reach the terminal.

use crate::support::mock_server::{MockServer, answer};
use crate::support::raw_http::CUSTOMER;
use crate::support::storefront::Home;
use crate::support::terminal::Terminal;

const HARMFUL: [char; 8] =
    ['\u{9b}', '\u{7}', '\u{202e}', '\u{200f}', '\u{200b}', '\u{ad}', '\u{e0041}', '\u{61c}'];

#[test]
fn terminal_output_contains_no_control_characters_of_the_service() {
    let name = r"A\u001b]0;owned\u0007\u009b2J\u202e\u200f\u200b\u00ad\udb40\udc41\u061cZ";
    let profile = format!(r#"{{"id":1,"firstname":"{name}","addresses":[{{"id":1,"city":"{name}"}}]}}"#);
    let server = MockServer::start(vec![answer("200 OK", "", &profile)]);
    let home = Home::new();
    let url = server.url("");
    let variables = [
        ("STOREFRONT_BASE_URL", url.as_str()),
        ("STOREFRONT_TOKEN", CUSTOMER),
        ("STOREFRONT_STORE_VIEW", "default"),
    ];
    for arguments in [
        &["customer", "show", "--jq", ".firstname"][..],
        &["customer", "show", "--jq", "."],
        &["customer", "show", "-o", "json"],
        &["customer", "show"],
        &["api", "GET", "/V1/x"],
        &["customer", "update", "--address", "1", "--city", "x", "-n"],
        &["customer", "show", "-vv"],
    ] {
        let (code, raw) = Terminal::run(&home, 200, arguments, &variables).ends_raw();
        assert_eq!(code, 0, "{raw:?}");
        assert!(!raw.contains("\u{1b}]"), "{arguments:?}: {raw:?}");
        for harmful in HARMFUL {
            assert!(!raw.contains(harmful), "{harmful:?} of {arguments:?}: {raw:?}");
        }
        assert!(raw.contains("200b"), "it is shown escaped: {raw:?}");
    }
}

/// A command to copy is the only thing that may be longer than the screen.
#[test]
fn messages_and_records_break_between_words() {
    let home = Home::new();
    std::fs::write(
        home.dir.path().join("items.csv"),
        "customer,sku,qty\n1,mug-blue,1\n2,a-product-nobody-has,1\n3,another,1\n",
    )
    .unwrap();
    let batch = ["--sandbox", "--api", "magento", "quote", "add-item", "-y", "-i", "items.csv"];
    let (code, screen) = Terminal::run(&home, 60, &batch, &[]).ends();
    assert_eq!(code, 7, "{screen}");
    assert!(
        screen.contains("404 Not Found: The\n  product that was requested doesn't exist. Verify the"),
        "{screen}"
    );
    let init = ["config", "init", "-p", "shop", "--base-url", "https://shop.example", "--no-input"];
    let (code, screen) = Terminal::run(&home, 60, &init, &[]).ends();
    assert_eq!(code, 0, "{screen}");
    // Where the lines break depends on the length of the path.
    let is_next =
        |line: &str| line.trim_start().trim_start_matches("next: ") == "`storefront auth login -p shop`";
    assert!(screen.contains("next:") && screen.lines().any(is_next), "{screen}");
}

/// The spinner stands on the line that the message is written to.
#[test]
fn an_interruption_is_written_in_place_of_the_spinner() {
    let home = Home::new();
    let words = ["--sandbox", "customer", "update", "--address", "2", "--postcode", "10119"];
    let mut terminal =
        Terminal::run(&home, 100, &[&words[..], &["-y", "--fault", "PUT:latency=3000"]].concat(), &[]);
    terminal.sees("sent, waiting for the response (1s)").terminate();
    let screen = terminal.sees("press Ctrl-C again to stop at once").screen();
    let line = screen.lines().find(|line| line.contains("stopping: ")).unwrap();
    assert!(line.starts_with("stopping: ") || line.starts_with("^Cstopping: "), "{screen}");
    terminal.ends();
}

#[test]
fn the_confirmation_names_the_customer_and_the_deletions() {
    let home = Home::new();
    let words = ["--sandbox", "customer", "update", "--remove-address", "3", "4"];
    let mut terminal = Terminal::run(&home, 200, &words, &[]);
    let screen = terminal.sees("Delete 2 addresses and send it?").screen();
    assert!(screen.contains("Amina Haddad <amina.haddad@example.com> (customer 1)"), "{screen}");
    terminal.confirms("n");
    terminal.ends();
}
