//! A run over many records: its inputs, its results, its exit codes.

use std::fmt::Write as _;

use serde_json::json;

use crate::support::batch::{attributes, created, lines, numbers};
use crate::support::test_env::TestEnv;

#[test]
fn every_format_is_a_run_however_few_its_records() {
    let record = r#"{"attribute_code":"code_1","default_frontend_label":"One","frontend_input":"text"}"#;
    for (name, content) in [
        ("one.json", format!(" [{{\"attribute\":{record}}}]")),
        ("one.ndjson", format!("\u{feff}{record}\n\n")),
        ("one.csv", format!("\u{feff}{}", attributes(1).replace(',', ";"))),
    ] {
        let env = TestEnv::new();
        env.file(name, &content);
        let outcome = env.run(&format!("attribute create -i {name} -o json"));
        assert_eq!(outcome.code, 0, "{name}: {outcome:?}");
        let found = lines(&outcome);
        assert_eq!((found.len(), &found[0]["record"], &found[0]["applied"]), (1, &json!(1), &json!("yes")));
        assert_eq!(created(&env), [1], "{name}");
        let piped = env
            .storefront(&[
                "attribute",
                "create",
                "-i",
                "-",
                "--journal",
                "j",
                "--input-format",
                match name {
                    "one.csv" => "csv",
                    "one.json" => "json",
                    _ => "ndjson",
                },
            ])
            .stdin(content.replace("code_1", "code_2"))
            .run();
        assert_eq!((piped.code, created(&env)), (0, vec![1, 2]), "{name}: {piped:?}");
    }
}

#[test]
fn an_input_without_records_is_bad_usage() {
    let env = TestEnv::new();
    for (name, content) in [("x.json", "[ ]"), ("x.ndjson", "\n \n"), ("x.csv", "sku,qty\n"), ("y.csv", "")] {
        env.file(name, content);
        let outcome = env.run(&format!("quote add-item -i {name}"));
        assert_eq!(outcome.code, 2, "{name}: {outcome:?}");
        assert!(!env.home.dir.path().join(format!("{name}.journal")).exists());
    }
}

#[test]
fn flags_of_a_run_need_a_run() {
    let env = TestEnv::new();
    env.file("one.json", "{}");
    for flag in ["--jobs 2", "--resume", "--restart", "--failed f", "--shard 0/2", "--rate 5", "--journal j"]
    {
        let outcome = env.run(&format!("quote add-item --sku mug-blue --qty 1 --quote-id 1 {flag}"));
        assert!(outcome.code == 2 && outcome.stderr.contains("requires batch input"), "{flag}: {outcome:?}");
    }
    let outcome =
        env.storefront(&["quote", "add-item", "-i", "-", "--input-format", "csv"]).stdin("sku\nx\n").run();
    assert!(outcome.code == 2 && outcome.stderr.contains("--journal"), "{outcome:?}");
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn flags_are_laid_over_every_record_and_text_stays_text() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,quote_id,qty\nmug-blue,1,1\numbrella,1,1\n");
    let outcome = env.run("quote add-item -i items.csv --qty 2.50 -n -o json");
    let bodies: Vec<String> =
        lines(&outcome).iter().map(|line| line["request"]["body"].to_string()).collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], r#"{"cartItem":{"sku":"mug-blue","quote_id":"1","qty":2.50}}"#);
    assert_eq!((outcome.code, env.requests()), (0, Vec::new()));
}

#[test]
fn results_come_in_input_order_and_failures_have_their_line() {
    let env = TestEnv::with_faults(&["latency=5@50"]);
    let csv = attributes(60).replace("code_7,", "Bad Code,").replace("code_31,", "code_30,");
    env.file("a.csv", csv);
    let outcome = env.run("attribute create -i a.csv -o json --jobs 16");
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert_eq!(numbers(&outcome), (1..=60).collect::<Vec<u64>>());
    let seventh = &lines(&outcome)[6];
    assert_eq!((&seventh["applied"], &seventh["status"]), (&json!("no"), &json!(400)));
    assert_eq!((&seventh["error"]["kind"], &seventh["error"]["applied"]), (&json!("refused"), &json!("no")));
    assert!(outcome.stderr.contains("duplicate attribute code `code_30`"), "{outcome:?}");
    assert_eq!(outcome.error()["kind"], "partial");
    assert!(outcome.error()["hint"].as_str().unwrap().contains("--resume"));
}

