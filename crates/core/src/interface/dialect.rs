//! All that differs between the interfaces a service may have, as one value.
//!
//! Settings choose it. Code never asks which interface it is: what is not a path, a name or a table is a field that says what
//! the interface can do or needs.

use percent_encoding::utf8_percent_encode;

use super::bearer::Bearer;
use super::store_view::{SEGMENT, StoreView};
use crate::failure::Failure;
use std::sync::LazyLock;

use crate::id::CustomerId;
use crate::interface::fields::{FieldTables, MAGENTO_FIELDS, MARKETPLACE_FIELDS, SHIPPING_SAVED_STATUS};

/// The interfaces, as `--api` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// The marketplace's.
    Marketplace,
    /// The REST API of Magento Open Source, Adobe Commerce and Mage-OS.
    Magento,
}

/// What differs between two interfaces. Paths are templates below the base URL: `{store_view}` stands for the store view
/// code, and `/{store_view}` is left out if it is missing; the other placeholders are named at each.
#[derive(Debug)]
pub struct Dialect {
    /// Name in settings, journals and other state. It must not change between versions.
    pub name: &'static str,
    /// Whether the paths of a customer's calls need a store view.
    pub requires_store_view: bool,
    /// Path segment after which a store view and the version stand in a URL: there the base URL ends, that of the built-in
    /// service too.
    pub rest_root: Option<&'static str>,
    /// Store view of the built-in service where none is given.
    pub sandbox_store_view: Option<&'static str>,
    /// The documented fields.
    pub fields: &'static LazyLock<FieldTables>,
    /// Reads and replaces the profile of the token's own customer.
    pub own_profile: &'static str,
    /// Calls that need an administrator's token and name the customer; `None` where the interface has none.
    pub customers: Option<&'static CustomerRoutes>,
    /// Reads the regions of `{country}`, a code, whose ids are all that is taken; `None` where the interface has no such list.
    pub country: Option<&'static str>,
    /// Lists the custom attributes of `{owner}`, a customer or an address; `None` where the interface has no such list.
    pub custom_attributes: Option<&'static str>,
    /// Saves shipping information (POST).
    pub ship: &'static str,
    /// A status other than 2xx that means that shipping information was saved.
    pub ship_success: Option<u16>,
    /// Adds an item to the customer's own quote (POST).
    pub add_item: &'static str,
    /// Calls for carts that a single call to [`Self::add_item`] or [`Self::ship`] does not cover.
    pub carts: Option<&'static CartRoutes>,
    /// Calls for orders that are placed, with an administrator's token; `None` where the interface has none.
    pub orders: Option<&'static OrderRoutes>,
    /// Creates a product attribute (POST).
    pub create_attribute: &'static str,
    /// Reads an attribute; `{code}` is its code. Without this path, a setting may name one.
    pub attribute: Option<&'static str>,
    /// Searches attributes (GET, with `searchCriteria`) as the store view `{view}` shows them; `None` where the interface has no
    /// such list.
    pub attributes: Option<&'static str>,
    /// Searches products (GET, with `searchCriteria`) as the store view `{view}` shows them; below it, by its SKU, each is read and
    /// replaced. `None` where the interface has no such calls.
    pub products: Option<&'static str>,
    /// Where tokens are issued; `None` where they are not.
    pub tokens: Option<&'static TokenRoutes>,
    /// Whether the call that reads a profile is documented: where it is not, a setting may name its path, and a 404 may mean
    /// that the service has another interface.
    pub documents_profile_read: bool,
    /// Whether a profile that is sent is merged into the stored one by rules of its own, by which it has to be completed
    /// (docs/magento.md): the empty text clears a text, a default stands in two places, some of what is left out is kept.
    pub merges_profiles: bool,
    /// Whether the reply to a replaced profile is the profile as it was read from the database after the write.
    pub reply_shows_profile: bool,
    /// Whether the message of a refused profile says which of its fields are wrong.
    pub names_refused_fields: bool,
    /// Fields of the profile that are taken with an administrator's token only. The service answers a customer's own
    /// PUT of them with 200, and keeps what is stored.
    pub administrators_fields: &'static [&'static str],
    /// Whether an address that lacks one of the fields that people expect in it is refused.
    pub requires_whole_addresses: bool,
    /// Whether an attribute that exists can be changed: put into attribute sets, and given options.
    pub changes_attributes: bool,
    /// Whether attributes are written one at a time: the service deadlocks where several are at once.
    pub attributes_one_at_a_time: bool,
    /// Whether values of an attribute with the input type `texteditor` are stored. Where they are not, a `textarea` with
    /// `is_wysiwyg_enabled` is created in its place, as the admin panel does.
    pub stores_texteditor: bool,
    /// Whether the store views can be listed, so that codes may name them, and an attribute can be read as each shows it.
    pub lists_store_views: bool,
    /// Whether the interface says what it replies. Nothing may depend on a reply that it does not show.
    pub shows_replies: bool,
}

