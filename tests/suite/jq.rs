//! `--jq`: an expression over each result.

use serde_json::Value;

use crate::support::storefront::Home;

#[test]
fn an_expression_picks_from_the_result_and_implies_json() {
    let home = Home::new();
    assert_eq!(home.ok("--sandbox customer show --jq .email"), "amina.haddad@example.com\n");
    assert_eq!(
        home.ok("--sandbox customer show --jq .extension_attributes.loyalty_points"),
        "12345678901234567890\n"
    );
    let update = "--sandbox customer update --address 2 --city Albany";
    assert_eq!(home.ok(&format!("{update} --jq .applied,.changes[].after")), "yes\nAlbany\n");
    assert_eq!(home.ok(&format!("{update} --jq .reason -o json")), "unchanged\n");
}

#[test]
fn a_wrong_expression_stops_the_command_before_anything_is_sent() {
    let home = Home::new();
    let update = "--sandbox customer update --address 2 --city Albany";
    let refused: Value = serde_json::from_str(&home.fails(2, &format!("{update} --jq .[ -o json"))).unwrap();
    assert_eq!(refused["error"]["kind"], "usage");
    home.fails(2, &format!("{update} --jq no_such_filter"));
    home.fails(2, &format!("{update} --jq . -o table"));
    assert_eq!(home.ok("--sandbox customer show --jq .addresses[1].city"), "New York\n");
}

#[test]
fn a_failing_expression_tells_that_the_write_was_applied() {
    let home = Home::new();
    let update = "--sandbox customer update --address 2 --city Albany --jq .status.code";
    let failed: Value = serde_json::from_str(&home.fails(2, update)).unwrap();
    assert_eq!(failed["error"]["applied"], "yes");
    assert!(!failed.to_string().contains("Albany"), "{failed}");
    assert_eq!(home.ok("--sandbox customer show --jq .addresses[1].city"), "Albany\n");
}

#[test]
fn every_record_of_a_run_goes_through_the_expression_and_a_failing_one_hides_no_write() {
    let home = Home::new();
    let item = |sku: &str| format!(r#"{{"sku": "{sku}", "qty": 1, "quote_id": "1"}}"#);
    let records = format!("[{}, {}]", item("mug-blue"), item("nothing"));
    std::fs::write(home.dir.path().join("items.json"), records).unwrap();
    let run = |expression: &str| {
        home.run(&["quote", "add-item", "--sandbox", "-i", "items.json", "--restart", "--jq", expression])
    };
    let picked = run("[.record, .applied, .error.status]");
    assert_eq!((picked.code, &*picked.stdout), (7, "[1,\"yes\",null]\n[2,\"no\",404]\n"), "{picked:?}");
    let failed = run(".record.x");
    assert_eq!(failed.stdout.matches("\"applied\":\"yes\"").count(), 1, "{failed:?}");
    assert!(failed.stderr.contains("`--jq` failed"), "{failed:?}");
}
