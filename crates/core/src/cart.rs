//! Calls on the cart of a customer, where the interface has them, and a stored profile address in the form that a quote
//! takes.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::hint::{Hint, hint, storefront};
use crate::id::{AddressId, CustomerId};
use crate::interface::dialect::CartRoutes;
use crate::interface::fields::ObjectSchema;
use crate::interface::request::{Filter, Request, Target, search_query};
use crate::operation::scalar;
use crate::profile::address::{AddressIndex, join_ids};
use crate::profile::stored::Profile;
use crate::text::exact_json;
use crate::text::sanitize::quoted;

/// How many active carts of one customer are asked for at most: each of several stores may have one.
pub const MAX_CARTS: usize = 20;

/// The cart of the token's own customer, or of the customer whom an administrator names.
#[derive(Debug, Clone, Copy)]
pub struct Cart<'a> {
    target: Target<'a>,
    routes: &'static CartRoutes,
    /// The cart of a named customer; the own cart needs no id.
    id: Option<u64>,
}

impl<'a> Cart<'a> {
    /// The cart with this id. For the token's own customer the id is not used in paths: the service knows the cart.
    ///
    /// # Errors
    /// `usage` where the interface has no calls on carts.
    pub fn new(target: Target<'a>, id: Option<u64>) -> Result<Self, Failure> {
        let routes = target.dialect.carts.ok_or_else(|| no_routes(target.dialect.name))?;
        Ok(Self { target, routes, id })
    }

    /// Path of the cart, and of what is `below` it, such as `/items`.
    fn path(&self, below: &str) -> String {
        let base = match (self.target.customer, self.id) {
            (Some(_), Some(id)) => self.target.path(self.routes.by_id, &[("cart", &id.to_string())]),
            _ => self.target.path(self.routes.own, &[]),
        };
        base + below
    }

    /// Reads the cart, or what is below it.
    pub fn read(&self, below: &str) -> Request {
        Request::get(self.path(below), self.target.bearer())
    }

    /// Reads the active carts of the customer whom an administrator names.
    pub fn search(&self, customer: CustomerId) -> Request {
        let path = self.target.path(self.routes.search, &[]);
        let filters = [Filter::equal(&["customer_id"], customer.0), Filter::equal(&["is_active"], 1)];
        Request::get(format!("{path}?{}", search_query(&filters, MAX_CARTS)), self.target.bearer())
    }

    /// Creates the cart. Where there is an active one, the service answers with its id.
    pub fn create(&self) -> Request {
        let path = match self.target.customer {
            Some(customer) => {
                self.target.path(self.routes.of_customer, &[("customer", &customer.to_string())])
            }
            None => self.target.path(self.routes.own, &[]),
        };
        self.post(path, "{}".to_owned()).setting_a_state()
    }

    /// Adds an item; adding it again adds its quantity.
    pub fn add_item(&self, body: String) -> Request {
        self.post(self.path("/items"), body)
    }

    /// Sets the quantity of an item. The body names this cart, too: the service prefers it to the path.
    ///
    /// # Errors
    /// `usage` for a cart without an id.
    pub fn set_item(&self, item: i64, qty: Value) -> Result<Request, Failure> {
        let id = self.id.ok_or_else(|| Failure::usage("a cart without an id"))?;
        let item_fields = [("qty", qty), ("quote_id", id.to_string().into())];
        let body = exact_json::object([("cartItem", exact_json::object(item_fields))]);
        let path = self.path(&format!("/items/{item}"));
        Ok(Request::put(path, body.to_string().into(), self.target.bearer()))
    }

    /// Removes an item.
    pub fn remove_item(&self, item: i64) -> Request {
        Request::delete(self.path(&format!("/items/{item}")), self.target.bearer())
    }

    /// Saves addresses, carrier and method.
    pub fn save_shipping(&self, body: String) -> Request {
        self.post(self.path("/shipping-information"), body)
    }

