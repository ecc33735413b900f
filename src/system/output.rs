//! Standard output and standard error.

use std::fmt::Debug;
use std::io::{self, Write as _};

/// Where the program writes; tests put something else in place of the process's streams.
pub trait Output: Debug + Send + Sync {
    /// Writes all of it to standard output.
    ///
    /// # Errors
    /// The system's errors.
    fn stdout(&self, bytes: &[u8]) -> io::Result<()>;

    /// Writes a line to standard error. It may be closed or full: nobody can read the message.
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

    /// One write a line, so that programs that share standard error do not break each other's.
    fn stderr(&self, line: &str) {
        let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
    }
}
