//! The field tables of both interfaces: `marketplace.tsv`, after docs/interface.md, and `magento.tsv`, which
//! `scripts/magento-fields.py` writes from the schema that a shop publishes. Around them are the bodies that calls take.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Field, FieldTables, FieldType, ObjectSchema, Origin, Scalar};

/// A field in each line: its object, name, type and meaning. An object stands before those that contain it; before its
/// name is the section of the interface that lists it.
const MARKETPLACE: &str = include_str!("marketplace.tsv");
const MAGENTO: &str = include_str!("magento.tsv");

/// The marketplace's.
pub static MARKETPLACE_FIELDS: LazyLock<FieldTables> = LazyLock::new(|| {
    let objects = objects(MARKETPLACE);
    tables(&objects, object(&objects, "shipping information"))
});

/// Magento's, where addresses and payment are two calls, and one document.
pub static MAGENTO_FIELDS: LazyLock<FieldTables> = LazyLock::new(|| {
    let objects = objects(MAGENTO);
    let inside = |name, holds, doc| field(name, FieldType::Object(object(&objects, holds)), doc);
    let information = inside("addressInformation", "address information", "Addresses, carrier and method");
    let payment = inside("paymentMethod", "payment", "Payment, sent in a call of its own");
    tables(&objects, schema("shipping information", "Magento", vec![information, payment]))
});

type Objects = HashMap<&'static str, &'static ObjectSchema>;

fn tables(objects: &Objects, shipping_information: &'static ObjectSchema) -> FieldTables {
    let object = |name| object(objects, name);
    let body =
        |wrapper, name, doc| schema("body", "", vec![field(wrapper, FieldType::Object(object(name)), doc)]);
    FieldTables {
        customer_body: body("customer", "customer", "The profile and its addresses"),
        customer: object("customer"),
        address: object("profile address"),
        region: object("region"),
        cart_item_body: body("cartItem", "cart item", "The item to add"),
        cart_item: object("cart item"),
        attribute_body: body("attribute", "attribute", "The attribute to create"),
        attribute: object("attribute"),
        shipping_information,
        address_information: object("address information"),
        quote_address: object("quote address"),
    }
}

fn object(objects: &Objects, name: &str) -> &'static ObjectSchema {
    static EMPTY: ObjectSchema = ObjectSchema { name: "", section: "", own_fields: &[] };
    objects.get(name).copied().unwrap_or(&EMPTY)
}

/// The objects by their names; they live as long as the program.
fn objects(table: &'static str) -> Objects {
    let rows: Vec<[&'static str; 4]> = table.lines().filter_map(columns).collect();
    let mut objects = HashMap::new();
    for rows in rows.chunk_by(|one, next| one[0] == next[0]) {
        let is_number = |section: &str| section.starts_with(|first: char| first.is_ascii_digit());
        let named = rows[0][0].split_once(' ').filter(|(section, _)| is_number(section));
        let (section, name) = named.unwrap_or(("Magento", rows[0][0]));
        let fields = rows.iter().map(|[_, name, holds, doc]| {
            let (field_type, origin) = field_type(holds, &objects);
            Field { origin, ..field(name, field_type, doc) }
        });
        let fields = fields.collect();
        objects.insert(name, schema(name, section, fields));
    }
    objects
}

fn columns(line: &'static str) -> Option<[&'static str; 4]> {
    let mut columns = line.splitn(4, '\t');
    Some([columns.next()?, columns.next()?, columns.next()?, columns.next()?])
}

fn schema(name: &'static str, section: &'static str, fields: Vec<Field>) -> &'static ObjectSchema {
    Box::leak(Box::new(ObjectSchema { name, section, own_fields: fields.leak() }))
}

fn field(name: &'static str, field_type: FieldType, doc: &'static str) -> Field {
    Field { name, field_type, doc, origin: Origin::Listed }
}

/// `object NAME` and `list NAME` are of an object of the table; `text` and its like are cast by the service, `Text` is not.
fn field_type(holds: &str, objects: &Objects) -> (FieldType, Origin) {
    let (kind, name) = holds.split_once(' ').unwrap_or((holds, ""));
    let field_type = match (kind, objects.get(name)) {
        ("text", _) => FieldType::Scalar(Scalar::Text),
        ("integer", _) => FieldType::Scalar(Scalar::Integer),
        ("number", _) => FieldType::Scalar(Scalar::Number),
        ("boolean", _) => FieldType::Scalar(Scalar::Boolean),
        ("Text", _) => FieldType::Text,
        ("TextOrNull", _) => FieldType::TextOrNull,
        ("Integer", _) => FieldType::Integer,
        ("Number", _) => FieldType::Number,
        ("Boolean", _) => FieldType::Boolean,
        ("texts", _) => FieldType::TextList,
        ("list", Some(object)) => FieldType::List(object),
        ("list", None) => FieldType::AnyList,
        (_, Some(object)) => FieldType::Object(object),
        (_, None) => FieldType::AnyObject,
    };
    let origin = match name {
        "ours" => Origin::Ours,
        "ignored" => Origin::Ignored,
        _ => Origin::Listed,
    };
    (field_type, origin)
}

#[cfg(test)]
mod tests {
    use super::{MAGENTO, MAGENTO_FIELDS, MARKETPLACE, columns, objects};

    #[test]
    fn the_tables_are_understood_to_the_last_row() {
        for (table, rows) in [(MARKETPLACE, 71), (MAGENTO, 150)] {
            let objects = objects(table);
            let fields: usize = objects.values().map(|object| object.own_fields.len()).sum();
            assert_eq!((fields, table.lines().count()), (rows, rows));
            for [_, name, holds, _] in table.lines().map(|line| columns(line).unwrap()) {
                let (kind, object) = holds.split_once(' ').unwrap_or((holds, ""));
                let kinds = ["text", "integer", "number", "boolean", "texts", "list", "object"];
                let strict = ["Text", "TextOrNull", "Integer", "Number", "Boolean"];
                assert!(kinds.contains(&kind) || strict.contains(&kind), "{name}: {holds}");
                let is_known = ["", "ours", "ignored"].contains(&object) || objects.contains_key(object);
                assert!(is_known, "{name}: {holds}");
            }
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