#[test]
fn the_first_bad_record_is_named_and_nothing_is_sent() {
    let env = TestEnv::new();
    for (name, content, says) in [
        ("a.csv", "sku,qyt\nx,1\n", "a.csv: unknown column `qyt`; did you mean `qty`?"),
        ("b.csv", "sku,qty\nx,1\ny,two\n", "b.csv: line 3, column qty: expected a number, found \"two\""),
        (
            "c.ndjson",
            "{\"sku\":\"x\",\"qty\":1}\n{\"sku\":1}\n",
            "c.ndjson: line 2: cartItem.sku: expected a string",
        ),
        ("d.ndjson", "{\"sku\":\"x\",\"qty\":1}\n{\"sku\":]}\n", "d.ndjson: line 2, column 8: invalid JSON"),
        (
            "e.json",
            "[{\"sku\":\"x\",\"qty\":1},\n {\"skuu\":\"x\"}]",
            "e.json: line 2: cartItem.skuu: unknown field; did you mean `sku`?",
        ),
        (
            "f.json",
            "[{\"sku\":\"x\",\"qty\":1},\n",
            "f.json is not a JSON array: line 2: unexpected end of input in array",
        ),
    ] {
        env.file(name, content);
        let outcome = env.run(&format!("quote add-item -i {name}"));
        assert!(outcome.code == 2 && outcome.stderr.contains(says), "{name}: {outcome:?}");
        assert!(!env.home.dir.path().join(format!("{name}.journal")).exists(), "{name}");
    }
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn invalid_records_can_fail_while_the_others_are_sent() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\nmug-blue,two,1\numbrella,3,1\n");
    let outcome = env.run("quote add-item -i items.csv --skip-invalid --failed bad.csv -o json");
    assert_eq!((outcome.code, numbers(&outcome)), (7, vec![1, 2, 3]), "{outcome:?}");
    assert_eq!(lines(&outcome)[1]["error"]["kind"], "usage");
    assert_eq!(env.requests(), ["POST 200", "POST 200"]);
    let bad = std::fs::read_to_string(env.home.dir.path().join("bad.csv")).unwrap();
    assert!(bad.starts_with("sku,qty,quote_id,reason\nmug-blue,two,1,"), "{bad}");
}

#[test]
fn what_failed_comes_back_in_its_own_format_ready_to_be_run_again() {
    let record = |code: &str| {
        format!(
            r#"{{"attribute_code":"{code}","default_frontend_label":"x","frontend_input":"text","token":"sandbox-admin"}}"#
        )
    };
    for name in ["a.ndjson", "a.json", "a.csv"] {
        let env = TestEnv::new();
        let content = match name {
            "a.csv" => "attribute_code;default_frontend_label;frontend_input;token\ncode_1;x;text;sandbox-admin\nBad;x;text;sandbox-admin\n".to_owned(),
            "a.json" => format!("[{},{}]", record("code_1"), record("Bad")),
            _ => format!("{}\n{}\n", record("code_1"), record("Bad")),
        };
        env.file(name, content);
        let back = format!("back-{name}");
        let outcome = env.run(&format!("attribute create -i {name} --failed {back}"));
        assert_eq!((outcome.code, created(&env)), (7, vec![1]), "{outcome:?}");
        assert!(!format!("{outcome:?}").contains("sandbox-admin"), "{outcome:?}");
        let path = env.home.dir.path().join(&back);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("reason") && text.contains("sandbox-admin") && !text.contains("code_1"),
            "{text}"
        );
        std::fs::write(&path, text.replace("Bad", "code_2")).unwrap();
        let again = env.run(&format!("attribute create -i {back}"));
        assert_eq!((again.code, created(&env)), (0, vec![1, 2]), "{name}: {again:?}");
    }
}

