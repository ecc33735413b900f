//! The flags of each operation, applied to its body (docs/interface.md).

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{FlagOverrides, columns, document};
use crate::cli::attribute::CreateArgs;
use crate::cli::customer::{CLEARABLE, UpdateArgs};
use crate::cli::quote::{AddItemArgs, ShipArgs};
use crate::exact_json;
use crate::failure::Failure;
use crate::plan::profile::diff::id_of;
use crate::plan::profile::merge::{DEFAULTS, DefaultAddress, set_field};
use crate::plan::profile::region;
use crate::plan::validate::attribute::FrontendInput;
use crate::wire::{FieldType, MARKETPLACE_FIELDS, PRODUCT_ENTITY_TYPE_ID};

impl FlagOverrides for UpdateArgs {
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        inner.extend(self.profile.named.clone());
        let named = self.address_members();
        let has_address = self.address.is_some() || self.add_address;
        self.refuse_account_names(has_address)?;
        self.refuse_to_clear(has_address)?;
        if !has_address {
            inner.extend(self.clear.iter().map(|name| (name.clone(), "".into())));
            return if named.is_empty() { Ok(()) } else { Err(which_address()) };
        }
        let defaults = self.default_addresses().count();
        if named.is_empty() || self.add_address && named.len() == defaults {
            return Err(
                Failure::usage("no address field given").hint("set at least one, e.g. --street or --city")
            );
        }
        let addresses = inner.entry("addresses").or_insert_with(|| Value::Array(Vec::new()));
        if !addresses.is_array() {
            *addresses = Value::Array(Vec::new());
        }
        let Value::Array(addresses) = addresses else { return Ok(()) };
        match self.address {
            None => addresses.push(Value::Object(named)),
            Some(id) => {
                let own = addresses.iter_mut().find(|address| address.get("id").and_then(id_of) == Some(id));
                match own.and_then(Value::as_object_mut) {
                    Some(address) => override_fields(address, &named),
                    None => {
                        addresses.push([("id".to_owned(), id.into())].into_iter().chain(named).collect());
                    }
                }
            }
        }
        Ok(())
    }
}

impl UpdateArgs {
    /// The defaults that the flags make the address.
    pub fn default_addresses(&self) -> impl Iterator<Item = DefaultAddress> + use<> {
        let (address, asked) = (self.address, [self.default_billing, self.default_shipping]);
        let names = DEFAULTS.into_iter().zip(asked).filter(|(_, is_asked)| *is_asked);
        names.map(move |(name, _)| DefaultAddress { name, address })
    }

    /// `--firstname` is of the account; beside an address the address's name is meant.
    fn refuse_account_names(&self, has_address: bool) -> Result<(), Failure> {
        let given = ["firstname", "lastname"].into_iter().find(|name| self.profile.named.contains_key(*name));
        match given.filter(|_| has_address) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(format!(
                "`--{name}` changes the account holder, not the address"
            ))
            .hint(format!(
                "use --address-{name} for the address; change the account holder in a command of its own"
            ))),
        }
    }

    fn refuse_to_clear(&self, has_address: bool) -> Result<(), Failure> {
        let is_there = |name: &&String| {
            let of = CLEARABLE.iter().find(|(field, ..)| field == name);
            of.is_some_and(|(_, of_address, of_profile)| if has_address { *of_address } else { *of_profile })
        };
        match self.clear.iter().find(|name| !is_there(name)) {
            None => Ok(()),
            Some(name) if has_address => Err(Failure::usage(format!("an address has no `{name}`"))
                .hint(format!("`--clear {name}` without --address clears it in the profile"))),
            Some(name) => Err(Failure::usage(format!("`--clear {name}` requires --address ID"))
                .hint("`storefront customer show` lists the IDs")),
        }
    }

    fn address_members(&self) -> Map<String, Value> {
        let mut named = self.members.named.clone();
        for name in self.clear.iter().filter(|_| self.address.is_some()) {
            let member = name.replace('-', "_");
            let holds = MARKETPLACE_FIELDS.address.field(&member).map(|field| field.field_type);
            let nothing = match holds {
                Some(FieldType::Object(_)) => region::none(),
                Some(FieldType::TextOrNull) => Value::Null,
                _ => "".into(),
            };
            named.insert(member, nothing);
        }
        if !self.custom_attributes.is_empty() {
            let attribute =
                |(code, value): &(String, String)| json!({"attribute_code": code, "value": value});
            named.insert(
                "custom_attributes".to_owned(),
                self.custom_attributes.iter().map(attribute).collect(),
            );
        }
        named.extend(self.default_addresses().map(|default| (default.name.to_owned(), true.into())));
        named
    }
}

/// Sets the fields that flags name in an address of the input.
fn override_fields(address: &mut Map<String, Value>, named: &Map<String, Value>) {
    // The region id of the input may stand in the other place, and would contradict that of the flag.
    if named.get("region").and_then(|region| region.get("region_id")).is_some() {
        address.shift_remove("region_id");
    }
    named.iter().for_each(|(name, value)| set_field(address, name, value));
}

fn which_address() -> Failure {
    Failure::usage("address fields given without an address")
        .hint("use --address ID or --add-address; `storefront customer show` lists the IDs")
}

impl FlagOverrides for AddItemArgs {
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        inner.extend(self.item.named.clone());
        if !self.options.is_empty() {
            let option = |(id, value): &(String, serde_json::Number)| {
                exact_json::object([
                    ("option_id", id.as_str().into()),
                    ("option_value", value.clone().into()),
                ])
            };
            let options: Value = self.options.iter().map(option).collect();
            inner.insert(
                "product_option".to_owned(),
                exact_json::object([(
                    "extension_attributes",
                    exact_json::object([("configurable_item_options", options)]),
                )]),
            );
        }
        if inner.is_empty() {
            return Err(
                Failure::usage("no item given").hint("use --sku, --qty and --quote-id, or --input FILE")
            );
        }
        Ok(())
    }

    fn verifies(&self) -> bool {
        self.verify
    }
}

