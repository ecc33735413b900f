//! Plans (docs/plans.md): the records of an operation and what each of them changes, written to be applied later.
//!
//! The hashes of the lines detect edits, lines of another plan, and missing lines. They use no secret: they guard against
//! mistakes, not against deception.

pub mod applying;
pub mod assistants;
pub mod planning;
pub mod write;

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use ring::digest::{Context, SHA256, digest};
use ring::rand;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cli::lines::Lines;
use crate::journal::{MadeOf, Undoes};
use crate::system::storage::{LogAccess, ReadFrom, Storage};
use storefront_core::failure::Failure;
use storefront_core::profile::diff::{Expected, FieldChange, Required};
use storefront_core::text::exact_json;
use storefront_core::text::hash::hex;

/// How many bytes of a plan are read and copied at a time.
const BUFFER: usize = 64 << 10;
/// Version of the format.
const VERSION: u64 = 1;
/// The text between a line and its hash.
const HASH: &str = ",\"hash\":\"";
/// The text between the number of a record and the hash of its source record.
const OF: &str = ",\"of\":\"";
/// The message about a line that does not match its hash.
const CHANGED: &str = "changed after the plan was written";
/// The hint for a plan that cannot be applied.
pub const PLAN_AGAIN: &str = "make the plan again with --plan";

/// The first line of a plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PlanHeader {
    /// Version of the format.
    pub plan: u64,
    /// Names the plan, also where the file is copied: 32 hexadecimal digits.
    pub id: String,
    /// The operation, as it is typed: `quote add-item`.
    pub operation: String,
    /// Its flags as they are typed; the input also has what they set.
    pub options: Vec<String>,
    /// The normalised base URL, or `sandbox:DATABASE`.
    pub service: String,
    /// Which interface the service has.
    pub interface: String,
    /// Store view code, where there is one.
    pub store_view: Option<String>,
    /// When it was written.
    pub created: Timestamp,
    /// Until when it can be started.
    pub expires: Timestamp,
    /// How many records follow.
    pub records: u64,
    /// The batch that it undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Undoes>,
    /// The input of many records that it was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_of: Option<MadeOf>,
    /// Whether it was made to send again what a run of that input had sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restart: bool,
}

/// One record.
#[derive(Debug, Clone, Default)]
pub struct Planned {
    /// Id or email of the customer whom it names.
    pub customer: Option<String>,
    /// The documented body, flags and all.
    pub input: Map<String, Value>,
    /// What it changes, and how, if that can be known.
    pub expect: Expected,
    /// The record of the input that it was made of.
    pub of: Option<RecordOf>,
    /// Its warnings when it was planned.
    pub warnings: Vec<String>,
}

/// A record of the input that a plan was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordOf {
    /// Hash of the record as it stood there.
    pub hash: u64,
    /// How many equal records the log had as sent when the plan was made.
    pub sent: u64,
}

/// What became of a record of a plan that is being applied.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its number.
    pub record: u64,
    /// Its name: `sending`, or as in a result or a journal.
    pub state: &'static str,
    /// Why it failed, and what to do about that.
    pub failure: Option<Failure>,
}

/// What happens while a plan is applied.
pub enum Seen {
    /// The journal has what was declined; nothing was sent yet.
    Started,
    /// A step.
    Step(Box<Step>),
}

/// Is told what happens while a plan is applied.
#[derive(Clone)]
pub struct Watcher(pub Arc<dyn Fn(Seen)>);

impl fmt::Debug for Watcher {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Watcher")
    }
}

/// A plan that was read.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its file.
    pub path: PathBuf,
    /// What it is for.
    pub header: PlanHeader,
    /// The input of its first record.
    pub first: Option<Map<String, Value>>,
    /// SHA-256 of its records, 64 hexadecimal digits.
    pub sha256: String,
    /// The lines of its records, in a file without a name.
    pub lines: Arc<File>,
    /// The numbers of the records that are applied now; `None` for all.
    pub only: Option<Lines>,
    /// Whether the other records are noted as declined: a person has seen them, and left them out.
    pub declines_others: bool,
    /// Who watches while it is applied.
    pub watcher: Option<Watcher>,
}

