//! Attributes between Magento shops: what an export costs, and that what was exported is what is there.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cart_reports::{impatient, json, on};
use crate::support::magento::{done, program};
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

/// Attributes of every kind, with labels, defaults, options and places.
fn fill(env: &TestEnv) {
    let attributes = json!([
        {"attribute_code": "fabric", "frontend_input": "select", "default_frontend_label": "Fabric", "is_filterable": true,
            "is_searchable": "1", "scope": "global", "apply_to": ["simple", "configurable"], "note": "of the outside",
            "frontend_labels": [{"store_id": "fr", "label": "Tissu"}, {"store_id": "de", "label": "Stoff"}],
            "options": [{"label": "Wool", "store_labels": [{"store_id": "fr", "label": "Laine"}]}, {"label": "Silk", "is_default": true},
                {"label": "A\\b|c, \"d\" é"}, {"label": "Linen"}], "attribute_set": ["Default/Content", "Home/Kitchen/Product Details"]},
        {"attribute_code": "care", "frontend_input": "multiselect", "default_frontend_label": "Care",
            "options": [{"label": "Wash", "is_default": true}, {"label": "Iron", "is_default": true}, {"label": "Dry"}]},
        {"attribute_code": "warm", "frontend_input": "boolean", "default_frontend_label": "Warm", "default_value": "1",
            "attribute_set": ["Clothing/Size and Fit"]},
        {"attribute_code": "story", "frontend_input": "texteditor", "default_frontend_label": "Story", "scope": "store",
            "is_html_allowed_on_front": true},
        {"attribute_code": "width", "frontend_input": "text", "default_frontend_label": "Width", "default_value": "10",
            "frontend_class": "validate-number", "is_required": true, "is_unique": "1"},
        {"attribute_code": "tone", "frontend_input": "swatch_visual", "default_frontend_label": "Tone",
            "options": [{"label": "Dark"}, {"label": "Light"}]},
    ]);
    env.file("seed.json", attributes.to_string());
    let created = program(env, "attribute create -i seed.json -y -q").run();
    assert_eq!(created.code, 0, "{created:?}");
    let bare = program(env, "attribute create --code bare --label Bare --type select --force -q").run();
    assert_eq!(bare.code, 0, "{bare:?}");
}

fn export(env: &TestEnv, selection: &str) -> String {
    let exported = program(env, &format!("attribute export {selection} -q")).run();
    assert_eq!(exported.code, 0, "{exported:?}");
    exported.stdout
}

const CODES: &str = "fabric care warm story width tone bare";

