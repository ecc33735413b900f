//! The documented JSON of the service: which fields exist, what they hold, and where the interface says so.
//!
//! Bodies travel as raw JSON, so that fields nobody documented survive a round trip with their exact text.
//! These tables are the vocabulary applied to that JSON: the input check, CSV columns, templates, JSON Schema
//! and OpenAPI are all read off them.

pub mod json_schema;
mod tables;

pub use tables::{MAGENTO_FIELDS, MARKETPLACE_FIELDS};

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
#[derive(Debug)]
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
    /// An object whose fields are "not shown".
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
    /// Body of an attribute.
    pub attribute_body: &'static ObjectSchema,
    /// An attribute.
    pub attribute: &'static ObjectSchema,
    /// Shipping information and payment.
    pub shipping_information: &'static ObjectSchema,
    /// Addresses, carrier and method in it.
    pub address_information: &'static ObjectSchema,
    /// An address of a quote.
    pub quote_address: &'static ObjectSchema,
}

impl ObjectSchema {
    /// Every listed field, those further in by their path: `addresses[].city`. An object stands before its fields.
    pub fn fields(&'static self) -> Vec<(String, &'static Field)> {
        let below = |member: &'static Field| {
            let list = if matches!(member.field_type, FieldType::List(_)) { "[]" } else { "" };
            let inside = member.field_type.schema().map(Self::fields).unwrap_or_default();
            let inside =
                inside.into_iter().map(move |(path, inner)| (format!("{}{list}.{path}", member.name), inner));
            std::iter::once((member.name.to_owned(), member)).chain(inside)
        };
        self.listed().flat_map(below).collect()
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
            Self::Scalar(Scalar::Text) => "a string, a number, true or false",
            Self::Scalar(Scalar::Integer) => "a whole number or its text",
            Self::Scalar(Scalar::Number) => "a number or its text",
            Self::Scalar(Scalar::Boolean) => "true, false, 1 or 0",
        }
    }
}

/// Entity type id of products and attribute sets (docs/interface.md, "Attribute").
pub const PRODUCT_ENTITY_TYPE_ID: &str = "4";

/// Success status the interface lists for saving shipping information (docs/interface.md, "Operations").
pub const SHIPPING_SAVED_STATUS: u16 = 320;
