//! What a sheet or a flat record means: whom it is for, and whether a name is the account's or an address's.

use snapbox::str;

use crate::support::magento;
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

/// Runs a batch that must be refused as a whole; gives message and hint.
#[track_caller]
fn refused(api: &str, line: &str, name: &str, input: &str) -> String {
    let env = TestEnv::new();
    env.file(name, input);
    let before = env.profile();
    let line = format!("customer update -i {name} --yes -q -o json {line}");
    let program = if api == "magento" { magento::program(&env, &line) } else { env.storefront(&line) };
    let outcome = program.run();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
    assert_eq!(env.requests(), Vec::<String>::new(), "{outcome:?}");
    assert_eq!(env.profile(), before);
    let error = outcome.error();
    format!("{}\n  hint: {}", error["message"].as_str().unwrap(), error["hint"].as_str().unwrap())
}

#[test]
fn an_email_that_is_meant_as_the_key_does_not_change_the_tokens_own_customer() {
    let sheet = "email,address_id,city,postcode\nsato.kenji@example.jp,1,Kyoto,600-8001\njan.mueller@example.de,1,Bonn,53111\n";
    assert_snapshot(
        &refused("magento", "", "in.csv", sheet),
        str![[r#"
in.csv: lines 2, 3: column email changes an account, and the record does not say whose: name the customer, by ID or present email, in `customer`
  hint: fix these records and try again
"#]],
    );
    assert_snapshot(
        &refused("marketplace", "", "in.csv", sheet),
        str![[r#"
in.csv: lines 2, 3: column email changes an account, and the record does not say whose: give the token of the customer in `token`
  hint: fix these records and try again
"#]],
    );
    for (name, input) in [
        ("in.csv", "firstname\nKen\n"),
        ("in.csv", "lastname,gender\nAbe,1\n"),
        ("in.ndjson", "{\"email\": \"sato.kenji@example.jp\"}\n{\"gender\": 1}\n"),
        ("in.json", "[{\"firstname\": \"Ken\"}]"),
    ] {
        for api in ["magento", "marketplace"] {
            let said = refused(api, "", name, input);
            assert!(said.contains(if api == "magento" { "`customer`" } else { "`token`" }), "{said}");
        }
    }
    assert!(refused("magento", "", "in.csv", "prefix\nDr.\n").contains("column prefix"));
}

#[test]
fn a_record_that_names_its_customer_or_has_a_token_may_change_names_and_email() {
    let env = TestEnv::new();
    env.file("ids.csv", "customer,email,firstname\n2,kenji@example.jp,Ken\n3,jan@example.de,Jan\n");
    assert_eq!(magento::run(&env, "customer update -i ids.csv --yes").code, 0);
    env.file("tokens.csv", "token,email,firstname\nsandbox-customer-1,amina@example.com,Amy\n");
    assert_eq!(env.run("customer update -i tokens.csv --yes").code, 0);
    // A nested document says what it means.
    env.file(
        "nested.ndjson",
        "{\"customer\": {\"firstname\": \"Ami\", \"addresses\": [{\"id\": 2, \"city\": \"Troy\"}]}}\n",
    );
    let outcome = env.run("customer update -i nested.ndjson --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(env.profile()["firstname"], "Ami");
}

#[test]
fn a_name_beside_fields_of_an_address_is_refused_in_a_flat_input() {
    let export = "customer,address_id,city,country_id,firstname,lastname,telephone\n1,2,Albany,US,Lina,Haddad-Gross,+1 518\n";
    assert_snapshot(
        &refused("magento", "", "in.csv", export),
        str![[r#"
in.csv: line 2, column firstname changes the account holder, not the address, whose field is `address_firstname`
  hint: fix the record and try again
"#]],
    );
    for name in ["firstname", "lastname", "prefix", "middlename", "suffix"] {
        for (file, input) in [
            ("in.csv", format!("customer,address_id,city,{name}\n1,2,Troy,X\n")),
            ("in.ndjson", format!("{{\"customer\": 1, \"{name}\": \"X\", \"city\": \"Troy\"}}\n")),
        ] {
            for flags in ["", "--allow-unknown"] {
                let said = refused("magento", flags, file, &input);
                assert!(said.contains(&format!("`address_{name}`")), "{said}");
            }
        }
        let (file, input) = ("in.csv", format!("customer,{name}\n1,X\n"));
        let said = refused("magento", "--address 2 --city Troy", file, &input);
        assert!(said.contains(&format!("`{name}`")), "{said}");
    }
}

#[test]
fn a_name_in_a_document_beside_flags_of_an_address_is_refused() {
    let env = TestEnv::new();
    env.file("one.json", r#"{"firstname": "Ken"}"#);
    let error = env.fails(2, "customer update -i one.json --address 2 --city Troy --yes");
    assert!(error["message"].as_str().unwrap().contains("`firstname`"), "{error}");
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn fields_of_an_address_need_the_column_of_its_id() {
    assert_snapshot(
        &refused("marketplace", "", "in.csv", "city,postcode\nBonn,53111\n"),
        str![[r#"
in.csv: line 2: fields of an address are given, without the column `address_id`: name the id of a stored address, or `new` to add one
  hint: fix the record and try again
"#]],
    );
    for header in ["customer,telephone", "customer,region", "customer,custom_attribute:floor"] {
        let said = refused("magento", "", "in.csv", &format!("{header}\n1,5\n"));
        assert!(said.contains("`address_id`"), "{said}");
    }
    let empty = "customer,address_id,address_firstname,city\n1,,Amina,Berlin\n";
    assert!(refused("magento", "", "in.csv", empty).contains("`new`"));
    let env = TestEnv::new();
    env.file("new.csv", "address_id,address_firstname,address_lastname,street,city,country_id,postcode,telephone\nnew,A,B,Allee 1,Berlin,DE,10115,1\n");
    let outcome = env.run("customer update -i new.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn columns_of_other_programs_are_suggested_by_their_meaning() {
    let env = TestEnv::new();
    for (line, titles, meant) in [
        ("customer update", "_email,city", Some("customer")),
        ("customer update", "_entity_id,city", Some("address_id")),
        ("customer update", "customer,Zip", Some("postcode")),
        ("customer update", "customer,Mobile Phone", Some("telephone")),
        ("customer update", "customer,rp_token", None),
        ("customer update", "customer,password_hash", None),
        ("quote add-item", "customer,sku,quantity", Some("qty")),
        ("quote add-item", "email,sku,qty", Some("customer")),
        ("attribute create", "code,frontend_label,type", Some("default_frontend_label")),
        ("attribute create", "code,label,label_fr", Some("label:STORE")),
        ("attribute option add", "code,label-fr_FR", Some("label:STORE")),
    ] {
        env.file("in.csv", format!("{titles}\n"));
        let error = magento::fails(&env, 2, &format!("{line} -i in.csv --yes"));
        let message = error["message"].as_str().unwrap();
        match meant {
            Some(meant) => {
                assert!(message.contains(&format!("did you mean `{meant}`?")), "{titles}: {message}");
            }
            None => assert!(!message.contains("did you mean"), "{titles}: {message}"),
        }
    }
}

#[test]
fn a_field_of_an_address_beside_the_list_is_named_with_the_list() {
    let env = TestEnv::new();
    env.file("in.json", r#"{"customer": {"city": "Troy", "zip": "12180"}}"#);
    let message = env.fails(2, "customer update -i in.json --yes")["message"].as_str().unwrap().to_owned();
    for meant in ["addresses[].city", "addresses[].postcode"] {
        assert!(message.contains(&format!("did you mean `{meant}`?")), "{message}");
    }
}

#[test]
fn flags_over_a_sheet_mean_what_its_columns_would() {
    for name in ["firstname", "lastname", "prefix"] {
        let said =
            refused("magento", &format!("--{name} X"), "in.csv", "customer,address_id,city\n1,2,Troy\n");
        assert!(said.contains(&format!("`address_{name}`")), "{said}");
    }
    for (file, input) in [("in.csv", "gender\n1\n"), ("in.ndjson", "{\"gender\": 1}\n{\"group_id\": 2}\n")] {
        let said = refused("marketplace", "--email new@example.com", file, input);
        assert!(said.contains("`email`") && said.contains("`token`"), "{said}");
    }
    let env = TestEnv::new();
    env.file("one.csv", "customer,gender\n1,1\n");
    let outcome = magento::run(&env, "customer update -i one.csv --firstname Amy --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn a_row_without_a_type_is_no_attribute() {
    let env = TestEnv::new();
    env.file("sums.csv", "code,label,type\ncolor_2,Color,text\nTotal,50,\n");
    let error = magento::fails(&env, 2, "attribute create -i sums.csv --yes");
    assert!(error["message"].as_str().unwrap().contains("line 3, column type is empty"), "{error}");
    env.file("untyped.csv", "code,label\ncolor_2,Color\n");
    let error = magento::fails(&env, 2, "attribute create -i untyped.csv --yes");
    assert!(error["message"].as_str().unwrap().contains("line 2: frontend_input is missing"), "{error}");
    assert_eq!(env.requests(), Vec::<String>::new());
    let outcome = magento::run(&env, "attribute create -i untyped.csv --type text --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn the_second_line_of_a_street_is_no_column() {
    for title in ["street2", "Address 2", "Default Address Address2", "billing_address_2"] {
        let sheet = format!("customer,address_id,{title}\n1,4,Rear\n");
        let said = refused("magento", "", "in.csv", &sheet);
        assert!(said.contains("a second line of the street stands in `street`, after a `|`"), "{said}");
    }
}

#[test]
fn tabs_and_semicolons_are_a_sheet_whatever_the_name_of_the_file() {
    for (file, sheet) in [
        ("excel.txt", "customer\taddress_id\tcity\n1\t4\tBonn\n"),
        ("excel.export", "\"customer\";\"address_id\";\"city\"\r\n1;4;Bonn\r\n"),
    ] {
        let env = TestEnv::new();
        env.file(file, sheet);
        let outcome = magento::run(&env, &format!("customer update -i {file} --yes"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_eq!(env.address(4)["city"], "Bonn");
    }
    let env = TestEnv::new();
    env.file("half.json", "{\n\t\"gender\": 1;");
    let error = magento::fails(&env, 2, "customer update --customer 1 -i half.json --yes");
    assert!(error["message"].as_str().unwrap().contains("is not valid JSON"), "{error}");
}

#[test]
fn fields_of_an_address_in_a_flat_record_need_the_address() {
    let said = refused(
        "magento",
        "",
        "in.ndjson",
        "{\"customer\": 1, \"gender\": 1}\n{\"customer\": 1, \"city\": \"Troy\"}\n",
    );
    assert!(said.contains("line 2: fields of an address are given"), "{said}");
    let said = refused(
        "marketplace",
        "--allow-unknown",
        "in.ndjson",
        "{\"postcode\": \"12180\"}\n{\"gender\": 1}\n",
    );
    assert!(said.contains("line 1: fields of an address are given"), "{said}");
}

#[test]
fn a_document_over_several_lines_is_no_ndjson_and_jq_makes_it_one() {
    for text in ["{\n  \"customer\": 1,\n  \"gender\": 1\n}\n", "{\"addresses\": [\n{\"id\": 1}\n]}\n"] {
        let said = refused("magento", "", "in.ndjson", text);
        assert!(said.contains("a record is one line") && said.contains("jq -c"), "{said}");
    }
}

#[test]
fn the_titles_of_the_admin_panel_are_columns() {
    let env = TestEnv::new();
    let titles =
        "Attribute Code,Default Label,Catalog Input Type for Store Owner,Values Required,Use in Search";
    env.file("panel.csv", format!("{titles}\nfit,Fit,Text Field,Yes,No\n"));
    let line = "attribute create -i panel.csv --dry-run --jq .request.body.attribute";
    let outcome = magento::run(&env, line);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let sent: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    for (field, value) in [
        ("default_frontend_label", serde_json::json!("Fit")),
        ("frontend_input", "text".into()),
        ("is_required", true.into()),
        ("is_searchable", "0".into()),
    ] {
        assert_eq!(sent[field], value, "{sent}");
    }
}
