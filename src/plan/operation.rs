//! The four operations of the service, as data.

use crate::failure::Failure;
use crate::suggestion::closest_match;

/// One of the four documented operations (docs/interface.md, "Operations").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Save shipping, billing and payment on the customer's quote (docs/interface.md, "Operations").
    QuoteShip,
    /// Add an item to a quote (docs/interface.md, "Operations").
    QuoteAddItem,
    /// Replace the customer's profile and addresses (docs/interface.md, "Operations").
    CustomerUpdate,
    /// Create a product attribute (docs/interface.md, "Operations").
    AttributeCreate,
}

impl Operation {
    /// All of them, in the order of the command line's help.
    pub const ALL: [Self; 4] =
        [Self::QuoteShip, Self::QuoteAddItem, Self::CustomerUpdate, Self::AttributeCreate];

    /// The operation as it is typed and reported, such as `customer update`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QuoteShip => "quote ship",
            Self::QuoteAddItem => "quote add-item",
            Self::CustomerUpdate => "customer update",
            Self::AttributeCreate => "attribute create",
        }
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

    /// The one field of the body that the interface calls required (docs/interface.md); of the others that is not
    /// shown.
    pub const fn required(self) -> &'static str {
        match self.wrapper() {
            Some(wrapper) => wrapper,
            None => "paymentMethod",
        }
    }

    /// Name of the body's wrapper field. Shipping information has none.
    pub const fn wrapper(self) -> Option<&'static str> {
        match self {
            Self::QuoteShip => None,
            Self::QuoteAddItem => Some("cartItem"),
            Self::CustomerUpdate => Some("customer"),
            Self::AttributeCreate => Some("attribute"),
        }
    }
}
