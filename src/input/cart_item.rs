//! `quote add-item`: flags over a cart item (docs/interface.md, "Cart item").

use serde_json::{Map, Value};

use crate::cli::quote::AddItemArgs;
use crate::exact_json;
use crate::failure::Failure;
use crate::input::FlagOverrides;

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

    fn customer(&self) -> Option<&str> {
        self.choice.customer.as_deref()
    }
}
