//! Where questions are printed: on standard error, or on the controlling terminal where standard error is redirected.

use std::fs::File;
use std::io::{self, Write};

/// The way a question goes to a person.
#[derive(Debug)]
pub enum Device {
    /// Standard error is a terminal.
    StandardError,
    /// The terminal that controls this process.
    Controlling(File),
}

impl Device {
    /// The controlling terminal, if there is one.
    pub fn controlling() -> Option<Self> {
        let path = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };
        // Windows wants both ways to give the handle of a console.
        let file = File::options().read(cfg!(windows)).write(true).open(path).ok()?;
        Some(Self::Controlling(file))
    }

    /// Writes at once. A terminal that is gone is found out by the next reading.
    pub fn write(&self, text: &str) {
        let _ = match self {
            Self::StandardError => {
                let mut stderr = io::stderr().lock();
                stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush())
            }
            Self::Controlling(file) => (&*file).write_all(text.as_bytes()),
        };
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        let size = match self {
            Self::StandardError => terminal_size::terminal_size_of(io::stderr()),
            Self::Controlling(file) => terminal_size::terminal_size_of(file),
        };
        let (columns, rows) = size.map_or((80, 24), |(columns, rows)| (columns.0, rows.0));
        (usize::from(columns).max(10), usize::from(rows).max(4))
    }
}
