//! Files of settings: read, refused, and changed whole.

#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{ConfigFile, FailureKind, Path, below_home, in_style_of, parse_toml, read_text};
#[cfg(unix)]
use super::{require_owner, update_file};

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
    assert!(read_text(&path, false).unwrap().is_none());
    assert!(read_text(directory.path(), false).err().unwrap().message.contains("is a directory"));
    std::fs::write(&path, b"\xff\xfe").unwrap();
    assert!(read_text(&path, false).err().unwrap().message.contains("UTF-8"));
    std::fs::write(&path, vec![b' '; 1024 * 1024 + 1]).unwrap();
    assert!(read_text(&path, false).err().unwrap().message.contains("1 MiB"));
}

#[cfg(unix)]
#[test]
fn a_file_is_trusted_when_only_its_user_or_root_can_change_it() {
    const ME: u32 = 1000;
    for (owner, mode, config, secret) in [
        (ME, 0o600, "", ""),
        (ME, 0o644, "", "read by other users"),
        (ME, 0o640, "", "read by other users"),
        (ME, 0o620, "changed by other users", "changed by other users"),
        (ME, 0o664, "changed by other users", "changed by other users"),
        (ME, 0o602, "changed by other users", "changed by other users"),
        (1001, 0o600, "another user (uid 1001)", "another user (uid 1001)"),
        (1001, 0o444, "another user (uid 1001)", "another user (uid 1001)"),
        (0, 0o444, "", ""),
        (0, 0o644, "", ""),
        (0, 0o664, "another user (uid 0)", "another user (uid 0)"),
        (0, 0o646, "another user (uid 0)", "another user (uid 0)"),
    ] {
        for (is_secret, problem) in [(false, config), (true, secret)] {
            match require_owner(Path::new("file"), owner, mode, ME, is_secret) {
                Ok(()) => assert_eq!(problem, "", "{owner} {mode:o} {is_secret}"),
                Err(failure) => {
                    assert!(!problem.is_empty() && failure.message.contains(problem), "{mode:o}: {failure}");
                }
            }
        }
    }
    assert!(
        require_owner(Path::new("file"), 0, 0o644, 0, true).is_err(),
        "a token of root's own is private too"
    );
}

#[cfg(unix)]
#[test]
fn replacing_keeps_links_and_modes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("real");
    let link = directory.path().join("link");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    // The link comes first: it leads to a file that does not exist yet.
    symlink("real", &link).unwrap();
    update_file(&link, || Ok(("a".to_owned(), false, ()))).unwrap();
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    update_file(&link, || Ok(("b".to_owned(), false, ()))).unwrap();
    assert_eq!(mode(), 0o640);
    update_file(&link, || Ok(("c".to_owned(), true, ()))).unwrap();
    assert_eq!(mode(), 0o600);
    assert!(std::fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "c");
}

#[cfg(unix)]
#[test]
fn a_link_and_its_target_share_one_lock() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("real");
    let link = directory.path().join("link");
    std::fs::write(&path, "").unwrap();
    symlink(&path, &link).unwrap();
    let other = || std::fs::File::open(directory.path().join(".real.lock")).unwrap().try_lock();
    update_file(&link, || {
        assert!(other().is_err(), "somebody else waits");
        Ok((String::new(), false, ()))
    })
    .unwrap();
    other().unwrap();
}

#[test]
fn a_text_keeps_its_line_ends_and_mark() {
    for text in ["a\r\nb\r\n", "a\nb\n", "\u{feff}a\r\n", "", "a"] {
        assert_eq!(in_style_of(text, text.trim_start_matches('\u{feff}')), text, "{text:?}");
    }
    assert_eq!(in_style_of("a\r\n", "a\r\nb\n"), "a\r\nb\r\n");
    assert_eq!(in_style_of("a\r\nb\n", "a\r\nb\n"), "a\r\nb\n", "mixed ends are left alone");
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused_as_an_error_of_the_user(
        name in "[a-z_-]{1,12}|read|retry|token-command|profiles",
        value in "[\\[\\]{}='\"\\n a-z0-9.#-]{0,40}",
    ) {
        for text in [format!("[profiles.shop]\n{name} = {value}"), format!("{name} = {value}"), value.clone()] {
            let profiles = ConfigFile::parse("config.toml".into(), &text).and_then(|file| file.profiles());
            if let Err(failure) = profiles {
                proptest::prop_assert_eq!(failure.kind, FailureKind::Usage);
                proptest::prop_assert!(failure.message.len() < 1000, "{}", failure);
            }
        }
    }
}
