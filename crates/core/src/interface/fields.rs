//! The documented JSON of the service: which fields exist, what they hold, and where the interface says so.
//!
//! Bodies travel as raw JSON, so that fields nobody documented survive a round trip with their exact text.
//! These tables are the vocabulary applied to that JSON: the input check, CSV columns, templates, JSON Schema
//! and OpenAPI are all read off them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::label::label;

/// An object the interface documents.
#[derive(Debug)]
pub struct ObjectSchema {
    /// Name in the interface's own words, for messages and schemas.
    pub name: &'static str,
    /// Section of the interface that lists the fields.
    pub section: &'static str,
    /// The listed fields, in the order of the interface, and then the others.
    pub own_fields: &'static [Field],
}

/// One field of a [`ObjectSchema`].
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name as it stands in the JSON.
    pub name: &'static str,
    /// What it holds.
    pub field_type: FieldType,
    /// One line of meaning, as the interface gives it.
    pub doc: &'static str,
    /// Whether the interface lists it.
    pub origin: Origin,
}

/// Why a field is in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The interface lists it.
    Listed,
    /// The interface does not list it, but there is a flag for it.
    Ours,
    /// It explains a sample of the interface: it is dropped with a warning.
    Ignored,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// A string.
    Text,
    /// A string or null.
    TextOrNull,
    /// An integer.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A value that the service casts to what it holds, so that it may be written as more than one type.
    Scalar(Scalar),
    /// An array of strings.
    TextList,
    /// An object of a documented shape.
    Object(&'static ObjectSchema),
    /// An array of objects of a documented shape.
    List(&'static ObjectSchema),
    /// An object whose fields the interface does not show.
    AnyObject,
    /// An array whose elements are not checked.
    AnyList,
}

/// What a service casts a scalar to, as PHP does. Null leaves it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// From any scalar.
    Text,
    /// From a number or its text.
    Integer,
    /// From a number or its text.
    Number,
    /// From `true`, `false`, 1, 0 or their texts.
    Boolean,
    /// The id of a store view; we take its code, too, and send the id.
    StoreView,
}

/// One of the tables, for constants.
pub type Table = fn(&FieldTables) -> &'static ObjectSchema;

/// The objects that an interface documents.
#[derive(Debug)]
pub struct FieldTables {
    /// Body of a profile: the wrapper around [`Self::customer`].
    pub customer_body: &'static ObjectSchema,
    /// A customer.
    pub customer: &'static ObjectSchema,
    /// An address of a profile.
    pub address: &'static ObjectSchema,
    /// Region of such an address.
    pub region: &'static ObjectSchema,
    /// Body of a cart item.
    pub cart_item_body: &'static ObjectSchema,
    /// A cart item.
    pub cart_item: &'static ObjectSchema,
    /// Body that sets the quantity of an item that is in the cart (ours).
    pub item_quantity_body: &'static ObjectSchema,
    /// Such an item and its quantity.
    pub item_quantity: &'static ObjectSchema,
    /// Body that removes an item that is in the cart (ours).
    pub stored_item_body: &'static ObjectSchema,
    /// Such an item.
    pub stored_item: &'static ObjectSchema,
    /// Body that removes all items of the cart (ours).
    pub cart_body: &'static ObjectSchema,
    /// The cart.
    pub cart: &'static ObjectSchema,
    /// Body of an attribute.
    pub attribute_body: &'static ObjectSchema,
    /// An attribute.
    pub attribute: &'static ObjectSchema,
    /// An option of an attribute.
    pub attribute_option: &'static ObjectSchema,
    /// Body that puts an attribute into sets (ours).
    pub assignment_body: &'static ObjectSchema,
    /// An attribute and its sets.
    pub assignment: &'static ObjectSchema,
    /// Body that adds options to an attribute (ours).
    pub new_options_body: &'static ObjectSchema,
    /// An attribute and its new options.
    pub new_options: &'static ObjectSchema,
    /// Body that sets the default option of an attribute (ours).
    pub default_option_body: &'static ObjectSchema,
    /// An attribute and its default option.
    pub default_option: &'static ObjectSchema,
    /// Body that sets values of a product (ours).
    pub product_values_body: &'static ObjectSchema,
    /// A product and its values.
    pub product_values: &'static ObjectSchema,
    /// Shipping information and payment.
    pub shipping_information: &'static ObjectSchema,
    /// Addresses, carrier and method in it.
    pub address_information: &'static ObjectSchema,
    /// An address of a quote.
    pub quote_address: &'static ObjectSchema,
    /// An address of an order.
    pub order_address: &'static ObjectSchema,
    /// A comment of an order.
    pub order_comment: &'static ObjectSchema,
    /// Body that corrects an address of an order: the wrapper around [`Self::order_change`].
    pub order_change_body: &'static ObjectSchema,
    /// Which order and which of its addresses (ours), and the fields of the address that a person corrects.
    pub order_change: &'static ObjectSchema,
    /// What a record of a plan takes back that undoes a batch (ours).
    pub undo: &'static ObjectSchema,
}

