//! The program in a home directory of its own.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::test_env::log;

/// In a command line: the id of the newest command that wrote and is no undo, as a person reads it in the history.
const LAST: &str = "LAST";

/// An empty home, and what is kept below it.
pub struct Home {
    pub dir: TempDir,
}

/// The result of one run.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A run before it starts.
pub struct Storefront {
    command: Command,
    stdin: Vec<u8>,
}

impl Home {
    pub fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    /// A home with this `config.toml`, readable by its owner only.
    pub fn with_config(text: &str) -> Self {
        let home = Self::new();
        home.write("config.toml", text, 0o600);
        home
    }

    /// A file of the configuration directory.
    pub fn path(&self, name: &str) -> PathBuf {
        // Tokens do not follow the user of Windows to other machines.
        let base = if cfg!(windows) && name == "credentials.toml" { "data" } else { "config" };
        self.dir.path().join(base).join("storefront").join(name)
    }

    /// The directory of snapshots and locks.
    pub fn state(&self) -> PathBuf {
        let names: &[&str] =
            if cfg!(windows) { &["data", "storefront", "state"] } else { &["state", "storefront"] };
        self.dir.path().join(names.iter().collect::<PathBuf>())
    }

    /// Writes a file of the configuration directory.
    #[cfg_attr(windows, expect(unused_variables, reason = "Windows has no permission bits"))]
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Configures profile `p`: this service, and a token command.
    pub fn token_command(&self, url: &str, command: &[&str]) {
        let text = format!(
            "[profiles.p]\nbase-url = {url:?}\nstore-view = \"default\"\ntoken-command = {command:?}\n"
        );
        self.write("config.toml", text, 0o600);
    }

    /// Reads a file of the configuration directory.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The permission bits of a file of the configuration directory.
    #[cfg(unix)]
    pub fn mode(&self, name: &str) -> u32 {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    /// The program with these arguments and nothing in its environment but this home.
    pub fn storefront(&self, arguments: impl Arguments) -> Storefront {
        let mut command = self.command(env!("CARGO_BIN_EXE_storefront"));
        command.args(arguments.words().into_iter().map(|word| if word == LAST { self.last() } else { word }));
        Storefront { command, stdin: Vec::new() }
    }

    /// The id of the newest command that wrote and is no undo.
    fn last(&self) -> String {
        let find = "SELECT max(id) FROM run WHERE undoes IS NULL AND EXISTS (SELECT 1 FROM write WHERE write.run = run.id \
                    AND coalesce(outcome ->> 'outcome', 'unknown') NOT IN ('not sent', 'refused'))";
        let id =
            log(self).and_then(|log| log.query_row(find, [], |row| row.get::<_, Option<i64>>(0)).unwrap());
        id.map_or_else(|| LAST.to_owned(), |id| id.to_string())
    }

    /// Any program, with nothing in its environment but this home.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let below = |name: &str| self.dir.path().join(name);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path())
            .current_dir(self.dir.path());
        if cfg!(windows) {
            command
                .env("USERPROFILE", self.dir.path())
                .env("APPDATA", below("config"))
                .env("LOCALAPPDATA", below("data"));
            // Without these there are no sockets and no temporary files.
            for name in ["SystemRoot", "TEMP", "TMP", "PATHEXT"] {
                command.env(name, std::env::var_os(name).unwrap_or_default());
            }
        } else {
            command
                .env("XDG_CONFIG_HOME", below("config"))
                .env("XDG_DATA_HOME", below("data"))
                .env("XDG_STATE_HOME", below("state"));
        }
        command
    }

    /// Runs the program with these arguments.
    pub fn run(&self, arguments: impl Arguments) -> Outcome {
        self.storefront(arguments).run()
    }

    /// Runs a command line that must succeed; gives its standard output.
    #[track_caller]
    pub fn ok(&self, line: &str) -> String {
        let outcome = self.run(line);
        assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
        outcome.stdout
    }

    /// Runs a command line against the built-in sandbox, with this interface.
    pub fn sandbox(&self, api: &str, line: &str) -> Outcome {
        self.run(&format!("--sandbox --api {api} {line}"))
    }

    /// Runs a command line there that must succeed.
    #[track_caller]
    pub fn sandbox_ok(&self, api: &str, line: &str) -> Outcome {
        let outcome = self.sandbox(api, line);
        assert_eq!(outcome.code, 0, "{api} {line}: {outcome:?}");
        outcome
    }

    /// Runs a command line that must end with this code; gives its standard error.
    #[track_caller]
    pub fn fails(&self, code: i32, line: &str) -> String {
        let outcome = self.run(line);
        assert_eq!(outcome.code, code, "{line}: {outcome:?}");
        outcome.stderr
    }
}

/// The words of a line, quoted as in a shell of Unix. On Windows a `\` before a letter, digit or dot belongs to a path: the
/// shell would take it away, and Windows knows `/`, too.
pub fn words(line: &str) -> Vec<String> {
    let mut after = line.chars().skip(1).chain([' ']);
    let with_slashes = line.chars().map(|one| {
        let is_in_path = after.next().is_some_and(|next| next.is_alphanumeric() || next == '.');
        if cfg!(windows) && one == '\\' && is_in_path { '/' } else { one }
    });
    shell_words::split(&with_slashes.collect::<String>()).unwrap()
}

/// The arguments of a command: a line quoted as in a shell, or one word each.
pub trait Arguments {
    fn words(self) -> Vec<String>;
}

impl Arguments for &str {
    fn words(self) -> Vec<String> {
        words(self)
    }
}

impl Arguments for &String {
    fn words(self) -> Vec<String> {
        self.as_str().words()
    }
}

impl Arguments for &[&str] {
    fn words(self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

impl<const N: usize> Arguments for &[&str; N] {
    fn words(self) -> Vec<String> {
        self.as_slice().words()
    }
}

impl Arguments for &Vec<&str> {
    fn words(self) -> Vec<String> {
        self.as_slice().words()
    }
}

impl Outcome {
    /// The result object of a run that succeeded without a warning.
    #[track_caller]
    pub fn done(&self) -> serde_json::Value {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error object, which is the last line of standard error.
    #[track_caller]
    pub fn error(&self) -> serde_json::Value {
        let line = self.stderr.lines().last().unwrap_or_default();
        let object: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        object["error"].clone()
    }
}

impl Storefront {
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn stdin(mut self, text: impl AsRef<[u8]>) -> Self {
        self.stdin = text.as_ref().to_vec();
        self
    }

    /// Leaves a variable out.
    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Starts the program with its standard streams piped, to signal it.
    pub fn spawn(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts the program with no input and output, to kill it.
    pub fn spawn_silent(mut self) -> Child {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs a shell script in the program's surroundings; `"$@"` is the program with its arguments.
    pub fn shell(mut self, script: &str) -> Outcome {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).arg(self.command.get_program()).args(self.command.get_args());
        shell.env_clear().current_dir(self.command.get_current_dir().unwrap());
        for (name, value) in self.command.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        self.command = shell;
        self.run()
    }

    /// The command itself.
    pub fn into_command(self) -> Command {
        self.command
    }

    pub fn run(mut self) -> Outcome {
        let mut child =
            self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that does not read may be gone already.
        let _ = child.stdin.take().unwrap().write_all(&self.stdin);
        ended(child)
    }
}

/// Waits for the end of a process that was started with its standard streams piped.
pub fn ended(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
