//! The whole database of a sandbox, to be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// Columns and members that only tell the time.
const CLOCKS: [&str; 2] = ["created_at", "updated_at"];

/// Every row of every table, clocks left out: the table and the row's first column, and the other columns as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database(BTreeMap<String, String>);

impl Database {
    /// Everything that is stored in this file.
    pub fn read(data: &Path) -> Self {
        let connection = Connection::open_with_flags(data, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        // SQLite's own tables count ids; tokens are never written by an operation.
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('tokens', 'hidden') ORDER BY name";
        let mut query = connection.prepare(sql).unwrap();
        let tables: Vec<String> =
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let mut rows = BTreeMap::new();
        for table in tables {
            read_table(&connection, &table, &mut rows);
        }
        Self(rows)
    }

    /// What differs, a line each: `- ` what was before, `+ ` what is after.
    pub fn difference(&self, after: &Self) -> String {
        let keys: BTreeSet<&String> = self.0.keys().chain(after.0.keys()).collect();
        let mut text = String::new();
        for key in keys {
            let (before, after) = (self.0.get(key), after.0.get(key));
            if before != after {
                for (sign, row) in [('-', before), ('+', after)] {
                    if let Some(row) = row {
                        writeln!(text, "{sign} {key} {row}").unwrap();
                    }
                }
            }
        }
        text
    }
}

fn read_table(connection: &Connection, table: &str, rows: &mut BTreeMap<String, String>) {
    let mut query = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let names: Vec<String> = query.column_names().map(str::to_owned).collect();
    let mut found = query.query([]).unwrap();
    while let Some(row) = found.next().unwrap() {
        let cell = |column: usize| match row.get_ref(column).unwrap() {
            ValueRef::Null => "NULL".to_owned(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(text) | ValueRef::Blob(text) => timeless(&String::from_utf8_lossy(text)),
        };
        let is_numbered = table != "attribute_assignments";
        let columns: Vec<String> = (1..names.len())
            .filter(|column| !CLOCKS.contains(&names[*column].as_str()))
            .map(|column| format!("{}={}", names[column], cell(column)))
            .collect();
        let columns = columns.join(" ");
        // Tables whose key has two columns have several rows of one first column.
        // An assignment that is made again has another id, which nothing names.
        let key = if is_numbered { format!("{table} {}", cell(0)) } else { format!("{table} -") };
        let key = if rows.contains_key(&key) { format!("{key} {columns}") } else { key };
        rows.insert(key, columns);
    }
}

/// A stored document without its clocks.
fn timeless(text: &str) -> String {
    if !CLOCKS.iter().any(|clock| text.contains(clock)) {
        return text.to_owned();
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut document)) => {
            document.retain(|name, _| !CLOCKS.contains(&name.as_str()));
            Value::Object(document).to_string()
        }
        _ => text.to_owned(),
    }
}