impl ObjectSchema {
    /// Every field that an input may have, those further in by their path: `addresses[].city`. An object stands before its
    /// fields.
    pub fn fields(&'static self) -> Vec<(String, &'static Field)> {
        let below = |member: &'static Field| {
            let list = if matches!(member.field_type, FieldType::List(_)) { "[]" } else { "" };
            let inside = member.field_type.schema().map(Self::fields).unwrap_or_default();
            let inside =
                inside.into_iter().map(move |(path, inner)| (format!("{}{list}.{path}", member.name), inner));
            std::iter::once((member.name.to_owned(), member)).chain(inside)
        };
        let meant = |member: &&Field| member.origin != Origin::Ignored;
        self.own_fields.iter().filter(meant).flat_map(below).collect()
    }

    /// The fields that the interface lists.
    pub fn listed(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.own_fields.iter().filter(|member| member.origin == Origin::Listed)
    }

    /// The field called `name`, if the table has one.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.own_fields.iter().find(|member| member.name == name)
    }
}

impl FieldType {
    /// The documented shape inside, of an object or of the elements of a list.
    pub const fn schema(self) -> Option<&'static ObjectSchema> {
        match self {
            Self::Object(shape) | Self::List(shape) => Some(shape),
            _ => None,
        }
    }

    /// The type in words, as in "expected an integer".
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::TextOrNull => "a string or null",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::TextList => "an array of strings",
            Self::Object(_) | Self::AnyObject => "an object",
            Self::List(_) => "an array of objects",
            Self::AnyList => "an array",
            Self::Scalar(Scalar::Text) => "a text or a number",
            Self::Scalar(Scalar::Integer) => "a whole number or its text",
            Self::Scalar(Scalar::Number) => "a number or its text",
            Self::Scalar(Scalar::Boolean) => "true, false, 1 or 0",
            Self::Scalar(Scalar::StoreView) => "the ID or the code of a store view",
        }
    }
}

/// The flags of an attribute that are sent as the texts `1` and `0`.
pub const FLAGS_AS_TEXT: [&str; 7] = [
    "is_searchable",
    "is_visible_in_advanced_search",
    "is_comparable",
    "is_used_for_promo_rules",
    "is_visible_on_front",
    "used_in_product_listing",
    "is_unique",
];

/// The member of an attribute that lists what an export could not show of it.
pub const UNKNOWN: &str = "unknown";

/// Entity type id of products and attribute sets.
pub const PRODUCT_ENTITY_TYPE_ID: &str = "4";

/// Success status the interface lists for saving shipping information (docs/interface.md, "Operations").
pub const SHIPPING_SAVED_STATUS: u16 = 320;

/// A field in each line: its object, name, type and meaning. An object stands before those that contain it; before its
/// name is the section of the interface that lists it.
const MARKETPLACE: &str = include_str!("marketplace.tsv");
const MAGENTO: &str = include_str!("magento.tsv");

/// The marketplace's.
pub static MARKETPLACE_FIELDS: LazyLock<FieldTables> = LazyLock::new(|| {
    let objects = objects(MARKETPLACE);
    tables(&objects, object(&objects, "shipping information"))
});

