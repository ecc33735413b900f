//! What goes wrong: the columns of the table.

use std::time::Duration;

use crate::support::rows::{ALIKE, DECISIVE, Row, fault_name};

/// Faults that only reads meet.
const READS_ONLY: [&str; 2] = ["no-get", "envelope"];
/// Faults that only writes meet, besides those whose names say so.
const WRITES_ONLY: [&str; 6] =
    ["reset-before-commit", "silent-update", "drop-address", "late", "lose", "stale-read"];
/// The faults under which a look is spoiled, or interrupted: answers that say applied, nothing, and refused.
const BEFORE_LOOKS: [&str; 4] = ["", "502", "502-after-commit", "reject-after-commit"];
/// A chance that spares the first request that it meets, and strikes the next ones.
const SPARES_FIRST: &str = "@50:seed=97";
/// How long a request is delayed, where a fault delays it.
const DELAY: Duration = Duration::from_millis(1200);

/// One column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Such as `writes 502`, or `Ctrl-C at request 3, writes 502`.
    pub name: String,
    /// The faults of the sandbox.
    pub faults: Vec<String>,
    pub disturbance: Disturbance,
}

/// What happens besides the faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    None,
    /// SIGINT while the answer to this request (from 1) is awaited.
    CtrlC(usize),
    /// No read works after the first write.
    Blind,
}

impl Column {
    /// No fault at all.
    pub fn none() -> Self {
        Self { name: "no fault".to_owned(), faults: Vec::new(), disturbance: Disturbance::None }
    }

    /// A fault of every write; none where it is empty.
    fn writes(fault: &str) -> Self {
        if fault.is_empty() {
            return Self::none();
        }
        let faults = ["PUT", "POST", "DELETE"].map(|method| format!("{method}:{fault}")).into();
        Self { name: format!("writes {fault}"), faults, disturbance: Disturbance::None }
    }

    fn reads(fault: &str) -> Self {
        let faults = vec![format!("GET:{fault}")];
        Self { name: format!("reads {fault}"), faults, disturbance: Disturbance::None }
    }

    fn disturbed(self, disturbance: Disturbance, name: &str) -> Self {
        Self { name: format!("{name}, {}", self.name), disturbance, ..self }
    }

    /// Whether the name has these words.
    pub fn has(&self, words: &str) -> bool {
        self.name.contains(words)
    }

    /// The flags of a run: a timeout that a delay exceeds, or one that a busy machine does not.
    pub fn flags(&self) -> &'static str {
        if self.is_delayed() { "--retry 1 --timeout 0.6" } else { "--retry 1 --timeout 10" }
    }

    /// When everything has arrived that was delayed.
    pub fn end(&self) -> Duration {
        if self.is_delayed() { DELAY } else { Duration::ZERO }
    }

    fn is_delayed(&self) -> bool {
        self.has("writes late=") || self.has("latency")
    }
}

/// The faults of the sandbox's own table with the values that they take: all, or the first.
fn faults(with_all_values: bool) -> Vec<String> {
    let all = storefront_sandbox::fault_kinds();
    let spelled = |kind: &str| -> Vec<String> {
        let (name, value) = kind.split_once('=').unwrap_or((kind, ""));
        let name = name.trim_end_matches('[');
        let values: Vec<&str> = match value.trim_end_matches(']') {
            "MS" => return vec![format!("{name}={}", DELAY.as_millis())],
            "N" => vec!["1", "9"],
            "SECONDS" if with_all_values => return vec![name.to_owned(), format!("{name}=0")],
            "" | "SECONDS" => return vec![name.to_owned()],
            words => words.split('|').collect(),
        };
        let count = if with_all_values { values.len() } else { 1 };
        values[..count].iter().map(|value| format!("{name}={value}")).collect()
    };
    all.split(", ").flat_map(spelled).collect()
}

/// The columns of a row whose run without a fault makes these requests: faults of its writes and of its reads. The values of
/// a fault, faults that are alike, and faults of reads, are told apart by the same code for all rows of an operation: the
/// first one has them all.
pub fn of(row: &Row, requests: &[String]) -> Vec<Column> {
    let is_first = row.is_first();
    let mut faults = faults(is_first);
    faults.retain(|fault| is_first || !ALIKE.contains(&fault_name(fault)));
    let writes = faults.iter().filter(|fault| !READS_ONLY.contains(&fault_name(fault)));
    let mut columns: Vec<Column> = writes.map(|fault| Column::writes(fault)).collect();
    if is_first && requests.iter().any(|request| request.starts_with("GET")) {
        let is_of_reads =
            |fault: &&String| !WRITES_ONLY.contains(&fault_name(fault)) && !fault.contains("after-commit");
        columns.extend(faults.iter().filter(is_of_reads).map(|fault| Column::reads(fault)));
    }
    columns.extend(of_second_write(requests));
    let blind = |fault: &&str| Column::writes(fault).disturbed(Disturbance::Blind, "unreadable afterwards");
    columns.extend(BEFORE_LOOKS.iter().map(blind));
    columns
}

/// Faults of the second write of several.
fn of_second_write(requests: &[String]) -> Vec<Column> {
    let methods = requests.iter().map(|request| request.split(' ').next().unwrap());
    let writes: Vec<&str> = methods.filter(|method| *method != "GET").collect();
    let [first, second, ..] = writes[..] else { return Vec::new() };
    let spares = if first == second { SPARES_FIRST } else { "" };
    let column = |fault: &&str| Column {
        name: format!("second write {fault}"),
        faults: vec![format!("{second}:{fault}{spares}")],
        disturbance: Disturbance::None,
    };
    DECISIVE.iter().map(column).collect()
}

/// The columns whose looks are interrupted; [`interrupted`] needs what each requests without a signal. Of the rows of an
/// operation the first call is interrupted, and those that write several times.
pub fn to_interrupt(row: &Row, requests: &[String]) -> Vec<Column> {
    let is_several = requests.iter().filter(|request| !request.starts_with("GET")).count() > 1;
    let faults = BEFORE_LOOKS.iter().filter(|_| row.has_first_call() || is_several);
    faults.map(|fault| Column::writes(fault)).collect()
}

/// Ctrl-C during each request of a run, up to the second look after a write.
pub fn interrupted(column: &Column, requests: &[String]) -> Vec<Column> {
    let is_write = |request: &String| !request.starts_with("GET");
    let Some(first) = requests.iter().position(is_write) else { return Vec::new() };
    let last = requests.iter().rposition(is_write).unwrap_or(first);
    let begin = if column.faults.is_empty() { 1 } else { first + 2 };
    let at =
        |number| column.clone().disturbed(Disturbance::CtrlC(number), &format!("Ctrl-C at request {number}"));
    (begin..=requests.len().min(last + 3)).map(at).collect()
}
