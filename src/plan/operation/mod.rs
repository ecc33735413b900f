//! The operations of the service.

pub mod spec;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::request::{Dialect, Request, Target};
use crate::plan::validate::attribute::in_reply;
use crate::plan::validate::body::Warnings;
use crate::plan::validate::lint;
use crate::sanitize::sanitize_line;
use crate::suggestion::closest_match;
use crate::wire::ObjectSchema;
use spec::NESTED;
pub use spec::OperationSpec;

/// One of the documented operations (docs/interface.md, "Operations").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Save shipping, billing and payment on the customer's quote.
    QuoteShip,
    /// Add an item to a quote.
    QuoteAddItem,
    /// Replace the customer's profile and addresses.
    CustomerUpdate,
    /// Create a product attribute.
    AttributeCreate,
}

/// A success in a person's words.
#[derive(Debug, Clone)]
pub struct Success {
    /// Such as `Created attribute fabric (id 145)`; without control characters.
    pub text: String,
    /// Whether it says what is of interest in the reply, which is then not printed.
    pub covers_response: bool,
}

impl Operation {
    /// All of them, in the order of the command line's help.
    pub const ALL: [Self; 4] =
        [Self::QuoteShip, Self::QuoteAddItem, Self::CustomerUpdate, Self::AttributeCreate];

    /// What distinguishes it from the others, as far as that is data.
    pub const fn spec(self) -> &'static OperationSpec {
        match self {
            Self::QuoteShip => &spec::QUOTE_SHIP,
            Self::QuoteAddItem => &spec::QUOTE_ADD_ITEM,
            Self::CustomerUpdate => &spec::CUSTOMER_UPDATE,
            Self::AttributeCreate => &spec::ATTRIBUTE_CREATE,
        }
    }

    /// The operation as it is typed and reported, such as `customer update`.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The operation as one word, such as `customer-update`.
    pub fn slug(self) -> String {
        self.name().replace(' ', "-")
    }

    /// The operation named by one word or two: `quote-ship`, `"quote ship"`, or `quote` and `ship`.
    ///
    /// # Errors
    /// `usage`, with the nearest name.
    pub fn parse(words: &[String]) -> Result<Self, Failure> {
        let typed = words.join("-").replace(' ', "-");
        Self::ALL.into_iter().find(|operation| operation.slug() == typed).ok_or_else(|| {
            let words = Self::ALL.map(Self::slug);
            let hint = match closest_match(&typed, words.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of {}", words.join(", ")),
            };
            Failure::usage(format!("unknown operation `{typed}`")).hint(hint)
        })
    }

    /// Shape of the body in an interface, wrapper included.
    pub fn schema(self, dialect: &Dialect) -> &'static ObjectSchema {
        match self {
            Self::QuoteShip => dialect.fields.shipping_information,
            Self::QuoteAddItem => dialect.fields.cart_item_body,
            Self::CustomerUpdate => dialect.fields.customer_body,
            Self::AttributeCreate => dialect.fields.attribute_body,
        }
    }

    /// Shape of what is inside the wrapper; of the body itself where it has none.
    pub fn inner_schema(self, dialect: &Dialect) -> &'static ObjectSchema {
        let body = self.schema(dialect);
        self.spec().wrapper.and_then(|wrapper| body.field(wrapper)?.field_type.schema()).unwrap_or(body)
    }

    /// Whether the body is merged into what is stored, which then decides about unknown fields and wrong values.
    pub const fn is_merged(self) -> bool {
        matches!(self, Self::CustomerUpdate)
    }

    /// Refuses what cannot work, unless it is forced, and warns of what is unusual. `fields` are those inside the wrapper.
    ///
    /// # Errors
    /// `usage` for what cannot work.
    pub fn lint(self, fields: &Map<String, Value>, is_forced: bool) -> Result<Warnings, Failure> {
        match self {
            Self::QuoteShip => Ok(lint::of_quote(fields)),
            Self::QuoteAddItem => lint::refuse_item(fields).map(|()| Vec::new()),
            Self::CustomerUpdate => Ok(Vec::new()),
            Self::AttributeCreate => lint::of_attribute(fields, is_forced),
        }
    }

    /// The call, from the text of the whole body.
    pub fn request(self, target: &Target<'_>, body: Cow<'static, str>) -> Request {
        let dialect = target.dialect;
        let post = |path| Request::post(target.path(path, &[]), body.clone(), self.spec().bearer);
        match self {
            Self::QuoteShip => Request { also_success: dialect.ship_success, ..post(dialect.ship) },
            Self::QuoteAddItem => post(dialect.add_item),
            Self::CustomerUpdate => Request::replace_profile(target, body),
            Self::AttributeCreate => post(dialect.create_attribute),
        }
    }

    /// The success of a call with these fields inside the wrapper, and this reply; `None` where its outcome speaks for
    /// itself.
    pub fn success(self, asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
        match self {
            Self::QuoteShip => Some(Success { text: saved(reply), covers_response: true }),
            Self::QuoteAddItem => added(asked, reply),
            Self::CustomerUpdate => None,
            Self::AttributeCreate => created(asked, reply),
        }
    }
}

