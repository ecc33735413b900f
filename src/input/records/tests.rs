use serde_json::{Value, json};

use super::array::Elements;
use super::{Columns, Content, Input, lines, rows};
use crate::plan::operation::Operation;

fn input(text: &str) -> Input {
    // A reader that gives a byte at a time finds every seam.
    Box::new(std::io::BufReader::with_capacity(1, std::io::Cursor::new(text.as_bytes().to_vec())))
}

fn elements(text: &str) -> Result<Vec<(u64, String)>, String> {
    let mut array = Elements::new(input(text), "x.json".to_owned());
    let mut found = Vec::new();
    while let Some((line, content, _)) = array.read().map_err(|failure| failure.message)? {
        let Content::Json(text) = content else { panic!("{content:?}") };
        found.push((line, text));
    }
    Ok(found)
}

#[test]
fn an_array_parts_at_its_own_commas() {
    let text = " [ {\"a\":\"],}\\\"\",\"b\":[1,2]} ,\n\n{\"c\":{}}\n ]\n";
    let parted = elements(text).unwrap();
    assert_eq!(parted, [(1, r#"{"a":"],}\"","b":[1,2]}"#.to_owned()), (3, r#"{"c":{}}"#.to_owned())]);
    assert_eq!(elements("[]"), Ok(Vec::new()));
}

#[test]
fn what_is_no_array_is_named_by_line() {
    for (text, what) in [
        ("{}", "x.json is not a JSON array: line 1: '{'"),
        ("[1\n,2", "x.json is not a JSON array: line 2: it ends"),
        ("[1,]", "x.json is not a JSON array: line 1: ']'"),
        ("[,1]", "x.json is not a JSON array: line 1: ','"),
        ("[1] x", "x.json is not a JSON array: line 1: 'x'"),
        ("[1", "x.json is not a JSON array: line 1: it ends"),
    ] {
        let found = elements(text).unwrap_err();
        assert!(found.starts_with(what), "{text}: {found}");
    }
}

#[test]
fn lines_are_counted_and_blank_ones_passed_over() {
    let mut lines = lines::Lines::new(input("{\"a\":1}\r\n\n  \n{\"b\":2}"), "x".to_owned());
    let mut found = Vec::new();
    while let Some((line, content, _)) = lines.read().unwrap() {
        found.push((line, content));
    }
    assert_eq!(
        found,
        [(1, Content::Json("{\"a\":1}".to_owned())), (4, Content::Json("{\"b\":2}".to_owned()))]
    );
}

fn documents(operation: Operation, text: &str) -> Result<Vec<Value>, String> {
    let understand =
        |header: &csv::StringRecord| Columns::understand("x.csv", operation, header, &["token".to_owned()]);
    let mut rows =
        rows::Rows::new(input(text), "x.csv".to_owned(), understand).map_err(|failure| failure.message)?;
    let mut found = Vec::new();
    while let Some((line, content, _)) = rows.read().map_err(|failure| failure.message)? {
        let Content::Row(row) = content else { panic!("{content:?}") };
        let (document, _) = rows.columns().document(&row).map_err(|what| format!("{line}: {what}"))?;
        found.push(Value::Object(document));
    }
    Ok(found)
}

#[test]
fn cells_take_the_type_of_their_member() {
    let text = "sku;qty;quote_id;option:93;token;reason\n02138;1.50;0007;56;secret;why\n\"a;b\";2;q;;;\n";
    let option = json!({"extension_attributes": {"configurable_item_options": [{"option_id": "93", "option_value": 56}]}});
    let found = documents(Operation::QuoteAddItem, text).unwrap();
    assert_eq!(
        found[0].to_string(),
        json!({"sku": "02138", "qty": 0, "quote_id": "0007", "product_option": option})
            .to_string()
            .replace("\"qty\":0", "\"qty\":1.50")
    );
    assert_eq!(found[1].to_string(), r#"{"sku":"a;b","qty":2,"quote_id":"q"}"#);
}

#[test]
fn a_profile_row_changes_one_address_or_adds_one() {
    let text = "firstname,address_id,address_firstname,street,region_id,region,custom_attribute:door\nAda,7,Eve,1 Way|Flat 2,12,Oslo,4b\nBob,,,,,,\n";
    assert_eq!(
        documents(Operation::CustomerUpdate, text).unwrap(),
        [
            json!({"firstname": "Ada", "addresses": [{"id": 7, "firstname": "Eve", "street": ["1 Way", "Flat 2"],
                "region": {"region_id": 12, "region": "Oslo"},
                "custom_attributes": [{"attribute_code": "door", "value": "4b"}]}]}),
            json!({"firstname": "Bob"})
        ]
    );
}

#[test]
fn an_attribute_row_has_labels_and_options() {
    let text = "attribute_code,label:1,label:2,options\nsize,Taille,Größe,S|*M|L\n";
    assert_eq!(
        documents(Operation::AttributeCreate, text).unwrap(),
        [json!({"attribute_code": "size",
            "frontend_labels": [{"store_id": 1, "label": "Taille"}, {"store_id": 2, "label": "Größe"}],
            "options": [{"label": "S", "sort_order": 1, "is_default": false},
                        {"label": "M", "sort_order": 2, "is_default": true},
                        {"label": "L", "sort_order": 3, "is_default": false}]})]
    );
}

#[test]
fn a_shipping_row_nests_its_addresses() {
    let text = "shipping_address.city,shipping_carrier_code,paymentMethod.method\nOslo,flatrate,checkmo\n";
    assert_eq!(
        documents(Operation::QuoteShip, text).unwrap(),
        [
            json!({"addressInformation": {"shipping_address": {"city": "Oslo"}, "shipping_carrier_code": "flatrate"},
            "paymentMethod": {"method": "checkmo"}})
        ]
    );
}

#[test]
fn headers_and_cells_that_are_not_understood_are_named() {
    let problem = |text: &str| documents(Operation::QuoteAddItem, text).unwrap_err();
    assert_eq!(
        problem("sku,qyt\n"),
        "x.csv: line 1: the column \"qyt\" is unknown; did you mean qty?; nothing was sent"
    );
    assert_eq!(problem("sku,sku\n"), "x.csv: line 1: the column \"sku\" is there twice; nothing was sent");
    assert_eq!(problem("sku,qty\na,1\nb,two\n"), "3: column qty: expected a number, found \"two\"");
    assert_eq!(problem("sku,qty\n\"a\nb\",1\nc\n"), "4: there are 1 cells, and the header has 2");
}
