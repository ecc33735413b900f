//! Options of a Magento shop's attributes: the default option is there in the end, whatever happens on the way.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, program, run};
use crate::support::raw_http::ADMIN;
use crate::support::test_env::{TestEnv, log_count};

const ADD: &str = "attribute option add color --settle 1 --option Orange Pink";

/// The default option of `color`, and the labels of its options.
fn color(env: &TestEnv) -> (String, Vec<String>) {
    let reply = env.sandbox.call(ADMIN, "GET", "/rest/all/V1/products/attributes/color", "");
    let shown: Value = serde_json::from_str(&reply.body).unwrap();
    env.requests();
    let labels = shown["options"].as_array().unwrap()[1..].iter();
    let labels = labels.map(|option| option["label"].as_str().unwrap().to_owned()).collect();
    (shown["default_value"].as_str().unwrap().to_owned(), labels)
}

fn notes(env: &TestEnv) -> usize {
    log_count(&env.home, "SELECT count(*) FROM default_option")
}

/// A lost answer is found out by reading; no option is sent twice.
#[test]
fn after_lost_answers_the_default_is_there() {
    for faults in ["POST:reset-after-commitx1", "POST:reset-after-commitx2", "PUT:reset-after-commitx1"] {
        let env = TestEnv::with_faults(&[faults]);
        let added = program(&env, &format!("{ADD} -o json -q")).run();
        assert_eq!(added.code, 0, "{faults}: {added:?}");
        assert_eq!(env.requests().iter().filter(|request| request.starts_with("POST")).count(), 2);
        let (default, labels) = color(&env);
        assert_eq!((default.as_str(), labels.len()), ("49", 6), "{faults}");
        assert_eq!(notes(&env), 0);
    }
}

/// However many options are added: a read, a call for each, one that sets the default again, and a read.
#[test]
fn options_cost_one_request_each_and_three() {
    for (line, default) in [
        ("attribute option add color --option A B C D", "49"),
        // The answers tell the ids of new options.
        ("attribute option add color --option A B C D --default-option C", "173"),
    ] {
        let env = TestEnv::new();
        let added = done(&env, line);
        let requests = env.requests();
        assert_eq!(requests.len(), 4 + 3, "{line}: {requests:?}");
        assert_eq!(added["verified"], true, "{line}: {added}");
        let calls = added["calls"].as_array().unwrap().len();
        assert_eq!((calls, color(&env).0.as_str()), (4 + 1, default), "{line}: {added}");
    }
}

/// A default option that a shop refuses to set, and sets all the same.
#[test]
fn a_default_that_was_refused_but_set_is_told() {
    let env = TestEnv::with_faults(&["PUT:reject-after-commit=400"]);
    let error = fails(&env, 9, "attribute option default color Blue");
    assert_eq!((&error["applied"], color(&env).0.as_str()), (&json!("unknown"), "50"), "{error}");
    let env = TestEnv::with_faults(&["PUT:502-after-commitx2"]);
    let set = run(&env, "attribute option default color Blue");
    assert_eq!(set.code, 0, "{set:?}");
    let told = [r#""applied":"yes","verified":true"#, "verified as applied"];
    assert!(set.stdout.contains(told[0]) && set.stderr.contains(told[1]), "{set:?}");
}

/// Another option that a call loses is named, whatever the call was for.
#[test]
fn an_option_that_a_call_loses_is_a_mismatch() {
    for line in [
        "attribute option add color --option Orange --settle 1",
        "attribute option add color --option Orange Pink --settle 1",
        "attribute option default color Blue --settle 1",
    ] {
        let env = TestEnv::with_faults(&["lose=1"]);
        let error = fails(&env, 9, line);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("the attribute no longer has options[id="), "{line}: {error}");
    }
}

/// After a refusal the message names the label, and those that were not sent.
#[test]
fn the_refused_label_is_named_with_those_that_were_not_sent() {
    let env = TestEnv::new();
    env.sandbox.sql(
        "CREATE TRIGGER no BEFORE INSERT ON attribute_options WHEN NEW.body LIKE '%Pink%'
         BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    let error = fails(&env, 8, &format!("{ADD} Teal Lime"));
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("option `Pink`: "), "{error}");
    assert!(message.ends_with("; not sent: `Teal`, `Lime`"), "{error}");
}

/// What cannot be found out is unknown; the next command sets the default again.
#[test]
fn where_nothing_is_heard_any_more_the_next_command_sets_the_default() {
    let env = TestEnv::with_faults(&["PUT:reset-before-commitx1"]);
    let error = fails(&env, 8, &format!("{ADD} --retry 0"));
    assert_eq!((&error["applied"], &error["calls"][2]["applied"]), (&json!("unknown"), &json!("unknown")));
    assert_eq!((color(&env).0.as_str(), notes(&env)), ("", 1));
    let again = program(&env, &format!("{ADD} -q")).run();
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stderr.contains("lost the default option `Black` of `color`"), "{again:?}");
    assert_eq!((color(&env).0.as_str(), notes(&env)), ("49", 0));
}

