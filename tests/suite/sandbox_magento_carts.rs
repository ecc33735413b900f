//! Carts, shipping and payment in the sandbox's Magento interface, row by row as it was measured.

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, Answer, CUSTOMER, Sandbox};

const MINE: &str = "/rest/V1/carts/mine";

fn post(sandbox: &Sandbox, token: &str, path: &str, body: &Value) -> Answer {
    sandbox.call(token, "POST", path, &body.to_string())
}

fn add(sandbox: &Sandbox, item: &Value) -> Answer {
    post(sandbox, CUSTOMER, &format!("{MINE}/items"), &json!({"cartItem": item}))
}

fn items(sandbox: &Sandbox) -> Value {
    sandbox.get(CUSTOMER, &format!("{MINE}/items")).json()
}

fn qty(sandbox: &Sandbox) -> i64 {
    items(sandbox).as_array().unwrap().iter().map(|item| item["qty"].as_i64().unwrap()).sum()
}

#[test]
fn a_cart_is_made_once_and_needed_before_items() {
    let sandbox = Sandbox::new();
    let sixth = "sandbox-customer-6";
    sandbox.get(sixth, MINE).refuses(
        404,
        "No such entity with %fieldName = %fieldValue",
        json!({"fieldName": "customerId", "fieldValue": 6}),
    );
    let no_cart = "Current customer does not have an active cart.";
    sandbox.get(sixth, &format!("{MINE}/items")).refuses(404, no_cart, Value::Null);
    let item = json!({"cartItem": {"sku": "mug-blue", "qty": 1}});
    post(&sandbox, sixth, &format!("{MINE}/items"), &item).refuses(404, no_cart, Value::Null);
    let make = || sandbox.call(sixth, "POST", MINE, "").json();
    assert_eq!([make(), make()], [json!(6), json!(6)]);
    assert_eq!(sandbox.get(sixth, MINE).json()["customer"]["id"], 6);
    sandbox.call(ADMIN, "POST", MINE, "").refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "customerId"}),
    );
}

/// The trap: adding is no setting.
#[test]
fn the_same_sku_again_adds_its_quantity() {
    let sandbox = Sandbox::new();
    let first = add(&sandbox, &json!({"sku": "mug-blue", "qty": 1})).json();
    assert_eq!(
        first,
        json!({"item_id": 1, "sku": "mug-blue", "qty": 1, "name": "Blue Mug", "price": first["price"], "product_type": "simple",
            "quote_id": "1"})
    );
    let again = add(&sandbox, &json!({"sku": "MUG-blue", "qty": "2", "quote_id": 1})).json();
    assert_eq!((&again["item_id"], &again["qty"]), (&json!(1), &json!(3)));
    assert_eq!(sandbox.show()["quotes"][0]["items"][0]["qty"], 3, "one store");
}

/// The trap: whatever cart is named, the own one is used.
#[test]
fn a_quote_id_that_is_not_the_own_carts_is_ignored() {
    let sandbox = Sandbox::new();
    for quote in [json!(2), json!("999999"), json!("x")] {
        let answer = add(&sandbox, &json!({"sku": "mug-blue", "qty": 1, "quote_id": quote}));
        assert_eq!((answer.status, &answer.json()["quote_id"]), (200, &json!("1")));
    }
    assert_eq!(qty(&sandbox), 3);
    assert_eq!(sandbox.show()["quotes"][1]["items"], json!([]));
}

/// The trap: nothing and less than nothing are one.
#[test]
fn a_quantity_of_nought_adds_one() {
    let sandbox = Sandbox::new();
    for (sent, total) in [(json!(0), 1), (json!(-1), 2), (json!("0"), 3)] {
        assert_eq!(add(&sandbox, &json!({"sku": "mug-blue", "qty": sent})).status, 200);
        assert_eq!(qty(&sandbox), total);
    }
    let put = |qty: i64| {
        let body = json!({"cartItem": {"qty": qty}}).to_string();
        sandbox.call(CUSTOMER, "PUT", &format!("{MINE}/items/1"), &body).json()["qty"].clone()
    };
    assert_eq!((put(4), put(0)), (json!(4), json!(1)));
}

