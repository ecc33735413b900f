//! The grammar of `--fault`: `[METHOD:]KIND[=VALUE][@PERCENT][xTIMES][:seed=N]`.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context as _, bail};
use axum::http::Method;

use storefront_core::text::suggestion::closest_match;

/// A fault that the sandbox injects, and how often.
///
/// `PUT:503=2@50x3:seed=7` answers half of the PUT requests with 503 and `Retry-After: 2`, at most three times, and the
/// same ones if the same requests come in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Only requests with this method; any without it.
    pub method: Option<Method>,
    /// What happens.
    pub kind: FaultKind,
    /// The value after `=`.
    pub value: FaultValue,
    /// How many requests in a hundred it is injected into, each by chance.
    pub percent: u8,
    /// How many requests it is injected into before it stops; no limit without it.
    pub times: Option<u32>,
    /// The seed of chance; without it every start has its own.
    pub seed: Option<u64>,
}

/// What happens to a request that a [`Fault`] is injected into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The request waits before it is handled. It is handled even when the client gives up meanwhile.
    Latency,
    /// The answer waits after the write is committed.
    LatencyAfterCommit,
    /// The connection is reset and nothing is written.
    ResetBeforeCommit,
    /// The connection is reset after the write is committed.
    ResetAfterCommit,
    /// This status is answered and nothing is written.
    Status(u16),
    /// The write is committed and this status is answered.
    StatusAfterCommit(u16),
    /// The write is committed and answered as if it was refused: 400 without a value.
    RejectAfterCommit,
    /// An error is answered with the status 200, and nothing is written.
    ErrorUnder200,
    /// The write is committed, and an error is answered with the status 200.
    ErrorUnder200AfterCommit,
    /// The request is handled, and a proxy's HTML page is answered with the same status.
    Html,
    /// The request is handled, and the body of the answer is empty.
    Empty,
    /// The request is handled, and the body of the answer ends before its Content-Length.
    Truncated,
    /// The profile cannot be read: GET is not a route.
    NoGet,
    /// The profile is read in another envelope than `{"customer": …}`.
    Envelope,
    /// Errors come in another shape than Magento's.
    ErrorShape,
    /// An attribute code that exists updates that attribute instead of being refused.
    SilentUpdate,
    /// The last address of a PUT is dropped.
    DropAddress,
    /// A write that is applied loses other parts of the same owner: addresses of the customer, items of the cart, options of
    /// the attribute, fields of the order's address that it does not change.
    Lose,
    /// 504 is answered at once, and the request is handled after that time, as behind a gateway that gave up.
    Late,
    /// The next reads after a write answer the state before it, as a replica does that lags behind.
    StaleRead,
    /// Varnish's own 503 page is answered, whether or not the request was handled.
    Varnish,
}

/// The value after `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultValue {
    /// Nothing.
    Plain,
    /// Milliseconds, seconds for `Retry-After`, or how many reads or parts.
    Number(u32),
    /// One of the words the kind knows.
    Word(&'static str),
}

/// The values that are allowed after `=`.
#[derive(Debug, Clone, Copy)]
enum ValueRule {
    Nothing,
    Milliseconds,
    /// How many of these, from 1 on.
    Count(&'static str),
    /// Seconds for `Retry-After`, which is left out without them.
    Seconds,
    /// One of these words; without a value, the first.
    OneOf(&'static [&'static str]),
}

/// The request was handled although Varnish's page says 503.
const APPLIED: &str = "applied";
/// The request never reached the shop.
pub const NOT_APPLIED: &str = "not-applied";

/// Shapes of an error under the status 200: the first one has only a message, and the last one is `false`.
const ERRORS: &[&str] = &["message", "code", "messages", "false"];

