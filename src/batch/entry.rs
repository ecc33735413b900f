//! The lines of a journal about records, in the order of their members.

use serde::{Serialize, Serializer};

use super::verdict::{State, state_of};
use crate::failure::Failure;
use crate::report::escape::one_line;

/// A record is about to be sent.
#[derive(Debug, Serialize)]
pub struct Sending {
    record: u64,
    state: &'static str,
    hash: Hexadecimal,
}

/// A record was applied, or nothing was to be changed.
#[derive(Debug, Serialize)]
pub struct Done {
    record: u64,
    state: &'static str,
    hash: Hexadecimal,
    status: Option<u16>,
}

/// A record failed, or nobody knows.
#[derive(Debug, Serialize)]
pub struct Failed {
    record: u64,
    state: &'static str,
    hash: Hexadecimal,
    passing: bool,
    kind: &'static str,
    status: Option<u16>,
    applied: &'static str,
    reason: String,
}

impl Sending {
    /// A line; `hash` is of the record as it stands in the input.
    pub fn new(record: u64, hash: u64) -> Self {
        Self { record, state: State::Sending.name(), hash: Hexadecimal(hash) }
    }
}

impl Done {
    /// A line; `status` is that of the service's answer, if it was asked.
    pub fn new(record: u64, hash: u64, status: Option<u16>) -> Self {
        Self { record, state: State::Done.name(), hash: Hexadecimal(hash), status }
    }
}

impl Failed {
    /// A line; tokens are masked in the message, what a terminal would obey is escaped, and a long one is cut.
    pub fn new(record: u64, hash: u64, state: State, failure: &Failure) -> Self {
        Self {
            record,
            state: state.name(),
            hash: Hexadecimal(hash),
            passing: state_of(failure) == State::FailedPassing,
            kind: failure.kind.name(),
            status: failure.status,
            applied: failure.applied.name(),
            reason: shortened(one_line(&failure.message)),
        }
    }
}

#[derive(Debug)]
struct Hexadecimal(u64);

impl Serialize for Hexadecimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

fn shortened(mut message: String) -> String {
    const LONGEST: usize = 500;
    if let Some((end, _)) = message.char_indices().nth(LONGEST) {
        message.truncate(end);
    }
    message
}

#[cfg(test)]
mod tests {
    use serde_json::to_string;

    use super::{Done, Failed, Sending};
    use crate::batch::verdict::State;
    use crate::failure::{Failure, Kind};

    #[test]
    fn each_line_has_its_members_in_order() {
        assert_eq!(
            to_string(&Sending::new(1, 0xa0)).unwrap(),
            r#"{"record":1,"state":"sending","hash":"00000000000000a0"}"#
        );
        assert_eq!(
            to_string(&Done::new(2, u64::MAX, Some(320))).unwrap(),
            r#"{"record":2,"state":"done","hash":"ffffffffffffffff","status":320}"#
        );
        let failure = Failure::new(Kind::Refused, "no").status(404);
        assert_eq!(
            to_string(&Failed::new(3, 0, State::FailedLasting, &failure)).unwrap(),
            r#"{"record":3,"state":"failed","hash":"0000000000000000","passing":false,"kind":"refused","status":404,"applied":"no","reason":"no"}"#
        );
    }
}
