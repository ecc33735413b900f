use clap::Parser as _;
use serde_json::{Value, json};

use super::Draft;
use super::document::TextInput;
use super::records::{Columns, Content, Format, RecordReader};
use crate::commands::attribute::AttributeCommand;
use crate::commands::customer::CustomerCommand;
use crate::commands::quote::QuoteCommand;
use crate::commands::{Cli, Command};
use crate::ops::Operation;
use storefront_core::interface::dialect::MARKETPLACE;
use storefront_core::operation::{
    ATTRIBUTE_CREATE, CUSTOMER_UPDATE, OperationSpec, QUOTE_ADD_ITEM, QUOTE_SHIP,
};

/// The draft of a command line over a document.
fn draft(line: &str, document: Option<Value>) -> Result<Draft, String> {
    let cli = Cli::try_parse_from(format!("storefront {line}").split_whitespace()).unwrap();
    let operation: Box<dyn Operation> = match cli.command {
        Command::Customer(CustomerCommand::Update(args)) => args,
        Command::Quote(QuoteCommand::AddItem(args)) => args,
        Command::Attribute(AttributeCommand::Create(args)) => args,
        _ => panic!("{line}: another command"),
    };
    operation.prepare(&MARKETPLACE, document.into(), false).map_err(|failure| failure.message)
}

#[test]
fn flags_replace_values_of_the_wrong_type() {
    let item = json!({"cartItem": {"sku": "a", "qty": "2", "quote_id": 1}});
    let sent = draft("quote add-item --qty 3 --quote-id 1", Some(item.clone())).unwrap();
    assert_eq!(Value::Object(sent.fields), json!({"sku": "a", "qty": 3, "quote_id": "1"}));
    let refusal = draft("quote add-item --qty 3", Some(item)).unwrap_err();
    assert_eq!(refusal, "cartItem.quote_id: expected a string, found the number 1");
    let attribute = json!({"attribute": {"attribute_code": "a", "is_searchable": true}});
    let sent = draft("attribute create --searchable=false", Some(attribute)).unwrap();
    assert_eq!(sent.fields["is_searchable"], "0");
    let spaced = draft("quote add-item --sku b", Some(json!({"sku ": "a", "qty": 1}))).unwrap();
    assert_eq!(Value::Object(spaced.fields), json!({"sku": "b", "qty": 1}));
    let list = draft("customer update --address 2 --city X", Some(json!({"addresses": {}}))).unwrap();
    assert_eq!(list.fields["addresses"], json!([{"city": "X", "id": 2}]));
    assert_eq!(list.deferred, []);
}

#[test]
fn flags_of_an_address_replace_the_region_id_in_both_places() {
    let document =
        json!({"addresses": [{"id": 2, "region_id": 43, "region": {"region": "New York", "x": 1}}]});
    let sent = draft("customer update --address 2 --region-id 12", Some(document)).unwrap();
    let address = json!({"id": 2, "region": {"region": "New York", "x": 1, "region_id": 12}});
    assert_eq!(sent.fields["addresses"], json!([address]));
}

#[test]
fn the_stored_profile_decides_on_a_document_but_not_on_flags() {
    let document =
        json!({"created_at": "x", "gender": null, "addresses": [{"id": 1, "country_id": "Narnia"}]});
    let sent = draft("customer update", Some(document)).unwrap();
    assert_eq!(sent.deferred.len(), 3, "{:?}", sent.deferred);
    assert_eq!(sent.refuse_wrong_values().unwrap_err().message.lines().count(), 2);
    let flags = draft("customer update --address 1 --country us", None).unwrap();
    assert_eq!(flags.fields["addresses"], json!([{"id": 1, "country_id": "US"}]));
    let beside = draft("customer update", Some(json!({"customer": {}, "x": 1}))).unwrap_err();
    assert_eq!(beside, "`x` stands beside `customer`, where no field is documented");
}

#[test]
fn what_an_address_flag_names_is_known() {
    let line = "customer update --address 1 --company ACME --vat-id X1 --default-shipping --default-billing";
    let sent = draft(line, None).unwrap();
    let address = json!({"id": 1, "company": "ACME", "vat_id": "X1", "default_billing": true, "default_shipping": true});
    assert_eq!(sent.fields["addresses"], json!([address]));
    let document = json!({"addresses": [{"company": "ACME", "vat_id": null, "default_shipping": true}]});
    assert_eq!(draft("customer update", Some(document)).unwrap().deferred, []);
    let refused = draft("customer update --add-address --default-shipping", None).unwrap_err();
    assert!(refused.contains("no address field given"), "{refused}");
}

#[test]
fn an_item_needs_a_quantity() {
    assert_eq!(draft("quote add-item --sku a", None).unwrap_err(), "qty is missing");
    for qty in ["0", "-1", "0.0"] {
        let refusal = draft(&format!("quote add-item --sku a --qty {qty}"), None).unwrap_err();
        assert_eq!(refusal, format!("qty must be above 0, found {qty}"));
    }
}

