//! Tokens for a user name and a password.

use serde_json::{Value, json};

use super::call::Call;
use super::coerce::as_text;
use super::search::same_text;
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::{Caller, Database};

/// The administrator's password, and that of every customer of the seed. A sandbox listens on loopback, so that it may
/// be known.
const PASSWORD: &str = "sandbox";
/// The administrator's user name; a customer's is the email.
const ADMINISTRATOR: &str = "admin";

/// Seconds that a token lasts, as Magento is delivered since 2.4.4: an administrator's no longer than a customer's.
const LIFETIME: i64 = 60 * 60;

/// One sentence for a wrong name, a wrong password and a locked account.
const REFUSED: &str = "The account sign-in was incorrect or your account is disabled temporarily. Please wait and try again later.";

/// Failed logins after which the right password is refused too.
const FAILURES: i64 = 10;

/// POST `integration/customer/token`.
pub fn customer(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let (username, password) = credentials(&call)?;
    let mut found = None;
    for id in records.customer_ids()? {
        let email = records.customer(id)?.get("email").map(as_text).unwrap_or_default();
        if same_text(&email, &username) && records.password_fits(id, &password)? {
            found = Some(Caller::Customer(id));
        }
    }
    log_in(records, &format!("customer:{}", username.to_lowercase()), found)
}

/// POST `integration/admin/token`.
pub fn administrator(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let (username, password) = credentials(&call)?;
    let found = (username == ADMINISTRATOR && password == PASSWORD).then_some(Caller::Admin);
    log_in(records, &format!("admin:{username}"), found)
}

fn credentials(call: &Call) -> Result<(String, String), ApiError> {
    let text = |name: &str| call.body.get(name).map(as_text).unwrap_or_default();
    let (username, password) = (text("username"), text("password"));
    let missing = [("username", &username), ("password", &password)];
    let missing =
        missing.into_iter().filter(|(_, text)| text.is_empty()).map(|(name, _)| ApiError::required(name));
    match ApiError::all(missing.collect()) {
        Some(refusal) => Err(refusal),
        None => Ok((username, password)),
    }
}

/// A token for whom name and password fit, or the refusal of the login; either is a reply, since a failure is counted in the same transaction.
fn log_in(records: &Database<'_>, username: &str, found: Option<Caller>) -> Result<Reply, ApiError> {
    let failures = records.failed_logins(username)?;
    let Some(caller) = found.filter(|_| failures < FAILURES) else {
        records.put_failed_logins(username, failures + 1)?;
        return Ok(Reply { status: 401, body: json!({"message": REFUSED}) });
    };
    records.put_failed_logins(username, 0)?;
    let issued_at = crate::clock::system_time().as_second();
    let token = token(records, caller, issued_at, issued_at + LIFETIME)?;
    records.issue_token(&token, caller, Some(issued_at + LIFETIME))?;
    Ok(Reply::ok(Value::from(token)))
}

/// A JWT's three parts; the last one is random and never verified, since the whole token is looked up.
fn token(
    records: &Database<'_>,
    caller: Caller,
    issued_at: i64,
    expires_at: i64,
) -> Result<String, ApiError> {
    let (id, kind) = match caller {
        Caller::Customer(id) => (id, 3),
        Caller::Admin => (1, 2),
    };
    let header = json!({"kid": "1", "alg": "HS256"}).to_string();
    let payload = json!({"uid": id, "utypid": kind, "iat": issued_at, "exp": expires_at}).to_string();
    let signature = records.random_hex()?;
    Ok(format!(
        "{}.{}.{}",
        base64url(header.as_bytes()),
        base64url(payload.as_bytes()),
        base64url(signature.as_bytes())
    ))
}

/// RFC 4648, section 5, without padding.
fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .enumerate()
            .fold(0_u32, |bits, (place, byte)| bits | u32::from(*byte) << (16 - 8 * place));
        for place in 0..=chunk.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64url;

    #[test]
    fn base64url_has_no_padding() {
        let encoded: Vec<String> = ["", "f", "fo", "foo", "foob", "{\"a\":\"?~\"}"]
            .iter()
            .map(|text| base64url(text.as_bytes()))
            .collect();
        assert_eq!(encoded, ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "eyJhIjoiP34ifQ"]);
    }
}
