//! Requests signed by an integration (OAuth 1.0a, RFC 5849), which may do what an administrator may.
//!
//! Nothing here is shared with the client: a mistake in its signature must not be repeated by the check.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use axum::http::header;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use ring::hmac;
use serde_json::json;

use crate::Version;
use crate::reply::ApiError;

/// The only integration. A sandbox listens on loopback, so its values need not be secret.
const CONSUMER: &str = "sandbox-consumer-key";
const TOKEN: &str = "sandbox-token";
const SECRETS: [&str; 2] = ["sandbox-consumer-secret", "sandbox-token-secret"];

const BAD_NONCE: &str = "An error occurred validating the nonce";
const BAD_SIGNATURE: &str = "The signature is invalid. Verify and try again.";

/// How many seconds a request's time may be ahead.
const MAX_AHEAD: i64 = 600;

/// The characters that laminas-uri keeps in a path, and the escapes that it decodes.
const KEPT_IN_PATH: &[u8] = b"-._~:@&=+$,/;()";
const DECODED_IN_PATH: &[u8] = b"-._~:@&=+$,/;%";

/// The nonces of this process, which no other request may use.
static NONCES: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Compares two names of parameters.
type Order = fn(&str, &str) -> Ordering;

/// How a version signs: the order of the names, and the path.
#[derive(Clone, Copy)]
struct Signing {
    order: Order,
    path: fn(&str) -> String,
}

/// Up to 2.4.7 names are in natural order and the path is that of laminas-uri; from 2.4.8 on names are in the order of
/// their bytes and the path is that of the request.
fn signing(version: Version) -> Signing {
    if version >= Version::V248 {
        Signing { order: str::cmp, path: str::to_owned }
    } else {
        Signing { order: natural_order, path: signed_path }
    }
}

/// Whether a request is signed; a wrong signature is refused.
pub fn is_signed(parts: &Parts, version: Version) -> Result<bool, ApiError> {
    let signing = signing(version);
    let Some(sent) = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()) else {
        return Ok(false);
    };
    let Some(sent) = sent.strip_prefix("OAuth ") else { return Ok(false) };
    let mut own = BTreeMap::new();
    for (name, value) in sent.split(',').filter_map(|one| one.trim().split_once('=')) {
        own.insert(decoded(name), decoded(value.trim_matches('"')));
    }
    let signature = own.remove("oauth_signature").unwrap_or_default();
    let value = |name: &str| own.get(name).map(String::as_str).unwrap_or_default();
    let refused = |text: &str| Err(ApiError::new(401, text));
    let method = value("oauth_signature_method");
    if method != "HMAC-SHA256" {
        return Err(ApiError::new(400, "Signature method %1 is not supported").with(json!([method])));
    }
    if (value("oauth_consumer_key"), value("oauth_token")) != (CONSUMER, TOKEN) {
        return refused("A consumer with the specified key doesn't exist.");
    }
    let ahead = value("oauth_timestamp").parse().unwrap_or(i64::MAX) - crate::system_time().as_second();
    let nonce = value("oauth_nonce").to_owned();
    if ahead > MAX_AHEAD || !NONCES.lock().unwrap_or_else(PoisonError::into_inner).insert(nonce) {
        return refused(BAD_NONCE);
    }
    // PHP keeps one value of each name.
    let query = parts.uri.query().unwrap_or_default();
    own.extend(url::form_urlencoded::parse(query.as_bytes()).into_owned());
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let address = format!("http://{}{}", host.trim_end_matches(":80"), (signing.path)(parts.uri.path()));
    let text = base_string(parts.method.as_str(), &address, own, signing.order);
    if sign(hmac::HMAC_SHA256, SECRETS, &text) == signature { Ok(true) } else { refused(BAD_SIGNATURE) }
}

/// The base string of RFC 5849, 3.4.1; the parameters are not encoded yet.
fn base_string(method: &str, address: &str, own: BTreeMap<String, String>, order: Order) -> String {
    let mut own: Vec<(String, String)> = own.into_iter().collect();
    own.sort_by(|one, other| order(&one.0, &other.0));
    let mut parameters = String::new();
    for (name, value) in own {
        let separator = if parameters.is_empty() { "" } else { "&" };
        parameters += &format!("{separator}{}={}", escaped(&name), escaped(&value));
    }
    [method.to_owned(), escaped(address), escaped(&parameters)].join("&")
}

/// The signature of RFC 5849, 3.4.2.
fn sign(algorithm: hmac::Algorithm, secrets: [&str; 2], text: &str) -> String {
    let key = secrets.map(escaped).join("&");
    STANDARD.encode(hmac::sign(&hmac::Key::new(algorithm, key.as_bytes()), text.as_bytes()))
}

/// The encoding of RFC 5849, 3.6.
fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| if is_kept(byte, b"-._~") { char::from(byte).into() } else { hex(byte) })
        .collect()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn is_kept(byte: u8, punctuation: &[u8]) -> bool {
    byte.is_ascii_alphanumeric() || punctuation.contains(&byte)
}

