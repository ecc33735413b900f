//! An attribute about to be created, for a person.

use serde_json::{Map, Value};

use crate::report::fields::format_value;
use crate::report::style::{OutputStyle, TextStyle, cell, table};

/// How many options are shown; the others are counted.
const MAX_OPTIONS_SHOWN: usize = 12;

/// The whole attribute (docs/interface.md, "Attribute"): its fields, then its options.
pub fn text(attribute: &Map<String, Value>, screen: OutputStyle) -> String {
    let shown = [
        ("default_frontend_label", "Label"),
        ("attribute_code", "Code"),
        ("frontend_input", "Input type"),
        ("is_required", "Required"),
        ("is_filterable", "Filterable"),
        ("is_searchable", "Searchable"),
    ];
    let members = shown.iter().filter_map(|(name, title)| {
        let text = format_value(Some(attribute.get(*name)?));
        let text = match (name.starts_with("is_"), text.as_str()) {
            (true, "true" | "1") => "yes".to_owned(),
            (true, "false" | "0") => "no".to_owned(),
            _ => text,
        };
        Some([cell(TextStyle::Head, *title), text.into()])
    });
    let labels = labels(attribute.get("frontend_labels"))
        .map(|(view, label)| [cell(TextStyle::Head, format!("Label in store view {view}")), label.into()]);
    let options = attribute.get("options").and_then(Value::as_array).into_iter().flatten();
    let default = options.filter(|option| option["is_default"] == true && option.get("value").is_some());
    let default = default
        .map(|option| [cell(TextStyle::Head, "Default option"), format_value(option.get("label")).into()]);
    let members = table(screen, &[], members.chain(default).chain(labels));
    match attribute.get("options").and_then(Value::as_array) {
        Some(options) if !options.is_empty() => format!("{members}\n\n{}", options_text(options, screen)),
        _ => members,
    }
}

fn options_text(options: &[Value], screen: OutputStyle) -> String {
    let rows = options.iter().take(MAX_OPTIONS_SHOWN).map(|option| {
        let default = if option["is_default"] == true { " (default)" } else { "" };
        let label = format!("{}{default}", format_value(option.get("label")));
        let others = labels(option.get("store_labels")).map(|(view, label)| format!("{view}: {label}"));
        [format_value(option.get("sort_order")), label, others.collect::<Vec<_>>().join(", ")]
    });
    // Magento shows no order of stored options, and mostly no labels of theirs.
    let has_order = options.iter().any(|option| option.get("sort_order").is_some());
    let has_labels = options.iter().any(|option| labels(option.get("store_labels")).next().is_some());
    let columns = usize::from(!has_order)..if has_labels { 3 } else { 2 };
    let rows = rows.map(|row| row[columns.clone()].to_vec());
    let shown = table(screen, &["ORDER", "OPTION", "IN STORE VIEWS"][columns.clone()], rows);
    let rest = options.len().saturating_sub(MAX_OPTIONS_SHOWN);
    let more = if rest == 0 { String::new() } else { format!("\nand {rest} more, {} in all", options.len()) };
    shown + &more
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
            "frontend_labels": [{"store_id": 2, "label": "Couleur"}], "options": options});
        let text = text(attribute.as_object().unwrap(), OutputStyle::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..8],
            [
                "Label                  Colour",
                "Required               no",
                "Searchable             yes",
                "Label in store view 2  Couleur",
                "",
                "ORDER  OPTION         IN STORE VIEWS",
                "1      Red (default)  2: Rouge",
                "2      No 2",
            ]
        );
        assert_eq!(lines.last().unwrap(), &"and 2 more, 14 in all");
    }
}
