//! Reading the files that hold settings and tokens.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use super::access::Exposure;
use crate::context::Context;
use crate::failure::Failure;
use crate::storage::is_directory_error;

/// Nothing a person writes by hand is longer.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A small text file, and who else can read it.
pub struct Text {
    /// What it holds.
    pub text: String,
    /// What other users can do with it; those who can write it have been refused.
    pub exposure: Exposure,
}

/// Reads a file; `None` when there is none.
///
/// # Errors
/// `usage` when it cannot be read, is no text, or when another user owns it or can write it.
pub fn read(path: &Path) -> Result<Option<Text>, Failure> {
    read_checked(path, Exposure::require_trusted)
}

/// Reads a file that holds tokens; `None` when there is none.
///
/// # Errors
/// As [`read`], and `usage` when other users can read it.
pub fn read_private(path: &Path) -> Result<Option<Text>, Failure> {
    read_checked(path, Exposure::require_private)
}

fn read_checked(
    path: &Path,
    check: fn(Exposure, &Path) -> Result<(), Failure>,
) -> Result<Option<Text>, Failure> {
    let problem = |what: &str| Failure::usage(format!("`{}` {what}", path.display()));
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) if is_directory_error(path, &error) => return Err(problem("is a directory, not a file")),
        Err(error) => return Err(problem(&format!("cannot be read: {error}"))),
    };
    let metadata = file.metadata().map_err(|error| problem(&format!("cannot be read: {error}")))?;
    if metadata.is_dir() {
        return Err(problem("is a directory, not a file"));
    }
    let exposure = Exposure::of(&metadata);
    check(exposure, path)?;
    let mut bytes = Vec::new();
    Read::by_ref(&mut file)
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| problem(&format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(problem("is larger than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| problem("is not valid UTF-8 text"))?;
    Ok(Some(Text { text, exposure }))
}

/// Whether this process may not read the file.
pub fn is_unreadable(path: &Path) -> bool {
    File::open(path)
        .is_err_and(|error| error.kind() == ErrorKind::PermissionDenied && !is_directory_error(path, &error))
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Parses TOML, a byte order mark apart. The message has line and column and never the text itself, which may be a token.
pub fn parse(path: &Path, text: &str) -> Result<DocumentMut, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|one| *one != '\n').count() + 1;
        let message = error.message().replace('\n', "; ");
        Failure::usage(format!("{}:{line}:{column}: not valid TOML: {message}", path.display()))
    })
}

/// A path as it is written in a file: `~/` is the home directory, and a relative one starts at `directory`.
pub fn resolve_path(context: &Context, directory: &Path, written: &str) -> Result<PathBuf, Failure> {
    let Some(rest) = below_home(written, cfg!(windows)) else {
        return Ok(directory.join(written));
    };
    let [first, second] = if cfg!(windows) { ["USERPROFILE", "HOME"] } else { ["HOME", "USERPROFILE"] };
    let home = match context.var(first)? {
        Some(home) => Some(home),
        None => context.var(second)?,
    };
    home.map(|home| Path::new(home).join(rest)).ok_or_else(|| {
        Failure::usage(format!("cannot resolve `{written}`: home directory unknown"))
            .hint(format!("set {first}"))
    })
}

/// What follows `~/`; on Windows `~\` is the same. `~` with a name after it is not a home directory here.
fn below_home(written: &str, windows: bool) -> Option<&str> {
    written.strip_prefix('~')?.strip_prefix(if windows { &['/', '\\'][..] } else { &['/'] })
}

#[cfg(test)]
mod tests {
    use super::{Path, below_home, parse, read};

    #[test]
    fn a_syntax_error_has_its_place_and_not_the_text() {
        for (text, place) in [
            ("default-profile = \"é\"\n[profiles.a]\ntoken = \"hunter2", ":3:"),
            ("token = hunter2", ":1:"),
            ("a = 1\na = hunter2\na = 2", ":2:"),
            ("[profiles.a]\ntoken = \"hunter2\"\ntoken = \"hunter2\"", ":3:"),
            ("{\"token\": \"hunter2\"}", ":1:"),
        ] {
            let failure = parse(Path::new("config.toml"), text).unwrap_err();
            assert!(failure.message.contains(&format!("config.toml{place}")), "{failure}");
            assert!(!failure.message.contains("hunter2"), "{failure}");
        }
    }

    #[test]
    fn the_home_directory_is_written_as_the_system_writes_paths() {
        for (written, rest) in [("~/a", Some("a")), ("~a/b", None), ("a/~/b", None), ("~", None)] {
            assert_eq!((below_home(written, false), below_home(written, true)), (rest, rest));
        }
        assert_eq!((below_home(r"~\a", false), below_home(r"~\a\b", true)), (None, Some(r"a\b")));
    }

    #[test]
    fn odd_files_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert!(read(&path).unwrap().is_none());
        assert!(read(directory.path()).err().unwrap().message.contains("is a directory"));
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert!(read(&path).err().unwrap().message.contains("UTF-8"));
        std::fs::write(&path, vec![b' '; 1024 * 1024 + 1]).unwrap();
        assert!(read(&path).err().unwrap().message.contains("1 MiB"));
    }
}
