//! `--jq`: an expression over each result.

use snapbox::str;

use crate::support::snapshot::assert_snapshot;
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
fn an_invalid_expression_is_refused_before_anything_is_sent() {
    let home = Home::new();
    let update = "--sandbox customer update --address 2 --city Albany";
    for (arguments, stderr) in [
        (
            "--jq .[",
            str![[
                r#"{"error":{"kind":"usage","message":"invalid `--jq` expression `.[`: expected closing bracket at end of expression","hint":"correct the expression, or leave out `--jq`","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "--jq no_such_filter",
            str![[
                r#"{"error":{"kind":"usage","message":"invalid `--jq` expression `no_such_filter`: unknown filter `no_such_filter`","hint":"correct the expression, or leave out `--jq`","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "--jq . -o table",
            str![[r#"
error: `--jq` cannot be used with `-o table`
  No changes were made.
  hint: leave out `--jq`, or use -o json
"#]],
        ),
    ] {
        home.run(&format!("{update} {arguments}")).assert_failure(2, stderr);
    }
    assert_eq!(home.ok("--sandbox customer show --jq .addresses[1].city"), "New York\n");
}

#[test]
fn a_failing_expression_reports_that_the_write_was_applied() {
    let home = Home::new();
    let update = "--sandbox customer update --address 2 --city Albany --jq .status.code";
    home.run(update).assert_failure(1, str![[r#"{"error":{"kind":"internal","message":"customer update succeeded, but `--jq` failed on the result: cannot index a number with \"code\"","hint":"do not run it again just to see the output; correct the expression; -o json without --jq prints the result it works on","status":null,"applied":"yes","service":null}}"#]]);
    assert_eq!(home.ok("--sandbox customer show --jq .addresses[1].city"), "Albany\n");
}

#[test]
fn every_record_is_filtered_and_a_failing_filter_reports_the_write() {
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
    assert_snapshot(
        &failed.stderr,
        str![[r#"
{"warning":{"message":"`--jq` failed on the result: cannot index a number with \"x\""}}
{"warning":{"message":"`--jq` failed on the result: cannot index a number with \"x\""}}
{"error":{"kind":"partial","message":"of 2 records, 1 failed","hint":"fix the failed records in the input, then run `storefront quote add-item --sandbox -i items.json --jq .record.x --resume`","status":null,"applied":"yes","service":null}}
"#]],
    );
}
