//! What an error says is so, and what its hint names can be done.

use serde_json::Value;

use crate::support::batch::attributes;
use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve, words};

fn message(error: &Value) -> &str {
    error["message"].as_str().unwrap()
}

#[test]
fn without_a_read_no_hint_names_a_command_that_reads() {
    let env = TestEnv::new();
    env.file("base.json", env.run("customer show -o json").stdout);
    let base = env.home.dir.path().join("base.json");
    let lost = TestEnv::with_faults(&["no-get", "502-after-commit"]);
    lost.file("base.json", std::fs::read(base).unwrap());
    let error = lost.fails(8, "customer update --address 2 --city Troy --base base.json --yes");
    assert!(message(&error).ends_with("; the profile cannot be read back to verify it"), "{error}");
    let snapshot = lost.snapshots()[0].display().to_string();
    let hint = format!(
        "look in the shop whether the change is there; `{snapshot}` contains the profile as it was before"
    );
    assert_eq!(error["hint"], hint);
}

#[test]
fn a_base_file_without_a_profile_is_the_one_at_fault() {
    let env = TestEnv::new();
    env.file("base.json", "[]");
    let error = env.fails(3, "customer update --email a@example.com --base base.json");
    assert_eq!(message(&error), "`base.json` does not contain a profile: it is an array");
    assert!(error["hint"].as_str().unwrap().starts_with("save the profile with `storefront"), "{error}");
}

#[test]
fn a_reply_that_is_no_json_is_said_to_be_none() {
    for (body, what) in [
        ("", " from the response: it is empty"),
        ("<html>Please sign in</html>", ": the service answered 200 OK: an HTML page without a title"),
        (r#"{"addresses": ["#, " from the response: it is not valid JSON: "),
    ] {
        let server = MockServer::start(vec![answer("200 OK", "", body)]);
        let home = Home::new();
        let shown = serve(home.storefront(&words("customer show -o json --retry 0")), &server.url("")).run();
        let error = shown.error();
        let expected = format!("cannot read the stored addresses{what}");
        assert!(message(&error).starts_with(&expected), "{error}");
        assert!(!error["hint"].as_str().unwrap().contains("--base"), "{error}");
    }
}

#[test]
fn joined_journals_say_which_shards_are_missing() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(8));
    let mut joined = Vec::new();
    for shard in [0, 2, 3] {
        env.run(&format!("attribute create -i a.csv --shard {shard}/4"));
        let part = env.home.dir.path().join(format!("a.csv.{shard}-4.journal"));
        joined.extend(std::fs::read(&part).unwrap());
        std::fs::remove_file(part).unwrap();
    }
    env.file("a.csv.journal", joined);
    let error = env.fails(3, "attribute create -i a.csv --resume");
    let expected = "a.csv.journal` covers only shards 0/4, 2/4, 3/4; missing: shard 1/4";
    assert!(message(&error).ends_with(expected), "{error}");
}

#[test]
fn a_broken_credentials_file_is_to_be_corrected() {
    let home =
        Home::with_config("[profiles.shop]\nbase-url = \"http://127.0.0.1:9\"\nstore-view = \"default\"\n");
    home.write("credentials.toml", "shop = \"x", 0o600);
    let error = home.fails(2, "-p shop auth status");
    let hint = "hint: correct the file, or delete it and run `storefront -p shop auth login` again";
    assert!(error.contains(hint) && !error.contains("set a new token"), "{error}");
}

#[test]
fn an_attribute_without_a_code_is_named_with_its_address() {
    let env = TestEnv::new();
    env.file("in.json", r#"{"addresses": [{"id": 2, "custom_attributes": [{"value": "1"}]}]}"#);
    let error = env.fails(2, "customer update -i in.json");
    assert_eq!(message(&error), "address 2: custom_attributes: an element has no `attribute_code`");
    assert_eq!(error["hint"], "add an `attribute_code` to each element");
}

#[test]
fn a_hint_names_only_flags_of_its_command_and_fields_of_its_input() {
    let home = Home::new();
    let error = home.fails(3, "--sandbox quote ship --ship-to-address 9 --payment-method checkmo");
    assert!(
        error.contains("hint: list the addresses with `storefront --sandbox customer show`\n"),
        "{error}"
    );
    let input = r#"{"shipping_addres": {}, "paymentMethod": {"method": "checkmo"}}"#;
    std::fs::write(home.dir.path().join("in.json"), input).unwrap();
    let error = home.fails(2, "--sandbox quote ship -i in.json");
    assert!(error.contains("shipping_addres: unknown field; did you mean `shipping_address`?"), "{error}");
}

#[test]
fn a_store_view_is_announced_where_the_path_has_it() {
    let env = TestEnv::new();
    let line = "attribute create --code a --label A --type text";
    let sent = env.run(line);
    assert!(
        sent.stderr.contains("attribute create: host ") && !sent.stderr.contains("store view"),
        "{sent:?}"
    );
    let sent = env.run("customer update --address 2 --city Troy");
    assert!(sent.stderr.contains(", store view "), "{sent:?}");
}

#[test]
fn a_database_below_a_file_names_the_file() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("file"), "").unwrap();
    let error = home.fails(2, "sandbox reset --data file/x.db");
    let expected = "cannot use `file/x.db` as the database of the sandbox: `file` is not a directory";
    assert!(error.contains(expected), "{error}");
}
