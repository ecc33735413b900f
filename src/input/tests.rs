use clap::Parser as _;
use serde_json::{Value, json};

use super::{Draft, NoFlags};
use crate::commands::attribute::AttributeCommand;
use crate::commands::customer::CustomerCommand;
use crate::commands::quote::QuoteCommand;
use crate::commands::{Cli, Command};
use crate::input::FlagOverrides;
use crate::plan::operation::Operation;
use crate::plan::request::dialect::MARKETPLACE;

/// The draft of a command line over a document.
fn draft(line: &str, document: Option<Value>) -> Result<Draft, String> {
    let cli = Cli::try_parse_from(format!("storefront {line}").split_whitespace()).unwrap();
    let (operation, flags): (Operation, Box<dyn FlagOverrides>) = match cli.command {
        Command::Customer(CustomerCommand::Update(flags)) => (Operation::CustomerUpdate, flags),
        Command::Quote(QuoteCommand::AddItem(flags)) => (Operation::QuoteAddItem, flags),
        Command::Attribute(AttributeCommand::Create(flags)) => (Operation::AttributeCreate, flags),
        _ => panic!("{line}: another command"),
    };
    Draft::new(&MARKETPLACE, operation, document, flags.as_ref(), false).map_err(|failure| failure.message)
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
    let document = json!({"created_at": "x", "gender": null, "addresses": [{"id": 1, "country_id": "usa"}]});
    let sent = draft("customer update", Some(document)).unwrap();
    assert_eq!(sent.deferred.len(), 3, "{:?}", sent.deferred);
    assert!(sent.refuse_wrong_values().unwrap_err().message.lines().count() == 2);
    let flags = draft("customer update --address 1 --country us", None).unwrap_err();
    assert!(flags.ends_with("did you mean `US`?"), "{flags}");
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
    assert!(Draft::new(&MARKETPLACE, Operation::AttributeCreate, Some(select), &NoFlags, false).is_err());
}