/// A note is used only where the attribute has no default, and its option exists.
#[test]
fn a_default_that_somebody_else_has_chosen_stays() {
    let env = TestEnv::with_faults(&["PUT:reset-before-commitx1"]);
    fails(&env, 8, &format!("{ADD} --retry 0"));
    let body = r#"{"attribute": {"attribute_id": 93, "frontend_input": "select", "default_value": "50"}}"#;
    assert_eq!(env.sandbox.call(ADMIN, "PUT", "/rest/all/V1/products/attributes/color", body).status, 200);
    env.requests();
    let again = done(&env, ADD);
    assert_eq!((&again["applied"], &again["reason"]), (&json!("no"), &json!("unchanged")));
    assert_eq!(color(&env).0, "50");
    done(&env, "attribute option add color --option Teal");
    assert_eq!((color(&env).0.as_str(), notes(&env)), ("50", 0));
}

/// A refusal in the middle leaves what was added, and the default.
#[test]
fn after_a_refusal_the_default_is_there() {
    let env = TestEnv::new();
    env.sandbox.sql(
        "CREATE TRIGGER no BEFORE INSERT ON attribute_options WHEN NEW.body LIKE '%Pink%'
         BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    let error = fails(&env, 8, &format!("{ADD} Teal"));
    let calls: Vec<_> = error["calls"].as_array().unwrap().iter().collect();
    let said = |at: usize| (calls[at]["call"].as_str().unwrap(), calls[at]["applied"].as_str().unwrap());
    assert_eq!([said(0), said(1)], [("add Orange", "yes"), ("add Pink", "unknown")]);
    assert_eq!([said(2), said(3)], [("set the default Black", "yes"), ("add Teal", "no")]);
    let (default, labels) = color(&env);
    assert_eq!((default.as_str(), labels.len(), notes(&env)), ("49", 5, 1));
    env.sandbox.sql("DROP TRIGGER no");
    done(&env, &format!("{ADD} Teal"));
    assert_eq!((color(&env).0.as_str(), color(&env).1.len(), notes(&env)), ("49", 7, 0));
}

/// SIGKILL at random moments: in the end all options are there once, and so is the default.
#[test]
fn killed_at_random_moments_the_default_is_there_in_the_end() {
    let env = TestEnv::with_faults(&["latency=5"]);
    let labels: Vec<String> = (1..=12).map(|number| format!("No{number}")).collect();
    let line = format!("attribute option add color --option {} -q", labels.join(" "));
    let mut killed = 0;
    for wait in [30, 55, 80, 105, 130, 155] {
        let mut child = program(&env, &line).spawn_silent();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(killed > 0);
    let last = program(&env, &line).run();
    assert_eq!(last.code, 0, "{last:?}");
    let (default, shown) = color(&env);
    assert_eq!((default.as_str(), shown.len(), notes(&env)), ("49", 4 + labels.len(), 0));
}

/// Looks at what an earlier run has left: calls are missing, which a dry run counts and does not send.
fn found_in_part(env: &TestEnv, line: &str) {
    env.requests();
    let shown = program(env, &format!("{line} -n")).run();
    let requests = env.requests();
    assert!(requests.iter().all(|request| request.starts_with("GET")), "{requests:?} {shown:?}");
    assert!(shown.stderr.contains("1 record, nothing sent"), "{shown:?}");
}

/// A record of an unknown outcome whose options are there lacks the default, which the resumed run sets.
#[test]
fn on_resume_the_default_of_options_that_are_there_is_set() {
    let env = TestEnv::with_faults(&["PUT:reset-before-commitx1"]);
    env.file("in.csv", "attribute_code,label\ncolor,Orange\n");
    let line = "attribute option add -i in.csv -y --retry 0 --settle 1";
    let first = run(&env, line);
    assert_eq!((first.code, color(&env).0.as_str()), (8, ""), "{first:?}");
    found_in_part(&env, &format!("{line} --resume"));
    let second = run(&env, &format!("{line} --resume"));
    assert_eq!((second.code, color(&env).0.as_str()), (0, "49"), "{second:?}");
    assert_eq!((color(&env).1.len(), notes(&env)), (5, 0));
}

/// `attribute create` takes several options in a cell; here they would become one, with a bar in its label.
#[test]
fn a_row_of_several_options_is_refused() {
    let env = TestEnv::with_faults(&[]);
    env.file("in.csv", "code,option\ncolor,Orange|Pink\n");
    let refused = run(&env, "attribute option add -i in.csv -y");
    assert_eq!((refused.code, color(&env).1.len()), (2, 4), "{refused:?}");
    assert!(refused.stderr.contains("give each option its own row"), "{refused:?}");
}

/// After a creation the assignments that are missing are sent after a look.
#[test]
fn on_resume_an_attribute_is_assigned() {
    let env = TestEnv::with_faults(&[]);
    env.file("in.csv", "code,label,type,attribute_set\nfit,Fit,text,Default|Clothing\n");
    // The second assignment finds no attribute set any more.
    let line = "attribute create -i in.csv -y --settle 1";
    env.sandbox.sql(
        "CREATE TRIGGER no BEFORE INSERT ON attribute_assignments WHEN NEW.attribute_set_id = 9
        BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    let first = run(&env, line);
    assert_eq!(first.code, 8, "{first:?}");
    env.sandbox.sql("DROP TRIGGER no");
    found_in_part(&env, &format!("{line} --resume"));
    let second = run(&env, &format!("{line} --resume"));
    assert_eq!(second.code, 0, "{second:?}");
    let reply = env.sandbox.call(ADMIN, "GET", "/rest/V1/products/attribute-sets/9/attributes", "");
    assert!(reply.body.contains("\"fit\""), "{}", reply.body);
}

/// Rows of one attribute that follow each other are one record, for n + 3 requests.
#[test]
fn rows_of_one_attribute_are_one_record() {
    let env = TestEnv::new();
    env.file("in.csv", "attribute_code,label\ncolor,A\ncolor,B\ncolor,C\nsize,A\ncolor,D\n");
    let added = run(&env, "attribute option add -i in.csv -y --jobs 1");
    let lines: Vec<Value> = added.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls = |at: usize| lines[at]["calls"].as_array().unwrap().len();
    assert_eq!((added.code, lines.len()), (0, 3), "{added:?}");
    assert_eq!([calls(0), calls(1), calls(2)], [3 + 1, 1 + 1, 1 + 1], "{added:?}");
    assert_eq!(env.requests().len(), (3 + 3) + (1 + 3) + (1 + 3), "{added:?}");
    assert_eq!((color(&env).0.as_str(), color(&env).1.len()), ("49", 8));
    let again = run(&env, "attribute option add -i in.csv -y --resume");
    assert_eq!((again.code, env.requests().len()), (0, 0), "{again:?}");
    // What is wrong in one of the rows is named by its own line.
    env.file("wrong.csv", "attribute_code,label\ncolor,X\ncolor,Y|Z\n");
    let refused = run(&env, "attribute option add -i wrong.csv -y");
    assert_eq!((refused.code, env.requests().len()), (2, 0), "{refused:?}");
    assert!(refused.stderr.contains("line 3: "), "{refused:?}");
}

/// Rows of one label with labels of other store views are one option with all of them, or contradict each other.
#[test]
fn rows_of_one_label_are_one_option_with_all_labels() {
    let env = TestEnv::new();
    let sheet = |last: &str| {
        let rows = "color,Teal,Sarcelle,\ncolor,Lime,Citron vert,\n";
        format!("attribute_code,label,label:fr,label:de\n{rows}color, teal,{last}\n")
    };
    env.file("in.csv", sheet("Turquoise,"));
    let refused = run(&env, "attribute option add -i in.csv -y");
    assert_eq!((refused.code, color(&env).1.len()), (2, 4), "{refused:?}");
    let told = "the option `Teal` has two labels for the store view `fr`: `Sarcelle` and `Turquoise`";
    assert!(refused.stderr.contains(told), "{refused:?}");
    env.file("in.csv", sheet(",Petrol"));
    let added = run(&env, "attribute option add -i in.csv -y");
    assert_eq!((added.code, color(&env).1.len()), (0, 6), "{added:?}");
    for (view, label) in [("all", "Teal"), ("fr", "Sarcelle"), ("de", "Petrol")] {
        let path = format!("/rest/{view}/V1/products/attributes/color");
        let shown = env.sandbox.call(ADMIN, "GET", &path, "");
        assert!(shown.body.contains(&format!("\"label\":\"{label}\"")), "{view}: {}", shown.body);
    }
}

/// One label however it is written; labels that only look alike are named with both, and added where that is meant.
#[test]
fn labels_are_one_relation() {
    let env = TestEnv::new();
    done(&env, "attribute option add color --option Caf\u{e9} 5\u{b5}");
    let same = done(&env, "attribute option add color --option Cafe\u{301} ' BLACK '");
    assert_eq!((&same["applied"], &same["reason"]), (&json!("no"), &json!("unchanged")), "{same}");
    let alike = "attribute option add color --option 5\u{3bc}";
    let error = fails(&env, 2, alike);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("look alike") && message.contains("U+00B5 and U+03BC"), "{error}");
    done(&env, &format!("{alike} --force"));
    assert_eq!(color(&env).1.len(), 4 + 3);
    let error = fails(&env, 2, "attribute option add size --option 10\u{b2} 102");
    assert!(error["message"].as_str().unwrap().contains("`10\u{b2}` and `102`"), "{error}");
    let create = "attribute create --code fit --label Fit --type select --option";
    assert_eq!(fails(&env, 2, &format!("{create} Slim ' slim'"))["applied"], "no");
    assert_eq!(run(&env, &format!("{create} 10\u{b2} 102 --force")).code, 0);
}
