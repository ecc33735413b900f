//! Giving a temporary file its name.
//!
//! On Windows a file cannot be replaced while another program has it open without sharing it, as antivirus programs and
//! indexers do for a moment after it was written. So the attempt is repeated for about a second. Elsewhere the first
//! error is the answer.

use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::{NamedTempFile, PersistError};

/// The waits between the attempts: about a second in all, which is longer than a scan of a small file takes.
const PAUSES_MS: [u64; 7] = [5, 10, 20, 50, 100, 300, 500];

/// `ERROR_ACCESS_DENIED`, `ERROR_SHARING_VIOLATION` and `ERROR_LOCK_VIOLATION`.
const HELD_BY_ANOTHER_PROGRAM: [i32; 3] = [5, 32, 33];

/// The error of a temporary file that cannot be made, without its name, which tells a person nothing.
pub fn without_path(error: io::Error) -> io::Error {
    let plain = io::Error::from(error.kind());
    // A kind without a name says less than the error.
    let is_named = plain.to_string() != "uncategorized error" && error.raw_os_error().is_none();
    if is_named { plain } else { error }
}

/// Gives a file its name, in place of the file that has it.
///
/// # Errors
/// The system's errors.
pub fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    patiently(file, |file| file.persist(path).map(drop)).map_err(|error| error.error)
}

/// Gives a file a name that is free.
///
/// # Errors
/// `AlreadyExists`, and the system's error, with the file, which still has its temporary name.
pub fn persist_noclobber(file: NamedTempFile, path: &Path) -> Result<(), PersistError> {
    patiently(file, |file| file.persist_noclobber(path).map(drop))
}

fn patiently(
    file: NamedTempFile,
    step: impl Fn(NamedTempFile) -> Result<(), PersistError>,
) -> Result<(), PersistError> {
    let is_passing = |error: &PersistError| is_passing(&error.error, cfg!(windows));
    repeated(file, step, is_passing, |error| error.file, std::thread::sleep)
}

/// Repeats a step that gives its input back with a passing error.
fn repeated<Input, E>(
    mut input: Input,
    step: impl Fn(Input) -> Result<(), E>,
    is_passing: impl Fn(&E) -> bool,
    input_of: impl Fn(E) -> Input,
    mut pause: impl FnMut(Duration),
) -> Result<(), E> {
    for wait in PAUSES_MS {
        match step(input) {
            Err(error) if is_passing(&error) => {
                pause(Duration::from_millis(wait));
                input = input_of(error);
            }
            result => return result,
        }
    }
    step(input)
}

/// Whether another program may only be holding the file for a moment.
fn is_passing(error: &io::Error, windows: bool) -> bool {
    windows && error.raw_os_error().is_some_and(|code| HELD_BY_ANOTHER_PROGRAM.contains(&code))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::time::Duration;

    use super::{is_passing, repeated};

    /// How the attempts end that fail so often, how many there were, and how long they waited.
    fn run(failures: u32, code: i32) -> (bool, u32, Duration) {
        let (attempts, waited) = (Cell::new(0), Cell::new(Duration::ZERO));
        let step = |()| {
            attempts.set(attempts.get() + 1);
            if attempts.get() > failures { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
        };
        let passing = |error: &io::Error| is_passing(error, true);
        let result = repeated((), step, passing, drop, |pause| waited.set(waited.get() + pause));
        (result.is_ok(), attempts.get(), waited.get())
    }

    #[test]
    fn a_file_that_another_program_holds_is_replaced_when_it_is_free() {
        for code in [5, 32, 33] {
            let (is_done, attempts, waited) = run(3, code);
            assert!(is_done && attempts == 4 && waited < Duration::from_millis(100), "{code}");
        }
        let (is_done, attempts, waited) = run(u32::MAX, 32);
        assert!(!is_done && attempts == 8);
        assert!(waited > Duration::from_millis(900) && waited < Duration::from_millis(1500), "{waited:?}");
    }

    #[test]
    fn other_errors_and_other_systems_do_not_wait() {
        // ERROR_FILE_EXISTS, ERROR_DISK_FULL
        for code in [80, 112] {
            assert_eq!(run(1, code), (false, 1, Duration::ZERO));
        }
        assert!(!is_passing(&io::Error::from_raw_os_error(5), false));
    }
}
