//! Attributes of an export as rows, in the columns that `attribute create` takes.

use serde_json::{Map, Value};

use super::cells::{Cell, MAX_FORMULA, joined, option};
use crate::attribute::export::UNKNOWN;

/// A sheet of attributes.
#[derive(Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The titles of the columns.
    pub titles: Vec<String>,
    /// A row for each attribute, with a cell for each title.
    pub rows: Vec<Vec<Cell>>,
    /// What the sheet lacks because no column takes it, and of how many attributes.
    pub left_out: Vec<(&'static str, usize)>,
}

const LABELS: &str = "frontend_labels";
const OPTIONS: &str = "options";

/// How many characters a cell can hold in Excel.
const MAX_CELL: usize = 32_767;

/// The attributes of an export as a sheet. Columns that would be empty for all of them are left out.
pub fn sheet(attributes: &[Map<String, Value>]) -> Sheet {
    let mut titles: Vec<String> = Vec::new();
    let mut add = |title: String| {
        if !titles.contains(&title) {
            titles.push(title);
        }
    };
    for attribute in attributes {
        let fields = attribute.iter().filter(|(name, value)| *name != UNKNOWN && is_cell(value));
        fields.for_each(|(name, _)| add(name.clone()));
    }
    // The labels come after the fields.
    for (view, _) in attributes.iter().flat_map(labels) {
        add(format!("label:{view}"));
    }
    if attributes.iter().any(|attribute| attribute.contains_key(OPTIONS)) {
        add(OPTIONS.to_owned());
    }
    let row = |attribute: &Map<String, Value>| titles.iter().map(|title| cell(attribute, title)).collect();
    let rows = attributes.iter().map(row).collect();
    let count = |has: fn(&Map<String, Value>) -> bool| attributes.iter().filter(|it| has(it)).count();
    let left_out = [
        ("labels of options in store views", count(has_labels_of_options)),
        ("validation rules", count(|it| it.contains_key("validation_rules"))),
        ("extension attributes", count(|it| it.contains_key("extension_attributes"))),
    ];
    Sheet { titles, rows, left_out: left_out.into_iter().filter(|(_, count)| *count > 0).collect() }
}

/// Whether a field fits in one cell: a value, or a list of texts.
fn is_cell(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Null => false,
        Value::Array(list) => !list.iter().any(Value::is_object) && !list.is_empty(),
        _ => true,
    }
}

fn labels(attribute: &Map<String, Value>) -> Vec<(String, &str)> {
    let labels = attribute.get(LABELS).and_then(Value::as_array).into_iter().flatten();
    let labels = labels.filter_map(|label| {
        let view = label["store_id"].as_str().map_or_else(|| label["store_id"].to_string(), str::to_owned);
        Some((view, label["label"].as_str()?))
    });
    labels.collect()
}

fn has_labels_of_options(attribute: &Map<String, Value>) -> bool {
    let options = attribute.get(OPTIONS).and_then(Value::as_array).into_iter().flatten();
    options.into_iter().any(|option| option.get("store_labels").is_some())
}

fn cell(attribute: &Map<String, Value>, title: &str) -> Cell {
    if let Some(view) = title.strip_prefix("label:") {
        let label = labels(attribute).into_iter().find(|(own, _)| own == view);
        return Cell::of(label.map_or("", |(_, label)| label));
    }
    match attribute.get(title) {
        None | Some(Value::Null | Value::Object(_)) => Cell::Plain(String::new()),
        Some(Value::Bool(flag)) => Cell::Plain(if *flag { "yes" } else { "no" }.to_owned()),
        Some(Value::Number(number)) => Cell::Plain(number.to_string()),
        Some(Value::String(text)) => Cell::of(text),
        Some(Value::Array(list)) if title == OPTIONS => options(list),
        Some(Value::Array(list)) => Cell::of(&joined(list.iter().filter_map(Value::as_str))),
    }
}

/// Labels as one cell, with a `*` before the default.
fn options(list: &[Value]) -> Cell {
    let label = |one: &Value| {
        let mark = if one["is_default"] == true { "*" } else { "" };
        let label = one["label"].as_str().unwrap_or_default();
        (!label.contains(['\n', '\r'])).then(|| format!("{mark}{}", option(label)))
    };
    let Some(labels) = list.iter().map(label).collect::<Option<Vec<_>>>() else { return Cell::Lost };
    let text = labels.join("|");
    // A text that is too long for a formula is kept from being read as one by an empty option, which is ignored.
    let is_long = text.chars().count() > MAX_FORMULA;
    let is_run = is_long && text.starts_with(['=', '+', '-', '@', '\'']);
    let text = if is_run { format!("|{text}") } else { text };
    if text.chars().count() > MAX_CELL { Cell::Lost } else { Cell::Value(text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sheet;
    use crate::sheet::cells::{Cell, options, written};

    #[test]
    fn an_attribute_is_a_row_in_the_columns_of_its_creation() {
        let attributes = json!([
            {"attribute_code": "fabric", "frontend_input": "select", "default_frontend_label": "Fabric",
                "frontend_labels": [{"store_id": "fr", "label": "Tissu"}], "is_required": false, "position": 3,
                "apply_to": [], "options": [{"label": "Silk"}, {"label": "A|B", "is_default": true,
                    "store_labels": [{"store_id": "fr", "label": "x"}]}], "attribute_set": ["Default/Content", "Gear"],
                "unknown": ["search_weight"]},
            {"attribute_code": "007", "frontend_input": "text", "default_frontend_label": "'90s", "is_required": true}]);
        let attributes: Vec<_> =
            attributes.as_array().unwrap().iter().map(|it| it.as_object().unwrap().clone()).collect();
        let sheet = sheet(&attributes);
        assert_eq!(
            sheet.titles,
            [
                "attribute_code",
                "frontend_input",
                "default_frontend_label",
                "is_required",
                "position",
                "attribute_set",
                "label:fr",
                "options"
            ]
        );
        let texts = |row: &[Cell]| -> Vec<String> {
            row.iter()
                .map(|cell| match cell {
                    Cell::Plain(text) => text.clone(),
                    Cell::Value(text) => written(text).into_owned(),
                    Cell::Lost => "-".to_owned(),
                })
                .collect()
        };
        assert_eq!(
            texts(&sheet.rows[0]),
            ["fabric", "select", "Fabric", "no", "3", "Default/Content|Gear", "Tissu", "Silk|*A\\|B"]
        );
        assert_eq!(texts(&sheet.rows[1]), ["=\"007\"", "text", "=\"'90s\"", "yes", "", "", "", ""]);
        assert_eq!(sheet.left_out, [("labels of options in store views", 1)]);
    }

    #[test]
    fn a_long_list_of_options_is_no_formula() {
        let labels: Vec<String> = (0..100).map(|at| format!("={at}")).collect();
        let list: Vec<_> = labels.iter().map(|label| json!({"label": label})).collect();
        let Cell::Value(text) = super::options(&list) else { panic!() };
        let cell = written(&text);
        assert!(cell.starts_with("|="), "{cell}");
        let read = options(&cell);
        let read: Vec<&str> =
            read.as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
        assert_eq!(read, labels);
    }
}
