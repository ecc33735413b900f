//! A program that prints a token, run without a shell for 30 seconds at most.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::program_search::ProgramSearch;
use crate::environment;
use crate::failure::{Failure, FailureKind};
use crate::sanitize::sanitize_line;
use crate::token::Token;

const TIMEOUT: Duration = Duration::from_secs(30);

/// How long the output of a program that has ended is waited for: something that it left behind, such as an agent, may
/// keep the other end open for ever.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// No token is longer, in bytes.
const MAX_OUTPUT: usize = 64 * 1024;

/// Of an error message as much as fits a screen, in bytes.
const MAX_MESSAGE: usize = 1024;

/// Shorter words that it printed are found in innocent messages.
const MIN_SECRET: usize = 4;

/// The same of its arguments, most of which are no secrets.
const MIN_SECRET_ARGUMENT: usize = 8;

/// A program, its arguments, and what it must not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCommand {
    argv: Vec<String>,
    hidden_variables: Vec<String>,
    own_group: bool,
    search: Option<ProgramSearch>,
}

/// What a program that has ended left behind.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl TokenCommand {
    /// The command without our token variables in its environment.
    pub fn new(argv: Vec<String>) -> Self {
        let hidden_variables = [environment::TOKEN, environment::ADMIN_TOKEN].map(str::to_owned).to_vec();
        Self { argv, hidden_variables, own_group: false, search: None }
    }

    /// Hides more environment variables that hold tokens.
    #[must_use]
    pub fn hiding(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.hidden_variables.extend(variables);
        self
    }

    /// Puts the program into a process group of its own, so that what it starts ends with it. Not where a terminal is:
    /// the terminal stops a program outside of its foreground group that asks for a passphrase.
    #[must_use]
    pub fn in_own_group(mut self, own_group: bool) -> Self {
        self.own_group = own_group;
        self
    }

    /// Looks for the program by these rules first.
    #[must_use]
    pub fn found_by(mut self, search: Option<ProgramSearch>) -> Self {
        self.search = search;
        self
    }

    /// The same command with other arguments: those of one record.
    #[must_use]
    pub fn with_argv(&self, argv: Vec<String>) -> Self {
        Self { argv, ..self.clone() }
    }

    /// The program, then its arguments.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// The program. Its arguments may be secrets and are never shown.
    pub fn program(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    /// Runs the program. Dropping the future kills it.
    ///
    /// # Errors
    /// `auth` when it cannot be run, fails, prints no token or does not end in time. The message has its exit code and
    /// what it wrote to standard error, without what it printed and its arguments.
    pub async fn run(&self) -> Result<Token, Failure> {
        self.run_within(TIMEOUT).await
    }

    async fn run_within(&self, limit: Duration) -> Result<Token, Failure> {
        let name = format!("the token command `{}`", self.program());
        let fails = |what: String| Failure::new(FailureKind::Auth, format!("{name} {what}"));
        if self.argv.is_empty() {
            return Err(Failure::new(FailureKind::Auth, "the token command is empty"));
        }
        let (mut child, _group) = self.spawn().map_err(|error| fails(format!("cannot be run: {error}")))?;
        let ended = match tokio::time::timeout(limit, finish(&mut child)).await {
            Ok(ended) => ended.map_err(|error| fails(format!("cannot be read: {error}")))?,
            Err(_) => {
                return Err(fails(format!("did not end within {} seconds", limit.as_secs()))
                    .hint("run it by hand to see what it waits for"));
            }
        };
        let message = || ended.message(self.argv.get(1..).unwrap_or_default());
        if !ended.status.success() {
            let said = message().map(|said| format!(": {said}")).unwrap_or_default();
            return Err(fails(format!("failed ({}){said}", ended.status)).hint("run it by hand to see why"));
        }
        if ended.stdout.len() > MAX_OUTPUT {
            return Err(fails(format!("printed more than {} KiB", MAX_OUTPUT / 1024)));
        }
        let said = || message().map(|said| format!("; it wrote to stderr: {said}")).unwrap_or_default();
        let printed =
            std::str::from_utf8(&ended.stdout).map_err(|_| fails("output is not valid UTF-8".to_owned()))?;
        let token = Token::new(printed).ok_or_else(|| fails(format!("printed nothing{}", said())))?;
        token.checked(&name)
    }

    fn spawn(&self) -> std::io::Result<(Child, Group)> {
        let (program, arguments) = self.argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let found = self.search.as_ref().and_then(|search| search.find(program));
        let mut command = Command::new(found.unwrap_or_else(|| program.into()));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        for variable in &self.hidden_variables {
            command.env_remove(variable);
        }
        #[cfg(unix)]
        if self.own_group {
            command.process_group(0);
        }
        let child = command.spawn()?;
        let group = Group { leader: child.id().filter(|_| self.own_group) };
        Ok((child, group))
    }
}

