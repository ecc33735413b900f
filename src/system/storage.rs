//! Files that must not be lost, read by others or half written: this is the one place that creates and replaces them.
//!
//! Everything that the promises rest on (the log, locks, journals) goes through [`Storage`], so that tests can put a
//! modelled disk in its place: one that fails, or forgets unsynced data.

use std::any::Any;
use std::ffi::OsString;
use std::fmt::Debug;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tempfile::{NamedTempFile, PersistError};

use super::database::{Database, DatabaseError, DatabaseFile, Prepare};

/// A lock on a file, held until it is dropped. The operating system frees it when the process dies.
pub type Lock = Box<dyn Any>;

/// Private files on a disk.
pub trait Storage: Debug + Send + Sync {
    /// The content of a file.
    ///
    /// # Errors
    /// `NotFound`, and the system's errors.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The files and directories in a directory, in no order; none if the directory does not exist.
    ///
    /// # Errors
    /// The system's errors.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;

    /// Writes a new file, mode 0600, which is on disk whole or not at all, with the directories it needs (0700). It is
    /// synced before it has its name, and its directory afterwards.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken: nothing is overwritten.
    fn create_from(&self, path: &Path, content: &mut dyn Read) -> io::Result<()>;

    /// As [`Self::create_from`], from memory.
    ///
    /// # Errors
    /// As [`Self::create_from`].
    fn create(&self, path: &Path, mut content: &[u8]) -> io::Result<()> {
        self.create_from(path, &mut content)
    }

    /// Replaces a file, mode 0600: a reader sees the old one or the new one. It is not synced: its contents can be found
    /// out again.
    ///
    /// # Errors
    /// The system's errors.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()>;

    /// As [`Self::replace`], synced, without blocking this thread: for contents that cannot be found out again. The file
    /// may still appear after the future was dropped.
    fn replace_durably(self: Arc<Self>, path: PathBuf, content: Vec<u8>) -> Syncing;

    /// Removes a file.
    ///
    /// # Errors
    /// The system's errors.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Takes the lock of a file, which is created if it does not exist; `None` while another process or another holder in
    /// this one has it. On Windows and some network drives nobody else can read a locked file: a file that others read
    /// has a lock beside it ([`lock_of`]).
    ///
    /// # Errors
    /// The system's errors.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Lock>>;

    /// Opens a file that is read, or also appended to.
    ///
    /// # Errors
    /// `NotFound`, and the system's errors.
    fn open_log(&self, path: &Path, access: LogAccess) -> io::Result<Arc<dyn Log>>;

    /// A new private file in a directory, which is made if it does not exist. The file has no name, and is gone with its
    /// last handle (on Windows it is deleted with that).
    ///
    /// # Errors
    /// The system's errors.
    fn unnamed(&self, directory: &Path) -> io::Result<File>;

    /// Opens a database, which is made, private, if it does not exist.
    ///
    /// # Errors
    /// Why it cannot be used.
    fn open_database(&self, path: &Path, prepare: Prepare) -> Result<Arc<dyn Database>, DatabaseError>;

    /// Whether there is a database.
    fn has_database(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// Running work on a disk.
pub type Syncing = Pin<Box<dyn Future<Output = io::Result<()>>>>;

/// How a log is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogAccess {
    /// It is only read.
    Read,
    /// It is read and appended to.
    Append,
}

/// A file that is appended to, and read from its start.
pub trait Log: Debug + Send + Sync {
    /// Whether it is a regular file: a device or a pipe holds nothing to read and cannot be synced.
    ///
    /// # Errors
    /// The system's errors.
    fn is_regular(&self) -> io::Result<bool>;

    /// Its length in bytes.
    ///
    /// # Errors
    /// The system's errors.
    fn length(&self) -> io::Result<u64>;

    /// Appends bytes.
    ///
    /// # Errors
    /// The system's errors; a part may have been written.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when everything that was appended is on disk.
    ///
    /// # Errors
    /// The system's errors: appended bytes may be lost.
    fn sync(&self) -> io::Result<()>;

    /// Syncs without blocking this thread.
    ///
    /// # Errors
    /// As [`Self::sync`].
    fn sync_concurrently(self: Arc<Self>) -> Syncing;

