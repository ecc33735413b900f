//! The write-ahead journal of a batch (docs/journal.md): its lines, and how they are written and read again.
//!
//! Nothing here knows what a record is or how it is sent.
//!
//! # Format
//! NDJSON in UTF-8, appended to and never changed, private (mode 0600). A run begins with a [`JournalHeader`]; each other
//! line is an [`Entry`], and the last one of a record counts. While a batch runs it holds a lock on `.NAME.lock` beside
//! the journal, an empty file that stays there.
//!
//! # Rules
//! - A record's `sending` entry is on disk before its request leaves; at most `--jobs` records are in that state.
//! - A last line that lacks only its newline counts. Any other incomplete line at the end of a run is ignored, but a record that it
//!   names counts as `sending`. Any other damage is refused, with the number of the line.
//! - Only a look at the shop, the log or a person changes `sending` and `unknown`.
//! - Results are printed after the journal has them: the output of a run that was killed may lack the last records.
//!   `--resume` reports these as done earlier, with `"response": null`.
//! - Where the journal cannot be written, the batch stops before anything else is sent.
//! - Names are those of files: a symbolic link is what it leads to, and hard links in one directory are one input; those elsewhere are
//!   not found.

pub mod known;
pub mod open;
pub mod places;
pub mod read;
pub mod write;

use std::path::Path;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::read::OfRuns;
pub use storefront_core::outcome::RecordState as State;

use crate::log::Write;
use storefront_core::effect::Effect;
use storefront_core::failure::{Applied, Failure};
use storefront_core::text::hash::fnv1a;
use storefront_core::text::sanitize::message_line;

/// Version of the journal's format. Another version is refused: it may describe a record differently.
const VERSION: u64 = 3;
/// What makes a line a journal's header.
const MARK: &str = "storefront";
/// The reason of a record that a person noted as done.
pub const BY_HAND: &str = "noted by hand";
/// The message about a journal whose input had other columns.
const OTHER_TITLES: &str = "was started with other column titles";

/// A line of a journal.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum JournalLine {
    /// The start of a run.
    Header(Box<JournalHeader>),
    /// What became of a record.
    Record(Entry),
}

/// The batch that a journal belongs to. No other batch is continued with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalHeader {
    /// What makes it a header.
    pub journal: String,
    /// Version of the format.
    pub version: Option<u64>,
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
    /// The format that `--input-format` named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_format: Option<String>,
    /// The encoding that `--encoding` named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Hash of the titles of a CSV, which give its cells their meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub titles: Option<String>,
    /// SHA-256 of the input as this run copied it, 64 hexadecimal digits. All shards must start from the same copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How many records that copy has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// Which part of the input is run, as [`Shard`] prints it.
    pub shard: Option<String>,
    /// How many records that part has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_shard: Option<u64>,
    /// Whether flags of the run set fields of the records: then the input alone does not say what was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flags: bool,
    /// For a plan that undoes a batch: which batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Undoes>,
    /// For a plan that was made of an input of many records: which input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_of: Option<MadeOf>,
    /// Whether the run was to send again what earlier ones had sent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub restart: bool,
    /// The random name of the run, by which a log finds its own writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The id of the log that has the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// When the run began, RFC 3339.
    pub started: String,
}

/// The batch that a plan undoes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undoes {
    /// The file name of its journal.
    pub journal: String,
    /// When it began.
    pub started: String,
    /// The random name of its first run, by which a log finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Whether the plan undoes everything that the batch did.
    pub is_whole: bool,
    /// How many of its records were done at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
}

/// The input that a plan was made of. Its records have the hashes of that input's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeOf {
    /// Its real path; `None` for standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// SHA-256 of it, 64 hexadecimal digits.
    pub sha256: String,
    /// The path of the journal that a run of it would have.
    pub journal: String,
}

impl Undoes {
    /// Whether it is the batch with this journal, started at this time.
    pub fn is(&self, journal: &Path, started: &str) -> bool {
        self.started == started
            && journal.file_name().is_some_and(|name| *name.to_string_lossy() == self.journal)
    }
}