    /// Asks for the shipping methods to an address of the customer.
    pub fn estimate_shipping(&self, address: AddressId) -> Request {
        let body = format!(r#"{{"addressId":{address}}}"#);
        self.query(self.path("/estimate-shipping-methods-by-address-id"), body)
    }

    /// Asks for the shipping methods to an address as it would be saved.
    pub fn estimate_shipping_to(&self, address: &Value) -> Request {
        let body = exact_json::object([("address", address.clone())]);
        self.query(self.path("/estimate-shipping-methods"), body.to_string())
    }

    /// Sets the payment method. Sending it again changes nothing.
    pub fn select_payment(&self, body: String) -> Request {
        let path = self.path("/selected-payment-method");
        Request::put(path, body.into(), self.target.bearer()).setting_a_state()
    }

    fn query(&self, path: String, body: String) -> Request {
        Request::query(path, body.into(), self.target.bearer())
    }

    fn post(&self, path: String, body: String) -> Request {
        Request::post(path, body.into(), self.target.bearer())
    }
}

/// The id of an item.
pub fn item_id(item: &Value) -> Option<i64> {
    scalar(item.get("item_id"))?.trim().parse().ok()
}

/// The state of an item, by which it can be set back: its id, SKU and quantity, and for a product that is not a simple
/// one its type and the chosen options, as far as the cart shows them.
pub fn item_state(item: &Value) -> Value {
    let member = |name| item.get(name).cloned().unwrap_or_default();
    let mut state = exact_json::object(["item_id", "sku", "qty"].map(|name| (name, member(name))));
    if item.get("product_type").is_some_and(|kind| !kind.is_null() && kind != "simple") {
        state["product_type"] = member("product_type");
    }
    if item.get("product_option").is_some_and(|option| !option.is_null()) {
        state["product_option"] = member("product_option");
    }
    state
}

/// Whether an item is asked for by its id, or else by its SKU.
pub fn is_asked(item: &Value, asked: &Map<String, Value>) -> bool {
    let [id, sku] = ["item_id", "sku"].map(|name| scalar(asked.get(name)));
    match (id, sku) {
        (Some(id), _) => id.trim().parse().ok() == item_id(item),
        (None, sku) => sku.is_some_and(|sku| has_sku(item, &sku)),
    }
}

/// Whether an item has this SKU, letter case apart.
pub fn has_sku(item: &Value, sku: &str) -> bool {
    let plain = |sku: &str| sku.trim().to_lowercase();
    scalar(item.get("sku")).is_some_and(|own| plain(&own) == plain(sku))
}

/// The item of a cart that is asked for by its id, or by the SKU of what is in the cart only once.
///
/// # Errors
/// `usage` where there is no such item, several, or one with another SKU.
pub fn find_item<'a>(items: &'a [Value], asked: &Map<String, Value>) -> Result<&'a Value, Failure> {
    let [id, sku] = ["item_id", "sku"].map(|name| scalar(asked.get(name)).map(|text| text.trim().to_owned()));
    let found: Vec<&Value> = items.iter().filter(|item| is_asked(item, asked)).collect();
    let (message, hint) = match (&found[..], &id, &sku) {
        ([item], Some(id), Some(sku)) if !has_sku(item, sku) => {
            let own = scalar(item.get("sku")).unwrap_or_default();
            (format!("item {id} has the SKU {}, not {}", quoted(own), quoted(sku)), list_items())
        }
        ([item], ..) => return Ok(item),
        ([], Some(id), _) => (format!("the cart has no item {id}"), list_items()),
        ([], None, sku) => (
            format!("the cart has no item with the SKU {}", quoted(sku.as_deref().unwrap_or_default())),
            list_items(),
        ),
        (several, ..) => {
            let ids = several.iter().filter_map(|item| item_id(item));
            let ids = join_ids(&ids.collect::<Vec<_>>());
            let message = format!(
                "the SKU {} is in the cart several times",
                quoted(sku.as_deref().unwrap_or_default())
            );
            (format!("{message}: items {ids}"), "name one of them with --item ID, or `item_id`".into())
        }
    };
    Err(Failure::usage(message).hint(hint))
}

fn list_items() -> Hint {
    hint!(storefront("quote show"), " lists the items")
}

fn no_routes(interface: &str) -> Failure {
    Failure::usage(format!("the interface `{interface}` has no calls that read a cart"))
        .hint("use --api magento where the service is a Magento shop")
}

/// Fields that mean something else in the two kinds of address.
const NOT_SHARED: &[&str] =
    &["id", "custom_attributes", "extension_attributes", "same_as_billing", "save_in_address_book"];

