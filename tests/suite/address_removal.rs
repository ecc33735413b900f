//! An address that an administrator removes by a call of its own: nothing that is between a read and a PUT can be lost by it.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::{ADMIN, CUSTOMER, PROFILE, ids};
use crate::support::scripted::{methods, ok};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, serve};

/// A customer of the sandbox whom an administrator names.
const UPDATE: &str = "customer update --customer 1 -y";

fn stored(env: &TestEnv) -> Value {
    let stored = env.sandbox.get(ADMIN, "/rest/V1/customers/1").json();
    env.requests();
    stored
}

/// What the newest updates of this machine became, the newest first.
fn outcomes(env: &TestEnv) -> Vec<String> {
    let listed = run(env, "history --customer 1").stdout;
    let word = |line: &str| -> String {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry["outcome"].as_str().unwrap().to_owned()
    };
    listed.lines().map(word).collect()
}

#[test]
fn a_removal_alone_sends_no_put() {
    let env = TestEnv::new();
    let removed = done(&env, &format!("{UPDATE} --remove-address 3"));
    assert_eq!(env.requests(), ["GET 200", "DELETE 200", "GET 200"]);
    assert_eq!((&removed["applied"], &removed["verified"]), (&json!("yes"), &json!(true)), "{removed}");
    assert_eq!(removed["addresses"]["removed"], json!([3]));
    assert_eq!(
        removed["calls"],
        json!([{"call": "remove address 3", "applied": "yes", "status": 200, "response": true}])
    );
    assert_eq!(ids(&stored(&env)), [1, 2, 4]);
    assert_eq!(outcomes(&env), ["applied"]);
}

#[test]
fn the_customers_own_token_removes_in_the_put() {
    let env = TestEnv::new();
    let removed = done(&env, "customer update -y --remove-address 3");
    assert_eq!(env.requests(), ["GET 200", "PUT 200"]);
    assert_eq!(removed.get("calls"), None);
}

/// The PUT carries the list that was read anyway.
#[test]
fn a_removal_beside_another_change_is_one_put() {
    let env = TestEnv::new();
    let line = format!("{UPDATE} --remove-address 1 --address 3 --city Tripoli --default-billing");
    let changed = done(&env, &line);
    assert_eq!(env.requests(), ["GET 200", "PUT 200"]);
    assert_eq!(changed.get("calls"), None, "{changed}");
    assert_eq!(changed["addresses"], json!({"kept": [2, 4], "changed": [3], "added": 0, "removed": [1]}));
    let after = stored(&env);
    assert_eq!((ids(&after), &after["default_billing"]), (vec![2, 3, 4], &json!("3")), "{after}");
    assert_eq!(after["addresses"][1]["city"], "Tripoli");
    let restored = run(&env, "undo LAST --customer 1 -y");
    assert_eq!(restored.code, 0, "{restored:?}");
    let after = stored(&env);
    let (last, city) = (after["addresses"][3]["id"].clone(), &after["addresses"][1]["city"]);
    assert_eq!(
        (ids(&after).len(), after["default_billing"].as_str(), city == "Tripoli"),
        (4, Some(&*last.to_string()), false),
        "{after}"
    );
}

#[test]
fn a_list_is_replaced_by_one_put() {
    let env = TestEnv::new();
    env.file("one.json", json!({"addresses": [{"id": 1}, {"id": 2}, {"id": 4}]}).to_string());
    let line = format!("{UPDATE} -i one.json --replace-addresses");
    fails(&env, 3, &line);
    env.requests();
    let replaced = done(&env, &format!("{line} --allow-delete 1"));
    assert_eq!(env.requests(), ["GET 200", "PUT 200"]);
    assert_eq!((&replaced["addresses"]["removed"], replaced.get("calls")), (&json!([3]), None), "{replaced}");
    assert_eq!(ids(&stored(&env)), [1, 2, 4]);
}

#[test]
fn where_the_put_is_refused_nothing_is_removed() {
    let env = TestEnv::new();
    let refused =
        fails(&env, 4, &format!("{UPDATE} --remove-address 3 --address 2 --country XX --no-region"));
    assert_eq!(refused["applied"], "no", "{refused}");
    assert_eq!(ids(&stored(&env)), [1, 2, 3, 4]);
    assert_eq!(outcomes(&env), ["refused"]);
}

