//! The surroundings, captured once at the start and passed as a value: environment, terminals, directories.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use terminal_size::{Height, Width, terminal_size_of};
use tokio::sync::Notify;

use crate::system::clock::Clock;
use crate::system::database::{Database, DatabaseError, Prepare};
use crate::system::environment;
use crate::system::output::{Output, StandardStreams};
use crate::system::storage::{Disk, Storage};
use storefront_core::failure::Failure;

/// The surroundings of one run of the program.
#[derive(Debug, Clone)]
pub struct Context {
    /// The command line, program first; its words may not be UTF-8.
    pub arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Whether the terminal obeys escape sequences. Only a console of an old Windows does not.
    pub obeys_escape_sequences: bool,
    /// Columns of the terminal of standard output, if it is one.
    pub stdout_width: Option<u16>,
    /// Columns of the terminal of standard error, if it is one.
    pub stderr_width: Option<u16>,
    /// The directories of this program's files.
    pub directories: Option<Directories>,
    /// The disk for locks, journals, plans and the log.
    pub storage: Arc<dyn Storage>,
    /// The database of the log, once it is opened.
    database: Arc<OnceLock<Arc<dyn Database>>>,
    /// The time of day.
    pub clock: Clock,
    /// Standard output and standard error.
    pub output: Arc<dyn Output>,
    /// Tells that the program is to stop, in place of the signals of this process.
    pub stop: Option<Arc<Notify>>,
    /// Returns numbers from 0 up to 1, for delays that should differ between programs.
    pub random: fn() -> f64,
}

/// Turns on escape sequences; `false` if they are not obeyed. A console of Windows obeys them only after this, and a
/// service has none.
pub fn turn_on_escape_sequences() -> bool {
    #[cfg(windows)]
    return crossterm::ansi_support::supports_ansi();
    #[cfg(not(windows))]
    true
}

/// The program's own directories, by the platform's rules: XDG on Linux and macOS; on Windows `%APPDATA%` for the
/// configuration, which may follow its user to another machine, and `%LOCALAPPDATA%` for the rest. A token is for this
/// machine alone: a profile that follows its user is copied to a server, whose administrators then have it.
#[derive(Debug, Clone)]
pub struct Directories {
    /// `config.toml`.
    pub config: PathBuf,
    /// `credentials.toml`.
    pub credentials: PathBuf,
    /// The sandbox's database.
    pub data: PathBuf,
    /// The log, locks and journals of standard input.
    pub state: PathBuf,
}

/// The columns of a terminal; 80 for one that reports no size, such as that of `script`.
fn columns(output: &impl IsTerminal, size: Option<(Width, Height)>) -> Option<u16> {
    let reported = size.map(|(width, _)| width.0).filter(|columns| *columns > 0);
    output.is_terminal().then(|| reported.unwrap_or(80))
}

impl Context {
    /// Captures the surroundings of this process.
    pub fn capture() -> Self {
        Self {
            arguments: std::env::args_os().collect(),
            variables: std::env::vars_os().collect(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            obeys_escape_sequences: turn_on_escape_sequences(),
            stdout_width: columns(&std::io::stdout(), terminal_size_of(std::io::stdout())),
            stderr_width: columns(&std::io::stderr(), terminal_size_of(std::io::stderr())),
            directories: Directories::of_platform(),
            storage: Arc::new(Disk),
            database: Arc::default(),
            clock: Clock::system(),
            output: Arc::new(StandardStreams),
            stop: None,
            random: random_fraction,
        }
    }

    /// Surroundings without a terminal, with only these variables, and with the program's own files below `home`.
    pub fn detached(variables: &[(&str, &str)], home: &Path) -> Self {
        Self {
            variables: variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            stdin_is_terminal: false,
            stdout_is_terminal: false,
            stderr_is_terminal: false,
            stdout_width: None,
            stderr_width: None,
            directories: Some(Directories {
                config: home.join("config"),
                credentials: home.join("config"),
                data: home.join("data"),
                state: home.join("state"),
            }),
            ..Self::capture()
        }
    }

    /// An environment variable, if set and not empty.
    ///
    /// # Errors
    /// `usage` when the value is not UTF-8.
    pub fn var(&self, name: &str) -> Result<Option<&str>, Failure> {
        let Some(value) = self.raw_var(name) else { return Ok(None) };
        value.to_str().map(Some).ok_or_else(|| Failure::usage(format!("{name} is not valid UTF-8")))
    }

    fn raw_var(&self, name: &str) -> Option<&OsString> {
        let is_named = |(known, _): &&(OsString, OsString)| is_same_variable(known, name, cfg!(windows));
        self.variables.iter().find(is_named).map(|(_, value)| value).filter(|value| !value.is_empty())
    }

    /// The file that `SSL_CERT_FILE` names, in any characters.
    pub fn certificate_file(&self) -> Option<PathBuf> {
        self.raw_var(environment::SSL_CERT_FILE).map(PathBuf::from)
    }

    /// The environment variable that names the proxy for URLs of this scheme, if one does.
    pub fn proxy_variable(&self, scheme: &str) -> Option<&'static str> {
        let own: [&'static str; 2] = match scheme {
            "https" => ["https_proxy", "HTTPS_PROXY"],
            _ => ["http_proxy", "HTTP_PROXY"],
        };
        own.into_iter().chain(["all_proxy", "ALL_PROXY"]).find(|name| self.raw_var(name).is_some())
    }

