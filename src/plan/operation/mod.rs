//! The operations of the service.

pub mod layout;
pub mod spec;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::attribute_compare::in_reply;
use crate::plan::request::{Dialect, Request, Target};
use crate::plan::validate::body::Warnings;
use crate::plan::validate::lint;
use crate::sanitize::sanitize_line;
use crate::suggestion::closest_match;
use crate::wire::ObjectSchema;
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
            Self::QuoteShip => {
                Some(Success { text: "Saved the shipping information".to_owned(), covers_response: false })
            }
            Self::QuoteAddItem => added(asked, reply),
            Self::CustomerUpdate => None,
            Self::AttributeCreate => created(asked, reply),
        }
    }
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