impl Planned {
    /// Reads a line.
    pub fn parse(text: &str) -> Option<Self> {
        let mut line = exact_json::parse_object(text.as_bytes()).ok()?;
        let customer = line.get("customer").and_then(Value::as_str).map(str::to_owned);
        let changes =
            line.get("expect")?.as_array()?.iter().map(FieldChange::parse).collect::<Option<_>>()?;
        let owner = line.get("owner").and_then(Value::as_object).cloned().unwrap_or_default();
        let required = line.get("require").and_then(Value::as_array).into_iter().flatten();
        let required = required.map(Required::parse).collect::<Option<_>>()?;
        let warnings = line.get("warnings").and_then(Value::as_array).into_iter().flatten();
        let warnings = warnings.filter_map(Value::as_str).map(str::to_owned).collect();
        let Some(Value::Object(input)) = line.shift_remove("input") else { return None };
        let sent = line.get("sent").and_then(Value::as_u64).unwrap_or(0);
        let of = hash_of_record(text).map(|hash| RecordOf { hash, sent });
        Some(Self { customer, input, expect: Expected { owner, changes, required }, of, warnings })
    }
}

impl PlanHeader {
    /// The header of a new plan, with an id of its own.
    pub fn new() -> Self {
        // Without randomness two plans would have one id, and the second would be refused.
        let id = rand::generate::<[u8; 16]>(&rand::SystemRandom::new()).map(rand::Random::expose);
        Self { plan: VERSION, id: hex(&id.unwrap_or_default()), ..Self::default() }
    }
}

impl Plan {
    /// Whether a record is applied now.
    pub fn takes(&self, record: u64) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(record))
    }

    /// Reads a plan and checks each of its lines. They are copied to a private file without a name in this directory: so
    /// a plan of any length takes no memory, and changes of its file do not matter.
    ///
    /// # Errors
    /// `usage` for a file that cannot be read or is not a plan of this version; `guard` for one that was edited;
    /// `internal` if it cannot be copied.
    pub fn read(storage: &dyn Storage, directory: &Path, path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let cannot_read = |error: io::Error| Failure::usage(format!("cannot read plan `{name}`: {error}"));
        let log = storage.open_log(path, LogAccess::Read).map_err(cannot_read)?;
        let mut input = BufReader::with_capacity(BUFFER, log.reader(0));
        let mut line = String::new();
        let mut next = |line: &mut String| {
            line.clear();
            input.read_line(line).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidData => no_plan(path),
                _ => cannot_read(error),
            })
        };
        next(&mut line)?;
        let header = header(path, without_end(&line))?;
        let unwritable = |error: io::Error| {
            Failure::internal(format!("cannot copy the plan to `{}`: {error}", directory.display()))
        };
        let file = storage.unnamed(directory).map_err(unwritable)?;
        let mut copy = BufWriter::with_capacity(BUFFER, file);
        let mut digest = Context::new(&SHA256);
        let mut count = 0;
        let mut first = None;
        while next(&mut line)? > 0 {
            let text = without_end(&line);
            let is_in_order = text.starts_with(&format!("{{\"record\":{},", count + 1));
            match Planned::parse(text).filter(|_| is_hashed(&header.id, text)) {
                Some(record) if is_in_order => {
                    first.get_or_insert(record.input);
                    count += 1;
                }
                Some(_) => return Err(edited(path, count + 2, "not in its place")),
                None => return Err(edited(path, count + 2, CHANGED)),
            }
            digest.update(line.as_bytes());
            copy.write_all(line.as_bytes()).map_err(unwritable)?;
        }
        ensure_all(&header, count, path)?;
        let copy = copy.into_inner().map_err(|error| unwritable(error.into_error()))?;
        Ok(Self {
            path: path.to_owned(),
            first,
            sha256: hex(digest.finish().as_ref()),
            header,
            lines: Arc::new(copy),
            only: None,
            declines_others: false,
            watcher: None,
        })
    }

    /// Its records, in order, with their numbers.
    ///
    /// # Errors
    /// `internal` where the copy cannot be read, and those of `task`.
    pub fn each(&self, mut task: impl FnMut(u64, Planned) -> Result<(), Failure>) -> Result<(), Failure> {
        let unreadable = |why: &str| Failure::internal(format!("the copy of the plan cannot be read: {why}"));
        let copy = ReadFrom { file: self.lines.clone(), offset: 0 };
        let lines = BufReader::with_capacity(BUFFER, copy).lines();
        for (number, line) in (1..).zip(lines) {
            let line = line.map_err(|error| unreadable(&error.to_string()))?;
            task(number, Planned::parse(&line).ok_or_else(|| unreadable("it has changed"))?)?;
        }
        Ok(())
    }
}

