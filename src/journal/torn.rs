//! The last line of a journal whose writing was interrupted.
//!
//! A line that cannot be read may be the only trace of a request that was sent. If it names a record, that record
//! counts as `sending`; if it certainly was never complete, nothing was sent because of it; anything else is damage.

const RECORD: &str = "{\"record\":";
const HASH: &str = "\"hash\":\"";
/// How the other lines begin.
const OTHERS: [&str; 2] = ["{\"journal\":", "{\"failed_file\":"];

/// What a line is that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Torn {
    /// It names a record, and its hash where it got so far.
    Record(u64, Option<u64>),
    /// It was never complete, and names no record.
    Incomplete,
    /// It was changed after it had been written.
    Damaged,
}

/// Judges a line that is not valid JSON, or has no newline.
pub fn judge(line: &[u8]) -> Torn {
    // A power cut can leave the length of a file and not its content.
    let end =
        line.iter().rposition(|byte| !matches!(byte, 0 | b'\n' | b'\r' | b' ')).map_or(0, |last| last + 1);
    let text = String::from_utf8_lossy(&line[..end]);
    if OTHERS.iter().any(|start| text.starts_with(start)) {
        return Torn::Incomplete;
    }
    let Some(rest) = text.strip_prefix(RECORD) else {
        let is_start = OTHERS.iter().chain([&RECORD]).any(|start| start.starts_with(&*text));
        return if is_start { Torn::Incomplete } else { Torn::Damaged };
    };
    let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    match (rest[..digits].parse(), rest[digits..].bytes().next()) {
        (Ok(record), Some(b',')) if record > 0 => Torn::Record(record, hash(rest)),
        (_, None) => Torn::Incomplete,
        _ => Torn::Damaged,
    }
}

fn hash(text: &str) -> Option<u64> {
    let start = text.find(HASH)? + HASH.len();
    u64::from_str_radix(text.get(start..start + 16)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{Torn, judge};

    const LINE: &str = r#"{"record":12,"state":"sending","hash":"00000000000000a0"}"#;

    #[test]
    fn a_line_cut_anywhere_names_its_record_or_was_never_complete() {
        for length in 0..=LINE.len() {
            let expected = match length {
                0..=12 => Torn::Incomplete,
                13..=54 => Torn::Record(12, None),
                _ => Torn::Record(12, Some(0xa0)),
            };
            assert_eq!(judge(&LINE.as_bytes()[..length]), expected, "{length}");
            let zeros = [&LINE.as_bytes()[..length], &[0; 9]].concat();
            assert_eq!(judge(&zeros), expected, "{length}");
        }
        assert_eq!(judge(format!("{LINE}J").as_bytes()), Torn::Record(12, Some(0xa0)));
    }

    #[test]
    fn a_line_that_was_changed_is_damage() {
        for line in [r#"{"rec0rd":12,"state":"sending"}"#, r#"{"record":0,"#, r#"{"record":x,"#, "hello", "}"]
        {
            assert_eq!(judge(line.as_bytes()), Torn::Damaged, "{line}");
        }
        assert_eq!(judge(br#"{"journal":"storefront","vers"#), Torn::Incomplete);
    }
}