/// What is known of a record. Its name comes first: a line that was cut off still names its record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its line in the input as it was sent; in a JSON array and a plan, its number.
    pub line: u64,
    /// What became of it.
    pub state: State,
    /// Hash of the record as it is in the input, 16 hexadecimal digits.
    pub hash: String,
    /// For a failed one: whether the failure is temporary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<bool>,
    /// Name of the failure's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// HTTP status of the service's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Where it ended with a failure: whether it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Whether the shop must be changed first, and not the record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_shop: bool,
    /// The failure's message, masked and cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of one that is `partial`: the attribute that its first call created. In the file the field is named `cart`.
    #[serde(default, rename = "cart", skip_serializing_if = "Option::is_none")]
    pub created: Option<u64>,
    /// When the line was written, RFC 3339. Older journals do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// What the log of this machine has of a record that earlier runs sent; empty if those runs were elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Ahead {
    /// How the log finds it; the headers of the journal tell.
    pub of: OfRuns,
    /// Its last calls.
    pub writes: Vec<Write>,
}

impl Ahead {
    /// What its last calls were to change.
    pub fn effects(&self) -> Vec<Effect> {
        self.writes.iter().filter_map(Write::changes).collect()
    }
}

impl JournalLine {
    /// Reads a line; `None` for one that this program did not write.
    fn parse(text: &[u8]) -> Option<Self> {
        if let Ok(entry) = serde_json::from_slice::<Entry>(text) {
            return entry.checked().map(Self::Record);
        }
        serde_json::from_slice(text)
            .ok()
            .filter(|header: &JournalHeader| header.journal == MARK)
            .map(|header| Self::Header(Box::new(header)))
    }
}

impl Entry {
    /// A record that is about to be sent, or is done.
    pub fn new(line: u64, hash: u64, state: State) -> Self {
        Self { line, state, hash: format!("{hash:016x}"), ..Self::default() }
    }

    /// A record that a person noted as done.
    pub fn by_hand(line: u64, hash: u64) -> Self {
        Self { reason: Some(BY_HAND.to_owned()), ..Self::new(line, hash, State::Done) }
    }

    /// Whether a person noted it as done.
    pub fn is_by_hand(&self) -> bool {
        self.state == State::Done && self.reason.as_deref() == Some(BY_HAND)
    }

    /// A record that failed, or whose outcome is unknown. In the message, tokens are masked and control characters
    /// escaped, and a long one is cut.
    pub fn failed(line: u64, hash: u64, failure: &Failure) -> Self {
        const MAX_CHARACTERS: usize = 500;
        let state = State::after(failure);
        let has_failed = matches!(state, State::FailedTemporary | State::FailedPermanent);
        Self {
            temporary: has_failed.then_some(state == State::FailedTemporary),
            kind: Some(failure.kind.name().to_owned()),
            status: failure.status,
            applied: Some(failure.applied),
            reason: Some(message_line(&failure.message).chars().take(MAX_CHARACTERS).collect()),
            created: failure.created,
            of_shop: failure.is_of_shop(),
            ..Self::new(line, hash, state)
        }
    }

    /// An entry as it was read, if its fields are consistent.
    fn checked(mut self) -> Option<Self> {
        if self.state == State::FailedPermanent {
            self.state = if self.temporary? { State::FailedTemporary } else { State::FailedPermanent };
        }
        (self.line > 0 && self.hash().is_some()).then_some(self)
    }

    /// The hash as a number.
    fn hash(&self) -> Option<u64> {
        u64::from_str_radix(&self.hash, 16).ok()
    }
}

impl JournalHeader {
    /// The header of a journal of this version, with all other fields empty.
    pub fn new() -> Self {
        Self { journal: MARK.to_owned(), version: Some(VERSION), ..Self::default() }
    }

