//! Which value a shop's refusal of a profile is about.
//!
//! A message is only understood if all of its sentences are known: a word such as "city" in any other message means
//! nothing. Changes of the command come first. A stored value is named only if the sentence itself states the rule that
//! refuses it, because a named value may be corrected by hand.

use serde_json::{Map, Value};

use super::address::{address_list, addresses_by_id, find_address, join_ids};
use super::diff::{self, FieldChange};
use super::equal::same_value;
use crate::check::country::Country;
use crate::hint::{Hint, hint, storefront};
use crate::id::AddressId;
use crate::lint::flag_of;
use crate::text::sanitize::quoted;

/// The beginning of the message of a refusal.
const ANSWERED: &str = "the service answered 400 Bad Request: ";
/// The beginning of a message with several sentences.
const SEVERAL: &str = "One or more input exceptions have occurred";
/// Characters between sentences.
const BETWEEN: [char; 4] = [' ', ';', '.', ':'];

/// The required fields, with the label in the shop's messages about stored values, and the name in those about sent
/// ones. A postcode is required in some countries only.
const REQUIRED: [(&str, &str, &str); 8] = [
    ("firstname", "First Name", "firstname"),
    ("lastname", "Last Name", "lastname"),
    ("street", "Street Address", "street"),
    ("city", "City", "city"),
    ("telephone", "Phone Number", "telephone"),
    ("postcode", "Zip/Postal Code", "postcode"),
    ("country_id", "Country", "countryId"),
    ("email", "Email", "email"),
];

/// Fields that the shop checks against its lists, with their names in its messages.
const LISTED: [(&str, &str); 2] = [("country_id", "countryId"), ("region_id", "regionId")];

/// Whether a sentence says that a character may be in a value.
type Says = fn(char) -> bool;

/// The sentences about characters, of all versions, with the rule that they state, if they state one. Letters and marks
/// of any script pass where a sentence says `A-Z`: the shop accepts them.
const CHARACTERS: [(&str, &str, Option<Says>); 8] = [
    ("First Name is not valid!", "firstname", None),
    ("Last Name is not valid!", "lastname", None),
    ("Middle Name is not valid!", "middlename", None),
    (
        "Invalid City. Please use A-Z, a-z, 0-9, -, ', spaces",
        "city",
        Some(|it| is_of_words(it) || "-'".contains(it)),
    ),
    (
        "Invalid City. Please use letters, numbers, spaces, and the following characters: - _ ' ’ . , & ( ) /",
        "city",
        Some(|it| is_of_words(it) || "-_'’.,&()/".contains(it)),
    ),
    (
        "Invalid Phone Number. Please use 0-9, +, -, (, ) and space",
        "telephone",
        Some(|it| it.is_numeric() || it.is_whitespace() || "+-()".contains(it)),
    ),
    (
        "Invalid Phone Number. Please use 0-9, +, -, (, ), ., / and space",
        "telephone",
        Some(|it| it.is_numeric() || it.is_whitespace() || "+-()./".contains(it)),
    ),
    ("Invalid Street Address. The street address contains invalid characters", "street", None),
];

/// A letter, mark, digit or blank. Other characters that are not ASCII are left to the shop.
fn is_of_words(it: char) -> bool {
    it.is_alphanumeric() || it.is_whitespace() || !it.is_ascii() && !"’‘“”".contains(it)
}

/// What a sentence says of a field.
enum Rule {
    /// It must not be empty.
    Needed,
    /// At most this number of lines.
    Lines(usize),
    /// This value is not in the shop's list.
    Unlisted(String),
    /// Its characters, and the rule if the sentence states one.
    Characters(Option<Says>),
}

/// A sentence of a refusal.
struct Sentence {
    field: &'static str,
    rule: Rule,
}

/// An explained refusal.
#[derive(Debug)]
pub struct Explained {
    /// What to do.
    pub hint: Hint,
    /// Whether a stored value must be corrected before the same command is sent again.
    pub is_stored: bool,
}

impl Explained {
    /// What the command sends must be corrected.
    fn carried(hint: Hint) -> Self {
        Self { hint, is_stored: false }
    }

    /// A stored value must be corrected first.
    fn stored(hint: Hint) -> Self {
        Self { hint, is_stored: true }
    }
}

