//! What one of our records asks for, and how it stands in a command line or an input.

use serde_json::{Value, json};

use super::customers::{DEFAULT, Stored, addresses, ids, is_empty, is_same};
use super::goods::{self, Scope, Side};
use super::world::Owner;

/// The field that the service sets by itself at each PUT, and that comparisons leave out.
pub const OWN_STAMP: &str = "updated_at";

/// What one of our records asks for.
#[derive(Debug, Clone)]
pub enum Action {
    /// An item in a cart.
    Item,
    /// An attribute; with `true` it is put into an attribute set.
    Attribute(bool),
    /// An attribute that exists, put into an attribute set.
    Assign,
    /// Options of the attribute `color`.
    Options(Vec<String>),
    /// Shipping and payment of the cart of this customer.
    Ship,
    /// Another value of a field, of the profile or of an address.
    Set(Option<i64>, &'static str, Value),
    /// Another region of an address, named like this.
    Region(i64, RegionBy),
    /// Another value of a custom attribute, of the profile or of an address.
    Custom(Option<i64>, &'static str, String),
    /// One more address.
    Add(Value),
    /// One address less; without the permission to delete it must be refused.
    Remove(i64, bool),
    /// Another default address.
    Default(i64),
    /// Only these addresses are kept, and perhaps one added; deleted may be so many.
    Replace(Vec<i64>, Option<Value>, Option<usize>),
    /// An update undone.
    Restore(Undo),
    /// Another value of a field of the addresses of an order.
    Correct(Vec<Side>, &'static str, String),
    /// Another value of a product for all store views or one of them; none where it is cleared.
    Value(Scope, &'static str, Option<String>),
    /// What was written to an order or to a product undone.
    Back(Back),
}

/// What was written to an order or to a product, and is undone.
#[derive(Debug, Clone)]
pub struct Back {
    /// What it is.
    pub kind: GoodsKind,
    /// For whom the values of a product were.
    pub scope: Scope,
    /// By its id; none where a plan does it.
    pub write: String,
    /// The records that wrote it.
    pub tags: Vec<u32>,
}

/// What a record is about that is no profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoodsKind {
    /// Orders.
    Orders,
    /// Products.
    Products,
}

/// How a region is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionBy {
    /// By its code.
    Code,
    /// By its name.
    Name,
    /// There is none in another country.
    Country,
}

/// What a restore undoes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// The update with this id, of this record; with `true` an address that it added may be deleted.
    Of(String, u32, bool),
    /// The whole profile, as it was before the update with this id.
    All(String),
    /// These records of a batch, by a plan of `undo`.
    Batch(Vec<u32>),
}

/// The flag of a command whose values are those of the store view.
pub const OF_VIEW: [&str; 2] = ["--store-view", "fr"];

impl Action {
    /// The address, if any, and the field that it sets.
    pub fn place(&self) -> Option<(Option<i64>, &'static str)> {
        match self {
            Self::Set(address, "country_id", _) => Some((*address, "region")),
            Self::Set(address, field, _) | Self::Custom(address, field, _) => Some((*address, field)),
            Self::Region(address, _) => Some((Some(*address), "region")),
            Self::Correct(sides, field, _) => Some((Some(sides[0] as i64), field)),
            Self::Value(scope, code, _) => Some((Some(*scope as i64), code)),
            _ => None,
        }
    }

    /// What a record that asks for this is about, by its number.
    pub fn owner(&self, number: usize) -> Owner {
        match self {
            Self::Correct(..) | Self::Back(Back { kind: GoodsKind::Orders, .. }) => Owner::Order(number),
            Self::Value(..) | Self::Back(Back { kind: GoodsKind::Products, .. }) => Owner::Product(number),
            _ => Owner::Customer(number),
        }
    }

    /// What a record that asks for this is about, and of a product in which scope: one write to it takes one call.
    pub fn thing(&self, number: usize) -> (Owner, Option<Scope>) {
        let scope = match self {
            Self::Value(scope, ..) | Self::Back(Back { kind: GoodsKind::Products, scope, .. }) => {
                Some(*scope)
            }
            _ => None,
        };
        (self.owner(number), scope)
    }

