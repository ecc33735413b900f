//! OAuth 1.0a (RFC 5849) as Magento checks it: the four values of an integration, and the signature of a request.

use std::cmp::Ordering;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ring::hmac;
use url::Url;

/// All characters except RFC 3986's unreserved ones.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What Magento up to 2.4.7 encodes in the path that it signs; `%` is treated separately.
const PATH: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b',')
    .remove(b'/')
    .remove(b';')
    .remove(b'%')
    .remove(b'(')
    .remove(b')');

/// The names of the four values, in the order of [`Keys`].
pub const NAMES: [&str; 4] = ["consumer-key", "consumer-secret", "token", "token-secret"];

/// The only method that Magento takes.
const METHOD: &str = "HMAC-SHA256";

/// Magento's message for a nonce that was used, and for a time that is ahead of the shop's.
const BAD_NONCE: &str = "An error occurred validating the nonce";

/// Magento's message for a signature that differs from its own.
const BAD_SIGNATURE: &str = "The signature is invalid. Verify and try again";

/// How a shop sorts the names of the parameters that it signs, and which path it signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOrder {
    /// As they are encoded, with runs of digits compared as numbers; the path as laminas-uri normalizes it: Magento up
    /// to 2.4.7.
    Natural,
    /// Before encoding, by their bytes; the path as it was sent: Magento 2.4.8.
    Bytes,
}

impl NameOrder {
    fn compare(self, one: &str, other: &str) -> Ordering {
        match self {
            Self::Natural => natural(&encoded(one), &encoded(other)),
            Self::Bytes => one.cmp(other),
        }
    }
}

/// What a signature depends on besides the request.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// Different for each attempt.
    pub nonce: &'a str,
    /// Seconds since 1970.
    pub time: i64,
    /// How the shop sorts names.
    pub order: NameOrder,
}

/// The values of an integration.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Keys {
    /// Key and secret of the consumer, then token and its secret.
    pub values: [String; 4],
}

impl Keys {
    /// Reads the lines `consumer-key=…`, `consumer-secret=…`, `token=…` and `token-secret=…`, in any order; `None` if
    /// one of them is missing, empty or given twice, or there is another line. It also reads them as they are copied
    /// from the shop's page, with titles such as `Consumer Key:`, perhaps on a line of their own, and as other programs
    /// write them (`oauth_token: "…"`).
    pub fn parse(text: &str) -> Option<Self> {
        let mut values: [String; 4] = Default::default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut titled: Option<usize> = None;
        for line in lines {
            let (place, value) = if let Some(place) = titled.take() {
                (place, line)
            } else {
                let (name, value) = line.split_once(['=', ':']).unwrap_or((line, ""));
                (place_of(name)?, value.trim())
            };
            let value = unquoted(value);
            if value.is_empty() {
                titled = Some(place);
                continue;
            }
            if !values[place].is_empty() {
                return None;
            }
            value.clone_into(&mut values[place]);
        }
        values.iter().all(|value| !value.is_empty()).then_some(Self { values })
    }

    /// The lines that [`Self::parse`] reads.
    pub fn to_text(&self) -> String {
        let lines = NAMES.iter().zip(&self.values).map(|(name, value)| format!("{name}={value}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The `Authorization` header of a request to `url`, whose query is rewritten as it is signed. A shop whose web
    /// server drops the port signs without it.
    pub fn header(&self, method: &str, url: &mut Url, sign_port: bool, stamp: Stamp<'_>) -> String {
        let query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if !query.is_empty() {
            let pairs = query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
            url.set_query(Some(&pairs.collect::<Vec<_>>().join("&")));
        }
        let time = stamp.time.to_string();
        let [consumer, _, token, _] = &self.values;
        let values = [consumer, stamp.nonce, METHOD, &time, token, "1.0"];
        let own: Vec<_> =
            OWN.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value.to_owned())).collect();
        let parameters = own.iter().chain(&query);
        let text = base_string(method, &address(url, sign_port, stamp.order), parameters, stamp.order);
        let own = own.iter().map(|(name, value)| format!("{name}=\"{}\"", encoded(value)));
        let own = own.collect::<Vec<_>>().join(", ");
        format!("OAuth {own}, oauth_signature=\"{}\"", encoded(&self.signature(&text)))
    }

    fn signature(&self, text: &str) -> String {
        let secret = format!("{}&{}", encoded(&self.values[1]), encoded(&self.values[3]));
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        STANDARD.encode(hmac::sign(&key, text.as_bytes()))
    }
}

/// The text that is signed: method, URL without query, and all parameters before encoding. Magento uses the last of
/// several with one name.
fn base_string<'p>(
    method: &str,
    address: &str,
    parameters: impl Iterator<Item = &'p (String, String)>,
    order: NameOrder,
) -> String {
    let last: HashMap<_, _> = parameters.map(|(name, value)| (name.as_str(), value)).collect();
    let mut pairs: Vec<_> = last.into_iter().collect();
    pairs.sort_by(|one, other| order.compare(one.0, other.0));
    let pairs: Vec<_> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    format!("{method}&{}&{}", encoded(address), encoded(&pairs.join("&")))
}

