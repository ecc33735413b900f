//! Customers of a Magento shop: selected by an administrator, and updated without loss.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::magento::{self, done};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;

fn run(home: &Home, line: &str) -> Outcome {
    let asks = line.starts_with("customer update") || line.starts_with("undo");
    home.sandbox("magento", &format!("{line}{}", if asks { " --yes" } else { "" }))
}

fn ok(home: &Home, line: &str) -> Value {
    let outcome = run(home, &format!("{line} -o json"));
    assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
    serde_json::from_str(&outcome.stdout).unwrap_or(Value::Null)
}

/// The error of a command that ends with this code.
fn fails(home: &Home, code: i32, line: &str) -> Value {
    let outcome = run(home, &format!("{line} -o json"));
    assert_eq!(outcome.code, code, "{line}: {outcome:?}");
    outcome.error()
}

fn update(home: &Home, way: &str, document: &Value) -> Value {
    home.write("update.json", document.to_string(), 0o600);
    ok(home, &format!("customer update {way} -i {}", home.path("update.json").display()))
}

/// The shop knows code and name of a region by its id: what it fills in is no difference.
#[test]
fn the_texts_of_a_region_id_are_no_warning() {
    let home = Home::new();
    let new = "--add-address --address-firstname Z --address-lastname Y --street x --city Ely \
               --postcode 10118 --country US --telephone 5550100";
    for way in ["--address 2", new] {
        let outcome = run(&home, &format!("customer update {way} --region-id 12"));
        assert_eq!((outcome.code, outcome.stderr.contains("sent")), (0, false), "{outcome:?}");
    }
    let (profile, region) =
        (show(&home), json!({"region_code": "CA", "region": "California", "region_id": 12}));
    assert_eq!((&address(&profile, 2)["region"], &address(&profile, 13)["region"]), (&region, &region));
}

fn show(home: &Home) -> Value {
    ok(home, "customer show --customer 1")
}