    /// Whether this is for an order or a product.
    pub fn is_of_goods(&self) -> bool {
        matches!(self, Self::Correct(..) | Self::Value(..) | Self::Back(..))
    }

    /// Whether a profile, stored or sent, has what this asks for; or an order or a product.
    pub fn is_shown_by(&self, profile: &Stored) -> bool {
        let address = |id: &i64| addresses(profile).find(|address| address["id"] == *id);
        let has = |added: &Value| addresses(profile).any(|address| address["street"] == added["street"]);
        match self {
            Self::Item
            | Self::Attribute(_)
            | Self::Assign
            | Self::Options(_)
            | Self::Ship
            | Self::Restore(_)
            | Self::Back(..) => false,
            Self::Correct(sides, field, value) => sides.iter().all(|side| {
                let mut of_side = addresses(profile).filter(|address| address["address_type"] == side.word());
                of_side.next().is_some_and(|address| address[*field] == **value)
            }),
            Self::Value(scope, code, value) => {
                let now = goods::value_in(profile, *scope, code).and_then(Value::as_str);
                profile.contains_key(scope.list()) && now == value.as_deref()
            }
            Self::Region(id, by) => address(id).is_some_and(|address| has_region(address, *by)),
            Self::Set(None, name, value) => profile.get(*name).is_some_and(|now| now == value),
            Self::Set(Some(id), name, value) => {
                // What is cleared may be there as null.
                let is_it =
                    |now: Option<&Value>| now == Some(value) || *value == "" && now.is_none_or(is_empty);
                address(id).is_some_and(|address| is_it(address.get(*name)))
            }
            Self::Custom(..) => self.custom_value_in(profile).is_some_and(|(now, value)| now == value),
            Self::Add(added) => has(added),
            Self::Remove(id, _) => address(id).is_none(),
            Self::Default(id) => address(id).is_some_and(|address| address[DEFAULT] == true),
            Self::Replace(kept, added, _) => {
                let (now, new) = (ids(profile), added.iter().len());
                added.as_ref().is_none_or(has)
                    && kept.iter().all(|id| now.contains(id))
                    && addresses(profile).count() == kept.len() + new
            }
        }
    }

    /// The value of the custom attribute that this is about, as a profile has it, and as it is asked for.
    pub fn custom_value_in<'a>(&'a self, profile: &'a Stored) -> Option<(&'a str, &'a str)> {
        let Self::Custom(address, code, value) = self else { return None };
        let list = match address {
            None => profile.get("custom_attributes"),
            Some(id) => addresses(profile).find(|address| address["id"] == *id)?.get("custom_attributes"),
        };
        let mut list = list?.as_array()?.iter();
        Some((list.find(|own| own["attribute_code"] == *code)?["value"].as_str()?, value))
    }

    /// Whether this profile adds its new address, which has no id yet.
    pub fn is_added_by(&self, profile: &Stored) -> bool {
        let (Self::Add(added) | Self::Replace(_, Some(added), _)) = self else { return false };
        let mut new = addresses(profile).filter(|address| address.get("id").is_none());
        new.any(|address| address["street"] == added["street"])
    }

    /// [`Self::is_shown_by`] where others may have added addresses since.
    pub fn is_seen_in(&self, profile: &Stored) -> bool {
        let Self::Replace(kept, added, _) = self else { return self.is_shown_by(profile) };
        let has = |added: &Value| addresses(profile).any(|address| address["street"] == added["street"]);
        kept.iter().all(|id| ids(profile).contains(id)) && added.as_ref().is_none_or(has)
    }

    /// Whether a profile has what this asks for, or what counts as the same: a number and its text, what stands for nothing,
    /// and what the service sets by itself.
    pub fn is_alike_in(&self, profile: &Stored) -> bool {
        let Self::Set(address, name, value) = self else { return self.is_seen_in(profile) };
        let owner = address.map_or(Some(profile), |id| {
            addresses(profile).find(|address| address["id"] == id).and_then(Value::as_object)
        });
        owner.is_some_and(|owner| *name == OWN_STAMP || is_same(owner.get(*name), Some(value)))
    }

