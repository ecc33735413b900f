//! The operations of the service. All that differs between them is in one [`OperationSpec`] each.

mod attribute_create;
mod customer_update;
pub mod layout;
mod quote_add_item;
mod quote_ship;
pub mod spec;

use crate::failure::Failure;
use crate::plan::request::Dialect;
use crate::suggestion::closest_match;
use crate::wire::ObjectSchema;
pub use spec::OperationSpec;

/// One row for each operation: its name in code, and its spec.
macro_rules! operations {
    ($($(#[$doc:meta])+ $name:ident: $spec:path,)+) => {
        /// One of the documented operations (docs/interface.md, "Operations").
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[$doc])+ $name,)+
        }

        impl Operation {
            /// All of them, in the order of the command line's help.
            pub const ALL: [Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];

            /// What distinguishes it from the others.
            pub const fn spec(self) -> &'static OperationSpec {
                match self {
                    $(Self::$name => &$spec,)+
                }
            }
        }
    };
}

operations! {
    /// Save shipping, billing and payment on the customer's quote.
    QuoteShip: quote_ship::SPEC,
    /// Add an item to a quote.
    QuoteAddItem: quote_add_item::SPEC,
    /// Replace the customer's profile and addresses.
    CustomerUpdate: customer_update::SPEC,
    /// Create a product attribute.
    AttributeCreate: attribute_create::SPEC,
}

impl Operation {
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
        (self.spec().schema)(dialect.fields)
    }

    /// Shape of what is inside the wrapper; of the body itself where it has none.
    pub fn inner_schema(self, dialect: &Dialect) -> &'static ObjectSchema {
        let body = self.schema(dialect);
        self.spec().wrapper.and_then(|wrapper| body.field(wrapper)?.field_type.schema()).unwrap_or(body)
    }
}
