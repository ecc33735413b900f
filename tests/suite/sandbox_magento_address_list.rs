//! The list of addresses in a PUT to the sandbox's Magento interface: what it leaves out is deleted.

use serde_json::{Value, json};

use crate::sandbox_magento_customers::{WAYS, defaults, own, put, read};
use crate::support::raw_http::{Sandbox, ids};

/// The profile as it is read, without an address.
fn lacking(profile: &Value, id: i64) -> Value {
    let mut profile = profile.clone();
    profile["addresses"].as_array_mut().unwrap().retain(|address| address["id"] != id);
    profile
}

/// The trap that the whole program is about.
#[test]
fn an_address_that_is_left_out_is_deleted() {
    for way in WAYS {
        let sandbox = Sandbox::new();
        let before = read(&sandbox);
        assert_eq!(put(&sandbox, way, &lacking(&before, 3)).status, 200);
        assert_eq!(ids(&read(&sandbox)), [1, 2, 4]);
        assert_eq!(put(&sandbox, way, &before).status, 404, "3 is gone for good");
        // The default billing address is left out, and still named at the top level.
        let left = lacking(&read(&sandbox), 1);
        assert_eq!(left["default_billing"], "1");
        assert_eq!(put(&sandbox, way, &left).status, 200);
        assert_eq!((ids(&read(&sandbox)), defaults(&read(&sandbox))), (vec![2, 4], (None, Some("2"))));
    }
    let sandbox = Sandbox::new();
    let naive = json!({"addresses": [{"id": 2, "city": "Albany"}]});
    assert_eq!(put(&sandbox, WAYS[1], &naive).status, 200);
    let after = read(&sandbox);
    assert_eq!((ids(&after), &after["addresses"][0]["city"]), (vec![2], &json!("Albany")));
    assert_eq!(after["addresses"][0]["postcode"], "10118");
}

#[test]
fn absent_addresses_stay_and_empty_ones_delete_all() {
    for way in WAYS {
        let sandbox = Sandbox::new();
        let before = read(&sandbox);
        assert_eq!(put(&sandbox, way, &own(json!({}))).status, 200);
        assert_eq!(read(&sandbox)["addresses"], before["addresses"]);
        assert_eq!(defaults(&read(&sandbox)), (Some("1"), Some("2")));
        for empty in [json!([]), json!({})] {
            let sandbox = Sandbox::new();
            assert_eq!(put(&sandbox, way, &own(json!({"addresses": empty}))).status, 200);
            assert_eq!((ids(&read(&sandbox)), defaults(&read(&sandbox))), (vec![], (None, None)));
        }
    }
}

#[test]
fn an_unknown_address_rolls_everything_back() {
    for way in WAYS {
        let sandbox = Sandbox::new();
        let before = read(&sandbox);
        let list = json!([{"id": 1, "city": "Changed"}, {"city": "New", "firstname": "A", "lastname": "B",
            "street": ["1"], "postcode": "1", "telephone": "1", "country_id": "US"}, {"id": 2}, {"id": 999_999}]);
        put(&sandbox, way, &own(json!({"firstname": "Changed", "addresses": list}))).refuses(
            404,
            "No such entity with %fieldName = %fieldValue",
            json!({"fieldName": "addressId", "fieldValue": 999_999}),
        );
        put(&sandbox, way, &own(json!({"addresses": [{"id": 1}, {"id": 2}, {"id": 5}]}))).refuses(
            400,
            "Provided customer ID \"%customer_id\" isn't related to current customer address.",
            json!({"customer_id": 1}),
        );
        assert_eq!(read(&sandbox), before);
    }
}

#[test]
fn ids_absent_zero_and_null_make_new_addresses() {
    let sandbox = Sandbox::new();
    let new = json!({"firstname": "A", "lastname": "B", "street": ["1 Main St"], "city": "Austin", "postcode": "78701",
        "telephone": "555-0100", "country_id": "US"});
    for id in [None, Some(json!(0)), Some(Value::Null)] {
        let mut sent = read(&sandbox);
        let mut new = new.clone();
        if let Some(id) = id {
            new["id"] = id;
        }
        sent["addresses"].as_array_mut().unwrap().insert(0, new);
        assert_eq!(put(&sandbox, WAYS[1], &sent).status, 200);
    }
    let after = read(&sandbox);
    assert_eq!(ids(&after), [1, 2, 3, 4, 13, 14, 15], "by id, wherever they were sent");
    assert_eq!(after["addresses"][4]["region"], json!({"region_code": null, "region": null, "region_id": 0}));
    assert_eq!(after["addresses"][6].get("region_id"), None);
    assert_eq!(after["addresses"][4]["region_id"], 0, "no region comes back as 0 once it is sent back");
    // The same id twice: the last one counts, and ids may be texts.
    let mut sent = after;
    sent["addresses"].as_array_mut().unwrap().push(json!({"id": "13", "city": "Again"}));
    assert_eq!(put(&sandbox, WAYS[1], &sent).status, 200);
    assert_eq!(read(&sandbox)["addresses"][4]["city"], "Again");
}

#[test]
fn a_second_writer_with_an_older_read_deletes_the_firsts_address() {
    let sandbox = Sandbox::new();
    let read_by_both = read(&sandbox);
    let adding = |city: &str| {
        let mut sent = read_by_both.clone();
        sent["addresses"]
            .as_array_mut()
            .unwrap()
            .push(json!({"firstname": "A", "lastname": "B", "street": ["1"],
            "city": city, "postcode": "1", "telephone": "1", "country_id": "DE"}));
        sent
    };
    assert_eq!(put(&sandbox, WAYS[0], &adding("X")).status, 200);
    assert_eq!(put(&sandbox, WAYS[0], &adding("Y")).status, 200);
    let after = read(&sandbox);
    assert_eq!((ids(&after), &after["addresses"][4]["city"]), (vec![1, 2, 3, 4, 14], &json!("Y")));
}