/// A value without the quotes around it.
pub(super) fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).map_or(text, str::trim)
}

/// The place of a value among [`NAMES`]: `Access Token Secret`, `oauth_token_secret` and `token-secret` are one.
fn place_of(name: &str) -> Option<usize> {
    let name = unquoted(name.trim()).to_ascii_lowercase().replace([' ', '_'], "-");
    let name = name.strip_prefix("oauth-").unwrap_or(&name);
    let name = name.strip_prefix("access-").unwrap_or(name);
    NAMES.iter().position(|known| *known == name)
}

/// The parameters of a signature itself.
const OWN: [&str; 6] = [
    "oauth_consumer_key",
    "oauth_nonce",
    "oauth_signature_method",
    "oauth_timestamp",
    "oauth_token",
    "oauth_version",
];

/// Whether the signature of a request to this URL differs with the version of the shop.
pub fn depends_on_order(url: &Url) -> bool {
    if normalized(url.path()) != url.path() {
        return true;
    }
    let mut names: Vec<_> = url.query_pairs().map(|(name, _)| name).collect();
    names.extend(OWN.map(Into::into));
    names.sort_by(|one, other| NameOrder::Bytes.compare(one, other));
    !names.is_sorted_by(|one, other| NameOrder::Natural.compare(one, other).is_le())
}

/// Whether this is Magento's refusal of a signature.
pub fn is_bad_signature(message: &str) -> bool {
    message.contains(BAD_SIGNATURE)
}

/// What to do about a refusal in Magento's words; `None` for any other message.
pub fn hint(message: &str) -> Option<&'static str> {
    if message.contains(BAD_NONCE) {
        return Some("set this machine's clock: it must not be ahead of the shop's");
    }
    is_bad_signature(message).then_some(
        "check the consumer secret and the token secret; where the shop's web server drops the port of the URL, \
         set `sign-port = false` in the profile",
    )
}

/// The URL as it is signed: without its query, and without a port that is the scheme's default.
fn address(url: &Url, sign_port: bool, order: NameOrder) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().filter(|_| sign_port).map(|port| format!(":{port}")).unwrap_or_default();
    let path = match order {
        NameOrder::Natural => normalized(url.path()),
        NameOrder::Bytes => url.path().to_owned(),
    };
    format!("{}://{host}{port}{path}", url.scheme())
}

/// A path as laminas-uri normalizes it, by which Magento up to 2.4.7 checks: escapes of characters that a path may have
/// are decoded, other escapes are in upper case, and other characters are encoded.
fn normalized(path: &str) -> String {
    let decoded = each_escape(path, |hex| match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
        Some(byte) if byte.is_ascii_alphanumeric() || b"-_.~:@&=+$,/;%".contains(&byte) => {
            char::from(byte).to_string()
        }
        _ => format!("%{}", hex.unwrap_or_default().to_ascii_uppercase()),
    });
    let encoded = utf8_percent_encode(&decoded, PATH).to_string();
    each_escape(&encoded, |hex| format!("%{}", hex.unwrap_or("25")))
}

