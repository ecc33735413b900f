//! Sets the payment of a cart. A success status alone does not say that it was set: the answer names the payment.

use serde_json::{Map, Value};

use crate::failure::{Applied, Failure, FailureKind};
use crate::http::{CHECK_BEFORE_RETRY, Effect, Reply};
use crate::ops::reads::Reads;
use crate::plan::request::Request;
use crate::plan::request::cart::Cart;
use crate::sanitize::sanitize_line;
use crate::session::service::{Service, Stage};

/// The call that sets the payment.
#[derive(Debug)]
pub struct Payment {
    /// The request.
    pub request: Request,
    /// Reads the payment that is set.
    read: Request,
    /// What is set.
    method: Value,
}

impl Payment {
    /// Sets `method`, such as `{"method": "checkmo"}`, on a cart; `body` holds it in its wrapper.
    pub fn new(cart: &Cart<'_>, method: Value, body: String) -> Self {
        Self { request: cart.select_payment(body), read: cart.read_payment(), method }
    }

    /// Sends it, and again within `--retry`: set twice it is the same.
    ///
    /// # Errors
    /// As [`Service::read`]; `unknown` where neither the answer nor a read says that it was set.
    pub async fn send(&self, service: &Service<'_>, operation: &str) -> Result<Reply, Failure> {
        let reply = service.send(operation, &self.request, Effect::State).await?;
        let answer = reply.value();
        if says_set(&answer) {
            return Ok(reply);
        }
        service.stage.set(Stage::Sent);
        if self.is_shown(service).await {
            service.verified();
            return Ok(reply);
        }
        Err(not_said(reply.status, answer))
    }

    /// Reads the payment until it is what was sent, for `settle` at most.
    async fn is_shown(&self, service: &Service<'_>) -> bool {
        let none = Map::new();
        let sent = self.method.as_object().unwrap_or(&none);
        let mut reads = Reads::new(service.settings.settle);
        loop {
            let shown = service.read(&self.read).await.map(|reply| reply.value()).unwrap_or_default();
            let is_shown = |(name, value): (&String, &Value)| shown.get(name) == Some(value);
            if !sent.is_empty() && sent.iter().all(is_shown) {
                return true;
            }
            if !reads.wait().await {
                return false;
            }
        }
    }
}

/// Whether an answer says that the payment was set: with its id, as a number or text, or with `true`.
fn says_set(answer: &Value) -> bool {
    match answer {
        Value::Bool(is_set) => *is_set,
        Value::Number(id) => id.as_u64().is_some_and(|id| id > 0),
        Value::String(id) => id.trim() == "true" || id.trim().parse::<u64>().is_ok_and(|id| id > 0),
        _ => false,
    }
}

fn not_said(status: u16, answer: Value) -> Failure {
    let shown = match &answer {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{answer}`"),
        Value::String(text) if text.chars().count() <= 40 => format!("`{}`", sanitize_line(text)),
        _ => "something else".to_owned(),
    };
    let message =
        format!("the service answered {status} with {shown} instead of the id of the payment that was set");
    let failure = Failure::new(FailureKind::Unknown, message).applied(Applied::Unknown).status(status);
    Failure { service: Some(answer), ..failure }.hint(CHECK_BEFORE_RETRY)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::says_set;

    #[test]
    fn only_an_id_or_true_says_that_the_payment_was_set() {
        for set in [json!("1"), json!(1), json!("17"), json!(true), json!("true")] {
            assert!(says_set(&set), "{set}");
        }
        for not in
            [json!(false), json!(null), json!(""), json!(0), json!("0"), json!(-1), json!([]), json!({})]
        {
            assert!(!says_set(&not), "{not}");
        }
        assert!(!says_set(&json!("false")) && !says_set(&json!("no")));
    }
}
