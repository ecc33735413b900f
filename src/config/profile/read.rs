//! How serde reads the values of a profile.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use url::Url;

use crate::cli::duration;
use crate::config::base_url::parse_base_url;
use crate::plan::request::{Dialect, StoreView};
use crate::token::Token;

/// Begins the messages that are ours: only these repeat no value, which may be a secret.
pub const OURS: &str = "storefront: ";

/// Text, checked in words of our own.
fn said<'de, D, T>(input: D, check: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
{
    let text = String::deserialize(input)?;
    check(&text).map(Some).map_err(|problem| D::Error::custom(format!("{OURS}{problem}")))
}

/// A value, where it is as it has to be.
fn fit<'de, D, T, U>(input: D, check: impl Fn(T) -> Option<U>) -> Result<Option<U>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    check(T::deserialize(input)?).map(Some).ok_or_else(|| D::Error::custom("not fit"))
}

pub fn base_url<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Url>, D::Error> {
    said(input, parse_base_url)
}

pub fn store_view<'de, D: Deserializer<'de>>(input: D) -> Result<Option<StoreView>, D::Error> {
    said(input, |code| StoreView::new(code).map_err(|failure| failure.message))
}

pub fn dialect<'de, D: Deserializer<'de>>(input: D) -> Result<Option<&'static Dialect>, D::Error> {
    fit(input, |name: String| Dialect::named(&name))
}

pub fn token<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Token>, D::Error> {
    fit(input, |text: String| Token::new(&text))
}

pub fn text<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    fit(input, |text: String| Some(text).filter(|text| !text.is_empty()))
}

pub fn command<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<String>>, D::Error> {
    fit(input, |words: Vec<String>| words.first().is_some_and(|word| !word.is_empty()).then_some(words))
}

pub fn path<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    fit(input, |path: String| Some(path).filter(|path| path.starts_with('/')))
}

pub fn pointer<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    fit(input, |text: String| Some(text).filter(|text| text.is_empty() || text.starts_with('/')))
}

/// Pointers that comparisons leave out. One that overlooked an address, or which one it is, would let it be lost.
pub fn ignored<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let may_be_ignored = |pointer: &String| match pointer.split('/').collect::<Vec<_>>()[..] {
        ["", "addresses"] | ["", "addresses", _] | ["", "addresses", _, "id"] => false,
        _ => pointer.starts_with('/'),
    };
    let fits = |list: Vec<String>| list.iter().all(may_be_ignored).then_some(list);
    fit(input, fits).map(Option::unwrap_or_default)
}

/// A number of seconds, or text with a unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Time {
    Whole(i64),
    Fraction(f64),
    Text(String),
}

impl Time {
    fn text(self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Fraction(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

pub fn positive<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
    fit(input, |time: Time| duration::positive(&time.text()).ok())
}

pub fn or_zero<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
    fit(input, |time: Time| duration::or_zero(&time.text()).ok())
}
