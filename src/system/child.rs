//! Starting the programs of others: a token command, the browser. None of them gets a variable that holds a token.

use std::io;
use std::process::{Command, Stdio};

use tokio::process::Child;

use super::environment::{ADMIN_TOKEN, TOKEN};

/// Starts a program without standard input, and without the variables that hold tokens: ours, and `others`, which the
/// configuration names. With `killed_on_drop` it is killed with the handle.
///
/// # Errors
/// The system's errors.
pub fn start(mut command: Command, others: &[String], killed_on_drop: bool) -> io::Result<Child> {
    for variable in [TOKEN, ADMIN_TOKEN].into_iter().chain(others.iter().map(String::as_str)) {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null());
    tokio::process::Command::from(command).kill_on_drop(killed_on_drop).spawn()
}

#[cfg(test)]
mod tests {
    fn texts(directory: &std::path::Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.file_name().unwrap().to_string_lossy().into_owned(), text));
            }
        }
    }

    /// The tools of an assistant are this program, which needs its tokens.
    #[test]
    fn no_program_is_started_elsewhere_but_this_one() {
        let mut found = Vec::new();
        texts(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let starts = [[".spa", "wn()"], ["open::", "that"]].map(|it| it.concat());
        let mut names: Vec<String> = found
            .into_iter()
            .filter(|(_, text)| starts.iter().any(|start| text.contains(start)))
            .map(|(name, _)| name)
            .collect();
        names.sort();
        assert_eq!(names, ["child.rs", "mcp.rs"]);
    }
}
