//! `config.toml`: found, read, checked against the table of keys, and split into profiles.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toml_edit::{DocumentMut, Item, TableLike};

use super::header_rules::HEADERS;
use super::profile::{DEFAULT_PROFILE, Profile, TOP, check_profile_name, is_secret, join, unknown};
use crate::cli::GlobalArgs;
use crate::input::document::unreadable;
use crate::system::context::Context;
use crate::system::environment;
#[cfg(unix)]
use crate::system::shell::Shell;
use crate::system::storage::{Disk, Storage, lock_of, real_path, replace_durably};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::text::suggestion::closest_match;

const FILE: &str = "config.toml";

/// The configuration file, read once for a command. Its error counts only if the environment does not give everything.
pub type Loaded = Result<ConfigFile, Failure>;

/// The configuration file; a missing one has no profiles.
#[derive(Clone, Default)]
pub struct ConfigFile {
    /// The path of the file, which may not exist.
    pub path: PathBuf,
    /// Whether the file exists.
    pub exists: bool,
    /// The file unchanged, comments and all.
    pub document: DocumentMut,
    text: String,
}

impl ConfigFile {
    /// Where the file is: `STOREFRONT_CONFIG`, or `config.toml` in the program's own directory.
    pub fn locate(context: &Context) -> Result<PathBuf, Failure> {
        match context.var(environment::CONFIG)? {
            Some(path) => Ok(PathBuf::from(path)),
            None => Self::default_path(context),
        }
    }

    /// The path of the file without `STOREFRONT_CONFIG`.
    pub(super) fn default_path(context: &Context) -> Result<PathBuf, Failure> {
        Ok(context.directories()?.config.join(FILE))
    }

    /// Reads the file. Its permissions are checked, its settings not yet.
    ///
    /// # Errors
    /// `usage` when it cannot be read, is not TOML, is owned or can be written by another user, or holds a token that
    /// others can read.
    pub fn load(context: &Context) -> Loaded {
        let path = Self::locate(context)?;
        let Some((text, metadata)) = read_text(&path, false)? else {
            return Ok(Self { path, ..Self::default() });
        };
        let config = Self::parse(path, &text)?;
        require_safe(&metadata, &config.path, config.holds_token())?;
        Ok(config)
    }

