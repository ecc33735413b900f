//! Tests of [`super`].

mod region {
    use serde_json::{Map, Value, json};

    use crate::profile::region::apply;
    use crate::profile::region::{require_region_for_new_country, take_region_patch};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn applied(stored: Value, draft: Value) -> Result<Value, String> {
        let mut address = object(stored);
        let patch = take_region_patch(&mut object(draft), Some(&address), "address 1")
            .map_err(|failure| failure.message)?;
        if let Some(patch) = patch {
            apply(&mut address, &patch, "address 1").map_err(|failure| failure.message)?;
        }
        Ok(Value::Object(address))
    }

    fn new_york() -> Value {
        json!({"region": {"region_code": "NY", "region": "New York", "region_id": 43}, "region_id": 43})
    }

    #[test]
    fn naming_the_id_sets_both_and_clears_the_texts() {
        let expected =
            json!({"region": {"region_code": null, "region": null, "region_id": 12}, "region_id": 12});
        assert_eq!(applied(new_york(), json!({"region_id": 12})).unwrap(), expected);
        assert_eq!(applied(new_york(), json!({"region": {"region_id": 12}})).unwrap(), expected);
    }

    #[test]
    fn a_stored_id_must_be_named_anew() {
        let message = applied(new_york(), json!({"region": {"region": "California"}})).unwrap_err();
        assert!(message.contains("region has an id"), "{message}");
        let free_text =
            json!({"region": {"region_code": "X", "region": "Old", "region_id": 0}, "region_id": 0});
        let expected =
            json!({"region": {"region_code": null, "region": "Bretagne", "region_id": 0}, "region_id": 0});
        assert_eq!(applied(free_text, json!({"region": {"region": "Bretagne"}})).unwrap(), expected);
    }

    #[test]
    fn a_region_that_is_stored_already_is_no_change() {
        for draft in [
            json!({"region": {"region_code": "NY", "region": "New York", "region_id": 43}}),
            json!({"region_id": "43"}),
            json!({"region": {"region": "New York"}}),
            json!({"region": null}),
            json!({"region": {"x_unlisted": 1}}),
        ] {
            assert_eq!(applied(new_york(), draft.clone()).unwrap(), new_york(), "{draft}");
        }
        let none = json!({"region": {"region_code": "", "region_id": null}, "region_id": 0});
        assert_eq!(applied(none.clone(), json!({"region": crate::profile::region::none()})).unwrap(), none);
        let bare = json!({"city": "Oslo"});
        assert_eq!(applied(bare.clone(), json!({"region_id": 0})).unwrap(), bare);
        assert_eq!(applied(bare, json!({"region_id": 5})).unwrap()["region"]["region_id"], 5);
        // The two stored ids contradict each other: naming one of them makes them agree.
        let torn = json!({"region": {"region_id": 12}, "region_id": 43});
        assert_eq!(applied(torn.clone(), torn.clone()).unwrap(), torn);
        assert_eq!(applied(torn, json!({"region_id": 43})).unwrap()["region"]["region_id"], 43);
    }

    #[test]
    fn no_region_of_a_new_address_is_said() {
        let mut draft = object(json!({"region": crate::profile::region::none()}));
        let patch = take_region_patch(&mut draft, None, "the new address").unwrap();
        assert_eq!(patch.map(Value::Object), Some(crate::profile::region::none()));
    }

    #[test]
    fn two_ids_that_differ_are_refused() {
        assert!(applied(new_york(), json!({"region_id": 1, "region": {"region_id": 2}})).is_err());
        assert!(applied(new_york(), json!({"region_id": 1, "region": {"region_id": 1}})).is_ok());
    }

    #[test]
    fn no_region_is_written_as_magento_writes_it() {
        let expected =
            json!({"region": {"region_code": null, "region": null, "region_id": 0}, "region_id": 0});
        assert_eq!(applied(new_york(), json!({"region": crate::profile::region::none()})).unwrap(), expected);
    }

    #[test]
    fn a_new_country_needs_a_word_only_where_a_region_is_stored() {
        let mut stored = object(new_york());
        stored.insert("country_id".into(), "US".into());
        assert!(require_region_for_new_country(&stored, &json!("FR"), "address 1").is_err());
        assert!(require_region_for_new_country(&stored, &json!("US"), "address 1").is_ok());
        let bare =
            json!({"country_id": "US", "region_id": 0, "region": {"region": null, "region_code": null}});
        assert!(require_region_for_new_country(&object(bare), &json!("FR"), "address 1").is_ok());
    }
}

mod region_directory {
    use serde_json::{Map, Value, json};

    use crate::profile::region::RegionDirectory;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_code_or_a_name_gets_its_id() {
        let stored = object(&json!({"addresses": [{"id": 1, "country_id": "US"}]}));
        let mut directory = RegionDirectory::default();
        directory
            .insert("US", &json!({"available_regions": [{"id": "12", "code": "CA", "name": "California"}]}));
        for region in [json!({"region_code": "CA"}), json!({"region": "california"})] {
            let draft = object(&json!({"addresses": [{"id": 1, "region": region}]}));
            assert_eq!(RegionDirectory::needed(&draft, &stored), ["US"]);
            let resolved = directory.resolve(&draft, &stored).unwrap();
            assert_eq!(
                resolved["addresses"][0],
                json!({"id": 1, "region_id": 12,
                    "region": {"region_code": "CA", "region": "California", "region_id": 12}})
            );
        }
        let draft = object(&json!({"addresses": [{"id": 1, "region": {"region_code": "ZZ"}}]}));
        let failure = directory.resolve(&draft, &stored).unwrap_err();
        assert!(failure.hint.unwrap().to_string().contains("CA California"));
        let named =
            object(&json!({"addresses": [{"id": 1, "region_id": 57, "region": {"region_code": "TX"}}]}));
        assert!(RegionDirectory::needed(&named, &stored).is_empty());
    }