#[test]
fn the_failed_file_overwrites_no_input_and_no_journal() {
    let env = TestEnv::new();
    let content = attributes(1);
    env.file("a.csv", &content);
    for file in ["a.csv", "./a.csv", "a.csv.journal"] {
        let outcome = env.run(&format!("attribute create -i a.csv --failed {file} --restart"));
        assert!(outcome.code == 3 && outcome.stderr.contains("is the "), "{file}: {outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(env.home.dir.path().join("a.csv")).unwrap(), content);
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_run_can_stop_at_the_first_failure() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(50).replace("code_3,", "Bad,"));
    let outcome = env.run("attribute create -i a.csv --stop-on-error --jobs 1 -o json");
    assert_eq!((outcome.code, created(&env)), (7, vec![1, 2]), "{outcome:?}");
    assert_eq!(numbers(&outcome), (1..=50).collect::<Vec<u64>>());
    assert_eq!(lines(&outcome)[49]["reason"], "not sent");
    let resumed = env.run("attribute create -i a.csv --stop-on-error --resume");
    assert_eq!(
        (resumed.code, created(&env).len()),
        (7, 49),
        "what failed earlier stops nothing now: {resumed:?}"
    );
}

#[test]
fn a_dry_run_shows_the_first_few_in_full_and_counts_the_rest() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(20));
    let outcome = env.run("attribute create -i a.csv -n");
    assert_eq!(outcome.code, 0);
    assert!(outcome.stdout.contains("code_3") && !outcome.stdout.contains("code_4"), "{outcome:?}");
    assert!(outcome.stdout.ends_with("and 17 more records\n"), "{outcome:?}");
    assert!(!env.home.dir.path().join("a.csv.journal").exists());
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_service_that_asks_for_fewer_requests_gets_them_and_everything_goes_through() {
    let env = TestEnv::with_faults(&["429=0@40"]);
    env.file("a.csv", attributes(60));
    let outcome = env.run("attribute create -i a.csv --retry 30");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(env.requests().iter().filter(|heard| *heard == "POST 429").count() > 5);
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!(found, (1..=60).collect::<Vec<usize>>());
}

#[test]
fn a_rate_holds_the_run_back() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(20));
    let start = std::time::Instant::now();
    assert_eq!(env.run("attribute create -i a.csv --rate 40/s").code, 0);
    assert!(start.elapsed() >= std::time::Duration::from_millis(440), "{:?}", start.elapsed());
}

#[test]
fn an_attribute_of_800_options_in_six_languages_comes_from_one_csv() {
    let env = TestEnv::new();
    let mut csv = "label,label:1,label:2,label:3,label:4,label:5,label:6\n".to_owned();
    for n in 1..=800 {
        writeln!(csv, "o{n},Couleur {n},Farbe {n},色 {n},לון {n},Цвет {n},Χρώμα {n}").unwrap();
    }
    env.file("options.csv", csv);
    env.done("attribute create --code code_1 --label Colour --type select --options options.csv --default-option o7");
    let shown = env.sandbox.show();
    let attribute =
        shown["attributes"].as_array().unwrap().iter().find(|one| one["attribute_code"] == "code_1").unwrap();
    let options = attribute["options"].as_array().unwrap();
    assert_eq!((options.len(), &options[799]["label"]), (800, &json!("o800")));
    assert_eq!(options[799]["store_labels"][2], json!({"store_id": 3, "label": "色 800"}));
    assert_eq!(options.iter().filter(|option| option["is_default"] == true).count(), 1);
}

#[test]
fn shipping_over_many_records_goes_one_after_another() {
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
