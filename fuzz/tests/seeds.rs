//! The kept bytes hold against the laws: the seeds, and whatever once broke one.

use std::path::Path;

fn each(target: &str, hold: impl Fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut held = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        hold(&std::fs::read(entry.unwrap().path()).unwrap());
        held += 1;
    }
    assert!(held > 0, "{target} has seeds");
}

#[test]
fn merge() {
    each("merge", storefront_fuzz::merge::hold);
    each("merge", storefront_fuzz::restoration::hold);
}

#[test]
fn service_error() {
    each("service_error", storefront_fuzz::service_error::hold);
}

#[test]
fn input() {
    each("input", storefront_fuzz::input::hold);
}