const KINDS: &[(&str, FaultKind, ValueRule)] = &[
    ("latency", FaultKind::Latency, ValueRule::Milliseconds),
    ("latency-after-commit", FaultKind::LatencyAfterCommit, ValueRule::Milliseconds),
    ("reset-before-commit", FaultKind::ResetBeforeCommit, ValueRule::Nothing),
    ("reset-after-commit", FaultKind::ResetAfterCommit, ValueRule::Nothing),
    ("429", FaultKind::Status(429), ValueRule::Seconds),
    ("500", FaultKind::Status(500), ValueRule::Nothing),
    ("502", FaultKind::Status(502), ValueRule::Nothing),
    ("503", FaultKind::Status(503), ValueRule::Seconds),
    ("500-after-commit", FaultKind::StatusAfterCommit(500), ValueRule::Nothing),
    ("502-after-commit", FaultKind::StatusAfterCommit(502), ValueRule::Nothing),
    ("503-after-commit", FaultKind::StatusAfterCommit(503), ValueRule::Seconds),
    (
        "reject-after-commit",
        FaultKind::RejectAfterCommit,
        ValueRule::OneOf(&["400", "404", "409", "422", "501"]),
    ),
    ("error-under-200", FaultKind::ErrorUnder200, ValueRule::OneOf(ERRORS)),
    ("error-under-200-after-commit", FaultKind::ErrorUnder200AfterCommit, ValueRule::OneOf(ERRORS)),
    ("html", FaultKind::Html, ValueRule::Nothing),
    ("empty", FaultKind::Empty, ValueRule::Nothing),
    ("truncated", FaultKind::Truncated, ValueRule::Nothing),
    ("no-get", FaultKind::NoGet, ValueRule::Nothing),
    ("envelope", FaultKind::Envelope, ValueRule::OneOf(&["search", "bare", "data"])),
    ("error-shape", FaultKind::ErrorShape, ValueRule::OneOf(&["messages", "result", "errors"])),
    ("silent-update", FaultKind::SilentUpdate, ValueRule::Nothing),
    ("drop-address", FaultKind::DropAddress, ValueRule::Nothing),
    ("lose", FaultKind::Lose, ValueRule::Count("parts")),
    ("late", FaultKind::Late, ValueRule::Milliseconds),
    ("stale-read", FaultKind::StaleRead, ValueRule::Count("reads")),
    ("varnish", FaultKind::Varnish, ValueRule::OneOf(&[APPLIED, NOT_APPLIED])),
];

/// Every kind with its value, separated by commas, for help texts.
pub fn kinds() -> String {
    let kinds = KINDS.iter().map(|(name, _, takes)| match takes {
        ValueRule::Nothing => (*name).to_owned(),
        ValueRule::Milliseconds => format!("{name}=MS"),
        ValueRule::Count(_) => format!("{name}=N"),
        ValueRule::Seconds => format!("{name}[=SECONDS]"),
        ValueRule::OneOf(words) => format!("{name}[={}]", words.join("|")),
    });
    kinds.collect::<Vec<_>>().join(", ")
}

impl FromStr for Fault {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (rest, seed) = match text.rsplit_once(":seed=") {
            None => (text, None),
            Some((rest, seed)) => (rest, Some(parse_seed(seed)?)),
        };
        let (method, rest) = match rest.split_once(':') {
            None => (None, rest),
            Some((method, rest)) => (Some(parse_method(method)?), rest),
        };
        let (rest, times) = split_times(rest)?;
        let (rest, percent) = match rest.rsplit_once('@') {
            None => (rest, 100),
            Some((rest, percent)) => (rest, parse_percent(percent)?),
        };
        if let Some(seed) = seed.filter(|_| percent == 100) {
            bail!("seed={seed}: a seed needs a percentage, e.g. @20:seed={seed}");
        }
        let (name, value) = match rest.split_once('=') {
            None => (rest, None),
            Some((name, value)) => (name, Some(value)),
        };
        let (kind, takes) = find(name)?;
        let value = takes.parse(name, value)?;
        Ok(Self { method, kind, value, percent, times, seed })
    }
}

impl ValueRule {
    fn parse(self, name: &str, value: Option<&str>) -> anyhow::Result<FaultValue> {
        match (self, value) {
            (Self::Nothing | Self::Seconds, None) => Ok(FaultValue::Plain),
            (Self::Nothing, Some(_)) => bail!("`{name}` takes no value"),
            (Self::Milliseconds, None) => bail!("{name}: duration in ms required, e.g. {name}=500"),
            (Self::Milliseconds, Some(value)) => number(name, value, "milliseconds"),
            (Self::Count(unit), None) => bail!("{name}: number of {unit} required, e.g. {name}=1"),
            (Self::Count(_), Some("0")) => bail!("{name}=0: expected a positive integer after `=`"),
            (Self::Count(unit), Some(value)) => number(name, value, unit),
            (Self::Seconds, Some(value)) => number(name, value, "seconds"),
            (Self::OneOf(words), None) => {
                Ok(words.first().copied().map_or(FaultValue::Plain, FaultValue::Word))
            }
            (Self::OneOf(words), Some(value)) => words
                .iter()
                .find(|word| **word == value)
                .copied()
                .map(FaultValue::Word)
                .with_context(|| format!("{name}={value}: expected {}", words.join(", "))),
        }
    }
}

fn number(name: &str, value: &str, unit: &str) -> anyhow::Result<FaultValue> {
    value
        .parse()
        .map(FaultValue::Number)
        .with_context(|| format!("{name}={value}: expected an integer number of {unit} after `=`"))
}

fn parse_method(text: &str) -> anyhow::Result<Method> {
    [Method::GET, Method::PUT, Method::POST, Method::DELETE]
        .into_iter()
        .find(|method| text.eq_ignore_ascii_case(method.as_str()))
        .with_context(|| format!("{text}: expected GET, PUT, POST or DELETE before `:`"))
}

