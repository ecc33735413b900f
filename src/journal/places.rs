//! Where the records of a journal stand in an input that may have been sorted, or have got rows, since they were sent.
//!
//! A record is known by its hash. Equal ones keep their order. One that stands where it stood before is that one; of the others
//! each is the first with its hash that was not met yet. A record that the journal does not have takes the place of the one that
//! stood there, where that is nowhere else: it is that one, changed. Else it is new.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::read::PreviousRun;

/// Which record of a journal stands where.
#[derive(Debug, Default)]
pub struct Places {
    /// The names of records that do not stand in the place that they are named by, by their places.
    moved: HashMap<u64, u64>,
    /// The names of records that may have been applied, and are not in the input any more.
    pub missing: Vec<u64>,
    /// Whether rows were moved, and what stood somewhere is not known: a line that was cut off does not have the hash.
    pub is_unsure: bool,
}

impl Places {
    /// The name of the record in this place.
    pub fn name(&self, place: u64) -> u64 {
        self.moved.get(&place).copied().unwrap_or(place)
    }

    /// Finds the records of a journal in an input, of which `read` hands on the place and the hash of each record, in their order.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn find<E>(
        past: &PreviousRun,
        mut read: impl FnMut(&mut dyn FnMut(u64, u64)) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut left: BTreeSet<u64> = past.records().map(|(name, _)| name).collect();
        if left.is_empty() {
            return Ok(Self::default());
        }
        let mut last = past.last();
        read(&mut |place, hash| {
            last = last.max(place);
            if past.latest(place).is_of(hash) {
                left.remove(&place);
            }
        })?;
        if left.is_empty() {
            return Ok(Self::default());
        }
        Self::find_moved(past, left, last, read)
    }

    /// The same where these do not stand where they stood.
    fn find_moved<E>(
        past: &PreviousRun,
        mut left: BTreeSet<u64>,
        mut last: u64,
        mut read: impl FnMut(&mut dyn FnMut(u64, u64)) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut wanted = HashMap::<u64, VecDeque<u64>>::new();
        for name in &left {
            wanted.entry(past.latest(*name).hash).or_default().push_back(*name);
        }
        let displaced = left.clone();
        let (mut found, mut strangers) = (Self::default(), Vec::new());
        read(&mut |place, hash| {
            let is_in_place =
                !displaced.contains(&place) && past.latest(place).is_of(hash) && past.has(place);
            if is_in_place {
                return;
            }
            match wanted.get_mut(&hash).and_then(VecDeque::pop_front) {
                Some(name) => {
                    left.remove(&name);
                    found.moved.insert(place, name);
                }
                None if past.has(place) => strangers.push(place),
                None => {}
            }
        })?;
        for place in strangers {
            // It is the one that stood here, changed.
            if left.remove(&place) {
                continue;
            }
            last += 1;
            found.moved.insert(place, last);
        }
        found.missing = left.into_iter().filter(|name| past.latest(*name).may_be_applied()).collect();
        found.is_unsure = !found.moved.is_empty() && past.records().any(|(_, latest)| latest.hash == 0);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::Places;
    use crate::journal::State;
    use crate::journal::read::{LatestEntry, PreviousRun};

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
        let past = PreviousRun::with(records.map(|(name, letter)| (name, entry(letter))));
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
