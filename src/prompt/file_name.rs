//! Names of files as people give them to a prompt: with `~`, and with the quotes that drag and drop puts around them.

use std::path::{MAIN_SEPARATOR, PathBuf};

/// The file that was meant.
pub fn meant(typed: &str) -> PathBuf {
    let typed = unquoted(typed.trim());
    let home =
        typed.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(['/', MAIN_SEPARATOR]));
    match (home, etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest.trim_start_matches(['/', MAIN_SEPARATOR])),
        _ => typed.into(),
    }
}

/// The name with as much added as all files have in common that begin with it.
pub fn completed(typed: &str) -> String {
    let plain = unquoted(typed.trim_start());
    let (directory, beginning) = match plain.rfind(['/', MAIN_SEPARATOR]) {
        Some(end) => plain.split_at(end + 1),
        None => ("", plain.as_str()),
    };
    let place = if directory.is_empty() { PathBuf::from(".") } else { meant(directory) };
    let Ok(entries) = std::fs::read_dir(place) else { return typed.to_owned() };
    let names = entries.flatten().filter_map(|entry| {
        let is_directory = entry.path().is_dir();
        let name = entry.file_name().into_string().ok()?;
        let is_shown = !name.starts_with('.') || beginning.starts_with('.');
        (is_shown && name.starts_with(beginning))
            .then(|| if is_directory { format!("{name}{MAIN_SEPARATOR}") } else { name })
    });
    match names.reduce(|one, other| common(&one, &other)) {
        Some(name) => format!("{directory}{name}"),
        None => typed.to_owned(),
    }
}

fn common(one: &str, other: &str) -> String {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
}

/// Without the quotes around it. A backslash before a blank comes from drag and drop too, but divides names on Windows.
fn unquoted(typed: &str) -> String {
    for quote in ['\'', '"'] {
        if let Some(inner) = typed.strip_prefix(quote) {
            return inner.strip_suffix(quote).unwrap_or(inner).to_owned();
        }
    }
    if cfg!(windows) { typed.to_owned() } else { typed.replace("\\ ", " ") }
}

#[cfg(test)]
mod tests {
    use super::{completed, meant};

    #[test]
    fn a_name_is_taken_as_a_shell_would_take_it() {
        let home = etcetera::home_dir().unwrap();
        assert_eq!(meant("~/list.csv"), home.join("list.csv"));
        assert_eq!(meant(" '/tmp/my list.csv' "), std::path::Path::new("/tmp/my list.csv"));
        assert_eq!(meant("~other"), std::path::Path::new("~other"));
        #[cfg(unix)]
        assert_eq!(meant("/tmp/my\\ list.csv"), std::path::Path::new("/tmp/my list.csv"));
    }

    #[test]
    fn a_name_is_completed_as_far_as_it_is_certain() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        std::fs::write(directory.path().join("sizes one.csv"), "").unwrap();
        assert_eq!(completed(&path("si")), path("sizes one.csv"));
        std::fs::write(directory.path().join("sizes two.csv"), "").unwrap();
        std::fs::create_dir(directory.path().join("colours")).unwrap();
        assert_eq!(completed(&path("si")), path("sizes "));
        assert_eq!(completed(&path("c")), format!("{}{}", path("colours"), std::path::MAIN_SEPARATOR));
        assert_eq!(completed(&path("x")), path("x"));
    }
}
