//! Every write of every operation is in the log of this machine, with what it changes and what became of it.

use serde_json::{Value, json};

use crate::support::batch::lines;
use crate::support::magento::{done, fails, run};
use crate::support::test_env::{ADD_ITEM, TestEnv, change_log, log};

/// A write as it is in the log.
#[derive(Debug, PartialEq)]
struct Row {
    operation: String,
    call: String,
    owner: (String, Option<String>),
    customer: Option<String>,
    effect: Value,
    outcome: Option<Value>,
}

fn rows(env: &TestEnv) -> Vec<Row> {
    let Some(log) = log(&env.home) else { return Vec::new() };
    let find = "SELECT operation, call, owner_kind, owner, customer, effect, outcome \
                FROM write JOIN run ON run.id = write.run ORDER BY write.id";
    let mut find = log.prepare(find).unwrap();
    let json = |text: String| serde_json::from_str(&text).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        Ok(Row {
            operation: row.get(0)?,
            call: row.get(1)?,
            owner: (row.get(2)?, row.get(3)?),
            customer: row.get(4)?,
            effect: json(row.get(5)?),
            outcome: row.get::<_, Option<String>>(6)?.map(json),
        })
    };
    find.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}

/// What became of the writes, in words.
fn outcomes(env: &TestEnv) -> Vec<String> {
    let name = |row: Row| row.outcome.map_or("open".into(), |it| it["outcome"].as_str().unwrap().to_owned());
    rows(env).into_iter().map(name).collect()
}

const PAY: &str = r#"--payment '{"method": "checkmo", "additional_data": ["4111111111111111"]}'"#;

#[test]
fn a_command_leaves_its_writes_in_the_log_and_says_what_they_are_known_by() {
    let env = TestEnv::new();
    let address = "--ship-to-address 1 --bill-same-as-ship --carrier flatrate --method flatrate";
    for (line, calls, owner) in [
        ("quote add-item --customer 1 --sku mug-blue --qty 2".to_owned(), &["quote add-item"][..], "cart"),
        ("quote add-item --customer 1 --sku umbrella --qty 1".to_owned(), &["quote add-item"], "cart"),
        ("quote set-item --customer 1 --sku mug-blue --qty 5".to_owned(), &["quote set-item"], "cart"),
        (
            format!("quote ship --customer 1 {address} --payment-method checkmo"),
            &["shipping-information", "selected-payment-method"],
            "cart",
        ),
        ("quote remove-item --customer 1 --sku mug-blue -y".to_owned(), &["quote remove-item"], "cart"),
        ("quote clear --customer 1 -y".to_owned(), &["remove item 2 (umbrella)"], "cart"),
        (
            "attribute create --code fit --label Fit --type select --option Slim --set Default".to_owned(),
            &["create", "assign Default"],
            "attribute",
        ),
        ("attribute option add fit --option Wide".to_owned(), &["add Wide"], "attribute"),
        ("attribute option default fit Wide".to_owned(), &["set the default Wide"], "attribute"),
    ] {
        let before = rows(&env).len();
        let result = done(&env, &line);
        let new = rows(&env).split_off(before);
        let called: Vec<&str> = new.iter().map(|row| row.call.as_str()).collect();
        assert_eq!(called, calls, "{line}");
        let operation =
            line.split(' ').take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ");
        for row in &new {
            assert!(operation.starts_with(&row.operation), "{line}: {row:?}");
            assert_eq!(row.owner.0, owner, "{line}");
            assert_eq!(row.outcome.as_ref().unwrap()["outcome"], "applied", "{line}: {row:?}");
        }
        let run: i64 =
            log(&env.home).unwrap().query_row("SELECT max(id) FROM run", [], |row| row.get(0)).unwrap();
        assert_eq!(result["write"], run.to_string(), "{line}: {result}");
        if owner == "cart" {
            assert_eq!(result["owner"], json!({"cart": 1}), "{line}: {result}");
            assert!(!result["changes"].as_array().unwrap().is_empty(), "{line}: {result}");
            assert!(new.iter().all(|row| row.owner.1.as_deref() == Some("1")), "{new:?}");
            assert!(new.iter().all(|row| row.customer.as_deref() == Some("1")), "{new:?}");
        }
    }
    assert_eq!(rows(&env)[7].owner.1, rows(&env)[7].owner.1.clone().filter(|id| id.parse::<u64>().is_ok()));
    let ended = "SELECT count(*) FROM run WHERE ended IS NULL";
    let open: i64 = log(&env.home).unwrap().query_row(ended, [], |row| row.get(0)).unwrap();
    assert_eq!(open, 0, "every run has ended");
}

