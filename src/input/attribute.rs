//! `attribute create`: flags over an attribute (docs/interface.md, "Attribute").

use serde_json::{Map, Value, json};

use super::attribute_options;
use crate::cli::attribute::CreateArgs;
use crate::exact_json;
use crate::failure::Failure;
use crate::input::FlagOverrides;
use crate::wire::PRODUCT_ENTITY_TYPE_ID;

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
        self.lay_options(inner)?;
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
    fn lay_options(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        let mut options = match &self.options_file {
            Some(file) => attribute_options::read(file)?,
            None => Vec::new(),
        };
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