/// Splits `x3` off the end; no kind and no value ends like that.
fn split_times(text: &str) -> anyhow::Result<(&str, Option<u32>)> {
    match text.rsplit_once('x') {
        Some((rest, times)) if times.starts_with(|first: char| first.is_ascii_digit()) => match times.parse()
        {
            Ok(times @ 1..) => Ok((rest, Some(times))),
            _ => bail!("x{times}: expected a positive integer after `x`"),
        },
        _ => Ok((text, None)),
    }
}

fn parse_percent(text: &str) -> anyhow::Result<u8> {
    match text.trim_end_matches('%').parse() {
        Ok(percent @ 1..=100) => Ok(percent),
        _ => bail!("@{text}: expected 1–100 after `@`"),
    }
}

fn parse_seed(text: &str) -> anyhow::Result<u64> {
    text.parse().with_context(|| format!("seed={text}: expected a whole number after `seed=`"))
}

fn find(name: &str) -> anyhow::Result<(FaultKind, ValueRule)> {
    if let Some((_, kind, takes)) = KINDS.iter().find(|(known, ..)| *known == name) {
        return Ok((*kind, *takes));
    }
    if let Some(known) = closest_match(name, KINDS.iter().map(|(known, ..)| *known)) {
        bail!("unknown fault `{name}`; did you mean `{known}`?");
    }
    let names: Vec<&str> = KINDS.iter().map(|(known, ..)| *known).collect();
    bail!("unknown fault `{name}`; expected one of {}", names.join(", "))
}

impl fmt::Display for Fault {
    /// The specification as on the command line.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(method) = &self.method {
            write!(out, "{method}:")?;
        }
        let name = KINDS.iter().find(|(_, kind, _)| *kind == self.kind);
        out.write_str(name.map_or("", |(name, ..)| name))?;
        match self.value {
            FaultValue::Plain => {}
            FaultValue::Number(number) => write!(out, "={number}")?,
            FaultValue::Word(word) => write!(out, "={word}")?,
        }
        if self.percent < 100 {
            write!(out, "@{}", self.percent)?;
        }
        if let Some(times) = self.times {
            write!(out, "x{times}")?;
        }
        self.seed.map_or(Ok(()), |seed| write!(out, ":seed={seed}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for (name, kind, takes) in KINDS {
            let text = match takes {
                ValueRule::Milliseconds | ValueRule::Count(_) => format!("PUT:{name}=250@5x2:seed=7"),
                ValueRule::OneOf(words) => format!("{name}={}", words[1]),
                ValueRule::Nothing | ValueRule::Seconds => (*name).to_owned(),
            };
            let fault: Fault = text.parse().unwrap();
            assert_eq!(fault.kind, *kind);
            assert_eq!(fault.to_string(), text);
        }
        let fault: Fault = "put:503=2@50%x3".parse().unwrap();
        assert_eq!(fault.to_string(), "PUT:503=2@50x3");
        assert_eq!((fault.percent, fault.times, fault.seed), (50, Some(3), None));
    }

    #[test]
    fn the_help_text_names_every_kind() {
        let listed = kinds();
        for (name, ..) in KINDS {
            assert!(
                listed.split(", ").any(|kind| kind.split(['=', '[']).next() == Some(name)),
                "{name}: {listed}"
            );
        }
        assert!(listed.contains("late=MS") && listed.contains("varnish[=applied|not-applied]"), "{listed}");
    }

    #[test]
    fn a_mistake_is_named_with_its_mend() {
        for (text, says) in [
            ("reset-befor-commit", "did you mean `reset-before-commit`?"),
            ("htlm@3", "unknown fault `htlm`; did you mean `html`?"),
            ("nonsense-altogether", "unknown fault `nonsense-altogether`; expected one of latency, "),
            ("latency", "duration in ms required, e.g. latency=500"),
            ("latency=soon", "expected an integer number of milliseconds after `=`"),
            ("html=1", "`html` takes no value"),
            ("late", "duration in ms required, e.g. late=500"),
            ("stale-read", "number of reads required, e.g. stale-read=1"),
            ("lose", "number of parts required, e.g. lose=1"),
            ("lose=all", "expected an integer number of parts after `=`"),
            ("stale-read=0", "expected a positive integer after `=`"),
            ("varnish=maybe", "varnish=maybe: expected applied, not-applied"),
            ("503=-1", "expected an integer number of seconds after `=`"),
            ("envelope=xml", "envelope=xml: expected search, bare, data"),
            ("html@0", "expected 1–100 after `@`"),
            ("html@101", "expected 1–100 after `@`"),
            ("htmlx0", "x0: expected a positive integer after `x`"),
            ("html@20:seed=x", "seed=x: expected a whole number after `seed=`"),
            ("html:seed=7", "seed=7: a seed needs a percentage, e.g. @20:seed=7"),
            ("PATCH:html", "expected GET, PUT, POST or DELETE before `:`"),
            ("", "unknown fault ``; expected one of "),
        ] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