    /// Why a journal with this header cannot be continued by a batch with the header `ours`.
    fn mismatch(&self, ours: &Self) -> Option<String> {
        let [found, expected] = [self, ours].map(|header| {
            let view = header.store_view.as_deref().unwrap_or("none");
            [&*header.operation, &*header.service, &*header.interface, view, &*header.input]
        });
        let names = ["operation", "service", "interface", "store view", "input"];
        let differs = (0..names.len()).find(|index| found[*index] != expected[*index]).map(|index| {
            let what = names[index];
            let found = found[index];
            let expected = expected[index];
            format!("belongs to a different {what}: `{found}`, expected `{expected}`")
        });
        let part = |header: &Self| match &header.shard {
            Some(shard) => format!("shard {shard}"),
            None => "the whole input".to_owned(),
        };
        let other_part =
            (self.shard != ours.shard).then(|| format!("covers {}, expected {}", part(self), part(ours)));
        // Older journals do not tell their titles.
        let has_other_titles = self.titles.is_some() && ours.titles.is_some() && self.titles != ours.titles;
        let other_titles = has_other_titles.then(|| OTHER_TITLES.to_owned());
        self.other_version().or(differs).or(other_part).or(other_titles)
    }

    /// Whether it is for the same operation on the same part of the same input, wherever that is sent.
    fn is_for_input(&self, ours: &Self) -> bool {
        self.other_version().is_none()
            && (&self.operation, &self.input, &self.shard) == (&ours.operation, &ours.input, &ours.shard)
    }

    /// Whether this is another part of the same division as `ours`: then they have no record in common.
    fn is_other_part(&self, ours: &Self) -> bool {
        let count = |header: &Self| Some(header.shard.as_deref()?.split_once('/')?.1.to_owned());
        self.shard != ours.shard && count(self).is_some() && count(self) == count(ours)
    }

    /// How many records are its own: all of the input, or those of its shard.
    pub fn own_records(&self) -> Option<u64> {
        if self.shard.is_some() { self.of_shard } else { self.records }
    }

    /// Whether a shard that starts over in place of the journal `own` leaves this journal of another shard behind: it
    /// started with the same copy, or before.
    fn is_left_with(&self, own: &Self) -> bool {
        let began = |header: &Self| header.started.parse::<Timestamp>().ok();
        !self.is_of_other_copy(own) || began(self) < began(own)
    }

    /// Whether it was run over another copy of the input. Older journals do not tell.
    fn is_of_other_copy(&self, ours: &Self) -> bool {
        self.sha256.is_some() && ours.sha256.is_some() && self.sha256 != ours.sha256
    }

    /// What is wrong with its version, if anything.
    pub fn other_version(&self) -> Option<String> {
        let found = self.version.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
        (self.version != Some(VERSION))
            .then(|| format!("has format version {found}, this program reads version {VERSION}"))
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
    shard.is_none_or(|shard| fnv1a(key.as_bytes()) % u64::from(shard.count) == u64::from(shard.index))
}

#[cfg(test)]
mod tests {
    use serde_json::to_string;

    use super::{Entry, JournalHeader, JournalLine, Shard, State, shard_contains};
    use storefront_core::failure::{Applied, Failure, FailureKind};