/// Explains a refusal with a hint. `stored` is the profile as it was read, `sent` the merged one; `removes_by_call`
/// says whether a command that only removes addresses needs no PUT. `None` if the message does not say what is refused.
pub fn explain(
    stored: &Map<String, Value>,
    sent: &Map<String, Value>,
    message: &str,
    removes_by_call: bool,
) -> Option<Explained> {
    if let Some(hint) = gone_options(message) {
        return Some(Explained::carried(hint));
    }
    let sentences = sentences(message)?;
    of_changes(&sentences, &diff::customers(stored, sent))
        .or_else(|| of_removals(&sentences, stored, sent).filter(|_| removes_by_call))
        .or_else(|| of_stored_addresses(&sentences, stored))
        .or_else(|| of_any_update(&sentences, stored))
}

/// What the command itself changed is at fault.
fn of_changes(sentences: &[Sentence], changes: &[FieldChange]) -> Option<Explained> {
    let clauses = |sentence: &Sentence| -> Vec<Clause> {
        changes.iter().filter_map(|change| sentence.of_change(change)).collect()
    };
    let own: Vec<Clause> = sentences.iter().flat_map(clauses).collect();
    let hint = || format!("{}; correct it in the same command", joined(&own)).into();
    (!own.is_empty()).then(|| Explained::carried(hint()))
}

/// A stored address that the command removes is at fault: it can be removed in a command of its own.
fn of_removals(
    sentences: &[Sentence],
    stored: &Map<String, Value>,
    sent: &Map<String, Value>,
) -> Option<Explained> {
    let removed = removed_first(sentences, stored, sent);
    let remove = storefront("customer update --remove-address");
    let hint = || {
        hint!(
            "the shop checks the stored addresses first: remove ",
            join_ids(&removed),
            " in a command of its own, with ",
            removed.iter().fold(remove, |remove, id| remove.arg(id.to_string()))
        )
    };
    (!removed.is_empty()).then(|| Explained::stored(hint()))
}

/// What stored addresses have that no update of this program can correct.
fn of_stored_addresses(sentences: &[Sentence], stored: &Map<String, Value>) -> Option<Explained> {
    let found = in_addresses(sentences, stored, |sentence| !sentence.is_of_list());
    let hint = || {
        hint!(
            format!("the shop checks the stored addresses first, and {}: look with ", joined(&found)),
            storefront("customer show"),
            ", and correct it in the admin panel; the shop takes no update before"
        )
    };
    (!found.is_empty()).then(|| Explained::stored(hint()))
}

/// What any update can correct: a value that the list lacks, and what is missing of the account.
fn of_any_update(sentences: &[Sentence], stored: &Map<String, Value>) -> Option<Explained> {
    let mut found = in_addresses(sentences, stored, Sentence::is_of_list);
    let is_missing = |sentence: &&Sentence| {
        matches!(sentence.rule, Rule::Needed)
            && stored.contains_key(sentence.field)
            && is_empty(stored.get(sentence.field))
    };
    let missing = sentences.iter().filter(is_missing);
    found.extend(missing.map(|sentence| (sentence.field.to_owned(), "is empty".to_owned())));
    let hint = || {
        let what = format!("{}: look with ", joined(&found));
        hint!(what, storefront("customer show"), ", and correct it in the same command")
    };
    (!found.is_empty()).then(|| Explained::carried(hint()))
}

/// What the sentences of one kind say of stored addresses.
fn in_addresses(
    sentences: &[Sentence],
    stored: &Map<String, Value>,
    is_kind: impl Fn(&Sentence) -> bool,
) -> Vec<Clause> {
    let of_sentence = |sentence: &Sentence| -> Vec<Clause> {
        let addresses = addresses_by_id(address_list(stored));
        let clause =
            |(id, address): (_, &Value)| sentence.of_stored(&format!("address {id}"), address.as_object()?);
        addresses.filter_map(clause).collect()
    };
    sentences.iter().filter(|sentence| is_kind(sentence)).flat_map(of_sentence).collect()
}

/// The addresses that the message is about, if the command was to remove all of them.
fn removed_first(
    sentences: &[Sentence],
    stored: &Map<String, Value>,
    sent: &Map<String, Value>,
) -> Vec<AddressId> {
    let is_meant = |address: &Value| {
        let address = address.as_object();
        let says =
            |sentence: &Sentence| address.and_then(|address| sentence.of_stored("", address)).is_some();
        sentences.iter().any(says)
    };
    let meant = addresses_by_id(address_list(stored)).filter(|(_, address)| is_meant(address));
    let meant: Vec<AddressId> = meant.map(|(id, _)| id).collect();
    if meant.iter().all(|id| find_address(sent, *id).is_none()) { meant } else { Vec::new() }
}

