//! What the fields of a record are called where it was written: in a row of a table by the titles of its columns.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

/// The titles of the columns of a row, by the field that each sets. Any other record has none: its fields have the
/// names of the interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldNames {
    wrapper: Option<&'static str>,
    titles: Arc<BTreeMap<String, String>>,
}

impl FieldNames {
    /// The names of columns: the path of each field inside the body's wrapper, and the title as it is written.
    pub fn of_columns(
        wrapper: Option<&'static str>,
        columns: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        Self { wrapper, titles: Arc::new(columns.into_iter().collect()) }
    }

    /// What is wrong with the value of a field, with its place.
    pub fn at(&self, path: &str, what: impl Display) -> String {
        format!("{}: {what}", self.name(path))
    }

    /// The message for a field that has no value.
    pub fn missing(&self, path: &str) -> String {
        match self.title(path) {
            Some(title) => format!("column {title} is empty"),
            None => format!("{path} is missing"),
        }
    }

    /// A field as the subject of a message.
    pub fn name(&self, path: &str) -> String {
        self.title(path).map_or_else(|| path.to_owned(), |title| format!("column {title}"))
    }

    /// A field inside a message.
    pub fn quoted(&self, path: &str) -> String {
        self.title(path).map_or_else(|| format!("`{path}`"), |title| format!("column {title}"))
    }

    /// The title of the column that sets a field, or the list or object that the field is in.
    fn title(&self, path: &str) -> Option<&str> {
        if self.titles.is_empty() {
            return None;
        }
        let path = without_places(path);
        let inside = self.wrapper.and_then(|wrapper| path.strip_prefix(wrapper)?.strip_prefix('.'));
        let mut path = inside.unwrap_or(&path);
        loop {
            if let Some(title) = self.titles.get(path) {
                return Some(title);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }
}

/// A path without positions and ids of list elements, since a row has one address. Codes of attributes stay.
fn without_places(path: &str) -> String {
    let mut bare = String::new();
    let mut rest = path;
    while let Some((start, end)) = rest.find('[').zip(rest.find(']')).filter(|(start, end)| start < end) {
        let place = &rest[start + 1..end];
        let is_place = place.starts_with("id=") || place.bytes().all(|byte| byte.is_ascii_digit());
        bare.push_str(&rest[..if is_place { start } else { end + 1 }]);
        rest = &rest[end + 1..];
    }
    bare + rest
}

#[cfg(test)]
mod tests {
    use super::FieldNames;

    fn names() -> FieldNames {
        let titles = [
            ("customer", "Customer"),
            ("firstname", "FIRSTNAME"),
            ("addresses.street", "Street"),
            ("addresses.region.region_code", "Region-Code"),
            ("addresses.custom_attributes[floor]", "custom_attribute:floor"),
            ("options", "Options"),
        ];
        let titles = titles.map(|(path, title)| (path.to_owned(), title.to_owned()));
        FieldNames::of_columns(Some("customer"), titles)
    }

    #[test]
    fn a_field_of_a_row_has_the_title_of_its_column() {
        for (path, title) in [
            ("customer", "column Customer"),
            ("customer.firstname", "column FIRSTNAME"),
            ("firstname", "column FIRSTNAME"),
            ("customer.addresses[0].street[1]", "column Street"),
            ("addresses[id=12].region.region_code", "column Region-Code"),
            ("addresses[id=12].custom_attributes[floor]", "column custom_attribute:floor"),
            ("options[3].label", "column Options"),
        ] {
            assert_eq!(names().name(path), title);
            assert_eq!(FieldNames::default().name(path), path);
        }
    }

    #[test]
    fn a_field_without_a_column_has_its_own_name() {
        for path in
            ["customer.lastname", "addresses[0].city", "addresses[id=1].custom_attributes[door]", "[", "]["]
        {
            assert_eq!(names().name(path), path);
        }
        assert_eq!(names().missing("customer.lastname"), "customer.lastname is missing");
        assert_eq!(names().missing("customer.firstname"), "column FIRSTNAME is empty");
    }
}
