use serde_json::{Value, json};

use super::{Items, changed};

fn items(list: &Value) -> Items {
    Items { lines: list.as_array().unwrap().clone(), ..Items::default() }
}

fn shows(before: &Value, after: &Value, added: &Value) -> bool {
    items(before).shows_addition(&items(after), added.as_object().unwrap())
}

fn line(id: i32, sku: &str, qty: f64) -> Value {
    json!({"item_id": id, "sku": sku, "qty": qty})
}

#[test]
fn one_line_shows_exactly_the_added_quantity() {
    let two = json!({"sku": "mug", "qty": "2"});
    assert!(shows(&json!([]), &json!([line(1, "MUG", 2.0)]), &two));
    assert!(shows(&json!([line(1, "mug", 1.0)]), &json!([line(1, "mug", 3.0)]), &two));
    let hat = line(2, "hat", 1.0);
    assert!(shows(&json!([hat]), &json!([hat, line(1, "mug", 2.0)]), &two));
    for after in [
        json!([]),
        json!([line(1, "mug", 1.0)]),
        json!([line(1, "mug", 5.0)]),
        json!([line(1, "mug", 2.0), line(2, "mug", 2.0)]),
        json!([line(1, "hat", 2.0)]),
        json!([line(1, "mug", 2.0), line(1, "mug", 2.0)]),
        json!([{"sku": "mug", "qty": 2}]),
    ] {
        assert!(!shows(&json!([]), &after, &two), "{after}");
    }
}

#[test]
fn any_other_difference_means_that_somebody_else_changed_the_cart() {
    let two = json!({"sku": "mug", "qty": 2});
    let (hat, mug) = (line(2, "hat", 1.0), line(1, "mug", 2.0));
    assert!(!shows(&json!([line(3, "mug", 1.0)]), &json!([mug]), &two), "a line is gone");
    assert!(!shows(&json!([hat]), &json!([mug]), &two), "a line of another product is gone");
    assert!(!shows(&json!([hat]), &json!([line(2, "hat", 5.0), mug]), &two), "another quantity");
    assert!(!shows(&json!([]), &json!([hat, mug]), &two), "another product");
    assert!(!shows(&json!([line(1, "hat", 1.0)]), &json!([line(1, "mug", 3.0)]), &two), "another product");
}

#[test]
fn a_configurable_product_is_known_by_its_options() {
    let option = |value: &Value| json!({"extension_attributes": {"configurable_item_options": [{"option_id": "93", "option_value": value}]}});
    let shirt = json!({"sku": "shirt", "qty": 1, "product_option": option(&json!(50))});
    let of = |sku: &str, value: Value| json!([{"item_id": 1, "sku": sku, "qty": 1, "product_option": option(&value)}]);
    assert!(shows(&json!([]), &of("Shirt-Red", json!("50")), &shirt));
    assert!(!shows(&json!([]), &of("shirt-red", json!(51)), &shirt));
    assert!(!shows(&json!([]), &of("coat-red", json!(50)), &shirt));
    assert!(!shows(&json!([]), &json!([line(1, "hat", 1.0)]), &shirt));
}

/// As Magento 2.4.7 answers `carts/mine` and `carts/mine/items`.
#[test]
fn the_options_of_a_configurable_product_are_those_of_the_list_of_items() {
    let option = json!({"extension_attributes": {"configurable_item_options": [{"option_id": "93", "option_value": 50}]}});
    let shirt = json!({"sku": "shirt", "qty": 1, "product_option": option});
    let in_cart = json!([line(1, "shirt-Red", 1.0)]);
    let mut in_list = in_cart.clone();
    in_list[0]["product_option"] = option;
    assert!(!shows(&json!([]), &in_cart, &shirt), "any product could have that sku");
    let after = items(&in_cart).agreed(items(&in_list)).unwrap();
    assert!(Items::default().shows_addition(&after, shirt.as_object().unwrap()));
    assert!(items(&in_cart).agreed(items(&json!([line(1, "shirt-Red", 2.0)]))).is_none());
}

#[test]
fn a_cart_changed_before_it_was_read_does_not_show_a_later_addition() {
    let two = json!({"sku": "mug", "qty": 2});
    let time = |text: &str| changed(&json!({"updated_at": text}));
    let before = Items { read: time("2026-11-22 10:00:05"), ..items(&json!([])) };
    let after = |text: &str| Items { changed: time(text), ..items(&json!([line(1, "mug", 2.0)])) };
    let added = two.as_object().unwrap();
    assert!(before.shows_addition(&after("2026-11-22 10:00:05"), added));
    assert!(!before.shows_addition(&after("2026-11-22 10:00:04"), added));
    assert!(before.shows_addition(&after("2026-11-22T12:00:05+02:00"), added));
    assert!(!before.shows_addition(&after("2026-11-22T12:00:04+02:00"), added));
    assert!(before.shows_addition(&after("soon"), added), "nothing can be compared");
}

#[test]
fn two_readings_agree_in_lines_products_and_quantities() {
    let one = items(&json!([line(1, "mug", 2.0), line(2, "hat", 1.0)]));
    assert!(
        one.has_same_lines(&items(&json!([line(2, "hat", 1.0), {"item_id": "1", "sku": "mug", "qty": "2"}])))
    );
    for other in [
        json!([]),
        json!([line(1, "mug", 2.0)]),
        json!([line(1, "mug", 2.0), line(2, "hat", 2.0)]),
        json!([line(1, "mug", 2.0), line(3, "hat", 1.0)]),
        json!([line(1, "mug", 2.0), line(2, "cap", 1.0)]),
    ] {
        assert!(!one.has_same_lines(&items(&other)), "{other}");
    }
}