/// Magento's, where addresses and payment are two calls and one input.
pub static MAGENTO_FIELDS: LazyLock<FieldTables> = LazyLock::new(|| {
    let objects = objects(MAGENTO);
    let inside = |name, holds, doc| field(name, FieldType::Object(object(&objects, holds)), doc);
    let information = inside("addressInformation", "address information", "Addresses, carrier and method");
    let payment = inside("paymentMethod", "payment", "Payment, sent in a separate call");
    let quote = field("quote_id", FieldType::Scalar(Scalar::Text), "Quote ID");
    let shipping = schema("shipping information", "Magento", vec![information, payment, quote]);
    let tables = tables(&objects, shipping);
    // A separate call puts a created attribute into its sets.
    let sets = Field { origin: Origin::Ours, ..sets_field() };
    let unknown = "What an export could not show of it; it is not sent";
    let unknown = Field { origin: Origin::Ours, ..field(UNKNOWN, FieldType::TextList, unknown) };
    // First what both have, in the words of the marketplace: Magento's schema does not name the input types.
    let both = MARKETPLACE_FIELDS.attribute;
    let own = tables.attribute;
    let first = both.own_fields.iter().filter_map(|of| Some(Field { doc: of.doc, ..*own.field(of.name)? }));
    let rest = own.own_fields.iter().filter(|field| both.field(field.name).is_none());
    let fields = first.chain([sets, unknown]).chain(rest.copied()).collect();
    let attribute = schema("attribute", "Magento", fields);
    FieldTables { attribute, attribute_body: attribute_body(attribute, "The attribute to create"), ..tables }
});

/// The sets of an attribute, each with a group if one is named.
fn sets_field() -> Field {
    field("attribute_set", FieldType::TextList, "Attribute sets, each as NAME or NAME/GROUP")
}

/// The fields of an order's address that a person corrects, the same in both tables, so that a template is the same.
/// All other fields are those of the read.
pub const ORDER_FORM: [&str; 16] = [
    "firstname",
    "lastname",
    "prefix",
    "middlename",
    "suffix",
    "company",
    "street",
    "city",
    "postcode",
    "country_id",
    "region",
    "region_code",
    "region_id",
    "telephone",
    "fax",
    "vat_id",
];

/// The fields of a correction of an order's address.
fn order_change() -> Vec<Field> {
    let text = |name, doc| field(name, FieldType::Scalar(Scalar::Text), doc);
    let number = |name, doc| field(name, FieldType::Scalar(Scalar::Integer), doc);
    let own = [
        text("order", "Number of the order, such as 000000002"),
        number("order_id", "ID of the order, in place of its number"),
        text("address", "Which of its addresses: shipping, billing or both"),
        number("from_address", "ID of a stored address of the customer, whose fields are taken"),
        text("comment", "Text of the comment that is added to the order"),
    ];
    let form = ORDER_FORM.into_iter().map(|name| match name {
        "street" => field(name, FieldType::TextList, "Street lines"),
        "region_id" => number(name, "Region ID"),
        "region" => text(name, "Region name"),
        "country_id" => text(name, "Country, by code or name"),
        name => text(name, label(name)),
    });
    own.map(|field| Field { origin: Origin::Ours, ..field }).into_iter().chain(form).collect()
}

fn attribute_body(inside: &'static ObjectSchema, doc: &'static str) -> &'static ObjectSchema {
    schema("body", "", vec![field("attribute", FieldType::Object(inside), doc)])
}

type Objects = HashMap<&'static str, &'static ObjectSchema>;

