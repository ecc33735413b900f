//! An attribute as an input asks for it or as a reply shows it: the same fields. And an option to add to one.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::label;
use super::rules::FrontendInput;
use crate::effect::Kept;
use crate::operation::scalar;
use crate::profile::equal::{STORE_LABELS, same_flag, same_value};
use crate::profile::path::{FieldPath, List};

/// The fields of an attribute.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a>(pub &'a Map<String, Value>);

impl<'a> Attribute<'a> {
    /// The attribute of a reply, which may stand in a wrapper; `None` for a reply that is not an object.
    pub fn in_reply(reply: &'a Value) -> Option<Self> {
        let fields = reply.as_object()?;
        Some(Self(fields.get("attribute").and_then(Value::as_object).unwrap_or(fields)))
    }

    /// The attribute of a reply that has one.
    pub fn shown(reply: &'a Value) -> Option<Self> {
        Self::in_reply(reply).filter(|it| it.0.contains_key("attribute_code"))
    }

    /// Its code; empty without one.
    pub fn code(self) -> &'a str {
        self.text("attribute_code").trim()
    }

    /// The id that the shop gave it.
    pub fn id(self) -> Option<u64> {
        scalar(self.0.get("attribute_id"))?.parse().ok()
    }

    /// A field that is text; empty without it.
    pub fn text(self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The attribute sets that an input names.
    pub fn set_names(self) -> Vec<String> {
        let names = self.list("attribute_set").iter().filter_map(Value::as_str);
        names.map(|name| name.trim().to_owned()).collect()
    }

    /// The options that an input adds, in their order.
    pub fn new_options(self) -> Vec<NewOption<'a>> {
        let options = self.list("options").iter().filter_map(Value::as_object);
        let mut options: Vec<_> = options.map(NewOption).collect();
        // A number or its text.
        let place = |option: &NewOption<'_>| scalar(option.0.get("sort_order"))?.trim().parse::<i64>().ok();
        options.sort_by_key(place);
        options
    }

    /// The labels of the options by their ids.
    pub fn labels_by_id(self) -> HashMap<String, String> {
        let label =
            |option: &Value| option.get("label").and_then(Value::as_str).unwrap_or_default().to_owned();
        let options = self.list("options").iter();
        options.filter_map(|option| Some((scalar(option.get("value"))?, label(option)))).collect()
    }

    /// Whether a stored attribute is the one that was asked for.
    pub fn is_as(self, asked: Attribute<'_>) -> bool {
        self.differences(asked).is_empty()
    }

    /// How a stored attribute differs from the one that was asked for, in code, input type, label, flags, and the options' labels in
    /// their order: each field with what was asked for and what is stored. What `asked` leaves to the service is not compared,
    /// nor what services do not all show: labels per store view and the default option.
    pub fn differences(self, asked: Attribute<'_>) -> Vec<(String, Value, Value)> {
        let value = |of: Attribute<'_>, name: &str| of.0.get(name).cloned().unwrap_or_default();
        let differs = |name: &str| match name {
            "attribute_code" | "default_frontend_label" => {
                !same_value(name, asked.0.get(name), self.0.get(name))
            }
            "frontend_input" => self.stored_input() != asked.stored_input(),
            "options" => {
                let own = self.option_labels();
                let other = asked.option_labels();
                own.len() != other.len()
                    || own.iter().zip(other).any(|(own, other)| !label::is_same(own, other))
            }
            flag if flag.starts_with("is_") && !value(asked, flag).is_null() => {
                !same_flag(asked.0.get(flag), self.0.get(flag))
            }
            _ => false,
        };
        let shown = |of: Attribute<'_>, name: &str| match name {
            "options" => of.option_labels().into(),
            _ => value(of, name),
        };
        let names = asked.0.keys().filter(|name| differs(name));
        names.map(|name| (name.clone(), shown(asked, name), shown(self, name))).collect()
    }

    /// What a created attribute consists of: each field as the answer shows it, and each option with the labels that
    /// were asked for. Comparing with these shows later whether somebody has changed it.
    pub fn as_made(self, asked: Attribute<'_>) -> Vec<Kept> {
        const NOT_OF_IT: [&str; 3] = ["attribute_id", "options", "extension_attributes"];
        let fields = self.0.iter().filter(|(name, _)| !NOT_OF_IT.contains(&name.as_str()));
        let field = |(name, value): (&String, &Value)| Kept {
            path: FieldPath::default().member(name),
            content: value.clone(),
        };
        let ids = self.list("options").iter().filter_map(|option| List::Options.id_of(option));
        let (ids, options): (Vec<i64>, _) = (ids.collect(), asked.new_options());
        let option = |(id, option): (&i64, &NewOption<'_>)| Kept {
            path: List::Options.element(*id),
            content: Value::Object(option.content()),
        };
        let has_all = ids.len() == options.len();
        let options = ids.iter().zip(&options).filter(|_| has_all).map(option);
        fields.map(field).chain(options).collect()
    }

    /// The input type as Magento stores it.
    fn stored_input(self) -> Option<&'a str> {
        let input = self.0.get("frontend_input")?.as_str()?;
        Some(FrontendInput::stored_as(input))
    }

    /// Labels of the options in the order in which they are shown. A blank one stands for "nothing chosen".
    fn option_labels(self) -> Vec<&'a str> {
        let mut options: Vec<&Value> = self.list("options").iter().collect();
        let order = |option: &&Value| option["sort_order"].as_i64();
        if options.iter().all(|option| order(option).is_some()) {
            options.sort_by_key(order);
        }
        let labels = options.into_iter().filter_map(|option| option["label"].as_str().map(str::trim));
        labels.filter(|label| !label.is_empty()).collect()
    }

    fn list(self, name: &str) -> &'a [Value] {
        self.0.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
}

