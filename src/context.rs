//! The world outside, captured once at start and passed as a value: environment, terminals, directories.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy;

use crate::clock::Clock;
use crate::failure::Failure;
use crate::storage::{Disk, Storage};

/// What one run of the program sees of its surroundings.
#[derive(Debug, Clone)]
pub struct Context {
    /// The command line, program first; not UTF-8 where it was not.
    pub arguments: Vec<OsString>,
    environment: HashMap<OsString, OsString>,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
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

/// The program's own directories, by the platform's rules (XDG on Linux and macOS).
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
            environment: std::env::vars_os().collect(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
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
        match self.environment.get(std::ffi::OsStr::new(name)) {
            None => Ok(None),
            Some(value) if value.is_empty() => Ok(None),
            Some(value) => {
                value.to_str().map(Some).ok_or_else(|| Failure::usage(format!("{name} is not valid UTF-8")))
            }
        }
    }

    /// The program's directories.
    ///
    /// # Errors
    /// `usage` when the platform names no home directory.
    pub fn directories(&self) -> Result<&Directories, Failure> {
        self.directories.as_ref().ok_or_else(|| {
            Failure::usage("no home directory is known, so there is no place for files")
                .hint("set HOME, or XDG_CONFIG_HOME, XDG_DATA_HOME and XDG_STATE_HOME")
        })
    }

    /// Whether a person can be asked: standard input and standard error are terminals.
    pub fn can_prompt(&self) -> bool {
        self.stdin_is_terminal && self.stderr_is_terminal
    }
}

#[cfg(test)]
impl Context {
    /// Surroundings made up for a test: these variables, everything below `home`, no terminals.
    pub fn made_up(variables: &[(&str, &str)], home: &std::path::Path) -> Self {
        Self {
            arguments: Vec::new(),
            environment: variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            stdin_is_terminal: false,
            stdout_is_terminal: false,
            stderr_is_terminal: false,
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
    fn of_platform() -> Option<Self> {
        let base = etcetera::choose_base_strategy().ok()?;
        let data = base.data_dir().join("storefront");
        Some(Self {
            config: base.config_dir().join("storefront"),
            state: base.state_dir().map_or_else(|| data.join("state"), |dir| dir.join("storefront")),
            data,
        })
    }
}