    /// The file that settings are taken from. One that `STOREFRONT_CONFIG` names has to exist. If the environment gives
    /// everything (`is_complete`), an unnamed file whose directory is unknown or not accessible is left out.
    pub(super) fn for_settings(context: &Context, loaded: &Loaded, is_complete: bool) -> Loaded {
        let is_named = context.var(environment::CONFIG)?.is_some();
        let is_denied =
            |path: PathBuf| File::open(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
        match loaded {
            Ok(file) if is_named && !file.exists && !is_complete => {
                let message = format!("`{}` (from STOREFRONT_CONFIG) does not exist", file.path.display());
                Err(Failure::usage(message).hint(hint!("create it with ", storefront("config init"))))
            }
            Err(_) if is_complete && !is_named && Self::locate(context).map_or(true, is_denied) => {
                Ok(Self::default())
            }
            loaded => loaded.clone(),
        }
    }

    /// Reads the file, changes it and writes it, under its lock: changes of other processes are kept. `change` must not
    /// wait for a person. Returns the file as written and the result of `change`.
    ///
    /// A change may not break a sound file; a broken file may be fixed step by step.
    ///
    /// # Errors
    /// As [`Self::load`] and `change`; `usage` for a change that breaks the file, `unavailable` when another process
    /// keeps the lock, `internal` when it cannot be written.
    pub fn update<T>(
        context: &Context,
        change: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<(Self, T), Failure> {
        update_file(&Self::locate(context)?, || {
            let mut file = Self::load(context)?;
            let was_sound = file.profiles().is_ok();
            let changed = change(&mut file)?;
            if was_sound {
                file.profiles()?;
            }
            Ok((in_style_of(&file.text, &file.document.to_string()), file.holds_token(), (file, changed)))
        })
    }

    /// The file of a text. Its settings are not checked yet.
    ///
    /// # Errors
    /// `usage`, with line and column, when the text is not TOML.
    pub fn parse(path: PathBuf, text: &str) -> Result<Self, Failure> {
        let document = parse_toml(&path, text)?;
        Ok(Self { path, exists: true, document, text: text.to_owned() })
    }

    /// Whether the file itself has a token.
    pub fn holds_token(&self) -> bool {
        self.tables().any(|(_, profile)| {
            profile.as_table_like().is_some_and(|profile| profile.iter().any(|(name, _)| is_secret(name)))
        }) || self.headers().any(|(_, value)| value.is_str())
    }

    /// The headers of all profiles.
    fn headers(&self) -> impl Iterator<Item = (&str, &Item)> {
        let tables = self.tables().filter_map(|(_, profile)| profile.get(HEADERS)?.as_table_like());
        tables.flat_map(TableLike::iter)
    }

    /// The environment variables that hold tokens of any profile.
    pub fn token_variables(&self) -> Vec<String> {
        let keys = |(_, profile): (_, &Item)| {
            ["token-env", "admin-token-env"].map(|key| Some(profile.get(key)?.as_str()?.to_owned()))
        };
        let headers = self.headers().filter_map(|(_, value)| Some(value.get("env")?.as_str()?.to_owned()));
        self.tables().flat_map(keys).flatten().chain(headers).collect()
    }

    /// The names of the profiles, in the order of the file.
    pub fn names(&self) -> Vec<&str> {
        self.tables().map(|(name, _)| name).collect()
    }

    fn tables(&self) -> impl Iterator<Item = (&str, &Item)> {
        let profiles = self.document.get("profiles").and_then(Item::as_table_like);
        profiles.into_iter().flat_map(TableLike::iter)
    }

    /// Checks the whole file and splits it into profiles.
    ///
    /// # Errors
    /// `usage` for the first unknown key, wrong type, bad value or doubled token, with its path.
    pub fn profiles(&self) -> Result<Vec<Profile>, Failure> {
        let problem = |problem: String| Failure::usage(format!("{}: {problem}", self.path.display()));
        for (name, item) in self.document.iter() {
            match name {
                "profiles" if item.is_table_like() => Ok(()),
                "profiles" => Err("profiles: expected a table".to_owned()),
                _ if name == DEFAULT_PROFILE.name => {
                    DEFAULT_PROFILE.check(item).map_err(|problem| format!("{name}: {problem}"))
                }
                _ => Err(unknown(&join("", name), name, &TOP)),
            }
            .map_err(problem)?;
        }
        let profile = |(name, item): (&str, &Item)| {
            check_profile_name(name).map_err(|problem| format!("{}: {problem}", join("profiles", name)))?;
            Profile::parse(name, item)
        };
        self.tables().map(|table| profile(table).map_err(problem)).collect()
    }

    /// The profile that flag, environment or `default-profile` name; `None` if none of them does.
    ///
    /// # Errors
    /// As [`Self::profiles`], and `usage` when there is no profile of that name.
    pub fn chosen(&self, context: &Context, global: &GlobalArgs) -> Result<Option<Profile>, Failure> {
        let profiles = self.profiles()?;
        let Some((name, by)) = self.chosen_name(context, global)? else {
            return Ok(None);
        };
        let found = profiles.into_iter().find(|profile| profile.name == name);
        found.map(Some).ok_or_else(|| self.no_such_profile(&name, by))
    }

    /// The name of the chosen profile and where the name comes from, even if there is no such profile.
    pub fn chosen_name(
        &self,
        context: &Context,
        global: &GlobalArgs,
    ) -> Result<Option<(String, &'static str)>, Failure> {
        if let Some(name) = &global.flags.profile {
            return Ok(Some((name.clone(), "--profile")));
        }
        if let Some(name) = context.var(environment::PROFILE)? {
            return Ok(Some((name.to_owned(), environment::PROFILE)));
        }
        let default = self.document.get(DEFAULT_PROFILE.name).and_then(Item::as_str);
        Ok(default.map(|name| (name.to_owned(), "default-profile")))
    }

    /// The failure that there is no profile `name`, with the nearest name or all of them.
    pub fn no_such_profile(&self, name: &str, by: &str) -> Failure {
        let names = self.names();
        let hint = match closest_match(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?").into(),
            None if names.is_empty() => hint!("run ", storefront("config init -p").arg(name)),
            None => format!("available profiles: {}", names.join(", ")).into(),
        };
        Failure::usage(format!("no profile `{name}` in `{}` (from {by})", self.path.display())).hint(hint)
    }

    /// The failure that no profile is chosen, with the ways to choose one.
    pub fn no_profile_selected(&self) -> Failure {
        let names = self.names();
        if !names.is_empty() {
            return Failure::usage(format!("no profile selected (available: {})", names.join(", "))).hint(
                hint!(
                    "use -p NAME, set a default with ",
                    storefront("config use NAME"),
                    ", or use --sandbox"
                ),
            );
        }
        let path = self.path.display();
        let state = if self.exists { "has no profile" } else { "does not exist" };
        Failure::usage(format!("no service configured: `{path}` {state}")).hint(hint!(
            "to try it with no account, add --sandbox; for a real service, run ",
            storefront("config init"),
            ", or set STOREFRONT_API=magento, STOREFRONT_BASE_URL and STOREFRONT_ADMIN_TOKEN"
        ))
    }

    /// The directory that paths in the file are relative to.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// The longest file that is read: people write shorter ones.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Reads a small text file; `None` if it is missing. One that holds a secret must be its owner's only.
///
/// # Errors
/// `usage` when it cannot be read, is not text, or is refused by [`require_safe`].
pub fn read_text(path: &Path, is_secret: bool) -> Result<Option<(String, Metadata)>, Failure> {
    let problem = |what: &str| Failure::usage(format!("`{}` {what}", path.display()));
    let unreadable = |error| unreadable(path, &error);
    let file = match File::open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        opened => opened.map_err(unreadable)?,
    };
    let metadata = file.metadata().map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    require_safe(&metadata, path, is_secret)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(problem("is larger than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| problem("is not valid UTF-8 text"))?;
    Ok(Some((text, metadata)))
}

/// Parses TOML, a byte order mark apart. The message has line and column and never the text itself, which may be a token.
pub fn parse_toml(path: &Path, text: &str) -> Result<DocumentMut, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|one| *one != '\n').count() + 1;
        let message = error.message().replace('\n', "; ");
        Failure::usage(format!("{}:{line}:{column}: not valid TOML: {message}", path.display()))
    })
}

