//! The customer whom a record of a batch names.

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
            Err(_) => Err(Failure::usage(format!("customer: {value} is neither a customer id nor an email"))),
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
