//! NDJSON: one record a line; blank lines are passed over.

use std::io::BufRead;

use super::{Input, Next, text, unreadable};

/// Reads lines.
pub struct Lines {
    input: Input,
    name: String,
    line: u64,
}

impl Lines {
    pub fn new(input: Input, name: String) -> Self {
        Self { input, name, line: 0 }
    }

    pub fn read(&mut self) -> Next {
        loop {
            let mut bytes = Vec::new();
            let read = self.input.read_until(b'\n', &mut bytes);
            if read.map_err(|error| unreadable(&self.name, &error))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            while bytes.last().is_some_and(u8::is_ascii_whitespace) {
                bytes.pop();
            }
            if !bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(text(self.line, bytes)));
            }
        }
    }
}
