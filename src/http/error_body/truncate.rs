//! Foreign text, cut to what a person reads in one message.

use crate::redact::secrets;

/// Bytes of foreign text in a message. The whole of it stays in the failure's `service`.
const MAX_CHARS: usize = 600;
/// Characters looked at, so that endless white space is not read to its end.
const MAX_SCANNED: usize = 64 * MAX_CHARS;

/// A sentence under construction: white space becomes one space, and what is too long ends with `…`.
#[derive(Debug, Default)]
pub(crate) struct Truncated {
    text: String,
    looked_at: usize,
    full: bool,
}

impl Truncated {
    /// Appends a piece, or as much of it as there is room for.
    pub(crate) fn push(&mut self, piece: &str) {
        for character in piece.chars() {
            if self.full {
                return;
            }
            self.push_one(character);
        }
    }

    /// Appends one character, if there is room.
    pub(crate) fn push_one(&mut self, character: char) {
        if self.full {
            return;
        }
        self.looked_at += 1;
        if self.text.len() >= MAX_CHARS || self.looked_at > MAX_SCANNED {
            self.full = true;
            self.text.truncate(self.text.trim_end().len());
            self.text.push('…');
        } else if !character.is_whitespace() {
            self.text.push(character);
        } else if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    /// Whether everything more is dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether nothing readable came yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes the full stop off the end, so that the sentence can go on.
    pub(crate) fn trim_terminator(&mut self) {
        let end = self.text.trim_end().trim_end_matches(['.', ':']).len();
        self.text.truncate(end);
    }

    /// The sentence, without a full stop at its end, and without our tokens. They are masked only here, because a
    /// placeholder may bring in the second half of one, and the cut may fall into another.
    pub(crate) fn finish(mut self) -> String {
        self.trim_terminator();
        match self.text.strip_suffix('…').filter(|_| self.full) {
            Some(cut) => format!("{}…", secrets().cut_text(cut)),
            None => secrets().text(&self.text).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::http::error_body::truncate::{MAX_CHARS, Truncated};

    fn clipped(pieces: &[&str]) -> String {
        let mut sentence = Truncated::default();
        for piece in pieces {
            sentence.push(piece);
        }
        sentence.finish()
    }

    #[test]
    fn white_space_is_one_space_and_the_full_stop_goes() {
        assert_eq!(clipped(&["  a\r\n\t b", " ", " c. "]), "a b c");
        assert_eq!(clipped(&["..."]), "");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let long = clipped(&["é".repeat(MAX_CHARS).as_str()]);
        assert_eq!(long, format!("{}…", "é".repeat(MAX_CHARS / 2)));
        assert_eq!(clipped(&[" ".repeat(100_000).as_str(), "late"]), "…");
    }
}
