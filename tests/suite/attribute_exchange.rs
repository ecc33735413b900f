//! Attributes between Magento shops: what an export costs, and that what was exported is what is there.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cart_reports::{impatient, json, on};
use crate::support::magento::program;
use crate::support::mock_server::MockServer;
use crate::support::raw_http::ADMIN;
use crate::support::test_env::{TestEnv, serve};

/// 300 more attributes with 5,000 options, all of them in the group `Content` of the set `Default`.
fn many(env: &TestEnv) {
    let mut rows = String::new();
    for attribute in 1000..1300 {
        let body = format!(
            r#"{{"frontend_input": "select", "default_frontend_label": "No {attribute}", "is_user_defined": true}}"#
        );
        let insert = "INSERT INTO attributes (id, code, body) VALUES";
        writeln!(rows, "{insert} ({attribute}, 'many_{attribute}', '{body}');").unwrap();
        let insert =
            "INSERT INTO attribute_assignments (attribute_set_id, attribute_group_id, attribute_id) VALUES";
        writeln!(rows, "{insert} (4, 13, {attribute});").unwrap();
    }
    for option in 0..5000 {
        let attribute = 1000 + option % 300;
        let body = format!(
            r#"{{"label": "Option {option}", "sort_order": {option}, "store_labels": [{{"store_id": 2, "label": "Choix {option}"}}]}}"#
        );
        let insert = "INSERT INTO attribute_options (attribute_id, body) VALUES";
        writeln!(rows, "{insert} ({attribute}, '{body}');").unwrap();
    }
    env.sandbox.sql(&format!("BEGIN; {rows} COMMIT;"));
}

/// Two pages for administrators and for each of three store views; the sets, and those of their groups that have attributes.
#[test]
fn three_hundred_attributes_with_five_thousand_options_come_by_pages() {
    let env = TestEnv::new();
    many(&env);
    let exported = program(&env, "attribute export").run();
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let (pages, views) = (2 * (1 + 3), 1);
    let sets = 1 + (2 + 1 + 2) + (1 + 1 + 2) + 1;
    assert_eq!(env.requests().len(), pages + views + sets);
    assert_eq!(exported.stdout.matches("\"label\":\"Option").count(), 5000);
    assert_eq!(exported.stdout.matches("\"label\":\"Choix").count(), 5000);
    assert_eq!(exported.stdout.matches("\"attribute_set\": [\"Default/Content\"]").count(), 300);
    let listed = program(&env, "attribute list -o json").run();
    assert_eq!(listed.stdout.lines().count(), 302);
    assert_eq!(env.requests().len(), 2 + 1 + (2 + 1 + 1));
}

/// A store view that shows other options than the read before would give labels to the wrong ones.
#[test]
fn options_that_change_while_they_are_read_are_not_exported() {
    let attribute = |options: &Value| {
        json(
            &json!({"items": [{"attribute_code": "a", "frontend_input": "select", "options": options}], "total_count": 1}),
        )
    };
    let views = json(&json!([{"id": 0, "code": "admin"}, {"id": 1, "code": "default"}]));
    let own = attribute(&json!([{"label": "Red", "value": "1"}]));
    for other in [json!([]), json!([{"label": "Red", "value": "2"}])] {
        let server = MockServer::start(vec![own.clone(), views.clone(), attribute(&other)]);
        let exported = on(&impatient(&server), &server, "attribute export");
        assert_eq!((exported.code, exported.stdout.as_str()), (5, ""), "{exported:?}");
        assert!(exported.stderr.contains("they changed while they were read"), "{exported:?}");
    }
}

/// A shop that ignores where a page begins would be asked for ever.
#[test]
fn a_page_that_comes_twice_ends_the_list() {
    let page = json(&json!({"items": [{"attribute_code": "a", "frontend_input": "text"}], "total_count": 2}));
    let server = MockServer::start(vec![page]);
    let listed = on(&impatient(&server), &server, "attribute list");
    assert_eq!((listed.code, listed.stdout.as_str()), (5, ""), "{listed:?}");
    assert!(listed.stderr.contains("the list of attributes has `a` twice"), "{listed:?}");
    assert_eq!(server.requests().len(), 2);
    let second = &server.requests()[1];
    assert!(
        second.contains("attribute_code") && second.contains("=gt") && second.contains("=a&"),
        "{second}"
    );
}

/// What a shop has in its texts is escaped for a terminal and never a token.
#[test]
fn texts_of_the_shop_are_escaped_and_tokens_masked() {
    let page = json(&json!({"items": [{"attribute_code": "a", "frontend_input": "text",
        "default_frontend_label": format!("\u{1b}[2J{ADMIN}")}], "total_count": 1}));
    let none = json(&json!({"items": [], "total_count": 0}));
    let server = MockServer::start(vec![page.clone(), none.clone()]);
    let home = impatient(&server);
    let program = home.storefront("-p shop attribute list");
    let listed = serve(program, &server.url("")).without("STOREFRONT_STORE_VIEW").run();
    assert!(listed.stdout.contains("\\u{1b}[2J") && !listed.stdout.contains(ADMIN), "{listed:?}");
    let server = MockServer::start(vec![page, json(&json!([{"id": 1, "code": "default"}])), none]);
    let exported = on(&impatient(&server), &server, "attribute export");
    assert_eq!(exported.code, 0, "{exported:?}");
    assert!(exported.stdout.contains("\\u001b[2J") && !exported.stdout.contains(ADMIN), "{exported:?}");
}
