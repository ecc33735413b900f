//! Tests of [`super`].

mod profile_rules {
    use serde_json::{Map, Value, json};

    use crate::plan::profile::magento::completed;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn sent(stored: &Value, merged: &Value) -> Value {
        Value::Object(completed(&object(stored), &object(merged)))
    }

    #[test]
    fn defaults_stand_at_the_top_and_as_flags() {
        let stored =
            json!({"default_billing": "1", "addresses": [{"id": 1, "default_billing": true}, {"id": 2}]});
        let by_top =
            json!({"default_billing": "2", "addresses": [{"id": 1, "default_billing": true}, {"id": 2}]});
        let by_flag = json!({"default_billing": "1", "addresses":
            [{"id": 1, "default_billing": false}, {"id": 2, "default_billing": true}]});
        let both = json!({"default_billing": "2", "addresses":
            [{"id": 1, "default_billing": false}, {"id": 2, "default_billing": true}]});
        assert_eq!(sent(&stored, &by_top), both);
        assert_eq!(sent(&stored, &by_flag), both);
        let other =
            json!({"default_billing": "2", "addresses": [{"id": 1}, {"id": 2, "default_billing": true}]});
        let two = json!({"default_billing": "2", "addresses":
            [{"id": 1, "default_billing": 1}, {"id": 2, "default_billing": true}]});
        assert_eq!(sent(&other, &two)["default_billing"], "1");
        let only_top = json!({"default_billing": "1", "addresses": [{"id": 1}]});
        assert_eq!(sent(&only_top, &only_top)["addresses"][0]["default_billing"], true);
        let strange = json!({"default_billing": "99", "addresses": [{"id": 1}]});
        assert_eq!(sent(&strange, &strange)["default_billing"], json!(null));
        let none = json!({"addresses": [{"id": 1}]});
        assert_eq!(sent(&none, &none).get("default_billing"), None);
        let moved = json!({"default_billing": "1", "addresses": [{"default_billing": true}]});
        assert_eq!(sent(&only_top, &moved)["default_billing"], json!(null));
    }

    #[test]
    fn a_region_is_the_same_in_both_places() {
        let stored = json!({"addresses": [{"id": 1}]});
        let merged = |address: Value| json!({"addresses": [address]});
        let apart = merged(
            json!({"region_id": 12, "region": {"region_id": 57, "region_code": "TX", "region": "Texas"}}),
        );
        let agreed = json!({"region_id": 12, "region_code": null, "region": null});
        assert_eq!(sent(&stored, &apart)["addresses"][0]["region"], agreed);
        let alone = merged(json!({"region_id": 12}));
        assert_eq!(sent(&stored, &alone)["addresses"][0]["region"], agreed);
        assert_eq!(sent(&stored, &merged(json!({"city": "X"})))["addresses"][0].get("region"), None);
    }

    #[test]
    fn null_for_a_stored_text_goes_out_as_the_empty_text() {
        let stored = json!({"taxvat": "T", "gender": 1, "addresses": [{"id": 1, "company": "C", "fax": ""}]});
        let merged =
            json!({"taxvat": null, "gender": null, "addresses": [{"id": 1, "company": null, "fax": null}]});
        let out = sent(&stored, &merged);
        assert_eq!((&out["taxvat"], &out["gender"]), (&json!(""), &json!(null)));
        assert_eq!(
            (&out["addresses"][0]["company"], &out["addresses"][0]["fax"]),
            (&json!(""), &json!(null))
        );
    }
}

mod unacceptable {
    use serde_json::{Value, json};

    use crate::plan::profile::magento::explain;

    fn said(stored: &Value, sent: &Value, message: &str) -> String {
        explain(stored.as_object().unwrap(), sent.as_object().unwrap(), message).unwrap_or_default()
    }

    #[test]
    fn a_stored_address_that_blocks_every_update_is_named() {
        let stored = json!({"firstname": "A", "lastname": "B", "email": "c", "addresses": [
            {"id": 3, "firstname": "A", "lastname": "B", "street": ["x", "y", "z"], "city": "C", "telephone": ""}]});
        let mut sent = stored.clone();
        sent["addresses"][0]["telephone"] = json!("5550100");
        assert_eq!(
            said(&stored, &sent, "\"Phone Number\" is a required value."),
            "the shop checks the stored addresses first, and addresses[id=3].telephone is empty: correct this in the admin panel"
        );
        assert_eq!(
            said(&stored, &sent, "\"Street Address\" cannot contain more than 2 lines."),
            "the shop checks the stored addresses first, and addresses[id=3].street has 3 lines: correct this in the admin panel"
        );
        assert_eq!(said(&stored, &sent, "the email is not valid"), "");
    }

    #[test]
    fn what_the_command_itself_left_empty_is_no_fault_of_the_shop() {
        let stored = json!({"addresses": [{"id": 3, "street": ["x"], "city": "C", "telephone": "1", "postcode": "2"}]});
        let mut sent = stored.clone();
        sent["addresses"][0]["postcode"] = json!("");
        let required = "\"postcode\" is required. Enter and try again.";
        assert_eq!(said(&stored, &sent, required), "address 3 needs postcode");
        sent["addresses"].as_array_mut().unwrap().push(json!({"city": "Bonn"}));
        assert_eq!(said(&stored, &sent, required), "the new address needs postcode");
        assert_eq!(
            said(&stored, &sent, "\"firstname\" is required. \"lastname\" is required."),
            "the new address needs firstname, lastname"
        );
        assert!(!said(&stored, &sent, "the address is not valid").contains("postcode"));
        sent["addresses"][1]["street"] = json!(["x", "y", "z"]);
        let lines = "\"Street Address\" cannot contain more than 2 lines.";
        assert_eq!(said(&stored, &sent, lines), "the new address has 3 street lines");
    }

    #[test]
    fn a_stored_name_country_or_region_can_be_corrected() {
        let stored = json!({"lastname": "L", "addresses": [{"id": 3, "country_id": "XX", "region_id": 81,
            "firstname": "F", "lastname": "L", "street": ["x"], "city": "C", "telephone": "1"}]});
        let name = "\"Last Name\" is a required value.";
        let stored_name = json!({"lastname": "", "addresses": []});
        assert_eq!(
            said(&stored_name, &stored_name, name),
            "lastname is empty; correct it in the same command"
        );
        for (field, value, named) in [("regionId", "81", "region_id"), ("countryId", "XX", "country_id")] {
            assert_eq!(
                said(
                    &stored,
                    &stored,
                    &format!("Invalid value of \"{value}\" provided for the {field} field.")
                ),
                format!("addresses[id=3].{named} is `{value}`; correct it in the same command")
            );
        }
    }
}
