//! What is shown before and instead of sending: dry runs, curl commands, the line that says where to.

use serde_json::{Value, json};

#[cfg(unix)]
use crate::support::raw_http::ADMIN;
use crate::support::raw_http::CUSTOMER;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, words};

const SHIP: &str = "quote ship --ship-to-address 2 --bill-same-as-ship --carrier flatrate --method flatrate \
    --payment-method checkmo --ship-firstname \"it's \\$HOME `x` \\\\ é\"";
const WRITES: [&str; 4] = [
    "customer update --address 2 --city Troy --remove-address 3 --yes",
    SHIP,
    "quote add-item --sku mug-blue --qty 1.50 --quote-id 1",
    "attribute create --code fabric --type select --option Linen",
];

#[test]
fn a_dry_run_shows_exactly_what_would_be_sent_and_sends_no_write() {
    for line in WRITES {
        let env = TestEnv::new();
        let shown = env.done(&format!("{line} --dry-run"));
        assert_eq!(
            (&shown["applied"], &shown["status"], &shown["response"]),
            (&json!("no"), &Value::Null, &Value::Null)
        );
        assert!(env.requests().iter().all(|heard| heard == "GET 200"), "{line}");
        assert!(env.snapshots().is_empty());
        let members: Vec<&String> = shown["request"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["method", "url", "body"]);
        let text = env.run(&format!("{line} -n")).stdout;
        assert!(text.contains("dry run") && text.contains("Authorization: Bearer •••\n"), "{text}");
        let sent = env.run(&format!("{line} -vv"));
        assert_eq!(sent.code, 0, "{sent:?}");
        let method = shown["request"]["method"].as_str().unwrap();
        let url = shown["request"]["url"].as_str().unwrap();
        let traced = sent.stderr.split(&format!("> {method} {url}\n")).nth(1).unwrap();
        let body = traced.lines().find_map(|line| line.strip_prefix("> {")).unwrap();
        assert_eq!(format!("{{{body}"), shown["request"]["body"].to_string(), "{line}");
    }
}

#[test]
#[cfg(unix)]
fn a_shell_runs_the_curl_command_to_the_same_end() {
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        return; // nothing to run it with
    }
    let what = |env: &TestEnv| {
        let mut all = env.sandbox.show();
        all["customers"][0].as_object_mut().unwrap().shift_remove("updated_at");
        all
    };
    for line in WRITES {
        let (ours, theirs) = (TestEnv::new(), TestEnv::new());
        assert_eq!(ours.run(line).code, 0);
        let object = theirs.done(&format!("{line} --dry-run --curl"));
        assert!(object["request"]["curl"].as_str().unwrap().starts_with("curl --request "), "{object}");
        let shown = theirs.run(&format!("{line} -n --curl -q"));
        assert_eq!((shown.code, shown.stdout.lines().count()), (0, 1), "{shown:?}");
        assert!(!shown.stdout.contains(CUSTOMER) && !shown.stdout.contains(ADMIN), "{shown:?}");
        let script = format!("{} --silent --fail-with-body --noproxy '*'", shown.stdout.trim_end());
        let ran = theirs.storefront(&[]).shell(&script);
        assert!(ran.code == 0 || line.starts_with("quote ship"), "320 is no success to curl: {ran:?}");
        assert_eq!(what(&ours), what(&theirs), "{line}");
    }
}

#[test]
fn a_write_says_where_it_goes_and_a_read_says_nothing() {
    let env = TestEnv::new();
    let host = env.sandbox.address();
    let line = "quote add-item --sku mug-blue --qty 1 --quote-id 1";
    assert_eq!(env.run(line).stderr, format!("quote add-item: host {host}, store view default\n"));
    assert_eq!(env.run(&format!("{line} -q")).stderr, "");
    assert_eq!(env.run("customer show").stderr, "");
    assert_eq!(env.run(&format!("{line} -n")).stderr, "", "nothing is written");
    let profile = format!(
        "[profiles.shop]\nbase-url = \"http://{host}\"\nstore-view = \"fr\"\ntoken = \"{CUSTOMER}\"\n"
    );
    env.home.write("config.toml", profile, 0o600);
    let outcome = env.home.run(&words(&format!("{line} -p shop")));
    assert_eq!(
        (outcome.code, outcome.stderr),
        (0, format!("quote add-item: profile shop, host {host}, store view fr\n"))
    );
}

#[test]
fn on_the_sandbox_a_person_sees_the_result_and_no_more() {
    let env = TestEnv::new();
    for (line, shows) in [
        ("customer show", &["amina.haddad@example.com", "ADDRESS", "350 Fifth Avenue", "بيروت", "02138"][..]),
        (
            "customer update --address 2 --postcode 10119",
            &[
                "customer update: done (HTTP 200)\n",
                "10118",
                "10119",
                "Addresses: unchanged 1, 3 and 4; changed 2\n",
                "Snapshot",
            ],
        ),
        ("customer update --add-address --city Lyon", &["new", "Lyon", "added address 1"]),
        ("customer update --remove-address 4 --yes", &["4 removed", "Invalidenstraße 117", "removed 4\n"]),
        ("quote add-item --sku mug-blue --qty 1 --quote-id 1", &["Added 1 × mug-blue to quote 1 (item "]),
        (WRITES[1], &["Saved the shipping information\n", "Response: "]),
        (WRITES[3], &["Created attribute "]),
    ] {
        let outcome = env.home.run(&words(&format!("{line} --sandbox")));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{line}: {outcome:?}");
        for text in shows {
            assert!(outcome.stdout.contains(text), "{line}: {text}: {}", outcome.stdout);
        }
        assert!(!outcome.stdout.contains('\u{1b}'), "no colour but on a terminal");
    }
}

#[test]
fn a_curl_command_for_the_sandbox_says_that_nobody_will_answer_it() {
    let home = Home::new();
    let line = "quote add-item --sku mug-blue --qty 1 --quote-id 1 -n --curl --sandbox";
    let shown = home.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!((shown.code, shown.stderr.matches("storefront sandbox serve").count()), (0, 1), "{shown:?}");
    assert!(shown.stdout.starts_with(if cfg!(windows) { "curl.exe " } else { "curl " }), "{shown:?}");
}

#[test]
fn hints_name_the_service_the_command_was_run_against() {
    let home = Home::new();
    let stderr = home.fails(3, "--sandbox customer update --address 99 --city Rome");
    assert!(stderr.contains("`storefront --sandbox customer show`"), "{stderr}");
}
