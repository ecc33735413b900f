//! A JSON array, split into the texts of its elements without holding the whole. The elements themselves are
//! parsed by the caller.

use std::io::BufRead;

use super::{Input, Next, text, unreadable};
use crate::failure::Failure;

/// Reads elements.
pub struct Elements {
    input: Input,
    name: String,
    line: u64,
    is_after_cr: bool,
    begun: bool,
    ended: bool,
}

/// Where the scanner stands inside an element.
#[derive(Default)]
struct Depth {
    brackets: usize,
    in_string: bool,
    escaped: bool,
}

impl Elements {
    pub fn new(input: Input, name: String) -> Self {
        Self { input, name, line: 1, is_after_cr: false, begun: false, ended: false }
    }

    pub fn read(&mut self) -> Next {
        if self.ended {
            return Ok(None);
        }
        match (self.begun, self.peek()?) {
            (false, Some(b'[')) => self.skip(),
            (true, Some(b',')) => {
                self.skip();
                return self.element();
            }
            (true, Some(b']')) => return self.end(),
            (false, found) => return Err(self.unexpected("`[`", found)),
            (true, found) => return Err(self.unexpected("`,` or `]`", found)),
        }
        self.begun = true;
        if self.peek()? == Some(b']') { self.end() } else { self.element() }
    }

    fn element(&mut self) -> Next {
        match self.peek()? {
            Some(b',' | b']') | None => {
                let found = self.peek()?;
                Err(self.unexpected("a value", found))
            }
            Some(_) => {
                let line = self.line;
                let bytes = self.take()?;
                Ok(Some(text(line, bytes)))
            }
        }
    }

    /// The bytes up to the comma or bracket that ends the element.
    fn take(&mut self) -> Result<Vec<u8>, Failure> {
        let mut element = Vec::new();
        let mut depth = Depth::default();
        loop {
            let buffer = self.input.fill_buf().map_err(|error| unreadable(&self.name, &error))?;
            if buffer.is_empty() {
                return Err(self.unexpected("`,` or `]`", None));
            }
            let end = buffer.iter().position(|byte| depth.ends_before(*byte));
            let taken = end.unwrap_or(buffer.len());
            element.extend_from_slice(&buffer[..taken]);
            self.line += newlines(&buffer[..taken], &mut self.is_after_cr);
            self.input.consume(taken);
            if end.is_some() {
                element.truncate(element.trim_ascii_end().len());
                return Ok(element);
            }
        }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Result<Option<u8>, Failure> {
        loop {
            let buffer = self.input.fill_buf().map_err(|error| unreadable(&self.name, &error))?;
            let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let found = buffer.get(blank).copied();
            let at_end = buffer.is_empty();
            self.line += newlines(&buffer[..blank], &mut self.is_after_cr);
            self.input.consume(blank);
            if found.is_some() || at_end {
                return Ok(found);
            }
        }
    }

    fn skip(&mut self) {
        self.input.consume(1);
        self.is_after_cr = false;
    }

    fn end(&mut self) -> Next {
        self.skip();
        self.ended = true;
        match self.peek()? {
            None => Ok(None),
            found => Err(self.unexpected("the end of the input", found)),
        }
    }

    fn unexpected(&self, expected: &str, found: Option<u8>) -> Failure {
        let what = match found {
            None => "unexpected end of input in array".to_owned(),
            Some(byte) => format!("expected {expected}, found `{}`", char::from(byte)),
        };
        Failure::usage(format!("{} is not a JSON array: line {}: {what}", self.name, self.line))
    }
}

impl Depth {
    /// Takes one byte in; whether the element has ended before it.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.in_string {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' => self.brackets += 1,
            b',' | b']' if self.brackets == 0 => return true,
            b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        false
    }
}

/// How many lines end in these bytes, with LF, CRLF or CR. `is_after_cr` says whether the byte before them was a CR.
fn newlines(bytes: &[u8], is_after_cr: &mut bool) -> u64 {
    let mut lines = 0;
    for &byte in bytes {
        lines += u64::from(byte == b'\r' || byte == b'\n' && !*is_after_cr);
        *is_after_cr = byte == b'\r';
    }
    lines
}
