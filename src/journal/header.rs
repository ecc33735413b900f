//! The first line of a journal: which batch it belongs to.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::journal::partition::Shard;

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

#[cfg(test)]
mod tests {
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
