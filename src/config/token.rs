//! The source of a token, and the host it goes to. Nothing is read or run until the token is needed.

use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use url::Url;

use super::credentials::Credentials;
use super::file::{ConfigFile, read_text, resolve_path};
use super::profile::{Profile, origin};
use crate::system::context::Context;
use crate::system::{child, environment};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{HintCommand, hint, storefront};
use storefront_core::interface::request::Bearer;
use storefront_core::text::redact::Redactor;
use storefront_core::text::sanitize::sanitize_line;
use storefront_core::text::token::Credential;

/// The source of a token.
#[derive(Debug, Clone)]
pub struct TokenSource {
    /// The name of the source, never the token.
    pub from: String,
    /// When the token expires, if that is known without reading a file or running a program.
    pub expires: Option<Timestamp>,
    /// Whether it gives an integration's four values, as far as that is known without reading a file or running a program.
    pub is_integration: bool,
    /// Whether `auth login` stored it.
    pub is_stored: bool,
    origin: Origin,
}

#[derive(Debug, Clone)]
enum Origin {
    Given(Credential),
    File(PathBuf),
    Command(TokenCommand),
    Absent(Box<Failure>),
}

impl TokenSource {
    fn new(origin: Origin, from: impl Into<String>) -> Self {
        let is_integration = matches!(&origin, Origin::Given(token) if token.is_integration());
        Self { from: from.into(), expires: None, is_integration, is_stored: false, origin }
    }

    /// A token that is known; `from` names its source, as in "the environment variable X".
    pub fn given(token: Credential, from: impl Into<String>) -> Self {
        Self { expires: token.expires_at(), ..Self::new(Origin::Given(token), from) }
    }

    /// A missing token: `failure` is returned when it is needed, `from` tells where it was looked for.
    fn absent(failure: Failure, from: impl Into<String>) -> Self {
        Self::new(Origin::Absent(Box::new(failure)), from)
    }

    /// Whether the token is known to have expired.
    pub fn is_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= Timestamp::now())
    }

    /// The program that prints the token, if that is the source. A batch fills its placeholders by
    /// [`TokenCommand::with_argv`].
    pub fn token_command(&self) -> Option<&TokenCommand> {
        if let Origin::Command(command) = &self.origin { Some(command) } else { None }
    }

    /// Whether there is no token.
    pub fn is_absent(&self) -> bool {
        matches!(self.origin, Origin::Absent(_))
    }

    /// The token, if it is known without reading a file or running a program.
    pub fn at_hand(&self) -> Option<&Credential> {
        if let Origin::Given(token) = &self.origin { Some(token) } else { None }
    }

    /// Reads the token. A command is run each time, for 30 seconds at most; dropping the future kills it.
    ///
    /// # Errors
    /// `auth` if it is missing, with what to type; `usage` when its file can be read or written by others.
    pub async fn token(&self) -> Result<Credential, Failure> {
        match &self.origin {
            Origin::Given(token) => token.clone().checked(&self.from),
            Origin::File(path) => read_file(path, &self.from),
            // Boxed, because the state of a process would be part of every request's future.
            Origin::Command(command) => Box::pin(command.run()).await,
            Origin::Absent(failure) => Err((**failure).clone()),
        }
    }
}

fn read_file(path: &std::path::Path, from: &str) -> Result<Credential, Failure> {
    let (text, _) = read_text(path, true)?.ok_or_else(|| auth(format!("{from} not found")))?;
    let token = Credential::new(&text).ok_or_else(|| auth(format!("{from} is empty")))?;
    token.checked(from)
}

fn auth(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Auth, message)
}

/// What the choice of tokens depends on.
pub struct Tokens<'a> {
    /// The surroundings.
    pub context: &'a Context,
    /// The file of the profile.
    pub file: &'a ConfigFile,
    /// The chosen profile.
    pub profile: Option<&'a Profile>,
    /// The base URL of the calls.
    pub base_url: &'a Url,
    /// Whether that is the host of the profile.
    pub own_host: bool,
}

/// The environment variable that holds a token.
pub fn token_variable(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => environment::TOKEN,
        Bearer::Admin => environment::ADMIN_TOKEN,
    }
}

