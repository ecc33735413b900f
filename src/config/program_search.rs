//! Where Windows finds a program that is named without its extension, as a shell does: `PATH` for the directories and
//! `PATHEXT` for the extensions. Without this only `.exe` files would be found, and many tools are `.cmd` files.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::failure::Failure;

/// What is tried where `PATHEXT` is not set.
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// The directories and extensions that are tried. The current directory is not among them: a program in it could be
/// anybody's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSearch {
    directories: Vec<PathBuf>,
    extensions: Vec<String>,
}

impl ProgramSearch {
    /// The search of this system; `None` where the system itself does all of it.
    ///
    /// # Errors
    /// `usage` when `PATH` or `PATHEXT` is not UTF-8.
    pub fn native(context: &Context) -> Result<Option<Self>, Failure> {
        if !cfg!(windows) {
            return Ok(None);
        }
        let directories = std::env::split_paths(context.var("PATH")?.unwrap_or_default());
        Ok(Some(Self::new(directories, context.var("PATHEXT")?.unwrap_or(EXTENSIONS))))
    }

    fn new(directories: impl Iterator<Item = PathBuf>, extensions: &str) -> Self {
        let extensions =
            extensions.split(';').map(str::trim).filter(|one| one.len() > 1 && one.starts_with('.'));
        Self {
            directories: directories.filter(|directory| directory.is_absolute()).collect(),
            extensions: extensions.map(str::to_lowercase).collect(),
        }
    }

    /// The file of a program; `None` where it is not found so, and the system has to look for it.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let lower = program.to_lowercase();
        let has_extension = self.extensions.iter().any(|extension| lower.ends_with(extension));
        let names: Vec<String> = if has_extension {
            vec![program.to_owned()]
        } else {
            self.extensions.iter().map(|extension| format!("{program}{extension}")).collect()
        };
        let in_directory =
            |directory: &Path| names.iter().map(|name| directory.join(name)).find(|path| path.is_file());
        if program.contains(['/', '\\', ':']) {
            return in_directory(Path::new(""));
        }
        self.directories.iter().find_map(|directory| in_directory(directory))
    }
}

#[cfg(test)]
mod tests {
    use super::{EXTENSIONS, PathBuf, ProgramSearch};

    #[test]
    fn a_program_is_found_by_its_name_without_extension() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let (first, second) = (path("first"), path("second"));
        for (parent, name) in [
            (&first, "tok.cmd"),
            (&second, "tok.exe"),
            (&second, "op.exe"),
            (&second, "op.bat"),
            (&second, "x.py"),
        ] {
            std::fs::create_dir_all(parent).unwrap();
            std::fs::write(parent.join(name), "").unwrap();
        }
        let directories = [PathBuf::from("relative"), first.clone(), second.clone()];
        let search = ProgramSearch::new(directories.into_iter(), EXTENSIONS);
        for (program, found) in [
            ("tok", Some(first.join("tok.cmd"))),
            ("tok.exe", Some(second.join("tok.exe"))),
            ("op", Some(second.join("op.exe"))),
            ("x", None),
            ("x.py", None),
            ("absent", None),
        ] {
            assert_eq!(search.find(program), found, "{program}");
        }
        let absolute = first.join("tok").to_str().unwrap().to_owned();
        assert_eq!(search.find(&absolute), Some(first.join("tok.cmd")));
    }
}
