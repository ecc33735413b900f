//! The customer whom a record of a batch names.

use std::cell::Cell;

use serde_json::Value;

use crate::failure::Failure;

/// A member or column that names the customer, by id or email.
pub const CUSTOMER_FIELD: &str = "customer";

/// A customer's id or email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomerName {
    /// By id.
    Id(u64),
    /// By email, in lower case.
    Email(String),
}

impl CustomerName {
    /// Takes what stands in a record.
    ///
    /// # Errors
    /// `usage` for what is neither an id nor an email.
    pub fn new(value: &Value) -> Result<Self, Failure> {
        let text = match value {
            Value::String(text) => text.trim().to_lowercase(),
            other => other.to_string(),
        };
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) if text.contains('@') => Ok(Self::Email(text)),
            Err(_) => Err(Failure::usage(format!("customer: {value} is neither a customer ID nor an email"))),
        }
    }

    /// The name as `--customer` takes it.
    pub fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Email(email) => email.clone(),
        }
    }

    /// The same for records of one customer.
    pub fn key(&self) -> String {
        self.text()
    }
}

/// How the records of a batch name their customers: all of them in the same way.
///
/// Ids and emails of one file may be the same customers, whose records would then lose their order. A record without a
/// customer is for the token's own, so that an empty cell among names would change the wrong customer.
#[derive(Debug, Default)]
pub struct CustomerNaming(Cell<Option<Naming>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// Not at all: the token decides.
    None,
    Id,
    Email,
}

impl CustomerNaming {
    /// Whether the records so far name customers.
    pub fn names_customers(&self) -> bool {
        self.0.get().is_some_and(|naming| naming != Naming::None)
    }

    /// Checks the next record against those before it; `has_column` says that the header has the column `customer`.
    ///
    /// # Errors
    /// `usage` for a record that names its customer in another way.
    pub fn check(&self, customer: Option<&CustomerName>, has_column: bool) -> Result<(), Failure> {
        let naming = match customer {
            None => Naming::None,
            Some(CustomerName::Id(_)) => Naming::Id,
            Some(CustomerName::Email(_)) => Naming::Email,
        };
        let refused = |message: &str| {
            Err(Failure::usage(message.to_owned()).hint("give every record a customer, or none"))
        };
        match (self.0.get(), naming) {
            (_, Naming::None) if has_column => refused("no customer: the column `customer` is empty"),
            (Some(Naming::Id | Naming::Email), Naming::None) => {
                refused("no customer: earlier records name one")
            }
            (Some(Naming::None), Naming::Id | Naming::Email) => {
                refused("a customer is named, and earlier records name none")
            }
            (Some(before), naming) if before != naming => {
                Err(Failure::usage("the input names customers by id and by email").hint(
                    "name all of them the same way: an id and an email may be one customer, whose records keep their order",
                ))
            }
            _ => {
                self.0.set(Some(naming));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CustomerName;

    #[test]
    fn a_customer_is_an_id_or_an_email_in_any_case() {
        assert_eq!(CustomerName::new(&json!("7")).unwrap(), CustomerName::Id(7));
        assert_eq!(CustomerName::new(&json!(7)).unwrap(), CustomerName::Id(7));
        assert_eq!(CustomerName::new(&json!(" A@B.example")).unwrap().key(), "a@b.example");
        for wrong in [json!("ada"), json!(""), json!(null), json!(1.5), json!([])] {
            assert!(CustomerName::new(&wrong).is_err(), "{wrong}");
        }
    }
}
