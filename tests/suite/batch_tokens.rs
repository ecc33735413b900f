//! Many customers: a token for each record, and every step of a replacement for each.

use serde_json::json;
use snapbox::str;

use crate::support::batch::lines;
use crate::support::mock_server::MockServer;
use crate::support::scripted::{methods, ok, profile, run};
use crate::support::storefront::Home;
#[cfg(unix)]
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, files_below};

#[test]
fn each_record_is_sent_with_its_own_token_which_appears_in_no_output() {
    let env = TestEnv::new();
    env.file(
        "c.csv",
        "token,firstname,lastname\nsandbox-customer-1,Ada,\nsandbox-customer-2,Bob,\nsandbox-customer-1,,Eve\nsandbox-customer-9,Nobody,\n",
    );
    let outcome = env.run("customer update -i c.csv -o json");
    assert_eq!(outcome.code, 7, "{outcome:?}");
    let found = lines(&outcome);
    assert_eq!(found[2]["changes"][0], json!({"path": "lastname", "before": "Haddad", "after": "Eve"}));
    assert_eq!(found[3]["error"]["kind"], "auth");
    assert_eq!(env.sandbox.profile("sandbox-customer-1")["lastname"], "Eve");
    assert_eq!(env.sandbox.profile("sandbox-customer-2")["firstname"], "Bob");
    assert_eq!(env.updates().len(), 3);
    assert!(!format!("{outcome:?}").contains("sandbox-customer"), "{outcome:?}");
    for file in files_below(env.home.dir.path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        if name != "c.csv" && !name.starts_with("service.db") {
            let bytes = std::fs::read(&file).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("sandbox-customer"), "{}", file.display());
        }
    }
}

