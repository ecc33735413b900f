//! The titles of a CSV's columns: which field of the operation's input each one sets, read off the documented shapes.

use crate::plan::operation::Operation;
use crate::plan::request::Dialect;
use crate::plan::validate::body::is_whole;
use crate::suggestion::closest_match;
use crate::wire::{FieldType, ObjectSchema};

/// What the cells of a column are.
#[derive(Debug, Clone)]
pub enum Meaning {
    /// A field, by its path in the record.
    Member(Vec<String>, FieldType),
    /// Which address the row changes, or that it adds one.
    AddressId,
    /// A flag that is sent as the text 1 or 0.
    NumericFlag(Vec<String>),
    /// Label of an attribute in one store view.
    StoreLabel(String),
    /// Labels of an attribute's options, `|` between them, a leading `*` for the default.
    Options,
    /// Chosen value of one configurable attribute.
    ConfigurableOption(String),
    /// Custom attribute of an address.
    CustomAttribute(String),
    /// Not part of the document: the token, a placeholder's field.
    Beside,
    /// Why the record failed last time.
    Reason,
}

/// A column and the field it sets.
pub struct Known {
    pub title: String,
    path: Vec<String>,
    holds: FieldType,
}

/// The column that says which address a row changes.
pub const ADDRESS_ID: &str = "address_id";

/// The titles a CSV of this operation may have, besides those that contain a name of the user's, such as `label:2`.
pub fn titles(dialect: &'static Dialect, operation: Operation) -> Vec<String> {
    known(dialect, operation).into_iter().map(|known| known.title).collect()
}

/// The same titles, each with the path of its member inside the wrapper; an address stands for the list of them.
pub fn paths(dialect: &'static Dialect, operation: Operation) -> impl Iterator<Item = (String, Vec<String>)> {
    known(dialect, operation).into_iter().map(|known| (known.title, known.path))
}

/// The documented columns of an operation.
pub fn known(dialect: &'static Dialect, operation: Operation) -> Vec<Known> {
    let fields = dialect.fields;
    let mut known = Vec::new();
    match operation {
        Operation::QuoteAddItem => leaves(&mut known, fields.cart_item, &[], str::to_owned),
        Operation::AttributeCreate => leaves(&mut known, fields.attribute, &[], str::to_owned),
        Operation::CustomerUpdate => {
            leaves(&mut known, fields.customer, &[], str::to_owned);
            leaves(&mut known, fields.region, &["addresses", "region"], str::to_owned);
            leaves(&mut known, fields.address, &["addresses"], |name| match name {
                "id" => ADDRESS_ID.to_owned(),
                _ if fields.customer.field(name).is_some() => format!("address_{name}"),
                _ => name.to_owned(),
            });
            leaves(&mut known, fields.address_flags, &["addresses"], str::to_owned);
            // Which address is the default is the business of flags: the others must lose it.
            known.retain(|known| !known.title.starts_with("default_"));
        }
        Operation::QuoteShip => {
            for side in ["shipping_address", "billing_address"] {
                leaves(&mut known, fields.quote_address, &["addressInformation", side], |name| {
                    format!("{side}.{name}")
                });
            }
            leaves(&mut known, fields.address_information, &["addressInformation"], str::to_owned);
            if fields.shipping_information.field("billingAddress").is_some() {
                leaves(&mut known, fields.quote_address, &["billingAddress"], |name| {
                    format!("billingAddress.{name}")
                });
            }
        }
    }
    known
}

/// The fields of a shape that hold no objects. Where two would have one title, the first keeps it.
fn leaves(known: &mut Vec<Known>, shape: &ObjectSchema, within: &[&str], title: impl Fn(&str) -> String) {
    for member in shape.own_fields {
        let title = title(member.name);
        let is_leaf = !matches!(
            member.field_type,
            FieldType::Object(_) | FieldType::List(_) | FieldType::AnyObject | FieldType::AnyList
        );
        if is_leaf && known.iter().all(|other| other.title != title) {
            let path = within.iter().chain([&member.name]).map(|name| (*name).to_owned()).collect();
            known.push(Known { title, path, holds: member.field_type });
        }
    }
}

/// The title as it is known, and what it means. A title that no known one equals may differ from one in letter case.
pub fn meaning(
    operation: Operation,
    title: &str,
    known: &[Known],
    beside: &[String],
) -> Option<(String, Meaning)> {
    let exact = known.iter().find(|known| known.title == title);
    let same = exact.or_else(|| known.iter().find(|known| known.title.eq_ignore_ascii_case(title)));
    if let Some(known) = same {
        let meaning = match known.title.as_str() {
            ADDRESS_ID if operation == Operation::CustomerUpdate => Meaning::AddressId,
            "is_searchable" => Meaning::NumericFlag(known.path.clone()),
            _ => Meaning::Member(known.path.clone(), known.holds),
        };
        return Some((known.title.clone(), meaning));
    }
    let is = |name: &str| title.eq_ignore_ascii_case(name);
    if let Some(name) =
        beside.iter().find(|name| *name == title).or_else(|| beside.iter().find(|name| is(name)))
    {
        return Some((name.clone(), Meaning::Beside));
    }
    if is("reason") {
        return Some(("reason".to_owned(), Meaning::Reason));
    }
    if operation == Operation::AttributeCreate && is("options") {
        return Some(("options".to_owned(), Meaning::Options));
    }
    let named = |prefix: &str| {
        let (start, name) = title.split_at_checked(prefix.len())?;
        let name = name.trim();
        (start.eq_ignore_ascii_case(prefix) && !name.is_empty())
            .then(|| (format!("{prefix}{name}"), name.to_owned()))
    };
    match operation {
        Operation::AttributeCreate => {
            named("label:").filter(|(_, id)| is_whole(id)).map(|(title, id)| (title, Meaning::StoreLabel(id)))
        }
        Operation::QuoteAddItem => {
            named("option:").map(|(title, id)| (title, Meaning::ConfigurableOption(id)))
        }
        Operation::CustomerUpdate => {
            named("custom_attribute:").map(|(title, code)| (title, Meaning::CustomAttribute(code)))
        }
        Operation::QuoteShip => named("paymentMethod.").map(|(title, member)| {
            (title, Meaning::Member(vec!["paymentMethod".to_owned(), member], FieldType::Text))
        }),
    }
}

/// The columns whose titles have a name of the user's in them, for the hint.
pub fn more_titles(operation: Operation) -> &'static str {
    match operation {
        Operation::AttributeCreate => ",label:STORE_ID,options,token,reason",
        Operation::QuoteAddItem => ",option:OPTION_ID,token,reason",
        Operation::CustomerUpdate => ",custom_attribute:CODE,token,reason",
        Operation::QuoteShip => ",paymentMethod.FIELD,token,reason",
    }
}

/// What is wrong with a title that is not known.
pub fn unknown(title: &str, known: &[Known]) -> String {
    let named = known.iter().map(|known| known.title.as_str()).chain(["token", "reason", "options"]);
    let meant =
        closest_match(title, named).map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    format!("unknown column `{title}`{meant}")
}