    /// Whether the addresses that it names are there.
    pub fn fits(&self, profile: &Stored) -> bool {
        let now = ids(profile);
        match self {
            Self::Set(Some(id), ..)
            | Self::Custom(Some(id), ..)
            | Self::Region(id, _)
            | Self::Remove(id, _)
            | Self::Default(id) => now.contains(id),
            Self::Replace(kept, ..) => kept.iter().all(|id| now.contains(id)),
            _ => true,
        }
    }

    /// Whether this is for a profile.
    pub fn is_of_profile(&self) -> bool {
        let is_none =
            matches!(self, Self::Item | Self::Attribute(_) | Self::Assign | Self::Options(_) | Self::Ship);
        !is_none && !self.is_of_goods()
    }

    /// The addresses that a request for this adds.
    pub fn added(&self) -> Option<&Value> {
        match self {
            Self::Add(address) => Some(address),
            Self::Replace(_, address, _) => address.as_ref(),
            _ => None,
        }
    }

    /// Whether only an input can say it: flags leave out the blanks around a value.
    fn has_no_flag(&self) -> bool {
        let is_text = |value: &Value| value.as_str().is_some_and(|text| text.trim() == text);
        matches!(self, Self::Set(_, name, value) if [OWN_STAMP, "x_weight"].contains(name) || !is_text(value))
    }

    /// The flags of a single command that say it; none where an input does.
    pub fn flags(&self) -> Option<Vec<String>> {
        let words = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
        match self {
            Self::Set(..) if self.has_no_flag() => None,
            Self::Set(Some(id), name, value) if *value == "" => {
                words(&["--address", &id.to_string(), "--clear", &flag(name)])
            }
            Self::Region(id, by) => {
                let address = id.to_string();
                let of_address = |more: &[&str]| words(&[&["--address", address.as_str()], more].concat());
                match by {
                    RegionBy::Code => of_address(&["--region-code", "NY"]),
                    RegionBy::Name => of_address(&["--region", "New York"]),
                    RegionBy::Country => of_address(&["--country", "DE", "--no-region"]),
                }
            }
            Self::Set(Some(id), name, value) => {
                words(&["--address", &id.to_string(), &format!("--{}", flag(name)), value.as_str()?])
            }
            Self::Set(None, name, value) => words(&[&format!("--{name}"), value.as_str()?]),
            Self::Custom(Some(id), code, value) => {
                words(&["--address", &id.to_string(), "--custom-attribute", &format!("{code}={value}")])
            }
            Self::Options(labels) => {
                Some(["color", "--option"].map(str::to_owned).into_iter().chain(labels.clone()).collect())
            }
            Self::Remove(id, true) => words(&["--remove-address", &id.to_string(), "--yes"]),
            Self::Remove(id, false) => words(&["--remove-address", &id.to_string()]),
            Self::Default(id) => words(&["--address", &id.to_string(), "--default-billing"]),
            Self::Restore(Undo::Of(write, _, true)) => words(&[write, "--yes", "--allow-delete", "1"]),
            Self::Restore(Undo::Of(write, _, false)) | Self::Back(Back { write, .. }) => {
                words(&[write, "--yes"])
            }
            Self::Restore(Undo::All(write)) => words(&[write, "--yes", "--whole-profile"]),
            _ => None,
        }
    }

    /// The same of an order or a product with this number.
    pub fn flags_of_goods(&self, number: usize) -> Option<Vec<String>> {
        let words = match self {
            Self::Correct(sides, field, value) => {
                let sides = if let [side] = sides[..] { side.word() } else { "both" };
                vec![goods::increment_id(number), format!("--{sides}"), format!("--{field}"), value.clone()]
            }
            Self::Value(scope, code, value) => {
                let value = match value {
                    Some(value) => vec![format!("{code}={value}")],
                    None => vec!["--clear".to_owned(), (*code).to_owned()],
                };
                let view = OF_VIEW.map(str::to_owned).into_iter().filter(|_| *scope == Scope::View);
                [goods::sku(number)].into_iter().chain(value).chain(view).collect()
            }
            _ => return None,
        };
        Some(words)
    }

