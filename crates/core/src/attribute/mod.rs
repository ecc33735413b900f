//! Attribute sets, options and store views by their names, and the bodies of the calls on them.

pub mod compare;
pub mod export;
pub mod label;
pub mod rules;
pub mod view;

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::attribute::rules::label_problem;
use crate::attribute::view::Attribute;
use crate::check::field_names::FieldNames;
use crate::failure::Failure;
use crate::operation::scalar;
use crate::profile::path::List;
use crate::text::exact_json;
use crate::text::sanitize::quoted;
use crate::text::suggestion::closest_match;

/// Something of the shop that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its id, in digits.
    pub id: String,
    /// Its name, code or label.
    pub name: String,
}

impl Named {
    /// The elements of a list; those without an id are left out. `None` where one of the others has no name.
    pub fn list(elements: &[Value], id: &str, name: &str) -> Option<Vec<Self>> {
        let elements = elements.iter().filter_map(|one| Some((scalar(one.get(id))?, one)));
        elements.map(|(id, one)| Some(Self { id, name: one.get(name)?.as_str()?.to_owned() })).collect()
    }

    /// The elements with this label: those that are written exactly so, else those that differ in letter case only.
    pub fn with_label<'a>(list: &'a [Self], label: &str) -> Vec<&'a Self> {
        let all = |is_it: fn(&str, &str) -> bool| -> Vec<&'a Self> {
            list.iter().filter(|one| is_it(&one.name, label)).collect()
        };
        let exact = all(label::is_exact);
        if exact.is_empty() { all(label::is_same) } else { exact }
    }

    /// The one of this name, or the only one that differs from it in letter case.
    ///
    /// # Errors
    /// `usage` if it is missing, with the nearest name or all of them.
    pub fn find<'a>(list: &'a [Self], what: &str, name: &str) -> Result<&'a Self, Failure> {
        let exact = list.iter().find(|one| label::is_exact(&one.name, name));
        let mut same = list.iter().filter(|one| label::is_same(&one.name, name));
        let only = same.next().filter(|_| same.next().is_none());
        exact.or(only).ok_or_else(|| {
            // The names are in the message: a batch shows nothing else of a record.
            let names = || list.iter().map(|one| one.name.as_str());
            let near = closest_match(name, names()).map(|near| format!("did you mean {}?", quoted(near)));
            let known =
                near.unwrap_or_else(|| format!("the shop has: {}", names().collect::<Vec<_>>().join(", ")));
            Failure::usage(format!("unknown {what} {}; {known}", quoted(name)))
        })
    }
}

/// The attribute set that is meant by `NAME` or `NAME/GROUP`, and the name of the group. A name may hold a slash.
///
/// # Errors
/// `usage` for an unknown set.
pub fn split_set<'a>(text: &'a str, sets: &'a [Named]) -> Result<(&'a Named, Option<&'a str>), Failure> {
    Named::find(sets, "attribute set", text).map(|set| (set, None)).or_else(|unknown| {
        let mut splits = text.rmatch_indices('/').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let set = |(name, group)| Some((Named::find(sets, "attribute set", name).ok()?, Some(group)));
        splits.find_map(set).ok_or(unknown)
    })
}

/// End of the name of Magento's class that lists the options which are stored with their attribute; and as it was called
/// in a shop that was migrated from Magento 1.
const STORED_OPTIONS: [&str; 2] = ["Source\\Table", "attribute_source_table"];

/// Whether the options of an attribute are stored with it, and not listed by code of the shop.
pub fn has_stored_options(attribute: Attribute<'_>) -> bool {
    let source = attribute.text("source_model");
    source.is_empty() || STORED_OPTIONS.iter().any(|end| source.ends_with(end))
}

/// The field that has the id of the default option.
pub const DEFAULT: &str = "default_value";

/// The options of an attribute as the administrators' store view shows them.
#[derive(Debug, Clone)]
pub struct StoredOptions {
    id: Value,
    code: String,
    /// The options in their order, the blank one left out.
    pub options: Vec<Named>,
    /// Id of the default option.
    pub default: Option<String>,
}

