//! Order and shards: records with one key are sent in order; every record is in one shard.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::json;
use snapbox::str;

use crate::support::batch::{attributes, created, numbers};
use crate::support::flaky_proxy::{FlakyProxy, Half};
use crate::support::test_env::{TestEnv, serve};

#[test]
fn records_of_one_quote_keep_their_order_and_others_run_concurrently() {
    let env = TestEnv::with_faults(&["latency=3@60"]);
    let in_progress = Arc::new(Mutex::new((0_usize, 0_usize)));
    let theirs = in_progress.clone();
    let gate = FlakyProxy::before(env.sandbox.address(), move |_, half| {
        let mut counts = theirs.lock().unwrap();
        match half {
            Half::Request => counts.0 += 1,
            Half::Reply => counts.0 -= 1,
        }
        counts.1 = counts.1.max(counts.0);
    });
    // Every first record of a quote sets the city that every later one replaces.
    let mut ndjson = String::new();
    for number in 1..=60 {
        writeln!(ndjson, r#"{{"sku":"mug-blue","qty":{number},"quote_id":"{}"}}"#, number % 3 + 1).unwrap();
    }
    env.file("a.ndjson", ndjson);
    let run =
        serve(env.home.storefront(&["quote", "add-item", "-i", "a.ndjson", "-o", "json"]), &gate.url()).run();
    assert_eq!(numbers(&run).len(), 60, "{run:?}");
    let most = in_progress.lock().unwrap().1;
    assert!((2..=3).contains(&most), "three quotes, so three at a time at most: {most}");
    let journal = std::fs::read_to_string(env.home.dir.path().join("a.ndjson.journal")).unwrap();
    let mut last: HashMap<u64, (u64, bool)> = HashMap::new();
    for line in journal.lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let record = line["line"].as_u64().unwrap();
        let quote = record % 3;
        if line["state"] == "sending" {
            let before = last.insert(quote, (record, false));
            assert!(
                before.is_none_or(|(before, ended)| ended && before + 3 == record),
                "{record} after {before:?}"
            );
        } else {
            assert_eq!(last.insert(quote, (record, true)), Some((record, false)));
        }
    }
}

#[test]
fn four_concurrent_shards_send_every_record_exactly_once() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(200));
    let children: Vec<_> = (0..4)
        .map(|part| {
            let shard = format!("{part}/4");
            env.storefront(&["attribute", "create", "-i", "a.csv", "-o", "json", "--shard", &shard]).spawn()
        })
        .collect();
    let mut reported = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap().lines().count();
        assert!(lines > 20, "{lines}");
        reported += lines;
    }
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!((reported, found), (200, (1..=200).collect()));
    assert_eq!(env.requests().len(), 200);
    env.run("attribute create -i a.csv --resume --shard 1/4 --journal a.csv.0-4.journal").assert_failure(
        3,
        str![[r#"
error: journal `a.csv.0-4.journal` covers shard 0/4, expected shard 1/4
  hint: choose another file with --journal
"#]],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn shipping_records_of_one_quote_are_sent_in_order() {
    let env = TestEnv::new();
    env.file(
        "ship.csv",
        "shipping_address.city,shipping_address.postcode,shipping_carrier_code,shipping_method_code,paymentMethod.method\n\
         Oslo,0150,flatrate,flatrate,checkmo\nBergen,5003,flatrate,flatrate,checkmo\n",
    );
    let outcome = env.run("quote ship -i ship.csv -o json");
    assert_eq!((outcome.code, env.requests()), (0, vec!["POST 320".to_owned(); 2]), "{outcome:?}");
    let saved = &env.sandbox.show()["quotes"][0]["shipping_information"]["shipping_address"];
    assert_eq!((&saved["city"], &saved["postcode"]), (&json!("Bergen"), &json!("5003")));
}

#[test]
fn a_resumed_run_keeps_the_order_of_one_customers_records() {
    let env = TestEnv::with_faults(&["GET:503x1"]);
    let address = |field: &str| format!("{{\"addresses\": [{{\"id\": 2, \"{field}\": \"22222\"}}]}}\n");
    env.file("c.ndjson", address("postcode") + &address("city"));
    let first = env.run("customer update -i c.ndjson --yes --retry 0 -o json");
    assert_ne!(first.code, 0, "{first:?}");
    assert!(
        first.stdout.contains("not sent: line 1, of the same customer, failed and comes first"),
        "{first:?}"
    );
    let second = env.run("customer update -i c.ndjson --yes --resume -o json");
    assert_eq!(second.code, 0, "{second:?}");
    let address = env.address(2);
    assert_eq!((&address["postcode"], &address["city"]), (&"22222".into(), &"22222".into()));
}
