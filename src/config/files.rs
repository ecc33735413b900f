//! The files that hold settings and tokens: read with care, replaced whole, and private where they hold a token.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use crate::context::Context;
use crate::failure::Failure;

/// Nothing a person writes by hand is longer.
const LARGEST: u64 = 1024 * 1024;

/// A small text file, and who may read it.
pub struct Text {
    /// What it holds.
    pub text: String,
    /// Whether its group or everybody may read it; never where the platform has no such modes.
    pub open_to_others: bool,
}

/// Reads a file; `None` when there is none.
pub fn read(path: &Path) -> Result<Option<Text>, Failure> {
    let problem = |what: &str| Failure::usage(format!("{} {what}", path.display()));
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(problem(&format!("cannot be read: {error}"))),
    };
    let metadata = file.metadata().map_err(|error| problem(&format!("cannot be read: {error}")))?;
    if metadata.is_dir() {
        return Err(problem("is a directory, not a file"));
    }
    let mut bytes = Vec::new();
    Read::by_ref(&mut file)
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| problem(&format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(problem("is larger than 1 MiB; is it the right file?"));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| problem("is not valid UTF-8 text; is it the right file?"))?;
    Ok(Some(Text { text, open_to_others: open_to_others(&metadata) }))
}

/// Whether this process may not read the file.
pub fn is_closed(path: &Path) -> bool {
    File::open(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Parses TOML. The message has line and column and never the text itself, which may be a token.
pub fn parse(path: &Path, text: &str) -> Result<DocumentMut, Failure> {
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|one| *one != '\n').count() + 1;
        let message = error.message().replace('\n', "; ");
        Failure::usage(format!("{}:{line}:{column}: not valid TOML: {message}", path.display()))
    })
}

/// The refusal of a file that holds a token others may read.
pub fn too_open(path: &Path) -> Failure {
    let shown = path.to_string_lossy();
    Failure::usage(format!("{shown} holds a token and other users of this machine may read it"))
        .hint(format!("chmod 600 {}", shell_words::quote(&shown)))
}

/// Replaces a file whole: whoever reads it sees the old text or the new, never a half.
///
/// A file that is there keeps its mode unless `private`; a new one is its owner's only. A symbolic link stays
/// one, and what it points to is replaced.
pub fn replace(path: &Path, text: &str, private: bool) -> Result<(), Failure> {
    let problem =
        |error: std::io::Error| Failure::internal(format!("{} cannot be written: {error}", path.display()));
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_private_directory(directory).map_err(problem)?;
    let mut draft = tempfile::NamedTempFile::new_in(directory).map_err(problem)?;
    draft.write_all(text.as_bytes()).map_err(problem)?;
    if !private && let Ok(metadata) = fs::metadata(&target) {
        draft.as_file().set_permissions(metadata.permissions()).map_err(problem)?;
    }
    draft.as_file().sync_all().map_err(problem)?;
    draft.persist(&target).map_err(|error| problem(error.error))?;
    Ok(())
}

/// A path as it stands in a file: `~/` is the home directory, and what is relative is so to `directory`.
pub fn located(context: &Context, directory: &Path, written: &str) -> Result<PathBuf, Failure> {
    let Some(rest) = written.strip_prefix("~/") else {
        return Ok(directory.join(written));
    };
    let home = match context.var("HOME")? {
        Some(home) => Some(home),
        None => context.var("USERPROFILE")?,
    };
    home.map(|home| Path::new(home).join(rest))
        .ok_or_else(|| Failure::usage(format!("{written}: no home directory is known")).hint("set HOME"))
}

#[cfg(unix)]
fn open_to_others(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o044 != 0
}

#[cfg(not(unix))]
fn open_to_others(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn make_private_directory(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private_directory(path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(test)]
mod tests {
    use super::{Path, parse, read, replace};

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

    #[cfg(unix)]
    #[test]
    fn replacing_keeps_links_and_modes() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("real"), directory.path().join("link"));
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace(&path, "a", false).unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        replace(&link, "b", false).unwrap();
        assert_eq!(mode(), 0o640);
        replace(&link, "c", true).unwrap();
        assert_eq!(mode(), 0o600);
        assert!(std::fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "c");
    }
}