    /// Cuts the file off after so many bytes.
    ///
    /// # Errors
    /// The system's errors.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Reads from `offset` on. Reading does not disturb appending.
    fn reader(&self, offset: u64) -> Box<dyn Read + '_>;
}

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Storage for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        match std::fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            entries => entries?.map(|entry| Ok(entry?.path())).collect(),
        }
    }

    fn create_from(&self, path: &Path, content: &mut dyn Read) -> io::Result<()> {
        let (file, target) = temporary(path, content)?;
        file.as_file().sync_all()?;
        persist(file, &target, false)?;
        // A file that may be gone after a power cut was not created.
        sync_directory(path).inspect_err(|_| drop(std::fs::remove_file(&target)))
    }

    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let (file, target) = temporary(path, &mut &content[..])?;
        Ok(persist(file, &target, true)?)
    }

    fn replace_durably(self: Arc<Self>, path: PathBuf, content: Vec<u8>) -> Syncing {
        concurrently(move || replace_durably(&path, &content, None))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Lock>> {
        private_directory(parent(path))?;
        let file = open_private(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn open_log(&self, path: &Path, access: LogAccess) -> io::Result<Arc<dyn Log>> {
        let file = OpenOptions::new().read(true).append(access == LogAccess::Append).open(path)?;
        Ok(Arc::new(LogFile { path: path.to_owned(), file }))
    }

    fn unnamed(&self, directory: &Path) -> io::Result<File> {
        private_directory(directory)?;
        tempfile::tempfile_in(directory).map_err(without_path)
    }

    fn open_database(&self, path: &Path, prepare: Prepare) -> Result<Arc<dyn Database>, DatabaseError> {
        private_directory(parent(path))?;
        if let Some(name) = network_file_system(parent(path)) {
            return Err(DatabaseError::Network(name));
        }
        make_private(path)?;
        Ok(Arc::new(DatabaseFile::open(path, prepare)?))
    }
}

/// An append-only file of this machine.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
}

impl Log for LogFile {
    fn is_regular(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.is_file())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.file).write_all(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_concurrently(self: Arc<Self>) -> Syncing {
        concurrently(move || self.sync())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        // Windows does not let a handle that may only append change the length.
        OpenOptions::new().write(true).open(&self.path)?.set_len(length)
    }

    fn reader(&self, offset: u64) -> Box<dyn Read + '_> {
        Box::new(ReadFrom { file: &self.file, offset })
    }
}

/// Waits for the disk on another thread.
fn concurrently(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> Syncing {
    let done = tokio::task::spawn_blocking(work);
    Box::pin(async { done.await.unwrap_or_else(|error| Err(io::Error::other(error))) })
}

/// A reader of a file with other readers: a handle has one position, and each reader keeps its own.
pub struct ReadFrom<F> {
    /// The file.
    pub file: F,
    /// The position of the next read, in bytes.
    pub offset: u64,
}

impl<F: Deref<Target = File>> Read for ReadFrom<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.offset))?;
        let count = file.read(buffer)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// Replaces a file, synced: a reader sees the old one or the new one, whole. The mode is 0600 without `permissions`.
///
/// # Errors
/// The system's errors.
pub fn replace_durably(path: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let (file, target) = temporary(path, &mut &content[..])?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    persist(file, &target, true)?;
    sync_directory(path)
}

/// A private file that gets its name when it is whole, and is removed otherwise.
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
    target: PathBuf,
}

impl NewFile {
    /// Begins a file in a directory that exists.
    ///
    /// # Errors
    /// `AlreadyExists` where the name is taken, and the system's errors.
    pub fn begin(path: &Path) -> io::Result<Self> {
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let directory = long_path(parent(path))?;
        let file = NamedTempFile::new_in(&directory).map_err(without_path)?;
        Ok(Self { file, target: directory.join(path.file_name().unwrap_or_default()), path: path.to_owned() })
    }