/// What is wrong: a subject with its verb, and its object.
type Clause = (String, String);

/// Joins clauses; the objects of one subject and verb are put together.
fn joined(clauses: &[Clause]) -> String {
    let mut rows: Vec<Clause> = Vec::new();
    for (subject, said) in clauses {
        match rows.iter_mut().find(|row| row.0 == *subject) {
            Some(row) => row.1 += &format!(", {said}"),
            None => rows.push((subject.clone(), said.clone())),
        }
    }
    let rows = rows.into_iter().map(|(subject, said)| format!("{subject} {said}"));
    rows.collect::<Vec<_>>().join(", ")
}

/// The hint for stored custom attributes with options that the shop has deleted: it then refuses every update.
fn gone_options(message: &str) -> Option<Hint> {
    let said = message.strip_prefix(ANSWERED).unwrap_or(message).strip_prefix("Attribute ")?;
    let code = |one: &str| Some(one.split_once(" does not contain option with Id ")?.0.to_owned());
    let codes = said.split("Attribute ").map(code).collect::<Option<Vec<_>>>()?;
    let with = codes.iter().map(|code| format!("{code}=OPTION")).collect::<Vec<_>>().join(" ");
    Some(
        format!(
            "the shop has deleted an option that is stored: add --custom-attribute {with} to the command, or leave out OPTION to \
             clear it"
        )
        .into(),
    )
}

/// The sentences of a message; `None` if one is not known.
fn sentences(message: &str) -> Option<Vec<Sentence>> {
    let mut rest = message.strip_prefix(ANSWERED).unwrap_or(message);
    rest = rest.strip_prefix(SEVERAL).unwrap_or(rest);
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches(BETWEEN);
        if rest.is_empty() {
            return Some(found);
        }
        let (sentence, after) = first(rest)?;
        if !(after.is_empty() || after.starts_with(BETWEEN)) {
            return None;
        }
        found.push(sentence);
        rest = after;
    }
}

/// The first sentence of a text, and what comes after it.
fn first(text: &str) -> Option<(Sentence, &str)> {
    // One sentence may be the beginning of another: the longest match counts.
    let known = CHARACTERS.iter().filter_map(|known| Some((known, text.strip_prefix(known.0)?)));
    if let Some(((_, field, says), after)) = known.min_by_key(|(_, after)| after.len()) {
        return Some((Sentence { field, rule: Rule::Characters(*says) }, after));
    }
    if let Some(after) = text.strip_prefix("Invalid value of \"") {
        let (value, after) = after.split_once("\" provided for the ")?;
        let (field, name) = LISTED.into_iter().find(|(_, name)| after.starts_with(name))?;
        let after = after.strip_prefix(name)?.strip_prefix(" field")?;
        return Some((Sentence { field, rule: Rule::Unlisted(value.to_owned()) }, after));
    }
    let (named, after) = text.strip_prefix('"')?.split_once('"')?;
    if let Some(after) = after.strip_prefix(" cannot contain more than ") {
        let (number, after) = after.split_once(" lines")?;
        return Some((Sentence { field: "street", rule: Rule::Lines(number.parse().ok()?) }, after));
    }
    let is_named = |(_, label, name): &(&str, &str, &str)| named == *label || named == *name;
    let (field, ..) = REQUIRED.into_iter().find(is_named)?;
    let after = after.strip_prefix(" is a required value").or_else(|| {
        let after = after.strip_prefix(" is required")?;
        Some(after.strip_prefix(". Enter and try again").unwrap_or(after))
    })?;
    Some((Sentence { field, rule: Rule::Needed }, after))
}

impl Sentence {
    /// Whether the shop looked for a value in a list that does not have it.
    fn is_of_list(&self) -> bool {
        matches!(self.rule, Rule::Unlisted(_))
    }

    /// What it says of a change of the command, where it may be about that.
    fn of_change(&self, change: &FieldChange) -> Option<Clause> {
        let after = change.after.as_ref();
        if change.path.is_new_address() {
            let value = after.and_then(|address| address.get(self.field));
            return self.of_value("the new address", value, &flag_of(self.field));
        }
        let subject = match change.path.address_id() {
            Some(id) if change.path.inside() == self.field => format!("address {id}"),
            None if change.path.to_string() == self.field => "the account".to_owned(),
            _ => return None,
        };
        let flag = match change.path.address_id() {
            Some(_) => flag_of(self.field),
            None => format!("--{}", self.field),
        };
        self.of_value(&subject, after, &flag)
    }