#[test]
fn items_that_cannot_be_added_are_refused() {
    let sandbox = Sandbox::new();
    let invalid = "Invalid value of \"%value\" provided for the %fieldName field.";
    let no_qty = json!({"fieldName": "qty", "value": null});
    add(&sandbox, &json!({"sku": "mug-blue"})).refuses(400, invalid, no_qty.clone());
    for wrapper in ["cart_item", "item"] {
        let body = json!({wrapper: {"sku": "mug-blue", "qty": 1}});
        post(&sandbox, CUSTOMER, &format!("{MINE}/items"), &body).refuses(400, invalid, no_qty.clone());
    }
    add(&sandbox, &json!({"sku": "nosuch", "qty": 1})).refuses(
        404,
        "The product that was requested doesn't exist. Verify the product and try again.",
        Value::Null,
    );
    add(&sandbox, &json!({"sku": "umbrella", "qty": 26})).refuses(
        400,
        "The requested qty is not available",
        Value::Null,
    );
    assert_eq!(add(&sandbox, &json!({"sku": "umbrella", "qty": 25})).status, 200);
    assert_eq!(add(&sandbox, &json!({"sku": "umbrella", "qty": 1})).status, 400);
    add(&sandbox, &json!({"sku": "mug-blue", "qty": 20_000})).refuses(
        400,
        "The requested qty exceeds the maximum qty allowed in shopping cart",
        Value::Null,
    );
    add(&sandbox, &json!({"sku": "mug-blue", "qty": 1.5})).refuses(
        400,
        "You cannot use decimal quantity for this product.",
        Value::Null,
    );
    add(&sandbox, &json!({"sku": "mug-blue", "qty": "abc"})).refuses(
        400,
        "Error occurred during \"qty\" processing. The \"abc\" value's type is invalid. The \"float\" type was expected. \
         Verify and try again.",
        Value::Null,
    );
    assert_eq!(add(&sandbox, &json!({"qty": 1})).status, 500);
    assert_eq!(add(&sandbox, &json!({"sku": "shirt", "qty": 1})).status, 400);
    let options = json!([{"option_id": 93, "option_value": "51"}, {"option_id": "144", "option_value": 168}]);
    let shirt = json!({"sku": "shirt", "qty": 1,
        "product_option": {"extension_attributes": {"configurable_item_options": options}}});
    assert_eq!(add(&sandbox, &shirt).json()["product_type"], "configurable");
    assert_eq!(qty(&sandbox), 26);
}

#[test]
fn items_are_removed() {
    let sandbox = Sandbox::new();
    add(&sandbox, &json!({"sku": "mug-blue", "qty": 1}));
    let remove = |id: i64| sandbox.call(CUSTOMER, "DELETE", &format!("{MINE}/items/{id}"), "");
    assert_eq!(remove(1).json(), true);
    remove(1).refuses(404, "The %1 Cart doesn't contain the %2 item.", json!([1, 1]));
    let body = json!({"cartItem": {"qty": 1}}).to_string();
    sandbox.call(CUSTOMER, "PUT", &format!("{MINE}/items/9"), &body).refuses(
        404,
        "The %1 Cart doesn't contain the %2 item.",
        json!(["1", 9]),
    );
}