/// An option to add.
#[derive(Debug, Clone, Copy)]
pub struct NewOption<'a>(pub &'a Map<String, Value>);

impl<'a> NewOption<'a> {
    /// Its label.
    pub fn label(self) -> &'a str {
        self.0.get("label").and_then(Value::as_str).unwrap_or_default().trim()
    }

    /// Whether it is to be the default.
    pub fn is_default(self) -> bool {
        same_flag(self.0.get("is_default"), Some(&Value::Bool(true)))
    }

    /// Whether it has labels of store views. An option that exists keeps its own.
    pub fn has_store_labels(self) -> bool {
        self.0.get(STORE_LABELS).and_then(Value::as_array).is_some_and(|labels| !labels.is_empty())
    }

    /// Its label, and those of store views where it has some.
    pub fn content(self) -> Map<String, Value> {
        let labels = self.0.get(STORE_LABELS).filter(|_| self.has_store_labels());
        let labels = labels.map(|labels| (STORE_LABELS.to_owned(), labels.clone()));
        [("label".to_owned(), self.label().into())].into_iter().chain(labels).collect()
    }

    /// Whether an option of an attribute that was read whole ([`Self::content`] of an earlier one in `made`) has these labels and no
    /// others. A label of a store view that administrators see as well says nothing. `id_of` gives the id of a store view.
    pub fn has_labels_of(self, made: &Map<String, Value>, id_of: impl Fn(&str) -> Option<String>) -> bool {
        let labels = |of: &Map<String, Value>, label: &str| -> BTreeMap<String, String> {
            let own = of.get(STORE_LABELS).and_then(Value::as_array).into_iter().flatten();
            let own = own.filter_map(|one| {
                let view = scalar(one.get("store_id"))?;
                Some((id_of(&view).unwrap_or(view), one.get("label")?.as_str()?.trim().to_owned()))
            });
            own.filter(|(_, text)| text != label).collect()
        };
        let made_label = made.get("label").and_then(Value::as_str).unwrap_or_default().trim();
        self.label() == made_label && labels(self.0, made_label) == labels(made, made_label)
    }

    /// Body of the call that adds it. A separate call sets the default option afterwards.
    pub fn body(self, sort_order: usize) -> String {
        let labels = self.0.get(STORE_LABELS).cloned().unwrap_or_else(|| json!([]));
        json!({"option": {"label": self.label(), "sort_order": sort_order, "store_labels": labels}})
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Attribute, NewOption};

    fn same(asked: &Value, stored: &Value) -> bool {
        Attribute::in_reply(stored).unwrap().is_as(Attribute(asked.as_object().unwrap()))
    }

    #[test]
    fn spelling_does_not_count_and_content_does() {
        let asked = json!({"attribute_code": "fabric", "frontend_input": "select", "default_frontend_label": "Fabric",
            "is_searchable": "1", "is_required": false,
            "options": [{"label": "Silk", "sort_order": 2}, {"label": "Wool", "sort_order": 1}]});
        let stored = json!({"attribute_id": 145, "attribute_code": "fabric", "frontend_input": "select",
            "default_frontend_label": "Fabric", "is_searchable": true, "is_unique": "0",
            "options": [{"label": " ", "value": ""}, {"label": "Wool", "value": "1"}, {"label": "Silk", "value": "2"}]});
        assert!(same(&asked, &stored));
        assert!(same(&asked, &json!({"attribute": stored})));
        for (name, value) in [
            ("frontend_input", json!("text")),
            ("default_frontend_label", json!("fabric")),
            ("is_searchable", json!("0")),
            ("is_required", json!(1)),
            ("options", json!([{"label": "Silk"}, {"label": "Wool"}])),
            ("options", json!([{"label": "Wool"}])),
        ] {
            let mut other = stored.clone();
            other[name] = value;
            assert!(!same(&asked, &other), "{name}");
        }
    }

    #[test]
    fn new_options_have_one_order_whether_a_place_is_a_number_or_a_text() {
        for places in [json!([3, 1, 2]), json!(["3", "1", "2"]), json!([3, "1", "2"]), json!(["3", 1, " 2"])]
        {
            let options = ["c", "a", "b"].iter().zip(places.as_array().unwrap());
            let options = options.map(|(label, place)| json!({"label": label, "sort_order": place}));
            let fields = json!({"options": options.collect::<Vec<_>>()});
            let labels = Attribute(fields.as_object().unwrap()).new_options().into_iter();
            assert_eq!(labels.map(NewOption::label).collect::<Vec<_>>(), ["a", "b", "c"], "{places}");
        }
    }
}