    /// The program's directories.
    ///
    /// # Errors
    /// `usage` when no home directory is named, or one that does not exist.
    pub fn directories(&self) -> Result<&Directories, Failure> {
        self.directories.as_ref().ok_or_else(|| {
            let home = self.raw_var("HOME").filter(|_| cfg!(unix)).map(|home| home.to_string_lossy());
            let problem = home.map(|home| format!("the home directory `{home}` does not exist"));
            Failure::usage(problem.unwrap_or_else(|| "home directory unknown".to_owned()))
                .hint(environment::set_home())
        })
    }

    /// The database of the log, which is opened once.
    ///
    /// # Errors
    /// As [`Storage::open_database`].
    pub fn database(&self, path: &Path, prepare: Prepare) -> Result<Arc<dyn Database>, DatabaseError> {
        if let Some(opened) = self.database.get() {
            return Ok(opened.clone());
        }
        let opened = self.storage.open_database(path, prepare)?;
        Ok(self.database.get_or_init(|| opened).clone())
    }

    /// Whether any of the standard streams is a terminal: a person is there, and a program we start may talk to them.
    pub fn has_terminal(&self) -> bool {
        self.stdin_is_terminal || self.stdout_is_terminal || self.stderr_is_terminal
    }
}

impl Directories {
    fn of_platform() -> Option<Self> {
        let base = etcetera::choose_base_strategy().ok()?;
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let has_home = !cfg!(unix) || std::env::var_os("HOME").is_some_and(|home| Path::new(&home).is_dir());
        // A job's files must not get lost in a directory that nobody looks into.
        let is_known = has_home || environment::DIRECTORIES.iter().all(|variable| is_set(variable.name));
        is_known.then(|| Self::of(&base))
    }

    fn of(base: &impl etcetera::BaseStrategy) -> Self {
        // The data directory of Windows follows its user; its cache directory is %LOCALAPPDATA%.
        let data = if cfg!(windows) { base.cache_dir() } else { base.data_dir() }.join("storefront");
        let config = base.config_dir().join("storefront");
        Self {
            credentials: if cfg!(windows) { data.clone() } else { config.clone() },
            config,
            state: base.state_dir().map_or_else(|| data.join("state"), |state| state.join("storefront")),
            data,
        }
    }
}

/// A number between 0 and 1; the standard library's hasher is seeded at random.
pub fn random_fraction() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or(0);
    f64::from(bits) / f64::from(u32::MAX)
}

/// Whether two names are of one variable. Windows does not distinguish `Path` from `PATH`.
fn is_same_variable(known: &OsStr, name: &str, ignores_case: bool) -> bool {
    known == name || ignores_case && known.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::is_same_variable;

    #[test]
    fn windows_compares_the_names_of_variables_without_case() {
        assert!(is_same_variable("Path".as_ref(), "PATH", true));
        assert!(!is_same_variable("Path".as_ref(), "PATH", false));
        assert!(is_same_variable("PATH".as_ref(), "PATH", false));
    }
}