#[test]
fn an_attribute_that_cannot_work_is_refused_unless_forced() {
    for flags in
        ["--type boolean --option A", "--type select", "--type select --options tests/suite/two_defaults.csv"]
    {
        let line = format!("attribute create --code a {flags}");
        assert!(draft(&line, None).is_err(), "{line}");
        let forced = draft(&format!("{line} --force"), None).unwrap();
        assert_eq!(forced.warnings.len(), 1, "{:?}", forced.warnings);
    }
    let select = json!({"attribute": {"attribute_code": "a", "frontend_input": "select"}});
    assert!(draft("attribute create", Some(select)).is_err());
}

fn input(text: &str) -> TextInput {
    // A reader that gives a byte at a time finds every seam.
    Box::new(std::io::BufReader::with_capacity(1, std::io::Cursor::new(text.as_bytes().to_vec())))
}

fn reader(text: &str, format: Format, operation: &'static OperationSpec) -> Result<RecordReader, String> {
    let understand = |header: &csv::StringRecord| {
        Columns::parse_header("x.csv", &MARKETPLACE, operation, header, &["token".to_owned()])
    };
    let path = if format == Format::Csv { "x.csv" } else { "x.json" };
    RecordReader::over(input(text), path.into(), format, understand).map_err(|failure| failure.message)
}

/// The JSON records with their lines.
fn texts(text: &str, format: Format) -> Result<Vec<(u64, String)>, String> {
    let mut records = reader(text, format, &QUOTE_ADD_ITEM)?;
    let mut found = Vec::new();
    while let Some(record) = records.read().map_err(|failure| failure.message)? {
        let Content::Json(text) = record.content else { panic!("{:?}", record.content) };
        assert_eq!(record.number, found.len() as u64 + 1);
        found.push((record.line, text));
    }
    Ok(found)
}

fn elements(text: &str) -> Result<Vec<(u64, String)>, String> {
    texts(text, Format::Array)
}

