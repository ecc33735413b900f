//! The fields of Magento's interface: `magento.tsv`, which `scripts/magento-fields.py` writes from the schema that a shop
//! publishes, and around them the bodies that its routes take.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Field, FieldTables, FieldType, ObjectSchema, Scalar, field};

/// A field in each line: its object, name, type and meaning. An object stands before those that contain it.
const TABLE: &str = include_str!("magento.tsv");

/// Magento's tables.
pub static MAGENTO_FIELDS: LazyLock<FieldTables> = LazyLock::new(|| {
    let objects = objects();
    let object = |name: &str| objects.get(name).copied().unwrap_or(&EMPTY);
    let body =
        |wrapper, name, doc| schema("body", vec![field(wrapper, FieldType::Object(object(name)), doc)]);
    // Addresses and payment are two calls, and one document.
    let shipping = vec![
        field(
            "addressInformation",
            FieldType::Object(object("address information")),
            "Addresses, carrier and method",
        ),
        field("paymentMethod", FieldType::Object(object("payment")), "Payment, sent in a call of its own"),
    ];
    FieldTables {
        customer_body: body("customer", "customer", "The profile and its addresses"),
        customer: object("customer"),
        address: object("profile address"),
        region: object("region"),
        cart_item_body: body("cartItem", "cart item", "The item to add"),
        cart_item: object("cart item"),
        attribute_body: body("attribute", "attribute", "The attribute to create"),
        attribute: object("attribute"),
        shipping_information: schema("shipping information", shipping),
        address_information: object("address information"),
        quote_address: object("quote address"),
    }
});

static EMPTY: ObjectSchema = ObjectSchema { name: "", section: "Magento", own_fields: &[] };

/// The objects by their names; they live as long as the program.
fn objects() -> HashMap<&'static str, &'static ObjectSchema> {
    let rows: Vec<[&'static str; 4]> = TABLE.lines().filter_map(columns).collect();
    let mut objects = HashMap::new();
    for rows in rows.chunk_by(|one, next| one[0] == next[0]) {
        let fields = rows.iter().map(|[_, name, holds, doc]| field(name, field_type(holds, &objects), doc));
        let fields = fields.collect();
        objects.insert(rows[0][0], schema(rows[0][0], fields));
    }
    objects
}

fn columns(line: &'static str) -> Option<[&'static str; 4]> {
    let mut columns = line.splitn(4, '\t');
    Some([columns.next()?, columns.next()?, columns.next()?, columns.next()?])
}

fn schema(name: &'static str, fields: Vec<Field>) -> &'static ObjectSchema {
    Box::leak(Box::new(ObjectSchema { name, section: "Magento", own_fields: fields.leak() }))
}

/// `object NAME` and `list NAME` are of an object of the table.
fn field_type(holds: &str, objects: &HashMap<&str, &'static ObjectSchema>) -> FieldType {
    let (kind, name) = holds.split_once(' ').unwrap_or((holds, ""));
    match (kind, objects.get(name)) {
        ("text", _) => FieldType::Scalar(Scalar::Text),
        ("integer", _) => FieldType::Scalar(Scalar::Integer),
        ("number", _) => FieldType::Scalar(Scalar::Number),
        ("boolean", _) => FieldType::Scalar(Scalar::Boolean),
        ("texts", _) => FieldType::TextList,
        ("list", Some(object)) => FieldType::List(object),
        ("list", None) => FieldType::AnyList,
        (_, Some(object)) => FieldType::Object(object),
        (_, None) => FieldType::AnyObject,
    }
}

#[cfg(test)]
mod tests {
    use super::{MAGENTO_FIELDS, TABLE, columns, objects};

    #[test]
    fn the_table_is_understood_to_the_last_row() {
        let objects = objects();
        let fields: usize = objects.values().map(|object| object.own_fields.len()).sum();
        assert_eq!((fields, TABLE.lines().count()), (150, 150));
        for [_, name, holds, _] in TABLE.lines().map(|line| columns(line).unwrap()) {
            let (kind, object) = holds.split_once(' ').unwrap_or((holds, ""));
            let kinds = ["text", "integer", "number", "boolean", "texts", "list", "object"];
            assert!(kinds.contains(&kind), "{name}: {holds}");
            assert!(object.is_empty() || objects.contains_key(object), "{name}: {holds}");
        }
        let tables = &*MAGENTO_FIELDS;
        for (body, path) in [
            (tables.customer_body, "customer.addresses[].region.region_id"),
            (tables.cart_item_body, "cartItem.product_option.extension_attributes.configurable_item_options"),
            (tables.attribute_body, "attribute.options[].store_labels[].label"),
            (tables.shipping_information, "addressInformation.shipping_address.vat_id"),
            (tables.shipping_information, "paymentMethod.method"),
        ] {
            assert!(body.fields().iter().any(|(known, _)| known == path), "{path}");
        }
        assert!(tables.address_information.field("shipping_carrier_code").is_some());
        assert!(tables.quote_address.field("vat_id").is_some() && tables.region.field("region").is_some());
    }
}
