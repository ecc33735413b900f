//! Files of settings: read, refused, and changed whole.

#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};

#[cfg(unix)]
use super::{
    Exposure, UpdateLock,
    platform::{is_only_member, judge},
};
use super::{Path, TextStyle, below_home, parse_toml, read_text};

#[cfg(unix)]
const ME: u32 = 1000;

#[test]
fn a_syntax_error_has_its_place_and_not_the_text() {
    for (text, place) in [
        ("default-profile = \"é\"\n[profiles.a]\ntoken = \"hunter2", ":3:"),
        ("token = hunter2", ":1:"),
        ("a = 1\na = hunter2\na = 2", ":2:"),
        ("[profiles.a]\ntoken = \"hunter2\"\ntoken = \"hunter2\"", ":3:"),
        ("{\"token\": \"hunter2\"}", ":1:"),
    ] {
        let failure = parse_toml(Path::new("config.toml"), text).unwrap_err();
        assert!(failure.message.contains(&format!("config.toml{place}")), "{failure}");
        assert!(!failure.message.contains("hunter2"), "{failure}");
    }
}

#[test]
fn the_home_directory_is_written_as_the_system_writes_paths() {
    for (written, rest) in [("~/a", Some("a")), ("~a/b", None), ("a/~/b", None), ("~", None)] {
        assert_eq!((below_home(written, false), below_home(written, true)), (rest, rest));
    }
    assert_eq!((below_home(r"~\a", false), below_home(r"~\a\b", true)), (None, Some(r"a\b")));
}

#[test]
fn odd_files_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    assert!(read_text(&path).unwrap().is_none());
    assert!(read_text(directory.path()).err().unwrap().message.contains("is a directory"));
    std::fs::write(&path, b"\xff\xfe").unwrap();
    assert!(read_text(&path).err().unwrap().message.contains("UTF-8"));
    std::fs::write(&path, vec![b' '; 1024 * 1024 + 1]).unwrap();
    assert!(read_text(&path).err().unwrap().message.contains("1 MiB"));
}

#[cfg(unix)]
#[test]
fn a_file_is_trusted_when_only_its_user_or_root_can_change_it() {
    let foreign = |owner| Exposure::ForeignOwner { user: ME, owner };
    for (owner, mode, own_group, expected) in [
        (ME, 0o600, false, Exposure::None),
        (ME, 0o644, false, Exposure::Readable),
        (ME, 0o640, false, Exposure::Readable),
        (ME, 0o640, true, Exposure::None),
        (ME, 0o644, true, Exposure::Readable),
        (ME, 0o620, false, Exposure::Writable),
        (ME, 0o660, true, Exposure::None),
        (ME, 0o602, true, Exposure::Writable),
        (ME, 0o666, true, Exposure::Writable),
        (1001, 0o600, true, foreign(1001)),
        (1001, 0o444, true, foreign(1001)),
        (0, 0o444, false, Exposure::None),
        (0, 0o644, false, Exposure::None),
        (0, 0o664, true, foreign(0)),
        (0, 0o646, true, foreign(0)),
    ] {
        assert_eq!(judge(owner, mode, ME, || own_group), expected, "{owner} {mode:o} {own_group}");
    }
    assert_eq!(judge(0, 0o644, 0, || true), Exposure::Readable, "a token of root's own is private too");
}

#[cfg(unix)]
#[test]
fn a_group_is_the_users_own_when_nobody_else_is_in_it() {
    let passwd = "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nyou:x:1001:1001::/:/bin/sh\n\
        guest:x:1002:100::/:/bin/sh\n";
    let groups = "root:x:0:\nme:x:1000:\nshop:x:50:me\nstaff:x:60:me,you\nusers:x:100:\nempty:x:70:\n";
    for (group, expected) in
        [(1000, true), (50, true), (70, true), (60, false), (100, false), (999, false), (1001, false)]
    {
        assert_eq!(is_only_member(ME, group, passwd, groups), expected, "{group}");
    }
    assert!(!is_only_member(5000, 50, passwd, groups), "a user of a directory service");
}

#[cfg(unix)]
#[test]
fn replacing_keeps_links_and_modes() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("real"), directory.path().join("link"));
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    // The link comes first: it leads to a file that is not there yet.
    symlink("real", &link).unwrap();
    UpdateLock::acquire(&link).unwrap().replace("a", false).unwrap();
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    UpdateLock::acquire(&link).unwrap().replace("b", false).unwrap();
    assert_eq!(mode(), 0o640);
    UpdateLock::acquire(&link).unwrap().replace("c", true).unwrap();
    assert_eq!(mode(), 0o600);
    assert!(std::fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "c");
}

#[cfg(unix)]
#[test]
fn a_link_and_its_target_share_one_lock() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("real"), directory.path().join("link"));
    std::fs::write(&path, "").unwrap();
    symlink(&path, &link).unwrap();
    let lock = UpdateLock::acquire(&link).unwrap();
    let name = directory.path().join(".real.lock");
    let other = std::fs::File::open(&name).unwrap();
    assert!(other.try_lock().is_err(), "somebody else waits");
    drop(lock);
    other.try_lock().unwrap();
}

#[test]
fn a_text_keeps_its_line_ends_and_mark() {
    for text in ["a\r\nb\r\n", "a\nb\n", "\u{feff}a\r\n", "", "a"] {
        assert_eq!(TextStyle::of(text).apply(text), text, "{text:?}");
    }
    assert_eq!(TextStyle::of("a\r\n").apply("a\r\nb\n"), "a\r\nb\r\n");
    assert_eq!(TextStyle::of("a\r\nb\n").apply("a\r\nb\n"), "a\r\nb\n", "mixed ends are left alone");
}
