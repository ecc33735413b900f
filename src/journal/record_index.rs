//! What journals say of each record, as a table on disk: so that a resumed run needs no more memory the longer the
//! journal is. Records are read in the input's order, one slot after another.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::rc::Rc;

use super::paged_file::PagedFile;
use crate::journal::record_state::RecordState;

/// Bytes of an entry: the line's hash, then the place of its last line, the status in it, and its state.
const ENTRY_SIZE: usize = 16;
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
    /// The HTTP status in that line; 0 for none. Only kept for records that are done.
    pub status: u16,
    /// Which journal that is: 0 is the batch's own. Not in the table: each journal has its own.
    pub journal: u16,
}

/// The table; it is gone when dropped.
#[derive(Debug)]
pub struct RecordIndex {
    file: Rc<RefCell<PagedFile>>,
    /// The highest record number there is.
    pub last: u64,
}

impl RecordIndex {
    /// An empty table; where it becomes long, in a file without a name in `directory`.
    pub fn new(directory: &Path) -> Self {
        Self { file: Rc::new(RefCell::new(PagedFile::new(directory))), last: 0 }
    }

    /// Sets the entry of a record, numbered from 1.
    pub fn set(&mut self, record: u64, entry: IndexEntry) -> io::Result<()> {
        if entry.offset >= MAX_PLACE {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "the journal is longer than 1 TiB"));
        }
        self.file.borrow_mut().write(offset(record), entry.to_bytes())?;
        self.last = self.last.max(record);
        Ok(())
    }

    /// The entry of a record; an empty one beyond the end.
    pub fn get(&self, record: u64) -> io::Result<IndexEntry> {
        get(&self.file, record, self.last)
    }

    /// Reads the table from the first record on.
    pub fn entries(&self) -> IndexEntries {
        IndexEntries { file: Some(self.file.clone()), at: 0, last: self.last }
    }
}

/// Entries in the order of the records.
#[derive(Debug, Default)]
pub struct IndexEntries {
    file: Option<Rc<RefCell<PagedFile>>>,
    at: u64,
    last: u64,
}

impl IndexEntries {
    /// The next record's entry; an empty one beyond the end.
    pub fn read(&mut self) -> io::Result<IndexEntry> {
        let Some(file) = &self.file else { return Ok(IndexEntry::default()) };
        self.at += 1;
        get(file, self.at, self.last)
    }
}

impl IndexEntry {
    fn to_bytes(self) -> [u8; ENTRY_SIZE] {
        let rest = self.offset << 24 | u64::from(self.status) << 8 | u64::from(self.state.code());
        (u128::from(self.hash) | u128::from(rest) << 64).to_le_bytes()
    }

    fn from_bytes(bytes: [u8; ENTRY_SIZE]) -> Self {
        let [hash, rest] = [0, 64].map(|shift| low_half(u128::from_le_bytes(bytes) >> shift));
        let [state, low, high, ..] = rest.to_le_bytes();
        Self {
            state: RecordState::from_code(state),
            hash,
            offset: rest >> 24,
            status: u16::from_le_bytes([low, high]),
            journal: 0,
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
const fn low_half(number: u128) -> u64 {
    number as u64
}

fn get(file: &RefCell<PagedFile>, record: u64, last: u64) -> io::Result<IndexEntry> {
    if record > last {
        return Ok(IndexEntry::default());
    }
    file.borrow_mut().read(offset(record)).map(IndexEntry::from_bytes)
}

fn offset(record: u64) -> u64 {
    record.saturating_sub(1) * ENTRY_SIZE as u64
}

#[cfg(test)]
mod tests {
    use super::RecordState;
    use crate::journal::record_index::{IndexEntry, RecordIndex};

    #[test]
    fn slots_come_back_in_order_with_holes_between_them() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = RecordIndex::new(directory.path());
        let done = IndexEntry {
            state: RecordState::Done,
            hash: u64::MAX,
            offset: (1 << 40) - 1,
            status: u16::MAX,
            journal: 0,
        };
        let unknown = IndexEntry { state: RecordState::Unknown, hash: 7, offset: 0, status: 0, journal: 0 };
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
                    IndexEntry {
                        state: RecordState::Done,
                        hash: record,
                        offset: record,
                        status: 200,
                        journal: 0,
                    },
                )
                .unwrap();
        }
        let mut slots = ledger.entries();
        assert!((1..=200_000).all(|record| slots.read().unwrap().hash == record));
        assert_eq!(slots.read().unwrap().state, RecordState::NotSent);
    }
}
