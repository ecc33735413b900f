//! Snapshots: the stored profile as it was before a replacement, in a file of its own.

use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Archive, private_directory};
use crate::exact_json;
use crate::failure::Failure;

/// What is written down about a replacement before it is sent.
#[derive(Debug, Serialize)]
pub struct Taken<'a> {
    /// Who replaces: `customer update` or `customer restore`.
    pub operation: &'a str,
    /// The stored customer object, every member as it came.
    pub customer: &'a Map<String, Value>,
    /// What the replacement changes, as results show it.
    pub changes: Value,
}

/// What stands in the file.
#[derive(Serialize)]
struct Content<'a> {
    taken: String,
    service: &'a str,
    #[serde(flatten)]
    what: &'a Taken<'a>,
}

/// A snapshot on disk.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its file.
    pub path: PathBuf,
    /// The service it was taken from ([`crate::config::Settings::place`]).
    pub service: Option<String>,
    /// When it was taken, RFC 3339, UTC.
    pub taken: String,
    /// Who was about to replace the profile.
    pub operation: String,
    /// The customer object as it was.
    pub customer: Map<String, Value>,
    /// What that replacement changed.
    pub changes: Vec<Value>,
}

impl Archive {
    /// Writes a snapshot so that it is on disk whole or not at all: a file of its own, synced, then named.
    /// Snapshots older than `retention_days` are removed on the way.
    ///
    /// # Errors
    /// `internal` when it cannot be written; nothing may be sent then.
    pub fn take(&self, taken: &Taken<'_>, retention_days: u32) -> Result<PathBuf, Failure> {
        let written = self.write(taken).map_err(|error| {
            Failure::internal(format!(
                "the snapshot cannot be written to {}: {error}; nothing was sent",
                self.directory().display()
            ))
            .hint("a profile is replaced only after a snapshot; make room or set XDG_STATE_HOME")
        })?;
        self.forget_older(retention_days, &written);
        Ok(written)
    }

    fn write(&self, taken: &Taken<'_>) -> std::io::Result<PathBuf> {
        private_directory(self.directory())?;
        let now = Timestamp::now();
        let content = Content { taken: now.to_string(), service: &self.place, what: taken };
        let mut file = tempfile::NamedTempFile::new_in(self.directory())?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.as_file().sync_all()?;
        let path = self.keep(file, &now.strftime("%Y%m%dT%H%M%S.%6fZ").to_string())?;
        std::fs::File::open(self.directory())?.sync_all()?;
        Ok(path)
    }

    /// Gives the file its name; another of the same moment is never overwritten.
    fn keep(&self, mut file: tempfile::NamedTempFile, name: &str) -> std::io::Result<PathBuf> {
        let mut path = self.directory().join(format!("{name}.json"));
        for again in 2.. {
            match file.persist_noclobber(&path) {
                Ok(_) => break,
                Err(taken) if taken.error.kind() == std::io::ErrorKind::AlreadyExists => file = taken.file,
                Err(other) => return Err(other.error),
            }
            path = self.directory().join(format!("{name}-{again}.json"));
        }
        Ok(path)
    }

    /// The snapshots, newest first. Files that are no snapshot are passed over.
    ///
    /// # Errors
    /// `internal` when the directory cannot be read.
    pub fn snapshots(&self) -> Result<Vec<Snapshot>, Failure> {
        let mut found: Vec<Snapshot> =
            self.files()?.iter().filter_map(|path| Snapshot::read(path).ok()).collect();
        found.sort_by(|one, other| other.path.cmp(&one.path));
        Ok(found)
    }

    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let entries = match std::fs::read_dir(self.directory()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(Failure::internal(format!(
                    "{} cannot be read: {error}",
                    self.directory().display()
                )));
            }
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect())
    }

    /// Retention is housekeeping: what cannot be removed now is tried again next time. The latest snapshot always
    /// stays, for its replacement is yet to be sent.
    fn forget_older(&self, days: u32, latest: &Path) {
        let limit = Timestamp::now().checked_sub((i64::from(days) * 24).hours());
        let Ok(limit) = limit.map(|limit| limit.strftime("%Y%m%dT%H%M%S").to_string()) else { return };
        for path in self.files().unwrap_or_default() {
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path != latest && looks_dated(name) && *name < *limit {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn looks_dated(name: &str) -> bool {
    name.len() >= 15 && name.as_bytes()[8] == b'T' && name.bytes().take(8).all(|byte| byte.is_ascii_digit())
}

impl Snapshot {
    /// Reads a snapshot.
    ///
    /// # Errors
    /// `usage` when there is no such file or it is no snapshot.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("the snapshot {} cannot be read: {error}", path.display()))
        })?;
        Self::parse(&text, path)
    }

    /// As [`Self::read`], of a text that stands at `path`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, Failure> {
        let mut content = exact_json::parse_object(text.as_bytes()).map_err(|error| match error {
            exact_json::Error::Syntax { .. } => no_snapshot(path),
            error => Failure::usage(format!("{}: {error}", path.display())),
        })?;
        let text = |name: &str| content.get(name)?.as_str().map(str::to_owned);
        let (Some(taken), Some(operation)) = (text("taken"), text("operation")) else {
            return Err(no_snapshot(path));
        };
        let service = text("service");
        let Some(Value::Object(customer)) = content.remove("customer") else { return Err(no_snapshot(path)) };
        if !customer.get("addresses").is_some_and(Value::is_array) {
            return Err(no_snapshot(path));
        }
        let changes = match content.remove("changes") {
            Some(Value::Array(changes)) => changes,
            _ => Vec::new(),
        };
        Ok(Self { path: path.to_owned(), service, taken, operation, customer, changes })
    }

    /// The name by which `customer restore` takes it.
    pub fn name(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
    }
}

fn no_snapshot(path: &Path) -> Failure {
    Failure::usage(format!("{} is no snapshot", path.display()))
        .hint("`storefront customer history` lists the snapshots")
}

#[cfg(test)]
mod tests {
    use super::Archive;

    #[test]
    fn the_latest_snapshot_outlives_any_retention() {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive {
            snapshots: directory.path().to_owned(),
            lock: directory.path().join("lock"),
            place: "shop.example".to_owned(),
        };
        let path = |name: &str| directory.path().join(name);
        for name in ["20200101T000000.000000Z.json", "20200101T000000.000000Z-2.json", "mine.json"] {
            std::fs::write(path(name), "{}").unwrap();
        }
        archive.forget_older(0, &path("20200101T000000.000000Z-2.json"));
        let left = |name: &str| path(name).exists();
        assert!(left("20200101T000000.000000Z-2.json") && left("mine.json"));
        assert!(!left("20200101T000000.000000Z.json"));
    }
}
