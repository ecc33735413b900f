//! `template`: what it prints runs on the sandbox as it is.

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
fn an_operation_is_one_word_or_two() {
    let home = Home::new();
    let template = home.ok("template quote ship");
    assert_eq!(home.ok("template quote-ship"), template);
    assert_eq!(home.run(&["template", "quote ship"]).stdout, template);
    assert!(home.fails(2, "template quote-shp").contains("did you mean quote-ship?"));
    assert!(home.fails(2, "schema order").contains("attribute-create"));
}

#[test]
fn the_meaning_of_the_members_is_told_beside_and_not_when_quiet() {
    let home = Home::new();
    let told = home.run(&["template", "quote", "add-item"]);
    assert!(told.stderr.contains("cartItem.qty") && told.stderr.contains("Quantity"), "{told:?}");
    assert!(told.stderr.contains("requires cartItem"), "{told:?}");
    let quiet = home.run(&["template", "quote", "add-item", "-q"]);
    assert_eq!((quiet.stdout, quiet.stderr), (told.stdout, String::new()));
}
