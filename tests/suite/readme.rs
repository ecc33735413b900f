//! The README's examples, run unchanged, one after the other, in a home of their own.

use std::path::Path;

#[test]
#[cfg_attr(windows, ignore = "the README shows paths and pipes of a POSIX shell")]
fn the_examples_of_the_readme_run() {
    let home = tempfile::tempdir().unwrap();
    let below = |name: &str| home.path().join(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The files the examples name stand where the examples run.
    std::fs::create_dir(below("README.in")).unwrap();
    for file in std::fs::read_dir(root.join("tests/readme")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), below("README.in").join(file.file_name())).unwrap();
    }
    let examples = below("README.md");
    std::fs::copy(root.join("README.md"), &examples).unwrap();
    let cases = trycmd::TestCases::new();
    for (name, directory) in
        [("HOME", ""), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state")]
    {
        cases.env(name, below(directory).display().to_string());
    }
    cases.case(&examples).run();
}
