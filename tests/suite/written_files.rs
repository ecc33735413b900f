//! Files that a command writes by a name that a person gave: what is not ours is never replaced.

use std::fs;

use crate::support::storefront::Home;

#[test]
fn man_pages_replace_only_man_pages_of_ours() {
    let home = Home::new();
    let directory = home.dir.path().join("man1");
    let page = directory.join("storefront.1");
    let written = home.storefront("man man1").run();
    assert_eq!(written.code, 0, "{written:?}");
    let count = fs::read_dir(&directory).unwrap().count();
    assert!(count > 20 && fs::read_to_string(&page).unwrap().contains(".TH storefront"));
    // Of another version.
    let older = fs::read_to_string(&page).unwrap().replace(".TH storefront", ".TH older");
    fs::write(&page, older).unwrap();
    assert_eq!(home.storefront("man man1").run().code, 0);
    assert!(fs::read_to_string(&page).unwrap().contains(".TH storefront"));
    // Somebody else's: nothing is written at all.
    fs::write(&page, "mine").unwrap();
    let other = directory.join("storefront-api.1");
    fs::remove_file(&other).unwrap();
    let refused = home.storefront("man man1").run();
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(
        refused.stderr.contains("storefront.1` exists and was not written by `storefront man`"),
        "{refused:?}"
    );
    assert_eq!((fs::read_to_string(&page).unwrap().as_str(), other.exists()), ("mine", false));
}

#[cfg(unix)]
#[test]
fn man_pages_are_not_written_through_a_link() {
    let home = Home::new();
    let (directory, target) = (home.dir.path().join("man1"), home.dir.path().join("notes"));
    fs::create_dir(&directory).unwrap();
    for content in [Some(""), Some("mine"), None] {
        match content {
            Some(content) => fs::write(&target, content).unwrap(),
            None => fs::remove_file(&target).unwrap(),
        }
        let link = directory.join("storefront-customer.1");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let refused = home.storefront("man man1").run();
        assert_eq!(refused.code, 3, "{refused:?}");
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), content);
    }
}
