//! Shipping and payment in the sandbox's Magento interface, row by row as it was measured.

use serde_json::{Value, json};

use crate::sandbox_magento_carts::{MINE, add, items, post, with_item};
use crate::support::raw_http::{ADMIN, Answer, CUSTOMER, ORDER, Sandbox};

fn address() -> Value {
    json!({"firstname": "An", "lastname": "Lee", "street": ["1 Main St"], "city": "Austin", "postcode": "78701",
        "telephone": "555-0100", "country_id": "US", "region": "Texas", "region_id": 57, "region_code": "TX",
        "email": "an@example.com"})
}

fn ship(sandbox: &Sandbox, shipping: &Value) -> Answer {
    let information = json!({"shipping_address": shipping, "shipping_carrier_code": "flatrate", "shipping_method_code": "flatrate"});
    post(
        sandbox,
        CUSTOMER,
        &format!("{MINE}/shipping-information"),
        &json!({"addressInformation": information}),
    )
}

/// Region, id and code of the shipping address that is stored.
fn stored_region(sandbox: &Sandbox) -> [Value; 3] {
    let cart = sandbox.get(CUSTOMER, MINE).json();
    let address = &cart["extension_attributes"]["shipping_assignments"][0]["shipping"]["address"];
    ["region", "region_id", "region_code"].map(|name| address[name].clone())
}

#[test]
fn shipping_information_answers_payment_methods_and_totals() {
    let sandbox = with_item();
    let answer = ship(&sandbox, &address());
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    assert_eq!(answer["payment_methods"][0], json!({"code": "checkmo", "title": "Check / Money order"}));
    assert_eq!(
        (&answer["totals"]["subtotal"], &answer["totals"]["shipping_amount"]),
        (&json!(25), &json!(10))
    );
    assert_eq!((&answer["totals"]["grand_total"], &answer["totals"]["items_qty"]), (&json!(35), &json!(2)));
    let cart = sandbox.get(CUSTOMER, MINE).json();
    let assignment = &cart["extension_attributes"]["shipping_assignments"][0]["shipping"];
    assert_eq!(
        (&assignment["method"], &assignment["address"]["city"]),
        (&json!("flatrate_flatrate"), &json!("Austin"))
    );
    let camel = json!({"address_information": {"shippingAddress": {"countryId": "US", "city": "Camel"},
        "shippingCarrierCode": "flatrate", "shippingMethodCode": "flatrate"}});
    assert_eq!(post(&sandbox, CUSTOMER, &format!("{MINE}/shipping-information"), &camel).status, 200);
    let by_admin = json!({"addressInformation": {"shipping_address": address(), "shipping_carrier_code": "flatrate",
        "shipping_method_code": "flatrate"}});
    assert_eq!(post(&sandbox, ADMIN, "/rest/V1/carts/1/shipping-information", &by_admin).status, 200);
}

/// The trap: in a cart the region is a text, and the object of the address book is refused.
#[test]
fn a_region_as_an_object_is_refused_in_a_cart() {
    let sandbox = with_item();
    let mut book = address();
    book["region"] = json!({"region_code": "TX", "region": "Texas", "region_id": 57});
    ship(&sandbox, &book).refuses(
        400,
        "Error occurred during \"shipping_address\" processing. Error occurred during \"region\" processing. The \"array\" \
         value's type is invalid. The \"string\" type was expected. Verify and try again.",
        Value::Null,
    );
}

/// The trap: what the address book would refuse is taken here.
#[test]
fn a_cart_takes_addresses_that_the_address_book_refuses() {
    let sandbox = with_item();
    assert_eq!(ship(&sandbox, &address()).status, 200);
    for (change, region) in [
        (
            json!({"region": null, "region_id": null, "region_code": null}),
            [json!("Texas"), json!(57), json!("TX")],
        ),
        (
            json!({"region": null, "region_id": null, "region_code": "ZZ"}),
            [Value::Null, Value::Null, Value::Null],
        ),
        (json!({"country_id": "DE"}), [json!("Texas"), json!(57), Value::Null]),
        (json!({"region_id": 12}), [json!("California"), json!(12), json!("CA")]),
        (json!({"street": ["a", "b", "c"]}), [json!("Texas"), json!(57), json!("TX")]),
    ] {
        let mut sent = address();
        sent.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(ship(&sandbox, &sent).status, 200, "{change}");
        assert_eq!(stored_region(&sandbox), region, "{change}");
    }
    for missing in ["city", "telephone", "postcode", "firstname"] {
        let mut sent = address();
        sent.as_object_mut().unwrap().remove(missing);
        assert_eq!(ship(&sandbox, &sent).status, 200, "{missing}");
    }
}

