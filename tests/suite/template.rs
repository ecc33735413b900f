//! `template`: what it prints runs on the sandbox as it is.

use serde_json::Value;
use snapbox::str;

use crate::support::storefront::Home;

const OPERATIONS: [&str; 12] = [
    "quote ship",
    "quote add-item",
    "quote set-item --api magento",
    "quote remove-item --api magento",
    "quote clear --api magento",
    "customer update",
    "attribute create",
    "attribute assign --api magento",
    "attribute option add --api magento",
    "attribute option default --api magento",
    "product set --api magento",
    "order update --api magento",
];

#[test]
fn a_template_runs_on_the_sandbox_as_it_is() {
    for operation in OPERATIONS {
        let home = home_for(operation);
        let template = home.ok(&format!("template {}", quoted(operation)));
        let mut words: Vec<&str> = operation.split(' ').collect();
        words.extend(["--sandbox", "-i", "-", "-o", "json", "--yes"]);
        let done = home.storefront(&words).stdin(template).run();
        assert!(done.code == 0 && done.stdout.contains(r#""applied":"yes""#), "{operation}: {done:?}");
        assert!(!done.stderr.contains("warning"), "{done:?}");
    }
}

#[test]
fn a_csv_template_runs_on_the_sandbox_as_it_is_and_sends_what_the_document_sends() {
    for operation in OPERATIONS {
        let home = home_for(operation);
        let csv = home.ok(&format!("template {} --format csv", quoted(operation)));
        assert_eq!(csv.lines().count(), 2, "{csv}");
        std::fs::write(home.dir.path().join("in.csv"), &csv).unwrap();
        let template = home.ok(&format!("template {}", quoted(operation)));
        std::fs::write(home.dir.path().join("in.json"), template).unwrap();
        let sent = |file: &str| -> Value {
            serde_json::from_str(&home.ok(&format!("{operation} --sandbox -n -o json -i {file}"))).unwrap()
        };
        let (mut row, mut document) = (sent("in.csv"), sent("in.json"));
        for sent in [&mut row, &mut document] {
            drop_what_no_cell_holds(&mut sent["request"]["body"]);
        }
        assert_eq!(row["request"]["body"], document["request"]["body"], "{operation}");
        let done = home.run(
            &[&operation.split(' ').collect::<Vec<_>>()[..], &["--sandbox", "-i", "in.csv", "--yes"]]
                .concat(),
        );
        assert_eq!(done.code, 0, "{operation}: {done:?}");
    }
}

/// A home whose sandbox has what the operation needs: an item that is in the cart.
fn home_for(operation: &str) -> Home {
    let home = Home::new();
    if ["quote set-item", "quote remove-item", "quote clear"].iter().any(|name| operation.starts_with(name)) {
        home.ok("quote add-item --sku mug-blue --qty 1 --sandbox --api magento");
    }
    home
}

/// The operation as one word, with what follows it.
fn quoted(operation: &str) -> String {
    let (name, flags) = operation.split_at(operation.find(" --").unwrap_or(operation.len()));
    format!("{}{flags}", name.replace(' ', "-"))
}

/// The labels of single options in single store views have no column.
fn drop_what_no_cell_holds(body: &mut Value) {
    for option in body["attribute"]["options"].as_array_mut().into_iter().flatten() {
        option.as_object_mut().unwrap().shift_remove("store_labels");
    }
}

#[test]
fn an_operation_is_one_word_or_as_many_as_it_is_typed_with() {
    let home = Home::new();
    let template = home.ok("template quote ship");
    assert_eq!(home.ok("template quote-ship"), template);
    assert_eq!(home.run(&["template", "quote ship"]).stdout, template);
    let schema = home.ok("schema attribute option add");
    assert_eq!(home.ok("schema attribute-option-add"), schema);
    home.run("template quote-shp").assert_failure(
        2,
        str![[r#"
error: unknown operation `quote-shp`
  hint: did you mean `quote-ship`?
"#]],
    );
    home.run("schema order").assert_failure(
        2,
        str![[r#"
error: unknown operation `order`
  hint: expected one of quote-ship, quote-add-item, quote-set-item, quote-remove-item, quote-clear, customer-update, attribute-create, attribute-assign, attribute-option-add, attribute-option-default, product-set, order-update
"#]],
    );
}

#[test]
fn field_descriptions_go_to_stderr_unless_quiet() {
    let home = Home::new();
    let described = home.run("template quote add-item");
    described.assert(0, str![[r#"
{
  "cartItem": {
    "sku": "shirt",
    "qty": 2,
    "quote_id": "1",
    "product_option": {
      "extension_attributes": {
        "configurable_item_options": [
          {"option_id": "93", "option_value": 50},
          {"option_id": "144", "option_value": 168}
        ]
      }
    }
  }
}
"#]], str![[r#"
FIELD                                                                                  TYPE                 DESCRIPTION
cartItem                                                                               an object            The item to add
cartItem.sku                                                                           a string             Product SKU
cartItem.qty                                                                           a number             Quantity
cartItem.quote_id                                                                      a string             Quote ID
cartItem.product_option                                                                an object            Configurable products only
cartItem.product_option.extension_attributes                                           an object            Configurable products only
cartItem.product_option.extension_attributes.configurable_item_options                 an array of objects  One element per configurable attribute
cartItem.product_option.extension_attributes.configurable_item_options[].option_id     a string             The attribute_id of the configurable attribute
cartItem.product_option.extension_attributes.configurable_item_options[].option_value  an integer           The chosen value, as the product detail gives it
Leave out any field you do not need; `storefront help input` explains batches.
"#]]);
    let quiet = home.run("template quote add-item -q");
    assert_eq!((quiet.stdout, quiet.stderr), (described.stdout, String::new()));
}

#[test]
fn a_csv_template_explains_its_columns() {
    let home = Home::new();
    for (operation, column) in [
        (
            "attribute-create",
            "options                 labels separated by |  Options to choose from; * marks the default",
        ),
        ("attribute-create", "is_searchable           yes or no"),
        ("customer-update", "street"),
        ("customer-update", "address_id                 ID or `new`"),
        (
            "attribute-create --api magento",
            "frontend_input                 text                   Input type: select,",
        ),
        ("attribute-create --api magento", "attribute_set                  values separated by |"),
        ("quote-add-item", "option:OPTION_ID"),
        ("quote-ship", "paymentMethod.FIELD"),
    ] {
        let outcome = home.run(&format!("template {operation} --format csv"));
        let explained = outcome.stderr.lines().find(|line| line.starts_with(column));
        assert!(explained.is_some() && outcome.stderr.starts_with("COLUMN"), "{outcome:?}");
    }
}