    #[test]
    fn each_line_has_its_fields_in_order_and_reads_back() {
        let refused = Failure { status: Some(404), ..Failure::new(FailureKind::Refused, "no") };
        let half = Failure { created: Some(7), ..refused.clone() }.applied(Applied::Partial);
        let done = Entry { status: Some(320), ..Entry::new(2, u64::MAX, State::Done) };
        for (entry, text) in [
            (
                Entry::new(1, 0xa0, State::Sending),
                r#"{"line":1,"state":"sending","hash":"00000000000000a0"}"#,
            ),
            (done, r#"{"line":2,"state":"done","hash":"ffffffffffffffff","status":320}"#),
            (
                Entry::failed(3, 0, &refused),
                r#"{"line":3,"state":"failed","hash":"0000000000000000","temporary":false,"kind":"refused","status":404,"applied":"no","reason":"no"}"#,
            ),
            (
                Entry::failed(3, 0, &half),
                r#"{"line":3,"state":"failed","hash":"0000000000000000","temporary":true,"kind":"refused","status":404,"applied":"partial","reason":"no","cart":7}"#,
            ),
        ] {
            assert_eq!(to_string(&JournalLine::Record(entry.clone())).unwrap(), text);
            assert!(
                matches!(JournalLine::parse(text.as_bytes()), Some(JournalLine::Record(read)) if read == entry),
                "{text}"
            );
        }
    }

    #[test]
    fn a_line_whose_fields_do_not_go_together_is_none() {
        let read = |text: &str| match JournalLine::parse(text.as_bytes()) {
            Some(JournalLine::Record(entry)) => Some(entry.state),
            _ => None,
        };
        let failed = r#"{"line":3,"state":"failed","hash":"0000000000000000","temporary":false,"kind":"refused","status":null,"applied":"no","reason":"no"}"#;
        assert_eq!(read(failed), Some(State::FailedPermanent));
        assert_eq!(read(&failed.replace("false", "true")), Some(State::FailedTemporary));
        for bad in ["\"line\":0", "\"line\":-1", "\"line\":\"3\""] {
            assert_eq!(read(&failed.replace("\"line\":3", bad)), None, "{bad}");
        }
        assert_eq!(read(&failed.replace("\"temporary\":false,", "")), None);
        assert_eq!(read(&failed.replace("failed", "lost")), None);
        assert_eq!(read(&failed.replace("\"no\",", "\"never\",")), None);
    }

    #[test]
    fn a_header_reads_back_and_any_other_batch_is_told_apart() {
        let header = JournalHeader {
            service: "https://shop.example/live".to_owned(),
            interface: "marketplace".to_owned(),
            store_view: Some("fr".to_owned()),
            operation: "quote add-item".to_owned(),
            input: "a.csv".to_owned(),
            shard: Some("1/4".to_owned()),
            started: "2026-01-01T00:00:00Z".to_owned(),
            ..JournalHeader::new()
        };
        let written = to_string(&JournalLine::Header(Box::new(header.clone()))).unwrap();
        let read = |text: &str| match JournalLine::parse(text.as_bytes()) {
            Some(JournalLine::Header(header)) => *header,
            other => panic!("{other:?}"),
        };
        assert_eq!((read(&written), read(&written).mismatch(&header)), (header.clone(), None));
        for (from, to, what) in [
            ("shop.example/live", "shop.example/staging", "service"),
            ("marketplace", "magento", "interface"),
            ("\"fr\"", "null", "store view"),
            ("quote add-item", "attribute create", "operation"),
            ("a.csv", "b.csv", "input"),
        ] {
            let other = read(&written.replace(from, to)).mismatch(&header).unwrap();
            assert!(other.contains(&format!("a different {what}:")), "{other}");
        }
        for (shard, is_part) in [("\"2/4\"", true), ("\"1/3\"", false), ("\"1/4\"", false), ("null", false)] {
            let other = read(&written.replace("\"1/4\"", shard));
            assert_eq!(other.is_other_part(&header), is_part, "{shard}");
        }
        for version in ["1", "2", "99", "null"] {
            let text = written.replace("\"version\":3", &format!("\"version\":{version}"));
            assert!(read(&text).mismatch(&header).unwrap().contains("format version"), "{version}");
        }
        assert!(JournalLine::parse(br#"{"journal":"other"}"#).is_none());
    }

    #[test]
    fn only_what_was_certainly_not_applied_and_may_pass_is_run_again() {
        let of = |kind| State::after(&Failure::new(kind, "x"));
        assert_eq!(of(FailureKind::Unavailable), State::FailedTemporary);
        assert_eq!(of(FailureKind::Auth), State::FailedTemporary);
        assert_eq!(of(FailureKind::Guard), State::FailedTemporary);
        assert_eq!(State::after(&Failure::guard("x").for_good()), State::FailedPermanent);
        assert_eq!(of(FailureKind::Refused), State::FailedPermanent);
        assert_eq!(of(FailureKind::Usage), State::FailedPermanent);
        assert_eq!(of(FailureKind::Mismatch), State::Mismatch);
        assert_eq!(of(FailureKind::Unknown), State::Unknown);
        let applied = Failure::new(FailureKind::Unavailable, "x").applied(Applied::Yes);
        assert_eq!(State::after(&applied), State::FailedPermanent);
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