#[test]
fn an_administrator_finds_and_fills_a_customers_cart() {
    let sandbox = Sandbox::new();
    let search = |customer: i64| {
        let filter = |group: i64, field: &str, value: i64| {
            let prefix = format!("searchCriteria[filterGroups][{group}][filters][0]");
            format!("{prefix}[field]={field}&{prefix}[value]={value}&")
        };
        let query = filter(0, "customer_id", customer) + &filter(1, "is_active", 1);
        sandbox.get(ADMIN, &format!("/rest/V1/carts/search?{query}")).json()["items"].clone()
    };
    assert_eq!(search(6), json!([]));
    assert_eq!(search(1)[0]["id"], 1);
    let make =
        |customer: i64| sandbox.call(ADMIN, "POST", &format!("/rest/V1/customers/{customer}/carts"), "");
    assert_eq!([make(6).json(), make(6).json()], [json!(6), json!(6)]);
    assert_eq!(search(6)[0]["id"], 6);
    assert_eq!(make(99).status, 404);
    let add = |quote: Value| {
        let item = json!({"cartItem": {"sku": "mug-blue", "qty": 1, "quote_id": quote}});
        post(&sandbox, ADMIN, "/rest/V1/carts/6/items", &item)
    };
    assert_eq!(
        (add(json!("6")).json()["qty"].clone(), add(json!(6)).json()["qty"].clone()),
        (json!(1), json!(2))
    );
    assert_eq!(add(Value::Null).status, 400);
    assert_eq!(add(json!(99)).status, 404);
    assert_eq!(sandbox.get(ADMIN, "/rest/V1/carts/6/items").json()[0]["qty"], 2);
    assert_eq!(sandbox.get(ADMIN, "/rest/V1/carts/6/totals").json()["grand_total"], 25);
    // A cart has a shipping address once shipping information was saved, whatever addresses its customer has.
    let missing = "The shipping address is missing. Set the address and try again.";
    sandbox.get(ADMIN, "/rest/V1/carts/6/shipping-methods").refuses(400, missing, Value::Null);
    let estimate = "estimate-shipping-methods-by-address-id";
    for id in [2, 9999] {
        let to = json!({"addressId": id});
        post(&sandbox, ADMIN, &format!("/rest/V1/carts/6/{estimate}"), &to).refuses(
            400,
            missing,
            Value::Null,
        );
    }
    let filled = with_item();
    for (token, cart) in [(ADMIN, "1"), (CUSTOMER, "mine")] {
        let path = format!("/rest/V1/carts/{cart}/{estimate}");
        let methods = post(&filled, token, &path, &json!({"addressId": 2})).json();
        assert_eq!(methods[0]["carrier_code"], "flatrate", "{methods}");
    }
    sandbox.get(ADMIN, "/rest/V1/carts/99").refuses(
        404,
        "No such entity with %fieldName = %fieldValue",
        json!({"fieldName": "cartId", "fieldValue": 99}),
    );
}

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

fn with_item() -> Sandbox {
    let sandbox = Sandbox::new();
    assert_eq!(add(&sandbox, &json!({"sku": "mug-blue", "qty": 2})).status, 200);
    sandbox
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
    let estimate =
        post(&sandbox, CUSTOMER, &format!("{MINE}/estimate-shipping-methods"), &json!({"address": book}));
    assert_eq!(estimate.status, 400);
    let estimate = post(
        &sandbox,
        CUSTOMER,
        &format!("{MINE}/estimate-shipping-methods"),
        &json!({"address": address()}),
    );
    assert!(estimate.json().as_array().unwrap().iter().any(|method| method["carrier_code"] == "flatrate"));
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
    let information = json!({"paymentMethod": {"method": "banktransfer"}, "billingAddress": address()});
    let set = |token: &str, cart: &str| {
        post(&sandbox, token, &format!("/rest/V1/carts/{cart}/set-payment-information"), &information)
    };
    assert_eq!(set(CUSTOMER, "mine").json(), true);
    assert_eq!(selected()["method"], "banktransfer");
    set(ADMIN, "1").refuses(404, "Request does not match any route.", Value::Null);
    assert_eq!(sandbox.get(CUSTOMER, &format!("{MINE}/payment-methods")).json()[0]["code"], "checkmo");
    assert_eq!(
        sandbox.show()["quotes"][0]["shipping_information"]["paymentMethod"]["method"],
        "banktransfer"
    );
}

#[test]
fn an_order_ends_the_cart() {
    let sandbox = with_item();
    assert_eq!(ship(&sandbox, &address()).status, 200);
    let pay = json!({"paymentMethod": {"method": "checkmo"}});
    assert_eq!(post(&sandbox, CUSTOMER, &format!("{MINE}/payment-information"), &pay).status, 200);
    assert_eq!(sandbox.get(CUSTOMER, MINE).status, 404);
    assert_eq!(sandbox.call(CUSTOMER, "POST", MINE, "").json(), json!(6));
    assert_eq!(items(&sandbox), json!([]));
    // An item for the old cart goes into the new one.
    assert_eq!(add(&sandbox, &json!({"sku": "mug-blue", "qty": 1, "quote_id": "1"})).json()["quote_id"], "6");
}
