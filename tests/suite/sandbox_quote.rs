//! Rules of quote items (docs/interface.md, "Operations") and shipping information (docs/interface.md,
//! "Operations") over raw HTTP.

use serde_json::{Value, json};

use crate::support::raw_http::{Answer, CUSTOMER, ITEM, SHIPPING, Sandbox};

fn add(sandbox: &Sandbox, item: &Value) -> Answer {
    sandbox.call(CUSTOMER, "POST", ITEM, &json!({"cartItem": item}).to_string())
}

fn ship(sandbox: &Sandbox, body: &Value) -> Answer {
    sandbox.call(CUSTOMER, "POST", SHIPPING, &body.to_string())
}

fn configurable(options: &Value) -> Value {
    json!({"sku": "shirt", "qty": 1, "quote_id": "1",
           "product_option": {"extension_attributes": {"configurable_item_options": options}}})
}

/// Items of quote 1 as `sandbox show` prints them.
fn items(sandbox: &Sandbox) -> Value {
    sandbox.show()["quotes"][0]["items"].clone()
}

fn saved(sandbox: &Sandbox) -> Value {
    sandbox.show()["quotes"][0]["shipping_information"].clone()
}

#[test]
fn a_simple_product_is_added_and_adds_up() {
    let sandbox = Sandbox::new();
    let answer = add(&sandbox, &json!({"sku": "mug-blue", "qty": 0.1, "quote_id": "1"}));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.json(),
        json!({"item_id": 1, "sku": "mug-blue", "qty": number("0.1"), "name": "Blue Mug", "price": number("12.50"),
               "product_type": "simple", "quote_id": "1"})
    );
    add(&sandbox, &json!({"sku": "mug-blue", "qty": 0.2, "quote_id": "1"}));
    add(&sandbox, &json!({"sku": "Grüner Tee 100 g", "qty": 2, "quote_id": "1"}));
    let expected = json!([
        {"item_id": 1, "sku": "mug-blue", "qty": number("0.3"), "options": []},
        {"item_id": 2, "sku": "Grüner Tee 100 g", "qty": 2, "options": []},
    ]);
    assert_eq!(items(&sandbox), expected);
}

fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_configurable_product_needs_one_value_of_each_attribute() {
    let sandbox = Sandbox::new();
    let red_m = json!([{"option_id": "93", "option_value": 51}, {"option_id": "144", "option_value": 168}]);
    let answer = add(&sandbox, &configurable(&red_m));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["product_option"]["extension_attributes"]["configurable_item_options"], red_m);
    // The same options in another order are the same line; other options are another line.
    let again = json!([{"option_id": "144", "option_value": 168, "note": "x"}, {"option_id": "93", "option_value": 51}]);
    add(&sandbox, &configurable(&again));
    add(
        &sandbox,
        &configurable(&json!([{"option_id": "93", "option_value": 49},
                                        {"option_id": "144", "option_value": 168}])),
    );
    let items = items(&sandbox);
    assert_eq!((&items[0]["qty"], &items[0]["options"]), (&json!(2), &red_m));
    assert_eq!((&items[1]["qty"], items.as_array().unwrap().len()), (&json!(1), 2));
    for wrong in [
        json!([]),
        json!([{"option_id": "93", "option_value": 51}]),
        json!([{"option_id": "93", "option_value": 52}, {"option_id": "144", "option_value": 168}]),
        json!([{"option_id": "93", "option_value": 51}, {"option_id": "93", "option_value": 50},
               {"option_id": "144", "option_value": 168}]),
        json!([{"option_id": "93", "option_value": 51}, {"option_id": "144", "option_value": 168},
               {"option_id": "145", "option_value": 1}]),
        json!([{"option_id": "color", "option_value": 51}, {"option_id": "144", "option_value": 168}]),
    ] {
        add(&sandbox, &configurable(&wrong)).refuses(
            400,
            "You need to choose options for your item.",
            Value::Null,
        );
    }
    let without = json!({"sku": "shirt", "qty": 1, "quote_id": "1"});
    assert_eq!(add(&sandbox, &without).status, 400);
    assert_eq!(self::items(&sandbox), items);
}

#[test]
fn quantities_are_above_zero() {
    let sandbox = Sandbox::new();
    add(&sandbox, &json!({"sku": "mug-blue", "qty": 0, "quote_id": "1"})).refuses(
        400,
        "Invalid value of \"%value\" provided for the %fieldName field.",
        json!({"fieldName": "qty", "value": 0}),
    );
    for wrong in [json!(-1), json!("many"), json!("2"), json!([1]), json!(true), Value::Null] {
        let answer = add(&sandbox, &json!({"sku": "mug-blue", "qty": wrong, "quote_id": "1"}));
        assert_eq!(answer.status, 400, "{wrong}");
    }
    let whole = json!({"sku": "mug-blue", "qty": 1, "quote_id": "1"});
    for missing in ["sku", "qty", "quote_id"] {
        let mut item = whole.clone();
        item.as_object_mut().unwrap().remove(missing);
        let message = "\"%fieldName\" is required. Enter and try again.";
        add(&sandbox, &item).refuses(400, message, json!({"fieldName": missing}));
    }
    let number = json!({"sku": "mug-blue", "qty": 1, "quote_id": 1});
    let message = add(&sandbox, &number).json()["message"].to_string();
    assert!(message.contains("quote_id"), "{message}");
    assert_eq!(items(&sandbox), json!([]));
}

