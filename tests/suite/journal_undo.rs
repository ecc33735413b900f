//! `undo`: a plan that sets back what a batch changed, where it still is so.

use serde_json::{Value, json};

use crate::journal_verify::forget_done;
use crate::support::batch::lines;
use crate::support::database::Database;
use crate::support::magento::{done, fails, program, run};
use crate::support::test_env::{TestEnv, change_log};

/// A profile as the administrator sees it.
fn profile(env: &TestEnv, customer: u64) -> Value {
    done(env, &format!("customer show --customer {customer}"))
}

/// The addresses of a profile without their ids, by their cities.
fn cities(profile: &Value) -> Vec<String> {
    let list = profile["addresses"].as_array().unwrap().iter();
    let mut cities: Vec<String> = list.map(|address| address["city"].as_str().unwrap().to_owned()).collect();
    cities.sort_unstable();
    cities
}

fn address(profile: &Value, id: u64) -> Value {
    let list = profile["addresses"].as_array().unwrap();
    list.iter().find(|address| address["id"] == id).cloned().unwrap_or_default()
}

/// Two records of customer 1 (one changes an address, one adds an address), one of customer 2 and one of 5.
const RECORDS: &str = r#"{"customer": 1, "addresses": [{"id": 1, "city": "Marseille", "postcode": "13001"}]}
{"customer": 1, "addresses": [{"firstname": "Ida", "lastname": "Nor", "street": ["Gate 1"], "city": "Oslo", "postcode": "0150", "country_id": "NO", "telephone": "004721000000"}]}
{"customer": 2, "addresses": [{"id": 5, "city": "Nara"}, {"id": 6, "city": "Kobe"}]}
{"customer": 5, "firstname": "Jonas", "addresses": [{"id": 12, "city": "Kiel"}]}
"#;

