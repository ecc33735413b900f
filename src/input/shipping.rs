//! `quote ship`: flags over shipping information (docs/interface.md, "Shipping information").

use std::path::Path;

use serde_json::{Map, Value, json};

use super::document;
use crate::cli::quote::ShipArgs;
use crate::failure::Failure;
use crate::input::FlagOverrides;

impl FlagOverrides for ShipArgs {
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        let mut information = match inner.shift_remove("addressInformation") {
            Some(Value::Object(information)) => information,
            _ => Map::new(),
        };
        lay_address(&mut information, "shipping_address", &self.ship.named);
        if self.bill_same_as_ship {
            let ship = information.get("shipping_address").cloned().ok_or_else(no_shipping_address)?;
            information.insert("billing_address".to_owned(), ship);
        }
        lay_address(&mut information, "billing_address", &self.bill.named);
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

    fn customer(&self) -> Option<&str> {
        self.choice.customer.as_deref()
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
fn lay_address(information: &mut Map<String, Value>, side: &str, named: &Map<String, Value>) {
    if named.is_empty() {
        return;
    }
    let address = information.entry(side).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(address) = address {
        address.extend(named.clone());
    }
}

fn no_shipping_address() -> Failure {
    Failure::usage("--bill-same-as-ship requires a shipping address")
        .hint("use --ship-…, --ship-to-address ID or an input with one")
}