impl Ended {
    /// What it wrote to standard error, on one line and without words of what it printed or of its arguments: any of
    /// them may be the token.
    fn message(&self, arguments: &[String]) -> Option<String> {
        let words = |text: &str, length: usize| {
            let words = text.split_whitespace().filter(|word| word.len() >= length);
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let mut secrets = words(&String::from_utf8_lossy(&self.stdout), MIN_SECRET);
        secrets.extend(arguments.iter().flat_map(|argument| words(argument, MIN_SECRET_ARGUMENT)));
        // A word inside a longer one would leave the rest of that.
        secrets.sort_unstable_by_key(|word| std::cmp::Reverse(word.len()));
        secrets.dedup();
        let said = String::from_utf8_lossy(&self.stderr);
        let masked =
            secrets.iter().fold(said.into_owned(), |said, secret| said.replace(secret.as_str(), "•••"));
        let masked = masked.trim();
        if masked.is_empty() {
            return None;
        }
        let end =
            (0..=MAX_MESSAGE.min(masked.len())).rev().find(|end| masked.is_char_boundary(*end)).unwrap_or(0);
        let cut = if end < masked.len() { " …" } else { "" };
        Some(sanitize_line(&masked[..end]) + cut)
    }
}

/// The processes that the command started; what is left of them is killed when this is dropped.
struct Group {
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has process groups"))]
    leader: Option<u32>,
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.leader.and_then(|leader| i32::try_from(leader).ok());
        if let Some(group) = leader.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Waits for the program to end and reads what it writes meanwhile.
async fn finish(child: &mut Child) -> std::io::Result<Ended> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let pipes = (child.stdout.take(), child.stderr.take());
    let status = {
        let reading = async {
            tokio::join!(read_to(pipes.0, &mut stdout), read_to(pipes.1, &mut stderr));
        };
        let mut reading = std::pin::pin!(reading);
        tokio::select! {
            () = &mut reading => child.wait().await?,
            status = child.wait() => {
                let _ = tokio::time::timeout(DRAIN_TIMEOUT, reading).await;
                status?
            }
        }
    };
    Ok(Ended { status, stdout, stderr })
}

/// Reads to the end and keeps the beginning: a program that writes more must not be held up or killed by it.
async fn read_to(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        // One byte more than is taken shows that there was more.
        let room = (MAX_OUTPUT + 1).saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..count.min(room)]);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Failure, FailureKind, Token, TokenCommand};

    fn command(argv: &[&str]) -> TokenCommand {
        TokenCommand::new(argv.iter().map(|word| (*word).to_owned()).collect())
    }

    fn run_within(command: &TokenCommand, limit: Duration) -> Result<Token, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(command.run_within(limit))
    }

    fn run(argv: &[&str]) -> Result<Token, Failure> {
        run_within(&command(argv), Duration::from_secs(30))
    }

    #[test]
    fn a_command_is_named_and_what_it_printed_never_is() {
        assert_eq!(run(&["printf", "%s\\n", "~root"]).unwrap().expose(), "~root");
        for (argv, problem) in [
            (&["sh", "-c", "echo hunter2; exit 3"][..], "failed (exit status: 3)"),
            (&["sh", "-c", "echo hunter2; echo not hunter2 >&2; exit 3"], ": not •••"),
            (&["sh", "-c", "echo no $1 >&2; exit 3", "sh", "secret-hunter2"], ": no •••"),
            (&["sh", "-c", "printf 'no\\033[31m key\\n' >&2; exit 1"], r": no\u{1b}[31m key"),
            (&["sh", "-c", "echo locked >&2"], "printed nothing; it wrote to stderr: locked"),
            (&["sh", "-c", "head -c 70000 /dev/zero | tr '\\0' x"], "more than 64 KiB"),
            (&["echo", "hunter2 and more"], "can be in it"),
            (&["printf", "hunter2\\nuser: me"], "can be in it"),
            (&["true"], "printed nothing"),
            (&["/nonexistent/program", "hunter2"], "cannot be run"),
            (&[], "is empty"),
        ] {
            let failure = run(argv).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Auth);
            assert!(failure.message.contains(problem), "{failure}");
            assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
        }
    }

    #[test]
    fn a_long_message_is_cut_and_does_not_hold_the_program_up() {
        let failure = run(&["sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x >&2; exit 4"]).unwrap_err();
        assert!(failure.message.contains("exit status: 4") && failure.message.len() < 1200, "{failure}");
    }

    #[test]
    fn a_command_that_hangs_is_killed_with_all_it_started() {
        let directory = tempfile::tempdir().unwrap();
        let pid_file = directory.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
        let start = Instant::now();
        let command = command(&["sh", "-c", &script]).in_own_group(true);
        let failure = run_within(&command, Duration::from_secs(1)).unwrap_err();
        assert!(failure.message.contains("did not end within 1 seconds"), "{failure}");
        assert!(start.elapsed() < Duration::from_secs(10));
        let pid: i32 = std::fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
        let is_gone = || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            status.is_empty() || status.contains(") Z ")
        };
        let gone = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            is_gone()
        });
        assert!(gone || !std::path::Path::new("/proc/self").exists(), "{pid} still runs");
    }

    #[test]
    fn an_agent_that_is_left_behind_does_not_hold_the_token() {
        let start = Instant::now();
        assert_eq!(run(&["sh", "-c", "sleep 5 & echo token"]).unwrap().expose(), "token");
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    }
}