/// Refuses a plan whose end is cut off.
fn ensure_all(header: &PlanHeader, count: u64, path: &Path) -> Result<(), Failure> {
    if count == header.records {
        return Ok(());
    }
    let message = format!("plan `{}` has {count} records of {}", path.display(), header.records);
    Err(Failure::guard(message).hint(PLAN_AGAIN))
}

/// The header in the first line of a plan.
fn header(path: &Path, first: &str) -> Result<PlanHeader, Failure> {
    let members = exact_json::parse_object(first.as_bytes()).map_err(|_| no_plan(path))?;
    let version = members.get("plan").and_then(Value::as_u64).ok_or_else(|| no_plan(path))?;
    if version != VERSION {
        let message = format!("plan `{}` has format version {version}", path.display());
        return Err(Failure::usage(format!("{message}, this program reads version {VERSION}")));
    }
    let header: PlanHeader = serde_json::from_str(first).map_err(|_| edited(path, 1, CHANGED))?;
    // It becomes the name of a file.
    let is_id = header.id.len() == 32 && header.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id && is_hashed(&header.id, first) { Ok(header) } else { Err(edited(path, 1, CHANGED)) }
}

fn no_plan(path: &Path) -> Failure {
    Failure::usage(format!("`{}` is not a plan", path.display()))
        .hint("--plan FILE of an operation writes one")
}

fn edited(path: &Path, line: u64, what: &str) -> Failure {
    Failure::guard(format!("plan `{}`: line {line}: {what}", path.display())).hint(PLAN_AGAIN)
}

/// A line without its line end.
fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The hash of the source record in a line of a plan, if it is such a line and has one.
pub fn hash_of_record(line: &str) -> Option<u64> {
    let (number, rest) = line.strip_prefix("{\"record\":")?.split_once(OF)?;
    let (_, end) = rest.rsplit_once(HASH)?;
    let is_line = number.bytes().all(|byte| byte.is_ascii_digit()) && end.trim_end().len() == 64 + 2;
    let digits = rest.get(..16).filter(|_| is_line && rest[16..].starts_with('"'))?;
    u64::from_str_radix(digits, 16).ok()
}

/// The journal of a plan.
pub fn journal_of(plan: &Path) -> PathBuf {
    let mut path: OsString = plan.as_os_str().to_owned();
    path.push(".journal");
    path.into()
}

/// Whether a file is there, as far as that can be known.
pub fn is_there(storage: &dyn Storage, path: &Path) -> bool {
    !storage.open_log(path, LogAccess::Read).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn is_hashed(id: &str, line: &str) -> bool {
    let Some((text, rest)) = line.rsplit_once(HASH) else { return false };
    rest.strip_suffix("\"}") == Some(&hash(id, &format!("{text}}}")))
}

fn hash(id: &str, text: &str) -> String {
    hex(digest(&SHA256, format!("{id}\n{text}").as_bytes()).as_ref())
}