/// Rewrites each `%` with the two digits that follow it; `None` if no digits follow.
fn each_escape(text: &str, written: impl Fn(Option<&str>) -> String) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let hex = part.get(..2).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        text + &written(hex) + &part[hex.map_or(0, str::len)..]
    })
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// PHP's `strnatcmp`, by which Magento sorts: runs of digits compare as numbers.
fn natural(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while let (Some(a), Some(b)) = (one.first(), other.first()) {
        if a.is_ascii_digit() && b.is_ascii_digit() {
            let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let here = one.split_at(digits(one));
            let there = other.split_at(digits(other));
            // After a leading zero, digits are a fraction, and a longer one is not greater.
            let is_fraction = *a == b'0' || *b == b'0';
            let by_length = if is_fraction { Ordering::Equal } else { here.0.len().cmp(&there.0.len()) };
            let order = by_length.then_with(|| here.0.cmp(there.0));
            if order.is_ne() {
                return order;
            }
            (one, other) = (here.1, there.1);
        } else if a == b {
            (one, other) = (&one[1..], &other[1..]);
        } else {
            return a.cmp(b);
        }
    }
    one.len().cmp(&other.len())
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use url::Url;

    use super::{
        BAD_NONCE, Keys, NameOrder, OWN, Stamp, address, base_string, depends_on_order, hint, natural,
    };
    use crate::text::redact::Redactor;
    use crate::text::token::Credential;

    fn keys(values: [&str; 4]) -> Keys {
        Keys { values: values.map(str::to_owned) }
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_example_of_the_rfc_is_signed() {
        // RFC 5849, 3.4.1.1, with HMAC-SHA256, and of `a3` the last alone; computed with another implementation.
        let parameters = pairs(&[
            ("b5", "=%3D"),
            ("a3", "a"),
            ("c@", ""),
            ("a2", "r b"),
            ("c2", ""),
            ("a3", "2 q"),
            ("oauth_consumer_key", "9djdj82h48djs9d2"),
            ("oauth_token", "kkk9d7dh3k39sjv7"),
            ("oauth_signature_method", "HMAC-SHA256"),
            ("oauth_timestamp", "137131201"),
            ("oauth_nonce", "7d8f3e4a"),
        ]);
        let text = base_string("POST", "http://example.com/request", parameters.iter(), NameOrder::Natural);
        let signed =
            keys(["9djdj82h48djs9d2", "j49sk3j29djd", "kkk9d7dh3k39sjv7", "dh893hdasih9"]).signature(&text);
        assert_eq!(signed, "/2+BRwUPJrpN3wQZP9dOtZxRJ3Mx7Pkd6olixpFTGRs=");
    }

    #[test]
    fn odd_characters_of_path_query_and_secrets_are_signed_as_magento_reads_them() {
        let path = "rest/V1/a%2fb%20(c)%c3%bc!%25x%2541";
        let url = format!("https://shop.example:8443/{path}?q=a+b&f%5B10%5D=%C3%A9&f[2]=100%25&x=1&x");
        let mut url = url.parse().unwrap();
        let keys = keys(["ck", "s+c/r=t", "tk", "t~s"]);
        let stamp = Stamp { nonce: "n1", time: 1_600_000_000, order: NameOrder::Natural };
        let header = keys.header("GET", &mut url, true, stamp);
        assert_eq!(url.path(), format!("/{path}"));
        assert_eq!(url.query(), Some("q=a%20b&f%5B10%5D=%C3%A9&f%5B2%5D=100%25&x=1&x="));
        let signature = header.split("oauth_signature=").nth(1).unwrap();
        assert_eq!(signature, "\"NZXv2yFEoDC%2Fn%2B40ykA9%2BRsUMhh0%2BgpjBYOtg3sdNlM%3D\"", "{header}");
        assert!(header.starts_with("OAuth oauth_consumer_key=\"ck\", oauth_nonce=\"n1\", "), "{header}");
        assert_eq!(
            address(&url, false, NameOrder::Natural),
            "https://shop.example/rest/V1/a/b%20(c)%C3%BC%21%25x%41"
        );
    }

    #[test]
    fn base_strings_are_those_of_both_shops() {
        let table = include_str!("oauth_base_strings.tsv").lines().filter(|line| !line.starts_with('#'));
        let mut differ = 0;
        for line in table {
            let [path, query, natural, bytes] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let url: Url = format!("https://shop.example{path}?{query}").parse().unwrap();
            let values = ["ck", "n1", "HMAC-SHA256", "1600000000", "tk", "1.0"];
            let mut parameters = pairs(&OWN.into_iter().zip(values).collect::<Vec<_>>());
            parameters.extend(url.query_pairs().into_owned());
            for (order, expected) in [(NameOrder::Natural, natural), (NameOrder::Bytes, bytes)] {
                let text = base_string("GET", &address(&url, true, order), parameters.iter(), order);
                assert_eq!(text, expected, "{order:?} {path} {query}");
            }
            assert_eq!(depends_on_order(&url), natural != bytes, "{path} {query}");
            differ += usize::from(natural != bytes);
        }
        assert_eq!(differ, 5);
    }

    #[test]
    fn names_are_sorted_as_a_person_would() {
        for (less, more) in [("f[2]", "f[10]"), ("a", "b"), ("a", "a1"), ("a05", "a1"), ("a1b", "a1c")] {
            assert_eq!(natural(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(natural(more, less), Ordering::Greater, "{less} {more}");
        }
    }

    #[test]
    fn orders_of_names_differ_for_numbers_of_other_widths_and_for_encoded_characters() {
        for (query, differs) in [
            ("f[2]=a&f[10]=b", true),
            ("f[10]=a&f[20]=b", false),
            ("f[0]=a&f[9]=b&f[a]=c", false),
            ("fZ=a&f[=b", true),
            ("{=a", true),
            ("", false),
        ] {
            let url = format!("https://shop.example/rest/V1/x?{query}").parse().unwrap();
            assert_eq!(depends_on_order(&url), differs, "{query}");
        }
    }

    #[test]
    fn a_wrong_clock_and_a_wrong_secret_are_told_apart() {
        assert!(hint(&format!("401: {BAD_NONCE}")).unwrap().contains("clock"));
        let secret = hint("401: The signature is invalid. Verify and try again").unwrap();
        assert!(secret.contains("secret") && secret.contains("sign-port"));
        assert_eq!(hint("The consumer isn't authorized"), None);
    }

    #[test]
    fn every_value_is_masked_alone() {
        let mask = Redactor::new();
        let text = "consumer-key=kkkk\nconsumer-secret=ssss\ntoken=tttt\ntoken-secret=uuuu";
        mask.add(&Credential::new(text).unwrap());
        assert_eq!(mask.text("uuuu tttt ssss kkkk xxxx"), "••• ••• ••• ••• xxxx");
    }

    #[test]
    fn the_four_values_come_in_any_order_and_all_of_them() {
        let text = "token=t\n consumer-key = k\r\n\nconsumer-secret=s=\ntoken-secret=u";
        let read = Keys::parse(text).unwrap();
        assert_eq!(read.values, ["k", "s=", "t", "u"]);
        assert_eq!(Keys::parse(&read.to_text()).unwrap().values, read.values);
        let twice = format!("{text}\ntoken=x");
        for wrong in ["t0ken", "token=t", &format!("{text}\nmore=x"), &text.replace("=u", "="), &twice] {
            assert!(Keys::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_four_values_are_read_as_people_have_them() {
        for text in [
            "Consumer Key: k\r\nConsumer Secret: s\r\nAccess Token: t\r\nAccess Token Secret: u\r\n",
            "Consumer Key\nk\nConsumer Secret\ns\n\nAccess Token\nt\nAccess Token Secret\nu",
            "consumer_key = \"k\"\nconsumer_secret = 's'\noauth_token = \"t\"\noauth_token_secret = \"u\"",
            "# of the shop\nCONSUMER_KEY=k\nCONSUMER_SECRET=s\nACCESS_TOKEN=t\nACCESS_TOKEN_SECRET=u",
        ] {
            assert_eq!(Keys::parse(text).unwrap().values, ["k", "s", "t", "u"], "{text}");
        }
        let marked = "\u{feff}Consumer Key: k\nConsumer Secret: s\nAccess Token: t\nAccess Token Secret: u";
        assert!(Credential::new(marked).unwrap().is_integration());
    }
}
