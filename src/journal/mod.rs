//! The write-ahead journal of a batch: what is known of each record, and how it is written and read again.
//!
//! Nothing here knows what a record is or how it is sent.

pub mod open;
pub mod read;
pub mod write;

use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::failure::{Applied, Failure, FailureKind};
use crate::sanitize::sanitize_line;

/// Version of the journal's format. Another one is refused, older ones too: what they say of a record may differ.
pub const VERSION: u64 = 2;
/// What makes a line a journal's header.
const MARK: &str = "storefront";

/// Which batch a journal belongs to. Another batch is never continued with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The normalised base URL, or `sandbox:DATABASE`.
    pub service: String,
    /// Which interface the service has: `marketplace` or `magento`.
    pub interface: String,
    /// Store view code, where there is one.
    pub store_view: Option<String>,
    /// The operation, as it is typed: `quote add-item`.
    pub operation: String,
    /// File name of the input's real path; `-` for standard input.
    pub input: String,
    /// Which part of the input is run.
    pub shard: Option<Shard>,
}

/// A header as it is read.
#[derive(Debug, Default, Deserialize)]
pub struct HeaderLine {
    journal: Option<String>,
    version: Option<u64>,
    service: Option<String>,
    interface: Option<String>,
    store_view: Option<String>,
    operation: Option<String>,
    input: Option<String>,
    shard: Option<String>,
}

/// Why a line is not the header of this batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// It is not a header at all.
    NotAJournal,
    /// Its format is of another version.
    Version(Option<u64>),
    /// It names another service, store view …
    Other {
        /// What differs.
        what: &'static str,
        /// What the line names.
        found: String,
        /// What this batch is.
        expected: String,
    },
}

impl Header {
    /// The line, without its newline. `started` is RFC 3339.
    pub fn to_json(&self, started: &str) -> Value {
        json!({
            "journal": MARK,
            "version": VERSION,
            "service": self.service,
            "interface": self.interface,
            "store_view": self.store_view,
            "operation": self.operation,
            "input": self.input,
            "shard": self.shard.map(|shard| shard.to_string()),
            "started": started,
        })
    }

    /// Reads a line; the shard is not compared, for that is the caller's decision.
    ///
    /// # Errors
    /// Why it is not a header of this batch.
    pub fn matches(&self, line: HeaderLine) -> Result<Option<Shard>, Mismatch> {
        let header = line.into_header()?;
        let view = |header: &Self| header.store_view.clone().unwrap_or_else(|| "none".to_owned());
        let pairs = [
            ("operation", &header.operation, &self.operation),
            ("service", &header.service, &self.service),
            ("interface", &header.interface, &self.interface),
            ("store view", &view(&header), &view(self)),
            ("input", &header.input, &self.input),
        ]
        .map(|(what, found, expected)| (what, found.clone(), expected.clone()));
        match pairs.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => Err(Mismatch::Other { what, found, expected }),
            None => Ok(header.shard),
        }
    }
}

impl HeaderLine {
    /// Whether this is the first line of a journal of any version.
    pub fn is_journal(&self) -> bool {
        self.journal.as_deref() == Some(MARK)
    }

    /// The header it is.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn into_header(self) -> Result<Header, Mismatch> {
        if !self.is_journal() {
            return Err(Mismatch::NotAJournal);
        }
        if self.version != Some(VERSION) {
            return Err(Mismatch::Version(self.version));
        }
        let shard = self.shard.map(|shard| shard.parse()).transpose();
        Ok(Header {
            service: self.service.ok_or(Mismatch::NotAJournal)?,
            interface: self.interface.ok_or(Mismatch::NotAJournal)?,
            store_view: self.store_view,
            operation: self.operation.ok_or(Mismatch::NotAJournal)?,
            input: self.input.ok_or(Mismatch::NotAJournal)?,
            shard: shard.map_err(|_| Mismatch::NotAJournal)?,
        })
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAJournal => out.write_str("is not a storefront journal"),
            Self::Version(version) => {
                let version = version.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
                write!(out, "has format version {version}, this program reads version {VERSION}")
            }
            Self::Other { what, found, expected } => {
                write!(out, "belongs to a different {what}: `{found}`, expected `{expected}`")
            }
        }
    }
}

/// A record is about to be sent.
#[derive(Debug, Serialize)]
pub struct Sending<'a> {
    record: u64,
    state: &'static str,
    hash: HexHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'a str>,
}

/// A record was applied, or nothing was to be changed.
#[derive(Debug, Serialize)]
pub struct Done {
    record: u64,
    state: &'static str,
    hash: HexHash,
    status: Option<u16>,
}

/// A record failed, or its outcome is unknown.
#[derive(Debug, Serialize)]
pub struct Failed<'a> {
    record: u64,
    state: &'static str,
    hash: HexHash,
    temporary: bool,
    kind: &'static str,
    status: Option<u16>,
    applied: &'static str,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cart: Option<u64>,
}

