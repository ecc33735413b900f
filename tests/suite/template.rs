//! `template`: what it prints runs on the sandbox as it is.

use serde_json::Value;

use crate::support::storefront::Home;

const OPERATIONS: [&str; 4] = ["quote ship", "quote add-item", "customer update", "attribute create"];

#[test]
fn a_template_runs_on_the_sandbox_as_it_is() {
    for operation in OPERATIONS {
        let home = Home::new();
        let template = home.ok(&format!("template {operation}"));
        let mut words: Vec<&str> = operation.split(' ').collect();
        words.extend(["--sandbox", "-i", "-", "-o", "json"]);
        let done = home.storefront(&words).stdin(template).run();
        assert!(done.code == 0 && done.stdout.contains(r#""applied":"yes""#), "{operation}: {done:?}");
        assert!(!done.stderr.contains("warning"), "{done:?}");
    }
}

#[test]
fn a_csv_template_runs_on_the_sandbox_as_it_is_and_sends_what_the_document_sends() {
    for operation in OPERATIONS {
        let home = Home::new();
        let csv = home.ok(&format!("template {operation} --format csv"));
        assert_eq!(csv.lines().count(), 2, "{csv}");
        std::fs::write(home.dir.path().join("in.csv"), &csv).unwrap();
        std::fs::write(home.dir.path().join("in.json"), home.ok(&format!("template {operation}"))).unwrap();
        let sent = |file: &str| -> Value {
            serde_json::from_str(&home.ok(&format!("{operation} --sandbox -n -o json -i {file}"))).unwrap()
        };
        let (mut row, mut document) = (sent("in.csv"), sent("in.json"));
        for sent in [&mut row, &mut document] {
            drop_what_no_cell_holds(&mut sent["request"]["body"]);
        }
        assert_eq!(row["request"]["body"], document["request"]["body"], "{operation}");
        let done = home
            .run(&[&operation.split(' ').collect::<Vec<_>>()[..], &["--sandbox", "-i", "in.csv"]].concat());
        assert_eq!(done.code, 0, "{operation}: {done:?}");
    }
}

/// The labels of single options in single store views have no column.
fn drop_what_no_cell_holds(body: &mut Value) {
    for option in body["attribute"]["options"].as_array_mut().into_iter().flatten() {
        option.as_object_mut().unwrap().shift_remove("store_labels");
    }
}

#[test]
fn an_operation_is_one_word_or_two() {
    let home = Home::new();
    let template = home.ok("template quote ship");
    assert_eq!(home.ok("template quote-ship"), template);
    assert_eq!(home.run(&["template", "quote ship"]).stdout, template);
    assert!(home.fails(2, "template quote-shp").contains("did you mean `quote-ship`?"));
    assert!(home.fails(2, "schema order").contains("attribute-create"));
}

#[test]
fn the_meaning_of_the_members_is_told_beside_and_not_when_quiet() {
    let home = Home::new();
    let told = home.run(&["template", "quote", "add-item"]);
    assert!(told.stderr.contains("cartItem.qty") && told.stderr.contains("Quantity"), "{told:?}");
    assert!(told.stderr.contains("Only cartItem is required"), "{told:?}");
    let quiet = home.run(&["template", "quote", "add-item", "-q"]);
    assert_eq!((quiet.stdout, quiet.stderr), (told.stdout, String::new()));
}
