//! Attributes of a Magento shop: never overwritten, and found out about after a lost reply.

use serde_json::json;

use crate::support::magento::{done, fails, program, run};
use crate::support::test_env::TestEnv;

const CREATE: &str =
    "attribute create --code fabric --label Fabric --type select --option Wool --option Silk";

#[test]
fn an_attribute_is_created_and_shown() {
    let env = TestEnv::new();
    let text = program(&env, &format!("{CREATE} -q")).run();
    assert!(text.stdout.starts_with("Created attribute fabric (id "), "{text:?}");
    assert_eq!(env.requests(), ["GET 404", "POST 200"]);
    let shown = done(&env, "attribute show fabric");
    assert_eq!((&shown["attribute_code"], &shown["options"][1]["label"]), (&json!("fabric"), &json!("Wool")));
    let text = program(&env, "attribute show fabric -q").run().stdout;
    assert!(text.contains("Fabric") && text.contains("Silk"), "{text}");
    assert_eq!(fails(&env, 4, "attribute show nosuch")["status"], 404);
}

/// Some members of the family update an attribute of the same code instead of refusing.
#[test]
fn an_existing_code_is_never_sent() {
    let env = TestEnv::with_faults(&["silent-update"]);
    done(&env, CREATE);
    env.requests();
    let error = fails(&env, 4, "attribute create --code fabric --label Other --type text");
    assert_eq!(
        (&error["message"], &error["applied"]),
        (&json!("attribute `fabric` already exists"), &json!("no"))
    );
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn after_a_lost_reply_an_attribute_that_exists_as_asked_is_done() {
    let env = TestEnv::with_faults(&["POST:reset-after-commit"]);
    let result = done(&env, CREATE);
    assert_eq!((&result["applied"], &result["verified"]), (&json!("yes"), &json!(true)));
    assert_eq!(env.requests().iter().filter(|request| request.starts_with("POST")).count(), 1);
}

#[test]
fn on_resume_an_attribute_that_exists_as_asked_is_done() {
    let env = TestEnv::with_faults(&["POST:reset-after-commitx2"]);
    let profile = |read: &str| format!("[profiles.shop]\nbase-url = \"{}\"\n{read}", env.url());
    env.home.write("config.toml", profile(""), 0o600);
    let attribute = |code: &str| {
        json!({"attribute_code": code, "frontend_input": "text", "entity_type_id": "4", "is_required": false,
            "default_frontend_label": code})
    };
    env.file("new.ndjson", format!("{}\n{}\n", attribute("fabric"), attribute("weave")));
    let line = "attribute create -i new.ndjson -y -p shop --jobs 1 -q -o json";
    let first = env.run(line);
    assert_eq!((first.code, first.stdout.matches(r#""applied":"unknown""#).count()), (7, 4), "{first:?}");
    // Another one has changed since.
    let other = json!({"attribute": {"default_frontend_label": "Other"}}).to_string();
    let token = crate::support::raw_http::ADMIN;
    assert_eq!(env.sandbox.call(token, "PUT", "/rest/V1/products/attributes/weave", &other).status, 200);
    let read = "[profiles.shop.read]\nattribute-path = \"/rest/V1/products/attributes/{code}\"\n";
    env.home.write("config.toml", profile(read), 0o600);
    env.requests();
    let second = env.run(&format!("{line} --resume"));
    assert_eq!(second.code, 7, "{second:?}");
    let lines: Vec<&str> = second.stdout.lines().collect();
    assert!(lines[0].contains(r#""applied":"yes","reason":"done earlier","verified":true"#), "{second:?}");
    assert!(lines[1].contains(r#""applied":"unknown""#), "{second:?}");
    assert_eq!(env.requests(), ["GET 200", "GET 200"]);
    assert_eq!(env.done("attribute show fabric -p shop")["attribute_code"], "fabric");
}

#[test]
fn the_marketplace_has_no_read_without_a_setting() {
    let env = TestEnv::new();
    let error = env.fails(2, "attribute show fabric");
    assert!(error["hint"].as_str().unwrap().contains("read.attribute-path"), "{error}");
}

/// All refusals are 401, and the parameter names the missing permission.
#[test]
fn a_missing_permission_is_named_and_stops_a_batch() {
    let env = TestEnv::new();
    let line = format!("{CREATE} -q -o json");
    let refused = program(&env, &line).env("STOREFRONT_ADMIN_TOKEN", "sandbox-customer-1").run();
    assert_eq!(refused.code, 6, "{refused:?}");
    let hint = refused.error()["hint"].to_string();
    assert!(
        hint.contains("Magento_Catalog::attributes_attributes") && hint.contains("standalone Bearer"),
        "{hint}"
    );
    env.file(
        "new.ndjson",
        "{\"attribute_code\":\"a\",\"frontend_input\":\"text\",\"default_frontend_label\":\"A\"}\n".repeat(3),
    );
    env.requests();
    let outcome = program(&env, "attribute create -i new.ndjson -y --jobs 1 -q -o json")
        .env("STOREFRONT_ADMIN_TOKEN", "sandbox-customer-1")
        .run();
    assert_eq!((outcome.code, env.requests().len()), (6, 1), "{outcome:?}");
    assert!(outcome.stderr.contains("Magento_Catalog::attributes_attributes"), "{outcome:?}");
    assert_eq!(run(&env, "attribute show fabric").code, 4);
}