/// The `fields` the interface lists for a quote's address, from the stored address with this id; the e-mail address
/// comes from the profile, everything else is left behind. A region, an object in a profile, becomes its texts.
///
/// # Errors
/// `guard` when the profile has no such address, or its list is not safe to read ids from.
pub fn from_profile(
    profile: &Profile,
    id: AddressId,
    fields: &ObjectSchema,
) -> Result<Map<String, Value>, Failure> {
    let position = AddressIndex::of(profile.addresses())?
        .find(id)
        .map_err(|failure| failure.hint(hint!("list the addresses with ", storefront("customer show"))))?;
    let stored = &profile.addresses()[position];
    let mut address = Map::new();
    for member in fields.own_fields.iter().filter(|member| !NOT_SHARED.contains(&member.name)) {
        let value = match member.name {
            "email" => profile.customer().get("email"),
            "region" | "region_code" => stored
                .get("region")
                .and_then(|region| region.get(member.name))
                .or_else(|| stored.get(member.name)),
            "region_id" => stored.get("region_id").or_else(|| stored.pointer("/region/region_id")),
            name => stored.get(name),
        };
        if let Some(value) = value {
            address.insert(member.name.to_owned(), value.clone());
        }
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use crate::id::{AddressId, CustomerId};
    use serde_json::{Value, json};

    use super::{Cart, find_item, from_profile, item_id};
    use crate::interface::dialect::{MAGENTO, MARKETPLACE, Target};
    use crate::interface::fields::MARKETPLACE_FIELDS;
    use crate::interface::request::Bearer;
    use crate::profile::stored::{Pointers, Profile};

    #[test]
    fn an_administrator_names_the_cart_and_a_customer_does_not() {
        let own = Target::new(&MAGENTO, None).unwrap();
        let mine = Cart::new(own, Some(7)).unwrap();
        assert_eq!(mine.add_item(String::new()).path, "/V1/carts/mine/items");
        assert_eq!(mine.create().path, "/V1/carts/mine");
        let named = Cart::new(Target { customer: Some(CustomerId(3)), ..own }, Some(7)).unwrap();
        let request = named.select_payment(String::new());
        assert_eq!(
            (request.path.as_str(), request.bearer),
            ("/V1/carts/7/selected-payment-method", Bearer::Admin)
        );
        assert_eq!(named.create().path, "/V1/customers/3/carts");
        assert!(Cart::new(Target { dialect: &MARKETPLACE, ..own }, None).is_err());
    }

    #[test]
    fn the_body_names_the_cart_that_the_path_names() {
        let own = Target::new(&MAGENTO, None).unwrap();
        for (target, path) in [
            (own, "/V1/carts/mine/items/3"),
            (Target { customer: Some(CustomerId(3)), ..own }, "/V1/carts/7/items/3"),
        ] {
            let request = Cart::new(target, Some(7)).unwrap().set_item(3, json!(5)).unwrap();
            assert_eq!((request.method.as_str(), request.path.as_str()), ("PUT", path));
            assert_eq!(request.body.as_deref(), Some(r#"{"cartItem":{"qty":5,"quote_id":"7"}}"#));
        }
    }

    #[test]
    fn an_item_is_found_by_its_id_or_by_a_sku_that_is_there_once() {
        let items = [
            json!({"item_id": 3, "sku": "MUG", "qty": 2}),
            json!({"item_id": "4", "sku": "hat", "qty": 1}),
            json!({"item_id": 5, "sku": "hat", "qty": 1}),
        ];
        let found = |asked: Value| {
            let item = find_item(&items, asked.as_object().unwrap());
            item.map(item_id).map_err(|failure| failure.message)
        };
        assert_eq!(found(json!({"sku": " mug"})), Ok(Some(3)));
        assert_eq!(found(json!({"item_id": "5"})), Ok(Some(5)));
        assert_eq!(found(json!({"item_id": 4, "sku": "hat"})), Ok(Some(4)));
        for (asked, message) in [
            (json!({"sku": "hat"}), "the SKU `hat` is in the cart several times: items 4 and 5"),
            (json!({"sku": "cap"}), "the cart has no item with the SKU `cap`"),
            (json!({"item_id": 9}), "the cart has no item 9"),
            (json!({"item_id": 3, "sku": "hat"}), "item 3 has the SKU `MUG`, not `hat`"),
        ] {
            assert_eq!(found(asked), Err(message.to_owned()));
        }
    }

    #[test]
    fn listed_fields_carry_over_and_nothing_else() {
        let reply = json!({"email": "a@b", "addresses": [{"id": 3, "customer_id": 1, "company": "X", "city": "Oslo",
            "postcode": null, "region": {"region": "Viken", "region_id": 9}, "default_billing": true}]});
        let profile = Profile::find(reply, &Pointers::default()).unwrap();
        let address =
            Value::Object(from_profile(&profile, AddressId(3), MARKETPLACE_FIELDS.quote_address).unwrap());
        assert_eq!(
            address,
            json!({"customer_id": 1, "region_id": 9, "postcode": null, "city": "Oslo", "email": "a@b"})
        );
        assert!(from_profile(&profile, AddressId(4), MARKETPLACE_FIELDS.quote_address).is_err());
    }
}