fn batch(env: &TestEnv) {
    env.file("a.ndjson", RECORDS);
    let ran = run(env, "customer update -i a.ndjson");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn what_a_batch_changed_is_set_back_and_others_edits_stay() {
    let env = TestEnv::new();
    let before: Vec<Value> = [1, 2, 5].map(|customer| profile(&env, customer)).into();
    batch(&env);
    assert_eq!(cities(&profile(&env, 1)).iter().filter(|city| *city == "Oslo").count(), 1);
    // Others edit a field that the batch changed, and fields that it did not.
    done(&env, "customer update --customer 2 --address 5 --city Uji --yes");
    done(&env, "customer update --customer 1 --address 1 --company Elsewhere --yes");
    done(&env, "customer update --customer 5 --lastname Maier --yes");
    env.requests();
    let planned = run(&env, "undo a.ndjson.journal --plan back.plan");
    assert_eq!((planned.code, env.requests()), (7, vec!["GET 200".to_owned(); 3]), "{planned:?}");
    let rows = lines(&planned);
    assert_eq!(
        rows[1]["left"],
        json!(["address 5 city is not as it was written; left as is"]),
        "{planned:?}"
    );
    assert_eq!(rows.last().unwrap()["records"], 3, "{planned:?}");
    // It deletes the address that was added, so it needs a yes.
    assert_eq!(run(&env, "apply back.plan").code, 3);
    let applied = run(&env, "apply back.plan --yes");
    assert_eq!(applied.code, 0, "{applied:?}");
    let after: Vec<Value> = [1, 2, 5].map(|customer| profile(&env, customer)).into();
    assert_eq!(cities(&after[0]), cities(&before[0]), "Marseille is Paris again, and Oslo is gone");
    assert_eq!(address(&after[0], 1)["postcode"], address(&before[0], 1)["postcode"]);
    assert_eq!(address(&after[0], 1)["company"], "Elsewhere");
    assert_eq!(
        (&address(&after[1], 5)["city"], &address(&after[1], 6)["city"]),
        (&json!("Uji"), &address(&before[1], 6)["city"])
    );
    assert_eq!((&after[2]["firstname"], &after[2]["lastname"]), (&before[2]["firstname"], &json!("Maier")));
    // Nothing is left: not by a second undo, and the plan is applied once.
    let again = program(&env, "undo a.ndjson.journal --plan again.plan").run();
    assert!(again.code == 3 && again.stderr.contains("No plan was written"), "{again:?}");
    assert!(!env.home.dir.path().join("again.plan").exists());
}

#[test]
fn an_added_address_that_somebody_changed_stays_and_a_removed_one_comes_back_once() {
    let env = TestEnv::new();
    env.file(
        "a.ndjson",
        "{\"customer\": 1, \"addresses\": [{\"id\": 1, \"city\": \"Marseille\"}]}\n\
         {\"customer\": 1, \"addresses\": [{\"firstname\": \"Ida\", \"lastname\": \"Nor\", \"street\": [\"Gate 1\"], \"city\": \
         \"Oslo\", \"postcode\": \"0150\", \"country_id\": \"NO\", \"telephone\": \"004721000000\"}]}\n",
    );
    let before = profile(&env, 1);
    assert_eq!(run(&env, "customer update -i a.ndjson").code, 0);
    let shown = profile(&env, 1);
    let list = shown["addresses"].as_array().unwrap();
    let oslo = list.iter().find(|address| address["city"] == "Oslo").unwrap()["id"].clone();
    done(&env, &format!("customer update --customer 1 --address {oslo} --company Ours --yes"));
    // Removed since, an address that the batch changed does not come back.
    run(&env, "customer update --customer 1 --remove-address 1 --yes");
    let planned = program(&env, "undo a.ndjson.journal --plan back.plan").run();
    let left = format!(
        "line 1: address {oslo}, which was added, is not as it was written; left as is\nline 1: address 1 is gone\n"
    );
    let mut found: Vec<&str> = planned.stdout.lines().collect();
    let mut expected: Vec<&str> = left.lines().collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{planned:?}");
    assert!(planned.stderr.contains("2 changes are left as the shop has it now"), "{planned:?}");
    assert!(planned.stderr.contains("No plan was written"), "{planned:?}");
    assert_eq!(
        profile(&env, 1)["addresses"].as_array().unwrap().len(),
        before["addresses"].as_array().unwrap().len()
    );
    // A batch of a plan that removes an address: it comes back under a new id, and once.
    let of_2 = profile(&env, 2);
    assert_eq!(run(&env, "customer update --customer 2 --remove-address 6 --plan gone.plan").code, 0);
    assert_eq!(run(&env, "apply gone.plan --yes").code, 0);
    assert_eq!(cities(&profile(&env, 2)).len(), 1);
    let back = run(&env, "undo gone.plan.journal --plan comes-back.plan");
    assert_eq!(back.code, 0, "{back:?}");
    let applied = run(&env, "apply comes-back.plan --yes");
    assert_eq!(applied.code, 0, "{applied:?}");
    let restored = profile(&env, 2);
    assert_eq!(cities(&restored), cities(&of_2));
    assert_eq!(address(&restored, 6), Value::Null);
    let again = program(&env, "undo gone.plan.journal --plan twice.plan").run();
    assert!(again.stderr.contains("No plan was written"), "{again:?}");
}

#[test]
fn an_address_that_came_back_meanwhile_is_not_added_again() {
    let env = TestEnv::new();
    let before = profile(&env, 2);
    assert_eq!(run(&env, "customer update --customer 2 --remove-address 6 --plan gone.plan").code, 0);
    assert_eq!(run(&env, "apply gone.plan --yes").code, 0);
    for plan in ["one.plan", "other.plan"] {
        assert_eq!(run(&env, &format!("undo gone.plan.journal --plan {plan}")).code, 0);
    }
    assert_eq!(run(&env, "apply one.plan --yes").code, 0);
    let other = run(&env, "apply other.plan --yes");
    assert_eq!((other.code, cities(&profile(&env, 2))), (0, cities(&before)), "{other:?}");
    assert!(other.stdout.contains("\"reason\":\"unchanged\""), "{other:?}");
}

/// Whether the batch of an input was undone.
fn mark(env: &TestEnv, input: &str) -> Value {
    let listed = lines(&run(env, "history"));
    listed.iter().find(|batch| batch["input"] == input).unwrap()["undone"].clone()
}

#[test]
fn a_batch_of_which_a_record_may_stand_is_undone_in_part() {
    let env = TestEnv::new();
    batch(&env);
    forget_done(&env, "a.ndjson.journal", 3, "2");
    assert_eq!(run(&env, "undo a.ndjson.journal --plan back.plan").code, 7);
    assert_eq!(run(&env, "apply back.plan --yes").code, 0);
    assert_eq!(mark(&env, "a.ndjson"), "partial", "the outcome of record 3 is not known");
}

#[test]
fn a_batch_that_was_continued_after_its_undo_is_undone_in_part() {
    let env = TestEnv::new();
    let rows = |id: &str| format!("customer,address_id,city\n1,1,Marseille\n5,{id},Kiel\n");
    env.file("a.csv", rows("twelve"));
    let first = run(&env, "customer update -i a.csv --skip-invalid");
    assert_eq!(first.code, 7, "{first:?}");
    assert_eq!(run(&env, "undo a.csv.journal --plan back.plan").code, 0);
    assert_eq!(run(&env, "apply back.plan --yes").code, 0);
    assert_eq!(mark(&env, "a.csv"), "yes");
    env.file("a.csv", rows("12"));
    let resumed = run(&env, "customer update -i a.csv --resume");
    assert_eq!((resumed.code, &address(&profile(&env, 5), 12)["city"]), (0, &json!("Kiel")), "{resumed:?}");
    assert_eq!(mark(&env, "a.csv"), "partial", "what was sent since stands");
}

/// An edit after the plan was made: the record is refused, as that of any plan.
#[test]
fn a_plan_that_is_out_of_date_is_refused() {
    let env = TestEnv::new();
    batch(&env);
    assert_eq!(run(&env, "undo a.ndjson.journal --plan back.plan").code, 0);
    done(&env, "customer update --customer 5 --address 12 --city Bonn --yes");
    let applied = run(&env, "apply back.plan --yes");
    assert_eq!(applied.code, 7, "{applied:?}");
    assert_eq!(address(&profile(&env, 5), 12)["city"], "Bonn");
    assert_eq!(address(&profile(&env, 1), 1)["city"], "Paris");
    assert!(applied.stdout.contains("address 12 city is not as it was written; left as is"), "{applied:?}");
    // So is that of another owner.
    let env = TestEnv::new();
    done(&env, "quote add-item --customer 1 --sku mug-blue --qty 1");
    done(&env, "quote add-item --customer 1 --sku umbrella --qty 1");
    env.file("items.csv", "customer,sku,qty\n1,mug-blue,4\n1,umbrella,3\n");
    assert_eq!(run(&env, "quote set-item -i items.csv").code, 0);
    assert_eq!(run(&env, "undo items.csv.journal --plan back.plan").code, 0);
    done(&env, "quote set-item --customer 1 --sku umbrella --qty 9");
    let before = Database::read(env.sandbox.data());
    let applied = run(&env, "apply back.plan --yes");
    assert_eq!(applied.code, 7, "{applied:?}");
    assert_eq!(before.difference(&Database::read(env.sandbox.data())), "");
}

#[test]
fn records_that_are_not_done_and_writes_that_are_missing_are_left_and_said() {
    let env = TestEnv::new();
    batch(&env);
    forget_done(&env, "a.ndjson.journal", 3, "2");
    change_log(&env.home, "DELETE FROM write WHERE owner = '5'");
    let planned = program(&env, "undo a.ndjson.journal --plan back.plan").run();
    assert!(planned.stdout.contains("was deleted from the log"), "{planned:?}");
    assert!(planned.stderr.contains("not undone: 1 unknown"), "{planned:?}");
    assert!(env.home.dir.path().join("back.plan").exists(), "{planned:?}");
    // A plan takes nobody's name, and which batch it is of is named.
    fails(&env, 2, "undo latest");
    fails(&env, 3, "undo a.ndjson.journal --plan back.plan");
}

#[test]
fn a_quantity_goes_back_where_it_still_is_what_was_set_and_attributes_are_deleted() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku mug-blue --qty 1");
    done(&env, "quote add-item --sku umbrella --qty 1");
    env.file("items.csv", "customer,sku,qty\n1,mug-blue,4\n1,umbrella,3\n1,mug-blue,5\n");
    let set = run(&env, "quote set-item -i items.csv");
    assert_eq!(set.code, 0, "{set:?}");
    done(&env, "quote set-item --sku umbrella --qty 9");
    let planned = run(&env, "undo items.csv.journal --plan back.plan");
    assert_eq!(planned.code, 7, "{planned:?}");
    assert!(planned.stdout.contains("has changed since: its quantity is 9"), "{planned:?}");
    let applied = run(&env, "apply back.plan --yes");
    assert_eq!(applied.code, 0, "{applied:?}");
    let cart = done(&env, "quote show");
    let items = cart["cart"]["items"].as_array().or(cart["items"].as_array()).unwrap();
    let quantity = |sku: &str| items.iter().find(|item| item["sku"] == sku).unwrap()["qty"].clone();
    assert_eq!((quantity("mug-blue"), quantity("umbrella")), (json!(1), json!(9)));
    let again = program(&env, "undo items.csv.journal --plan again.plan").run();
    assert!(again.stderr.contains("No plan was written"), "{again:?}");
    // What was noted by hand may not be its doing.
    done(&env, "quote set-item --sku umbrella --qty 3");
    forget_done(&env, "items.csv.journal", 3, "1");
    assert_eq!(run(&env, "quote set-item -i items.csv --resume --mark-done=3").code, 0);
    let planned = program(&env, "undo items.csv.journal --plan again.plan").run();
    assert!(planned.stdout.contains("line 3: noted by hand"), "{planned:?}");
    assert!(planned.stderr.contains("No plan was written"), "{planned:?}");
    env.file("a.csv", "attribute_code,default_frontend_label,frontend_input\nwarm_x,Warm,boolean\n");
    assert_eq!(run(&env, "attribute create -i a.csv").code, 0);
    env.requests();
    let planned = run(&env, "undo a.csv.journal --plan a.plan");
    assert_eq!(planned.code, 0, "{planned:?}");
    assert!(env.requests().iter().all(|request| request.starts_with("GET")));
    // What it deletes is in the plan, which needs a yes.
    let unasked = program(&env, "apply a.plan").run();
    assert!(unasked.code == 3 && unasked.stderr.contains("delete attribute warm_x?"), "{unasked:?}");
    assert_eq!(run(&env, "attribute show warm_x").code, 0);
    assert_eq!(run(&env, "apply a.plan --yes").code, 0);
    assert_eq!(run(&env, "attribute show warm_x").code, 2);
}