/// A second call settles what became of the first one: the address is gone, or it goes now.
#[test]
fn a_lost_answer_is_settled_by_a_second_call() {
    for (fault, calls) in [
        ("DELETE:reset-after-commitx1", vec!["DELETE 404"]),
        ("DELETE:reset-before-commitx1", vec!["DELETE 200"]),
        ("DELETE:502-after-commitx1", vec!["DELETE 502", "DELETE 404"]),
    ] {
        let env = TestEnv::with_faults(&[fault]);
        let removed = run(&env, &format!("{UPDATE} --remove-address 3"));
        let requests: Vec<String> =
            env.requests().into_iter().filter(|one| one.starts_with("DELETE")).collect();
        let last: Vec<&str> = requests.iter().rev().take(calls.len()).rev().map(String::as_str).collect();
        assert_eq!((removed.code, last), (0, calls), "{fault}: {removed:?}");
        assert_eq!(ids(&stored(&env)), [1, 2, 4], "{fault}");
        assert_eq!(outcomes(&env), ["applied"], "{fault}");
    }
}

/// It is sent once more, and no third time: two reads that do not show the address prove that it is gone.
#[test]
fn after_two_lost_answers_the_profile_is_looked_at() {
    let env = TestEnv::with_faults(&["DELETE:500-after-commit"]);
    let outcome = run(&env, &format!("{UPDATE} --remove-address 3"));
    let removed: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
    assert!(outcome.code == 0 && outcome.stderr.contains("verified as applied"), "{outcome:?}");
    let requests = env.requests();
    assert_eq!(requests[..4], ["GET 200", "DELETE 500", "DELETE 500", "GET 200"], "{requests:?}");
    assert!(requests[4..].iter().all(|request| request == "GET 200"), "{requests:?}");
    assert_eq!((&removed["applied"], &removed["verified"]), (&json!("yes"), &json!(true)), "{removed}");
    assert_eq!(outcomes(&env), ["applied"]);
}

#[test]
fn two_lost_answers_are_unknown_where_the_address_is_still_there_or_nobody_can_look() {
    for (look, said) in [
        (ok(&shop(&[1, 2, 3])), "address 3 is still there"),
        (answer("503 Service Unavailable", "", ""), "whether address 3 was removed is not known"),
    ] {
        let lost = answer("500 Internal Server Error", "", "");
        let script = vec![ok(&shop(&[1, 2, 3])), lost.clone(), lost, look.clone(), look];
        let home = Home::new();
        let (outcome, _) = scripted(&home, script, "customer update --remove-address 3");
        let error = outcome.error();
        assert_eq!((outcome.code, &error["applied"]), (8, &json!("unknown")), "{outcome:?}");
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("undo"), "{error}");
    }
}

/// Another address that went with it is named, and what was removed before, and how that comes back.
#[test]
fn a_lost_answer_after_which_another_address_is_gone_names_it() {
    let lost = answer("500 Internal Server Error", "", "");
    let look = ok(&shop(&[3]));
    let script = vec![ok(&shop(&[1, 2, 3])), ok(&json!(true)), lost.clone(), lost, look.clone(), look];
    let home = Home::new();
    let (outcome, _) = scripted(&home, script, "customer update --remove-address 1 3");
    let error = outcome.error();
    assert_eq!((outcome.code, &error["applied"]), (8, &json!("unknown")), "{outcome:?}");
    assert_eq!(error["missing"], json!(["addresses[id=2]"]), "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("address 2") && message.contains("already applied: remove address 1"),
        "{error}"
    );
    assert!(error["hint"].as_str().unwrap().contains("undo"), "{error}");
}

/// A customer with up to four addresses, and which of them there are.
fn shop(left: &[i64]) -> Value {
    let all = (1..=4).filter(|id| left.contains(id));
    let address = |id: i64| {
        json!({"id": id, "customer_id": 7, "city": format!("Town {id}"), "street": ["Road 1"],
        "country_id": "FR", "postcode": "75001", "firstname": "A", "lastname": "B", "telephone": "5550100"})
    };
    json!({"id": 7, "email": "a@example.com", "firstname": "A", "lastname": "B",
        "addresses": all.map(address).collect::<Vec<_>>()})
}

