//! `customer history`: its output, also without the service.

use serde_json::Value;

use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::Home;
use crate::support::test_env::{files_below, log_count};

/// `customer history` with a time zone two hours east of UTC.
fn history(home: &Home, words: &[&str]) -> crate::support::storefront::Outcome {
    let words: Vec<&str> = ["--sandbox", "customer", "history"].iter().chain(words).copied().collect();
    home.storefront(&words).env("TZ", "XYZ-2").run()
}

#[test]
fn each_change_has_its_local_time_age_values_and_outcome() {
    let home = Home::new();
    home.ok("--sandbox customer update --address 2 --postcode 10119");
    home.ok("--sandbox customer update --remove-address 3 --yes");
    let listed = history(&home, &[]);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert!(lines[0] == "2  applied", "{listed:?}");
    assert!(
        lines[1].starts_with("  customer 1, customer update, 20") && lines[1].ends_with(" ago")
            || lines[1].ends_with("just now"),
        "{listed:?}"
    );
    assert_eq!(lines[2], "  address 3, removed", "{listed:?}");
    assert!(
        lines[3..].iter().any(|line| line.starts_with("    City ") && line.ends_with("بيروت")),
        "{listed:?}"
    );
    assert!(listed.stdout.ends_with("\n  address 2\n    Postcode  10118  → 10119\n"), "{listed:?}");
    let utc: Value =
        serde_json::from_str(history(&home, &["-o", "json"]).stdout.lines().next().unwrap()).unwrap();
    let taken = utc["taken"].as_str().unwrap();
    let hour = |text: &str| text.split(['T', ' ']).nth(1).unwrap()[..2].parse::<u32>().unwrap();
    let local = lines[1].trim_start_matches("  customer 1, customer update, ");
    assert_eq!(hour(local), (hour(taken) + 2) % 24, "{local} {taken}");
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
    let listed = run("customer history", "hunter2");
    assert_eq!((listed.code, service.requests().len()), (0, asked), "{listed:?}");
    assert!(listed.stdout.contains("address 1\n    City  Rome  → Oslo\n"), "{listed:?}");
    assert_eq!(log_count(&home, "SELECT count(*) FROM name WHERE customer = '7'"), 1);
    for file in files_below(&home.state()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{}", file.display());
    }
    // Another token may be another customer's until a read shows whose it is.
    assert_eq!(run("customer show", "hunter3").code, 0);
}

#[test]
fn a_change_that_was_set_back_is_marked() {
    let home = Home::new();
    home.ok("--sandbox customer update --address 2 --postcode 10119 --city Albany");
    home.ok("--sandbox customer update --address 1 --city Lyon");
    home.ok("--sandbox customer update --address 2 --postcode 10120");
    let marks = || -> Vec<serde_json::Value> {
        let listed = history(&home, &["-o", "json"]);
        let entry = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        listed.stdout.lines().map(|line| entry(line)["set_back_by"].clone()).collect()
    };
    assert_eq!(marks(), vec![Value::Null; 3]);
    home.ok("--sandbox customer restore 2 --yes");
    let by = |marks: &[Value]| marks.iter().map(|mark| mark.as_str().map(str::to_owned)).collect();
    let found: Vec<Option<String>> = by(&marks());
    assert_eq!(found, [None, None, Some("4".to_owned()), None]);
    assert!(history(&home, &[]).stdout.contains("  applied, set back by 4\n"));
    // Only all of it counts: the city of the first change stays, until it is set back, too.
    home.ok("--sandbox customer update --address 2 --postcode 10118");
    assert_eq!(by(&marks())[..], [None, None, None, Some("4".to_owned()), None]);
    home.ok("--sandbox customer restore 1 --yes");
    let found: Vec<Option<String>> = by(&marks());
    assert_eq!(found[5], Some("6".to_owned()));
    // Changed again, it is not what it was before.
    home.ok("--sandbox customer update --address 1 --city Nice");
    assert_eq!(by(&marks())[4], None);
}