/// Calls on customers that an administrator names.
#[derive(Debug)]
pub struct CustomerRoutes {
    /// Reads and replaces the profile of `{customer}`, an id.
    pub profile: &'static str,
    /// Searches customers (GET, with `searchCriteria`).
    pub search: &'static str,
    /// Removes the address with the id `{address}`, whoever's it is (DELETE).
    pub address: &'static str,
}

/// Calls on carts, in an interface where saving shipping and paying are two.
#[derive(Debug)]
pub struct CartRoutes {
    /// Creates the customer's own cart, or gives its id (POST).
    pub own: &'static str,
    /// Searches carts (GET, with `searchCriteria`), with an administrator's token.
    pub search: &'static str,
    /// Creates a cart of `{customer}`, or gives its id (POST), with an administrator's token.
    pub of_customer: &'static str,
    /// The cart with the id `{cart}`, with an administrator's token; below it stand `items`, `totals` and the rest.
    pub by_id: &'static str,
}

/// Calls on placed orders. They belong to no store view.
#[derive(Debug)]
pub struct OrderRoutes {
    /// Searches orders (GET, with `searchCriteria`).
    pub search: &'static str,
    /// Reads the order with the id `{order}` (GET), or saves one of its addresses (PUT).
    pub by_id: &'static str,
    /// Adds a comment to it (POST).
    pub comments: &'static str,
}

/// Where a user name and a password are exchanged for a token (POST).
#[derive(Debug)]
pub struct TokenRoutes {
    /// A customer's.
    pub customer: &'static str,
    /// An administrator's.
    pub admin: &'static str,
    /// An administrator's, with a code of a second factor.
    pub two_factor: &'static str,
}

/// The marketplace's interface.
pub static MARKETPLACE: Dialect = Dialect {
    name: "marketplace",
    requires_store_view: true,
    rest_root: None,
    sandbox_store_view: Some("default"),
    fields: &MARKETPLACE_FIELDS,
    own_profile: "/V1/storeview/{store_view}/customer/profile",
    customers: None,
    country: None,
    custom_attributes: None,
    ship: "/V1/storeview/{store_view}/user/quote/shipping-information",
    ship_success: Some(SHIPPING_SAVED_STATUS),
    add_item: "/V1/storeview/{store_view}/user/quote/item",
    carts: None,
    orders: None,
    create_attribute: "/V1/admin/product/attribute/",
    attribute: None,
    attributes: None,
    products: None,
    tokens: None,
    documents_profile_read: false,
    merges_profiles: false,
    reply_shows_profile: false,
    names_refused_fields: false,
    administrators_fields: &[],
    requires_whole_addresses: false,
    changes_attributes: false,
    attributes_one_at_a_time: false,
    stores_texteditor: true,
    lists_store_views: false,
    shows_replies: false,
};

/// The interface of Magento Open Source, Adobe Commerce and Mage-OS.
pub static MAGENTO: Dialect = Dialect {
    name: "magento",
    requires_store_view: false,
    rest_root: Some("rest"),
    sandbox_store_view: None,
    fields: &MAGENTO_FIELDS,
    own_profile: "/{store_view}/V1/customers/me",
    customers: Some(&CustomerRoutes {
        profile: "/{store_view}/V1/customers/{customer}",
        search: "/{store_view}/V1/customers/search",
        address: "/{store_view}/V1/addresses/{address}",
    }),
    country: Some("/{store_view}/V1/directory/countries/{country}"),
    custom_attributes: Some("/{store_view}/V1/attributeMetadata/{owner}/custom"),
    ship: "/{store_view}/V1/carts/mine/shipping-information",
    ship_success: None,
    add_item: "/{store_view}/V1/carts/mine/items",
    carts: Some(&CartRoutes {
        own: "/{store_view}/V1/carts/mine",
        search: "/{store_view}/V1/carts/search",
        of_customer: "/{store_view}/V1/customers/{customer}/carts",
        by_id: "/{store_view}/V1/carts/{cart}",
    }),
    orders: Some(&OrderRoutes {
        search: "/V1/orders",
        by_id: "/V1/orders/{order}",
        comments: "/V1/orders/{order}/comments",
    }),
    create_attribute: "/{store_view}/V1/products/attributes",
    attribute: Some("/{store_view}/V1/products/attributes/{code}"),
    attributes: Some("/{view}/V1/products/attributes"),
    products: Some("/{view}/V1/products"),
    tokens: Some(&TokenRoutes {
        customer: "/{store_view}/V1/integration/customer/token",
        admin: "/{store_view}/V1/integration/admin/token",
        two_factor: "/{store_view}/V1/tfa/provider/google/authenticate",
    }),
    documents_profile_read: true,
    merges_profiles: true,
    reply_shows_profile: true,
    names_refused_fields: true,
    administrators_fields: &["group_id", "website_id", "store_id"],
    requires_whole_addresses: true,
    changes_attributes: true,
    attributes_one_at_a_time: true,
    stores_texteditor: false,
    lists_store_views: true,
    shows_replies: true,
};

