//! The region of a profile address: three fields in two places.

use serde_json::json;

use crate::support::test_env::TestEnv;

#[test]
fn the_region_of_an_address_never_contradicts_itself() {
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
fn a_region_in_doubt_is_refused() {
    let env = TestEnv::new();
    for (line, hint) in [
        (
            "--address 2 --region Texas",
            "add --region-id, or use --no-region; --region-id 0 stores the name without an id",
        ),
        (
            "--address 4 --region-code BY",
            "add --region-id, or use --no-region; --region-id 0 stores the name without an id",
        ),
        (
            "--address 2 --country FR --region Paris",
            "add --region-id, or use --no-region; --region-id 0 stores the name without an id",
        ),
        ("--address 2 --country FR", "set --region-id (with --region, --region-code) or --no-region"),
        ("--address 3 --country SY", "set --region-id (with --region, --region-code) or --no-region"),
    ] {
        assert_eq!(env.fails(2, &format!("customer update {line}"))["hint"], hint, "{line}");
    }
    env.file("in.json", r#"{"addresses": [{"id": 2, "region_id": 12, "region": {"region_id": 13}}]}"#);
    assert!(env.fails(2, "customer update -i in.json")["message"].as_str().unwrap().contains("differ"));
    assert!(env.requests().iter().all(|heard| heard == "GET 200"), "nothing was written");
}
