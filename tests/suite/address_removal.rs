//! An address that an administrator removes by a call of its own: nothing that is between a read and a PUT can be lost by it.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::{ADMIN, CUSTOMER, PROFILE, ids};
use crate::support::scripted::{methods, ok};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, after_a_minute, serve};

/// A customer of the sandbox whom an administrator names.
const UPDATE: &str = "customer update --customer 1 -y";

fn stored(env: &TestEnv) -> Value {
    let stored = env.sandbox.get(ADMIN, "/rest/V1/customers/1").json();
    env.requests();
    stored
}

/// What the newest updates of this machine became, the newest first.
fn outcomes(env: &TestEnv) -> Vec<String> {
    let listed = run(env, "customer history --customer 1").stdout;
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

/// The PUT still has the address that is to go, which is removed only after it was applied.
#[test]
fn what_else_changes_is_sent_before_the_removal() {
    let env = TestEnv::new();
    let line = format!("{UPDATE} --remove-address 1 --address 3 --city Tripoli --default-billing");
    let changed = done(&env, &line);
    assert_eq!(env.requests(), ["GET 200", "PUT 200", "DELETE 200", "GET 200"]);
    let calls: Vec<&str> =
        changed["calls"].as_array().unwrap().iter().map(|call| call["call"].as_str().unwrap()).collect();
    assert_eq!(calls, ["update", "remove address 1"]);
    let after = stored(&env);
    assert_eq!((ids(&after), &after["default_billing"]), (vec![2, 3, 4], &json!("3")), "{after}");
    assert_eq!(after["addresses"][1]["city"], "Tripoli");
    let restored = run(&env, "customer restore --customer 1 -y");
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

/// It is sent once more, and no third time.
#[test]
fn two_lost_answers_are_unknown() {
    let env = TestEnv::with_faults(&["DELETE:500-after-commit"]);
    let lost = fails(&env, 8, &format!("{UPDATE} --remove-address 3"));
    assert_eq!(env.requests(), ["GET 200", "DELETE 500", "DELETE 500"]);
    assert_eq!(lost["applied"], "unknown", "{lost}");
    assert_eq!(outcomes(&env), ["unknown"]);
    // It is gone, and the log names it.
    let again = run(&env, &format!("{UPDATE} --remove-address 3"));
    assert!(again.code == 0 && again.stdout.contains("unchanged"), "{again:?}");
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

/// A 404 of another server, or about something else, says nothing of the address.
#[test]
fn another_404_after_a_lost_answer_proves_nothing() {
    let page = answer("404 Not Found", "Content-Type: text/html\r\n", "<html>Not found</html>");
    for (second, code) in
        [(gone("addressId", 3), 0), (gone("customerId", 3), 8), (gone("addressId", 30), 8), (page, 8)]
    {
        let lost = answer("502 Bad Gateway", "", "");
        let script = vec![ok(&shop(&[1, 2, 3])), lost, second, ok(&shop(&[1, 2]))];
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
    let history = "--api magento customer history --customer 7 -o json";
    let history = serve(home.storefront(history), &server.url("")).run();
    assert!(history.stdout.contains(r#""outcome":"partial""#), "{history:?}");
    let restored = run("customer restore -n");
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

/// With such an address every PUT is refused, also one that leaves it out.
#[test]
fn an_address_that_locks_the_customer_is_removed_before_the_put() {
    let env = TestEnv::new();
    lock(&env);
    let freed = run(&env, &format!("{UPDATE} --remove-address 3 --address 2 --city Utica"));
    assert_eq!(env.requests(), ["GET 200", "DELETE 200", "GET 200", "GET 200", "PUT 200"], "{freed:?}");
    assert!(freed.stderr.contains("address 3 will be removed before anything else"), "{freed:?}");
    let result: Value = serde_json::from_str(&freed.stdout).unwrap();
    let calls = result["calls"].as_array().unwrap().iter().map(|call| &call["call"]).collect::<Vec<_>>();
    assert_eq!(calls, ["remove address 3", "update"]);
    assert_eq!((&result["applied"], &result["verified"]), (&json!("yes"), &json!(true)), "{result}");
    assert_eq!(result["addresses"]["removed"], json!([3]));
    assert_eq!(outcomes(&env), ["applied", "applied"]);
    assert_eq!(stored(&env)["addresses"][1]["city"], "Utica");
}

#[test]
fn what_was_removed_first_is_reported_where_the_put_is_refused() {
    let env = TestEnv::new();
    lock(&env);
    let line = format!("{UPDATE} --remove-address 3 --address 2 --country XX --no-region");
    let partial = run(&env, &line);
    let error = partial.error();
    assert_eq!((partial.code, &error["applied"]), (7, &json!("partial")), "{partial:?}");
    assert_eq!(outcomes(&env), ["refused", "partial"]);
    assert_eq!(ids(&stored(&env)), [1, 2, 4]);
    // The same line corrected.
    let corrected = run(&env, &format!("{UPDATE} --remove-address 3 --address 2 --city Utica"));
    assert_eq!(corrected.code, 0, "{corrected:?}");
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

/// Stored, they would block every later update of the customer.
#[test]
fn values_that_magento_2_4_8_refuses_are_warned_of_before_they_are_sent() {
    let env = TestEnv::new();
    let shown = run(&env, "customer update --customer 1 --address 2 --city 'St. Louis' -n");
    assert!(
        shown.code == 0 && shown.stderr.contains("`St. Louis` as city is refused by Magento 2.4.8"),
        "{shown:?}"
    );
    env.file("in.csv", "customer,address_id,telephone\n1,2,555.010.0100\n2,5,555-0100\n");
    let shown = run(&env, "customer update -i in.csv -n");
    assert_eq!(shown.stderr.matches("is refused by Magento 2.4.8").count(), 1, "{shown:?}");
    let shown = env.run("customer update --address 2 --city 'St. Louis' -n");
    assert!(!shown.stderr.contains("Magento"), "the marketplace is another service: {shown:?}");
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
    let line =
        format!("customer update --customer 1 --remove-address 3 --address 2 --city Utica --plan {plan}");
    assert_eq!(run(&env, &line).code, 0);
    env.requests();
    let first = run(&env, &format!("apply {plan} -y --retry 0"));
    assert_eq!(env.requests(), ["GET 200", "PUT 200", "DELETE 429"], "{first:?}");
    assert!(first.stdout.contains(r#""applied":"partial""#), "{first:?}");
    let second = run(&env, &format!("apply {plan} -y --resume"));
    assert_eq!((second.code, env.requests()), (0, words("GET_200 DELETE_200 GET_200")), "{second:?}");
    assert_eq!(ids(&stored(&env)), [1, 2, 4]);
}

#[test]
fn a_record_of_a_batch_is_completed_by_the_next_run() {
    let env = TestEnv::with_faults(&["DELETE:429x1"]);
    let record = json!([{"customer": 1, "addresses": [{"id": 1}, {"id": 2, "city": "Utica"}, {"id": 3}]}]);
    env.file("in.json", record.to_string());
    let line = "customer update -i in.json --replace-addresses --allow-delete 1 -y";
    let first = run(&env, &format!("{line} --retry 0"));
    assert_eq!(env.requests(), ["GET 200", "PUT 200", "DELETE 429"], "{first:?}");
    // As if it had been killed after the PUT: the log says what left, and the rest is sent without a further flag.
    let journal = env.home.dir.path().join("in.json.journal");
    let text = std::fs::read_to_string(&journal).unwrap();
    let kept: Vec<&str> = text.lines().take_while(|line| !line.contains(r#""failed""#)).collect();
    assert!(kept.last().unwrap().contains("sending") && kept.len() < text.lines().count(), "{text}");
    std::fs::write(&journal, kept.join("\n") + "\n").unwrap();
    let looked = run(&env, &format!("{line} --resume"));
    assert_eq!((looked.code, env.requests()), (5, words("GET_200")), "a look sends nothing: {looked:?}");
    assert!(looked.stdout.contains(r#""applied":"partial""#), "{looked:?}");
    let second = run(&env, &format!("{line} --resume"));
    assert_eq!((second.code, env.requests()), (0, words("GET_200 DELETE_200 GET_200")), "{second:?}");
    assert_eq!(ids(&stored(&env)), [1, 2, 3]);
}

/// A list that keeps all addresses of that customer but these, and adds one, for `--replace-addresses`.
fn all_but(left_out: &[i64], is_default: bool) -> Value {
    let kept = (1..=4).filter(|id| !left_out.contains(id)).map(|id| json!({"id": id}));
    let mut new = json!({"firstname": "Z", "lastname": "Y", "street": ["x"], "city": "Ely", "postcode": "10118",
        "country_id": "US", "region": {"region_code": "NY"}, "telephone": "5550100"});
    if is_default {
        new["default_billing"] = true.into();
    }
    json!({"addresses": kept.chain([new]).collect::<Vec<_>>()})
}

/// What the PUT had added is there, under an id that the record cannot name: it stays, and is not added once more.
#[test]
fn a_record_whose_put_had_added_an_address_is_completed_and_adds_nothing_again() {
    for times in [1, 2] {
        let env = TestEnv::with_faults(&[&format!("DELETE:429x{times}")]);
        let mut record = all_but(&[2, 4], true);
        record["customer"] = 1.into();
        env.file("in.json", json!([record]).to_string());
        let line = "customer update -i in.json --replace-addresses --allow-delete 2 -y --retry 0";
        let first = run(&env, line);
        assert_eq!(env.requests(), words("GET_200 GET_200 PUT_200 DELETE_429"), "{first:?}");
        let mut last = first;
        for _ in 0..times {
            last = run(&env, &format!("{line} --resume"));
            let requests = env.requests();
            assert!(!requests.iter().any(|request| request.starts_with("PUT")), "{requests:?} {last:?}");
            assert!(last.stderr.contains("only the removals that are left"), "{requests:?} {last:?}");
        }
        let after = stored(&env);
        let city = &after["addresses"][2]["city"];
        assert_eq!((last.code, ids(&after).len(), city), (0, 3, &json!("Ely")), "{last:?}");
        assert_eq!(after["default_billing"], json!(after["addresses"][2]["id"].to_string()));
        // The profile is as it is to be.
        env.file("one.json", all_but(&[2, 4], true).to_string());
        let again = run(&env, &format!("{UPDATE} -i one.json --replace-addresses"));
        assert!(again.code == 0 && again.stdout.contains("unchanged"), "{again:?}");
    }
}

#[test]
fn a_plan_that_replaces_the_list_is_completed_and_adds_nothing_again() {
    let env = TestEnv::with_faults(&["DELETE:429x1"]);
    let plan = env.home.path("a.plan").display().to_string();
    env.file("one.json", all_but(&[3], false).to_string());
    let line = format!("{UPDATE} -i one.json --replace-addresses --allow-delete 1 --plan {plan}");
    let planned = run(&env, &line);
    assert_eq!(planned.code, 0, "{planned:?}");
    let first = run(&env, &format!("apply {plan} -y --retry 0"));
    assert!(first.stdout.contains(r#""applied":"partial""#), "{first:?}");
    env.requests();
    let second = run(&env, &format!("apply {plan} -y --resume"));
    let requests = env.requests();
    assert!(!requests.iter().any(|request| request.starts_with("PUT")), "{requests:?} {second:?}");
    assert_eq!((second.code, ids(&stored(&env)).len()), (0, 4), "{second:?}");
}

#[test]
fn another_update_after_one_that_was_sent_in_part_is_merged_as_a_whole() {
    let env = TestEnv::with_faults(&["DELETE:429x1"]);
    env.file("one.json", all_but(&[3], false).to_string());
    let line = format!("{UPDATE} -i one.json --replace-addresses --retry 0");
    assert_eq!(run(&env, &format!("{line} --allow-delete 1")).code, 7);
    let all: Vec<Value> = ids(&stored(&env)).into_iter().map(|id| json!({"id": id})).collect();
    env.file("one.json", json!({"addresses": all, "firstname": "Other"}).to_string());
    let other = done(&env, &line);
    assert_eq!((&other["addresses"]["removed"], ids(&stored(&env)).len()), (&json!([]), 5), "{other}");
}

/// What was removed before counts: the number is that of the whole update.
#[test]
fn an_update_that_is_repeated_after_one_of_its_removals_counts_that_one() {
    let home = Home::new();
    let shop = |left: &[i64]| {
        let mut shop = shop(left);
        // With a digit the city would be refused, and the address removed before the PUT.
        shop["addresses"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|address| address["city"] = "Paris".into());
        shop
    };
    let mut new = shop(&[1])["addresses"][0].clone();
    new["city"] = "Ely".into();
    let mut draft = new.clone();
    draft.as_object_mut().unwrap().retain(|name, _| name != "id" && name != "customer_id");
    new["id"] = 4.into();
    let with_new = |left: &[i64]| {
        let mut shop = shop(left);
        shop["addresses"].as_array_mut().unwrap().push(new.clone());
        shop
    };
    let input = home.path("one.json");
    std::fs::create_dir_all(input.parent().unwrap()).unwrap();
    std::fs::write(&input, json!({"addresses": [{"id": 1}, draft]}).to_string()).unwrap();
    let refused = answer("400 Bad Request", "", r#"{"message": "no"}"#);
    let put = vec![ok(&shop(&[1, 2, 3])), ok(&with_new(&[1, 2, 3]))];
    let first = [put, vec![ok(&json!(true)), refused, ok(&with_new(&[1, 3]))]].concat();
    let second = vec![ok(&with_new(&[1, 3])), ok(&json!(true)), ok(&with_new(&[1]))];
    let server = MockServer::start([first, second].concat());
    let update = |flags: &str| {
        let input = input.display();
        let line = format!(
            "--api magento customer update -i {input} --replace-addresses {flags} --customer 7 -y --settle 0 -q -o json"
        );
        serve(home.storefront(&line), &server.url("")).run()
    };
    let partial = update("--allow-delete 2");
    assert_eq!(partial.code, 7, "{partial:?}");
    let completed = update("--allow-delete 2");
    assert_eq!(methods(&server), words("GET PUT DELETE DELETE GET GET DELETE GET"), "{completed:?}");
    assert_eq!(completed.code, 0, "{completed:?}");
}

/// Each run of the same file is an update of its own, whatever an earlier one has removed.
#[test]
fn a_list_that_is_applied_again_and_again_is_completed_by_its_newest_run() {
    let home = Home::new();
    let refused = answer("400 Bad Request", "", r#"{"message": "no"}"#);
    let first = vec![ok(&shop(&[1, 2])), ok(&json!(true)), ok(&shop(&[1]))];
    let second = vec![ok(&shop(&[1, 3, 4])), ok(&json!(true)), refused, ok(&shop(&[1, 4]))];
    let third = vec![ok(&shop(&[1, 4])), ok(&json!(true)), ok(&shop(&[1]))];
    let server = MockServer::start([first, second, third].concat());
    let input = home.path("one.json");
    std::fs::create_dir_all(input.parent().unwrap()).unwrap();
    std::fs::write(&input, json!({"addresses": [{"id": 1}]}).to_string()).unwrap();
    let codes = [1, 2, 2].map(|allowed| {
        let line = format!(
            "--api magento customer update -i {} --replace-addresses --allow-delete {allowed} --customer 7 -y \
             --settle 0 --retry 0 -q -o json",
            input.display()
        );
        serve(home.storefront(&line), &server.url("")).run().code
    });
    assert_eq!(codes, [0, 7, 0]);
    assert_eq!(methods(&server), words("GET DELETE GET GET DELETE DELETE GET GET DELETE GET"));
}

/// To merge it once more would delete the address that it had added, and one that others have added since.
#[test]
fn an_update_that_was_sent_in_part_names_what_is_left_where_others_have_changed_the_list() {
    for adds in [false, true] {
        let env = TestEnv::with_faults(&["DELETE:429x1"]);
        env.file("one.json", all_but(&[3], false).to_string());
        let line = format!("{UPDATE} -i one.json --replace-addresses --retry 0 --allow-delete");
        assert_eq!(run(&env, &format!("{line} 1")).code, 7);
        let mut customer = stored(&env);
        let mut address = customer["addresses"][4].clone();
        address["city"] = "Utica".into();
        if adds {
            address.as_object_mut().unwrap().shift_remove("id");
            customer["addresses"].as_array_mut().unwrap().push(address);
        } else {
            customer["addresses"][4] = address;
        }
        let body = json!({"customer": customer}).to_string();
        assert_eq!(env.sandbox.call(ADMIN, "PUT", "/rest/V1/customers/1", &body).status, 200);
        let mut left = ids(&stored(&env));
        for count in 1..=3 {
            let refused = fails(&env, 3, &format!("{line} {count}"));
            assert!(env.requests().iter().all(|request| request.starts_with("GET")), "{refused}");
            let (message, hint) = (refused["message"].as_str().unwrap(), refused["hint"].as_str().unwrap());
            assert!(message.contains("address 3 is left to remove"), "{refused}");
            assert!(
                hint.contains("`storefront customer update --customer 1 --remove-address 3`"),
                "{refused}"
            );
        }
        done(&env, &format!("{UPDATE} --remove-address 3"));
        left.retain(|id| *id != 3);
        assert_eq!(ids(&stored(&env)), left);
    }
}

/// What somebody else makes of the stored customer: address `gone` is removed, and the list goes through `edit`.
fn others(env: &TestEnv, gone: i64, edit: impl Fn(&mut Vec<Value>)) -> Value {
    env.sandbox.call(ADMIN, "DELETE", &format!("/rest/V1/addresses/{gone}"), "");
    let mut customer = stored(env);
    edit(customer["addresses"].as_array_mut().unwrap());
    let body = json!({"customer": customer}).to_string();
    assert_eq!(env.sandbox.call(ADMIN, "PUT", "/rest/V1/customers/1", &body).status, 200);
    after_a_minute(&env.home);
    stored(env)
}

/// The number of deletions was meant for the address that is gone, and not for the one that the PUT had added.
#[test]
fn an_update_of_which_no_removal_is_left_is_done_where_others_have_changed_what_it_added() {
    for is_batch in [false, true] {
        let env = TestEnv::with_faults(&["DELETE:429x1"]);
        let mut record = all_but(&[4], false);
        env.file("one.json", record.to_string());
        record["customer"] = 1.into();
        env.file("in.json", json!([record]).to_string());
        let which = if is_batch { "-i in.json" } else { "-i one.json --customer 1" };
        let line = format!("customer update {which} --replace-addresses --allow-delete 1 -y --retry 0");
        let partial = run(&env, &line);
        assert_ne!(partial.code, 0, "{partial:?}");
        let before = others(&env, 4, |addresses| {
            addresses[3]["telephone"] = "999999".into();
            addresses[3]["default_billing"] = true.into();
        });
        let again = run(&env, &format!("{line}{}", if is_batch { " --resume" } else { "" }));
        let requests = env.requests();
        assert_eq!(stored(&env), before, "{requests:?} {again:?}");
        assert!(requests.iter().all(|request| request.starts_with("GET")), "{requests:?} {again:?}");
        assert_eq!(again.code, 0, "{again:?}");
        assert!(again.stderr.contains("address 4 was removed already"), "{again:?}");
        assert!(again.stderr.contains("nothing of it is left to send"), "{again:?}");
    }
}

/// An address that others have added takes the place of one that they removed in the number of deletions.
#[test]
fn what_is_left_of_an_update_deletes_no_address_that_others_have_added() {
    let env = TestEnv::with_faults(&["DELETE:429x1"]);
    env.file("one.json", json!({"addresses": [{"id": 1}, {"id": 2, "city": "Utica"}]}).to_string());
    let line = format!("{UPDATE} -i one.json --replace-addresses --retry 0 --allow-delete 2");
    assert_eq!(fails(&env, 7, &line)["applied"], "partial");
    let before = others(&env, 3, |addresses| {
        let mut address = addresses[0].clone();
        for name in ["id", "default_billing", "default_shipping"] {
            address.as_object_mut().unwrap().shift_remove(name);
        }
        address["city"] = "Ely".into();
        addresses.push(address);
    });
    let again = run(&env, &line);
    let requests = env.requests();
    let mut left = ids(&before);
    left.retain(|id| *id != 4);
    assert_eq!((again.code, ids(&stored(&env))), (0, left), "{requests:?} {again:?}");
    assert!(!requests.iter().any(|request| request.starts_with("PUT")), "{requests:?} {again:?}");
}

/// Nothing tells whether the update is meant again or what is left of it: it deletes no address that it did not know.
#[test]
fn an_update_that_was_sent_in_part_is_refused_where_later_updates_have_changed_what_it_added() {
    let env = TestEnv::with_faults(&["DELETE:429x1"]);
    env.file("one.json", all_but(&[4], false).to_string());
    let line = format!("{UPDATE} -i one.json --replace-addresses --retry 0 --allow-delete 1");
    assert_eq!(fails(&env, 7, &line)["applied"], "partial");
    done(&env, &format!("{UPDATE} --remove-address 4"));
    let new = *ids(&stored(&env)).last().unwrap();
    for edit in ["--telephone 999999", "--default-billing"] {
        done(&env, &format!("{UPDATE} --address {new} {edit}"));
        let before = stored(&env);
        let again = run(&env, &line);
        assert_eq!((again.code, stored(&env)), (3, before), "{again:?}");
        let error = again.error();
        let (message, hint) = (error["message"].as_str().unwrap(), error["hint"].as_str().unwrap());
        assert!(message.contains(&format!("would delete address {new}")), "{error}");
        assert!(hint.contains(&format!("name address {new} in the list")), "{error}");
        assert!(!hint.contains("--remove-address"), "{error}");
    }
    // Then it is meant again, and whole runs of it are repeated as ever.
    assert_eq!(run(&env, &format!("{UPDATE} --remove-address {new}")).code, 0);
    assert_eq!(done(&env, &line)["addresses"]["added"], 1);
    let new = *ids(&stored(&env)).last().unwrap();
    done(&env, &format!("{UPDATE} --address {new} --telephone 999999"));
    assert_eq!(done(&env, &line)["addresses"]["removed"], json!([new]));
}

#[test]
fn an_update_that_was_sent_in_part_names_what_is_left_after_later_updates() {
    let env = TestEnv::with_faults(&["DELETE:429x1"]);
    env.file("one.json", all_but(&[4], false).to_string());
    let line = format!("{UPDATE} -i one.json --replace-addresses --retry 0 --allow-delete");
    assert_eq!(run(&env, &format!("{line} 1")).code, 7);
    done(&env, &format!("{UPDATE} --address 2 --city Utica"));
    for count in [1, 2] {
        let refused = fails(&env, 3, &format!("{line} {count}"));
        let (message, hint) = (refused["message"].as_str().unwrap(), refused["hint"].as_str().unwrap());
        assert!(message.contains("address 4 is left to remove"), "{refused}");
        assert!(hint.contains("`storefront customer update --customer 1 --remove-address 4`"), "{refused}");
    }
    assert_eq!(ids(&stored(&env)), [1, 2, 3, 4, 13]);
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
    let restored = run(&env, "customer restore 1 --customer 1 -y --allow-delete 1");
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
    let restored = run(&env, "customer restore --customer 1 -y --allow-delete 1");
    assert_eq!(env.requests(), ["GET 200", "DELETE 200", "GET 200"], "{restored:?}");
    assert_eq!((restored.code, ids(&stored(&env))), (0, vec![1, 2, 3, 4]), "{restored:?}");
}