impl Tokens<'_> {
    /// The sources of the customer's and the administrator's token.
    pub fn resolve(&self) -> Result<[TokenSource; 2], Failure> {
        let admin = self.source(Bearer::Admin)?;
        let customer = self.source(Bearer::Customer)?.unwrap_or_else(|| self.none(admin.is_some()));
        let admin = admin.unwrap_or_else(|| customer.clone());
        Ok([customer, admin])
    }

    fn source(&self, bearer: Bearer) -> Result<Option<TokenSource>, Failure> {
        let variable = token_variable(bearer);
        if let Some(token) = self.context.var(variable)?.and_then(Credential::new) {
            return Ok(Some(TokenSource::given(token, format!("the environment variable {variable}"))));
        }
        let Some(profile) = self.profile.filter(|_| self.own_host) else { return Ok(None) };
        let key = profile.token_keys(bearer).next();
        key.map_or_else(|| Ok(self.stored(profile, bearer)), |key| self.configured(profile, key).map(Some))
    }

    /// The source that a key of the profile names.
    fn configured(&self, profile: &Profile, key: &str) -> Result<TokenSource, Failure> {
        let by = format!("{key} of profile {}", profile.name);
        let text = profile.text(key).unwrap_or_default();
        let source = match key.trim_start_matches("admin-") {
            "token-file" | "oauth.file" => {
                let path = resolve_path(self.context, self.file.directory(), &text)?;
                let from = format!("the file {} ({by})", path.display());
                TokenSource::new(Origin::File(path), from)
            }
            "token-command" | "oauth.command" => {
                let words = profile.words(key).unwrap_or_default();
                let command = TokenCommand::of_profile(words, self.context, self.file);
                let from = format!("the command {} ({by})", command.program());
                TokenSource::new(Origin::Command(command), from)
            }
            "token-env" => {
                let from = format!("the environment variable {text} ({by})");
                match self.context.var(&text)?.and_then(Credential::new) {
                    Some(token) => TokenSource::given(token, from),
                    None => TokenSource::absent(auth(format!("{from} is not set")), from),
                }
            }
            _ => match Credential::new(&text) {
                Some(token) => TokenSource::given(token, by),
                None => TokenSource::absent(auth(format!("{by} is empty")), by),
            },
        };
        Ok(TokenSource { is_integration: source.is_integration || key.starts_with("oauth."), ..source })
    }

    /// The token of `auth login`. An error in the file is reported when the token is needed.
    fn stored(&self, profile: &Profile, bearer: Bearer) -> Option<TokenSource> {
        // The login is part of the name, so that two logins with one token are not taken for one.
        let from = |flag: &str| format!("auth login{flag} of profile {}", profile.name);
        let flag = if bearer == Bearer::Admin { " --admin" } else { "" };
        let stored = match Credentials::load(self.context).and_then(|all| all.find(&profile.name, bearer)) {
            Ok(stored) => stored?,
            Err(failure) => return Some(TokenSource::absent(failure, from(flag))),
        };
        let flag = if stored.token.is_integration() { " --oauth" } else { flag };
        let from = from(flag);
        let bound = &stored.origin;
        let here = origin(self.base_url);
        if *bound == here {
            let expires = stored.expires;
            let source = TokenSource::new(Origin::Given(stored.token), from);
            return Some(TokenSource { expires, is_stored: true, ..source });
        }
        let message = format!("the token from {from} is bound to {bound}, but the base URL is now {here}");
        let log_in = HintCommand::of(["auth", "login"].into_iter().chain(flag.split_whitespace()));
        let failure = auth(message).hint(hint!("run ", log_in.arg("-p").arg(&profile.name)));
        Some(TokenSource::absent(failure, format!("{from}, bound to {bound}")))
    }

    /// The source for a missing token, which a profile may have for another host than that of the environment.
    fn none(&self, has_admin: bool) -> TokenSource {
        let variable = token_variable(Bearer::Customer);
        let admin = environment::ADMIN_TOKEN;
        let token = if has_admin { "no customer's token" } else { "no token" };
        let Some(profile) = self.profile else {
            let or = format!(" to a customer's token, or {admin} to an administrator's");
            let hint = format!("set {variable}{}", if has_admin { "" } else { &or });
            return TokenSource::absent(auth(format!("{token} configured")).hint(hint), "none");
        };
        let name = &profile.name;
        if self.own_host {
            let serves_all =
                !has_admin && profile.dialect().is_some_and(|dialect| dialect.customers.is_some());
            let hint = if serves_all {
                hint!(
                    "run ",
                    storefront("auth login --admin -p").arg(name),
                    format!(" (without --admin for a customer's token), or set {admin}")
                )
            } else {
                hint!("run ", storefront("auth login -p").arg(name), format!(", or set {variable}"))
            };
            return TokenSource::absent(auth(format!("{token} for profile `{name}`")).hint(hint), "none");
        }
        let here = origin(self.base_url);
        let base_url = environment::BASE_URL;
        let own = profile.base_url().map(|url| format!("is for {}", origin(&url)));
        let own = own.unwrap_or_else(|| "has no base URL".to_owned());
        let message = format!(
            "{base_url} points to {here}, but profile `{name}` {own}; \
             refusing to send its token to another host"
        );
        let hint = format!("set {variable} to a token for {here}, or unset {base_url}");
        TokenSource::absent(auth(message).hint(hint), format!("none for {here}"))
    }
}