fn address(profile: &Value, id: i64) -> Value {
    profile["addresses"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone()
}

/// The customer's own token, and an administrator's with the customer named both ways.
const WAYS: [&str; 3] = ["", "--customer 1", "--customer AMINA.haddad@example.com"];

#[test]
fn a_change_of_one_address_loses_no_other_and_no_default() {
    for way in WAYS {
        let home = Home::new();
        let before = show(&home);
        let done = ok(&home, &format!("customer update {way} --address 3 --city Tripoli"));
        assert_eq!(done["verified"], true, "{way}: {done}");
        let after = show(&home);
        assert_eq!(after["addresses"].as_array().unwrap().len(), 4, "{way}");
        assert_eq!(address(&after, 3)["city"], "Tripoli");
        for id in [1, 2, 4] {
            assert_eq!(address(&after, id), address(&before, id), "{way}");
        }
        for name in ["default_billing", "default_shipping"] {
            assert_eq!(after[name], before[name], "{way}");
        }
    }
}

#[test]
fn the_body_names_the_customer_of_the_path_and_both_forms_of_the_defaults() {
    let home = Home::new();
    let shown = ok(&home, "customer update --customer 1 --address 3 --default-shipping --dry-run");
    assert_eq!(shown["request"]["method"], "PUT");
    assert!(shown["request"]["url"].as_str().unwrap().ends_with("/rest/V1/customers/1"), "{shown}");
    let customer = &shown["request"]["body"]["customer"];
    assert_eq!((&customer["id"], &customer["default_shipping"]), (&json!(1), &json!("3")));
    assert_eq!(customer["default_billing"], "1");
    assert_eq!(address(customer, 1)["default_billing"], true);
    assert_eq!(address(customer, 3)["default_shipping"], true);
    assert_eq!(address(customer, 2)["default_shipping"], false);
    home.write("other.json", r#"{"id": 2, "gender": 1}"#, 0o600);
    let refused =
        fails(&home, 3, &format!("customer update --customer 1 -i {}", home.path("other.json").display()));
    assert_eq!(refused["kind"], "guard");
}

#[test]
fn a_default_named_at_the_top_alone_is_not_overruled_by_an_old_flag() {
    for way in WAYS {
        let home = Home::new();
        update(&home, way, &json!({"default_billing": "4"}));
        let after = show(&home);
        assert_eq!(after["default_billing"], "4", "{way}");
        assert_eq!(address(&after, 4)["default_billing"], true, "{way}");
        assert_eq!(after["default_shipping"], "2", "{way}");
    }
}

#[test]
fn a_region_by_code_or_name_gets_its_id() {
    let home = Home::new();
    for (flags, code, id) in
        [("--region-code CA", "CA", 12), ("--region texas", "TX", 57), ("--region-id 43", "NY", 43)]
    {
        ok(&home, &format!("customer update --customer 1 --address 2 {flags}"));
        let stored = address(&show(&home), 2);
        assert_eq!(
            (&stored["region_id"], &stored["region"]["region_id"]),
            (&json!(id), &json!(id)),
            "{flags}"
        );
        assert_eq!(stored["region"]["region_code"], code, "{flags}");
    }
    run(&home, "customer update --customer 1 --address 2 --region-code ZZ").assert_failure(2, str![[r#"
error: US has no region `ZZ`
  hint: use one of AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, AE Armed Forces Africa, AA Armed Forces Americas, AE Armed Forces Canada, AE Armed Forces Europe, AE Armed Forces Middle East, AP Armed Forces Pacific, or list all 65 with `storefront --sandbox --api magento api GET /V1/directory/countries/US --admin`
"#]]);
    run(&home, "customer update --customer 1 --address 2 --region-code AE").assert_failure(2, str![[r#"
error: US has several regions `AE`: AE Armed Forces Africa, AE Armed Forces Canada, AE Armed Forces Europe, AE Armed Forces Middle East
  hint: name it by --region or --region-id
"#]]);
    assert_eq!(address(&show(&home), 2)["region_id"], 43);
}

/// Magento stores the name only, and shows it as the code too.
#[test]
fn a_region_of_a_country_without_a_list_is_its_own_code() {
    let home = Home::new();
    for way in ["", "--customer 1"] {
        let flags = "--address 1 --country GB --region Kent --postcode ME1";
        let done = ok(&home, &format!("customer update {way} {flags}"));
        assert_ne!(done["verified"], false, "{done}");
        let stored = address(&show(&home), 1);
        assert_eq!(stored["region"], json!({"region_code": "Kent", "region": "Kent", "region_id": 0}));
        ok(&home, &format!("customer update {way} --address 1 --country FR --region Paris --postcode 75001"));
    }
    let way = "customer update --customer 1 --address 1 --country GB --postcode ME1";
    run(&home, &format!("{way} --region-code KEN")).assert_failure(
        2,
        str![[r#"
error: GB has no region codes, found `KEN`
  hint: give the name of the region with --region, and no code
"#]],
    );
    assert_eq!(address(&show(&home), 1)["country_id"], "FR");
}

#[test]
fn an_update_of_a_customer_whose_default_is_no_address_of_theirs_clears_it() {
    for way in ["", "--customer 1"] {
        let home = Home::new();
        home.write("default.json", r#"{"default_billing": "77"}"#, 0o600);
        let path = home.path("default.json").display().to_string();
        let stored = home.run(&["--sandbox", "customer", "update", "--yes", "-i", &path]);
        assert_eq!(stored.code, 0, "{stored:?}");
        let outcome = run(&home, &format!("customer update {way} --address 3 --city Tripoli -q"));
        let warning = "warning: default_billing cleared: 77 is not one of the customer's addresses\n";
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, warning), "{outcome:?}");
        let after = show(&home);
        assert_eq!(
            (address(&after, 3)["city"].as_str(), after.get("default_billing")),
            (Some("Tripoli"), None)
        );
    }
}

#[test]
fn null_clears_a_text_and_restore_clears_what_was_added() {
    for way in ["", "--customer 1"] {
        let home = Home::new();
        update(&home, way, &json!({"taxvat": null, "addresses": [{"id": 1, "company": null}]}));
        let after = show(&home);
        let is_empty = |value: &Value| value.is_null() || value == "";
        assert!(is_empty(&after["taxvat"]) && is_empty(&address(&after, 1)["company"]), "{way}: {after}");
        update(&home, way, &json!({"addresses": [{"id": 2, "fax": "+1 212 736 3199"}]}));
        assert_eq!(address(&show(&home), 2)["fax"], "+1 212 736 3199");
        ok(&home, &format!("undo LAST {way}"));
        assert!(is_empty(&address(&show(&home), 2)["fax"]), "{way}: {}", show(&home));
    }
}

#[test]
fn scalars_may_be_written_as_any_type_that_magento_takes() {
    let home = Home::new();
    update(&home, "--customer 1", &json!({"gender": "1", "addresses": [{"id": 1, "default_shipping": 1}]}));
    let after = show(&home);
    assert_eq!((&after["gender"], &after["default_shipping"]), (&json!(1), &json!("1")));
    home.write("wrong.json", r#"{"gender": "male"}"#, 0o600);
    let line = format!("customer update --customer 1 -i {}", home.path("wrong.json").display());
    assert_eq!(fails(&home, 2, &line)["kind"], "usage");
}

#[test]
fn an_unknown_customer_is_an_error_and_nothing_is_written() {
    let home = Home::new();
    for name in ["nobody@example.com", "àmina.haddad@example.com", "9999", "amina"] {
        let failure = fails(&home, 2, &format!("customer update --customer {name} --gender 1"));
        assert_eq!((&failure["kind"], &failure["applied"]), (&json!("usage"), &json!("no")), "{name}");
    }
}

#[test]
fn customers_are_found_by_words_and_wildcards_stand_for_themselves() {
    let home = Home::new();
    let found = ok(&home, "customer find example hadd");
    assert_eq!((&found["id"], &found["email"]), (&json!(1), &json!("amina.haddad@example.com")));
    for none in ["%", "_", "nobody-at-all", "amina zzz"] {
        let outcome = run(&home, &format!("customer find {none} -o json"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{none}: {outcome:?}");
    }
    let outcome = run(&home, "customer find example --limit 2 -o json");
    assert_eq!(outcome.stdout.lines().count(), 2, "{outcome:?}");
}

#[test]
fn an_administrators_token_never_writes_to_me() {
    let home = Home::new();
    let sandbox = crate::support::raw_http::Sandbox::new();
    let base = format!("http://{}/rest", sandbox.address());
    let outcome = home
        .storefront(&["--api", "magento", "customer", "update", "--email", "new@example.com", "--yes"])
        .env("STOREFRONT_BASE_URL", &base)
        .env("STOREFRONT_TOKEN", "sandbox-admin")
        .run();
    assert_eq!(outcome.code, 3, "{outcome:?}");
    let customers =
        sandbox.get("sandbox-admin", "/rest/V1/customers/search?searchCriteria[pageSize]=50").json();
    assert_eq!(customers["total_count"], 6, "nobody was made: {customers}");
}

#[test]
fn stored_data_that_the_shop_does_not_take_back_is_named() {
    let home = Home::new();
    home.write("empty.json", r#"{"addresses": [{"id": 2, "telephone": ""}]}"#, 0o600);
    let path = home.path("empty.json").display().to_string();
    let stored = home.run(&["--sandbox", "customer", "update", "--yes", "-i", &path]);
    assert_eq!(stored.code, 0, "{stored:?}");
    for change in ["--address 3 --city Tripoli", "--address 2 --telephone +12125550100"] {
        let refused = run(&home, &format!("customer update --customer 1 {change}"));
        refused.assert_failure(4, str![[r#"
error: the service answered 400 Bad Request: "Phone Number" is a required value
  hint: the shop checks the stored addresses first, and address 2 needs telephone: look with `storefront --sandbox --api magento customer show --customer 1`, and correct it in the admin panel; the shop takes no update before
"#]]);
    }
    assert_ne!(address(&show(&home), 3)["city"], "Tripoli");
}

#[test]
fn a_default_that_was_moved_is_restored_without_a_warning() {
    for way in ["", "--customer 1"] {
        let home = Home::new();
        let before = show(&home);
        ok(&home, &format!("customer update {way} --address 3 --default-billing"));
        assert_eq!(show(&home)["default_billing"], "3");
        let outcome = run(&home, &format!("undo LAST {way}"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(!outcome.stderr.contains("warning"), "{outcome:?}");
        let after = show(&home);
        assert_eq!(after["default_billing"], before["default_billing"]);
        assert_eq!(after["addresses"], before["addresses"]);
    }
}

#[test]
fn a_profile_that_was_read_before_another_update_changes_nothing() {
    let home = Home::new();
    let mut read = show(&home);
    read["updated_at"] = json!("2020-01-01 00:00:00");
    home.write("read.json", read.to_string(), 0o600);
    let path = home.path("read.json").display().to_string();
    let done = ok(&home, &format!("customer update --customer 1 -i {path}"));
    assert_eq!((&done["applied"], &done["reason"]), (&json!("no"), &json!("unchanged")), "{done}");
}

#[test]
fn a_customers_own_token_cannot_change_the_group() {
    let home = Home::new();
    run(&home, "customer update --group-id 2 --settle 0").assert_failure(9, str![[r#"
error: the profile was written, but not visible afterwards: group_id
  Changes were made.
  hint: the service takes group_id, website_id, store_id with an administrator's token only: name the customer with --customer ID|EMAIL
"#]]);
    let both = fails(&home, 9, "customer update --group-id 2 --website-id 2 --settle 0");
    assert!(both["hint"].as_str().unwrap().contains("--customer"), "{both}");
    ok(&home, "customer update --customer 1 --group-id 2");
    assert_eq!(show(&home)["group_id"], 2);
}

#[test]
fn one_administrators_token_serves_a_batch_of_customers() {
    let home = Home::new();
    let file = |text: &str| {
        home.write("c.csv", text, 0o600);
        home.path("c.csv").display().to_string()
    };
    let path = file("customer,firstname,lastname\n1,Ada,\n2,,Bob\n1,,Eve\n");
    let outcome = run(&home, &format!("customer update -i {path} -o json"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(ok(&home, "customer show --customer 1")["lastname"], "Eve");
    assert_eq!(ok(&home, "customer show --customer 2")["lastname"], "Bob");
    let path = file("customer,lastname\n1,Zoe\nAmina.Haddad@example.com,Zed\n");
    run(&home, &format!("customer update --restart -i {path}")).assert_failure(
        2,
        str![[r#"
error: [HOME]/config/storefront/c.csv: line 3: the input names customers by id and by email
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
    );
    assert_eq!(ok(&home, "customer show --customer 1")["lastname"], "Eve");
}

#[test]
fn the_marketplace_names_customers_only_in_the_sandbox() {
    let home = Home::new();
    let shown = home.run(&["--sandbox", "customer", "show", "--customer", "2", "-o", "json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["id"], 2);
    let outcome = home
        .storefront(&["customer", "show", "--customer", "2", "--store-view", "fr", "-o", "json"])
        .env("STOREFRONT_BASE_URL", "http://127.0.0.1:9")
        .env("STOREFRONT_TOKEN", "t")
        .run();
    assert_eq!((outcome.code, &outcome.error()["kind"]), (2, &json!("usage")), "{outcome:?}");
}

#[test]
fn a_store_view_is_optional_and_an_unknown_one_is_an_error() {
    let home = Home::new();
    let shown = ok(&home, "customer update --customer 1 --gender 1 --dry-run --store-view fr");
    assert!(shown["request"]["url"].as_str().unwrap().ends_with("/rest/fr/V1/customers/1"), "{shown}");
    run(&home, "customer show --customer 1 --store-view nowhere").assert_failure(3, str![[r#"
error: cannot read the stored addresses: the service answered 400 Bad Request: Specified request cannot be processed
  hint: the shop may have no store view `nowhere`: check --store-view, or leave it out for the default one
"#]]);
}

/// An update of which the shop took only a part is undone by the command that its error names.
#[test]
fn what_was_taken_in_part_is_undone_also_right_after_the_same_change_was_undone_before() {
    let env = TestEnv::new();
    done(&env, "customer update --firstname Janet");
    done(&env, "undo LAST -y");
    // A customer's own token cannot change the group.
    let half = "customer update --firstname Janet --group-id 3 --settle 0.2";
    assert_eq!(magento::run(&env, half).code, 9);
    done(&env, "undo LAST -y");
    assert_eq!(done(&env, "customer show --customer 1")["firstname"], "Amina");
}

/// The shop stores some characters as question marks: undone is what it made of them.
#[test]
fn a_value_that_the_shop_rewrote_is_undone() {
    let env = TestEnv::new();
    let before = done(&env, "customer show --customer 1");
    let line = "customer update --customer 1 --address 1 --company 'Foo \u{1f600}' --city 'Paris '";
    let updated = magento::run(&env, line);
    assert!(updated.stdout.contains(r#""verified":false"#), "{updated:?}");
    done(&env, "undo LAST -y --customer 1");
    let after = done(&env, "customer show --customer 1");
    assert_eq!(after["addresses"], before["addresses"]);
}

/// Nothing but the base says whose profile it is, and Magento follows the ID in the body.
#[test]
fn the_base_of_another_customer_is_refused() {
    let home = Home::new();
    let other = ok(&home, "customer show --customer 2");
    home.write("other.json", other.to_string(), 0o600);
    let base = home.path("other.json").display().to_string();
    let line = format!("customer update --customer 1 --base {base} --firstname X --fault no-get");
    assert_eq!(fails(&home, 3, &line)["message"], "the base is the profile of another customer");
    assert_eq!(ok(&home, "customer show --customer 2"), other);
}

/// A flag that deletes is for a person, or for who says yes.
#[test]
fn a_batch_removes_addresses_by_flag_only_with_a_yes() {
    let home = Home::new();
    home.write("in.ndjson", "{\"customer\": 1}\n", 0o600);
    let line = format!("customer update -i {} --remove-address 3", home.path("in.ndjson").display());
    let refused = home.sandbox("magento", &line);
    assert!(refused.code != 0 && refused.stdout.contains("confirmation required"), "{refused:?}");
    assert_eq!(show(&home)["addresses"].as_array().unwrap().len(), 4);
    assert_eq!(home.sandbox("magento", &format!("{line} --yes --resume")).code, 0);
    assert_eq!(show(&home)["addresses"].as_array().unwrap().len(), 3);
}

/// By other letters than those of ASCII two emails differ: the Kelvin sign is a `k` in lower case.
#[test]
fn a_sheet_finds_an_email_in_any_case_of_its_ascii_letters_only() {
    let env = TestEnv::new();
    let rename = "UPDATE customers SET body = replace(body, 'priya.sharma', 'Ärger') WHERE id = 3";
    env.sandbox.sql(rename);
    let before = done(&env, "customer show --customer 2");
    let id = &before["addresses"][0]["id"];
    env.file("kelvin.csv", format!("customer,address_id,city\nsato.\u{212a}enji@example.jp,{id},Kobe\n"));
    let refused = magento::run(&env, "customer update -i kelvin.csv --yes");
    assert!(refused.code == 7 && refused.stdout.contains("no customer has the email"), "{refused:?}");
    assert_eq!(done(&env, "customer show --customer 2"), before);
    let id = &done(&env, "customer show --customer 3")["addresses"][0]["id"];
    env.file("umlaut.csv", format!("customer,address_id,city\nÄRGER@Example.in,{id},Pune\n"));
    let updated = magento::run(&env, "customer update -i umlaut.csv --yes");
    assert_eq!(updated.code, 0, "{updated:?}");
    assert_eq!(done(&env, "customer show --customer 3")["addresses"][0]["city"], "Pune");
    env.file("all.csv", "email\nÄRGER@example.in\n");
    let checked = magento::run(&env, "customer check -i all.csv");
    assert!(!checked.stdout.contains("unknown"), "{checked:?}");
}