    /// The body of its record, without a wrapper where `is_flat`.
    pub fn document(&self, tag: u32, is_magento: bool, is_flat: bool) -> Value {
        let wrapped = |wrapper: &str, inner: Value| if is_flat { inner } else { json!({ wrapper: inner }) };
        match self {
            Self::Item => {
                let mut item = json!({"sku": format!("sku_{tag}"), "qty": 1});
                if !is_magento {
                    item["quote_id"] = json!(format!("{}", tag % 3));
                }
                wrapped("cartItem", item)
            }
            Self::Attribute(is_assigned) => {
                let mut attribute = json!({"attribute_code": format!("code_{tag}"), "frontend_input": "text",
                    "entity_type_id": "4", "default_frontend_label": "Label"});
                if *is_assigned {
                    attribute["attribute_set"] = json!(["Default"]);
                }
                wrapped("attribute", attribute)
            }
            Self::Assign => {
                json!({"attribute_code": format!("code_{tag}"), "attribute_set": ["Default"]})
            }
            Self::Ship => {
                let street = format!("Road {tag}");
                let address = json!({"firstname": "N", "lastname": "M", "street": [street], "city": "Paris",
                    "postcode": "75009", "country_id": "FR", "telephone": "5"});
                json!({"addressInformation": {"shipping_address": address, "shipping_carrier_code": "flatrate",
                    "shipping_method_code": "flatrate"}, "paymentMethod": {"method": format!("pay_{tag}")}})
            }
            Self::Set(None, name, value) => wrapped("customer", json!({*name: value})),
            Self::Set(Some(id), name, value) => {
                wrapped("customer", json!({"addresses": [{"id": id, *name: value}]}))
            }
            Self::Region(id, by) => {
                let mut address = match by {
                    RegionBy::Code => json!({"region": {"region_code": "NY"}}),
                    RegionBy::Name => json!({"region": {"region": "New York"}}),
                    RegionBy::Country => json!({"country_id": "DE", "region_id": 0,
                        "region": {"region_code": null, "region": null, "region_id": 0}}),
                };
                address["id"] = json!(id);
                wrapped("customer", json!({"addresses": [address]}))
            }
            Self::Custom(address, code, value) => {
                let list = json!([{"attribute_code": code, "value": value}]);
                let owner = json!({"custom_attributes": list});
                let customer =
                    address.map_or(owner, |id| json!({"addresses": [{"id": id, "custom_attributes": list}]}));
                wrapped("customer", customer)
            }
            Self::Add(address) => wrapped("customer", json!({"addresses": [address]})),
            Self::Replace(kept, added, _) => {
                let kept = kept.iter().map(|id| json!({"id": id}));
                wrapped("customer", json!({"addresses": kept.chain(added.clone()).collect::<Vec<_>>()}))
            }
            Self::Correct(sides, field, value) => {
                let sides = if let [side] = sides[..] { side.word() } else { "both" };
                json!({"address": sides, *field: value})
            }
            Self::Value(scope, code, value) => {
                let mut row = json!({"custom_attributes": [{"attribute_code": code, "value": value}]});
                if *scope == Scope::View {
                    row["store_view"] = json!(scope.code());
                }
                row
            }
            Self::Options(_) | Self::Remove(..) | Self::Default(_) | Self::Restore(_) | Self::Back(..) => {
                unreachable!("given by flags")
            }
        }
    }
}

/// The name of the flag of a field.
fn flag(field: &str) -> String {
    if field == "country_id" { "country".to_owned() } else { field.replace('_', "-") }
}

/// Whether an address, stored or sent, has the region that is named like this.
fn has_region(address: &Value, by: RegionBy) -> bool {
    let region = &address["region"];
    let has_id = || address["region_id"] == 43 || region["region_id"] == 43;
    match by {
        RegionBy::Code => has_id() || region["region_code"] == "NY",
        RegionBy::Name => has_id() || region["region"] == "New York",
        RegionBy::Country => address["country_id"] == "DE",
    }
}

/// The record that a body belongs to: it carries a name that is only its own.
pub fn named_in(body: &Value) -> Option<u32> {
    let names = [
        &body["cartItem"]["sku"],
        &body["attribute"]["attribute_code"],
        &body["attributeCode"],
        &body["addressInformation"]["shipping_address"]["street"][0],
        &body["method"]["method"],
    ];
    let name = names.into_iter().find_map(Value::as_str)?;
    name.rsplit(['_', ' ']).next()?.parse().ok()
}
