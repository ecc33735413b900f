//! The titles of a CSV's columns: which field of the operation's input each one sets, read off the documented shapes.

use crate::plan::operation::Operation;
use crate::plan::operation::spec::{ColumnGroup, ColumnTable, NamedCell, NamedColumns};
use crate::plan::request::Dialect;
use crate::plan::validate::body::is_whole;
use crate::suggestion::closest_match;
use crate::wire::FieldType;

/// What the cells of a column are.
#[derive(Debug, Clone)]
pub enum Meaning {
    /// A field, by its path in the record.
    Member(Vec<&'static str>, FieldType),
    /// Which address the row changes, or that it adds one.
    AddressId,
    /// A flag that is sent as the text 1 or 0.
    NumericFlag(Vec<&'static str>),
    /// Something whose name is in the title, and that name.
    Named(&'static NamedColumns, String),
    /// Labels of options, `|` between them, a leading `*` for the default.
    Labels(&'static str),
    /// Not part of the document: the token, a placeholder's field.
    Extra,
    /// Why the record failed last time.
    Reason,
}

/// A column and the field it sets.
pub struct Known {
    pub title: String,
    path: Vec<&'static str>,
    holds: FieldType,
}

/// The column that says which address a row changes.
pub const ADDRESS_ID: &str = "address_id";

/// The titles a CSV of this operation may have, besides those that contain a name of the user's, such as `label:2`.
pub fn titles(dialect: &'static Dialect, operation: Operation) -> Vec<String> {
    known(dialect, operation).into_iter().map(|known| known.title).collect()
}

/// The same titles, each with the path of its member inside the wrapper; an address stands for the list of them.
pub fn paths(
    dialect: &'static Dialect,
    operation: Operation,
) -> impl Iterator<Item = (String, Vec<&'static str>)> {
    known(dialect, operation).into_iter().map(|known| (known.title, known.path))
}

/// The documented columns of an operation: the fields that hold no objects. Where two would have one title, the first
/// keeps it.
pub fn known(dialect: &'static Dialect, operation: Operation) -> Vec<Known> {
    let table = &operation.spec().columns;
    let mut known: Vec<Known> = Vec::new();
    let inner = operation.inner_schema(dialect);
    let has_field = |group: &&ColumnGroup| group.path.first().is_none_or(|name| inner.field(name).is_some());
    for group in table.groups.iter().filter(has_field) {
        for field in (group.schema)(dialect.fields).own_fields {
            let title = group.title(field.name);
            let is_leaf = !matches!(
                field.field_type,
                FieldType::Object(_) | FieldType::List(_) | FieldType::AnyObject | FieldType::AnyList
            );
            if is_leaf
                && !table.omitted.contains(&field.name)
                && known.iter().all(|other| other.title != title)
            {
                let path = group.path.iter().copied().chain([field.name]).collect();
                known.push(Known { title, path, holds: field.field_type });
            }
        }
    }
    known
}

/// The title as it is known, and what it means. A title that no known one equals may differ from one in letter case.
pub fn meaning(
    operation: Operation,
    title: &str,
    known: &[Known],
    extra: &[String],
) -> Option<(String, Meaning)> {
    let exact = known.iter().find(|known| known.title == title);
    let same = exact.or_else(|| known.iter().find(|known| known.title.eq_ignore_ascii_case(title)));
    if let Some(known) = same {
        let meaning = match known.title.as_str() {
            ADDRESS_ID => Meaning::AddressId,
            "is_searchable" => Meaning::NumericFlag(known.path.clone()),
            _ => Meaning::Member(known.path.clone(), known.holds),
        };
        return Some((known.title.clone(), meaning));
    }
    let is = |name: &str| title.eq_ignore_ascii_case(name);
    if let Some(name) =
        extra.iter().find(|name| *name == title).or_else(|| extra.iter().find(|name| is(name)))
    {
        return Some((name.clone(), Meaning::Extra));
    }
    if is("reason") {
        return Some(("reason".to_owned(), Meaning::Reason));
    }
    let table = &operation.spec().columns;
    if let Some(labels) = table.labels.filter(|labels| is(labels)) {
        return Some((labels.to_owned(), Meaning::Labels(labels)));
    }
    let named = table.named.as_ref()?;
    let (start, name) = title.split_at_checked(named.prefix.len())?;
    let name = name.trim();
    let is_name = match named.cell {
        NamedCell::Element { name: (_, FieldType::Integer), .. } => is_whole(name),
        _ => !name.is_empty(),
    };
    (start.eq_ignore_ascii_case(named.prefix) && is_name)
        .then(|| (format!("{}{name}", named.prefix), Meaning::Named(named, name.to_owned())))
}

/// The columns whose titles have a name of the user's in them, and those of every operation, for the hint.
pub fn more_titles(operation: Operation) -> String {
    let ColumnTable { named, labels, .. } = &operation.spec().columns;
    let labels = labels.map(|labels| format!(",{labels}")).unwrap_or_default();
    let named = named.as_ref().map(|named| format!(",{}{}", named.prefix, named.placeholder));
    format!("{}{labels},token,reason", named.unwrap_or_default())
}

/// What is wrong with a title that is not known.
pub fn unknown(title: &str, known: &[Known]) -> String {
    let named = known.iter().map(|known| known.title.as_str()).chain(["token", "reason", "options"]);
    let meant =
        closest_match(title, named).map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    format!("unknown column `{title}`{meant}")
}
