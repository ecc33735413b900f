//! An attribute as an exported file has it, to be reviewed and created in another shop: in a fixed order, with names in
//! place of ids, and with the names of what the shop does not show.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::view::Attribute;
use super::{Named, has_stored_options};
pub use crate::interface::fields::UNKNOWN;
use crate::operation::scalar;
use crate::profile::equal::same_flag;

/// The attribute sets of an attribute, each as `SET/GROUP`.
pub const SETS: &str = "attribute_set";

/// The fields that hold yes or no; a shop writes them as booleans or as texts.
pub const FLAGS: [&str; 17] = [
    "is_required",
    "is_unique",
    "is_searchable",
    "is_visible_in_advanced_search",
    "is_comparable",
    "is_filterable",
    "is_filterable_in_search",
    "used_for_sort_by",
    "is_used_for_promo_rules",
    "is_html_allowed_on_front",
    "is_wysiwyg_enabled",
    "is_visible",
    "is_visible_on_front",
    "used_in_product_listing",
    "is_used_in_grid",
    "is_visible_in_grid",
    "is_filterable_in_grid",
];

/// The text fields that the shop leaves out where they are empty.
pub const TEXTS: [&str; 3] = ["note", "frontend_class", "default_value"];

/// An attribute as it was read.
#[derive(Debug, Clone, Copy)]
pub struct ReadAttribute<'a> {
    /// As administrators see it.
    pub fields: &'a Map<String, Value>,
    /// The store views of customers.
    pub views: &'a [Named],
    /// For each of these views the labels of this attribute's options by their ids.
    pub labels: &'a [HashMap<String, String>],
    /// Its attribute sets, each as `SET/GROUP`.
    pub places: &'a [String],
}

impl ReadAttribute<'_> {
    /// The attribute of a file.
    pub fn exported(self) -> Map<String, Value> {
        let shown = Attribute(self.fields);
        let mut unknown = Vec::new();
        let text = |name: &str| Value::from(shown.text(name));
        let mut file = Map::new();
        for name in ["attribute_code", "frontend_input", "default_frontend_label"] {
            file.insert(name.to_owned(), text(name));
        }
        file.insert("frontend_labels".to_owned(), self.labels_of_views());
        for name in ["scope"].into_iter().chain(FLAGS).chain(["position"]) {
            match self.fields.get(name).filter(|value| !value.is_null()) {
                None => unknown.push(name),
                Some(value) if FLAGS.contains(&name) => {
                    let is_set = same_flag(Some(value), Some(&Value::Bool(true)));
                    file.insert(name.to_owned(), is_set.into());
                }
                Some(value) => drop(file.insert(name.to_owned(), value.clone())),
            }
        }
        file.insert("apply_to".to_owned(), sorted(self.fields.get("apply_to")));
        let has_options = self.has_options();
        for name in TEXTS.into_iter().filter(|name| !shown.text(name).is_empty()) {
            if !(has_options && name == "default_value") {
                file.insert(name.to_owned(), text(name));
            }
        }
        let is_empty = |value: &Value| {
            value.is_null() || *value == json!([]) || value.as_object().is_some_and(Map::is_empty)
        };
        for name in ["validation_rules", "extension_attributes"] {
            if let Some(value) = self.fields.get(name).filter(|value| !is_empty(value)) {
                file.insert(name.to_owned(), value.clone());
            }
        }
        if has_options {
            file.insert("options".to_owned(), self.options());
            unknown.push("options[].sort_order");
            // A swatch is shown as `select`, too.
            unknown.extend((shown.text("frontend_input") == "select").then_some("options[].swatch"));
        } else if self.takes_options() {
            file.insert("source_model".to_owned(), text("source_model"));
            unknown.push("options");
        }
        if file.get("is_searchable").is_some_and(|it| *it == true) {
            unknown.push("search_weight");
        }
        file.insert(SETS.to_owned(), self.places.iter().map(String::as_str).collect());
        file.insert(UNKNOWN.to_owned(), unknown.into_iter().collect());
        file
    }

    /// Whether it offers options to choose from.
    fn takes_options(self) -> bool {
        ["select", "multiselect"].contains(&Attribute(self.fields).text("frontend_input"))
    }

    /// Whether its options are stored with it, and not listed by code of the shop.
    fn has_options(self) -> bool {
        self.takes_options() && has_stored_options(Attribute(self.fields))
    }

    fn labels_of_views(self) -> Value {
        let labels = self.fields.get("frontend_labels").and_then(Value::as_array).into_iter().flatten();
        let labels = labels.filter_map(|label| {
            let id = scalar(label.get("store_id"))?;
            let view = self.views.iter().find(|view| view.id == id)?;
            Some((view.name.as_str(), label.get("label")?.as_str()?))
        });
        by_view(labels.filter(|(_, label)| !label.is_empty()).collect())
    }

    fn options(self) -> Value {
        let defaults: Vec<&str> = Attribute(self.fields).text("default_value").split(',').collect();
        let options = self.fields.get("options").and_then(Value::as_array).into_iter().flatten();
        // A blank option without an id stands for "nothing chosen".
        let options = options.filter_map(|option| Some((scalar(option.get("value"))?, option)));
        let exported = options.map(|(id, option)| {
            let label = option.get("label").and_then(Value::as_str).unwrap_or_default();
            let mut fields = Map::from_iter([("label".to_owned(), Value::from(label))]);
            if defaults.contains(&&*id) {
                fields.insert("is_default".to_owned(), true.into());
            }
            let views = self.views.iter().zip(self.labels);
            let own =
                views.filter_map(|(view, labels)| Some((view.name.as_str(), labels.get(&id)?.as_str())));
            let own: Vec<_> = own.filter(|(_, shown)| *shown != label).collect();
            if !own.is_empty() {
                fields.insert("store_labels".to_owned(), by_view(own));
            }
            Value::Object(fields)
        });
        exported.collect()
    }
}

