//! What journals say of each record, as a table on disk: so that a resumed run needs no more memory the longer the
//! journal is. Records are read in the input's order, one slot after another.

use std::cell::RefCell;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::rc::Rc;

use tempfile::{SpooledTempFile, spooled_tempfile_in};

use crate::journal::record_state::RecordState;

/// Bytes of a slot: the line's hash, then the place of its last line, its journal and its state.
const ENTRY_SIZE: usize = 16;
/// A table of up to so many bytes stays in memory.
const MAX_IN_MEMORY: usize = 256 << 10;
/// Slots that are read at a time.
const READ_AHEAD: usize = 512;
/// The longest journal that can be indexed, in bytes: 40 bits.
const MAX_PLACE: u64 = 1 << 40;

/// What is known of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexEntry {
    /// Its latest state.
    pub state: RecordState,
    /// Hash of the record as it was then; 0 where that is unknown.
    pub hash: u64,
    /// Where its last line begins in its journal, in bytes.
    pub offset: u64,
    /// Which journal that is: 0 is the batch's own.
    pub journal: u16,
}

/// The table; it is gone when dropped.
#[derive(Debug)]
pub struct RecordIndex {
    file: Rc<RefCell<SpooledTempFile>>,
    /// The highest record number there is.
    pub last: u64,
}

impl RecordIndex {
    /// An empty table; where it becomes long, in a file without a name in `directory`.
    pub fn new(directory: &Path) -> Self {
        let file = spooled_tempfile_in(MAX_IN_MEMORY, directory);
        Self { file: Rc::new(RefCell::new(file)), last: 0 }
    }

    /// Sets the slot of a record, numbered from 1.
    pub fn set(&mut self, record: u64, slot: IndexEntry) -> io::Result<()> {
        if slot.offset >= MAX_PLACE {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "the journal is longer than 1 TiB"));
        }
        let rest = slot.offset << 24 | u64::from(slot.journal) << 8 | u64::from(slot.state.code());
        let mut bytes = [0; ENTRY_SIZE];
        bytes[..8].copy_from_slice(&slot.hash.to_le_bytes());
        bytes[8..].copy_from_slice(&rest.to_le_bytes());
        let mut file = self.file.borrow_mut();
        seek(&mut file, offset(record))?;
        file.write_all(&bytes)?;
        self.last = self.last.max(record);
        Ok(())
    }

    /// The slot of a record; an empty one beyond the end.
    pub fn get(&self, record: u64) -> io::Result<IndexEntry> {
        if record > self.last {
            return Ok(IndexEntry::default());
        }
        let mut file = self.file.borrow_mut();
        seek(&mut file, offset(record))?;
        let mut bytes = [0; ENTRY_SIZE];
        file.read_exact(&mut bytes)?;
        Ok(slot(&bytes))
    }

    /// Reads the table from the first record on.
    pub fn entries(&self) -> IndexEntries {
        IndexEntries { file: Some(self.file.clone()), at: 0, buffer: Vec::new().into_iter() }
    }
}

/// Slots in the order of the records.
#[derive(Debug, Default)]
pub struct IndexEntries {
    file: Option<Rc<RefCell<SpooledTempFile>>>,
    at: u64,
    buffer: std::vec::IntoIter<IndexEntry>,
}

impl IndexEntries {
    /// The next record's slot; an empty one beyond the end.
    pub fn read(&mut self) -> io::Result<IndexEntry> {
        if self.buffer.len() == 0
            && let Some(file) = &self.file
        {
            let mut file = file.borrow_mut();
            seek(&mut file, self.at)?;
            let mut bytes = Vec::with_capacity(READ_AHEAD * ENTRY_SIZE);
            Read::by_ref(&mut *file).take((READ_AHEAD * ENTRY_SIZE) as u64).read_to_end(&mut bytes)?;
            self.at += bytes.len() as u64;
            let (chunks, _) = bytes.as_chunks::<ENTRY_SIZE>();
            self.buffer = chunks.iter().map(slot).collect::<Vec<_>>().into_iter();
        }
        let next = self.buffer.next();
        if next.is_none() {
            self.file = None;
        }
        Ok(next.unwrap_or_default())
    }
}

/// A seek costs a system call, and records are mostly set one after another.
fn seek(file: &mut SpooledTempFile, offset: u64) -> io::Result<()> {
    if file.stream_position()? != offset {
        file.seek(SeekFrom::Start(offset))?;
    }
    Ok(())
}

fn offset(record: u64) -> u64 {
    record.saturating_sub(1) * ENTRY_SIZE as u64
}

fn slot(bytes: &[u8; ENTRY_SIZE]) -> IndexEntry {
    let (hash, rest) = bytes.split_at(8);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let rest = number(rest);
    IndexEntry {
        state: RecordState::from_code(rest.to_le_bytes()[0]),
        hash: number(hash),
        offset: rest >> 24,
        journal: u16::from_le_bytes([rest.to_le_bytes()[1], rest.to_le_bytes()[2]]),
    }
}

#[cfg(test)]
mod tests {
    use super::RecordState;
    use crate::journal::record_index::{IndexEntry, RecordIndex};

    #[test]
    fn slots_come_back_in_order_with_holes_between_them() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = RecordIndex::new(directory.path());
        let done =
            IndexEntry { state: RecordState::Done, hash: u64::MAX, offset: (1 << 40) - 1, journal: u16::MAX };
        let unknown = IndexEntry { state: RecordState::Unknown, hash: 7, offset: 0, journal: 3 };
        ledger.set(4, unknown).unwrap();
        ledger.set(2, unknown).unwrap();
        ledger.set(2, done).unwrap();
        for _ in 0..2 {
            let mut slots = ledger.entries();
            let read: Vec<IndexEntry> = (0..6).map(|_| slots.read().unwrap()).collect();
            assert_eq!(
                read,
                [
                    IndexEntry::default(),
                    done,
                    IndexEntry::default(),
                    unknown,
                    IndexEntry::default(),
                    IndexEntry::default()
                ]
            );
        }
        assert_eq!(
            (ledger.last, ledger.get(2).unwrap(), ledger.get(9).unwrap()),
            (4, done, IndexEntry::default())
        );
        assert!(ledger.set(1, IndexEntry { offset: 1 << 40, ..done }).is_err());
    }

    #[test]
    fn a_long_table_is_read_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = RecordIndex::new(directory.path());
        for record in 1..=200_000 {
            ledger
                .set(
                    record,
                    IndexEntry { state: RecordState::Done, hash: record, offset: record, journal: 0 },
                )
                .unwrap();
        }
        let mut slots = ledger.entries();
        assert!((1..=200_000).all(|record| slots.read().unwrap().hash == record));
        assert_eq!(slots.read().unwrap().state, RecordState::NotSent);
    }
}