impl FlagOverrides for ShipArgs {
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        let mut information = match inner.shift_remove("addressInformation") {
            Some(Value::Object(information)) => information,
            _ => Map::new(),
        };
        set_address(&mut information, "shipping_address", &self.ship.named);
        if self.bill_same_as_ship {
            let ship = information.get("shipping_address").cloned().ok_or_else(|| {
                Failure::usage("--bill-same-as-ship requires a shipping address")
                    .hint("use --ship-…, --ship-to-address ID or an input with one")
            })?;
            information.insert("billing_address".to_owned(), ship);
        }
        set_address(&mut information, "billing_address", &self.bill.named);
        information.extend(self.shipping.named.clone());
        if !information.is_empty() {
            inner.shift_insert(0, "addressInformation".to_owned(), Value::Object(information));
        }
        if let Some(payment) = self.payment()? {
            inner.insert("paymentMethod".to_owned(), payment);
        }
        if self.no_payment {
            inner.shift_remove("paymentMethod");
        } else if !inner.is_empty() && !inner.contains_key("paymentMethod") {
            return Err(Failure::usage("a payment is required")
                .hint("use --payment-method CODE, --payment JSON, or --no-payment"));
        }
        if inner.is_empty() {
            return Err(Failure::usage("nothing to save")
                .hint("use --ship-… and --bill-… with --carrier and --method, or --input FILE"));
        }
        Ok(())
    }
}

impl ShipArgs {
    /// Whether something is to be saved, but neither these flags nor the document say how it is paid.
    pub fn lack_payment(&self, document: Option<&Value>) -> bool {
        let chosen = self.payment_method.is_some() || self.payment.is_some() || self.no_payment;
        let in_document = |name: &str| document.is_some_and(|document| document.get(name).is_some());
        let something = document.is_some()
            || self.ship_to_address.or(self.bill_to_address).is_some()
            || [&self.ship.named, &self.bill.named, &self.shipping.named]
                .iter()
                .any(|named| !named.is_empty());
        something && !chosen && !in_document("paymentMethod")
    }

    fn payment(&self) -> Result<Option<Value>, Failure> {
        if let Some(code) = &self.payment_method {
            return Ok(Some(json!({"method": code})));
        }
        let Some(given) = &self.payment else { return Ok(None) };
        let payment = match given.strip_prefix('@') {
            Some(file) => document::read_json(Path::new(file))?,
            None => document::parse_json(given, "--payment")?,
        };
        if payment.is_object() {
            Ok(Some(payment))
        } else {
            Err(Failure::usage("--payment must be a JSON object"))
        }
    }
}

/// Sets the named fields of an address; the address is made when there is none.
fn set_address(information: &mut Map<String, Value>, side: &str, named: &Map<String, Value>) {
    if named.is_empty() {
        return;
    }
    let address = information.entry(side).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(address) = address {
        address.extend(named.clone());
    }
}

impl FlagOverrides for CreateArgs {
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        inner.extend(self.attribute.named.clone());
        if let Some(searchable) = self.searchable {
            inner.insert("is_searchable".to_owned(), if searchable { "1" } else { "0" }.into());
        }
        if !self.store_labels.is_empty() {
            let label = |(id, label): &(serde_json::Number, String)| {
                exact_json::object([("store_id", id.clone().into()), ("label", label.as_str().into())])
            };
            inner.insert("frontend_labels".to_owned(), self.store_labels.iter().map(label).collect());
        }
        self.set_options(inner)?;
        if let Some(Value::String(kind)) = inner.get_mut("frontend_input")
            && let Some(meant) = FrontendInput::by_label(kind)
        {
            meant.name.clone_into(kind);
        }
        if inner.is_empty() {
            return Err(
                Failure::usage("no attribute given").hint("use --code, --label and --type, or --input FILE")
            );
        }
        inner.entry("entity_type_id").or_insert_with(|| PRODUCT_ENTITY_TYPE_ID.into());
        Ok(())
    }

    fn forces(&self) -> bool {
        self.force
    }
}

impl CreateArgs {
    fn set_options(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        let mut options = Vec::new();
        if let Some(file) = &self.options_file {
            if self.options_read.get().is_none() {
                let _ = self.options_read.set(columns::read_options(file, self.run.input.encoding)?);
            }
            let code = inner.get("attribute_code").and_then(Value::as_str);
            let is_for = |own: &Option<String>| own.is_none() || own.as_deref() == code;
            let all = self.options_read.get().into_iter().flatten();
            options.extend(all.filter(|(own, _)| is_for(own)).map(|(_, option)| option.clone()));
        }
        for label in &self.options {
            options.push(json!({"label": label, "sort_order": options.len() + 1, "is_default": false}));
        }
        if !options.is_empty() {
            inner.insert("options".to_owned(), Value::Array(options));
        }
        let Some(default) = &self.default_option else { return Ok(()) };
        let mut found = false;
        for option in inner.get_mut("options").and_then(Value::as_array_mut).into_iter().flatten() {
            let is_default = option.get("label").and_then(Value::as_str) == Some(default);
            found |= is_default;
            option["is_default"] = is_default.into();
        }
        if found {
            return Ok(());
        }
        Err(Failure::usage(format!("--default-option `{default}` is not one of the options"))
            .hint("use one of the --option labels"))
    }
}
