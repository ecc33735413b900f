//! Finds the stored address that a new one repeats.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::equivalence::is_equivalent;

/// A stored address with its id.
type Known<'a> = (i64, &'a Value);

/// The addresses of a list by the texts in them: many new addresses in a long list are each compared with few.
pub struct TwinIndex<'a> {
    list: Vec<Known<'a>>,
    /// By the field's name and its text; the names are those of the drafts so far.
    by_text: HashMap<String, HashMap<&'a str, Vec<Known<'a>>>>,
}

impl<'a> TwinIndex<'a> {
    /// An index of these addresses.
    pub fn new(list: impl Iterator<Item = (&'a i64, &'a Value)>) -> Self {
        Self { list: list.map(|(id, address)| (*id, address)).collect(), by_text: HashMap::new() }
    }

    /// The id of the first address that has every value that a draft names.
    pub fn find(&mut self, draft: &Map<String, Value>) -> Option<i64> {
        for (name, _) in draft.iter().filter(|(_, value)| distinctive_text(value).is_some()) {
            if !self.by_text.contains_key(name) {
                let index = self.index(name);
                self.by_text.insert(name.clone(), index);
            }
        }
        let with_same_text = |(name, value): (&String, &Value)| {
            let index = self.by_text.get(name)?;
            Some(index.get(distinctive_text(value)?).map_or(&[][..], Vec::as_slice))
        };
        let candidates = draft.iter().filter_map(with_same_text).min_by_key(|same| same.len());
        let mut candidates = candidates.unwrap_or(&self.list).iter();
        candidates.find(|(_, address)| is_twin(draft, address)).map(|(id, _)| *id)
    }

    fn index(&self, name: &str) -> HashMap<&'a str, Vec<Known<'a>>> {
        let mut index: HashMap<&str, Vec<Known<'a>>> = HashMap::new();
        for (id, address) in &self.list {
            if let Some(text) = address.get(name).and_then(distinctive_text) {
                index.entry(text).or_default().push((*id, address));
            }
        }
        index
    }
}

/// The text by which a value is found: only a value with the same text is equivalent to it. A number may be stored
/// as another text, and what may be a flag as no text at all.
fn distinctive_text(value: &Value) -> Option<&str> {
    const FLAGS: [&str; 2] = ["true", "false"];
    let text = match value {
        Value::Array(lines) => lines.first()?.as_str()?.trim(),
        value => value.as_str()?.trim(),
    };
    let is_distinctive = !text.is_empty() && text.parse::<f64>().is_err() && !FLAGS.contains(&text);
    is_distinctive.then_some(text)
}

/// Whether a stored address has every value that a draft names. The region id stands in two places.
fn is_twin(draft: &Map<String, Value>, address: &Value) -> bool {
    draft.iter().all(|(name, value)| {
        let elsewhere = if name == "region_id" { address.pointer("/region/region_id") } else { None };
        is_equivalent(name, Some(value), address.get(name).or(elsewhere))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{TwinIndex, is_twin};

    #[test]
    fn the_index_finds_what_a_comparison_with_each_address_finds() {
        let stored = [
            json!({"city": "Rome", "street": ["Via A", "2"], "postcode": 100, "fax": null}),
            json!({"city": " Rome ", "street": ["Via A "], "postcode": "100", "region": {"region_id": 7}}),
            json!({"city": 5, "street": "Via A", "custom_attributes": [{"attribute_code": "x", "value": "1"}]}),
            json!({"street": []}),
        ];
        let ids = [1, 2, 3, 4];
        let values = |name: &'static str, values: Vec<Value>| {
            values.into_iter().map(move |value| (name.to_owned(), value))
        };
        let fields: Vec<(String, Value)> =
            values("city", vec![json!("Rome"), json!("5"), json!(""), json!("Bonn")])
                .chain(values(
                    "street",
                    vec![json!(["Via A"]), json!(["Via A", "2"]), json!("Via A"), json!([])],
                ))
                .chain(values("postcode", vec![json!("100"), json!(100)]))
                .chain(values("region_id", vec![json!("7"), json!("north")]))
                .chain(values("fax", vec![json!("")]))
                .collect();
        for first in &fields {
            for second in &fields {
                let draft = [first.clone(), second.clone()].into_iter().collect();
                let mut list = ids.iter().zip(&stored);
                let expected = list.clone().find(|(_, address)| is_twin(&draft, address)).map(|(id, _)| *id);
                assert_eq!(TwinIndex::new(&mut list).find(&draft), expected, "{draft:?}");
            }
        }
    }
}