    #[test]
    fn a_region_of_a_list_is_named_by_its_code_where_no_other_has_it_else_by_its_id() {
        let mut directory = RegionDirectory::default();
        let regions = json!([{"id": 12, "code": "CA", "name": "California"},
            {"id": 6, "code": "AE", "name": "Armed Forces Africa"},
            {"id": 9, "code": "AE", "name": "Armed Forces Europe"}, {"id": 3, "code": "", "name": "Nameless"}]);
        directory.insert("US", &json!({ "available_regions": regions }));
        for (country, id, shortest) in [
            ("US", 12, json!({"region_code": "CA"})),
            ("US", 9, json!({"region_id": 9})),
            ("US", 3, json!({"region_id": 3})),
            ("US", 82, json!({"region": "Any", "region_id": 82})),
            ("DE", 12, json!({"region": "Any", "region_id": 12})),
        ] {
            let region = object(&json!({"region": "Any", "region_id": id}));
            assert_eq!(directory.shortest(country, &region), object(&shortest), "{country} {id}");
        }
    }

    #[test]
    fn a_region_without_a_country_asks_for_it_and_choices_are_sorted() {
        let mut directory = RegionDirectory::default();
        let draft = object(&json!({"addresses": [{"region": {"region_code": "CA"}}]}));
        let failure = directory.resolve(&draft, &object(&json!({"addresses": []}))).unwrap_err();
        assert!(failure.hint.unwrap().to_string().starts_with("add --country"), "{}", failure.message);
        let regions =
            json!([{"id": 1, "code": "QC", "name": "Quebec"}, {"id": 2, "code": "AB", "name": "Alberta"}]);
        directory.insert("CA", &json!({"available_regions": regions}));
        let draft = object(&json!({"addresses": [{"country_id": "CA", "region": {"region_code": "XX"}}]}));
        let failure = directory.resolve(&draft, &object(&json!({"addresses": []}))).unwrap_err();
        assert_eq!(failure.hint.unwrap().to_string(), "use one of AB Alberta, QC Quebec");
    }

    #[test]
    fn regions_of_a_profile_are_known_by_name_without_accents_and_by_code() {
        let region = json!({"region_code": "QC", "region": "Québec", "region_id": 76});
        let address = |id: i64| json!({"id": id, "country_id": "CA", "region_id": 76, "region": region});
        let stored = object(&json!({"addresses": [address(1), address(2), {"id": 3, "country_id": "CA"}]}));
        let directory = RegionDirectory::of(&stored);
        for text in ["québec", "Quebec", "qc"] {
            let draft = object(&json!({"addresses": [{"id": 3, "region": {"region": text}}]}));
            let resolved = directory.resolve_known(&draft, &stored);
            assert_eq!(
                resolved["addresses"][0],
                json!({"id": 3, "region": region, "region_id": 76}),
                "{text}"
            );
        }
        let other = object(&json!({"addresses": [{"id": 3, "region": {"region": "Alberta"}}]}));
        assert_eq!(directory.resolve_known(&other, &stored), other);
        let elsewhere =
            object(&json!({"addresses": [{"country_id": "US", "region": {"region_code": "QC"}}]}));
        assert_eq!(directory.resolve_known(&elsewhere, &stored), elsewhere);
    }

    fn resolved(country: &str, region: &serde_json::Value) -> Result<serde_json::Value, String> {
        let mut directory = RegionDirectory::default();
        directory.insert(
            "FR",
            &json!({"available_regions": [{"id": "187", "code": "6", "name": "Alpes-Maritimes"}]}),
        );
        directory.insert("GB", &json!({}));
        let draft = object(&json!({"addresses": [{"country_id": country, "region": region}]}));
        let resolved = directory.resolve(&draft, &Map::new()).map_err(|failure| failure.message)?;
        Ok(resolved["addresses"][0]["region"].clone())
    }

    #[test]
    fn a_number_is_the_same_code_with_leading_zeros() {
        let region = resolved("FR", &json!({"region_code": "06"})).unwrap();
        assert_eq!(region, json!({"region_code": "6", "region_id": 187, "region": "Alpes-Maritimes"}));
        assert!(resolved("FR", &json!({"region_code": "60"})).is_err());
    }

    #[test]
    fn a_text_without_an_id_is_its_own_code() {
        let kent = json!({"region": "Kent", "region_id": 0, "region_code": "Kent"});
        for region in [
            json!({"region": "Kent"}),
            json!({"region": "Kent", "region_code": ""}),
            json!({"region": "Kent", "region_code": "Kent"}),
            json!({"region": "Kent", "region_id": 0}),
        ] {
            assert_eq!(resolved("GB", &region).unwrap(), kent, "{region}");
        }
        let code = resolved("GB", &json!({"region_code": "KEN"})).unwrap_err();
        assert_eq!(code, "GB has no region codes, found `KEN`");
        assert!(resolved("GB", &json!({"region": "Kent", "region_code": "KEN"})).is_err());
        let none = json!({"region": null, "region_code": null, "region_id": 0});
        assert_eq!(resolved("GB", &none).unwrap(), none);
    }
}