impl Interface {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Marketplace, Self::Magento];

    /// What the interface is like.
    pub fn dialect(self) -> &'static Dialect {
        match self {
            Self::Marketplace => &MARKETPLACE,
            Self::Magento => &MAGENTO,
        }
    }
}

impl Dialect {
    /// The names that [`Self::named`] knows.
    pub const NAMES: &'static [&'static str] = &["marketplace", "magento"];

    /// The interface of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        [&MARKETPLACE, &MAGENTO].into_iter().find(|dialect| dialect.name == name)
    }
}

/// Where a call goes: the interface, the store view, and the customer where one is named.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The interface.
    pub dialect: &'static Dialect,
    /// The store view, if one is set.
    pub store_view: Option<&'a StoreView>,
    /// Id of the customer an administrator names; without it the token's own.
    pub customer: Option<CustomerId>,
}

impl<'a> Target<'a> {
    /// A target of the token's own customer.
    ///
    /// # Errors
    /// `usage` where the interface needs a store view and there is none.
    pub fn new(dialect: &'static Dialect, store_view: Option<&'a StoreView>) -> Result<Self, Failure> {
        if dialect.requires_store_view && store_view.is_none() {
            return Err(Failure::usage("no store view set"));
        }
        Ok(Self { dialect, store_view, customer: None })
    }

    /// Whose token the customer's calls carry.
    pub fn bearer(&self) -> Bearer {
        if self.customer.is_some() { Bearer::Admin } else { Bearer::Customer }
    }

    /// Fills a template: the store view, and the other placeholders with `values`, each one path segment.
    pub fn path(&self, template: &str, values: &[(&str, &str)]) -> String {
        let mut path = match self.store_view {
            Some(view) => template.replace("{store_view}", &view.segment().to_string()),
            None => template.replace("/{store_view}", ""),
        };
        for (name, value) in values {
            path = path.replace(&format!("{{{name}}}"), &utf8_percent_encode(value, SEGMENT).to_string());
        }
        path
    }

    /// Path of the customer's profile.
    pub fn profile_path(&self) -> String {
        match (self.customer, self.dialect.customers) {
            (Some(id), Some(routes)) => self.path(routes.profile, &[("customer", &id.to_string())]),
            _ => self.path(self.dialect.own_profile, &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, MAGENTO, MARKETPLACE, StoreView, Target};

    #[test]
    fn a_store_view_stands_where_the_interface_wants_it() {
        let view = StoreView::new("fr/ca").unwrap();
        let with = Target::new(&MAGENTO, Some(&view)).unwrap();
        assert_eq!(with.profile_path(), "/fr%2Fca/V1/customers/me");
        let without = Target::new(&MAGENTO, None).unwrap();
        assert_eq!(without.profile_path(), "/V1/customers/me");
        let named = Target { customer: Some(crate::id::CustomerId(7)), ..without };
        assert_eq!(named.profile_path(), "/V1/customers/7");
        assert_eq!(without.path("/{store_view}/V1/x/{code}", &[("code", "a/../b")]), "/V1/x/a%2F..%2Fb");
        assert!(Target::new(&MARKETPLACE, None).is_err());
    }

    #[test]
    fn interfaces_have_names() {
        for name in Dialect::NAMES {
            assert_eq!(Dialect::named(name).unwrap().name, *name);
        }
        assert!(Dialect::named("shopify").is_none());
    }
}
