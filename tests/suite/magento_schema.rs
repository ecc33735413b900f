//! The table of Magento's fields against the schema that it is made of.

use std::path::Path;

use serde_json::Value;

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// What a property holds, as the table says it.
fn holds(part: &Value, definitions: &Value) -> String {
    let (kind, inside) = match part["type"].as_str() {
        Some("array") => ("list", &part["items"]),
        _ => ("object", part),
    };
    let Some(reference) = inside["$ref"].as_str() else {
        return match part["type"].as_str().unwrap() {
            "array" => "texts".to_owned(),
            "string" => "text".to_owned(),
            scalar => scalar.to_owned(),
        };
    };
    let title = &definitions[reference.rsplit('/').next().unwrap()]["title"];
    format!("{kind} {}", title.as_str().unwrap_or_default()).trim_end().to_owned()
}

#[test]
fn the_table_says_what_the_schema_says() {
    let schema: Value = serde_json::from_str(&file("tests/golden/magento-schema.json")).unwrap();
    let definitions = &schema["definitions"];
    let mut expected = Vec::new();
    for definition in definitions.as_object().unwrap().values() {
        for (name, part) in definition["properties"].as_object().unwrap() {
            let object = definition["title"].as_str().unwrap();
            let doc = part["description"].as_str().unwrap_or_default();
            let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
            let doc = match doc.trim_end_matches('.') {
                // The schema has a paragraph of legal advice there.
                _ if name == "dob" => "Date of birth".to_owned(),
                "" => name[..1].to_uppercase() + &name[1..].replace('_', " "),
                doc => doc.to_owned(),
            };
            let doc = doc.replace("Vat id", "VAT number");
            let words = doc.split(' ').map(|word| if word.eq_ignore_ascii_case("id") { "ID" } else { word });
            let doc = words.collect::<Vec<_>>().join(" ");
            // The client takes codes there, too.
            let is_view = name == "store_id" && object.contains("label");
            let holds = if is_view { "storeview".to_owned() } else { holds(part, definitions) };
            expected.push(format!("{object}\t{name}\t{holds}\t{doc}"));
        }
    }
    assert!(expected.len() > 100, "{} fields", expected.len());
    let table = file("crates/core/src/interface/magento.tsv");
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(
        rows, expected,
        "crates/core/src/interface/magento.tsv is stale: run scripts/magento-fields.py"
    );
}
