//! Errors that name what to change: the store view, whose token it is, the variable, the flag.

use serde_json::Value;
use snapbox::str;

use crate::support::mock_server::answer;
use crate::support::scripted::{UPDATE, against, fails_with};
use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

#[test]
fn an_unknown_store_view_is_named_with_its_flag_by_reads_and_writes() {
    let home = Home::new();
    for line in [
        "customer show",
        "customer update --address 1 --city Lyon",
        "quote add-item --quote-id 1 --sku mug-blue --qty 1",
    ] {
        let words: Vec<&str> =
            ["--sandbox", "--store-view", "defualt"].into_iter().chain(line.split(' ')).collect();
        let outcome = home.run(&words);
        let hint = "hint: the service has no store view `defualt`: name another with --store-view";
        assert!(outcome.code != 0 && outcome.stderr.contains(hint), "{outcome:?}");
        assert!(!outcome.stderr.contains("read.path"), "{outcome:?}");
    }
}

#[test]
fn a_call_of_an_administrator_with_a_customers_token_names_the_login() {
    let service = TestEnv::new();
    let line = ["attribute", "create", "--code", "z", "--label", "Z", "--type", "text"];
    let outcome = service.storefront(&line).without("STOREFRONT_ADMIN_TOKEN").run();
    assert_eq!(outcome.code, 6, "{outcome:?}");
    assert!(
        outcome.stderr.contains("no administrator's token is set, so the customer token was used")
            && outcome.stderr.contains("`storefront auth login --admin`"),
        "{outcome:?}"
    );
}

#[test]
fn only_a_call_that_worked_makes_a_token_ok() {
    let service = TestEnv::new();
    let checks = |variables: &[(&str, &str)]| -> Value {
        let mut run = service.storefront(&["doctor", "-o", "json"]).without("STOREFRONT_ADMIN_TOKEN");
        for (name, value) in variables {
            run = run.env(name, value);
        }
        serde_json::from_str::<Value>(&run.run().stdout).unwrap()["checks"].clone()
    };
    let check = |checks: &Value, name: &str| {
        checks.as_array().unwrap().iter().find(|check| check["check"] == name).unwrap().clone()
    };
    let right = checks(&[]);
    assert_eq!(check(&right, "customer token")["status"], "ok");
    let admin = check(&right, "admin token");
    assert_eq!(admin["status"], "skipped");
    assert!(admin["detail"].as_str().unwrap().ends_with("not checked as an administrator's"), "{admin}");
    let view = check(&checks(&[("STOREFRONT_STORE_VIEW", "defualt")]), "store view");
    assert_eq!(view["fix"], "correct STOREFRONT_STORE_VIEW, or pass --store-view CODE");
    let path = checks(&[("STOREFRONT_BASE_URL", &format!("{}/rest", service.url()))]);
    let fix = check(&path, "profile")["fix"].as_str().unwrap().to_owned();
    assert!(fix.contains("set it with STOREFRONT_BASE_URL"), "{fix}");
}

#[test]
fn api_puts_the_store_view_into_its_path() {
    let home = Home::new();
    let call =
        ["--sandbox", "api", "GET", "/V1/storeview/{store_view}/customer/profile", "--jq", ".customer.id"];
    let outcome = home.run(&call);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "1\n"), "{outcome:?}");
}

#[test]
fn a_number_that_is_none_and_a_yes_that_is_none_say_what_is_expected() {
    let home = Home::new();
    for line in ["customer update --address abc --city X", "customer show --retry x"] {
        let error = home.fails(2, &format!("--sandbox {line}"));
        assert!(error.contains("invalid digit found in string"), "{error}");
    }
    std::fs::write(
        home.dir.path().join("a.csv"),
        "attribute_code,default_frontend_label,frontend_input,is_required\na,A,text,Vielleicht\n",
    )
    .unwrap();
    let error = home.fails(2, "--sandbox attribute create -i a.csv");
    assert!(
        error.contains("line 2, column is_required: expected yes or no (or true, false, 1, 0)"),
        "{error}"
    );
    let error = home.fails(4, "--sandbox attribute create --code a --label A --type yesno");
    assert!(error.contains("unknown frontend_input `yesno`; known: select, multiselect, text"), "{error}");
}

#[test]
fn history_is_limited_and_ends_with_the_sandbox() {
    let home = Home::new();
    for postcode in ["10119", "10120"] {
        home.ok(&format!("--sandbox customer update --address 2 --postcode {postcode}"));
    }
    let listed = home.ok("--sandbox customer history --limit 1 --jq .snapshot");
    assert!(listed.starts_with("000002") && listed.lines().count() == 1, "{listed}");
    let error = home.fails(3, "--sandbox customer history --delete all");
    assert!(
        error.contains("cannot ask `Delete 2 snapshots? They can no longer be restored`: not a terminal")
    );
    home.ok("sandbox reset");
    assert_eq!(home.ok("--sandbox customer history -o json"), "");
}

#[test]
fn a_csv_template_explains_its_columns() {
    let home = Home::new();
    for (operation, column) in [
        (
            "attribute-create",
            "options                 labels separated by |  Options to choose from; * marks the default",
        ),
        ("attribute-create", "is_searchable           yes or no"),
        ("customer-update", "street"),
        ("quote-add-item", "option:OPTION_ID"),
        ("quote-ship", "paymentMethod.FIELD"),
    ] {
        let outcome = home.run(&["template", operation, "--format", "csv"]);
        let explained = outcome.stderr.lines().find(|line| line.starts_with(column));
        assert!(explained.is_some() && outcome.stderr.starts_with("COLUMN"), "{outcome:?}");
    }
}

#[test]
fn a_record_of_an_unknown_address_is_given_back_to_be_corrected() {
    let home = Home::new();
    let file = |name: &str| home.dir.path().join(name);
    std::fs::write(file("cu.csv"), "address_id,city\n1,Lyon\n99,Oslo\n").unwrap();
    let error = home.fails(7, "--sandbox customer update -i cu.csv --failed f.csv");
    assert!(error.contains("no address 99 (the profile has 1, 2, 3 and 4)"), "{error}");
    let hint = "fix the failed records and run them: `storefront --sandbox customer update --input f.csv`";
    assert!(error.contains(hint), "{error}");
    let failed = std::fs::read_to_string(file("f.csv")).unwrap();
    assert!(failed.contains("\n99,Oslo,"), "{failed}");
}

#[test]
fn an_error_page_of_a_proxy_is_reported_with_a_hint() {
    for (title, expected) in [
        (
            "400 No required SSL certificate was sent",
            str![[r#"
cannot read the stored addresses: the service answered 400 Bad Request: an HTML page titled 400 No required SSL certificate was sent
  hint: set `client-certificate` in the profile to one that the service accepts
"#]],
        ),
        (
            "400 The plain HTTP request was sent to HTTPS port",
            str![[r#"
cannot read the stored addresses: the service answered 400 Bad Request: an HTML page titled 400 The plain HTTP request was sent to HTTPS port
  hint: write https:// in the base URL
"#]],
        ),
        (
            "400 Bad Request",
            str![[r#"
cannot read the stored addresses: the service answered 400 Bad Request: an HTML page titled 400 Bad Request
  hint: set `read.path` to the path that returns the profile
"#]],
        ),
    ] {
        let page = format!("<html>\r\n<head><title>{title}</title></head></html>");
        let (outcome, _) =
            against(vec![answer("400 Bad Request", "Content-Type: text/html\r\n", &page)], UPDATE);
        fails_with(&outcome, 3, expected);
    }
}