#[test]
fn the_marketplace_and_raw_calls_are_in_the_log_too() {
    let env = TestEnv::new();
    let added = env.done(ADD_ITEM);
    assert_eq!((&added["owner"], &added["write"]), (&json!({"cart": 1}), &json!("1")), "{added}");
    env.done("attribute create --code fit --label Fit --type text");
    let path = "/V1/storeview/default/user/quote/item?x=1";
    let body = env.file("item.json", r#"{"cartItem": {"sku": "mug-blue", "qty": 1, "quote_id": "1"}}"#);
    assert_eq!(env.run(&format!("api POST {path} --input {} -y", body.display())).code, 0);
    let found: Vec<_> = rows(&env).into_iter().map(|row| (row.operation, row.call, row.owner.0)).collect();
    let row = |operation: &str, call: &str, kind: &str| (operation.into(), call.into(), kind.into());
    assert_eq!(
        found,
        [
            row("quote add-item", "quote add-item", "cart"),
            row("attribute create", "create", "attribute"),
            row("api", "POST /V1/storeview/default/user/quote/item", "api"),
        ]
    );
    assert_eq!(outcomes(&env), ["applied"; 3]);
}

/// What became of a call is noted also where it did not go well, and its error says what it is known by.
#[test]
fn a_write_that_fails_is_closed_with_what_became_of_it() {
    for (fault, sku, code, outcome) in [
        ("PUT:429x1", "no-such", 4, "refused"),
        ("POST:429x1", "mug-blue", 5, "not sent"),
        ("POST:reset-after-commitx1", "mug-blue", 8, "unknown"),
    ] {
        let env = TestEnv::with_faults(&[fault]);
        let line = format!("quote add-item --customer 1 --quote-id 1 --sku {sku} --qty 1");
        let error = fails(&env, code, &format!("{line} --retry 0"));
        assert_eq!(outcomes(&env), [outcome], "{fault}");
        assert_eq!((&error["write"], &error["owner"]), (&json!("1"), &json!({"cart": 1})), "{error}");
        assert_eq!(error["changes"][0]["after"]["sku"], sku, "{error}");
    }
}

#[test]
fn a_record_of_a_batch_is_known_by_its_run_and_its_journal_has_no_effects() {
    let env = TestEnv::new();
    env.file("items.csv", "customer,sku,qty\n1,mug-blue,2\n2,umbrella,1\n");
    let added = run(&env, "quote add-item -i items.csv -y");
    let names: Vec<Value> = lines(&added).iter().map(|line| line["write"].clone()).collect();
    assert_eq!(names, ["1:2", "1:3"], "{added:?}");
    let log = log(&env.home).unwrap();
    let places: Vec<(i64, bool)> = log
        .prepare("SELECT record, record_hash IS NOT NULL FROM write ORDER BY record")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(places, [(2, true), (3, true)]);
    let journal = std::fs::read_to_string(env.home.dir.path().join("items.csv.journal")).unwrap();
    assert!(!journal.contains("effect"), "{journal}");
    let length: i64 = log.query_row("SELECT journal_length FROM run", [], |row| row.get(0)).unwrap();
    let sending = journal.rfind(r#""state":"sending""#).unwrap();
    assert!(length > i64::try_from(sending).unwrap(), "{length}: {journal}");
}

#[test]
fn the_data_of_a_payment_is_not_in_the_log() {
    let env = TestEnv::new();
    done(&env, "quote add-item --customer 1 --sku mug-blue --qty 1");
    let address = "--ship-to-address 1 --bill-same-as-ship --carrier flatrate --method flatrate";
    done(&env, &format!("quote ship --customer 1 {address} {PAY}"));
    let kept: String = rows(&env).iter().map(|row| row.effect.to_string()).collect();
    assert!(kept.contains("checkmo") && !kept.contains("4111"), "{kept}");
}

/// Without a log nothing is sent, not even the call that makes an empty cart; a dry run makes no log.
#[test]
fn without_a_log_nothing_is_written_to_the_shop() {
    let batch = "quote add-item -i items.csv -y";
    for line in [
        "quote add-item --customer 2 --sku mug-blue --qty 1",
        "attribute create --code fit --label Fit --type text",
        "attribute create --code fit --label Fit --type text --set Default",
        "attribute assign size --set Default",
        batch,
    ] {
        let env = TestEnv::new();
        env.file("items.csv", "customer,sku,qty\n2,mug-blue,2\n");
        let dry = run(&env, &format!("{line} -n"));
        assert_eq!(dry.code, 0, "{line}: {dry:?}");
        assert!(log(&env.home).is_none(), "{line}");
        std::fs::create_dir_all(env.home.state()).unwrap();
        std::fs::write(env.home.state().join("log.db"), "this is no database").unwrap();
        env.requests();
        let error = fails(&env, 3, line);
        assert!(error["message"].as_str().unwrap().contains("log.db"), "{line}: {error}");
        let sent: Vec<String> = env.requests().into_iter().filter(|it| !it.starts_with("GET")).collect();
        assert_eq!(sent, Vec::<String>::new(), "{line}");
    }
}

/// What was noted of carts goes with their customer.
#[test]
fn the_writes_to_a_cart_are_forgotten_with_its_customer() {
    let env = TestEnv::new();
    done(&env, "quote add-item --customer 1 --sku mug-blue --qty 1");
    done(&env, "quote add-item --customer 2 --sku mug-blue --qty 1");
    change_log(&env.home, "UPDATE write SET left_at = 0, closed_at = 0");
    assert_eq!(run(&env, "forget --customer 1 -y").code, 0);
    let left: Vec<_> = rows(&env).into_iter().map(|row| row.customer).collect();
    assert_eq!(left, [Some("2".to_owned())]);
}
