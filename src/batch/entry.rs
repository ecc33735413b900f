//! The lines of a journal about records, in the order of their members.

use serde::{Serialize, Serializer};

use super::verdict::{State, state_of};
use crate::failure::Failure;

/// What is written of one record.
#[derive(Debug, Serialize)]
pub struct Entry<'a> {
    record: u64,
    state: &'static str,
    hash: Hexadecimal,
    #[serde(flatten)]
    verdict: Option<Verdict<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Verdict<'a> {
    Done { status: Option<u16> },
    Failed { passing: bool, kind: &'static str, status: Option<u16>, applied: &'static str, reason: &'a str },
}

#[derive(Debug)]
struct Hexadecimal(u64);

impl<'a> Entry<'a> {
    /// The record is about to be sent.
    pub fn sending(record: u64, hash: u64) -> Self {
        Self { record, state: State::Sending.name(), hash: Hexadecimal(hash), verdict: None }
    }

    /// It was applied, or nothing was to be changed.
    pub fn done(record: u64, hash: u64, status: Option<u16>) -> Self {
        Self {
            record,
            state: State::Done.name(),
            hash: Hexadecimal(hash),
            verdict: Some(Verdict::Done { status }),
        }
    }

    /// It failed, or nobody knows.
    pub fn failed(record: u64, hash: u64, state: State, failure: &'a Failure) -> Self {
        let verdict = Verdict::Failed {
            passing: state_of(failure) == State::FailedPassing,
            kind: failure.kind.name(),
            status: failure.status,
            applied: failure.applied.name(),
            reason: shortened(&failure.message),
        };
        Self { record, state: state.name(), hash: Hexadecimal(hash), verdict: Some(verdict) }
    }
}

impl Serialize for Hexadecimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

fn shortened(message: &str) -> &str {
    const LONGEST: usize = 500;
    message.char_indices().nth(LONGEST).map_or(message, |(end, _)| &message[..end])
}

#[cfg(test)]
mod tests {
    use super::Entry;
    use crate::batch::verdict::State;
    use crate::failure::{Failure, Kind};

    #[test]
    fn each_line_has_its_members_in_order() {
        let line = |entry: Entry<'_>| serde_json::to_string(&entry).unwrap();
        assert_eq!(
            line(Entry::sending(1, 0xa0)),
            r#"{"record":1,"state":"sending","hash":"00000000000000a0"}"#
        );
        assert_eq!(
            line(Entry::done(2, u64::MAX, Some(320))),
            r#"{"record":2,"state":"done","hash":"ffffffffffffffff","status":320}"#
        );
        let failure = Failure::new(Kind::Refused, "no").status(404);
        assert_eq!(
            line(Entry::failed(3, 0, State::FailedLasting, &failure)),
            r#"{"record":3,"state":"failed","hash":"0000000000000000","passing":false,"kind":"refused","status":404,"applied":"no","reason":"no"}"#
        );
    }
}