/// The file of failed records as this run left it: only an unchanged one may be replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct FailedFileEntry {
    /// Where it is, absolute.
    pub path: String,
    /// Its length in bytes.
    pub length: u64,
    /// FNV-1a of its bytes, 16 hexadecimal digits.
    pub hash: String,
}

/// The line of a [`FailedFileEntry`].
#[derive(Debug, Serialize)]
pub struct FailedFileLine<'a> {
    /// The file.
    pub failed_file: &'a FailedFileEntry,
}

impl<'a> Sending<'a> {
    /// A line; `hash` is of the record as it stands in the input, `snapshot` names what a profile was before.
    pub fn new(record: u64, hash: u64, snapshot: Option<&'a str>) -> Self {
        Self { record, state: RecordState::Sending.name(), hash: HexHash(hash), snapshot }
    }
}

impl Done {
    /// A line; `status` is that of the service's answer, if it was asked.
    pub fn new(record: u64, hash: u64, status: Option<u16>) -> Self {
        Self { record, state: RecordState::Done.name(), hash: HexHash(hash), status }
    }
}

impl<'a> Failed<'a> {
    /// A line; tokens are masked in the message, control characters are escaped, and a long one is cut.
    pub fn new(
        record: u64,
        hash: u64,
        state: RecordState,
        failure: &Failure,
        snapshot: Option<&'a str>,
    ) -> Self {
        Self {
            record,
            state: state.name(),
            hash: HexHash(hash),
            temporary: state_after(failure) == RecordState::FailedTemporary,
            kind: failure.kind.name(),
            status: failure.status,
            applied: failure.applied.name(),
            reason: truncate_reason(sanitize_line(&failure.message)),
            snapshot,
            cart: failure.cart,
        }
    }
}

#[derive(Debug)]
struct HexHash(u64);

impl Serialize for HexHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

fn truncate_reason(mut message: String) -> String {
    const MAX_CHARACTERS: usize = 500;
    if let Some((end, _)) = message.char_indices().nth(MAX_CHARACTERS) {
        message.truncate(end);
    }
    message
}

/// The latest known state of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecordState {
    /// Never sent.
    #[default]
    NotSent,
    /// A request may have been sent; no result is known.
    Sending,
    /// A request was sent, and its outcome is unknown.
    Unknown,
    /// Applied, or nothing was to be changed.
    Done,
    /// Not applied, for a temporary reason.
    FailedTemporary,
    /// Not applied, for a permanent reason.
    FailedPermanent,
}

impl RecordState {
    const ALL: [Self; 6] = [
        Self::NotSent,
        Self::Sending,
        Self::Unknown,
        Self::Done,
        Self::FailedTemporary,
        Self::FailedPermanent,
    ];

    /// As a small number, for tables.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Back from [`Self::code`].
    pub fn from_code(code: u8) -> Self {
        Self::ALL.into_iter().find(|state| state.code() == code).unwrap_or_default()
    }

    /// The name in the journal.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotSent => "fresh",
            Self::Sending => "sending",
            Self::Unknown => "unknown",
            Self::Done => "done",
            Self::FailedTemporary | Self::FailedPermanent => "failed",
        }
    }
}

/// What a failure leaves a record at. What may have been applied is never run again by itself.
pub fn state_after(failure: &Failure) -> RecordState {
    match (failure.applied, failure.kind) {
        (Applied::Unknown, _) => RecordState::Unknown,
        (Applied::No, _) if failure.needs_correction => RecordState::FailedPermanent,
        // The calls that are missing are made by the next run.
        (Applied::Partial, _)
        | (
            Applied::No,
            FailureKind::Unavailable
            | FailureKind::Auth
            | FailureKind::Guard
            | FailureKind::Internal
            | FailureKind::Interrupted,
        ) => RecordState::FailedTemporary,
        _ => RecordState::FailedPermanent,
    }
}

/// One of several parts of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 0.
    pub index: u32,
    /// How many parts there are.
    pub count: u32,
}

impl std::fmt::Display for Shard {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((index, of)) if index < of => Ok(Self { index, count: of }),
            Some(_) => Err("shards are numbered from 0, e.g. 3/4 is the last of 4".to_owned()),
            None => Err("expected I/N, e.g. 0/4".to_owned()),
        }
    }
}