    /// The clause about a value that the command sets.
    fn of_value(&self, subject: &str, value: Option<&Value>, flag: &str) -> Option<Clause> {
        match &self.rule {
            Rule::Characters(_) if !is_empty(value) => {
                Some((format!("the new {} of {subject} is", self.field), quoted(shown(value))))
            }
            Rule::Needed if is_empty(value) => Some((format!("{subject} needs"), flag.to_owned())),
            _ => self.clause(subject, value),
        }
    }

    /// The clause about a stored address, if the sentence says that the shop refuses it.
    fn of_stored(&self, subject: &str, address: &Map<String, Value>) -> Option<Clause> {
        let value = address.get(self.field);
        match &self.rule {
            Rule::Characters(Some(says)) if shown(value).chars().any(|it| !says(it)) => {
                Some((format!("{subject} has the {}", self.field), quoted(shown(value))))
            }
            Rule::Needed if self.field != "email" && is_empty(value) && self.is_needed_in(address) => {
                Some((format!("{subject} needs"), self.field.to_owned()))
            }
            _ => self.clause(subject, value),
        }
    }

    /// The clause about a value, whoever set it.
    fn clause(&self, subject: &str, value: Option<&Value>) -> Option<Clause> {
        match &self.rule {
            Rule::Lines(most) => {
                let lines = value.and_then(Value::as_array).map_or(0, Vec::len);
                (lines > *most).then(|| (format!("{subject} has"), format!("{lines} street lines")))
            }
            Rule::Unlisted(refused) if shown(value) == *refused => {
                Some((format!("{subject} has the {}", self.field), quoted(refused)))
            }
            _ => None,
        }
    }

    /// Whether the country of an address needs the field.
    fn is_needed_in(&self, address: &Map<String, Value>) -> bool {
        let country = address.get("country_id").and_then(Value::as_str).and_then(Country::find);
        self.field != "postcode" || country.is_none_or(|country| country.requires_postcode())
    }
}

