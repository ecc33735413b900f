//! What may be done about a refusal that Magento words the same for several causes.

use serde_json::Value;

const UNAUTHORIZED: u16 = 401;

/// The permission that stands for "the token's own data".
const OWN_DATA: &str = "self";

/// The hint of a 401 or 403, by the permission that the body names, if it does.
pub fn of_token(status: u16, body: Option<&Value>) -> String {
    let resources = body.and_then(|body| body.pointer("/parameters/resources")).and_then(Value::as_str);
    match resources {
        Some(OWN_DATA) => "the token has expired or is not a customer's: check it with `storefront auth status`, or, with an administrator's token in the magento interface, name the customer with --customer ID|EMAIL".to_owned(),
        Some(permission) => format!(
            "the token has expired or lacks the permission `{permission}`: run `storefront auth login --user NAME --admin`, or grant the permission; an integration's token must be allowed as a standalone Bearer token"
        ),
        None if status == UNAUTHORIZED => {
            "`storefront auth status` shows which token was used; `storefront auth login` stores a new one".to_owned()
        }
        None => "the token may not do this: `storefront auth status` shows which one was used".to_owned(),
    }
}

/// The hint of another 4xx. An administrator's token has no customer of its own, and Magento misses its id.
pub fn of_request(body: Option<&Value>) -> Option<&'static str> {
    let parameters = body?.get("parameters")?;
    let is_missing = parameters.get("fieldName")? == "customerId" && parameters.get("fieldValue").is_none();
    is_missing.then_some(
        "the token is an administrator's, which has no customer of its own: name one with --customer ID|EMAIL",
    )
}

/// Whether a 404 is Magento's answer for a record that is not there, and not that of a missing route or another server.
pub fn names_no_entity(body: Option<&Value>) -> bool {
    let message = body.and_then(|body| body.get("message")?.as_str());
    message.is_some_and(|message| message.starts_with("No such entity"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{of_request, of_token};

    #[test]
    fn a_refusal_names_the_permission() {
        let body = |resources: &str| json!({"parameters": {"resources": resources}});
        let hint = of_token(401, Some(&body("Magento_Customer::manage")));
        assert!(
            hint.contains("`Magento_Customer::manage`") && hint.contains("standalone Bearer token"),
            "{hint}"
        );
        assert!(of_token(401, Some(&body("self"))).contains("--customer"));
        assert!(of_token(401, None).contains("auth login"));
        assert!(of_token(403, Some(&Value::Null)).contains("may not"));
        let missing =
            json!({"message": "\"%fieldName\" is required", "parameters": {"fieldName": "customerId"}});
        let unknown = json!({"parameters": {"fieldName": "customerId", "fieldValue": 6}});
        assert!(of_request(Some(&unknown)).is_none());
        assert!(of_request(Some(&missing)).is_some() && of_request(Some(&body("self"))).is_none());
    }
}
