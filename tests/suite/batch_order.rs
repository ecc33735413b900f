//! Order and parts: records that touch the same thing go one after another; every record is in one part.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crate::support::batch::{attributes, created, numbers};
use crate::support::flaky_proxy::{FlakyProxy, Half};
use crate::support::test_env::{TestEnv, serve};

#[test]
fn records_of_one_quote_keep_their_order_and_others_run_beside_them() {
    let env = TestEnv::with_faults(&["latency=3@60"]);
    let under_way = Arc::new(Mutex::new((0_usize, 0_usize)));
    let theirs = under_way.clone();
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
    let most = under_way.lock().unwrap().1;
    assert!((2..=3).contains(&most), "three quotes, so three at a time at most: {most}");
    let journal = std::fs::read_to_string(env.home.dir.path().join("a.ndjson.journal")).unwrap();
    let mut last: HashMap<u64, (u64, bool)> = HashMap::new();
    for line in journal.lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let record = line["record"].as_u64().unwrap();
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
fn four_parts_at_once_send_every_record_exactly_once() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(200));
    let children: Vec<_> = (0..4)
        .map(|part| {
            let shard = format!("{part}/4");
            env.storefront(&["attribute", "create", "-i", "a.csv", "-o", "json", "--shard", &shard]).spawn()
        })
        .collect();
    let mut told = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap().lines().count();
        assert!(lines > 20, "{lines}");
        told += lines;
    }
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!((told, found), (200, (1..=200).collect()));
    assert_eq!(env.requests().len(), 200);
    parts_put_together(&env);
}

/// The journals of all parts are the journal of the whole; with one lacking they are refused.
fn parts_put_together(env: &TestEnv) {
    let directory = env.home.dir.path();
    let part =
        |part: usize| std::fs::read_to_string(directory.join(format!("a.csv.{part}-4.journal"))).unwrap();
    env.file("a.csv.journal", [part(0), part(2), part(3)].concat());
    let lacking = env.run("attribute create -i a.csv --resume");
    assert!(lacking.code == 3 && lacking.stderr.contains("; missing: shard"), "{lacking:?}");
    env.file("a.csv.journal", [part(0), part(1), part(2), part(3)].concat());
    let whole = env.run("attribute create -i a.csv --resume");
    assert!(whole.code == 0 && whole.stderr.contains("200 done earlier"), "{whole:?}");
    let foreign = env.run("attribute create -i a.csv --resume --shard 1/4 --journal a.csv.0-4.journal");
    assert!(
        foreign.code == 3 && foreign.stderr.contains("belongs to shard 0/4, expected 1/4"),
        "{foreign:?}"
    );
    assert_eq!(env.requests(), Vec::<String>::new());
}
