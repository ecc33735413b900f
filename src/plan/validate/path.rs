//! Where a value is in a body.

use std::fmt;

/// One step from a body down to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A field of an object.
    Field(String),
    /// An element of a list, from 0.
    Element(usize),
}

/// A value while its body is walked. Most bodies have nothing to report: only then are the steps copied.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    above: Option<&'p Path<'p>>,
    here: Here<'p>,
}

#[derive(Clone, Copy)]
enum Here<'p> {
    Field(&'p str),
    Element(usize),
}

impl<'p> Path<'p> {
    /// A field of what is at `above`; of the body itself where that is `None`.
    pub(super) fn field(above: Option<&'p Self>, name: &'p str) -> Self {
        Self { above, here: Here::Field(name) }
    }

    /// An element of the list at `above`.
    pub(super) fn element(above: Option<&'p Self>, index: usize) -> Self {
        Self { above, here: Here::Element(index) }
    }

    /// The steps from the top of the body.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = self.above.map(Self::steps).unwrap_or_default();
        steps.push(match self.here {
            Here::Field(name) => Step::Field(name.to_owned()),
            Here::Element(index) => Step::Element(index),
        });
        steps
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&path_of(&self.steps()))
    }
}

/// A path as messages name it: `customer.addresses[0].city`. A long name is cut.
pub fn path_of(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Field(name) => path = child_path(&path, name),
            Step::Element(index) => path.extend(["[", &index.to_string(), "]"]),
        }
    }
    path
}

/// The path of a field, a long name cut.
fn child_path(path: &str, name: &str) -> String {
    const LONGEST: usize = 60;
    let end = name.char_indices().nth(LONGEST).map_or(name.len(), |(end, _)| end);
    let cut = if end < name.len() { "…" } else { "" };
    let dot = if path.is_empty() { "" } else { "." };
    format!("{path}{dot}{}{cut}", &name[..end])
}
