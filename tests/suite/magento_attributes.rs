//! Attributes of a Magento shop: never overwritten, and verified after a lost response.

use serde_json::json;
use snapbox::str;

use crate::cart_reports::{JSON, impatient, json as json_reply, on};
use crate::support::magento::{self, done, program, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::Outcome;
use crate::support::test_env::TestEnv;

const CREATE: &str =
    "attribute create --code fabric --label Fabric --type select --option Wool --option Silk";

#[test]
fn an_attribute_is_created_and_shown() {
    let env = TestEnv::new();
    program(&env, &format!("{CREATE} -q")).run().assert_success(str!["Created attribute fabric (id 145)"]);
    assert_eq!(env.requests(), ["GET 404", "POST 200"]);
    let shown = done(&env, "attribute show fabric");
    assert_eq!((&shown["attribute_code"], &shown["options"][1]["label"]), (&json!("fabric"), &json!("Wool")));
    program(&env, "attribute show fabric").run().assert_success(str![[r#"
Label       Fabric
Code        fabric
Input type  select
Required    no
Filterable  no
Searchable  no

OPTION
Wool
Silk
"#]]);
}

#[test]
fn an_attribute_that_the_shop_does_not_have_is_named() {
    let env = TestEnv::new();
    let message = "the shop has no attribute `nosuch`";
    program(&env, "attribute show nosuch").run().assert_failure(
        2,
        str![[r#"
error: the shop has no attribute `nosuch`
  hint: check the code: `storefront attribute list` lists the attributes, and `storefront attribute create` creates one
"#]],
    );
    for line in [
        "attribute show nosuch",
        "attribute option add nosuch --option A -y",
        "attribute option default nosuch A",
    ] {
        assert_eq!(magento::fails(&env, 2, line)["message"], message, "{line}");
    }
    let profile = "[profiles.shop]\nbase-url = \"URL\"\n[profiles.shop.read]\n\
                   attribute-path = \"/rest/V1/products/attributes/{code}\"\n";
    env.home.write("config.toml", profile.replace("URL", &env.url()), 0o600);
    env.run("attribute show nosuch -p shop").assert_failure(
        2,
        str![[r#"
error: the shop has no attribute `nosuch`
  hint: check the code and `read.attribute-path`; `storefront -p shop attribute create` creates an attribute
"#]],
    );
}

/// Some members of the family update an attribute of the same code instead of refusing.
#[test]
fn an_existing_code_is_never_sent() {
    let env = TestEnv::with_faults(&["silent-update"]);
    done(&env, CREATE);
    env.requests();
    let line = "attribute create --code fabric --label Other --type text";
    program(&env, line).run().assert_failure(
        4,
        str![[r#"
error: attribute `fabric` already exists
  hint: `storefront attribute show fabric` prints it; choose another code for a new attribute
"#]],
    );
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn after_a_lost_reply_an_attribute_that_exists_as_asked_is_done() {
    let env = TestEnv::with_faults(&["POST:reset-after-commit"]);
    program(&env, CREATE).run().assert(
        0,
        str!["attribute create: done"],
        str![[r#"
attribute create: host 127.0.0.1:[PORT]
warning: the connection to 127.0.0.1:[PORT] was lost before a response arrived: [..]; verified as applied
"#]],
    );
    assert_eq!(env.requests().iter().filter(|request| request.starts_with("POST")).count(), 1);
}

#[test]
fn on_resume_an_attribute_that_exists_as_asked_is_done() {
    let env = TestEnv::with_faults(&["POST:htmlx2"]);
    let profile = |read: &str| format!("[profiles.shop]\nbase-url = \"{}\"\n{read}", env.url());
    env.home.write("config.toml", profile(""), 0o600);
    let attribute = |code: &str| {
        json!({"attribute_code": code, "frontend_input": "text", "entity_type_id": "4", "is_required": false,
            "default_frontend_label": code})
    };
    env.file("new.ndjson", format!("{}\n{}\n", attribute("fabric"), attribute("weave")));
    let line = "attribute create -i new.ndjson -y -p shop --jobs 1 -q -o json";
    let first = env.run(line);
    assert_eq!((first.code, first.stdout.matches(r#""applied":"unknown""#).count()), (8, 4), "{first:?}");
    // The second attribute was changed meanwhile.
    let other = json!({"attribute": {"attribute_id": 146, "default_frontend_label": "Other"}}).to_string();
    let token = crate::support::raw_http::ADMIN;
    assert_eq!(env.sandbox.call(token, "PUT", "/rest/V1/products/attributes/weave", &other).status, 200);
    let read = "[profiles.shop.read]\nattribute-path = \"/rest/V1/products/attributes/{code}\"\n";
    env.home.write("config.toml", profile(read), 0o600);
    env.requests();
    let second = env.run(&format!("{line} --resume"));
    assert_eq!(second.code, 8, "{second:?}");
    let lines: Vec<&str> = second.stdout.lines().collect();
    assert!(lines[0].contains(r#""applied":"yes","reason":"done earlier","verified":true"#), "{second:?}");
    assert!(lines[1].contains(r#""applied":"unknown""#), "{second:?}");
    assert_eq!(env.requests(), ["GET 200", "GET 200"]);
    assert_eq!(env.done("attribute show fabric -p shop")["attribute_code"], "fabric");
}

#[test]
fn on_resume_an_attribute_with_another_label_or_option_is_not_done() {
    let env = TestEnv::with_faults(&["POST:htmlx3"]);
    let profile = |read: &str| format!("[profiles.shop]\nbase-url = \"{}\"\n{read}", env.url());
    env.home.write("config.toml", profile(""), 0o600);
    let attribute = |code: &str| {
        json!({"attribute_code": code, "frontend_input": "select", "default_frontend_label": code,
            "frontend_labels": [{"store_id": 2, "label": "Tissu"}],
            "options": [{"label": "Wool", "sort_order": 1}, {"label": "Silk", "sort_order": 2, "is_default": true}]})
    };
    let records = ["fabric", "weave", "yarn"].map(|code| format!("{}\n", attribute(code)));
    env.file("new.ndjson", records.concat());
    let line = "attribute create -i new.ndjson -y -p shop --jobs 1 -q -o json";
    assert_eq!(env.run(line).code, 8);
    let mut options = attribute("yarn")["options"].clone();
    options[1]["label"] = "Linen".into();
    for (code, changed) in [
        ("weave", json!({"attribute_id": 146, "default_frontend_label": "Weaving"})),
        ("yarn", json!({"attribute_id": 147, "options": options})),
    ] {
        let (path, body) = (format!("/rest/V1/products/attributes/{code}"), json!({ "attribute": changed }));
        let token = crate::support::raw_http::ADMIN;
        assert_eq!(env.sandbox.call(token, "PUT", &path, &body.to_string()).status, 200);
    }
    let read = "[profiles.shop.read]\nattribute-path = \"/rest/V1/products/attributes/{code}\"\n";
    env.home.write("config.toml", profile(read), 0o600);
    let second = env.run(&format!("{line} --resume"));
    let lines: Vec<&str> = second.stdout.lines().collect();
    assert!(lines[0].contains(r#""applied":"yes","reason":"done earlier","verified":true"#), "{second:?}");
    assert!(lines[1..].iter().all(|line| line.contains(r#""applied":"unknown""#)), "{second:?}");
}

#[test]
fn the_marketplace_has_no_read_without_a_setting() {
    let env = TestEnv::new();
    env.run("attribute show fabric").assert_failure(
        2,
        str![[r#"
error: the interface `marketplace` does not support reading attributes
  hint: set `read.attribute-path` in the profile to the path that shows it
"#]],
    );
}

/// All refusals are 401, and the parameter names the missing permission.
#[test]
fn a_missing_permission_is_named_and_stops_a_batch() {
    let env = TestEnv::new();
    let refused = program(&env, CREATE).env("STOREFRONT_ADMIN_TOKEN", "sandbox-customer-1").run();
    refused.assert_failure(6, str![[r#"
error: the service answered 401 Unauthorized: The consumer isn't authorized to access Magento_Catalog::attributes_attributes
  hint: the token has expired or lacks the permission `Magento_Catalog::attributes_attributes`: renew the token where it comes from, or grant the permission; an integration's token must be allowed as a standalone Bearer token (the token is from the environment variable STOREFRONT_ADMIN_TOKEN)
"#]]);
    env.file(
        "new.ndjson",
        "{\"attribute_code\":\"a\",\"frontend_input\":\"text\",\"default_frontend_label\":\"A\"}\n".repeat(3),
    );
    env.requests();
    let outcome = program(&env, "attribute create -i new.ndjson -y --jobs 1")
        .env("STOREFRONT_ADMIN_TOKEN", "sandbox-customer-1")
        .run();
    assert_eq!(env.requests().len(), 1, "{outcome:?}");
    outcome.assert(6, str!["line 1: failed temporarily: the service answered 401 Unauthorized: The consumer isn't authorized to access Magento_Catalog::attributes_attributes"], str![[r#"
warning: lines 2, 3: duplicate attribute code `a`
attributes are written one at a time
attribute create: 3 records: 0 done, 1 failed temporarily, 2 not sent ([DURATION])
error: the service answered 401 Unauthorized: The consumer isn't authorized to access Magento_Catalog::attributes_attributes
  hint: the token has expired or lacks the permission `Magento_Catalog::attributes_attributes`: renew the token where it comes from, or grant the permission; an integration's token must be allowed as a standalone Bearer token (the token is from the environment variable STOREFRONT_ADMIN_TOKEN); resume with `storefront resume 1`
"#]]);
    assert_eq!(run(&env, "attribute show fabric").code, 2);
}

/// The attributes that a search for a place in a set finds.
fn found(codes: &[&str]) -> Step {
    let items: Vec<_> = codes.iter().map(|code| json!({"attribute_code": code})).collect();
    json_reply(&json!({"total_count": items.len(), "items": items}))
}

/// Its other changes would not reach the attribute.
#[test]
fn a_created_attribute_whose_record_was_changed_is_left_to_a_person() {
    let list = |kind: &str, (id, name): (u32, &str)| {
        let item = json!({format!("attribute_{kind}_id"): id, format!("attribute_{kind}_name"): name});
        json_reply(&json!({"items": [item]}))
    };
    let names = || [list("set", (4, "Default")), list("group", (7, "Details"))];
    let fit = json!({"attribute_id": 145, "attribute_code": "fit", "frontend_input": "text", "default_frontend_label": "Fit"});
    let refused = |status: &str| answer(status, JSON, r#"{"message": "no"}"#);
    for label in ["Fit", "Fitting"] {
        let none = answer("404 Not Found", JSON, r#"{"message": "No such entity with attributeCode = fit"}"#);
        let first = [none, json_reply(&fit), refused("400 Bad Request"), found(&[])];
        let again = [json_reply(&fit), json_reply(&json!("4")), found(&["fit"])];
        let script = names().into_iter().chain(first).chain(names()).chain(again);
        let server = MockServer::start(script.collect());
        let home = impatient(&server);
        let file = home.dir.path().join("a.csv");
        let csv =
            "attribute_code,frontend_input,default_frontend_label,attribute_set\nfit,text,LABEL,Default\n";
        std::fs::write(&file, csv.replace("LABEL", "Fit")).unwrap();
        let outcome = on(&home, &server, "attribute create -i a.csv -y");
        assert!(outcome.code == 7 && outcome.stdout.contains(r#""applied":"partial""#), "{outcome:?}");
        std::fs::write(&file, csv.replace("LABEL", label)).unwrap();
        let before = server.requests().len();
        let outcome = on(&home, &server, "attribute create -i a.csv -y --resume");
        let sent = server.requests().split_off(before);
        let posts = sent.iter().filter(|request| request.starts_with("POST")).count();
        if label == "Fit" {
            assert_eq!((outcome.code, posts), (0, 1), "{outcome:?} {sent:?}");
            continue;
        }
        assert_eq!((outcome.code, posts), (7, 0), "{outcome:?} {sent:?}");
        assert!(outcome.stdout.contains(r#""applied":"partial""#), "{outcome:?}");
        let noted = on(&home, &server, "attribute create -i a.csv -y --resume --mark-done=2");
        let sent = server.requests().split_off(before);
        assert_eq!(noted.code, 0, "{noted:?}");
        assert!(sent.iter().all(|request| request.starts_with("GET")), "{sent:?}");
    }
}

/// Two sets, each with a group; the second assignment is refused. Then the record is corrected, and the run resumed.
fn assigned_in_part(operation: &str, table: &str, first: Vec<Step>) -> (Outcome, Vec<String>) {
    let list = |items: serde_json::Value| json_reply(&json!({"items": items}));
    let sets = || {
        list(
            json!([{"attribute_set_id": 4, "attribute_set_name": "A"}, {"attribute_set_id": 9, "attribute_set_name": "B"}]),
        )
    };
    let groups = |id: &str| list(json!([{"attribute_group_id": id, "attribute_group_name": "G"}]));
    let shown =
        || json_reply(&json!({"attribute_id": 93, "attribute_code": "size", "frontend_input": "select"}));
    let refused = answer("400 Bad Request", JSON, r#"{"message": "no"}"#);
    let names = || vec![sets(), groups("7"), groups("8")];
    let done = || json_reply(&json!("1"));
    let there = || found(&["size"]);
    let sent = vec![done(), there(), refused, found(&[])];
    let again = vec![shown(), there(), found(&[]), done(), there()];
    let script = [names(), first, sent, names(), again];
    let server = MockServer::start(script.concat());
    let home = impatient(&server);
    let file = home.dir.path().join("sets.csv");
    let line = format!("{operation} -i sets.csv -y");
    std::fs::write(&file, table).unwrap();
    let outcome = on(&home, &server, &line);
    assert!(outcome.stdout.contains(r#""applied":"partial""#), "{outcome:?}");
    let before = server.requests().len();
    std::fs::write(&file, table.replace("B/G", "B/g")).unwrap();
    let resumed = on(&home, &server, &format!("{line} --resume"));
    (resumed, server.requests().split_off(before))
}

#[test]
fn a_corrected_record_assigns_what_is_missing_but_does_not_create_again() {
    let shown =
        json_reply(&json!({"attribute_id": 93, "attribute_code": "size", "frontend_input": "select"}));
    let table = "attribute_code,attribute_set\nsize,A/G|B/G\n";
    let looks = || found(&[]);
    let (resumed, requests) = assigned_in_part("attribute assign", table, vec![shown, looks(), looks()]);
    let posts = requests.iter().filter(|request| request.starts_with("POST")).count();
    assert_eq!((resumed.code, posts), (0, 1), "{resumed:?} {requests:?}");

    let none = answer("404 Not Found", JSON, r#"{"message": "No such entity with attributeCode = size"}"#);
    let created =
        json_reply(&json!({"attribute_id": 93, "attribute_code": "size", "frontend_input": "text"}));
    let table =
        "attribute_code,frontend_input,default_frontend_label,attribute_set\nsize,text,Size,A/G|B/G\n";
    let (resumed, requests) = assigned_in_part("attribute create", table, vec![none, created]);
    let posts = requests.iter().filter(|request| request.starts_with("POST")).count();
    assert_eq!((resumed.code, posts), (7, 0), "{resumed:?} {requests:?}");
    assert!(resumed.stdout.contains("the record has changed since"), "{resumed:?}");
}

/// The answer to the creation is lost, and the assignment is refused: the resumed run knows that the attribute is ours.
#[test]
fn an_attribute_whose_creation_was_verified_is_assigned_by_the_resumed_run() {
    let list = |items: serde_json::Value| json_reply(&json!({"items": items}));
    let sets = || list(json!([{"attribute_set_id": 4, "attribute_set_name": "A"}]));
    let groups = || list(json!([{"attribute_group_id": "7", "attribute_group_name": "G"}]));
    let shown = || {
        json_reply(&json!({"attribute_id": 93, "attribute_code": "size", "frontend_input": "text",
            "default_frontend_label": "Size", "is_required": false}))
    };
    let none = answer("404 Not Found", JSON, r#"{"message": "No such entity with attributeCode = size"}"#);
    let refused = answer("400 Bad Request", JSON, r#"{"message": "no"}"#);
    let first = vec![sets(), groups(), none, Step::Close, shown(), shown(), shown(), refused, found(&[])];
    let second = vec![sets(), groups(), shown(), json_reply(&json!("1")), found(&["size"])];
    let server = MockServer::start([first, second].concat());
    let home = impatient(&server);
    let table = "attribute_code,frontend_input,default_frontend_label,attribute_set\nsize,text,Size,A/G\n";
    std::fs::write(home.dir.path().join("sets.csv"), table).unwrap();
    let outcome = on(&home, &server, "attribute create -i sets.csv -y");
    assert!(outcome.stdout.contains(r#""applied":"partial""#), "{outcome:?}");
    assert!(
        outcome.stdout.contains("the attribute was created, but not put into all of its sets"),
        "{outcome:?}"
    );
    let resumed = on(&home, &server, "attribute create -i sets.csv -y --resume");
    assert_eq!(resumed.code, 0, "{resumed:?}");
    let requests = server.requests();
    assert_eq!(requests.iter().filter(|request| request.starts_with("POST")).count(), 3, "{requests:?}");
}

/// Without `/rest` in the base URL the shop answers a read with a page, and a write with a redirect to its own pages.
#[test]
fn a_batch_at_a_wrong_base_url_sends_nothing_and_can_be_resumed() {
    let page = || answer("404 Not Found", "Content-Type: text/html\r\n", "<html>Not found</html>");
    let moved = || answer("302 Found", "Location: /\r\n", "");
    for (line, table, script, code) in [
        (
            "attribute create",
            "code,type,label\na,text,A\nb,text,B\nc,text,C\nd,text,D\n",
            page as fn() -> Step,
            5,
        ),
        ("quote add-item --jobs 1", "sku,qty\na,1\nb,1\nc,1\nd,1\n", moved, 4),
    ] {
        let server = MockServer::start((0..4).map(|_| script()).collect());
        let home = impatient(&server);
        std::fs::write(home.dir.path().join("in.csv"), table).unwrap();
        let outcome = on(&home, &server, &format!("{line} -i in.csv -y"));
        let error = outcome.error();
        assert_eq!(
            (outcome.code, &error["resume"], &error["applied"]),
            (code, &json!(true), &json!("no")),
            "{outcome:?}"
        );
        let requests = server.requests();
        let posts = requests.iter().filter(|request| request.starts_with("POST")).count();
        assert_eq!(
            (requests.len(), posts),
            (3, if line.starts_with("quote") { 3 } else { 0 }),
            "{requests:?}"
        );
        let journal = std::fs::read_to_string(home.dir.path().join("in.csv.journal")).unwrap();
        assert!(!journal.contains(r#""state":"failed","temporary":false"#), "{journal}");
    }
}
