//! Values of products: how many requests a sheet takes, that nothing else is written, and sheets that were exported.

use std::fmt::Write as _;

use crate::support::database::Database;
use crate::support::magento::{done, fails, program, run};
use crate::support::mock_server::{MockServer, answer};
use crate::support::test_env::{TestEnv, serve};

/// So many products, each with a color.
fn products(env: &TestEnv, count: usize) {
    env.sandbox.sql(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
         INSERT INTO products (sku, type, name, price) SELECT 'item-' || i, 'simple', 'Item', '1' FROM n;
         INSERT INTO product_values (sku, attribute_code, store_id, value)
         SELECT sku, 'color', 0, '50' FROM products WHERE sku LIKE 'item-%'"
    ));
}

fn sheet(count: usize, color: &str) -> String {
    (1..=count).fold("sku,color\n".to_owned(), |mut sheet, number| {
        writeln!(sheet, "item-{number},{color}").unwrap();
        sheet
    })
}

fn difference(env: &TestEnv, before: &Database) -> String {
    before.difference(&Database::read(env.sandbox.data()))
}

/// From such a read the value before would be taken for the one that is stored, and nothing would be set.
#[test]
fn a_value_is_not_set_from_a_read_that_lacks_our_own() {
    let env = TestEnv::new();
    done(&env, "product set umbrella weight=0.5");
    done(&env, "product set umbrella weight=1.5");
    let stale =
        "UPDATE product_values SET value = '0.5' WHERE sku = 'umbrella' AND attribute_code = 'weight'";
    env.sandbox.sql(stale);
    for line in ["product set umbrella weight=0.5 --settle 0", "undo 2 --yes --settle 0"] {
        let refused = fails(&env, 3, line);
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.starts_with("the service shows an older product than the last change left"),
            "{refused}"
        );
    }
    env.sandbox.sql(&stale.replace("0.5", "1.5"));
    assert_eq!(done(&env, "undo 2 --yes --settle 0")["changes"][0]["after"], "0.5");
}

#[test]
fn a_sheet_that_changes_nothing_is_a_request_for_a_hundred_products() {
    let env = TestEnv::new();
    products(&env, 2_000);
    env.file("a.csv", sheet(2_000, "Blue"));
    let before = Database::read(env.sandbox.data());
    let outcome = run(&env, "product set -i a.csv");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stdout.matches(r#""reason":"unchanged""#).count(), 2_000);
    let requests = env.requests();
    // One for the attribute, one for the set.
    assert_eq!(requests.len(), 2_000 / 100 + 2, "{:?}", &requests[..5]);
    assert!(requests.iter().all(|request| request.starts_with("GET")));
    assert_eq!(difference(&env, &before), "");
}

#[test]
fn a_product_that_changes_is_two_requests_more() {
    let env = TestEnv::new();
    products(&env, 250);
    env.file("a.csv", sheet(250, "Red").replace("item-7,Red", "item-7,Blue"));
    let outcome = run(&env, "product set -i a.csv");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let requests = env.requests();
    assert_eq!(requests.len(), 3 + 2 + 2 * 249, "{:?}", &requests[..9]);
    assert_eq!(requests.iter().filter(|request| request.starts_with("PUT")).count(), 249);
}

/// A store view without a value of its own shows the value for all, which the same sheet sets: the plan reckons with that.
#[test]
fn a_plan_sets_a_value_for_all_and_those_of_store_views() {
    let env = TestEnv::new();
    env.file("new.csv", "code,label,type,scope,attribute_set\ncare,Care,text,store,Default\n");
    assert_eq!(run(&env, "attribute create -i new.csv").code, 0);
    // The second sheet keeps in one store view what that shows so far.
    for (number, rows) in
        ["mug-blue,,Wash\nmug-blue,fr,Laver", "mug-blue,,Rinse\nmug-blue,de,Wash"].iter().enumerate()
    {
        env.file("a.csv", format!("sku,store_view,care\n{rows}\n"));
        for line in [format!("product set -i a.csv --plan {number}.plan"), format!("apply {number}.plan")] {
            let outcome = run(&env, &line);
            assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
        }
    }
    let data = rusqlite::Connection::open(env.sandbox.data()).unwrap();
    let find =
        "SELECT value FROM product_values WHERE sku = 'mug-blue' AND attribute_code = 'care' ORDER BY value";
    let mut find = data.prepare(find).unwrap();
    let values: Vec<String> = find.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(values, ["Laver", "Rinse", "Wash"]);
}

/// The umbrella has no color, and the attribute a default option.
#[test]
fn only_what_is_named_is_written() {
    for (line, written) in [
        ("product set umbrella name='Black umbrella'", "products 2 umbrella"),
        ("product set UMBRELLA weight=0.5", "product_values umbrella weight 0 0.5"),
        ("product set umbrella name='Black umbrella' --clear weight", "products 2 umbrella"),
        ("product set cap name=Casquette --store-view fr", "product_values cap name 2 Casquette"),
        (
            "product set umbrella name=Parapluie --store-view fr --allow-special-price",
            "product_values umbrella name 2 Parapluie",
        ),
    ] {
        let env = TestEnv::new();
        let before = Database::read(env.sandbox.data());
        done(&env, line);
        let difference = difference(&env, &before);
        let written: Vec<&str> = written.split(' ').collect();
        let is_it = |line: &&str| written.iter().all(|word| line.contains(word));
        // A sale begins where that was allowed.
        let others =
            difference.lines().filter(|line| line.starts_with("+ ") && !line.contains("special_from_date"));
        let others: Vec<&str> = others.collect();
        assert!(others.len() == 1 && is_it(&others[0]), "{line}: {difference}");
    }
}

#[test]
fn a_required_value_that_is_missing_is_named() {
    let env = TestEnv::new();
    env.file(
        "a.json",
        r#"{"attribute_code": "material", "frontend_input": "text", "is_required": true,
        "default_frontend_label": "Material", "attribute_set": ["Default"]}"#,
    );
    done(&env, "attribute create -i a.json");
    let failed = fails(&env, 4, "product set mug-blue color=Red");
    assert!(
        failed["hint"].as_str().unwrap().contains("storefront product set mug-blue material=VALUE"),
        "{failed}"
    );
    done(&env, "product set mug-blue color=Red material=Clay");
}