    /// Gives it its name when it is on disk.
    ///
    /// # Errors
    /// `AlreadyExists` where the name was taken meanwhile, and the system's errors.
    pub fn finish(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        persist(self.file, &self.target, false)?;
        sync_directory(&self.path)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A temporary file in the directory of `path` with this content, deleted unless it is persisted, and the path to persist it to.
fn temporary(path: &Path, content: &mut dyn Read) -> io::Result<(NamedTempFile, PathBuf)> {
    private_directory(parent(path))?;
    let directory = long_path(parent(path))?;
    let mut file = NamedTempFile::new_in(&directory).map_err(without_path)?;
    io::copy(content, &mut file)?;
    Ok((file, directory.join(path.file_name().unwrap_or_default())))
}

/// The directory in a form in which Windows renames files with more than 260 characters, too.
fn long_path(directory: &Path) -> io::Result<PathBuf> {
    if cfg!(windows) { Ok(verbatim(&std::path::absolute(directory)?)) } else { Ok(directory.to_owned()) }
}

/// An absolute path of Windows with the prefix that lifts the limit of its length. The real path has the prefix, too, but
/// some file systems cannot tell it.
fn verbatim(absolute: &Path) -> PathBuf {
    match absolute.to_str() {
        Some(text) if text.starts_with(r"\\?\") || text.starts_with(r"\\.\") => absolute.to_owned(),
        Some(text) => match text.strip_prefix(r"\\") {
            Some(share) => format!(r"\\?\UNC\{share}").into(),
            None => format!(r"\\?\{text}").into(),
        },
        None => absolute.to_owned(),
    }
}

/// The directory of a file: `.` for a name alone.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path behind symbolic links, or the one that a new file will have. A link may lead to a file that does not exist yet.
pub fn real_path(path: &Path) -> PathBuf {
    let linked = || std::fs::read_link(path).ok().map(|link| parent(path).join(link));
    let new = || Some(dunce::canonicalize(parent(path)).ok()?.join(path.file_name()?));
    dunce::canonicalize(path).ok().or_else(linked).or_else(new).unwrap_or_else(|| path.to_owned())
}

/// The lock file of another file: next to it, and never removed, because after that two processes could lock two files of
/// one name. Replacing or reading the other file does not disturb it.
pub fn lock_of(path: &Path) -> PathBuf {
    let target = real_path(path);
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".lock");
    parent(&target).join(name)
}

/// Makes a directory, and those above it, that only its owner can enter. Their names are on disk when this returns: a
/// synced file must not vanish with its directory.
///
/// # Errors
/// The system's errors.
pub fn private_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    private_directory(parent(path))?;
    let builder = &mut std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
    match builder.create(path) {
        // Another process made it meanwhile.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => Err(error),
        _ => sync_directory(path),
    }
}

/// Opens a file for writing, which is created, mode 0600, if it does not exist; its contents stay.
///
/// # Errors
/// The system's errors.
pub fn open_private(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().create(true).truncate(false).write(true)).open(path)
}

/// Whether a file could not be opened or read because it is a directory. Windows only says that access is denied.
pub fn is_directory_error(path: &Path, error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::IsADirectory => true,
        io::ErrorKind::PermissionDenied => path.is_dir(),
        _ => false,
    }
}

/// Makes the file of a database if it does not exist, and keeps others from reading it and its companions, which SQLite
/// makes with its mode.
fn make_private(path: &Path) -> io::Result<()> {
    let is_new = !path.exists();
    let file = open_private(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
    }
    drop(file);
    if is_new { sync_directory(path) } else { Ok(()) }
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Syncs the directory of a new file, without which its name is not on disk. Windows has no such call and does not need
/// it.
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(parent(path))?.sync_all() } else { Ok(()) }
}

/// The name of the network file system that a directory is on, if any: machines do not see each other's simultaneous
/// writes there. Only Linux tells it.
fn network_file_system(directory: &Path) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    {
        const NETWORK: [(u32, &str); 8] = [
            (0x6969, "NFS"),
            (0x517b, "SMB"),
            (0xfe53_4d42, "SMB"),
            (0xff53_4d42, "CIFS"),
            (0x5346_414f, "AFS"),
            (0x00c3_6400, "Ceph"),
            (0x0bd0_0bd0, "Lustre"),
            (0x0116_1970, "GFS2"),
        ];
        let kind = rustix::fs::statfs(directory).ok()?.f_type;
        // The type of the field differs between architectures; the numbers have 32 bits.
        let found = NETWORK.iter().find(|(number, _)| i128::from(kind) & 0xffff_ffff == i128::from(*number));
        found.map(|(_, name)| *name)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        None
    }
}

/// The waits between the attempts: about a second in all, which is longer than a scan of a small file takes.
const PAUSES_MS: [u64; 7] = [5, 10, 20, 50, 100, 300, 500];

/// `ERROR_ACCESS_DENIED`, `ERROR_SHARING_VIOLATION` and `ERROR_LOCK_VIOLATION`.
const HELD_BY_ANOTHER_PROGRAM: [i32; 3] = [5, 32, 33];

/// The error of a temporary file that cannot be made, without its name, which tells a person nothing.
pub fn without_path(error: io::Error) -> io::Error {
    let plain = io::Error::from(error.kind());
    // A kind without a name says less than the error.
    let is_named = plain.to_string() != "uncategorized error" && error.raw_os_error().is_none();
    if is_named { plain } else { error }
}