impl StoredOptions {
    /// The options of an attribute as it was read.
    ///
    /// # Errors
    /// `usage` for another input type, where it is not known what a call on the options loses, and for options that are
    /// not stored with the attribute. `unavailable` for a reply without options.
    pub fn of(attribute: Attribute<'_>) -> Result<Self, Failure> {
        let code = attribute.code();
        let input = attribute.text("frontend_input");
        if input != "select" {
            return Err(Failure::usage(format!(
                "attribute `{code}` is of the type {}, not `select`",
                quoted(input)
            ))
            .hint("change the options of other types in the admin panel, which shows what is lost"));
        }
        if !has_stored_options(attribute) {
            let source = attribute.text("source_model");
            return Err(Failure::usage(format!("the options of attribute `{code}` are not stored with it"))
                .hint(format!(
                    "the shop's code `{source}` lists them; add them where that code has them from"
                )));
        }
        let options =
            attribute.0.get("options").and_then(|options| Named::list(options.as_array()?, "value", "label"));
        let unlike = || Failure::unexpected_reply("unexpected response: the attribute has no options");
        Ok(Self {
            id: attribute.0.get("attribute_id").cloned().unwrap_or_default(),
            code: code.to_owned(),
            options: options.ok_or_else(unlike)?,
            default: Some(attribute.text(DEFAULT).to_owned()).filter(|id| !id.is_empty()),
        })
    }

    /// The id of the attribute.
    pub fn id(&self) -> Option<String> {
        scalar(Some(&self.id))
    }

    /// The options and the default option as effects see them.
    pub fn document(&self) -> Map<String, Value> {
        let list = List::Options;
        let text = |text: &String| Value::from(text.as_str());
        let option = |option: &Named| {
            exact_json::object([(list.id_field(), text(&option.id)), ("label", text(&option.name))])
        };
        let options: Value = self.options.iter().map(option).collect();
        let default = self.default.as_ref().map_or(Value::Null, text);
        [(DEFAULT.to_owned(), default), (list.name().to_owned(), options)].into_iter().collect()
    }

    /// The option with this label.
    ///
    /// # Errors
    /// `usage` where several have it, with their ids.
    pub fn find(&self, label: &str) -> Result<Option<&Named>, Failure> {
        match Named::with_label(&self.options, label)[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            ref found => {
                let code = &self.code;
                let ids = found.iter().map(|option| option.id.as_str()).collect::<Vec<_>>().join(", ");
                let message =
                    format!("attribute `{code}` has several options with the label {}: {ids}", quoted(label));
                Err(Failure::usage(message).hint("rename all but one of them in the admin panel"))
            }
        }
    }

    /// Refuses a new label that Magento would take for another option's ID, and, unless it is `forced`, one that only looks like
    /// another option's.
    ///
    /// # Errors
    /// `usage`, with that option.
    pub fn refuse_taken(&self, label: &str, forced: bool) -> Result<(), Failure> {
        let number = label.parse::<f64>().ok();
        if let Some(taken) = self.options.iter().find(|one| number.is_some() && one.id.parse().ok() == number)
        {
            let message = format!(
                "the label {} is the ID of the option {}, and Magento refuses it",
                quoted(label),
                quoted(&taken.name)
            );
            return Err(Failure::usage(message).hint("choose another label, or leave this option out"));
        }
        match self.options.iter().find(|option| !forced && label::is_alike(&option.name, label)) {
            Some(option) => {
                let message = label::alike_in_words(&option.name, label);
                Err(Failure::usage(message)
                    .hint("write the label as the shop has it, or add it as another option with --force"))
            }
            None => Ok(()),
        }
    }

    /// The first option with this label; one that is written exactly so comes first.
    pub fn get(&self, label: &str) -> Option<&Named> {
        Named::with_label(&self.options, label).first().copied()
    }

    /// The option with this id.
    pub fn with_id(&self, id: &str) -> Option<&Named> {
        self.options.iter().find(|option| option.id == id)
    }

    /// Body of the one call that sets the default option and changes nothing else.
    pub fn default_body(&self, option: &str) -> String {
        json!({"attribute": {
            "attribute_id": self.id, "attribute_code": self.code, "frontend_input": "select",
            "default_value": option,
        }})
        .to_string()
    }
}

