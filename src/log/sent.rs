//! Records of batches that were sent, found by their content under whatever name.

use std::collections::HashMap;

use rusqlite::{Row, params};
use serde_json::Value;

use super::names::keyed_hash;
use super::writes::MAY_BE_APPLIED;
use super::{RunId, WriteLog, stored, time};
use jiff::Timestamp;
use storefront_core::failure::Failure;

/// A batch that sent a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentBy {
    /// The run.
    pub run: RunId,
    /// Its journal.
    pub journal: String,
    /// When it began.
    pub began: Timestamp,
}

/// The records that other batches sent, by their hashes; a hash occurs as often as it was sent.
#[derive(Debug, Default)]
pub struct SentRecords {
    sent: HashMap<Vec<u8>, Vec<SentBy>>,
    /// The hashes that are asked for, each with the hash in the log.
    keyed: HashMap<u64, Vec<u8>>,
}

impl SentRecords {
    /// How many records with this hash were sent.
    pub fn count_of(&self, hash: u64) -> u64 {
        self.keyed.get(&hash).and_then(|keyed| self.sent.get(keyed)).map_or(0, |sent| sent.len() as u64)
    }

    /// Takes a batch that sent a record with this hash, as long as more than `known` are left.
    pub fn take(&mut self, hash: u64, known: u64) -> Option<SentBy> {
        let sent = self.sent.get_mut(self.keyed.get(&hash)?)?;
        if sent.len() as u64 > known { sent.pop() } else { None }
    }
}

impl WriteLog {
    /// The records with these hashes that other batches of an operation sent, if the batch began after `since` or has
    /// something left to do, and the record is done or of unknown outcome.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn sent_records(
        &self,
        (service, operation): (&str, &str),
        own: &[String],
        since: Timestamp,
        hashes: &[u64],
    ) -> Result<SentRecords, Failure> {
        let find = format!(
            "SELECT record_hash, run.id, run.journal, run.began FROM write JOIN run ON run.id = write.run \
             WHERE run.service = ?1 AND run.operation = ?2 AND record_hash IS NOT NULL AND journal IS NOT NULL \
             AND run.uuid NOT IN (SELECT value FROM json_each(?3)) \
             AND {MAY_BE_APPLIED} \
             AND (run.began >= ?4 OR NOT (SELECT is_complete FROM run AS last WHERE last.journal = run.journal \
                                          AND last.uuid NOT IN (SELECT value FROM json_each(?3)) ORDER BY last.id DESC LIMIT 1)) \
             GROUP BY run.journal, record, record_hash"
        );
        let sent_by = |row: &Row<'_>| {
            let sent = SentBy { run: RunId(row.get(1)?), journal: row.get(2)?, began: time(row.get(3)?) };
            Ok((row.get::<_, Vec<u8>>(0)?, sent))
        };
        self.read(|connection| {
            let mut found = SentRecords::default();
            let mut find = connection.prepare_cached(&find)?;
            let own = Value::from(own).to_string();
            for row in find.query_map(params![service, operation, own, stored(since)], sent_by)? {
                let (hash, sent) = row?;
                found.sent.entry(hash).or_default().push(sent);
            }
            if !found.sent.is_empty() {
                for hash in hashes {
                    found.keyed.insert(*hash, keyed_hash(connection, "record", &format!("{hash:016x}"))?);
                }
            }
            Ok(found)
        })
    }
}