/// Gives a temporary file its name: one that is free, or, with `replaces`, that of another file.
///
/// On Windows a file cannot be replaced while another program has it open without sharing it, as antivirus programs and
/// indexers do for a moment after a write. So the step is repeated for about a second. Elsewhere the first error counts.
///
/// # Errors
/// `AlreadyExists`, and the system's error, with the file, which still has its temporary name.
fn persist(mut file: NamedTempFile, path: &Path, replaces: bool) -> Result<(), PersistError> {
    let step = |file: NamedTempFile| {
        if replaces { file.persist(path) } else { file.persist_noclobber(path) }.map(drop)
    };
    for wait in PAUSES_MS {
        match step(file) {
            Err(error) if is_passing(&error.error, cfg!(windows)) => {
                std::thread::sleep(Duration::from_millis(wait));
                file = error.file;
            }
            result => return result,
        }
    }
    step(file)
}

/// Whether another program may hold the file only for a moment.
fn is_passing(error: &io::Error, windows: bool) -> bool {
    windows && error.raw_os_error().is_some_and(|code| HELD_BY_ANOTHER_PROGRAM.contains(&code))
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind, Read};
    use std::path::Path;

    use super::{Disk, LogAccess, Storage, is_directory_error, is_passing, verbatim};

    #[test]
    fn a_new_file_is_private_and_never_overwrites() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/file.json");
        Disk.create(&path, b"one").unwrap();
        assert_eq!(Disk.create(&path, b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(Disk.read(&path).unwrap(), b"one");
        Disk.replace(&path, b"three").unwrap();
        assert_eq!(Disk.read(&path).unwrap(), b"three");
        assert_eq!(Disk.list(path.parent().unwrap()).unwrap(), std::slice::from_ref(&path));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
    }

    #[test]
    fn a_path_of_windows_has_the_prefix_for_long_ones_once() {
        for (path, expected) in [
            (r"C:\shop\items", r"\\?\C:\shop\items"),
            (r"\\server\share\items", r"\\?\UNC\server\share\items"),
            (r"\\?\C:\shop", r"\\?\C:\shop"),
            (r"\\?\UNC\server\share", r"\\?\UNC\server\share"),
            (r"\\.\pipe\x", r"\\.\pipe\x"),
        ] {
            assert_eq!(verbatim(path.as_ref()), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_lock_has_one_holder() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("locks/one.lock");
        let held = Disk.try_lock(&path).unwrap();
        assert!(held.is_some() && Disk.try_lock(&path).unwrap().is_none());
        drop(held);
        assert!(Disk.try_lock(&path).unwrap().is_some());
    }

    #[test]
    fn a_log_is_read_while_it_grows_and_cut_where_it_is_torn() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        assert_eq!(Disk.open_log(&path, LogAccess::Append).unwrap_err().kind(), ErrorKind::NotFound);
        Disk.create(&path, b"").unwrap();
        let log = Disk.open_log(&path, LogAccess::Append).unwrap();
        log.append(b"one\ntwo\nthr").unwrap();
        log.sync().unwrap();
        let mut reader = log.reader(4);
        let mut first = [0; 2];
        reader.read_exact(&mut first).unwrap();
        log.truncate(8).unwrap();
        log.append(b"four\n").unwrap();
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        assert_eq!((&first, rest.as_str(), log.length().unwrap()), (b"tw", "o\nfour\n", 13));
        assert!(Disk.open_log(&path, LogAccess::Read).unwrap().append(b"five\n").is_err());
    }

    #[test]
    fn a_directory_is_told_from_a_file_that_may_not_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        // What Windows says of both.
        let denied = ErrorKind::PermissionDenied.into();
        assert!(is_directory_error(directory.path(), &denied) && !is_directory_error(&file, &denied));
        assert!(is_directory_error(&file, &ErrorKind::IsADirectory.into()), "it was one when it was read");
        assert!(!is_directory_error(directory.path(), &ErrorKind::NotFound.into()));
    }

    #[test]
    fn only_windows_waits_and_only_for_files_in_use() {
        let passing = |code, windows| is_passing(&io::Error::from_raw_os_error(code), windows);
        assert!([5, 32, 33].into_iter().all(|code| passing(code, true) && !passing(code, false)));
        // ERROR_FILE_EXISTS, ERROR_DISK_FULL
        assert!(!passing(80, true) && !passing(112, true));
    }
}
