//! An attribute about to be created, for a person.

use serde_json::{Map, Value};

use crate::report::fields::format_value;
use crate::report::style::{OutputStyle, TextStyle, cell, table};
use storefront_core::sheet::cells::joined;

/// How many options are shown; the others are counted.
const MAX_OPTIONS_SHOWN: usize = 12;

/// The whole attribute: its fields, then its options.
pub fn text(attribute: &Map<String, Value>, screen: OutputStyle) -> String {
    let shown = [
        ("default_frontend_label", "Label"),
        ("attribute_code", "Code"),
        ("frontend_input", "Input type"),
        ("is_required", "Required"),
        ("is_filterable", "Filterable"),
        ("is_searchable", "Searchable"),
        ("attribute_set", "Attribute set"),
    ];
    let members = shown.iter().filter_map(|(name, title)| {
        // As they are written in a sheet.
        let text = match attribute.get(*name)? {
            Value::Array(list) => joined(list.iter().filter_map(Value::as_str)),
            other => format_value(Some(other)),
        };
        let text = match (name.starts_with("is_"), text.as_str()) {
            (true, "1") => "yes".to_owned(),
            (true, "0") => "no".to_owned(),
            _ => text,
        };
        Some([cell(TextStyle::Head, *title), text.into()])
    });
    let labels = labels(attribute.get("frontend_labels"))
        .map(|(view, label)| [cell(TextStyle::Head, format!("Label in store view {view}")), label.into()]);
    let options = attribute.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let default = options.iter().filter(|option| option["is_default"] == true);
    let default = default
        .map(|option| [cell(TextStyle::Head, "Default option"), format_value(option.get("label")).into()]);
    let members = table(screen, &[], members.chain(default).chain(labels));
    if options.is_empty() {
        return members;
    }
    let rows = options.iter().take(MAX_OPTIONS_SHOWN).map(|option| {
        let others = self::labels(option.get("store_labels")).map(|(view, label)| format!("{view}: {label}"));
        [format_value(option.get("label")), others.collect::<Vec<_>>().join(", ")]
    });
    let rows = table(screen, &["OPTION"], rows);
    let more = match options.len().saturating_sub(MAX_OPTIONS_SHOWN) {
        0 => String::new(),
        rest => format!("\nand {rest} more, {} in all", options.len()),
    };
    format!("{members}\n\n{rows}{more}")
}

/// The labels of a list with their store views.
fn labels(list: Option<&Value>) -> impl Iterator<Item = (String, String)> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.map(|label| (format_value(label.get("store_id")), format_value(label.get("label"))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::text;
    use crate::report::style::OutputStyle;

    #[test]
    fn members_come_first_and_of_many_options_the_first() {
        let mut options: Vec<Value> =
            (1..=14).map(|order| json!({"label": format!("No {order}"), "sort_order": order})).collect();
        options[0] = json!({"label": "Red", "sort_order": 1, "is_default": true,
            "store_labels": [{"store_id": 2, "label": "Rouge"}]});
        let attribute = json!({"default_frontend_label": "Colour", "is_searchable": "1", "is_required": false,
            "attribute_set": ["Default", "Home/Kitchen"], "frontend_labels": [{"store_id": 2, "label": "Couleur"}], "options": options});
        let text = text(attribute.as_object().unwrap(), OutputStyle::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..10],
            [
                "Label                  Colour",
                "Required               no",
                "Searchable             yes",
                "Attribute set          Default|Home/Kitchen",
                "Default option         Red",
                "Label in store view 2  Couleur",
                "",
                "OPTION",
                "Red     2: Rouge",
                "No 2",
            ]
        );
        assert_eq!(lines.last().unwrap(), &"and 2 more, 14 in all");
    }
}
