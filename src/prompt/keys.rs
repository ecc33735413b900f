//! What a terminal sends, taken apart: keys, and pastes between the marks of bracketed paste.

use dialoguer::console::Key;

const PASTE_BEGINS: &[u8] = b"200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";
const CTRL_C: u8 = 3;

/// One thing a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted, line breaks and all.
    Paste(String),
}

/// The bytes that were read and not yet taken apart. They outlive a question: what was typed ahead is for the next one.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    pasting: bool,
}

impl Decoder {
    /// Adds what was read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether the rest of a key is still to come, unless it was Esc on its own.
    pub fn is_amid_a_key(&self) -> bool {
        !self.pasting && !self.bytes.is_empty()
    }

    /// The next event. `no_more` says that no byte followed the last one: then Esc is a key and not the start of a sequence.
    pub fn next(&mut self, no_more: bool) -> Option<Event> {
        loop {
            if self.pasting {
                return self.paste();
            }
            let (length, key) = match self.bytes.as_slice() {
                [] => return None,
                [0x1b, b'[', rest @ ..] => match rest.iter().position(|it| (0x40..=0x7e).contains(it)) {
                    Some(end) if rest[..=end] == *PASTE_BEGINS => {
                        self.bytes.drain(..end + 3);
                        self.pasting = true;
                        continue;
                    }
                    Some(end) => (end + 3, control_sequence(&rest[..=end])),
                    None if no_more => (self.bytes.len(), Key::Unknown),
                    None => return None,
                },
                [0x1b, b'O', last, ..] => (3, control_sequence(&[*last])),
                [0x1b, 0x1b, ..] => (1, Key::Escape),
                [0x1b] if no_more => (1, Key::Escape),
                [0x1b] | [0x1b, b'O'] if !no_more => return None,
                [0x1b, ..] => (2.min(self.bytes.len()), Key::Unknown),
                bytes => match character(bytes) {
                    Some(found) => found,
                    None if no_more => (bytes.len(), Key::Unknown),
                    None => return None,
                },
            };
            self.bytes.drain(..length);
            return Some(Event::Key(key));
        }
    }

    /// A paste that has ended. Ctrl-C ends one too: otherwise nobody could leave one whose end was lost.
    fn paste(&mut self) -> Option<Event> {
        let end = self.bytes.windows(PASTE_ENDS.len()).position(|it| it == PASTE_ENDS);
        let ctrl_c = self.bytes.iter().position(|it| *it == CTRL_C);
        if let Some(at) = ctrl_c.filter(|at| end.is_none_or(|end| *at < end)) {
            self.bytes.drain(..=at);
            self.pasting = false;
            return Some(Event::Key(Key::CtrlC));
        }
        let text = String::from_utf8_lossy(&self.bytes[..end?]).into_owned();
        self.bytes.drain(..end? + PASTE_ENDS.len());
        self.pasting = false;
        Some(Event::Paste(text))
    }
}

/// The key of a sequence, given what stands after its introducer.
fn control_sequence(sequence: &[u8]) -> Key {
    match sequence {
        b"A" => Key::ArrowUp,
        b"B" => Key::ArrowDown,
        b"C" => Key::ArrowRight,
        b"D" => Key::ArrowLeft,
        b"H" | b"1~" | b"7~" => Key::Home,
        b"F" | b"4~" | b"8~" => Key::End,
        b"3~" => Key::Del,
        b"5~" => Key::PageUp,
        b"6~" => Key::PageDown,
        _ => Key::Unknown,
    }
}

/// The character at the front and its length in bytes; `None` where its end is still to come.
fn character(bytes: &[u8]) -> Option<(usize, Key)> {
    let key = match bytes[0] {
        b'\r' | b'\n' => Key::Enter,
        0x7f | 0x08 => Key::Backspace,
        b'\t' => Key::Tab,
        0x01 => Key::Home,
        0x05 => Key::End,
        CTRL_C => Key::CtrlC,
        byte @ 0..0x80 => Key::Char(char::from(byte)),
        first => {
            let length = match first {
                0xc0..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0..0xf8 => 4,
                _ => return Some((1, Key::Unknown)),
            };
            let text = std::str::from_utf8(bytes.get(..length)?).ok();
            let Some(character) = text.and_then(|text| text.chars().next()) else {
                return Some((1, Key::Unknown));
            };
            return Some((length, Key::Char(character)));
        }
    };
    Some((1, key))
}

#[cfg(test)]
mod tests {
    use dialoguer::console::Key;

    use super::{Decoder, Event};

    fn events(chunks: &[&str]) -> Vec<Event> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk.as_bytes());
            events.extend(std::iter::from_fn(|| decoder.next(false)));
        }
        events.extend(std::iter::from_fn(|| decoder.next(true)));
        events
    }

    fn keys(chunks: &[&str]) -> Vec<Key> {
        let key = |event| match event {
            Event::Key(key) => key,
            Event::Paste(text) => panic!("{text:?} was not pasted"),
        };
        events(chunks).into_iter().map(key).collect()
    }

    #[test]
    fn keys_are_told_apart_wherever_the_bytes_are_cut() {
        let all = "a\u{1b}[A\u{1b}OB\u{1b}[3~é帝\r\u{7f}\t\u{1b}[1;5C\u{3}";
        let expected = [
            Key::Char('a'),
            Key::ArrowUp,
            Key::ArrowDown,
            Key::Del,
            Key::Char('é'),
            Key::Char('帝'),
            Key::Enter,
            Key::Backspace,
            Key::Tab,
            Key::Unknown,
            Key::CtrlC,
        ];
        assert_eq!(keys(&[all]), expected);
        for (cut, _) in all.char_indices() {
            assert_eq!(keys(&[&all[..cut], &all[cut..]]), expected, "{cut}");
        }
    }

    #[test]
    fn esc_is_a_key_only_where_nothing_follows() {
        assert_eq!(keys(&["\u{1b}"]), [Key::Escape]);
        assert_eq!(keys(&["\u{1b}\u{1b}"]), [Key::Escape, Key::Escape]);
        assert_eq!(keys(&["\u{1b}x"]), [Key::Unknown]);
    }

    #[test]
    fn a_paste_is_one_event_and_ctrl_c_leaves_one_that_never_ends() {
        let paste = Event::Paste("Potsdam\n\ny\r".to_owned());
        assert_eq!(events(&["\u{1b}[200~Pots", "dam\n\ny\r\u{1b}[20", "1~"]), [paste]);
        assert_eq!(events(&["\u{1b}[200~lost", "\u{3}"]), [Event::Key(Key::CtrlC)]);
    }
}