/// Labels in the order of the codes of their store views: ids differ between shops.
fn by_view(mut labels: Vec<(&str, &str)>) -> Value {
    labels.sort_unstable();
    labels.into_iter().map(|(view, label)| json!({"store_id": view, "label": label})).collect()
}

/// A list in a fixed order; its own order means nothing.
pub(super) fn sorted(list: Option<&Value>) -> Value {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let mut list: Vec<&str> = list.filter_map(Value::as_str).collect();
    list.sort_unstable();
    list.into_iter().collect()
}

/// The text of a file: an array with a field on each line, and a line for each element of its lists, so that a difference of two
/// files shows what differs.
pub fn text(attributes: &[Map<String, Value>]) -> String {
    let attributes: Vec<String> = attributes.iter().map(attribute_text).collect();
    if attributes.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", attributes.join(",\n")) }
}

fn attribute_text(attribute: &Map<String, Value>) -> String {
    let field = |(name, value): (&String, &Value)| {
        let value = match value.as_array().filter(|list| list.iter().any(Value::is_object)) {
            Some(list) => {
                let elements: Vec<String> = list.iter().map(|one| format!("      {one}")).collect();
                format!("[\n{}\n    ]", elements.join(",\n"))
            }
            None => value.to_string(),
        };
        format!("    {}: {value}", Value::from(name.as_str()))
    };
    let fields: Vec<String> = attribute.iter().map(field).collect();
    format!("  {{\n{}\n  }}", fields.join(",\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Map, Value, json};

    use super::{ReadAttribute, text};
    use crate::attribute::Named;

    fn views() -> Vec<Named> {
        let view = |id: &str, name: &str| Named { id: id.to_owned(), name: name.to_owned() };
        vec![view("2", "fr"), view("7", "de")]
    }

    fn exported(shown: &Value, labels: &[&[(&str, &str)]]) -> Map<String, Value> {
        let label = |(id, label): &(&str, &str)| ((*id).to_owned(), (*label).to_owned());
        let labels: Vec<HashMap<_, _>> = labels.iter().map(|view| view.iter().map(label).collect()).collect();
        let places = ["Default/Content".to_owned()];
        let fields = shown.as_object().unwrap();
        ReadAttribute { fields, views: &views(), labels: &labels, places: &places }.exported()
    }

    #[test]
    fn an_attribute_has_names_for_ids_and_says_what_is_not_shown() {
        let shown = json!({"attribute_id": 9, "attribute_code": "fabric", "frontend_input": "select", "position": 0,
            "default_frontend_label": "Fabric", "default_value": "12", "scope": "global", "is_searchable": "1",
            "is_required": false, "apply_to": ["simple", "configurable"], "entity_type_id": "4", "backend_type": "int",
            "source_model": "Magento\\Eav\\Model\\Entity\\Attribute\\Source\\Table",
            "frontend_labels": [{"store_id": 2, "label": "Tissu"}, {"store_id": 7, "label": "Stoff"}],
            "options": [{"label": " ", "value": ""}, {"label": "Silk", "value": "11"}, {"label": "Wool", "value": "12"}]});
        let file =
            exported(&shown, &[&[("11", "Soie"), ("12", "Wool")], &[("11", "Seide"), ("12", "Wolle")]]);
        let unknown: Vec<&str> =
            file["unknown"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(
            unknown[unknown.len() - 3..],
            ["options[].sort_order", "options[].swatch", "search_weight"]
        );
        assert!(unknown.contains(&"is_unique") && !unknown.contains(&"is_required"));
        let expected = r#"[
  {
    "attribute_code": "fabric",
    "frontend_input": "select",
    "default_frontend_label": "Fabric",
    "frontend_labels": [
      {"store_id":"de","label":"Stoff"},
      {"store_id":"fr","label":"Tissu"}
    ],
    "scope": "global",
    "is_required": false,
    "is_searchable": true,
    "position": 0,
    "apply_to": ["configurable","simple"],
    "options": [
      {"label":"Silk","store_labels":[{"store_id":"de","label":"Seide"},{"store_id":"fr","label":"Soie"}]},
      {"label":"Wool","is_default":true,"store_labels":[{"store_id":"de","label":"Wolle"}]}
    ],
    "attribute_set": ["Default/Content"],
    "unknown": "#;
        let text = text(&[file]);
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains("_id\":1") && !text.contains("\"12\""), "{text}");
    }

    #[test]
    fn options_that_code_lists_are_not_exported_and_a_default_of_several_is() {
        let shown = json!({"attribute_code": "a", "frontend_input": "select", "source_model": "Vendor\\Brands",
            "default_value": "3", "options": [{"label": "X", "value": "3"}]});
        let file = exported(&shown, &[&[], &[]]);
        assert_eq!((file.get("options"), &file["source_model"]), (None, &json!("Vendor\\Brands")));
        assert_eq!(file["default_value"], "3");
        assert!(file["unknown"].as_array().unwrap().contains(&json!("options")));
        let shown = json!({"attribute_code": "a", "frontend_input": "multiselect", "default_value": "3,5",
            "options": [{"label": "X", "value": "3"}, {"label": "Y", "value": "4"}, {"label": "Z", "value": "5"}]});
        let file = exported(&shown, &[&[], &[]]);
        let defaults = file["options"].as_array().unwrap().iter().map(|option| option["is_default"] == true);
        assert_eq!(
            (defaults.collect::<Vec<_>>(), file.get("default_value")),
            (vec![true, false, true], None)
        );
        let flag = json!({"attribute_code": "a", "frontend_input": "boolean", "default_value": "0",
            "options": [{"label": "Yes", "value": "1"}, {"label": "No", "value": "0"}]});
        let file = exported(&flag, &[&[], &[]]);
        assert_eq!((file.get("options"), &file["default_value"]), (None, &json!("0")));
    }
}