/// Refuses options that cannot be added.
///
/// # Errors
/// `usage`, with every problem. `forced` permits labels that only look like others.
pub fn check_new_options(asked: Attribute<'_>, names: &FieldNames, forced: bool) -> Result<(), Failure> {
    let options = asked.new_options();
    let is_unnamed = scalar(asked.0.get("attribute_code")).is_none();
    let mut problems = Vec::new();
    if is_unnamed {
        problems.push(format!("no attribute is named: {}", names.missing("attribute_code")));
    }
    if options.is_empty() {
        problems.push("no option is given".to_owned());
    }
    let mut seen = HashSet::new();
    for option in &options {
        let label = option.label();
        if label.is_empty() {
            problems.push("an option has no label".to_owned());
        } else if !seen.insert(label::key(label)) {
            problems.push(format!("the option {} is given twice", quoted(label)));
        }
        problems.extend(label_problem(label));
        if option.0.contains_key("value") {
            let value = names.quoted("options.value");
            problems.push(format!("the option `{label}` has a {value}, which is the ID of an existing one"));
        }
    }
    if options.iter().filter(|option| option.is_default()).count() > 1 {
        problems.push("two options are the default".to_owned());
    }
    let alike = label::alike(options.iter().map(|option| option.label())).filter(|_| !forced);
    problems.extend(alike.map(|(one, other)| label::alike_in_words(one, other)));
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::usage_problems(problems).hint(if options.is_empty() || is_unnamed {
        "name the attribute, and use --option or --options FILE.csv"
    } else {
        "correct the options, then run the command again"
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::view::Attribute;
    use super::{Named, StoredOptions, split_set};

    fn named(names: &[&str]) -> Vec<Named> {
        names.iter().map(|name| Named { id: "1".to_owned(), name: (*name).to_owned() }).collect()
    }

    #[test]
    fn a_set_is_known_by_its_whole_name_before_a_group_is_split_off() {
        let sets = named(&["Default", "Home/Kitchen", "Home"]);
        for (text, set, group) in [
            ("Default", "Default", None),
            ("Default/Content", "Default", Some("Content")),
            ("Home/Kitchen", "Home/Kitchen", None),
            ("Home/Kitchen/Content", "Home/Kitchen", Some("Content")),
            ("Home/Garden", "Home", Some("Garden")),
            ("Default/Size/Fit", "Default", Some("Size/Fit")),
        ] {
            let found = split_set(text, &sets).unwrap();
            assert_eq!((found.0.name.as_str(), found.1), (set, group), "{text}");
        }
        let refused = split_set("Defualt/Content", &sets).unwrap_err();
        let message = "unknown attribute set `Defualt/Content`; the shop has: Default, Home/Kitchen, Home";
        assert_eq!(refused.message, message);
        let refused = split_set("Defualt", &sets).unwrap_err();
        assert_eq!(refused.message, "unknown attribute set `Defualt`; did you mean `Default`?");
    }

    #[test]
    fn a_label_of_several_options_is_refused_where_it_is_named() {
        let attribute = json!({"attribute_id": 9, "attribute_code": "a", "frontend_input": "select",
            "default_value": "2", "options": [{"label": " ", "value": ""}, {"label": "Red", "value": "1"},
                {"label": "Blue", "value": "2"}, {"label": "Red ", "value": "3"}]});
        let stored = StoredOptions::of(Attribute(attribute.as_object().unwrap())).unwrap();
        assert_eq!((stored.options.len(), stored.default.as_deref()), (3, Some("2")));
        assert_eq!(stored.find(" Blue").unwrap().unwrap().id, "2");
        assert!(stored.find("Green").unwrap().is_none());
        assert!(stored.find("Red").unwrap_err().message.ends_with("`Red`: 1, 3"));
        for other in ["multiselect", "boolean", "text"] {
            let mut attribute = attribute.clone();
            attribute["frontend_input"] = other.into();
            assert!(StoredOptions::of(Attribute(attribute.as_object().unwrap())).is_err(), "{other}");
        }
        for (label, is_refused) in [("2", true), ("02", true), ("2.0", true), ("4", false), ("Ｂlue", true)]
        {
            assert_eq!(stored.refuse_taken(label, false).is_err(), is_refused, "{label}");
        }
        assert!(stored.refuse_taken("Ｂlue", true).is_ok() && stored.refuse_taken("2", true).is_err());
        assert_eq!(stored.find("bLUE").unwrap().unwrap().id, "2");
        for (source, is_refused) in [
            (r"Magento\Eav\Model\Entity\Attribute\Source\Table", false),
            (r"Magento\Catalog\Model\Product\Attribute\Source\Status", true),
        ] {
            let mut attribute = attribute.clone();
            attribute["source_model"] = source.into();
            let stored = StoredOptions::of(Attribute(attribute.as_object().unwrap()));
            assert_eq!(stored.is_err(), is_refused, "{source}");
        }
    }
}
