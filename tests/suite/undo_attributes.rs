//! `undo` of options that were added and of attributes that were created.

use serde_json::{Value, json};

use crate::support::database::Database;
use crate::support::magento::{done, fails, run};
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, after_a_minute, log, set_outcome};

const ADD: &str = "attribute option add color --option Pink";
const CREATE: &str = "attribute create -i fit.json";
const FIT: &str = r#"{"attribute_code": "fit", "frontend_input": "select", "default_frontend_label": "Fit",
    "attribute_set": ["Default"], "options": [{"label": "Slim", "is_default": true,
    "store_labels": [{"store_id": "fr", "label": "Ajusté"}]}, {"label": "Wide"}]}"#;

fn difference(env: &TestEnv, before: &Database) -> String {
    before.difference(&Database::read(env.sandbox.data()))
}

fn id(written: &Value) -> String {
    written["write"].as_str().unwrap().to_owned()
}

/// A sandbox in which a line has written; the id of the write.
fn written(line: &str) -> (TestEnv, String, Database) {
    let env = TestEnv::new();
    env.file("fit.json", FIT);
    let before = Database::read(env.sandbox.data());
    let id = id(&done(&env, line));
    assert_eq!(run(&env, &format!("verify {id}")).code, 0, "{line}");
    (env, id, before)
}

/// Nothing of a write is taken back, and the shop is as it was.
#[track_caller]
fn stays(env: &TestEnv, line: &str, because: &str) {
    let before = Database::read(env.sandbox.data());
    let error = fails(env, 3, line);
    assert!(error["message"].as_str().unwrap().contains(because), "{error}");
    assert_eq!(difference(env, &before), "");
}

