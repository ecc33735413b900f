//! The log: values of it are others, or bytes of its file are. It begins as `seeds` left it.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use rusqlite::types::Value as Stored;
use rusqlite::{Connection, params};
use serde_json::Value;
use storefront_fuzz::{Case, HOME, commands, mutate, run};

static LOG: LazyLock<Vec<u8>> = LazyLock::new(|| {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/log.db")).expect("run `seeds` first")
});

fuzz_target!(|data: &[u8]| {
    let Some(case) = Case::parse(data) else { return };
    // Read before the current directory is another one.
    let log: &[u8] = &LOG;
    HOME.with(|home| {
        let home = home.clear();
        let path = home.join("state/log.db");
        std::fs::create_dir(home.join("state")).unwrap();
        let edits: Vec<Value> = case
            .file
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        std::fs::write(&path, log).unwrap();
        change_values(&path, &edits);
        change_bytes(&path, &edits);
        run(&case, commands::LOG, home);
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::into(data, size, max_size, seed, fuzzer_mutate)
});

/// `{"table": "write", "column": "effect", "row": 0, "value": …}`: a document is its text, or a text is what it says.
fn change_values(path: &Path, edits: &[Value]) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF").unwrap();
    for edit in edits {
        let [Some(table), Some(column)] = ["table", "column"].map(|name| edit[name].as_str()) else {
            continue;
        };
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_name(table) || !is_name(column) {
            continue;
        }
        let value = match &edit["value"] {
            Value::Null => Stored::Null,
            Value::String(text) => Stored::Text(text.clone()),
            Value::Number(number) if number.is_i64() => Stored::Integer(number.as_i64().unwrap()),
            other => Stored::Text(other.to_string()),
        };
        let rowid = format!("(SELECT rowid FROM \"{table}\" LIMIT 1 OFFSET ?2)");
        let statement = format!("UPDATE \"{table}\" SET \"{column}\" = ?1 WHERE rowid = {rowid}");
        let _ = connection.execute(&statement, params![value, edit["row"].as_i64().unwrap_or(0)]);
    }
}

/// `{"offset": 4096, "bytes": [0, 255]}`
fn change_bytes(path: &Path, edits: &[Value]) {
    let changes = edits.iter().filter_map(|edit| Some((edit["offset"].as_u64()?, edit["bytes"].as_array()?)));
    let changes: Vec<_> = changes.collect();
    if changes.is_empty() {
        return;
    }
    let mut content = std::fs::read(path).unwrap();
    for (offset, bytes) in changes {
        for (at, byte) in bytes.iter().enumerate() {
            let place = usize::try_from(offset).unwrap_or(0).wrapping_add(at) % content.len();
            content[place] = byte.as_u64().unwrap_or(0) as u8;
        }
    }
    std::fs::write(path, content).unwrap();
}