/// Runs a line for that customer.
fn scripted(home: &Home, script: Vec<Step>, line: &str) -> (Outcome, Vec<String>) {
    let server = MockServer::start(script);
    let line = format!("--api magento {line} --customer 7 -y --settle 0 --retry 1 -q -o json");
    let outcome = serve(home.storefront(&line), &server.url("")).run();
    let lines =
        server.requests().into_iter().map(|request| request.lines().next().unwrap_or_default().to_owned());
    (outcome, lines.map(|line| line.replace("/default/V1", "").replace(" HTTP/1.1", "")).collect())
}

fn gone(field: &str, id: i64) -> Step {
    let body = json!({"message": "No such entity with %fieldName = %fieldValue",
        "parameters": {"fieldName": field, "fieldValue": id}});
    answer("404 Not Found", "", &body.to_string())
}

/// A 404 of another server, or about something else, says nothing of the address; one that names it counts where a read does not
/// show it, either.
#[test]
fn a_404_after_a_lost_answer_is_compared_with_a_read() {
    let page = answer("404 Not Found", "Content-Type: text/html\r\n", "<html>Not found</html>");
    for (second, left, code) in [
        (gone("addressId", 3), vec![1, 2], 0),
        (gone("addressId", 3), vec![1, 2, 3], 8),
        (gone("customerId", 3), vec![1, 2, 3], 8),
        (gone("addressId", 30), vec![1, 2, 3], 8),
        (page, vec![1, 2, 3], 8),
    ] {
        let lost = answer("502 Bad Gateway", "", "");
        let script = vec![ok(&shop(&[1, 2, 3])), lost, second, ok(&shop(&left))];
        let home = Home::new();
        let (outcome, _) = scripted(&home, script, "customer update --remove-address 3");
        assert_eq!(outcome.code, code, "{outcome:?}");
    }
}

