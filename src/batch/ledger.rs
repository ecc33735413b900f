//! What a journal says of each record, as a table on disk: so that a resumed run needs no more memory the longer
//! the journal is. Records are read in the input's order, one slot after another.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::verdict::State;

/// Bytes of a slot: the line's hash, then the place of its last line in the journal and its state.
const SLOT: usize = 16;

/// What is known of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slot {
    /// Its last word.
    pub state: State,
    /// Hash of the record as it was then.
    pub hash: u64,
    /// Where its last line begins in the journal, in bytes.
    pub place: u64,
}

/// The table; it is gone when dropped.
#[derive(Debug)]
pub struct Ledger {
    file: File,
    at: u64,
    /// The highest record number there is.
    pub last: u64,
}

impl Ledger {
    /// An empty table in a file without a name, in `directory`.
    pub fn new(directory: &Path) -> std::io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(directory)?, at: 0, last: 0 })
    }

    /// Sets the slot of a record, numbered from 1.
    pub fn set(&mut self, record: u64, slot: Slot) -> std::io::Result<()> {
        let start = record.saturating_sub(1) * SLOT as u64;
        if self.at != start {
            self.file.seek(SeekFrom::Start(start))?;
        }
        let mut bytes = [0; SLOT];
        bytes[..8].copy_from_slice(&slot.hash.to_le_bytes());
        bytes[8..].copy_from_slice(&(slot.place << 8 | u64::from(slot.state.code())).to_le_bytes());
        self.file.write_all(&bytes)?;
        self.at = start + SLOT as u64;
        self.last = self.last.max(record);
        Ok(())
    }

    /// Reads the table from the first record on.
    pub fn slots(&mut self) -> std::io::Result<Slots> {
        let file = self.file.try_clone()?;
        self.at = u64::MAX;
        let mut reader = BufReader::new(file);
        reader.rewind()?;
        Ok(Slots { reader: Some(reader) })
    }
}

/// Slots in the order of the records.
#[derive(Debug, Default)]
pub struct Slots {
    reader: Option<BufReader<File>>,
}

impl Slots {
    /// The next record's slot; an empty one beyond the end.
    pub fn read(&mut self) -> std::io::Result<Slot> {
        let Some(reader) = &mut self.reader else { return Ok(Slot::default()) };
        let mut bytes = [0; SLOT];
        match reader.read_exact(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                self.reader = None;
                return Ok(Slot::default());
            }
            read => read?,
        }
        let (hash, rest) = bytes.split_at(8);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let rest = number(rest);
        let code = u8::try_from(rest & 0xff).unwrap_or_default();
        Ok(Slot { state: State::from_code(code), hash: number(hash), place: rest >> 8 })
    }
}

#[cfg(test)]
mod tests {
    use super::{Ledger, Slot, State};

    #[test]
    fn slots_come_back_in_order_with_holes_between_them() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::new(directory.path()).unwrap();
        let done = Slot { state: State::Done, hash: u64::MAX, place: 1 << 40 };
        let unknown = Slot { state: State::Unknown, hash: 7, place: 0 };
        ledger.set(4, unknown).unwrap();
        ledger.set(2, unknown).unwrap();
        ledger.set(2, done).unwrap();
        for _ in 0..2 {
            let mut slots = ledger.slots().unwrap();
            let read: Vec<Slot> = (0..6).map(|_| slots.read().unwrap()).collect();
            assert_eq!(
                read,
                [Slot::default(), done, Slot::default(), unknown, Slot::default(), Slot::default()]
            );
        }
        assert_eq!(ledger.last, 4);
    }
}