const TIMEOUT: Duration = Duration::from_secs(30);

/// How long the output of a program that has ended is waited for: a process that it left behind, such as an agent, may
/// keep the pipe open forever.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// The longest output that is read, in bytes: no token is longer.
const MAX_OUTPUT: usize = 64 * 1024;

/// The longest message that is shown, in characters: a screen.
const MAX_MESSAGE: usize = 1024;

/// The length from which words of its arguments are masked. Most arguments are not secrets, and shorter words are found
/// in innocent messages.
const MIN_SECRET_ARGUMENT: usize = 8;

/// A program, its arguments, and the variables that it must not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCommand {
    /// The program, then its arguments.
    pub argv: Vec<String>,
    /// The variables that hold tokens of profiles.
    token_variables: Vec<String>,
    /// Whether its child processes end with it. Not with a terminal, which would stop a program outside of its foreground
    /// group that asks for a passphrase.
    own_group: bool,
}

/// The result of a program that has ended.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// The output of a program, and the end of a sentence with its standard error.
struct Printed {
    text: String,
    said: String,
}

impl TokenCommand {
    /// The command with these words.
    pub fn new(argv: Vec<String>) -> Self {
        Self { argv, token_variables: Vec::new(), own_group: false }
    }

    /// The command that a profile of this file names.
    pub fn of_profile(argv: Vec<String>, context: &Context, file: &ConfigFile) -> Self {
        Self { argv, token_variables: file.token_variables(), own_group: !context.has_terminal() }
    }

    /// The same command with other arguments: those of one record.
    #[must_use]
    pub fn with_argv(&self, argv: Vec<String>) -> Self {
        Self { argv, ..self.clone() }
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
    pub async fn run(&self) -> Result<Credential, Failure> {
        self.run_within(TIMEOUT).await
    }

    async fn run_within(&self, limit: Duration) -> Result<Credential, Failure> {
        let printed = self.output(limit).await?;
        let fails = self.fails();
        let token = Credential::printed(&printed.text)
            .ok_or_else(|| fails(format!("printed nothing{}", printed.said)))?;
        token.checked(&self.title())
    }

    /// Runs the program and returns the first line of its output.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn first_line(&self) -> Result<String, Failure> {
        let printed = self.output(TIMEOUT).await?;
        Ok(printed.text.trim().lines().next().unwrap_or_default().to_owned())
    }

    fn title(&self) -> String {
        format!("the token command `{}`", self.program())
    }

    fn fails(&self) -> impl Fn(String) -> Failure {
        let title = self.title();
        move |what| auth(format!("{title} {what}"))
    }

    async fn output(&self, limit: Duration) -> Result<Printed, Failure> {
        let fails = self.fails();
        if self.argv.is_empty() {
            return Err(auth("the token command is empty"));
        }
        let (mut child, _group) = self.start().map_err(|error| fails(format!("cannot be run: {error}")))?;
        let ended = match tokio::time::timeout(limit, finish(&mut child)).await {
            Ok(ended) => ended.map_err(|error| fails(format!("cannot be read: {error}")))?,
            Err(_) => {
                return Err(fails(format!("did not end within {} seconds", limit.as_secs()))
                    .hint("run it by hand to see what it waits for"));
            }
        };
        let said = |before: &str| {
            let message = ended.message(self.argv.get(1..).unwrap_or_default());
            message.map(|said| format!("{before}{said}")).unwrap_or_default()
        };
        if !ended.status.success() {
            let what = format!("failed ({}){}", ended.status, said(": "));
            return Err(fails(what).hint("run it by hand to see why"));
        }
        if ended.stdout.len() > MAX_OUTPUT {
            return Err(fails(format!("printed more than {} KiB", MAX_OUTPUT / 1024)));
        }
        let said = said("; it wrote to stderr: ");
        let text =
            String::from_utf8(ended.stdout).map_err(|_| fails("output is not valid UTF-8".to_owned()))?;
        Ok(Printed { text, said })
    }

