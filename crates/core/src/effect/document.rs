//! The value at a place of an owner's document.

use std::collections::HashMap;

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
        self.at_with(path, |list, id| self.element(list, id))
    }

    fn at_with(
        self,
        path: &FieldPath,
        element: impl Fn(List, i64) -> Option<&'a Value>,
    ) -> Option<&'a Value> {
        let (first, rest) = path.steps().split_first()?;
        let Step::Member(name) = first else { return None };
        let list = List::named(name);
        rest.iter().try_fold(self.0.get(name)?, |value, step| match step {
            Step::Member(name) => value.get(name),
            Step::Address(id) => element(list?, id.0),
            Step::Element(id) => element(list?, *id),
            Step::New => None,
            Step::Code(code) => value
                .as_array()?
                .iter()
                .find(|one| one.get("attribute_code").and_then(Value::as_str) == Some(code)),
        })
    }
}

/// A document in which many elements are looked for.
pub(super) struct Indexed<'a> {
    pub(super) document: Document<'a>,
    elements: HashMap<(List, i64), &'a Value>,
}

impl<'a> Indexed<'a> {
    pub(super) fn of(document: &'a Map<String, Value>) -> Self {
        let document = Document(document);
        let of_list = |list: List| document.elements(list).map(move |(id, element)| ((list, id), element));
        Self { document, elements: List::ALL.into_iter().flat_map(of_list).collect() }
    }

    pub(super) fn element(&self, list: List, id: i64) -> Option<&'a Value> {
        self.elements.get(&(list, id)).copied()
    }

    pub(super) fn at(&self, path: &FieldPath) -> Option<&'a Value> {
        self.document.at_with(path, |list, id| self.element(list, id))
    }
}
