//! The two lines that nearly all of a journal consists of, in exactly the form in which this program writes them: read
//! without the general JSON parser, which takes ten times as long. Any other line is for that parser.

use crate::journal::record_state::RecordState;

/// A line about a record that is being sent or is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainLine {
    /// Number of the record, from 1.
    pub record: u64,
    /// `Sending` or `Done`.
    pub state: RecordState,
    /// Hash of the record.
    pub hash: u64,
    /// The HTTP status; 0 for none.
    pub status: u16,
}

/// Reads a line with its newline; `None` for one that is not exactly as this program writes it.
pub(super) fn parse(line: &[u8]) -> Option<PlainLine> {
    let (record, rest) = number(line.strip_prefix(b"{\"record\":")?)?;
    let rest = rest.strip_prefix(b",\"state\":\"")?;
    let sending: Option<&[u8]> = rest.strip_prefix(b"sending\",\"hash\":\"");
    if let Some((hash, end)) = sending.and_then(<[u8]>::split_first_chunk) {
        let line = PlainLine { record, state: RecordState::Sending, hash: hexadecimal(hash)?, status: 0 };
        return (end == b"\"}\n").then_some(line);
    }
    let (hash, rest) = rest.strip_prefix(b"done\",\"hash\":\"")?.split_first_chunk()?;
    let status = rest.strip_prefix(b"\",\"status\":")?.strip_suffix(b"}\n")?;
    let status = match number(status) {
        Some((status, [])) => status.try_into().ok()?,
        None if status == b"null" => 0,
        _ => return None,
    };
    Some(PlainLine { record, state: RecordState::Done, hash: hexadecimal(hash)?, status })
}

/// A positive decimal number at the start, and what follows it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.first().is_none_or(|first| *first == b'0') {
        return None;
    }
    let value = digits
        .iter()
        .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    Some((value, rest))
}

fn hexadecimal(digits: &[u8; 16]) -> Option<u64> {
    digits.iter().try_fold(0, |sum, digit| Some(sum << 4 | u64::from(char::from(*digit).to_digit(16)?)))
}

#[cfg(test)]
mod tests {
    use super::{PlainLine, parse};
    use crate::journal::entry::{Done, Sending};
    use crate::journal::record_state::RecordState;

    fn line(entry: &impl serde::Serialize) -> String {
        serde_json::to_string(entry).unwrap() + "\n"
    }

    #[test]
    fn what_is_written_is_read() {
        for (record, hash) in [(1, 0), (10_000_000, 0x0123_4567_89ab_cdef), (u64::MAX, u64::MAX)] {
            let sending = PlainLine { record, state: RecordState::Sending, hash, status: 0 };
            assert_eq!(parse(line(&Sending::new(record, hash, None)).as_bytes()), Some(sending));
            for status in [None, Some(200), Some(u16::MAX)] {
                let done = PlainLine { state: RecordState::Done, status: status.unwrap_or(0), ..sending };
                assert_eq!(parse(line(&Done::new(record, hash, status)).as_bytes()), Some(done));
            }
        }
    }

    #[test]
    fn any_other_line_is_for_the_json_parser() {
        let sending = line(&Sending::new(12, 7, None));
        let done = line(&Done::new(12, 7, Some(200)));
        for text in [&sending, &done] {
            for length in 0..text.len() {
                assert_eq!(parse(&text.as_bytes()[..length]), None, "{}", &text[..length]);
            }
        }
        for other in [
            line(&Sending::new(12, 7, Some("a"))),
            line(&Sending::new(0, 7, None)),
            sending.replace("12", "012"),
            sending.replace("12", "18446744073709551616"),
            sending.replace("0007", "000g"),
            sending.replace("sending", "unknown"),
            done.replace("200", "70000"),
            done.replace("200", "\"200\""),
            done.replace("200", "2e2"),
            done.replace('}', ",\"record\":13}"),
        ] {
            assert_eq!(parse(other.as_bytes()), None, "{other}");
        }
    }
}