/// A value as the shop's messages show it.
fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => {
            lines.iter().map(|line| shown(Some(line))).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Array(lines)) => lines.iter().all(|line| is_empty(Some(line))),
        value => same_value("", value, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::explain;

    fn said(stored: &Value, sent: &Value, message: &str) -> String {
        let hint = explain(stored.as_object().unwrap(), sent.as_object().unwrap(), message, false);
        hint.map(|explained| explained.hint.to_string()).unwrap_or_default()
    }

    /// A customer with one address, 3.
    fn customer(changed: &Value) -> Value {
        let mut address = json!({"id": 3, "firstname": "A", "lastname": "B", "street": ["x"], "city": "C",
            "telephone": "1", "postcode": "2", "country_id": "US"});
        address.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        json!({"firstname": "A", "lastname": "B", "email": "c", "addresses": [address]})
    }

    const CITY: &str = "Invalid City. Please use A-Z, a-z, 0-9, -, ', spaces";
    const NEWER_CITY: &str = "Invalid City. Please use letters, numbers, spaces, and the following characters: - _ ' ’ . , & ( ) /";
    const PHONE: &str = "Invalid Phone Number. Please use 0-9, +, -, (, ) and space.";
    const NEWER_PHONE: &str = "Invalid Phone Number. Please use 0-9, +, -, (, ), ., / and space.";

    #[test]
    fn an_option_that_is_gone_is_named_with_what_sets_it() {
        let said = |message: &str| said(&customer(&json!({})), &customer(&json!({})), message);
        let one = "Attribute tier does not contain option with Id 24";
        assert_eq!(
            said(&format!(
                "the service answered 400 Bad Request: {one}\nAttribute hobby does not contain option with Id 5"
            )),
            "the shop has deleted an option that is stored: add --custom-attribute tier=OPTION hobby=OPTION to the command, or \
             leave out OPTION to clear it"
        );
        assert_eq!(said(&format!("{one} Attribute is unknown")), "");
    }

    #[test]
    fn a_stored_value_is_named_where_the_sentence_says_that_it_refuses_it() {
        let whole = |what: &str| {
            format!(
                "the shop checks the stored addresses first, and {what}: look with `storefront customer show`, and \
                 correct it in the admin panel; the shop takes no update before"
            )
        };
        for (field, value, message, what) in [
            ("telephone", json!(""), "\"Phone Number\" is a required value.", "address 3 needs telephone"),
            (
                "street",
                json!(["x", "y", "z"]),
                "\"Street Address\" cannot contain more than 2 lines.",
                "address 3 has 3 street lines",
            ),
            ("city", json!("St. Louis"), CITY, "address 3 has the city `St. Louis`"),
            ("telephone", json!("050/11.22"), PHONE, "address 3 has the telephone `050/11.22`"),
            ("telephone", json!("ext. 12"), NEWER_PHONE, "address 3 has the telephone `ext. 12`"),
        ] {
            let stored = customer(&json!({field: value}));
            let mut sent = stored.clone();
            sent["firstname"] = "Other".into();
            let message = format!("the service answered 400 Bad Request: {message}");
            assert_eq!(said(&stored, &sent, &message), whole(what));
        }
    }

    /// Whoever follows a hint about the wrong address may lose it.
    #[test]
    fn what_a_sentence_takes_or_does_not_say_is_blamed_on_no_stored_address() {
        for (field, value, message) in [
            ("city", "St. Louis", NEWER_CITY),
            ("city", "Saint-Étienne", CITY),
            ("telephone", "050/11.22", NEWER_PHONE),
            ("firstname", "Ann (office)", "First Name is not valid!"),
            ("street", "c/o: B", "Invalid Street Address. The street address contains invalid characters."),
            ("city", "St. Louis", "The city is not valid"),
            ("city", "St. Louis", "Invalid City. Please use Latin letters"),
            ("telephone", "", "the phone number cannot be checked"),
            (
                "telephone",
                "ext. 12",
                "Invalid Phone Number. Please use 0-9, +, -, (, ) and space. Or call us",
            ),
            ("postcode", "", "the email is not valid"),
        ] {
            let stored = customer(&json!({field: value}));
            assert_eq!(said(&stored, &stored, message), "", "{message}");
        }
        let stored = customer(&json!({"postcode": "", "country_id": "HK"}));
        assert_eq!(said(&stored, &stored, "\"Zip/Postal Code\" is a required value."), "");
    }

    #[test]
    fn what_the_command_changed_is_named_before_what_is_stored() {
        let stored =
            customer(&json!({"firstname": "Ann (office)", "telephone": "050/11.22", "city": "St. Louis"}));
        let changed = |place: &str, field: &str, value: Value| {
            let mut sent = stored.clone();
            let owner = if place.is_empty() { &mut sent } else { &mut sent["addresses"][0] };
            owner[field] = value;
            sent
        };
        for (place, field, value, message, what) in [
            (
                "",
                "firstname",
                "Amina (VIP)",
                "First Name is not valid!",
                "the new firstname of the account is `Amina (VIP)`",
            ),
            ("3", "telephone", "n/a", PHONE, "the new telephone of address 3 is `n/a`"),
            ("3", "city", "Paris 2e", CITY, "the new city of address 3 is `Paris 2e`"),
            (
                "3",
                "postcode",
                "",
                "\"postcode\" is required. Enter and try again.",
                "address 3 needs --postcode",
            ),
        ] {
            let sent = changed(place, field, value.into());
            assert_eq!(said(&stored, &sent, message), format!("{what}; correct it in the same command"));
        }
        let mut sent = stored.clone();
        sent["addresses"].as_array_mut().unwrap().push(json!({"city": "Bonn", "street": ["x", "y", "z"]}));
        assert_eq!(
            said(&stored, &sent, "\"lastname\" is required. \"countryId\" is required."),
            "the new address needs --address-lastname, --country; correct it in the same command"
        );
        assert_eq!(
            said(&stored, &sent, "\"Street Address\" cannot contain more than 2 lines."),
            "the new address has 3 street lines; correct it in the same command"
        );
    }

    #[test]
    fn a_stored_name_country_or_region_is_corrected_by_an_update() {
        let look = "look with `storefront customer show`, and correct it in the same command";
        let name = json!({"lastname": "", "addresses": []});
        let message = "\"Last Name\" is a required value.";
        assert_eq!(said(&name, &name, message), format!("lastname is empty: {look}"));
        let stored = customer(&json!({"country_id": "XX", "region_id": 81}));
        for (field, value, named) in [("regionId", "81", "region_id"), ("countryId", "XX", "country_id")] {
            let message = format!("Invalid value of \"{value}\" provided for the {field} field.");
            assert_eq!(
                said(&stored, &stored, &message),
                format!("address 3 has the {named} `{value}`: {look}")
            );
        }
    }
}