/// The marketplace answers with the payment methods and the totals.
fn saved(reply: &Value) -> String {
    let totals = &reply["totals"];
    let total = scalar(totals.get("grand_total")).map(|total| {
        let currency = scalar(totals.get("quote_currency_code")).map(|code| format!(" {code}"));
        format!(" (total {total}{})", currency.unwrap_or_default())
    });
    format!("Saved the shipping information{}", total.unwrap_or_default())
}

fn added(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let quote =
        scalar(asked.get("quote_id")).map_or_else(|| "the cart".to_owned(), |id| format!("quote {id}"));
    let text = format!("Added {} × {} to {quote}", scalar(asked.get("qty"))?, scalar(asked.get("sku"))?);
    let Some(item) = scalar(reply.get("item_id")) else {
        return Some(Success { text, covers_response: false });
    };
    // The service answers with the line of the cart, which holds what was in it before, too.
    let text = match scalar(reply.get("qty")) {
        Some(total) => format!("{text} (item {item}, now {total} in the cart)"),
        None => format!("{text} (item {item})"),
    };
    Some(Success { text, covers_response: true })
}

fn created(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let stored = in_reply(reply.clone());
    let shown = |field| stored.as_ref().and_then(|stored| scalar(stored.get(field)));
    let code = shown("attribute_code").or_else(|| scalar(asked.get("attribute_code")))?;
    let id = shown("attribute_id");
    let covers_response = id.is_some();
    let id = id.map(|id| format!(" (id {id})")).unwrap_or_default();
    Some(Success { text: format!("Created attribute {code}{id}"), covers_response })
}

/// A number or a text of a body or a reply, on one line.
pub fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(sanitize_line(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A document as the documented body: it is taken with or without its wrapper, or its nested object.
///
/// # Errors
/// `usage` where it is no object.
pub fn wrapped(
    operation: Operation,
    dialect: &Dialect,
    document: Option<Value>,
) -> Result<Map<String, Value>, Failure> {
    let document = match document {
        None => Map::new(),
        Some(Value::Object(document)) => document,
        Some(_) => return Err(Failure::usage("the input must be a JSON object")),
    };
    let Some(wrapper) = operation.spec().wrapper else {
        return Ok(with_nested(document, dialect.fields.address_information));
    };
    let misspelt = |name: &str, value: &Value| value.is_object() && closest_match(name, [wrapper]).is_some();
    if document.iter().any(|(name, value)| name.trim() == wrapper || misspelt(name, value)) {
        return Ok(document);
    }
    Ok(Map::from_iter([(wrapper.to_owned(), Value::Object(document))]))
}

/// Refuses fields beside the wrapper, where the interface lists none.
///
/// # Errors
/// `usage`, naming the first one.
pub fn refuse_beside(wrapper: &str, body: &Map<String, Value>) -> Result<(), Failure> {
    match body.keys().find(|name| *name != wrapper) {
        Some(beside) if body.contains_key(wrapper) => {
            Err(Failure::usage(format!("`{beside}` stands beside `{wrapper}`, where no field is documented"))
                .hint("remove it, or send the body as it is with `storefront api`"))
        }
        _ => Ok(()),
    }
}

/// What is inside the wrapper of a body; the body itself where the operation has none.
pub fn unwrapped(operation: Operation, mut body: Map<String, Value>) -> Map<String, Value> {
    let Some(wrapper) = operation.spec().wrapper else { return body };
    match body.shift_remove(wrapper) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The other way round.
pub fn body(operation: Operation, fields: Map<String, Value>) -> Map<String, Value> {
    match operation.spec().wrapper {
        None => fields,
        Some(wrapper) => Map::from_iter([(wrapper.to_owned(), Value::Object(fields))]),
    }
}

/// A body without its nested object, the fields of which then stand at the top.
///
/// # Errors
/// `usage` for a field that is in both places: only one of them could be sent.
pub fn without_nested(mut body: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    let Some(Value::Object(mut flat)) = body.shift_remove(NESTED) else { return Ok(body) };
    if let Some(both) = body.keys().find(|field| flat.contains_key(*field)) {
        return Err(Failure::usage(format!(
            "`{both}` is in `{NESTED}` and at the top of the input, which is one place in the flat layout"
        ))
        .hint("leave one of them out"));
    }
    flat.extend(body);
    Ok(flat)
}

fn with_nested(document: Map<String, Value>, schema: &ObjectSchema) -> Map<String, Value> {
    if document.keys().any(|given| given.trim() == NESTED) {
        return document;
    }
    let belongs = |name: &str| schema.field(name.trim()).is_some();
    let (inside, mut outer): (Map<String, Value>, Map<String, Value>) =
        document.into_iter().partition(|(name, _)| belongs(name));
    if !inside.is_empty() {
        outer.shift_insert(0, NESTED.to_owned(), Value::Object(inside));
    }
    outer
}