#[test]
fn unknown_products_and_quotes_of_others_are_not_found() {
    let sandbox = Sandbox::new();
    add(&sandbox, &json!({"sku": "mug-pink", "qty": 1, "quote_id": "1"})).refuses(
        404,
        "The product that was requested doesn't exist. Verify the product and try again.",
        Value::Null,
    );
    for quote in ["2", "99", "01", "x", ""] {
        add(&sandbox, &json!({"sku": "mug-blue", "qty": 1, "quote_id": quote})).refuses(
            404,
            "No such entity with %fieldName = %fieldValue",
            json!({"fieldName": "cartId", "fieldValue": quote}),
        );
    }
    let no_quote = "Current customer does not have an active cart.";
    let payment = json!({"paymentMethod": {"method": "checkmo"}}).to_string();
    sandbox.call("sandbox-customer-6", "POST", SHIPPING, &payment).refuses(404, no_quote, Value::Null);
    let bare = json!({"sku": "mug-blue", "qty": 1}).to_string();
    sandbox.call(CUSTOMER, "POST", ITEM, &bare).refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "cartItem"}),
    );
}

fn information() -> Value {
    json!({
        "shipping_address": {"firstname": "Amina", "lastname": "Haddad", "country_id": "FR", "postcode": null,
                             "street": ["18 rue de la Paix"], "city": "Paris", "region_id": 0, "telephone": "331"},
        "billing_address": {"country_id": "DE", "city": "Berlin"},
        "shipping_method_code": "flatrate",
        "shipping_carrier_code": "flatrate",
    })
}

#[test]
fn both_layouts_save_the_same_with_320() {
    for flat in [false, true] {
        let sandbox = Sandbox::new();
        let mut body = if flat { information() } else { json!({"addressInformation": information()}) };
        body["paymentMethod"] = json!({"method": "checkmo", "po_number": 7});
        let answer = ship(&sandbox, &body);
        assert_eq!(answer.status, 320, "{answer:?}");
        assert_eq!(answer.json()["payment_methods"][0]["code"], "checkmo");
        let mut expected = information();
        expected["paymentMethod"] = json!({"method": "checkmo", "po_number": 7});
        assert_eq!(saved(&sandbox), expected);
    }
}

#[test]
fn omitted_fields_are_kept_and_a_top_level_billing_address_is_used() {
    let sandbox = Sandbox::new();
    let paid = |mut body: Value| {
        body["paymentMethod"] = json!({"method": "banktransfer"});
        ship(&sandbox, &body)
    };
    assert_eq!(paid(json!({"addressInformation": information()})).status, 320);
    assert_eq!(paid(json!({})).status, 320);
    let top_level = json!({"addressInformation": {"billing_address": {"city": "Rome"}}, "billingAddress": {"city": "Oslo"}});
    assert_eq!(paid(top_level).status, 320);
    let mut expected = information();
    expected["billing_address"] = json!({"city": "Oslo"});
    expected["paymentMethod"] = json!({"method": "banktransfer"});
    assert_eq!(saved(&sandbox), expected);
}

#[test]
fn shipping_information_that_cannot_be_saved_is_refused() {
    let sandbox = Sandbox::new();
    let required = "\"%fieldName\" is required. Enter and try again.";
    for without in
        [json!({}), json!([]), json!({"addressInformation": information()}), json!({"paymentMethod": null})]
    {
        ship(&sandbox, &without).refuses(400, required, json!({"fieldName": "paymentMethod"}));
    }
    let send = |information: Value| {
        let payment = json!({"method": "checkmo"});
        ship(&sandbox, &json!({"addressInformation": information, "paymentMethod": payment}))
    };
    let with = |name: &str, value: Value| {
        let mut information = information();
        information[name] = value;
        send(information)
    };
    let without = |name: &str| {
        let mut information = information();
        information.as_object_mut().unwrap().remove(name);
        send(information)
    };
    with("shipping_method_code", json!("bestway")).refuses(
        404,
        "Carrier with such method not found: %1, %2",
        json!(["flatrate", "bestway"]),
    );
    without("shipping_method_code").refuses(400, required, json!({"fieldName": "shipping_method_code"}));
    without("shipping_carrier_code").refuses(400, required, json!({"fieldName": "shipping_carrier_code"}));
    without("shipping_address").refuses(
        400,
        "The shipping address is missing. Set the address and try again.",
        Value::Null,
    );
    assert_eq!(with("shipping_address", json!({"country_id": "FRA"})).status, 400);
    assert_eq!(with("billing_address", json!({"country_id": 1})).status, 400);
    assert_eq!(with("shipping_address", json!("Paris")).status, 400);
    let profile_region = with("shipping_address", json!({"region": {"region_id": 43}}));
    assert!(profile_region.body.contains("region"), "{profile_region:?}");
    ship(&sandbox, &json!({"paymentMethod": {"method": "gold"}})).refuses(
        400,
        "The requested Payment Method is not available.",
        Value::Null,
    );
    assert_eq!(ship(&sandbox, &json!({"paymentMethod": "checkmo"})).status, 400);
    assert_eq!(with("shipping_address", Value::Null).status, 400);
    assert_eq!(with("shipping_address", json!({"city": 5})).status, 400);
    assert_eq!(saved(&sandbox), Value::Null);
}
