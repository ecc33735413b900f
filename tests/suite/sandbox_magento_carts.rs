//! Carts and their items in the sandbox's Magento interface, row by row as it was measured.

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, Answer, CUSTOMER, Sandbox};

pub const MINE: &str = "/rest/V1/carts/mine";

pub fn post(sandbox: &Sandbox, token: &str, path: &str, body: &Value) -> Answer {
    sandbox.call(token, "POST", path, &body.to_string())
}

pub fn add(sandbox: &Sandbox, item: &Value) -> Answer {
    post(sandbox, CUSTOMER, &format!("{MINE}/items"), &json!({"cartItem": item}))
}

pub fn items(sandbox: &Sandbox) -> Value {
    sandbox.get(CUSTOMER, &format!("{MINE}/items")).json()
}

fn qty(sandbox: &Sandbox) -> i64 {
    items(sandbox).as_array().unwrap().iter().map(|item| item["qty"].as_i64().unwrap()).sum()
}

pub fn with_item() -> Sandbox {
    let sandbox = Sandbox::new();
    assert_eq!(add(&sandbox, &json!({"sku": "mug-blue", "qty": 2})).status, 200);
    sandbox
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
