//! Standard output and standard error.

use std::fmt::Debug;
use std::io::{self, Write as _};

/// The output of the program; tests replace the process's streams.
pub trait Output: Debug + Send + Sync {
    /// Writes all of it to standard output.
    ///
    /// # Errors
    /// The system's errors.
    fn stdout(&self, bytes: &[u8]) -> io::Result<()>;

    /// Writes a line to standard error. Errors are ignored: nobody could read a message about them.
    fn stderr(&self, line: &str);
}

/// The streams of this process.
#[derive(Debug)]
pub struct StandardStreams;

impl Output for StandardStreams {
    fn stdout(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    /// One write for each line, so that programs that share standard error do not break each other's lines.
    fn stderr(&self, line: &str) {
        let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
    }
}