#[test]
fn a_default_that_an_input_moves_is_moved_back() {
    let env = TestEnv::new();
    let defaults = |customer: u64| {
        let shown = profile(&env, customer);
        [shown["default_billing"].clone(), shown["default_shipping"].clone()]
    };
    let before = defaults(1);
    assert_eq!(before, ["1", "2"]);
    env.file("one.json", r#"{"customer": {"addresses": [{"id": 1, "default_shipping": true}]}}"#);
    let updated = run(&env, "customer update --customer 1 -i one.json");
    assert_eq!((updated.code, updated.stderr.as_str()), (0, ""), "it moved the default itself");
    let changes = &lines(&updated)[0]["changes"];
    let paths: Value = changes.as_array().unwrap().iter().map(|change| change["path"].clone()).collect();
    let expected =
        ["default_shipping", "addresses[id=1].default_shipping", "addresses[id=2].default_shipping"];
    assert_eq!(paths, json!(expected));
    assert_eq!(run(&env, "undo LAST --customer 1 --yes").code, 0);
    assert_eq!(defaults(1), before);
    // Of several rows each sees what those before it left.
    let row = |id: u64| json!({"customer": 1, "addresses": [{"id": id, "default_billing": true}]});
    env.file("rows.ndjson", format!("{}\n{}\n", row(3), row(4)));
    assert_eq!(run(&env, "customer update -i rows.ndjson").code, 0);
    assert_eq!(run(&env, "verify rows.ndjson.journal").code, 0);
    assert_eq!(run(&env, "undo rows.ndjson.journal --plan back.plan").code, 0);
    assert_eq!(run(&env, "apply back.plan --yes").code, 0);
    assert_eq!(defaults(1), before);
    // A plan is not applied to a default that was moved since.
    env.file("top.json", r#"{"customer": {"default_billing": "3"}}"#);
    assert_eq!(run(&env, "customer update --customer 1 -i top.json --plan top.plan").code, 0);
    done(&env, "customer update --customer 1 --address 4 --default-billing --yes");
    assert_eq!(run(&env, "apply top.plan --yes").code, 7);
    assert_eq!(defaults(1)[0], "4");
}

/// Each way to say in an input that customer 1 has no default for billing.
const CLEARED: [&str; 2] =
    [r#"{"addresses": [{"id": 1, "default_billing": false}]}"#, r#"{"default_billing": null}"#];

#[test]
fn a_default_that_an_input_clears_is_a_change_and_comes_back() {
    let env = TestEnv::new();
    let defaults = || {
        let shown = profile(&env, 1);
        [shown["default_billing"].clone(), shown["default_shipping"].clone()]
    };
    let before = defaults();
    for (at, input) in CLEARED.into_iter().enumerate() {
        env.file("one.json", input);
        let shown = lines(&run(&env, "customer update --customer 1 -i one.json -n"))[0]["changes"].clone();
        let updated = run(&env, "customer update --customer 1 -i one.json");
        assert_eq!((updated.code, updated.stderr.as_str()), (0, ""), "{input}");
        assert_eq!(lines(&updated)[0]["changes"], shown, "{input}");
        assert_eq!(defaults(), [json!(null), before[1].clone()], "{input}");
        let again = done(&env, "customer update --customer 1 -i one.json");
        assert_eq!(again["reason"], "unchanged", "{input}: {again}");
        let restored = run(&env, "undo LAST --customer 1 --yes");
        assert_eq!((restored.code, defaults()), (0, before.clone()), "{input}: {restored:?}");
        // And forth: the update that set it is undone.
        assert_eq!(run(&env, "customer update --customer 1 -i one.json").code, 0);
        done(&env, "customer update --customer 1 --address 3 --default-billing --yes");
        assert_eq!(run(&env, "undo LAST --customer 1 --yes").code, 0);
        assert_eq!(defaults()[0], json!(null), "{input}");
        done(&env, "customer update --customer 1 --address 1 --default-billing --yes");
        // In a batch.
        let (rows, back) = (format!("rows{at}.json"), format!("back{at}.plan"));
        env.file(&rows, format!("[{{\"customer\": 1, {}]", &input[1..]));
        assert_eq!(run(&env, &format!("customer update -i {rows}")).code, 0, "{input}");
        assert_eq!(run(&env, &format!("verify {rows}.journal")).code, 0, "{input}");
        let undone = run(&env, &format!("undo {rows}.journal --plan {back}"));
        assert_eq!(undone.code, 0, "{input}: {undone:?}");
        assert_eq!(run(&env, &format!("apply {back} --yes")).code, 0, "{input}");
        assert_eq!(defaults(), before, "{input}");
    }
    env.file("off.json", r#"{"addresses": [{"id": 3, "default_shipping": false}]}"#);
    assert_eq!(done(&env, "customer update --customer 1 -i off.json")["reason"], "unchanged");
    env.file("unknown.json", r#"{"default_billing": "99"}"#);
    fails(&env, 3, "customer update --customer 1 -i unknown.json");
}

#[test]
fn what_one_record_cleared_and_a_later_one_left_alone_comes_back() {
    let env = TestEnv::new();
    let before = profile(&env, 1);
    assert_eq!(before["custom_attributes"][0]["attribute_code"], "preferred_language");
    let cleared =
        json!({"customer": 1, "custom_attributes": [{"attribute_code": "preferred_language", "value": ""}]});
    let door = json!({"customer": 1, "addresses": [{"id": 1, "company": "Elsewhere"}]});
    env.file("a.ndjson", format!("{cleared}\n{door}\n"));
    assert_eq!(run(&env, "customer update -i a.ndjson").code, 0);
    assert_ne!(profile(&env, 1)["custom_attributes"], before["custom_attributes"]);
    assert_eq!(run(&env, "undo a.ndjson.journal --plan back.plan").code, 0);
    assert_eq!(run(&env, "apply back.plan --yes").code, 0);
    assert_eq!(profile(&env, 1)["custom_attributes"], before["custom_attributes"]);
}

#[test]
fn an_address_that_somebody_moved_since_keeps_its_postcode() {
    let env = TestEnv::new();
    batch(&env);
    done(&env, "customer update --customer 1 --address 1 --city Nice --yes");
    let planned = run(&env, "undo a.ndjson.journal --plan back.plan");
    let left = json!([
        "address 1 postcode: the address is not as it was written; left as is",
        "address 1 city is not as it was written; left as is"
    ]);
    assert_eq!(lines(&planned)[0]["left"], left, "{planned:?}");
    assert_eq!(run(&env, "apply back.plan --yes").code, 0);
    let now = address(&profile(&env, 1), 1);
    assert_eq!((&now["city"], &now["postcode"]), (&json!("Nice"), &json!("13001")));
}