/// Whether a record with this key belongs to a part: the key's hash, modulo the number of parts.
pub fn shard_contains(shard: Option<Shard>, key: &str) -> bool {
    let hash = || Fnv1a::new().update(key.as_bytes()).finish();
    shard.is_none_or(|shard| hash() % u64::from(shard.count) == u64::from(shard.index))
}

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A hash that is being taken.
#[derive(Debug, Clone, Copy)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// Of nothing.
    pub const fn new() -> Self {
        Self(OFFSET_BASIS)
    }

    /// Adds bytes.
    #[must_use]
    pub fn update(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME)))
    }

    /// The hash.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod header_tests {
    use super::{Header, HeaderLine, Mismatch};

    fn header() -> Header {
        Header {
            service: "https://shop.example/live".to_owned(),
            interface: "marketplace".to_owned(),
            store_view: Some("fr".to_owned()),
            operation: "quote add-item".to_owned(),
            input: "a.csv".to_owned(),
            shard: "1/4".parse().ok(),
        }
    }

    fn read(text: &str) -> HeaderLine {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_header_reads_back_and_any_other_batch_is_told_apart() {
        let written = header().to_json("2026-01-01T00:00:00Z").to_string();
        assert_eq!(header().matches(read(&written)), Ok(header().shard));
        for (from, to, what) in [
            ("shop.example/live", "shop.example/staging", "service"),
            ("marketplace", "magento", "interface"),
            ("\"fr\"", "null", "store view"),
            ("quote add-item", "attribute create", "operation"),
            ("a.csv", "b.csv", "input"),
        ] {
            let other = header().matches(read(&written.replace(from, to))).unwrap_err();
            assert!(other.to_string().contains(&format!("a different {what}:")), "{other}");
        }
        for version in ["1", "3", "99", "null"] {
            let text = written.replace("\"version\":2", &format!("\"version\":{version}"));
            assert!(matches!(header().matches(read(&text)), Err(Mismatch::Version(_))), "{version}");
        }
        assert_eq!(header().matches(read(r#"{"record":1}"#)), Err(Mismatch::NotAJournal));
    }
}

#[cfg(test)]
mod entry_tests {
    use serde_json::to_string;

    use super::{Done, Failed, Sending};
    use crate::failure::{Applied, Failure, FailureKind};
    use crate::journal::RecordState;

    #[test]
    fn each_line_has_its_fields_in_order() {
        assert_eq!(
            to_string(&Sending::new(1, 0xa0, None)).unwrap(),
            r#"{"record":1,"state":"sending","hash":"00000000000000a0"}"#
        );
        assert_eq!(
            to_string(&Sending::new(1, 0xa0, Some("/s/1.json"))).unwrap(),
            r#"{"record":1,"state":"sending","hash":"00000000000000a0","snapshot":"/s/1.json"}"#
        );
        assert_eq!(
            to_string(&Done::new(2, u64::MAX, Some(320))).unwrap(),
            r#"{"record":2,"state":"done","hash":"ffffffffffffffff","status":320}"#
        );
        let failure = Failure::new(FailureKind::Refused, "no").status(404);
        assert_eq!(
            to_string(&Failed::new(3, 0, RecordState::FailedPermanent, &failure, None)).unwrap(),
            r#"{"record":3,"state":"failed","hash":"0000000000000000","temporary":false,"kind":"refused","status":404,"applied":"no","reason":"no"}"#
        );
        let half = Failure { cart: Some(7), ..failure }.applied(Applied::Partial);
        let line = to_string(&Failed::new(3, 0, RecordState::FailedTemporary, &half, None)).unwrap();
        assert!(line.ends_with(r#""applied":"partial","reason":"no","cart":7}"#), "{line}");
    }
}

#[cfg(test)]
mod record_state_tests {
    use crate::failure::{Applied, Failure, FailureKind};
    use crate::journal::{RecordState, state_after};

    #[test]
    fn only_what_was_certainly_not_applied_and_may_pass_is_run_again() {
        let of = |kind| state_after(&Failure::new(kind, "x"));
        assert_eq!(of(FailureKind::Unavailable), RecordState::FailedTemporary);
        assert_eq!(of(FailureKind::Auth), RecordState::FailedTemporary);
        assert_eq!(of(FailureKind::Guard), RecordState::FailedTemporary);
        assert_eq!(state_after(&Failure::guard("x").needs_correction()), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Refused), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Usage), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Mismatch), RecordState::FailedPermanent);
        assert_eq!(of(FailureKind::Unknown), RecordState::Unknown);
        assert_eq!(
            state_after(&Failure::new(FailureKind::Unavailable, "x").applied(Applied::Yes)),
            RecordState::FailedPermanent
        );
        for code in 0..6 {
            assert_eq!(RecordState::from_code(code).code(), code);
        }
    }
}

#[cfg(test)]
mod fnv_tests {
    use crate::journal::Fnv1a;
    use crate::journal::{Shard, shard_contains};

    fn hash(text: &str) -> u64 {
        Fnv1a::new().update(text.as_bytes()).finish()
    }

    #[test]
    fn the_published_vectors_hold() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_key_is_in_exactly_one_part_and_none_is_empty() {
        let mut sizes = [0; 4];
        for key in 0..4000 {
            let key = format!("quote-{key}");
            let parts: Vec<u32> = (0..4)
                .filter(|index| shard_contains(Some(Shard { index: *index, count: 4 }), &key))
                .collect();
            assert_eq!(parts.len(), 1, "{key}");
            sizes[parts[0] as usize] += 1;
        }
        assert!(sizes.iter().all(|size| *size > 800), "{sizes:?}");
    }
}
