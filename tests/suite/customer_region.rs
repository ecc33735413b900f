//! The region of a profile address: three fields in two places.

use serde_json::json;
use snapbox::str;

use crate::support::test_env::TestEnv;

#[test]
fn the_three_region_fields_are_always_consistent() {
    let none = json!({"region_code": null, "region": null, "region_id": 0});
    for (line, region) in [
        ("--address 2 --region-id 12", json!({"region_code": null, "region": null, "region_id": 12})),
        (
            "--address 2 --region-code CA --region-id 12",
            json!({"region_code": "CA", "region": null, "region_id": 12}),
        ),
        ("--address 2 --no-region", none.clone()),
        ("--address 2 --country FR --no-region", none.clone()),
        (
            "--address 2 --country CA --postcode K1A0B1 --region-id 76",
            json!({"region_code": null, "region": null, "region_id": 76}),
        ),
        ("--address 1 --country BE --postcode 1000", none),
        ("--address 3 --region Beirut", json!({"region_code": null, "region": "Beirut", "region_id": 0})),
        ("--address 3 --region-code BA", json!({"region_code": "BA", "region": null, "region_id": 0})),
    ] {
        let env = TestEnv::new();
        let result = env.done(&format!("customer update {line} --dry-run"));
        let sent = result["request"]["body"]["customer"]["addresses"].as_array().unwrap();
        let id = line.as_bytes()[10] - b'0';
        let address = &sent[usize::from(id) - 1];
        assert_eq!((&address["region"], &address["region_id"]), (&region, &region["region_id"]), "{line}");
    }
}

#[test]
fn an_ambiguous_region_is_refused() {
    let env = TestEnv::new();
    for (line, stderr) in [
        (
            "--address 2 --region Texas",
            str![[r#"
error: address 2: the stored region has an id, and the new region names none
  No changes were made.
  hint: add --region-id, or use --no-region; --region-id 0 stores the name without an id
"#]],
        ),
        (
            "--address 4 --region-code BY",
            str![[r#"
error: address 4: the stored region has an id, and the new region names none
  No changes were made.
  hint: add --region-id, or use --no-region; --region-id 0 stores the name without an id
"#]],
        ),
        (
            "--address 2 --country FR --region Paris",
            str![[r#"
error: address 2: the stored region has an id, and the new region names none
  No changes were made.
  hint: add --region-id, or use --no-region; --region-id 0 stores the name without an id
"#]],
        ),
        (
            "--address 2 --country FR",
            str![[r#"
error: address 2: the country changes but the region does not
  No changes were made.
  hint: set --region-id (with --region, --region-code) or --no-region
"#]],
        ),
        (
            "--address 3 --country SY",
            str![[r#"
error: address 3: the country changes but the region does not
  No changes were made.
  hint: set --region-id (with --region, --region-code) or --no-region
"#]],
        ),
    ] {
        env.run(&format!("customer update {line}")).assert_failure(2, stderr);
    }
    env.file("in.json", r#"{"addresses": [{"id": 2, "region_id": 12, "region": {"region_id": 13}}]}"#);
    env.run("customer update -i in.json").assert_failure(
        2,
        str![[r#"
error: address 2: region_id and region.region_id differ
  No changes were made.
  hint: set it once
"#]],
    );
    assert!(env.requests().iter().all(|heard| heard == "GET 200"), "nothing was written");
}
