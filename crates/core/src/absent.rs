//! Recognizes what a service says is missing, by Magento's own messages, with or without their parameters filled in.
//! Any other 404 comes from a missing route, a gateway or another server, and says nothing about a record.

use serde_json::Value;

/// What was named, or is needed, and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// A list showed that no customer has the id or the email, or [`Self::Entity`] named the customer.
    Customer,
    /// A read showed that the customer has no active cart, or not the one that was named.
    Cart,
    /// A record with a value in a field; [`named_in`] gives both.
    Entity,
    /// An item of a cart; [`named_in`] gives the ids of cart and item.
    CartItem,
    /// The attribute of a code.
    Attribute,
    /// A country.
    Country,
    /// A product.
    Product,
    /// The shipping method of a carrier.
    ShippingMethod,
    /// A store view.
    Store,
    /// The call itself.
    Route,
}

/// Magento's messages. Where two begin alike, the longer one is first.
const MESSAGES: [(&str, Absent); 13] = [
    ("No such entity with %fieldName = %fieldValue, %field2Name = %field2Value", Absent::Entity),
    ("No such entity with %fieldName = %fieldValue", Absent::Entity),
    ("No such entity", Absent::Entity),
    ("The entity that was requested doesn't exist. Verify the entity and try again", Absent::Entity),
    ("Current customer does not have an active cart", Absent::Cart),
    ("The %1 Cart doesn't contain the %2 item", Absent::CartItem),
    (
        "The attribute with a \"%1\" attributeCode doesn't exist. Verify the attribute and try again",
        Absent::Attribute,
    ),
    ("The country isn't available", Absent::Country),
    ("The product that was requested doesn't exist. Verify the product and try again", Absent::Product),
    ("Carrier with such method not found: %1, %2", Absent::ShippingMethod),
    ("The store that was requested wasn't found. Verify the store and try again", Absent::Store),
    ("Requested store is not found", Absent::Store),
    ("Request does not match any route", Absent::Route),
];

impl Absent {
    /// What the body of a 404 says is not there; `None` for a body that says something else.
    pub fn said(body: Option<&Value>) -> Option<Self> {
        read(body).map(|(absent, _)| absent)
    }
}

/// The values of the first two placeholders of such a message: a field and its value, or the ids of a cart and an item.
/// A text is empty where the body does not say it.
pub fn named_in(body: Option<&Value>) -> [String; 2] {
    let said = read(body).map(|(_, said)| said).unwrap_or_default();
    [0, 1].map(|index| said.get(index).cloned().unwrap_or_default())
}

fn read(body: Option<&Value>) -> Option<(Absent, Vec<String>)> {
    let message = body?.get("message")?.as_str()?.trim().trim_end_matches('.');
    let parameters = body?.get("parameters").unwrap_or(&Value::Null);
    MESSAGES.iter().find_map(|(template, absent)| {
        let filled = captured(template, message)?;
        let said = placeholders(template).zip(filled).map(|(name, text)| {
            // A message that was not filled in has its parameters beside it.
            let is_template = text.strip_prefix('%') == Some(name);
            if is_template { parameter(parameters, name) } else { text.to_owned() }
        });
        Some((*absent, said.collect()))
    })
}

/// The names of the placeholders of a message, such as `1` and `fieldName`.
fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template.split('%').skip(1).map(|rest| &rest[..name_length(rest)])
}

fn name_length(rest: &str) -> usize {
    rest.find(|one: char| !one.is_ascii_alphanumeric()).unwrap_or(rest.len())
}

/// The texts in place of the placeholders; `None` if the message does not fit the template.
fn captured<'m>(template: &str, message: &'m str) -> Option<Vec<&'m str>> {
    let mut literals = template.split('%');
    let mut rest = message.strip_prefix(literals.next()?)?;
    let mut found = Vec::new();
    for literal in literals {
        let literal = &literal[name_length(literal)..];
        let end = if literal.is_empty() { rest.len() } else { rest.find(literal)? };
        found.push(&rest[..end]);
        rest = &rest[end + literal.len()..];
    }
    rest.is_empty().then_some(found)
}

/// The value of a placeholder, by its number or its name.
fn parameter(parameters: &Value, name: &str) -> String {
    let by_number = || parameters.get(name.parse::<usize>().ok()?.checked_sub(1)?);
    match parameters.get(name).or_else(by_number) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Absent, named_in};

    fn said(message: &str, parameters: Value) -> Option<(Absent, [String; 2])> {
        let body = json!({"message": message, "parameters": parameters});
        Absent::said(Some(&body)).map(|absent| (absent, named_in(Some(&body))))
    }

    fn is(absent: Absent, first: &str, second: &str) -> (Absent, [String; 2]) {
        (absent, [first.to_owned(), second.to_owned()])
    }

    #[test]
    fn a_template_and_the_text_of_it_say_the_same() {
        let template = "No such entity with %fieldName = %fieldValue";
        let address = Some(is(Absent::Entity, "addressId", "7"));
        assert_eq!(said(template, json!({"fieldName": "addressId", "fieldValue": 7})), address);
        assert_eq!(said("No such entity with addressId = 7.", Value::Null), address);
        let two = "No such entity with %fieldName = %fieldValue, %field2Name = %field2Value";
        let email = Some(is(Absent::Entity, "email", "a@b"));
        let parameters = json!({"fieldName": "email", "fieldValue": "a@b", "field2Name": "websiteId"});
        assert_eq!(said(two, parameters), email);
        assert_eq!(said("No such entity with email = a@b, websiteId = 1", Value::Null), email);
        let unnamed = Some(is(Absent::Entity, "", ""));
        assert_eq!(said(template, Value::Null), unnamed, "a message without its parameters");
        assert_eq!(said("No such entity.", Value::Null), unnamed);
        let item = Some(is(Absent::CartItem, "7", "1"));
        assert_eq!(said("The %1 Cart doesn't contain the %2 item.", json!([7, "1"])), item);
        assert_eq!(said("The 7 Cart doesn't contain the 1 item.", Value::Null), item);
    }

    #[test]
    fn another_text_says_nothing() {
        for message in ["no", "", "Not Found", "The requested page No such entity", "No such entity here"] {
            assert_eq!(said(message, Value::Null), None, "{message}");
        }
        assert_eq!(Absent::said(Some(&json!("No such entity"))), None);
        assert_eq!(Absent::said(None), None);
    }
}
