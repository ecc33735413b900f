//! An attribute about to be created, for a person.

use serde_json::{Map, Value};

use crate::report::changes::format_value;
use crate::report::style::{OutputStyle, TextStyle, cell, table};
use crate::sanitize::sanitize_line;

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
        Some([cell(TextStyle::Head, *title), yes_or_no(attribute.get(*name)?).into()])
    });
    let labels = list(attribute, "frontend_labels").iter().map(|label| {
        let title = format!("Label in store view {}", format_value(label.get("store_id")));
        [cell(TextStyle::Head, title), format_value(label.get("label")).into()]
    });
    let members = table(screen, &[], members.chain(labels));
    let options = list(attribute, "options");
    if options.is_empty() { members } else { format!("{members}\n\n{}", options_text(options, screen)) }
}

fn options_text(options: &[Value], screen: OutputStyle) -> String {
    let views = store_views(options);
    let titles: Vec<String> = views.iter().map(|view| format!("STORE VIEW {view}")).collect();
    let heads: Vec<&str> = ["ORDER", "OPTION"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let rows = options.iter().take(MAX_OPTIONS_SHOWN).map(|option| {
        let default = if option["is_default"] == true { " (default)" } else { "" };
        let label = format!("{}{default}", format_value(option.get("label")));
        let labels = views.iter().map(|view| label_in(option, view));
        [format_value(option.get("sort_order")), label].into_iter().chain(labels).collect::<Vec<_>>()
    });
    let shown = table(screen, &heads, rows);
    let rest = options.len().saturating_sub(MAX_OPTIONS_SHOWN);
    let more = if rest == 0 { String::new() } else { format!("\nand {rest} more, {} in all", options.len()) };
    shown + &more
}

/// The store views that any option has a label for, in the order they come up.
fn store_views(options: &[Value]) -> Vec<String> {
    let mut views = Vec::new();
    for label in options.iter().filter_map(Value::as_object).flat_map(|option| list(option, "store_labels")) {
        let view = format_value(label.get("store_id"));
        if !views.contains(&view) {
            views.push(view);
        }
    }
    views
}

fn label_in(option: &Value, view: &str) -> String {
    let labels = option.as_object().map_or(&[][..], |option| list(option, "store_labels"));
    let label = labels.iter().find(|label| format_value(label.get("store_id")) == view);
    label.map(|label| format_value(label.get("label"))).unwrap_or_default()
}

fn list<'a>(object: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn yes_or_no(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(flag) if flag == "1" => "yes".to_owned(),
        Value::String(flag) if flag == "0" => "no".to_owned(),
        Value::String(text) => sanitize_line(text),
        other => format_value(Some(other)),
    }
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
                "ORDER  OPTION         STORE VIEW 2",
                "1      Red (default)  Rouge",
                "2      No 2",
            ]
        );
        assert_eq!(lines.last().unwrap(), &"and 2 more, 14 in all");
    }
}
