//! What a request calls, in either shop.

use super::goods::Scope;

/// The administrator's token.
pub const ADMIN: &str = "token-of-the-administrator";

/// What a request calls; customers by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Reads a profile.
    Read(usize),
    /// Replaces it.
    Put(usize),
    /// Removes one address of a customer by its own call.
    Remove(usize, i64),
    /// Adds an item to a cart.
    Item(usize),
    /// Saves shipping; in the marketplace with the payment.
    Ship(usize),
    /// Sets the payment.
    Pay(usize),
    /// Creates an attribute.
    Create,
    /// Puts an attribute into an attribute set.
    Assign(String),
    /// Lists attribute sets, or the groups of one.
    Sets(&'static str),
    /// Lists the attributes of an attribute set.
    Members,
    /// Reads an attribute by its code.
    Attribute(String),
    /// Adds an option to an attribute.
    AddOption(String),
    /// Sets the default option of an attribute.
    SetDefault(String),
    /// Searches customers by an email.
    Search(String),
    /// Creates a cart, or gives its id.
    OpenCart(usize),
    /// Reads a cart.
    Cart(usize),
    /// Reads the items of a cart.
    Items(usize),
    /// Searches the active cart of a customer.
    Carts(usize),
    /// Asks for the shipping methods to an address.
    Estimate(usize),
    /// Reads the payment of a cart.
    Payment(usize),
    /// Reads a country.
    Country(String),
    /// Lists the custom attributes of customers or addresses, which this shop does not show.
    CustomAttributes,
    /// Searches orders by their numbers.
    Orders(Vec<usize>),
    /// Reads an order.
    Order(usize),
    /// Saves an address of an order, by its id.
    SaveAddress(usize, i64),
    /// Adds a comment to an order.
    Comment(usize),
    /// Lists the store views.
    StoreViews,
    /// Searches products by their SKUs, in a scope.
    Products(Scope, Vec<usize>),
    /// Sets values of a product in a scope.
    SetValues(Scope, usize),
    /// No such route, or no such customer.
    Nothing,
}

impl Call {
    /// Whether it must not be done twice.
    pub fn is_write(&self) -> bool {
        matches!(
            self,
            Self::Put(_)
                | Self::Remove(..)
                | Self::Item(_)
                | Self::Ship(_)
                | Self::Pay(_)
                | Self::Create
                | Self::Assign(_)
                | Self::AddOption(_)
                | Self::SetDefault(_)
                | Self::SaveAddress(..)
                | Self::Comment(_)
                | Self::SetValues(..)
        )
    }
}
