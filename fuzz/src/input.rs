//! The readers of what people write: JSON documents, option lists, snapshots, configuration. Never a panic,
//! and what is taken has no field that was lost on the way.

use std::path::Path;

use serde_json::{Map, Value};
use storefront::failure::{Failure, FailureKind};
use storefront::input::{attribute_options, document, Draft, FlagOverrides};
use storefront::plan::operation::Operation;
use storefront::state::Snapshot;

/// No flags at all.
struct NoFlags;

impl FlagOverrides for NoFlags {
    fn apply(&self, _: &mut Map<String, Value>) -> Result<(), Failure> {
        Ok(())
    }
}

/// Reads the bytes as each kind of input in turn; the first byte says which.
pub fn hold(data: &[u8]) {
    let Some((reader, data)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(data);
    match reader % 8 {
        0..4 => draft(Operation::ALL[usize::from(reader % 4)], &text),
        4 => options(&text),
        5 => configuration(&text),
        6 => snapshot(&text),
        _ => drop(document::parse_json(&text, "the input").map_err(|failure| usage(&failure))),
    }
}

fn draft(operation: Operation, text: &str) {
    let Ok(document) = document::parse_json(text, "the input") else { return };
    for allow_unknown in [false, true] {
        match Draft::new(operation, Some(document.clone()), &NoFlags, allow_unknown) {
            Err(failure) => usage(&failure),
            Ok(draft) => {
                let again = Draft::new(operation, Some(draft.body.clone().into()), &NoFlags, allow_unknown);
                let again = again.expect("what was taken is taken again");
                assert_eq!(again.body, draft.body, "checked twice is checked once");
                // What is doubtful stays doubtful; what was normalized is not mended again.
                let mended = |warning: &String| warning.contains("trimmed") || warning.contains("dropped");
                assert!(!again.warnings.iter().any(mended), "{:?}", again.warnings);
            }
        }
    }
}

fn options(text: &str) {
    match attribute_options::parse(text, "options.csv") {
        Err(failure) => usage(&failure),
        Ok(options) => {
            for option in options {
                assert!(option["label"].as_str().is_some_and(|label| !label.is_empty()), "{option}");
                assert!(option["sort_order"].is_i64() && option["is_default"].is_boolean(), "{option}");
            }
        }
    }
}

fn snapshot(text: &str) {
    match Snapshot::parse(text.as_bytes(), Path::new("then.json")) {
        Err(failure) => usage(&failure),
        Ok(snapshot) => assert!(snapshot.customer["addresses"].is_array()),
    }
}

fn configuration(text: &str) {
    if let Err(failure) =
        storefront::config::ConfigFile::parse("config.toml".into(), text).and_then(|file| file.profiles())
    {
        usage(&failure);
    }
}

/// Bad input is the user's, never ours.
fn usage(failure: &Failure) {
    assert_eq!(failure.kind, FailureKind::Usage, "{failure:?}");
    assert!(failure.message.len() < 100_000, "a message of {} bytes", failure.message.len());
}