fn hex(byte: u8) -> String {
    format!("%{byte:02X}")
}

/// A path as laminas-uri has it, which Magento signs.
fn signed_path(path: &str) -> String {
    let path = path.as_bytes();
    let escape = |text: &[u8], at: usize| -> Option<u8> {
        let digits = text.get(at + 1..at + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    // First the escapes of characters that a path may have are decoded, which may make a new escape; then the other
    // characters are encoded.
    let mut plain = Vec::new();
    let mut at = 0;
    while at < path.len() {
        match escape(path, at).filter(|_| path[at] == b'%') {
            Some(byte) if is_kept(byte, DECODED_IN_PATH) => plain.push(byte),
            Some(byte) => plain.extend(hex(byte).bytes()),
            None => {
                plain.push(path[at]);
                at += 1;
                continue;
            }
        }
        at += 3;
    }
    let mut signed = String::new();
    for (at, byte) in plain.iter().copied().enumerate() {
        let is_escape = byte == b'%' && escape(&plain, at).is_some();
        if is_escape || is_kept(byte, KEPT_IN_PATH) {
            signed.push(char::from(byte));
        } else {
            signed += &hex(byte);
        }
    }
    signed
}

/// Up to 2.4.7: PHP's `strnatcmp` of the encoded names, which compares runs of digits as numbers, and as fractions where one
/// begins with a zero.
fn natural_order(one: &str, other: &str) -> Ordering {
    let (one, other) = (escaped(one).into_bytes(), escaped(other).into_bytes());
    let digit = |text: &[u8], at: usize| text.get(at).copied().filter(u8::is_ascii_digit);
    let mut a = 0;
    let mut b = 0;
    loop {
        if let (Some(first), Some(second)) = (digit(&one, a), digit(&other, b)) {
            let is_fraction = first == b'0' || second == b'0';
            let mut first_difference = Ordering::Equal;
            loop {
                let here = digit(&one, a);
                let there = digit(&other, b);
                if here.is_none() || there.is_none() {
                    let longer = here.is_some().cmp(&there.is_some());
                    match longer.then(first_difference) {
                        Ordering::Equal => break,
                        order => return order,
                    }
                }
                first_difference = first_difference.then(here.cmp(&there));
                if is_fraction && first_difference.is_ne() {
                    return first_difference;
                }
                (a, b) = (a + 1, b + 1);
            }
        }
        match (one.get(a), other.get(b)) {
            (None, None) => return Ordering::Equal,
            (here, there) if here != there => return here.cmp(&there),
            _ => (a, b) = (a + 1, b + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use axum::http::Request;
    use ring::hmac;
    use storefront_core::text::oauth::{Keys, NameOrder, Stamp};
    use url::Url;

    use super::{
        CONSUMER, SECRETS, TOKEN, base_string, is_signed, natural_order, sign, signed_path, signing,
    };
    use crate::Version;

    fn keys() -> Keys {
        Keys { values: [CONSUMER, SECRETS[0], TOKEN, SECRETS[1]].map(str::to_owned) }
    }

    fn now() -> i64 {
        crate::system_time().as_second()
    }

    fn parameters(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// The check of a request that the client signs like this.
    fn sent(
        path: &str,
        keys: &Keys,
        stamp: Stamp<'_>,
        version: Version,
        change: fn(String) -> String,
    ) -> Result<bool, u16> {
        let mut url: Url = format!("http://127.0.0.1:8080/rest/V1/{path}").parse().unwrap();
        let header = change(keys.header("GET", &mut url, true, stamp));
        let uri = format!("{}?{}", url.path(), url.query().unwrap_or_default());
        let request = Request::get(uri).header("host", "127.0.0.1:8080").header("authorization", header);
        is_signed(&request.body(()).unwrap().into_parts().0, version).map_err(|refusal| refusal.status)
    }

    /// With the values of the sandbox, as 2.4.7 signs.
    fn plain(nonce: &str, time: i64) -> Result<bool, u16> {
        let stamp = Stamp { nonce, time, order: NameOrder::Natural };
        sent("x?f[10]=a+b&f[2]=c", &keys(), stamp, Version::V247, |header| header)
    }

    #[test]
    fn the_example_of_the_specification_is_signed() {
        // OAuth Core 1.0a, appendix A.5.
        let parameters = parameters(&[
            ("oauth_consumer_key", "dpf43f3p2l4k3l03"),
            ("oauth_token", "nnch734d00sl2jdk"),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", "1191242096"),
            ("oauth_nonce", "kllo9940pd9333jh"),
            ("oauth_version", "1.0"),
            ("file", "vacation.jpg"),
            ("size", "original"),
        ]);
        let text = base_string("GET", "http://photos.example.net/photos", parameters, natural_order);
        assert_eq!(
            text,
            "GET&http%3A%2F%2Fphotos.example.net%2Fphotos&file%3Dvacation.jpg%26\
             oauth_consumer_key%3Ddpf43f3p2l4k3l03%26oauth_nonce%3Dkllo9940pd9333jh%26\
             oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1191242096%26oauth_token%3Dnnch734d00sl2jdk\
             %26oauth_version%3D1.0%26size%3Doriginal"
        );
        let secrets = ["kd94hf93k423kf44", "pfkkdhi9sl3r4s00"];
        let signed = sign(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secrets, &text);
        assert_eq!(signed, "tR3+Ty81lMeYAr/Fid0kMTYa/WM=");
    }

    #[test]
    fn base_strings_are_those_of_both_shops() {
        let table = include_str!("../../../core/src/text/oauth_base_strings.tsv").lines();
        for line in table.filter(|line| !line.starts_with('#')) {
            let [path, query, natural, bytes] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let mut own = parameters(&[
                ("oauth_consumer_key", "ck"),
                ("oauth_token", "tk"),
                ("oauth_signature_method", "HMAC-SHA256"),
                ("oauth_timestamp", "1600000000"),
                ("oauth_nonce", "n1"),
                ("oauth_version", "1.0"),
            ]);
            own.extend(url::form_urlencoded::parse(query.as_bytes()).into_owned());
            for (version, expected) in [(Version::V247, natural), (Version::V248, bytes)] {
                let signing = signing(version);
                let address = format!("https://shop.example{}", (signing.path)(path));
                assert_eq!(
                    base_string("GET", &address, own.clone(), signing.order),
                    expected,
                    "{path} {query}"
                );
            }
        }
    }

    #[test]
    fn the_example_of_the_rfc_is_encoded_and_sorted() {
        // RFC 5849, 3.4.1.1; of `a3`, which it has twice, only the last one.
        let parameters = parameters(&[
            ("b5", "=%3D"),
            ("a3", "2 q"),
            ("c@", ""),
            ("a2", "r b"),
            ("c2", ""),
            ("oauth_consumer_key", "9djdj82h48djs9d2"),
            ("oauth_token", "kkk9d7dh3k39sjv7"),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", "137131201"),
            ("oauth_nonce", "7d8f3e4a"),
        ]);
        assert_eq!(
            base_string("POST", "http://example.com/request", parameters, natural_order),
            "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26b5%3D%253D%25253D%26c%2540%3D%26\
             c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26\
             oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
        );
    }

    #[test]
    fn what_the_client_signs_is_accepted_in_its_own_order_only() {
        let keep = |header| header;
        let odd = "a%2fb%20(c)%c3%bc!%25x%2541?q=a+b&f%5B10%5D=%C3%A9&f[2]=100%25&x=1&x&f[02]=&f[fZ]=a~b&{=";
        let paths =
            [odd, "a%2fb", "x", "x?x=1&x=2", "x?f[a]=1&f[b]=2", "x?f[10]=&f[11]=", "x?a05=&a1=&a051=&a5="];
        for (at, path) in paths.into_iter().enumerate() {
            for (order, own, other) in [
                (NameOrder::Natural, Version::V247, Version::V248),
                (NameOrder::Bytes, Version::V248, Version::V247),
            ] {
                let nonce = format!("{order:?} {at}");
                let stamp = Stamp { nonce: &nonce, time: now(), order };
                assert_eq!(sent(path, &keys(), stamp, own, keep), Ok(true), "{order:?} {path}");
                let nonce = format!("other {order:?} {at}");
                let expected = if at < 2 { Err(401) } else { Ok(true) };
                let stamp = Stamp { nonce: &nonce, ..stamp };
                assert_eq!(sent(path, &keys(), stamp, other, keep), expected, "not {order:?} {path}");
            }
        }
        assert_eq!(signed_path("/a%2fb%20(c)%c3%bc!%25x%2541%"), "/a/b%20(c)%C3%BC%21%25x%41%25");
    }

    #[test]
    fn a_signature_holds_once_and_for_its_own_time() {
        assert_eq!(plain("late", now() - 900), Ok(true));
        let time = now();
        assert_eq!(plain("twice", time), Ok(true));
        assert_eq!(plain("twice", time), Err(401));
        assert_eq!(plain("twice", time - 1), Err(401), "at another time, too");
        assert_eq!(plain("ahead", now() + 900), Err(401));
    }

    #[test]
    fn other_values_and_methods_are_refused() {
        let stamp = |nonce: &'static str| Stamp { nonce, time: now(), order: NameOrder::Natural };
        for (place, nonce) in ["consumer", "secret", "token", "token secret"].into_iter().enumerate() {
            let mut wrong = keys();
            "wrong".clone_into(&mut wrong.values[place]);
            assert_eq!(sent("x", &wrong, stamp(nonce), Version::V247, |header| header), Err(401), "{nonce}");
        }
        let older = |header: String| header.replace("HMAC-SHA256", "HMAC-SHA1");
        assert_eq!(sent("x", &keys(), stamp("sha1"), Version::V247, older), Err(400));
        assert_eq!(sent("x", &keys(), stamp("bearer"), Version::V247, |_| "Bearer x".to_owned()), Ok(false));
    }
}