#[test]
fn an_array_parts_at_its_own_commas() {
    let text = " [ {\"a\":\"],}\\\"\",\"b\":[1,2]} ,\n\n{\"c\":{}}\n ]\n";
    let parted = elements(text).unwrap();
    assert_eq!(parted, [(1, r#"{"a":"],}\"","b":[1,2]}"#.to_owned()), (2, r#"{"c":{}}"#.to_owned())]);
    assert_eq!(elements("[]"), Ok(Vec::new()));
}

#[test]
fn what_is_no_array_is_named_by_line() {
    for (text, what) in [
        ("[1\n,2", "EOF while parsing a list at line 2 column 2"),
        ("[1,]", "trailing comma at line 1 column 4"),
        ("[,1]", "expected value at line 1 column 2"),
        ("[1] x", "trailing characters at line 1 column 5"),
        ("[1", "EOF while parsing a list at line 1 column 2"),
    ] {
        assert_eq!(elements(text), Err(format!("`x.json` is not a JSON array of records: {what}")), "{text}");
    }
}

#[test]
fn lines_are_counted_and_blank_ones_passed_over() {
    let found = texts("{\"a\":1}\r\n\n  \n{\"b\":2}", Format::Ndjson);
    assert_eq!(found, Ok(vec![(1, "{\"a\":1}".to_owned()), (4, "{\"b\":2}".to_owned())]));
}

fn documents(operation: &'static OperationSpec, text: &str) -> Result<Vec<Value>, String> {
    let mut rows = reader(text, Format::Csv, operation)?;
    let mut found = Vec::new();
    while let Some(record) = rows.read().map_err(|failure| failure.message)? {
        let Content::Row(row) = record.content else { panic!("{:?}", record.content) };
        let document = rows.columns().unwrap().document(&row);
        let (document, _) = document.map_err(|what| format!("{}: {what}", record.line))?;
        found.push(Value::Object(document));
    }
    Ok(found)
}

#[test]
fn cells_take_the_type_of_their_member() {
    let text = "sku;qty;quote_id;option:93;token;reason\n02138;1.50;0007;56;secret;why\n\"a;b\";2;q;;;\n";
    let option = json!({"extension_attributes": {"configurable_item_options": [{"option_id": "93", "option_value": 56}]}});
    let found = documents(&QUOTE_ADD_ITEM, text).unwrap();
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
    let text = "firstname,address_id,address_firstname,street,region_id,region,custom_attribute:door\n,7,Eve,1 Way|Flat 2,12,Oslo,4b\nBob,,,,,,\n,new,Zoe,,,,\n";
    assert_eq!(
        documents(&CUSTOMER_UPDATE, text).unwrap(),
        [
            json!({"addresses": [{"id": 7, "firstname": "Eve", "street": ["1 Way", "Flat 2"],
                "region": {"region_id": 12, "region": "Oslo"},
                "custom_attributes": [{"attribute_code": "door", "value": "4b"}]}]}),
            json!({"firstname": "Bob"}),
            json!({"addresses": [{"firstname": "Zoe"}]})
        ]
    );
}

#[test]
fn an_attribute_row_has_labels_and_options() {
    let text = "attribute_code,label:1,label:2,options\nsize,Taille,Größe,S|*M|L\n";
    assert_eq!(
        documents(&ATTRIBUTE_CREATE, text).unwrap(),
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
        documents(&QUOTE_SHIP, text).unwrap(),
        [
            json!({"addressInformation": {"shipping_address": {"city": "Oslo"}, "shipping_carrier_code": "flatrate"},
            "paymentMethod": {"method": "checkmo"}})
        ]
    );
}

#[test]
fn a_row_with_an_empty_address_id_adds_no_address() {
    let problem = |text: &str| documents(&CUSTOMER_UPDATE, text).unwrap_err();
    let refusal = problem("address_id,city\n1,Oslo\n,Bergen\n");
    assert!(
        refusal.starts_with("3: column address_id is empty") && refusal.contains("`new` to add"),
        "{refusal}"
    );
    assert!(problem("address_id,city\nnew,\n").contains("no field"));
    assert!(problem("address_id,city\nnwe,Oslo\n").contains("`new` adds an address"));
    assert!(problem("city,company\nOslo,ACME\n").contains("without the column `address_id`"));
}

#[test]
fn what_spreadsheets_leave_behind_is_passed_over() {
    for text in [
        "sep=;\r\nSKU;Qty ; quote_id;;\r\nab;1;q;;\r\n;;;;\r\n",
        "sku\tqty\tquote_id\t\nab\t1\tq\n\t\t\n",
        "\u{feff}sku,qty,QUOTE_ID\r\rab,1,q, ,\r",
    ] {
        let text = text.trim_start_matches('\u{feff}');
        assert_eq!(
            documents(&QUOTE_ADD_ITEM, text).unwrap(),
            [json!({"sku": "ab", "qty": 1, "quote_id": "q"})],
            "{text:?}"
        );
    }
    let labels =
        documents(&ATTRIBUTE_CREATE, "Attribute_Code,LABEL:1,Is_Searchable,is_required\na,b,Yes,no\n");
    assert_eq!(
        labels.unwrap(),
        [json!({"attribute_code": "a", "frontend_labels": [{"store_id": 1, "label": "b"}],
            "is_searchable": "1", "is_required": false})]
    );
}

#[test]
fn a_line_is_that_of_an_editor_after_quoted_line_breaks_too() {
    let text = "sku,qty\n\"a\n\nb\",1\n\nc,two\n";
    for end in ["\n", "\r\n", "\r"] {
        let problem = documents(&QUOTE_ADD_ITEM, &text.replace('\n', end)).unwrap_err();
        assert_eq!(problem, "6: column qty: expected a number, found \"two\"", "{end:?}");
    }
}

#[test]
fn a_quote_that_is_never_closed_ends_the_reading() {
    let problem = |text: &str| documents(&QUOTE_ADD_ITEM, text).unwrap_err();
    assert_eq!(problem("sku,qty\r\na,1\r\n\"b,2\r\nc,3\r\n"), "x.csv: line 3: unclosed quoted cell");
    assert_eq!(problem("sku,qty\n\"a\"x,1\nb,2\n"), "x.csv: line 2: text after the closing quote of a cell");
    assert!(problem("\"sku,qty\na,1\n").starts_with("x.csv: line 1: "));
}

#[test]
fn headers_and_cells_that_are_not_understood_are_named() {
    let problem = |text: &str| documents(&QUOTE_ADD_ITEM, text).unwrap_err();
    assert_eq!(
        problem("sku,qyt,nothing\n"),
        "x.csv: unknown column `qyt`; did you mean `qty`?\n  x.csv: unknown column `nothing`"
    );
    assert_eq!(problem("sku,SKU\n"), "x.csv: duplicate column `SKU`");
    assert_eq!(problem("sku,,qty\n"), "x.csv: column 2 has no title");
    assert_eq!(problem("\n"), "x.csv has no header");
    assert_eq!(problem("sku,qty\na,1\nb,two\n"), "3: column qty: expected a number, found \"two\"");
    assert_eq!(problem("sku,qty\n\"a\nb\",1\nc\n"), "4: expected 2 cells, found 1");
    assert_eq!(problem("sku,qty\na,1,2\n"), "2: expected 2 cells, found 3");
    assert_eq!(
        problem("qty,option:1\nx,y\n"),
        "2: column qty: expected a number, found \"x\"; column option:1: expected an integer, found \"y\""
    );
}