    fn start(&self) -> std::io::Result<(Child, Group)> {
        let (program, arguments) = self.argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        // Windows itself finds only a `.exe` by its name alone.
        let found = if cfg!(windows) { which::which(program).ok() } else { None };
        let mut command = Command::new(found.unwrap_or_else(|| program.into()));
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        if self.own_group {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let child = child::start(command, &self.token_variables, true)?;
        let group = Group { leader: child.id().filter(|_| self.own_group) };
        Ok((child, group))
    }
}

impl Ended {
    /// Its standard error, on one line and without words of its output or of its arguments: any of them may be the token.
    fn message(&self, arguments: &[String]) -> Option<String> {
        let printed = String::from_utf8_lossy(&self.stdout);
        let arguments = arguments.iter().flat_map(|argument| argument.split_whitespace());
        let arguments = arguments.filter(|word| word.len() >= MIN_SECRET_ARGUMENT);
        let secrets = Redactor::new();
        for word in printed.split_whitespace().chain(arguments).filter_map(Credential::new) {
            secrets.add(&word);
        }
        let said = String::from_utf8_lossy(&self.stderr);
        let masked = secrets.text(&said);
        // If the message was not read whole, its last word may be half of a secret.
        let end = if self.stderr.len() > MAX_OUTPUT {
            masked.rfind(char::is_whitespace)
        } else {
            Some(masked.len())
        };
        let masked = masked[..end.unwrap_or(0)].trim();
        let kept: String = masked.chars().take(MAX_MESSAGE).collect();
        let cut = if kept.len() < masked.len() { " …" } else { "" };
        (!kept.is_empty()).then(|| sanitize_line(&kept) + cut)
    }
}

/// The processes that the command started; those that still run are killed when this is dropped.
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
    let mut stdout = Vec::new();
    let mut stderr = Vec::new();
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

/// Reads to the end and keeps the beginning: a program that writes more must not be blocked or killed by it.
async fn read_to(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        // One byte more than is kept shows that there was more.
        let room = (MAX_OUTPUT + 1).saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..count.min(room)]);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Credential, Failure, FailureKind, TokenCommand};

    fn command(argv: &[&str]) -> TokenCommand {
        TokenCommand::new(argv.iter().map(|word| (*word).to_owned()).collect())
    }

    fn run_within(command: &TokenCommand, limit: Duration) -> Result<Credential, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(command.run_within(limit))
    }

    fn run(argv: &[&str]) -> Result<Credential, Failure> {
        run_within(&command(argv), Duration::from_secs(30))
    }

    #[test]
    fn a_command_is_named_and_what_it_printed_never_is() {
        assert_eq!(run(&["printf", "%s\\n", "~root"]).unwrap().expose(), "~root");
        assert_eq!(run(&["printf", "t0ken\\nuser: me\\n"]).unwrap().expose(), "t0ken");
        for (argv, problem) in [
            (&["sh", "-c", "echo hunter2; exit 3"][..], "failed (exit status: 3)"),
            (&["sh", "-c", "echo hunter2; echo not hunter2 >&2; exit 3"], ": not •••"),
            (&["sh", "-c", "echo no $1 >&2; exit 3", "sh", "secret-hunter2"], ": no •••"),
            (&["sh", "-c", "printf 'no\\033[31m key\\n' >&2; exit 1"], r": no\u{1b}[31m key"),
            (&["sh", "-c", "echo locked >&2"], "printed nothing; it wrote to stderr: locked"),
            (&["sh", "-c", "head -c 70000 /dev/zero | tr '\\0' x"], "more than 64 KiB"),
            (&["echo", "hunter2 and more"], "can be in it"),
            (&["printf", "hunter2 x\\nuser: me"], "can be in it"),
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
    fn a_secret_that_is_cut_off_at_the_end_of_a_long_message_is_not_shown() {
        let script = "echo secret-hunter2; printf '%65526s %s' no secret-hunter2 >&2; exit 3";
        let failure = run(&["sh", "-c", script]).unwrap_err();
        assert!(failure.message.contains("exit status: 3"), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
    }

    #[test]
    fn a_command_that_hangs_is_killed_with_all_it_started() {
        let directory = tempfile::tempdir().unwrap();
        let pid_file = directory.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
        let start = Instant::now();
        let mut command = command(&["sh", "-c", &script]);
        command.own_group = true;
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