/// A path as it is written in a file: `~/` is the home directory, and a relative one starts at `directory`.
pub fn resolve_path(context: &Context, directory: &Path, written: &str) -> Result<PathBuf, Failure> {
    let Some(rest) = below_home(written, cfg!(windows)) else {
        return Ok(directory.join(written));
    };
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let unknown = || {
        let message = format!("cannot resolve `{written}`: home directory unknown");
        Failure::usage(message).hint(format!("set {variable}"))
    };
    context.var(variable)?.map(|home| Path::new(home).join(rest)).ok_or_else(unknown)
}

/// The part after `~/`; on Windows `~\` is the same. `~` with a name after it is not a home directory here.
fn below_home(written: &str, windows: bool) -> Option<&str> {
    written.strip_prefix('~')?.strip_prefix(if windows { &['/', '\\'][..] } else { &['/'] })
}

/// Refuses a file that decides where requests and tokens go if another user could have changed it or, if it holds a
/// secret, could read it. As in `ssh`, owner and mode decide. The metadata is that of the opened file, because its name
/// may mean another file by now. Windows has no modes; the protection of the user's directory has to do there.
#[cfg(unix)]
fn require_safe(metadata: &Metadata, path: &Path, is_secret: bool) -> Result<(), Failure> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    // /dev/null is writable for all, and its content cannot change.
    if metadata.file_type().is_char_device() {
        return Ok(());
    }
    require_owner(path, metadata.uid(), metadata.mode(), rustix::process::geteuid().as_raw(), is_secret)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "nothing is checked there")]