fn tables(objects: &Objects, shipping_information: &'static ObjectSchema) -> FieldTables {
    let object = |name| object(objects, name);
    let body =
        |wrapper, name, doc| schema("body", "", vec![field(wrapper, FieldType::Object(object(name)), doc)]);
    let code = || field("attribute_code", FieldType::Scalar(Scalar::Text), "Code of the attribute");
    let assignment = schema("assignment", "Magento", vec![code(), sets_field()]);
    let options = field("options", FieldType::List(object("attribute option")), "Options to add, in order");
    let new_options = schema("new options", "Magento", vec![code(), options]);
    let label = field("label", FieldType::Scalar(Scalar::Text), "Label of the default option");
    let default_option = schema("default option", "Magento", vec![code(), label]);
    let product = product_values();
    let [quantity, stored_item, cart] = in_cart(object("cart item"));
    let cart_item = |of, doc| schema("body", "", vec![field("cartItem", FieldType::Object(of), doc)]);
    let order_change = schema("order change", "Magento", order_change());
    let order =
        field("entity", FieldType::Object(order_change), "The order and the correction of its address");
    let values = field("product", FieldType::Object(product), "The product and its values");
    FieldTables {
        customer_body: body("customer", "customer", "The profile and its addresses"),
        customer: object("customer"),
        address: object("profile address"),
        region: object("region"),
        cart_item_body: body("cartItem", "cart item", "The item to add"),
        cart_item: object("cart item"),
        item_quantity_body: cart_item(quantity, "The item and its new quantity"),
        item_quantity: quantity,
        stored_item_body: cart_item(stored_item, "The item to remove"),
        stored_item,
        cart_body: schema("body", "", vec![field("cart", FieldType::Object(cart), "The cart to clear")]),
        cart,
        attribute_body: attribute_body(object("attribute"), "The attribute to create"),
        attribute: object("attribute"),
        attribute_option: object("attribute option"),
        assignment_body: attribute_body(assignment, "The attribute to assign"),
        assignment,
        new_options_body: attribute_body(new_options, "The attribute and its new options"),
        new_options,
        default_option_body: attribute_body(default_option, "The attribute and its default option"),
        default_option,
        product_values_body: schema("body", "", vec![values]),
        product_values: product,
        shipping_information,
        address_information: object("address information"),
        quote_address: object("quote address"),
        order_address: object("order address"),
        order_comment: object("order comment"),
        order_change_body: schema("body", "", vec![order]),
        order_change,
        undo: undo(),
    }
}

/// The new quantity of an item, an item that is removed, and a cart that is cleared. Their types are those of an item that
/// is added.
fn in_cart(added: &ObjectSchema) -> [&'static ObjectSchema; 3] {
    let of_added = |(name, doc)| added.field(name).map(|field| Field { doc, ..*field });
    let id = Some(field("item_id", FieldType::Scalar(Scalar::Integer), "Item ID in the cart"));
    let sku = of_added(("sku", "SKU of an item that is in the cart once"));
    let qty = of_added(("qty", "New quantity"));
    let quote_id = of_added(("quote_id", "Quote ID"));
    let of =
        |name, fields: &[Option<Field>]| schema(name, "Magento", fields.iter().copied().flatten().collect());
    [
        of("item quantity", &[id, sku, qty, quote_id]),
        of("stored item", &[id, sku, quote_id]),
        of("cart", &[quote_id]),
    ]
}

/// The record of a plan that takes writes back.
fn undo() -> &'static ObjectSchema {
    let fields = vec![
        field("owner", FieldType::Text, "What was written to"),
        field("writes", FieldType::TextList, "IDs of the writes that are taken back"),
        field("deletes", FieldType::Integer, "How many things that deletes"),
        field("deleted", FieldType::TextOrNull, "What it deletes, in words"),
    ];
    schema("undo", "", fields)
}

/// A product with the values that are set. All are texts, because each may be an option's label or Magento's word for
/// "cleared".
fn product_values() -> &'static ObjectSchema {
    let text = |name, doc| field(name, FieldType::Scalar(Scalar::Text), doc);
    let code =
        "Code or label of an attribute; CODE:add and CODE:remove for options, CODE:id for an option's ID";
    let value = "Value; options by label, several separated by |";
    let values = schema("product value", "Magento", vec![text("attribute_code", code), text("value", value)]);
    let view = "Code of the store view; without it, or with `all`, the value for all of them";
    let fields = vec![
        text("sku", "SKU"),
        text("store_view", view),
        text("name", "Name"),
        text("weight", "Weight"),
        text("status", "Enabled or Disabled"),
        field("custom_attributes", FieldType::List(values), "Values of attributes"),
    ];
    schema("product values", "Magento", fields)
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
        ("storeview", _) => FieldType::Scalar(Scalar::StoreView),
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
        for (table, rows) in [(MARKETPLACE, 71), (MAGENTO, 186)] {
            let objects = objects(table);
            let fields: usize = objects.values().map(|object| object.own_fields.len()).sum();
            assert_eq!((fields, table.lines().count()), (rows, rows));
            for [_, name, holds, _] in table.lines().map(|line| columns(line).unwrap()) {
                let (kind, object) = holds.split_once(' ').unwrap_or((holds, ""));
                let kinds = ["text", "integer", "number", "boolean", "storeview", "texts", "list", "object"];
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
