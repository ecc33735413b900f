//! `attribute create`: flags, files, and the administrator's token.

use std::fmt::Write as _;

use serde_json::json;

use crate::support::test_env::TestEnv;

#[test]
fn an_attribute_of_800_options_in_six_languages_comes_from_one_csv() {
    let env = TestEnv::new();
    let mut csv = "label,label:1,label:2,label:3,label:4,label:5,label:6\n".to_owned();
    for n in 1..=800 {
        writeln!(csv, "o{n},Couleur {n},Farbe {n},色 {n},לון {n},Цвет {n},Χρώμα {n}").unwrap();
    }
    env.file("options.csv", csv);
    env.done("attribute create --code code_1 --label Colour --type select --options options.csv --default-option o7");
    let shown = env.sandbox.show();
    let attribute =
        shown["attributes"].as_array().unwrap().iter().find(|one| one["attribute_code"] == "code_1").unwrap();
    let options = attribute["options"].as_array().unwrap();
    assert_eq!((options.len(), &options[799]["label"]), (800, &json!("o800")));
    assert_eq!(options[799]["store_labels"][2], json!({"store_id": 3, "label": "色 800"}));
    assert_eq!(options.iter().filter(|option| option["is_default"] == true).count(), 1);
}