#[test]
fn of_several_removals_the_applied_ones_alone_are_restored() {
    let home = Home::new();
    let refused = answer("400 Bad Request", "", r#"{"message": "no"}"#);
    let script = vec![ok(&shop(&[1, 2, 3])), ok(&json!(true)), refused];
    // Somebody else removed the other one since: that is not ours to undo.
    let server = MockServer::start([script, vec![ok(&shop(&[2, 3])), ok(&shop(&[3]))]].concat());
    let run = |line: &str| {
        let line = format!("--api magento {line} --customer 7 -y --settle 0 -q -o json");
        serve(home.storefront(&line), &server.url("")).run()
    };
    let partial = run("customer update --remove-address 1 2");
    assert_eq!(methods(&server), ["GET", "DELETE", "DELETE", "GET"]);
    let error = partial.error();
    assert_eq!((partial.code, &error["applied"]), (7, &json!("partial")), "{partial:?}");
    let applied: Vec<&Value> =
        error["calls"].as_array().unwrap().iter().map(|call| &call["applied"]).collect();
    assert_eq!(applied, ["yes", "no"]);
    let history = "--api magento history --customer 7 -o json";
    let history = serve(home.storefront(history), &server.url("")).run();
    assert!(history.stdout.contains(r#""outcome":"partial""#), "{history:?}");
    let restored = run("undo LAST -n");
    let shown: Value = serde_json::from_str(&restored.stdout).unwrap_or_else(|_| panic!("{restored:?}"));
    let sent = shown["request"]["body"]["customer"]["addresses"].as_array().unwrap();
    let cities: Vec<&Value> = sent.iter().map(|address| &address["city"]).collect();
    assert_eq!(cities, ["Town 3", "Town 1"], "{restored:?}");
}

#[test]
fn an_absent_address_is_refused_unless_a_call_of_ours_removed_it() {
    let env = TestEnv::new();
    env.sandbox.call(ADMIN, "DELETE", "/rest/V1/addresses/4", "");
    let refused = fails(&env, 3, &format!("{UPDATE} --remove-address 4"));
    assert!(refused["message"].as_str().unwrap().contains("no address 4"), "{refused}");
    done(&env, &format!("{UPDATE} --remove-address 3"));
    let again = run(&env, &format!("{UPDATE} --remove-address 3"));
    assert!(again.code == 0 && again.stdout.contains("unchanged"), "{again:?}");
    assert!(again.stderr.contains("address 3 was removed already"), "{again:?}");
    let city = run(&env, &format!("{UPDATE} --remove-address 3 --address 2 --city Utica"));
    let city: Value = serde_json::from_str(&city.stdout).unwrap();
    assert_eq!(city["addresses"], json!({"kept": [1], "changed": [2], "added": 0, "removed": []}));
}

#[test]
fn an_editor_between_read_and_removal_loses_nothing() {
    let home = Home::new();
    let mut edited = shop(&[1, 2]);
    edited["addresses"][0]["city"] = "Theirs".into();
    let script = vec![ok(&shop(&[1, 2, 3])), ok(&json!(true)), ok(&edited)];
    let (removed, requests) = scripted(&home, script, "customer update --remove-address 3");
    assert_eq!((removed.code, requests.len()), (0, 3), "{removed:?}");
    // Nothing tells who removed another one.
    let (home, script) = (Home::new(), vec![ok(&shop(&[1, 2, 3])), ok(&json!(true)), ok(&shop(&[1]))]);
    let (removed, _) = scripted(&home, script, "customer update --remove-address 3");
    assert_eq!(removed.code, 9, "{removed:?}");
}

/// Takes the telephone from address 3 of that customer, as an import does.
fn lock(env: &TestEnv) {
    let list = json!([{"id": 1}, {"id": 2}, {"id": 3, "telephone": ""}, {"id": 4}]);
    let body = json!({"customer": {"addresses": list}}).to_string();
    env.sandbox.call(CUSTOMER, "PUT", PROFILE, &body);
    env.requests();
}

/// With such an address every PUT is refused, also one that leaves it out: it is removed by a command of its own.
#[test]
fn a_put_that_is_refused_for_an_address_that_it_removes_names_the_removal() {
    let env = TestEnv::new();
    lock(&env);
    let line = format!("{UPDATE} --remove-address 3 --address 2 --city Utica");
    let refused = fails(&env, 4, &line);
    assert_eq!(refused["applied"], "no", "{refused}");
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("`storefront customer update --customer 1 --remove-address 3`"), "{hint}");
    assert_eq!(ids(&stored(&env)), [1, 2, 3, 4]);
    assert_eq!(done(&env, &format!("{UPDATE} --remove-address 3"))["applied"], "yes");
    // The same line: what is gone counts as removed.
    let again = run(&env, &line);
    assert!(again.code == 0 && again.stderr.contains("address 3 was removed already"), "{again:?}");
    assert_eq!(stored(&env)["addresses"][1]["city"], "Utica");
    assert_eq!(ids(&stored(&env)), [1, 2, 4]);
    // The customer's own token has no such call.
    let env = TestEnv::new();
    lock(&env);
    let own = fails(&env, 4, "customer update -y --remove-address 3 --address 2 --city Troy");
    assert!(!own["hint"].to_string().contains("--remove-address"), "{own}");
}

#[test]
fn a_locked_customer_is_told_where_to_correct_the_address() {
    let env = TestEnv::new();
    lock(&env);
    let refused = fails(&env, 4, &format!("{UPDATE} --address 2 --city Utica"));
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("address 3 needs telephone") && hint.contains("admin panel"), "{hint}");
    assert!(hint.contains("customer show --customer 1") && !hint.contains("remove"), "{hint}");
}

/// Stored, they would block every later update of the customer. Which version the shop has is for the profile to say.
#[test]
fn values_that_the_shops_version_refuses_are_warned_of_before_they_are_sent() {
    let env = TestEnv::new();
    let line = "customer update --customer 1 --address 2 --city 'St. Louis' -n";
    let shown = run(&env, line);
    assert!(shown.code == 0 && !shown.stderr.contains("2.4.8"), "{shown:?}");
    let config = |version: &str| {
        let url = env.url();
        let text = format!(
            "[profiles.s]\nbase-url = \"{url}/rest\"\napi = \"magento\"\nmagento-version = \"{version}\"\n"
        );
        env.home.write("config.toml", text, 0o600);
    };
    for (version, is_warned) in [("2.4.7-p3", false), ("2.4.8-p1", true), ("2.4.9", false)] {
        config(version);
        let shown = env.home.storefront(&format!("-p s {line}")).env("STOREFRONT_ADMIN_TOKEN", ADMIN).run();
        let warning = "`St. Louis` as city is refused by Magento 2.4.8";
        assert!(shown.code == 0 && shown.stderr.contains(warning) == is_warned, "{version}: {shown:?}");
    }
}

/// The address of another customer is not deleted, whatever id is named.
#[test]
fn an_address_of_another_customer_is_never_deleted() {
    let env = TestEnv::new();
    fails(&env, 3, &format!("{UPDATE} --remove-address 12"));
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn a_plan_removes_by_the_same_call_and_is_completed_after_a_part_of_it() {
    let env = TestEnv::with_faults(&["DELETE:429x1"]);
    let plan = env.home.path("a.plan").display().to_string();
    assert_eq!(
        run(&env, &format!("customer update --customer 1 --remove-address 3 4 --plan {plan}")).code,
        0
    );
    env.requests();
    let first = run(&env, &format!("apply {plan} -y --retry 0"));
    assert_eq!(env.requests(), ["GET 200", "DELETE 429"], "{first:?}");
    // One of the two is removed by another command.
    assert_eq!(run(&env, &format!("{UPDATE} --remove-address 3")).code, 0);
    env.requests();
    let second = run(&env, &format!("apply {plan} -y --resume"));
    assert_eq!((second.code, env.requests()), (0, words("GET_200 DELETE_200 GET_200")), "{second:?}");
    assert_eq!(ids(&stored(&env)), [1, 2]);
}

/// What was removed before counts: the number is that of the whole update.
#[test]
fn an_update_that_is_repeated_after_one_of_its_removals_counts_that_one() {
    let home = Home::new();
    let refused = answer("400 Bad Request", "", r#"{"message": "no"}"#);
    let first = vec![ok(&shop(&[1, 2, 3])), ok(&json!(true)), refused, ok(&shop(&[1, 3]))];
    let second = vec![ok(&shop(&[1, 3])), ok(&json!(true)), ok(&shop(&[1]))];
    let server = MockServer::start([first, second].concat());
    let codes = [7, 0].map(|code| {
        let line = "--api magento customer update --remove-address 2 3 --allow-delete 2 --customer 7 --settle 0 \
                    --retry 0 -q -o json";
        let ran = serve(home.storefront(line), &server.url("")).run();
        assert_eq!(ran.code, code, "{ran:?}");
        code
    });
    assert_eq!(codes, [7, 0]);
    assert_eq!(methods(&server), words("GET DELETE DELETE GET GET DELETE GET"));
}

/// The requests of a list, with a line for each blank.
fn words(list: &str) -> Vec<String> {
    list.split(' ').map(|word| word.replace('_', " ")).collect()
}

/// The flags of a new address.
const NEW: &str = "--add-address --address-firstname Z --address-lastname Y --street x --city Ely --postcode 10118 \
                   --country US --region-code NY --telephone 5550100";

/// What an update adds has no id in the log: that is no fault of the stored profile.
#[test]
fn an_update_right_after_one_that_adds_and_removes_is_sent() {
    let env = TestEnv::new();
    done(&env, &format!("{UPDATE} {NEW} --remove-address 3"));
    let next = run(&env, &format!("{UPDATE} --address 2 --city Utica"));
    assert_eq!(next.code, 0, "{next:?}");
    let restored = run(&env, "undo 1 --customer 1 -y --allow-delete 1");
    let after = stored(&env);
    let cities: Vec<&Value> =
        after["addresses"].as_array().unwrap().iter().map(|address| &address["city"]).collect();
    assert_eq!((restored.code, cities.len(), cities.contains(&&json!("Ely"))), (0, 4, false), "{restored:?}");
    assert_eq!(after["addresses"][1]["city"], "Utica");
}

#[test]
fn a_restore_removes_what_the_update_added_by_the_same_call() {
    let env = TestEnv::new();
    done(&env, &format!("{UPDATE} {NEW}"));
    env.requests();
    let restored = run(&env, "undo LAST --customer 1 -y --allow-delete 1");
    assert_eq!(env.requests(), ["GET 200", "DELETE 200", "GET 200"], "{restored:?}");
    assert_eq!((restored.code, ids(&stored(&env))), (0, vec![1, 2, 3, 4]), "{restored:?}");
}
