//! Writes a plan record by record, so that a plan of any length takes no memory.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{BUFFER, HASH, OF, PlanHeader, Planned, RecordOf, hash, is_there, journal_of};
use crate::system::storage::{ReadFrom, Storage, parent, real_path};
use storefront_core::failure::Failure;
use storefront_core::text::exact_json;

/// Refuses a plan that would replace another file, or a plan that was applied.
///
/// # Errors
/// `guard`.
pub fn ensure_new(storage: &dyn Storage, path: &Path) -> Result<(), Failure> {
    let journal = journal_of(&real_path(path));
    let taken = [path, &journal].into_iter().find(|file| is_there(storage, file));
    taken.map_or(Ok(()), |file| Err(exists(file)))
}

/// A plan in the making.
#[derive(Debug)]
pub struct NewPlan {
    path: PathBuf,
    /// Its first line; it counts the records so far.
    pub header: PlanHeader,
    /// The lines of its records, in a file without a name in the same directory, once there is one: only the header,
    /// which comes first, counts them.
    lines: Option<BufWriter<File>>,
}

impl NewPlan {
    /// A plan without records.
    pub fn new(path: PathBuf, header: PlanHeader) -> Self {
        Self { path, header: PlanHeader { records: 0, ..header }, lines: None }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// `internal` where it cannot be written.
    pub fn push(&mut self, storage: &dyn Storage, record: &Planned) -> Result<(), Failure> {
        let Self { path, header, lines } = self;
        let mut add = || {
            let lines = match lines {
                Some(lines) => lines,
                None => lines.insert(BufWriter::with_capacity(BUFFER, storage.unnamed(parent(path))?)),
            };
            header.records += 1;
            lines.write_all(with_hash(&header.id, &to_text(record, header.records)).as_bytes())
        };
        add().map_err(|error| unwritable(path, error))
    }

    /// Gives the plan its name; without records no plan is written. Returns the header as it was written.
    ///
    /// # Errors
    /// `guard` if the file exists, `internal` if it cannot be written.
    pub fn finish(self, storage: &dyn Storage) -> Result<Option<PlanHeader>, Failure> {
        let Self { path, header, lines: Some(lines) } = self else { return Ok(None) };
        let first = with_hash(&header.id, &serde_json::to_string(&header).unwrap_or_default());
        let lines = lines.into_inner().map_err(|error| unwritable(&path, error.into_error()))?;
        let mut text = first.as_bytes().chain(ReadFrom { file: &lines, offset: 0 });
        storage.create_from(&path, &mut text).map_err(|error| unwritable(&path, error))?;
        Ok(Some(header))
    }
}

/// A record as its line has it.
fn to_text(planned: &Planned, record: u64) -> String {
    let customer = planned.customer.as_deref().map_or(Value::Null, Value::from);
    let mut line = exact_json::object([
        ("record", record.into()),
        ("customer", customer),
        ("input", Value::Object(planned.input.clone())),
        ("owner", Value::Object(planned.expect.owner.clone())),
        ("expect", exact_json::of(&planned.expect.changes)),
    ]);
    if !planned.expect.required.is_empty() {
        line["require"] = exact_json::of(&planned.expect.required);
    }
    if !planned.warnings.is_empty() {
        line["warnings"] = planned.warnings.as_slice().into();
    }
    let Some(RecordOf { hash, sent }) = planned.of else { return line.to_string() };
    if sent > 0 {
        line["sent"] = sent.into();
    }
    // It comes right after the number, where it is found without parsing the line.
    let start = format!("{{\"record\":{record}");
    line.to_string().replacen(&start, &format!("{start}{OF}{hash:016x}\""), 1)
}

fn unwritable(path: &Path, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => Failure::internal(format!("cannot write plan `{}`: {error}", path.display())),
    }
}

fn exists(file: &Path) -> Failure {
    Failure::guard(format!("`{}` exists", file.display())).hint("choose another name with --plan")
}

fn with_hash(id: &str, text: &str) -> String {
    let without_end = text.strip_suffix('}').unwrap_or(text);
    format!("{without_end}{HASH}{}\"}}\n", hash(id, text))
}
