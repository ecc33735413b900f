//! The lines of a journal about records, in the order of their fields. `record` is always the first: a line that was
//! cut off still names its record ([`super::torn`]).

use serde::{Serialize, Serializer};

use crate::failure::Failure;
use crate::journal::record_state::{RecordState, state_after};
use crate::sanitize::sanitize_line;

/// A record is about to be sent.
#[derive(Debug, Serialize)]
pub struct Sending<'a> {
    record: u64,
    state: &'static str,
    hash: HexHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'a str>,
}

/// A record was applied, or nothing was to be changed.
#[derive(Debug, Serialize)]
pub struct Done {
    record: u64,
    state: &'static str,
    hash: HexHash,
    status: Option<u16>,
}

/// A record failed, or its outcome is unknown.
#[derive(Debug, Serialize)]
pub struct Failed<'a> {
    record: u64,
    state: &'static str,
    hash: HexHash,
    temporary: bool,
    kind: &'static str,
    status: Option<u16>,
    applied: &'static str,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cart: Option<u64>,
}

/// The file of failed records as this run left it: only an unchanged one may be replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct FailedFileEntry {
    /// Where it is, absolute.
    pub path: String,
    /// Its length in bytes.
    pub length: u64,
    /// FNV-1a of its bytes, 16 hexadecimal digits.
    pub hash: String,
}

/// The line of a [`FailedFileEntry`].
#[derive(Debug, Serialize)]
pub struct FailedFileLine<'a> {
    /// The file.
    pub failed_file: &'a FailedFileEntry,
}

impl<'a> Sending<'a> {
    /// A line; `hash` is of the record as it stands in the input, `snapshot` names what a profile was before.
    pub fn new(record: u64, hash: u64, snapshot: Option<&'a str>) -> Self {
        Self { record, state: RecordState::Sending.name(), hash: HexHash(hash), snapshot }
    }
}

impl Done {
    /// A line; `status` is that of the service's answer, if it was asked.
    pub fn new(record: u64, hash: u64, status: Option<u16>) -> Self {
        Self { record, state: RecordState::Done.name(), hash: HexHash(hash), status }
    }
}

impl<'a> Failed<'a> {
    /// A line; tokens are masked in the message, control characters are escaped, and a long one is cut.
    pub fn new(
        record: u64,
        hash: u64,
        state: RecordState,
        failure: &Failure,
        snapshot: Option<&'a str>,
    ) -> Self {
        Self {
            record,
            state: state.name(),
            hash: HexHash(hash),
            temporary: state_after(failure) == RecordState::FailedTemporary,
            kind: failure.kind.name(),
            status: failure.status,
            applied: failure.applied.name(),
            reason: truncate_reason(sanitize_line(&failure.message)),
            snapshot,
            cart: failure.cart,
        }
    }
}

#[derive(Debug)]
struct HexHash(u64);

impl Serialize for HexHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

fn truncate_reason(mut message: String) -> String {
    const MAX_CHARACTERS: usize = 500;
    if let Some((end, _)) = message.char_indices().nth(MAX_CHARACTERS) {
        message.truncate(end);
    }
    message
}

#[cfg(test)]
mod tests {
    use serde_json::to_string;

    use super::{Done, Failed, Sending};
    use crate::failure::{Applied, Failure, FailureKind};
    use crate::journal::record_state::RecordState;

    #[test]
    fn each_line_has_its_fields_in_order() {
        assert_eq!(
            to_string(&Sending::new(1, 0xa0, None)).unwrap(),
            r#"{"record":1,"state":"sending","hash":"00000000000000a0"}"#
        );
        assert_eq!(
            to_string(&Sending::new(1, 0xa0, Some("/s/1.json"))).unwrap(),
            r#"{"record":1,"state":"sending","hash":"00000000000000a0","snapshot":"/s/1.json"}"#
        );
        assert_eq!(
            to_string(&Done::new(2, u64::MAX, Some(320))).unwrap(),
            r#"{"record":2,"state":"done","hash":"ffffffffffffffff","status":320}"#
        );
        let failure = Failure::new(FailureKind::Refused, "no").status(404);
        assert_eq!(
            to_string(&Failed::new(3, 0, RecordState::FailedPermanent, &failure, None)).unwrap(),
            r#"{"record":3,"state":"failed","hash":"0000000000000000","temporary":false,"kind":"refused","status":404,"applied":"no","reason":"no"}"#
        );
        let half = Failure { cart: Some(7), ..failure }.applied(Applied::Partial);
        let line = to_string(&Failed::new(3, 0, RecordState::FailedTemporary, &half, None)).unwrap();
        assert!(line.ends_with(r#""applied":"partial","reason":"no","cart":7}"#), "{line}");
    }
}
