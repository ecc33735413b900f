//! The value at a place of an owner's document.

use serde_json::{Map, Value};

use crate::profile::path::{FieldPath, List, Step};

/// What a read shows of an owner: a JSON object.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a>(pub &'a Map<String, Value>);

impl<'a> Document<'a> {
    /// The elements of a list that have an id, in their order.
    pub fn elements(self, list: List) -> impl Iterator<Item = (i64, &'a Value)> {
        let elements = self.0.get(list.name()).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        elements.iter().filter_map(move |element| Some((list.id_of(element)?, element)))
    }

    /// The element of a list with this id.
    pub fn element(self, list: List, id: i64) -> Option<&'a Value> {
        self.elements(list).find(|(own, _)| *own == id).map(|(_, element)| element)
    }

    /// The value at a place; `None` where nothing is there.
    pub fn at(self, path: &FieldPath) -> Option<&'a Value> {
        let (first, rest) = path.steps().split_first()?;
        let Step::Member(name) = first else { return None };
        let list = List::named(name);
        rest.iter().try_fold(self.0.get(name)?, |value, step| match step {
            Step::Member(name) => value.get(name),
            Step::Address(id) => self.element(list?, id.0),
            Step::Element(id) => self.element(list?, *id),
            Step::New => None,
            Step::Code(code) => value
                .as_array()?
                .iter()
                .find(|one| one.get("attribute_code").and_then(Value::as_str) == Some(code)),
        })
    }
}