/// The id of the option with this label.
fn option(env: &TestEnv, code: &str, label: &str) -> String {
    let shown = done(env, &format!("attribute show {code}"));
    let option = shown["options"].as_array().unwrap().iter().find(|option| option["label"] == label);
    option.unwrap()["value"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_made_and_nobody_uses_is_deleted() {
    for (line, count) in [
        (ADD, 1),
        ("attribute option add color --option Pink --option Lime", 2),
        ("attribute option add color --options more.csv", 1),
        ("attribute option add color --option Pink --default-option Pink", 1),
        (CREATE, 1),
        ("attribute create --code note --label Note --type text", 1),
    ] {
        let env = TestEnv::new();
        env.file("fit.json", FIT);
        env.file("more.csv", "label,label:fr\nPink,Rose\n");
        let before = Database::read(env.sandbox.data());
        let id = id(&done(&env, line));
        assert_eq!(run(&env, &format!("verify {id}")).code, 0, "{line}");
        let after = Database::read(env.sandbox.data());
        done(&env, &format!("undo {id} -n"));
        for flags in ["-y", "-y --allow-delete 7", "--allow-delete 1"] {
            fails(&env, 3, &format!("undo {id} {flags}"));
        }
        assert_eq!(difference(&env, &after), "", "{line}");
        let undone = done(&env, &format!("undo {id} -y --allow-delete {count}"));
        assert_eq!((&undone["applied"], difference(&env, &before)), (&json!("yes"), String::new()), "{line}");
        assert_eq!(run(&env, &format!("verify {id}")).code, 7, "{line}");
        let again = done(&env, &format!("undo {id} -y --allow-delete {count}"));
        let said = [&again["reason"], &again["applied"]];
        assert_eq!(said, [&json!("unchanged"), &json!("no")], "{line}: {again}");
    }
}

/// No call counts price rules and configurable products.
#[test]
fn what_no_call_shows_is_said() {
    let (env, id, _) = written(ADD);
    let error = fails(&env, 3, &format!("undo {id} -y"));
    assert_eq!(
        error["message"],
        "undoing write 1 removes option Pink of color; no call shows whether price rules or configurable products use it"
    );
    assert_eq!(error["hint"], "add --allow-delete 1");
}

#[test]
fn an_option_that_is_used_or_changed_since_stays() {
    const VALUE: &str = "INSERT OR REPLACE INTO product_values VALUES ('umbrella', 'color', ";
    for (since, because) in [
        (
            "UPDATE attribute_options SET body = json_set(body, '$.label', 'Rose') WHERE id = ID",
            "has changed since",
        ),
        (
            "UPDATE attribute_options SET body = json_set(body, '$.store_labels', json('[{\"store_id\": 3, \"label\": \"Rosa\"}]')) WHERE id = ID",
            "its labels have changed since",
        ),
        (
            "DELETE FROM attribute_options WHERE id = ID",
            "the service shows an older attribute than the last change left",
        ),
        (&format!("{VALUE} 0, 'ID')"), "1 product has it"),
        (&format!("{VALUE} 3, 'ID')"), "1 product has it in the store view de"),
        // A product that is disabled is counted as every other.
        (
            &format!("INSERT INTO product_values VALUES ('umbrella', 'status', 0, '2'); {VALUE} 0, 'ID')"),
            "1 product has it",
        ),
        (
            "DELETE FROM attributes WHERE code = 'color'",
            "the service shows an older attribute than the last change left",
        ),
    ] {
        let (env, id, _) = written(ADD);
        let option = option(&env, "color", "Pink");
        env.sandbox.sql(&format!("PRAGMA foreign_keys = ON; {}", since.replace("ID", &option)));
        stays(&env, &format!("undo {id} -y --allow-delete 1"), because);
    }
}

/// The values of products that are disabled are counted, so that these are in nobody's way.
#[test]
fn disabled_products_without_a_value_keep_nothing() {
    for line in [ADD, CREATE] {
        let (env, id, _) = written(line);
        env.sandbox.sql(
            "INSERT INTO product_values VALUES ('cap', 'status', 0, '2'), ('umbrella', 'status', 3, '2')",
        );
        done(&env, &format!("undo {id} -y --allow-delete 1"));
    }
}

#[test]
fn the_default_option_stays() {
    let (env, id, _) = written(ADD);
    done(&env, "attribute option default color Pink");
    stays(&env, &format!("undo {id} -y --allow-delete 1"), "it is the default option");
}

#[test]
fn a_former_default_that_is_gone_is_not_set() {
    let (env, _, _) = written(ADD);
    done(&env, "attribute option default color Pink");
    let id = id(&done(&env, "attribute option default color Blue"));
    let pink = option(&env, "color", "Pink");
    after_a_minute(&env.home);
    env.sandbox.sql(&format!("DELETE FROM attribute_options WHERE id = {pink}"));
    stays(&env, &format!("undo {id} -y"), "the former default option");
}

/// It may not be counted yet; ten minutes later it is.
#[test]
fn a_value_that_was_written_a_moment_ago_keeps_it() {
    for line in [ADD, CREATE] {
        let (env, id, _) = written(line);
        let value = if line == ADD { "color=Pink" } else { "fit=Slim" };
        done(&env, &format!("product set umbrella {value}"));
        // Somebody else took it away, or a replica does not show it.
        let code = value.split('=').next().unwrap();
        env.sandbox
            .sql(&format!("DELETE FROM product_values WHERE sku = 'umbrella' AND attribute_code = '{code}'"));
        let undo = format!("undo {id} -y --allow-delete 1");
        stays(&env, &undo, "was written from this machine in the last 10 minutes");
        later(&env.home);
        done(&env, &undo);
    }
}

/// Eleven minutes go by for all writes.
fn later(home: &Home) {
    let back = 11 * 60 * 1_000_000;
    log(home).unwrap().execute("UPDATE write SET left_at = left_at - ?1", [back]).unwrap();
    after_a_minute(home);
}

#[test]
fn an_attribute_that_is_used_or_changed_since_stays() {
    for (since, because) in [
        (
            "UPDATE attributes SET body = json_set(body, '$.is_required', json('true')) WHERE code = 'fit'",
            "has changed since",
        ),
        (
            "UPDATE attributes SET body = json_set(body, '$.default_frontend_label', 'Cut') WHERE code = 'fit'",
            "has changed since",
        ),
        ("DELETE FROM attribute_options WHERE id = ID", "has changed since"),
        (
            "INSERT INTO attribute_options (attribute_id, body) SELECT attribute_id, json_set(body, '$.label', 'Tall') FROM attribute_options WHERE id = ID",
            "has changed since",
        ),
        (
            "UPDATE attribute_options SET body = json_set(body, '$.store_labels', json('[]')) WHERE id = ID",
            "has changed since",
        ),
        ("INSERT INTO product_values VALUES ('cap', 'fit', 0, 'ID')", "1 product has it"),
        (
            "INSERT INTO product_values VALUES ('cap', 'fit', 2, 'ID')",
            "1 product has it in the store view fr",
        ),
        (
            "INSERT INTO product_values VALUES ('cap', 'status', 0, '2'), ('cap', 'fit', 0, 'ID')",
            "1 product has it",
        ),
    ] {
        let (env, id, _) = written(CREATE);
        let option = option(&env, "fit", "Slim");
        env.sandbox.sql(&format!("PRAGMA foreign_keys = ON; {}", since.replace("ID", &option)));
        stays(&env, &format!("undo {id} -y --allow-delete 1"), because);
    }
}

#[test]
fn an_assignment_stays_and_so_does_what_is_not_known() {
    let (env, id, _) = written("attribute assign color --set Home/Kitchen");
    stays(&env, &format!("undo {id} -y"), "deletes the values of the products of the set");
    let (env, id, _) = written(ADD);
    set_outcome(&env.home, 1, &json!({"outcome": "unknown", "sent_at": "2026-01-01T00:00:00Z"}));
    stays(&env, &format!("undo {id} -y --allow-delete 1"), "is unknown");
}

/// What others deleted is as it was before; nothing is sent.
#[test]
fn what_is_gone_needs_no_undo() {
    for (line, since) in [
        (ADD, "DELETE FROM attribute_options WHERE json_extract(body, '$.label') = 'Pink'"),
        (CREATE, "DELETE FROM attributes WHERE code = 'fit'"),
    ] {
        let (env, id, _) = written(line);
        env.sandbox.sql(&format!("PRAGMA foreign_keys = ON; {since}"));
        later(&env.home);
        let undone = done(&env, &format!("undo {id} -y --allow-delete 1"));
        assert_eq!([&undone["reason"], &undone["applied"]], [&json!("unchanged"), &json!("no")], "{undone}");
    }
    let (env, id, _) = written(ADD);
    env.sandbox.sql("PRAGMA foreign_keys = ON; DELETE FROM attributes WHERE code = 'color'");
    later(&env.home);
    stays(&env, &format!("undo {id} -y --allow-delete 1"), "attribute 93 is gone");
}

/// The answer to the deletion is lost, and a look shows that it was done.
#[test]
fn a_lost_answer_is_found_out() {
    for (line, faults) in [(ADD, "DELETE:reset-after-commitx1"), (CREATE, "DELETE:503-after-commitx1")] {
        let env = TestEnv::with_faults(&[faults]);
        env.file("fit.json", FIT);
        let before = Database::read(env.sandbox.data());
        let id = id(&done(&env, line));
        let undone = run(&env, &format!("undo {id} -y --allow-delete 1"));
        assert_eq!((undone.code, difference(&env, &before)), (0, String::new()), "{undone:?}");
        assert!(undone.stderr.contains("verified as applied"), "{undone:?}");
    }
}
