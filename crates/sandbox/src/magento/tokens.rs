//! Tokens for user name and password.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::search::same_text;
use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Caller, Database};

/// The administrator's password, and that of every customer of the seed. A sandbox listens on loopback, so it need not be
/// secret.
const PASSWORD: &str = "sandbox";
/// The administrator's user name; a customer's is the email.
const ADMINISTRATOR: &str = "admin";

/// How many seconds a token lasts, by Magento's default since 2.4.4: an administrator's no longer than a customer's.
const LIFETIME: i64 = 60 * 60;

/// One sentence for a wrong name and a wrong password.
const REFUSED: &str = "The account sign-in was incorrect or your account is disabled temporarily. \
                       Please wait and try again later.";

/// POST `integration/customer/token`.
pub fn customer(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let (username, password) = credentials(&call)?;
    let mut found = None;
    for id in records.customer_ids()? {
        let email = records.customer(id)?.get("email").map(as_text).unwrap_or_default();
        if same_text(&email, &username) && password == PASSWORD {
            found = Some(Caller::Customer(id));
        }
    }
    log_in(records, found)
}

/// POST `integration/admin/token`.
pub fn administrator(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let (username, password) = credentials(&call)?;
    log_in(records, (username == ADMINISTRATOR && password == PASSWORD).then_some(Caller::Admin))
}

fn credentials(call: &Call) -> Result<(String, String), ApiError> {
    let text = |name: &str| call.sent.get(name).map(as_text).unwrap_or_default();
    let username = text("username");
    let password = text("password");
    let missing = [("username", &username), ("password", &password)];
    let missing =
        missing.into_iter().filter(|(_, text)| text.is_empty()).map(|(name, _)| ApiError::required(name));
    match ApiError::all(missing.collect()) {
        Some(refusal) => Err(refusal),
        None => Ok((username, password)),
    }
}

/// A token for a known name and password: the three parts of a JWT. The last one is random and never verified, because
/// the whole token is looked up.
fn log_in(records: &Database<'_>, found: Option<Caller>) -> Result<Value, ApiError> {
    let caller = found.ok_or_else(|| ApiError::new(401, REFUSED))?;
    let issued_at = crate::system_time().as_second();
    let (id, kind) = match caller {
        Caller::Customer(id) => (id, 3),
        Caller::Admin => (1, 2),
    };
    let header = json!({"kid": "1", "alg": "HS256"}).to_string();
    let payload =
        json!({"uid": id, "utypid": kind, "iat": issued_at, "exp": issued_at + LIFETIME}).to_string();
    let parts = [header, payload, records.random_hex()?].map(|part| URL_SAFE_NO_PAD.encode(part));
    let token = parts.join(".");
    records.issue_token(&token, caller, Some(issued_at + LIFETIME))?;
    Ok(Value::from(token))
}
