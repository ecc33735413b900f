//! `history` of profiles: its output, also without the service.

use serde_json::Value;

use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{files_below, log_count};

/// `history` with a time zone two hours east of UTC.
fn history(home: &Home, words: &[&str]) -> Outcome {
    let words: Vec<&str> = ["--sandbox", "history"].iter().chain(words).copied().collect();
    home.storefront(&words).env("TZ", "XYZ-2").run()
}

#[test]
fn each_change_has_its_local_time_age_values_and_outcome() {
    let home = Home::new();
    home.ok("--sandbox customer update --address 2 --postcode 10119");
    home.ok("--sandbox customer update --remove-address 3 --yes");
    let shown = history(&home, &["2"]);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert!(lines[0].starts_with("2  customer update, customer 1, 20"), "{shown:?}");
    assert!(lines[0].ends_with(" ago") || lines[0].ends_with("just now"), "{shown:?}");
    assert!(lines[1].ends_with(": applied"), "{shown:?}");
    assert_eq!(lines[2], "address 3, removed", "{shown:?}");
    assert!(
        lines[3..].iter().any(|line| line.starts_with("  City ") && line.ends_with("بيروت")),
        "{shown:?}"
    );
    assert!(history(&home, &["1"]).stdout.ends_with("address 2\n  Postcode  10118  → 10119\n"));
    let utc: Value =
        serde_json::from_str(history(&home, &["-o", "json"]).stdout.lines().next().unwrap()).unwrap();
    let began = utc["began"].as_str().unwrap();
    let hour = |text: &str| text.split(['T', ' ']).nth(1).unwrap()[..2].parse::<u32>().unwrap();
    let local = lines[0].trim_start_matches("2  customer update, customer 1, ");
    assert_eq!(hour(local), (hour(began) + 2) % 24, "{local} {began}");
}

/// What an item or an option is called is not what an address is.
#[test]
fn a_new_item_is_called_one() {
    let home = Home::new();
    home.ok("--sandbox --api magento quote add-item --customer 1 --sku mug-blue --qty 2");
    let shown = home.ok("--sandbox --api magento history 1");
    assert!(shown.contains("new item\n") && !shown.contains("address"), "{shown}");
}

#[test]
fn history_is_listed_while_the_service_is_unreachable() {
    let stored = r#"{"id": 7, "email": "a@example.com", "addresses": [{"id": 1, "city": "Rome"}]}"#;
    let changed = stored.replace("Rome", "Oslo");
    let ok = |body: &str| answer("200 OK", "", body);
    let service = MockServer::start(vec![ok(stored), ok(&changed)]);
    let home = Home::new();
    let run = |words: &str, token: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let run = home.storefront(&words).env("STOREFRONT_BASE_URL", &service.url("/rest"));
        run.env("STOREFRONT_STORE_VIEW", "default").env("STOREFRONT_TOKEN", token).run()
    };
    let updated = run("customer update --address 1 --city Oslo", "hunter2");
    assert_eq!(updated.code, 0, "{updated:?}");
    let asked = service.requests().len();
    let listed = run("history 1", "hunter2");
    assert_eq!((listed.code, service.requests().len()), (0, asked), "{listed:?}");
    assert!(listed.stdout.contains("address 1\n  City  Rome  → Oslo\n"), "{listed:?}");
    assert_eq!(log_count(&home, "SELECT count(*) FROM name WHERE customer = '7'"), 1);
    for file in files_below(&home.state()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{}", file.display());
    }
    // Another token may be another customer's until a read shows whose it is.
    assert_eq!(run("customer show", "hunter3").code, 0);
}