#[test]
fn shipping_information_that_cannot_be_saved_is_refused() {
    let sandbox = Sandbox::new();
    ship(&sandbox, &address()).refuses(
        400,
        "The shipping method can't be set for an empty cart. Add an item to cart and try again.",
        Value::Null,
    );
    let sandbox = with_item();
    let with = |information: Value| {
        post(
            &sandbox,
            CUSTOMER,
            &format!("{MINE}/shipping-information"),
            &json!({"addressInformation": information}),
        )
    };
    let unknown = "Carrier with such method not found: %1, %2";
    with(json!({"shipping_address": address(), "shipping_carrier_code": "nosuch", "shipping_method_code": "x"}))
        .refuses(404, unknown, json!(["nosuch", "x"]));
    let no_method = "The shipping method is missing. Select the shipping method and try again.";
    with(json!({"shipping_address": address(), "shipping_carrier_code": "flatrate"})).refuses(
        404,
        no_method,
        Value::Null,
    );
    let no_address = "The shipping address is missing. Set the address and try again.";
    let codes = json!({"shipping_carrier_code": "flatrate", "shipping_method_code": "flatrate"});
    with(codes).refuses(400, no_address, Value::Null);
    ship(&sandbox, &json!({})).refuses(400, no_address, Value::Null);
    let unsaved = "The shipping information was unable to be saved. Error: \"%message\"";
    let with_address = |name: &str, value: Value| {
        let mut sent = address();
        sent[name] = value;
        ship(&sandbox, &sent)
    };
    with_address("country_id", json!("XX")).refuses(
        400,
        unsaved,
        json!({"message": "The address failed to save. Verify the address and try again."}),
    );
    with_address("customer_address_id", json!(5)).refuses(
        400,
        unsaved,
        json!({"message": "Invalid customer address id 5"}),
    );
    assert_eq!(with_address("customer_address_id", json!(2)).status, 200);
    assert_eq!(with_address("colour", json!("red")).status, 400);
    post(
        &sandbox,
        CUSTOMER,
        &format!("{MINE}/shipping-information"),
        &json!({"shipping_address": address()}),
    )
    .refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "addressInformation"}),
    );
    let sixth = post(
        &sandbox,
        "sandbox-customer-6",
        &format!("{MINE}/shipping-information"),
        &json!({"addressInformation": {"shipping_address": address()}}),
    );
    sixth.refuses(404, "Current customer does not have an active cart.", Value::Null);
}

/// The trap: shipping information has no payment, which is a call of its own.
#[test]
fn payment_is_a_call_of_its_own() {
    let sandbox = with_item();
    let select = |token: &str, cart: &str, method: &str| {
        let body = json!({"method": {"method": method}}).to_string();
        sandbox.call(token, "PUT", &format!("/rest/V1/carts/{cart}/selected-payment-method"), &body)
    };
    let selected = || sandbox.get(CUSTOMER, &format!("{MINE}/selected-payment-method")).json();
    assert_eq!(select(CUSTOMER, "mine", "checkmo").status, 400, "unknown shipping `address yet`");
    assert_eq!(ship(&sandbox, &address()).status, 200);
    assert_eq!(selected(), json!([]));
    for (token, cart) in [(CUSTOMER, "mine"), (ADMIN, "1")] {
        let answer = select(token, cart, "checkmo");
        assert_eq!((answer.status, answer.json()), (200, json!("1")));
    }
    assert_eq!(selected()["method"], "checkmo");
    select(CUSTOMER, "mine", "nosuch").refuses(
        400,
        "The requested Payment Method is not available.",
        Value::Null,
    );
    assert_eq!(sandbox.get(CUSTOMER, &format!("{MINE}/payment-methods")).json()[0]["code"], "checkmo");
    assert_eq!(sandbox.show()["quotes"][0]["shipping_information"]["paymentMethod"]["method"], "checkmo");
}

#[test]
fn an_order_ends_the_cart() {
    let sandbox = with_item();
    assert_eq!(ship(&sandbox, &address()).status, 200);
    sandbox.sql(ORDER);
    assert_eq!(sandbox.get(CUSTOMER, MINE).status, 404);
    assert_eq!(sandbox.call(CUSTOMER, "POST", MINE, "").json(), json!(6));
    assert_eq!(items(&sandbox), json!([]));
    // An item for the old cart goes into the new one.
    assert_eq!(add(&sandbox, &json!({"sku": "mug-blue", "qty": 1, "quote_id": "1"})).json()["quote_id"], "6");
}
