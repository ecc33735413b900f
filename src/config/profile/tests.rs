//! Values of settings, as they are written and as they are refused.

use super::{DEFAULT_PROFILE, Key, PROFILE, Setting};
use crate::config::{Profile, to_json};

fn key(name: &str) -> &'static Key {
    PROFILE.iter().find(|key| key.name == name).unwrap()
}

fn write(name: &str, words: &[&str]) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    key(name).write(&words).map(|value| value.to_string())
}

#[test]
fn a_command_is_a_list_however_it_is_written() {
    for words in
        [&["pass", "show", "a shop"][..], &["pass show \"a shop\""], &["[\"pass\", \"show\", \"a shop\"]"]]
    {
        assert_eq!(write("token-command", words).unwrap(), r#"["pass", "show", "a shop"]"#);
    }
    assert!(write("token-command", &[""]).is_err());
    assert!(write("token-command", &["[1]"]).is_err());
}

#[test]
fn scalars_are_checked_as_they_are_written() {
    assert_eq!(write("retry", &["0"]).unwrap(), "0");
    assert_eq!(write("timeout", &["0.5"]).unwrap(), "0.5");
    assert_eq!(write("timeout", &["500ms"]).unwrap(), "\"500ms\"");
    assert_eq!(write("settle", &["0"]).unwrap(), "0");
    assert_eq!(write("allow-plain-http", &["true"]).unwrap(), "true");
    for (name, word) in [
        ("retry", "-1"),
        ("retry", "many"),
        ("retry", "4294967296"),
        ("timeout", "0"),
        ("timeout", "nan"),
        ("timeout", "86401"),
        ("timeout", "0ms"),
        ("settle", "-1"),
        ("allow-plain-http", "yes"),
        ("ship-layout", "round"),
        ("api", "shopify"),
        ("store-view", ".."),
        ("read.path", "V1"),
        ("read.customer", "customer"),
        ("read.ignore", "customer"),
        ("token-env", ""),
        ("token", " "),
    ] {
        assert!(write(name, &[word]).is_err(), "{name} {word}");
    }
    assert!(write("retry", &["1", "2"]).is_err());
}

#[test]
fn no_message_repeats_a_value_that_may_be_a_secret() {
    for key in PROFILE {
        for value in ["\"hunter2\"", "[\"\", \"hunter2\"]", "{ hunter2 = 1 }", "[{ a = \"hunter2\" }]"] {
            let value: toml_edit::Value = value.parse().unwrap();
            if let Err(problem) = key.check(&value.into()) {
                assert!(!problem.contains("hunter2") || key.name == "store-view", "{}: {problem}", key.name);
            }
        }
    }
    let item = toml_edit::value("hunter2");
    assert_eq!(to_json("token", &item), "•••");
    assert_eq!(to_json("admin-token", &item), "•••");
    let named_so = profile("token.retry = 1\ntoken.token = \"hunter2\"");
    assert_eq!(to_json("profiles", &named_so), serde_json::json!({"token": {"retry": 1, "token": "•••"}}));
    assert!(!format!("{:?}", Profile::parse("a", &profile("token = \"hunter2\""))).contains("hunter2"));
}

#[test]
fn a_path_leads_to_a_setting_a_table_or_nowhere() {
    for (path, found) in [
        (&[][..], "table"),
        (&["read"], "table"),
        (&["read", "path"], "read.path"),
        (&["retry"], "retry"),
        (&["retry", "x"], "none"),
        (&["read", "retry"], "none"),
        (&["read.path"], "none"),
        (&["x"], "none"),
    ] {
        let name = match Setting::find(path) {
            Some(Setting::Table) => "table",
            Some(Setting::Value(key)) => key.name,
            None => "none",
        };
        assert_eq!(name, found, "{path:?}");
    }
    assert!(PROFILE.iter().all(|key| key.name != DEFAULT_PROFILE.name));
}

fn profile(text: &str) -> toml_edit::Item {
    text.parse::<toml_edit::DocumentMut>().unwrap().as_item().clone()
}
