//! Dry runs, curl commands, and the line that names the host.

use serde_json::{Value, json};
use snapbox::str;

#[cfg(unix)]
use crate::support::raw_http::ADMIN;
use crate::support::raw_http::CUSTOMER;
use crate::support::snapshot::assert_snapshot_file;
use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

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
        assert!(env.updates().is_empty());
        let members: Vec<&String> = shown["request"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["method", "url", "body"]);
        let text = env.run(&format!("{line} -n")).stdout;
        let operation = line.split(" --").next().unwrap().replace(' ', "-");
        assert_snapshot_file(&text, &format!("dry-run/{operation}.txt"));
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
fn the_curl_command_has_the_same_effect() {
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
fn a_write_names_its_host_and_a_read_does_not() {
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
    let outcome = env.home.run(&format!("{line} -p shop"));
    assert_eq!(
        (outcome.code, outcome.stderr),
        (0, format!("quote add-item: profile shop, host {host}, store view fr\n"))
    );
}

#[test]
fn each_write_on_the_sandbox_prints_its_result() {
    let env = TestEnv::new();
    for (line, stdout) in [
        (
            "customer update --address 2 --postcode 10119",
            str![[r#"
customer update: done
address 2
  Postcode  10118  → 10119
Addresses: unchanged 1, 3 and 4; changed 2
Update: 1
"#]],
        ),
        (
            "customer update --add-address --city Lyon",
            str![[r#"
customer update: done
new address
  City  Lyon
Addresses: unchanged 1, 2, 3 and 4; added as 13
Update: 2
"#]],
        ),
        (
            "customer update --remove-address 4 --yes",
            str![[r#"
customer update: done
address 4, removed
  Country           DE
  Street            Invalidenstraße 117
  Telephone number  +49 30 2345678
  Postcode          02138
  City              Berlin
  First name        Lina
  Last name         Haddad-Groß
  is_residential    yes
  Region            Berlin, BER, id 82
Addresses: unchanged 1, 2, 3 and 13; removed 4
Update: 3
"#]],
        ),
        (
            "quote add-item --sku mug-blue --qty 1 --quote-id 1",
            str!["Added 1 × mug-blue to quote 1 (item 1, now 1 in the cart)"],
        ),
        (
            WRITES[1],
            str![[r#"
quote ship: done
  Ship to  it's $HOME `x` \ é Haddad, 350 Fifth Avenue, 10119 New York, US
  Bill to  it's $HOME `x` \ é Haddad, 350 Fifth Avenue, 10119 New York, US
  Method   flatrate/flatrate
  Payment  checkmo
"#]],
        ),
        (WRITES[3], str!["Created attribute fabric (id 145)"]),
    ] {
        env.home.run(&format!("{line} --sandbox")).assert_success(stdout);
    }
}

#[test]
fn a_curl_command_for_the_sandbox_warns_that_the_service_is_temporary() {
    let home = Home::new();
    let line = "quote add-item --sku mug-blue --qty 1 --quote-id 1 -n --curl --sandbox";
    let shown = home.run(line);
    shown.assert(0, str![[r#"curl --request POST --globoff http://127.0.0.1:[PORT]/V1/storeview/default/user/quote/item --header "Authorization: Bearer $STOREFRONT_TOKEN" --header 'Content-Type: application/json' --data-raw '{"cartItem":{"sku":"mug-blue","qty":1,"quote_id":"1"}}'"#]], str!["the built-in service ends with this command: to send the request, start one that stays with `storefront sandbox serve`"]);
    assert!(shown.stdout.starts_with(if cfg!(windows) { "curl.exe " } else { "curl " }), "{shown:?}");
}

#[test]
fn hints_name_the_service_the_command_was_run_against() {
    let home = Home::new();
    home.run("--sandbox customer update --address 99 --city Rome").assert_failure(
        3,
        str![[r#"
error: no address 99 (the profile has addresses 1, 2, 3 and 4)
  hint: list the addresses with `storefront --sandbox customer show`, or add one with --add-address
"#]],
    );
}

#[test]
fn the_curl_commands_of_a_batch_are_all_printed_for_a_shell() {
    let home = Home::new();
    let rows = (1..=5).map(|number| format!("1,sku-{number},1"));
    let rows: Vec<String> = std::iter::once("quote_id,sku,qty".to_owned()).chain(rows).collect();
    home.write("items.csv", rows.join("\n"), 0o600);
    let line = format!("quote add-item --sandbox -i {} -n --curl", home.path("items.csv").display());
    let shown = home.run(&line);
    let commands: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!((shown.code, commands.len()), (0, 5), "{shown:?}");
    let curl = if cfg!(windows) { "curl.exe " } else { "curl " };
    for (number, command) in (1..).zip(commands) {
        assert!(command.starts_with(curl) && command.contains(&format!("sku-{number}")), "{command}");
    }
}

#[test]
fn a_dry_run_of_a_plan_shows_every_record() {
    let env = TestEnv::new();
    env.file("items.csv", format!("sku,qty,quote_id\n{}", "mug-blue,1,1\n".repeat(5)));
    assert_eq!(env.run("quote add-item -i items.csv --plan items.plan").code, 0);
    let outcome = env.run("apply items.plan -n");
    assert_eq!(
        (outcome.code, outcome.stdout.matches("quote add-item: dry run").count()),
        (0, 5),
        "{outcome:?}"
    );
}