/// From one shop to an empty one and back: the files are equal byte for byte.
#[test]
fn what_was_exported_planned_and_applied_is_exported_again() {
    let (staging, production) = (TestEnv::new(), TestEnv::new());
    fill(&staging);
    // Ids are others there.
    done(&production, "attribute create --code other --label Other --type select --option A B C");
    let file = export(&staging, CODES);
    production.file("attributes.json", &file);
    let planned = program(&production, "attribute diff attributes.json --plan out").run();
    assert_eq!(planned.code, 0, "{planned:?}");
    let applied = program(&production, "apply out.1-attribute-create -y -q").run();
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(export(&production, CODES), file);
    let same = program(&production, "attribute diff attributes.json -o json").run();
    assert_eq!(same.code, 0, "{same:?}");
    assert!(same.stdout.lines().all(|line| line.contains(r#""state":"unknown""#)), "{same:?}");
    assert_eq!(planned.stderr.matches("Wrote plan").count(), 1);
}

/// The file is an input of `attribute create`, too.
#[test]
fn an_export_is_created_as_it_is() {
    let (staging, production) = (TestEnv::new(), TestEnv::new());
    fill(&staging);
    let file = export(&staging, CODES);
    production.file("attributes.json", &file);
    let created = program(&production, "attribute create -i attributes.json -y").run();
    assert_eq!(created.code, 0, "{created:?}");
    assert!(!created.stderr.contains("warning"), "{created:?}");
    assert_eq!(export(&production, CODES), file);
}

/// Types that the shop shows as others, and lists whose order says nothing, are not differences.
#[test]
fn a_file_that_people_wrote_equals_what_was_created_from_it() {
    let env = TestEnv::new();
    fill(&env);
    let same = program(&env, "attribute diff seed.json -o json").run();
    assert_eq!(same.code, 0, "{same:?}");
    assert!(same.stdout.lines().all(|line| line.contains(r#""state":"unknown""#)), "{same:?}");
    assert!(same.stdout.contains(r#""attribute":"tone","field":"options[].swatch""#), "{same:?}");
    done(&env, "attribute create --code plain --label Plain --type textarea");
    env.file(
        "plain.json",
        r#"{"attribute_code": "plain", "frontend_input": "texteditor", "default_frontend_label": "Plain"}"#,
    );
    let plain = program(&env, "attribute diff plain.json -o json").run();
    assert_eq!(plain.code, 7, "{plain:?}");
    assert!(
        plain.stdout.contains(r#""field":"is_wysiwyg_enabled","state":"different","shop":false,"file":true"#),
        "{plain:?}"
    );
}

/// What the other shop lacks is added where it loses nothing; the plans are made until nothing is left for them.
#[test]
fn options_and_sets_are_added_and_the_default_stays() {
    let (staging, production) = (TestEnv::new(), TestEnv::new());
    done(&staging, "attribute option add color --option Pink --option Teal --default-option Teal");
    done(&staging, "attribute assign size --set Default/Images");
    production.file("attributes.json", export(&staging, ""));
    let planned = program(&production, "attribute diff attributes.json --plan out -q -o json").run();
    assert_eq!(planned.code, 7, "the default is not changed: {planned:?}");
    for plan in ["out.2-attribute-option-add", "out.3-attribute-assign"] {
        let applied = program(&production, &format!("apply {plan} -y -q")).run();
        assert_eq!(applied.code, 0, "{plan}: {applied:?}");
    }
    let left = program(&production, "attribute diff attributes.json -q -o json").run();
    let left: Vec<Value> = left.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let left: Vec<&Value> = left.iter().filter(|one| one["state"] != "unknown").collect();
    assert_eq!(
        (left.len(), &left[0]["field"], &left[0]["shop"]),
        (1, &json!("options.default"), &json!(["Black"]))
    );
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
    let page: Vec<Value> =
        (0..300).map(|at| json!({"attribute_code": format!("a{at:03}"), "frontend_input": "text"})).collect();
    let server = MockServer::start(vec![json(&json!({"items": page, "total_count": 301}))]);
    let listed = on(&impatient(&server), &server, "attribute list");
    assert_eq!((listed.code, listed.stdout.as_str()), (5, ""), "{listed:?}");
    assert!(listed.stderr.contains("the list of attributes has `a000` twice"), "{listed:?}");
    assert_eq!(server.requests().len(), 2);
    let second = &server.requests()[1];
    assert!(
        second.contains("attribute_code") && second.contains("=gt") && second.contains("=a299&"),
        "{second}"
    );
}

/// A list that lacks some of what it counts is no export of all.
#[test]
fn a_list_that_ends_before_its_count_is_not_exported() {
    let attribute = json!({"attribute_code": "a", "frontend_input": "text"});
    for (items, ends) in [(json!([attribute]), "after 1 of 10"), (json!(null), "after 0 of 10")] {
        let server = MockServer::start(vec![json(&json!({"items": items, "total_count": 10})); 4]);
        for line in ["attribute export", "attribute list", "attribute export a"] {
            let listed = on(&impatient(&server), &server, line);
            assert_eq!((listed.code, listed.stdout.as_str()), (5, ""), "{line}: {listed:?}");
            let message = format!("the shop's list of attributes ends {ends}");
            assert_eq!(listed.error()["message"], message, "{line}");
        }
    }
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