#[test]
fn of_an_exported_sheet_only_what_was_edited_is_sent() {
    let env = TestEnv::new();
    products(&env, 30);
    let exported = run(&env, "product export --set Default --attributes color,Name --to a.csv");
    assert_eq!(exported.code, 0, "{exported:?}");
    env.requests();
    let unedited = run(&env, "product set -i a.csv");
    assert_eq!((unedited.code, env.requests().len()), (0, 0), "{unedited:?}");
    let text = std::fs::read_to_string(env.home.dir.path().join("a.csv")).unwrap();
    env.file("b.csv", text.replacen("Blue", "Red", 1));
    let edited = run(&env, "product set -i b.csv");
    assert_eq!(edited.code, 0, "{edited:?}");
    let puts = env.requests().into_iter().filter(|request| request.starts_with("PUT")).count();
    assert_eq!(puts, 1);
    // Somebody else was there first.
    env.file("c.csv", text.replacen("Blue", "Green", 1));
    let refused = run(&env, "product set -i c.csv");
    assert_eq!(refused.code, 7, "{refused:?}");
    assert!(refused.stdout.contains("was changed in the shop since the export"), "{refused:?}");
    assert!(env.requests().iter().all(|request| request.starts_with("GET")));
}

#[test]
fn a_value_that_a_store_view_shares_with_all_is_an_empty_cell() {
    let env = TestEnv::new();
    let exported = run(&env, "product export mug-blue cap --attributes name,color --store-view fr");
    let rows: Vec<&str> = exported.stdout.trim_start_matches('\u{feff}').lines().collect();
    assert_eq!(rows[0], "sku,store_view,name,color,exported", "{exported:?}");
    assert!(rows[1].starts_with("mug-blue,fr,Tasse bleue,,x-"), "{exported:?}");
    assert!(rows[2].starts_with("cap,fr,,,x-"), "{exported:?}");
}