fn require_safe(_: &Metadata, _: &Path, _: bool) -> Result<(), Failure> {
    Ok(())
}

#[cfg(unix)]
fn require_owner(path: &Path, owner: u32, mode: u32, user: u32, is_secret: bool) -> Result<(), Failure> {
    const ROOT: u32 = 0;
    const WRITABLE: u32 = 0o022;
    const OPEN: u32 = 0o077;
    let quoted = Shell::NATIVE.quote(&path.to_string_lossy()).into_owned();
    let is_writable = mode & WRITABLE != 0;
    let (problem, fix) = match () {
        // A secret that is mounted into a container belongs to root, and every process in it can often read it.
        () if owner == ROOT && user != ROOT && !is_writable => return Ok(()),
        () if owner != user => (
            format!("is owned by another user (uid {owner}), who could change where tokens are sent"),
            format!("check its contents, then run `sudo chown {user} {quoted}`"),
        ),
        () if is_secret && mode & OPEN != 0 => {
            let what = if is_writable { "changed" } else { "read" };
            let problem = format!("contains a token and can be {what} by other users");
            (problem, format!("run `chmod 600 {quoted}`"))
        }
        () if is_writable => {
            ("can be changed by other users".to_owned(), format!("run `chmod go-w {quoted}`"))
        }
        () => return Ok(()),
    };
    Err(Failure::usage(format!("`{}` {problem}", path.display())).hint(fix))
}

/// How long the lock is waited for. A change takes milliseconds, so that a longer wait means a process that hangs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// Changes the file at `path` (a symbolic link is followed first) under its lock, and replaces it whole: a reader sees
/// the old text or the new one, never a part. `change` returns the new text, whether it is a secret, and a result to pass
/// on. A new file is readable by its owner only. An existing one keeps its mode unless it is a secret.
///
/// The lock is a file of its own next to the changed one, because replacing a file also replaces its lock. The operating
/// system releases the lock of a process that dies.
///
/// # Errors
/// As `change`; `unavailable` when another process keeps the lock for 10 seconds, `internal` when it cannot be written.
pub fn update_file<T>(
    path: &Path,
    change: impl FnOnce() -> Result<(String, bool, T), Failure>,
) -> Result<T, Failure> {
    let target = real_path(path);
    let lock = lock_of(path);
    let shown = target.display();
    let failed =
        |what: &str, error: std::io::Error| Failure::internal(format!("`{shown}` cannot be {what}: {error}"));
    let start = Instant::now();
    let _held = loop {
        match Disk.try_lock(&lock).map_err(|error| failed("locked", error))? {
            Some(held) => break held,
            None if start.elapsed() < LOCK_TIMEOUT => std::thread::sleep(LOCK_INTERVAL),
            None => {
                let message = format!("`{shown}` is being changed by another process");
                let hint =
                    format!("stop the process that holds the lock on `{}`, then try again", lock.display());
                return Err(Failure::new(FailureKind::Unavailable, message).hint(hint));
            }
        }
    };
    let (text, is_secret, changed) = change()?;
    let kept = fs::metadata(&target).ok().filter(|_| !is_secret).map(|metadata| metadata.permissions());
    replace_durably(&target, text.as_bytes(), kept).map_err(|error| failed("written", error))?;
    Ok(changed)
}

/// The text with the line ends and the byte order mark of `before`. A text with mixed line ends counts as LF.
fn in_style_of(before: &str, text: &str) -> String {
    let ends = before.matches('\n').count();
    let is_crlf = ends > 0 && before.matches("\r\n").count() == ends;
    let text = if is_crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text.to_owned() };
    if before.starts_with('\u{feff}') { format!("\u{feff}{text}") } else { text }
}

#[cfg(test)]
mod tests;
