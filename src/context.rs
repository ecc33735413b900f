//! The world outside, captured once at start and passed as a value: environment, terminals, directories.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use crate::clock::Clock;
use crate::environment;
use crate::failure::Failure;
use crate::storage::{Disk, Storage};

/// What one run of the program sees of its surroundings.
#[derive(Debug, Clone)]
pub struct Context {
    /// The command line, program first; not UTF-8 where it was not.
    pub arguments: Vec<OsString>,
    variables: Variables,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Whether the terminal obeys escape sequences. Only a console of an old Windows does not.
    pub obeys_escape_sequences: bool,
    /// Columns of the terminal standard output is, if it is one.
    pub stdout_width: Option<u16>,
    /// Columns of the terminal standard error is, if it is one.
    pub stderr_width: Option<u16>,
    /// Where this program keeps its files.
    pub directories: Option<Directories>,
    /// Where snapshots, locks and journals are kept.
    pub storage: Arc<dyn Storage>,
    /// The time of day.
    pub clock: Clock,
}

/// A console of Windows obeys escape sequences only when it is asked to.
#[cfg(windows)]
fn turn_on_escape_sequences() -> bool {
    crossterm::ansi_support::supports_ansi()
}

#[cfg(not(windows))]
fn turn_on_escape_sequences() -> bool {
    true
}

/// The environment variables of this process.
#[derive(Debug, Clone)]
struct Variables {
    values: HashMap<OsString, OsString>,
    /// Windows does not distinguish `Path` from `PATH`.
    ignores_case: bool,
}

impl Variables {
    fn new(variables: impl Iterator<Item = (OsString, OsString)>, ignores_case: bool) -> Self {
        let key = |name: OsString| if ignores_case { name.to_ascii_uppercase() } else { name };
        Self { values: variables.map(|(name, value)| (key(name), value)).collect(), ignores_case }
    }

    fn get(&self, name: &str) -> Option<&OsString> {
        if self.ignores_case {
            self.values.get(OsStr::new(&name.to_ascii_uppercase()))
        } else {
            self.values.get(OsStr::new(name))
        }
    }
}

/// The program's own directories, by the platform's rules: XDG on Linux and macOS; on Windows `%APPDATA%` for the
/// configuration, which may follow its user to another machine, and `%LOCALAPPDATA%` for the rest.
#[derive(Debug, Clone)]
pub struct Directories {
    /// `config.toml` and `credentials.toml`.
    pub config: PathBuf,
    /// The sandbox's database.
    pub data: PathBuf,
    /// Snapshots, locks and what completion remembers.
    pub state: PathBuf,
}

impl Context {
    /// Captures the surroundings of this process.
    pub fn capture() -> Self {
        Self {
            arguments: std::env::args_os().collect(),
            variables: Variables::new(std::env::vars_os(), cfg!(windows)),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            obeys_escape_sequences: turn_on_escape_sequences(),
            stdout_width: terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0),
            stderr_width: terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| width.0),
            directories: Directories::of_platform(),
            storage: Arc::new(Disk),
            clock: Clock::system(),
        }
    }

    /// An environment variable, if set and not empty.
    ///
    /// # Errors
    /// `usage` when the value is not UTF-8.
    pub fn var(&self, name: &str) -> Result<Option<&str>, Failure> {
        match self.variables.get(name) {
            None => Ok(None),
            Some(value) if value.is_empty() => Ok(None),
            Some(value) => {
                value.to_str().map(Some).ok_or_else(|| Failure::usage(format!("{name} is not valid UTF-8")))
            }
        }
    }

    /// The file that `SSL_CERT_FILE` names, whatever characters its name has.
    pub fn certificate_file(&self) -> Option<PathBuf> {
        let file = self.variables.get(environment::SSL_CERT_FILE);
        file.filter(|file| !file.is_empty()).map(PathBuf::from)
    }

    /// The environment variable that names the proxy for URLs of this scheme, if one does.
    pub fn proxy_variable(&self, scheme: &str) -> Option<&'static str> {
        let own: [&'static str; 2] = match scheme {
            "https" => ["https_proxy", "HTTPS_PROXY"],
            _ => ["http_proxy", "HTTP_PROXY"],
        };
        let is_set = |name: &&str| self.variables.get(name).is_some_and(|value| !value.is_empty());
        own.into_iter().chain(["all_proxy", "ALL_PROXY"]).find(is_set)
    }

    /// The program's directories.
    ///
    /// # Errors
    /// `usage` when the platform names no home directory.
    pub fn directories(&self) -> Result<&Directories, Failure> {
        self.directories
            .as_ref()
            .ok_or_else(|| Failure::usage("home directory unknown").hint(environment::set_home()))
    }

    /// Whether any of the standard streams is a terminal: a person is there, and a program we start may talk to them.
    pub fn has_terminal(&self) -> bool {
        self.stdin_is_terminal || self.stdout_is_terminal || self.stderr_is_terminal
    }
}

#[cfg(test)]
impl Context {
    /// Surroundings made up for a test: these variables, everything below `home`, no terminals.
    pub fn for_test(variables: &[(&str, &str)], home: &std::path::Path) -> Self {
        Self {
            arguments: Vec::new(),
            variables: Variables::new(
                variables.iter().map(|(name, value)| (name.into(), value.into())),
                cfg!(windows),
            ),
            stdin_is_terminal: false,
            stdout_is_terminal: false,
            stderr_is_terminal: false,
            obeys_escape_sequences: true,
            stdout_width: None,
            stderr_width: None,
            directories: Some(Directories {
                config: home.join("config"),
                data: home.join("data"),
                state: home.join("state"),
            }),
            storage: Arc::new(Disk),
            clock: Clock::system(),
        }
    }
}

impl Directories {
    #[cfg(not(windows))]
    fn of_platform() -> Option<Self> {
        use etcetera::BaseStrategy;
        let base = etcetera::choose_base_strategy().ok()?;
        let data = base.data_dir().join("storefront");
        Some(Self {
            config: base.config_dir().join("storefront"),
            state: base.state_dir().map_or_else(|| data.join("state"), |dir| dir.join("storefront")),
            data,
        })
    }

    #[cfg(windows)]
    fn of_platform() -> Option<Self> {
        use etcetera::BaseStrategy;
        let base = etcetera::base_strategy::Windows::new().ok()?;
        // Its cache directory is %LOCALAPPDATA%.
        let data = base.cache_dir().join("storefront");
        Some(Self { config: base.config_dir().join("storefront"), state: data.join("state"), data })
    }
}

#[cfg(test)]
mod tests {
    use super::Variables;

    #[test]
    fn windows_compares_the_names_of_variables_without_case() {
        let variables =
            |ignores_case| Variables::new([("Path".into(), "a".into())].into_iter(), ignores_case);
        assert_eq!(variables(true).get("PATH"), Some(&"a".into()));
        assert_eq!((variables(false).get("PATH"), variables(false).get("Path")), (None, Some(&"a".into())));
    }
}