#[test]
fn an_export_names_what_the_shop_does_not_have_and_leaves_no_file() {
    let env = TestEnv::new();
    for (line, what) in [
        ("product export nosuch --attributes color --to a.csv", "no product `nosuch`"),
        ("product export cap --attributes colour --to a.csv", "no attribute `colour`"),
        ("product export --set Nosuch --attributes color --to a.csv", "unknown attribute set"),
    ] {
        let failed = fails(&env, 2, line);
        assert!(failed["message"].as_str().unwrap().contains(what), "{failed}");
        assert!(!env.home.dir.path().join("a.csv").exists());
    }
    env.file("skus.csv", "name,SKU\nx,cap\ny,mug-blue\n");
    let listed = run(&env, "product export --skus skus.csv --attributes color");
    assert_eq!(listed.stdout.lines().count(), 3, "{listed:?}");
}

#[test]
fn a_lost_answer_is_found_out_by_a_read_and_a_resumed_run_looks_first() {
    let env = TestEnv::with_faults(&["PUT:reset-after-commitx1"]);
    let outcome = run(&env, "product set mug-blue color=Red");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("verified as applied"), "{outcome:?}");
    env.file("a.csv", "sku,color\nmug-blue,Green\n");
    let program = program(&env, "product set -i a.csv --jobs 1");
    assert_eq!(program.run().code, 0);
}

/// The second row would be unchanged by a read from before the first one.
#[test]
fn a_row_is_compared_with_what_the_row_before_it_left() {
    let env = TestEnv::with_faults(&["PUT:stale-read=1x1"]);
    env.file("a.csv", "sku,color\nmug-blue,Red\nmug-blue,Blue\n");
    let outcome = run(&env, "product set -i a.csv --jobs 1");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(!outcome.stdout.contains("unchanged"), "{outcome:?}");
    let puts = env.requests().into_iter().filter(|request| request.starts_with("PUT")).count();
    assert_eq!(puts, 2, "{outcome:?}");
}

/// Such a call changes nothing in the store views of another website. A product that is not in the website of the store view shows
/// its values to nobody there.
#[test]
fn a_store_view_of_a_shop_with_several_websites_is_written_where_the_product_is_in_its_website() {
    let views = r#"[{"id":0,"code":"admin","name":"A","website_id":0},{"id":1,"code":"default","name":"D","website_id":1},
        {"id":2,"code":"fr","name":"F","website_id":2}]"#;
    let color = r#"{"attribute_code":"note","frontend_input":"text","is_user_defined":true,"scope":"store",
        "default_frontend_label":"Note","options":[]}"#;
    let product = |note: &str, websites: &str| {
        format!(
            r#"{{"id":1,"sku":"mug","name":"Mug","attribute_set_id":4,"custom_attributes":
                [{{"attribute_code":"note","value":"{note}"}}],"extension_attributes":{{"website_ids":{websites}}}}}"#
        )
    };
    let found = |websites: &str| format!(r#"{{"items":[{}],"total_count":1}}"#, product("A", websites));
    let (mug, written) = (&*found("[1,2]"), &*product("B", "[1,2]"));
    let set = &*format!(r#"{{"items":[{color}],"total_count":1}}"#);
    let shop =
        |answers: &[&str]| MockServer::start(answers.iter().map(|body| answer("200 OK", "", body)).collect());
    let env = TestEnv::new();
    let line = "product set mug note=B --store-view fr -y --api magento -o json";
    let in_both = shop(&[views, color, mug, set, mug, written]);
    let outcome = serve(env.home.storefront(line), &in_both.url("")).run();
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(in_both.requests()[5].starts_with("PUT /fr/V1/products/mug "), "{:?}", in_both.requests());
    let in_one = shop(&[views, color, &found("[1]"), set]);
    let refused = serve(env.home.storefront(line), &in_one.url("")).run();
    assert_eq!(refused.code, 3, "{refused:?}");
    assert_eq!(refused.error()["message"], "`mug` is not in the website of the store view `fr`");
    assert!(in_one.requests().iter().all(|request| request.starts_with("GET ")), "{:?}", in_one.requests());
    let shop = shop(&[views, color, mug, mug]);
    let line = "product export mug --attributes note --store-view fr --api magento";
    let exported = serve(env.home.storefront(line), &shop.url("")).run();
    assert_eq!(exported.code, 0, "{exported:?}");
    assert!(exported.stdout.contains("mug,fr,"), "{exported:?}");
}