#[test]
fn each_record_reads_the_profile_and_unchanged_ones_send_nothing() {
    let env = TestEnv::new();
    env.file("c.ndjson", "{\"gender\":1}\n{\"group_id\":2}\n{\"group_id\":2}\n");
    let outcome = env.run("customer update -i c.ndjson -o json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(env.requests(), ["GET 200", "PUT 200", "GET 200", "GET 200", "PUT 200", "GET 200", "GET 200"]);
    assert_eq!(lines(&outcome)[2]["reason"], "unchanged");
}

/// The token of a record is what a script prints for its `login`.
#[cfg(unix)]
fn of_login(env: &TestEnv, script: &str) {
    env.home.token_command(&env.url(), &["sh", "-c", script, "sh", "{record.login}"]);
}

#[cfg(unix)]
#[test]
fn a_token_command_is_filled_from_the_record() {
    let env = TestEnv::new();
    of_login(&env, "printf sandbox-customer-%s \"$1\"");
    env.file("c.csv", "login,firstname\n2,Bob\n3,Cid\n");
    let outcome = env.home.run(&["customer", "update", "-i", "c.csv", "-p", "p"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(env.sandbox.profile("sandbox-customer-2")["firstname"], "Bob");
    assert_eq!(env.sandbox.profile("sandbox-customer-3")["firstname"], "Cid");
    env.file("d.csv", "login,firstname\n,Bob\n");
    env.home.run("customer update -i d.csv -p p").assert_failure(
        2,
        str![[r#"
error: d.csv: line 2: the token command uses `login`, which this record does not have
  hint: fix the record and try again
"#]],
    );
}

#[cfg(unix)]
const TWO_LOGINS: &str = "late,2,11111\nearly,2,22222\n";

/// A run over records of which all commands print one token, that for the login `late` later than others.
#[cfg(unix)]
fn run_with_one_token(env: &TestEnv, rows: &str, flags: &str) -> Outcome {
    let script = "test $1 = late && sleep 0.3; printf sandbox-customer-1";
    of_login(env, script);
    env.file("c.csv", format!("login,address_id,postcode\n{rows}"));
    env.home.run(&*format!("customer update -i c.csv -p p --yes -o json {flags}"))
}

#[cfg(unix)]
#[test]
fn records_with_one_printed_token_keep_their_order() {
    let env = TestEnv::new();
    let run = run_with_one_token(&env, TWO_LOGINS, "");
    assert_eq!((run.code, &env.address(2)["postcode"]), (0, &"22222".into()), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_record_behind_one_with_the_same_command_goes_before_later_ones_with_the_same_printed_token() {
    let env = TestEnv::new();
    let run = run_with_one_token(&env, "late,2,11111\nlate,1,22222\nearly,2,33333\n", "");
    assert_eq!((run.code, &env.address(2)["postcode"]), (0, &"33333".into()), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_resumed_run_sends_no_record_behind_an_unknown_one_with_the_same_printed_token() {
    let env = TestEnv::with_faults(&["POST:reset-after-commitx1"]);
    of_login(&env, "printf sandbox-customer-1");
    let row = |login: &str| format!("{login},A,B,1 Road,Paris,75001,FR,1,flatrate,flatrate\n");
    let columns = "login,shipping_address.firstname,shipping_address.lastname,shipping_address.street,shipping_address.city,shipping_address.postcode,shipping_address.country_id,shipping_address.telephone,shipping_carrier_code,shipping_method_code\n";
    env.file("c.csv", format!("{columns}{}{}", row("one"), row("two")));
    for flags in ["--jobs 1", "--resume"] {
        let run = env
            .home
            .run(&*format!("quote ship -i c.csv --payment-method checkmo -p p --yes -o json {flags}"));
        assert_eq!(run.code, 8, "{run:?}");
        assert!(
            run.stdout.contains("not sent: the outcome of line 2, of the same quote, is unknown"),
            "{run:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_record_that_waits_for_its_turn_is_not_sent_after_the_run_has_stopped() {
    let env = TestEnv::new();
    let rows = "one,99,11111\none,2,22222\ntwo,2,33333\n";
    let run = run_with_one_token(&env, rows, "--stop-on-error");
    assert_eq!((run.code, run.stdout.matches("\"not sent\"").count()), (7, 2), "{run:?}");
    assert_eq!(env.address(2)["postcode"], "10118");
}

#[cfg(unix)]
#[test]
fn a_record_behind_one_whose_command_failed_is_not_sent() {
    let env = TestEnv::new();
    let script = "mkdir failed 2>/dev/null && exit 1; printf sandbox-customer-1";
    of_login(&env, script);
    env.file("c.csv", "login,address_id,postcode\none,2,11111\none,1,22222\n");
    let run = env.home.run("customer update -i c.csv -p p --yes -o json");
    // Both commands run at once. Where it is the first that fails, the second record waits for a resumed run.
    assert_eq!(run.code, 5, "{run:?}");
    assert_ne!(env.address(1)["postcode"], "22222", "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_record_behind_a_failed_one_with_the_same_printed_token_is_not_sent() {
    let env = TestEnv::with_faults(&["GET:503x1"]);
    let first = run_with_one_token(&env, TWO_LOGINS, "--retry 0");
    assert_eq!(first.code, 5, "{first:?}");
    let said = "not sent: line 2, of the same customer, failed and comes first";
    assert!(first.stdout.contains(said), "{first:?}");
    assert_eq!(run_with_one_token(&env, TWO_LOGINS, "--resume").code, 0);
    assert_eq!(env.address(2)["postcode"], "22222");
}

#[test]
fn rows_change_and_add_addresses_and_keep_all_others() {
    let env = TestEnv::new();
    let before = env.profile();
    let ids: Vec<i64> =
        before["addresses"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
    env.file(
        "c.csv",
        format!("address_id,city,street,postcode,country_id,address_firstname,address_lastname,telephone\n{},Oslo,,,,,,\nnew,Bergen,1 Vei,5003,NO,Ida,Lie,1\n", ids[0]),
    );
    let outcome = env.run("customer update -i c.csv -o json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let after = env.profile();
    let addresses = after["addresses"].as_array().unwrap();
    assert_eq!(addresses.len(), ids.len() + 1);
    assert_eq!(addresses[0]["city"], "Oslo");
    assert_eq!(addresses[1..ids.len()], before["addresses"].as_array().unwrap()[1..]);
    assert_eq!(addresses[ids.len()]["postcode"], "5003");
}

#[test]
fn a_base_cannot_be_used_with_batch_input() {
    let env = TestEnv::new();
    env.file("c.csv", "firstname\nAda\n");
    env.run("customer update -i c.csv --base x.json").assert_failure(
        2,
        str![[r#"
error: `--base` cannot be used with batch input
  hint: leave out `--base`
"#]],
    );
}

/// A cache in front of the service that does not look at the token answers with the profile of somebody else.
#[test]
fn a_token_leads_to_one_customer_in_all_records_of_a_batch() {
    let home = Home::new();
    let records = [("email", "old@example.com"), ("lastname", "New")]
        .map(|(field, value)| json!({"customer": {field: value}}).to_string());
    home.write("in.ndjson", records.join("\n"), 0o600);
    let server = MockServer::start(vec![ok(&profile(json!({}))), ok(&profile(json!({"id": 2})))]);
    let line = format!("customer update -i {} --jobs 1 --settle 0", home.path("in.ndjson").display());
    let outcome = run(&home, &server.url(""), &line);
    assert!(
        outcome.code != 0 && outcome.stdout.contains("and before with that of customer 1"),
        "{outcome:?}"
    );
    assert_eq!(methods(&server), ["GET", "GET"]);
}

/// A cache in front that does not look at the token gives one customer's profile to all.
#[test]
fn a_second_token_that_leads_to_the_same_customer_is_refused() {
    let stored = |firstname: &str| ok(&profile(json!({"id": 1, "firstname": firstname})));
    let server =
        MockServer::start(vec![stored("Ann"), ok(&json!({})), stored("One"), stored("One"), stored("One")]);
    let home = Home::new();
    home.write(
        "t.ndjson",
        "{\"token\":\"t1\",\"firstname\":\"One\"}\n{\"token\":\"t2\",\"firstname\":\"Two\"}\n",
        0o600,
    );
    let line = format!("customer update -i {} --jobs 1 --settle 0", home.path("t.ndjson").display());
    let outcome = run(&home, &server.url(""), &line);
    assert_eq!(outcome.code, 5, "{outcome:?}");
    assert!(outcome.stdout.contains("two tokens of this batch lead to customer 1"), "{outcome:?}");
    assert_eq!(methods(&server).iter().filter(|method| *method == "PUT").count(), 1);
}
