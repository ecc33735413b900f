//! Files on disk: private, replaced as a whole, locked once.

use std::io::{ErrorKind, Read};

use super::{Disk, Storage, is_directory_error};

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
    assert_eq!(Disk.open_log(&path, false).unwrap_err().kind(), ErrorKind::NotFound);
    let log = Disk.open_log(&path, true).unwrap();
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
    assert!(log.try_lock().unwrap());
    assert!(!Disk.open_log(&path, true).unwrap().try_lock().unwrap());
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
