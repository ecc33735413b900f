//! Where the records of a journal are in an input that may have been sorted, or have got rows, since they were sent.
//!
//! A record is known by its hash. One that is at its old place is that one; of the others, each is the first with its
//! hash that was not found yet, so that equal ones keep their order. A record that the journal does not have replaces the
//! one that was at this place, if that is nowhere else: it is that record, changed. Otherwise it is new.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use storefront_core::outcome::RecordState as State;

/// The latest entry of a record in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LatestEntry {
    /// Its state.
    pub state: State,
    /// The HTTP status; 0 without one.
    pub status: u16,
    /// Hash of the record at that time; 0 if it is unknown.
    pub hash: u64,
    /// Whether the first of its calls was applied, and another is missing.
    pub is_partial: bool,
    /// Whether it was applied although it failed.
    pub is_applied: bool,
    /// Whether an earlier run began to send it, whatever became of it since.
    pub has_left: bool,
    /// For one of unknown outcome: whether this run has looked at it.
    pub is_looked_at: bool,
    /// Where the line begins, in bytes.
    pub offset: u64,
}

impl LatestEntry {
    /// Whether it was sent, at least in part, and is not done: its state must not be overwritten.
    pub fn was_sent(self) -> bool {
        match self.state {
            State::Sending | State::Unknown | State::Mismatch => true,
            State::FailedTemporary => self.is_partial,
            State::FailedPermanent => self.is_applied,
            _ => false,
        }
    }

    /// Whether it is done, or may be.
    pub fn may_be_applied(self) -> bool {
        self.state == State::Done || self.was_sent()
    }

    /// Whether the record with this hash is unchanged since then.
    pub fn is_of(self, hash: u64) -> bool {
        self.hash == hash || self.hash == 0
    }
}

/// The records of a journal, by their names.
type Records = BTreeMap<u64, LatestEntry>;

/// Which record of a journal is at which place of an input.
#[derive(Debug, Default)]
pub struct Places {
    /// The names of records that are not at the place by which they are named, by their places.
    moved: HashMap<u64, u64>,
    /// The names of records that may have been applied, and are missing from the input.
    pub missing: Vec<u64>,
    /// Whether rows were moved while it is not known what was somewhere: a line that was cut off lacks the hash.
    pub is_unsure: bool,
}

impl Places {
    /// The name of the record at this place.
    pub fn name(&self, place: u64) -> u64 {
        self.moved.get(&place).copied().unwrap_or(place)
    }

    /// Finds the records of a journal in an input. `read` passes on the place and the hash of each record, in order.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn find<E>(
        past: &Records,
        mut read: impl FnMut(&mut dyn FnMut(u64, u64)) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut left: BTreeSet<u64> = past.keys().copied().collect();
        if left.is_empty() {
            return Ok(Self::default());
        }
        let mut last = past.last_key_value().map_or(0, |(name, _)| *name);
        read(&mut |place, hash| {
            last = last.max(place);
            if latest(past, place).is_of(hash) {
                left.remove(&place);
            }
        })?;
        if left.is_empty() {
            return Ok(Self::default());
        }
        Self::find_moved(past, left, last, read)
    }

    /// As [`Self::find`], if some are not at their old places.
    fn find_moved<E>(
        past: &Records,
        mut left: BTreeSet<u64>,
        mut last: u64,
        mut read: impl FnMut(&mut dyn FnMut(u64, u64)) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut wanted = HashMap::<u64, VecDeque<u64>>::new();
        for name in &left {
            wanted.entry(latest(past, *name).hash).or_default().push_back(*name);
        }
        let displaced = left.clone();
        let mut found = Self::default();
        let mut strangers = Vec::new();
        read(&mut |place, hash| {
            let is_in_place =
                !displaced.contains(&place) && latest(past, place).is_of(hash) && past.contains_key(&place);
            if is_in_place {
                return;
            }
            match wanted.get_mut(&hash).and_then(VecDeque::pop_front) {
                Some(name) => {
                    left.remove(&name);
                    found.moved.insert(place, name);
                }
                None if past.contains_key(&place) => strangers.push(place),
                None => {}
            }
        })?;
        for place in strangers {
            // It is the record that was here, changed.
            if left.remove(&place) {
                continue;
            }
            last += 1;
            found.moved.insert(place, last);
        }
        found.missing = left.into_iter().filter(|name| latest(past, *name).may_be_applied()).collect();
        found.is_unsure = !found.moved.is_empty() && past.values().any(|latest| latest.hash == 0);
        Ok(found)
    }
}

/// The latest entry of a record, by its name.
fn latest(records: &Records, name: u64) -> LatestEntry {
    records.get(&name).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{LatestEntry, Places, Records, State};

    /// The names of the records of an input, and what is missing, where the journal has these: each is a letter, a capital one where
    /// it has failed.
    fn named(journal: &str, input: &str) -> (Vec<u64>, Vec<u64>) {
        let hash = |letter: u8| u64::from(letter.to_ascii_lowercase());
        let entry = |letter: u8| {
            let is_failed = letter.is_ascii_uppercase();
            let state = if is_failed { State::FailedPermanent } else { State::Done };
            LatestEntry { state, hash: hash(letter), ..LatestEntry::default() }
        };
        let records = (1..).zip(journal.bytes()).filter(|(_, letter)| *letter != b'.');
        let past: Records = records.map(|(name, letter)| (name, entry(letter))).collect();
        let places = Places::find(&past, |each| {
            (1..).zip(input.bytes()).for_each(|(place, letter)| each(place, hash(letter)));
            Ok::<_, ()>(())
        });
        let places = places.unwrap();
        ((1..=input.len() as u64).map(|place| places.name(place)).collect(), places.missing)
    }

    #[test]
    fn a_record_is_found_by_its_hash_and_a_new_one_has_a_name_of_its_own() {
        for (journal, input, names, missing) in [
            ("", "abc", &[1, 2, 3][..], &[][..]),
            ("abc", "abcd", &[1, 2, 3, 4], &[]),
            ("abc", "cab", &[3, 1, 2], &[]),
            ("ab", "xab", &[4, 1, 2], &[]),
            ("ab.", "bxa", &[2, 4, 1], &[]),
            // Equal ones are counted.
            ("aa", "aaa", &[1, 2, 3], &[]),
            ("aab", "baaa", &[3, 2, 1, 4], &[]),
            ("a.a", "xaaa", &[5, 1, 3, 4], &[]),
            // Changed in its place: sent or not.
            ("abc", "axc", &[1, 2, 3], &[]),
            ("aBc", "axc", &[1, 2, 3], &[]),
            // Changed and moved: what was not applied is new, what was is missing.
            ("aBc", "xca", &[4, 3, 1], &[]),
            ("abc", "xca", &[4, 3, 1], &[2]),
            ("abC", "ab", &[1, 2], &[]),
            ("abc", "bc", &[2, 3], &[1]),
        ] {
            assert_eq!(named(journal, input), (names.to_vec(), missing.to_vec()), "{journal} {input}");
        }
    }
}
