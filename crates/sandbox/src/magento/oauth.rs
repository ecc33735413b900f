//! Requests signed by an integration (OAuth 1.0a), which may do what an administrator may.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use axum::http::header;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use serde_json::json;
use url::Url;

use crate::reply::ApiError;
use storefront_core::text::oauth::{BAD_NONCE, BAD_SIGNATURE, Keys, METHOD, address};

/// The only integration. A sandbox listens on loopback, so that its values may be known.
pub const KEYS: Keys<'_> = Keys {
    values: ["sandbox-consumer-key", "sandbox-consumer-secret", "sandbox-token", "sandbox-token-secret"],
};

/// Seconds by which a request's time may be ahead.
const MAX_AHEAD: i64 = 600;

/// Those of this process, which no other request may use.
static NONCES: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Whether a request is signed at all; one that is signed wrongly is refused.
pub fn is_signed(parts: &Parts) -> Result<bool, ApiError> {
    let Some(sent) = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()) else {
        return Ok(false);
    };
    let Some(sent) = sent.strip_prefix("OAuth ") else { return Ok(false) };
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let own = sent.split(',').filter_map(|one| one.trim().split_once('='));
    let own = own.map(|(name, value)| (decoded(name), decoded(value.trim_matches('"'))));
    let mut own: HashMap<String, String> = own.collect();
    let refused = |text: &str| Err(ApiError::new(401, text));
    let value = |name: &str| own.get(name).map(String::as_str).unwrap_or_default();
    if value("oauth_signature_method") != METHOD {
        let method = value("oauth_signature_method").to_owned();
        return Err(ApiError::new(400, "Signature method %1 is not supported").with(json!([method])));
    }
    if value("oauth_consumer_key") != KEYS.values[0] || value("oauth_token") != KEYS.values[2] {
        return refused("A consumer with the specified key doesn't exist.");
    }
    let ahead = value("oauth_timestamp").parse().unwrap_or(i64::MAX) - now();
    let nonce = value("oauth_nonce").to_owned();
    if ahead > MAX_AHEAD || !NONCES.lock().unwrap_or_else(PoisonError::into_inner).insert(nonce) {
        return refused(BAD_NONCE);
    }
    let signature = own.remove("oauth_signature").unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    let query: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let own: Vec<_> = own.into_iter().collect();
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let address = Url::parse(&format!("http://{host}{}", parts.uri.path())).map(|url| address(&url, true));
    let expected = address.map(|it| KEYS.signature(parts.method.as_str(), &it, own.iter().chain(&query)));
    if Ok(signature) == expected { Ok(true) } else { refused(BAD_SIGNATURE) }
}

fn now() -> i64 {
    crate::system_time().as_second()
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::{KEYS, Keys, is_signed, now};

    /// What a request comes to whose header is made with these values.
    fn sent(keys: Keys<'_>, nonce: &str, time: i64, change: fn(String) -> String) -> Result<bool, u16> {
        let mut url = "http://127.0.0.1:8080/rest/V1/x?f[10]=a+b&f[2]=c".parse().unwrap();
        let header = change(keys.header("GET", &mut url, true, nonce, time));
        let uri = format!("{}?{}", url.path(), url.query().unwrap());
        let request = Request::get(uri).header("host", "127.0.0.1:8080").header("authorization", header);
        is_signed(&request.body(()).unwrap().into_parts().0).map_err(|refusal| refusal.status)
    }

    #[test]
    fn a_signature_holds_once_and_for_its_own_time() {
        let keep = |header| header;
        assert_eq!(sent(KEYS, "late", now() - 900, keep), Ok(true));
        let time = now();
        assert_eq!(sent(KEYS, "twice", time, keep), Ok(true));
        assert_eq!(sent(KEYS, "twice", time, keep), Err(401));
        assert_eq!(sent(KEYS, "twice", time - 1, keep), Err(401), "at another time, too");
        assert_eq!(sent(KEYS, "ahead", now() + 900, keep), Err(401));
    }

    #[test]
    fn other_values_and_methods_are_refused() {
        for place in 0..4 {
            let mut wrong = KEYS;
            wrong.values[place] = "wrong";
            assert_eq!(sent(wrong, &format!("wrong {place}"), now(), |header| header), Err(401), "{place}");
        }
        let older = |header: String| header.replace("HMAC-SHA256", "HMAC-SHA1");
        assert_eq!(sent(KEYS, "sha1", now(), older), Err(400));
        assert_eq!(sent(KEYS, "bearer", now(), |_| "Bearer x".to_owned()), Ok(false));
    }
}
