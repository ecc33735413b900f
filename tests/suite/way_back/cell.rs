//! One cell: a row under a fault, all the way there and back.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::LATE;
use crate::support::database::Database;
use crate::support::rows::{Owner, Row};
use crate::support::storefront::Outcome;
use crate::support::trial::Trial;

/// The plan of a row that has no input.
const PLAN: &str = "row.plan";
/// More runs than any fault needs.
const RUNS: usize = 5;
/// What every command has that calls the service.
const FLAGS: &str = "-q -o json --retry 1 --timeout 10";

/// Why a cell does not hold.
#[derive(Debug)]
pub struct Wrong {
    /// As it is listed.
    pub kind: &'static str,
    /// What was seen.
    pub detail: String,
}

/// Says of a row that it is neither a batch nor a plan.
pub fn no_batch() -> Wrong {
    wrong("no batch", "")
}

fn wrong(kind: &'static str, detail: impl std::fmt::Debug) -> Wrong {
    Wrong { kind, detail: format!("{detail:?}") }
}

/// How far it came.
enum Ended {
    Nothing,
    /// The first of several calls.
    Part,
    Whole,
}

/// A row without a fault.
pub struct Undisturbed {
    /// The method of its first write.
    method: String,
    /// Whether it is several writes.
    is_several: bool,
    after: Database,
}

impl Undisturbed {
    /// Runs the row; `None` where it is neither a batch nor a plan.
    pub fn of(row: &Row) -> Option<Self> {
        let cell = Cell { row, trial: Trial::new(row, &[]), undisturbed: None, is_late: false };
        let outcome = cell.begins();
        if !row.is_batch && outcome.code == 2 {
            return None;
        }
        assert_eq!(outcome.code, 0, "{}: {outcome:?}", row.name());
        let requests = cell.trial.env.requests();
        let mut writes = requests.iter().filter(|request| !request.starts_with("GET"));
        let method = writes.next().unwrap().split(' ').next().unwrap().to_owned();
        let is_several = writes.next().is_some();
        let after = cell.database();
        assert_ne!(cell.trial.before(), &after, "{}", row.name());
        Some(Self { method, is_several, after })
    }
}

/// A row in a sandbox with a fault that strikes its first write once.
pub struct Cell<'a> {
    row: &'a Row,
    trial: Trial,
    undisturbed: Option<&'a Undisturbed>,
    /// Whether a call takes effect after its answer.
    is_late: bool,
}

impl<'a> Cell<'a> {
    pub fn new(row: &'a Row, undisturbed: &'a Undisturbed, fault: &str) -> Self {
        let trial = Trial::new(row, &[format!("{}:{fault}x1", undisturbed.method)]);
        Self { row, trial, undisturbed: Some(undisturbed), is_late: fault.starts_with("late") }
    }

    /// There and back.
    pub fn walk(&self) -> Result<(), Wrong> {
        let shown = self.shows();
        let is_whole = match self.is_done()? {
            Ended::Nothing => return Ok(()),
            Ended::Part => false,
            Ended::Whole => true,
        };
        // A call that was repeated, and is done, may take effect once more.
        if self.is_late {
            std::thread::sleep(Duration::from_millis(LATE));
        }
        let difference = self.differs_from_expected();
        if is_whole && !difference.is_empty() {
            return Err(wrong("another database", difference));
        }
        let verified = self.run(&format!("verify {} {FLAGS}", self.journal()));
        if verified.code != if is_read(self.row) { 0 } else { 8 } {
            return Err(wrong("not verified", verified));
        }
        self.is_undone()?;
        let now = self.shows();
        if now == shown { Ok(()) } else { Err(wrong("shown otherwise", (shown, now))) }
    }

    /// Runs and resumes it until it is done, as its messages say, and looks where they ask for it.
    fn is_done(&self) -> Result<Ended, Wrong> {
        let mut outcome = self.begins();
        for _ in 0..RUNS {
            outcome = match outcome.code {
                0 => return Ok(Ended::Whole),
                8 | 9 => {
                    let resumed = self.resumes("");
                    // The service may be late; a person looks after it.
                    std::thread::sleep(Duration::from_millis(LATE));
                    let is_there = self.differs_from_expected().is_empty();
                    match resumed.code {
                        0 => return Ok(Ended::Whole),
                        8 if is_there => self.resumes("--mark-done=1"),
                        8 => self.resumes("--retry-unknown=1"),
                        9 => return Ok(self.ends_as_mismatch()),
                        _ => resumed,
                    }
                }
                7 if !outcome.stdout.contains("\"applied\":\"partial\"") => {
                    return Err(wrong("failed for good", outcome));
                }
                5 | 7 => self.resumes(""),
                _ => return Err(wrong("stopped", outcome)),
            };
        }
        Err(wrong("never done", outcome))
    }

    /// A person has to do the rest: the service refused what it saved, or said that it is done and shows that it is not.
    fn ends_as_mismatch(&self) -> Ended {
        if self.database() == *self.trial.before() {
            Ended::Nothing
        } else if self.undisturbed.unwrap().is_several {
            Ended::Part
        } else {
            Ended::Whole
        }
    }

    /// What is stored otherwise than without a fault. The id of an assignment, which no call shows, is another one where the
    /// assignment is sent again.
    fn differs_from_expected(&self) -> String {
        let expected = &self.undisturbed.unwrap().after;
        let difference = expected.difference(&self.database());
        let mut left = Vec::new();
        for line in difference.lines() {
            let (sign, row) = line.split_at(2);
            let other = if sign == "- " { "+ " } else { "- " };
            let row = match row.strip_prefix("attribute_assignments ") {
                Some(row) => row.split_once(' ').map_or(row, |(_, row)| row),
                None => row,
            };
            match left.iter().position(|line| *line == (other, row)) {
                Some(at) => drop(left.remove(at)),
                None => left.push((sign, row)),
            }
        }
        let lines: Vec<String> = left.iter().map(|(sign, row)| format!("{sign}{row}\n")).collect();
        lines.concat()
    }

    /// Takes it back, or is told that it cannot be.
    fn is_undone(&self) -> Result<(), Wrong> {
        let undone = self.run(&format!("undo {} --plan undo.plan {FLAGS}", self.journal()));
        if !self.can_be_undone() {
            let is_said = undone.code == 3 && undone.stderr.contains("\"message\"");
            return if is_said { Ok(()) } else { Err(wrong("not said that it stays", undone)) };
        }
        if undone.code != 0 || !self.trial.env.home.dir.path().join("undo.plan").exists() {
            return Err(wrong("no undo", undone));
        }
        let applied = self.run(&format!("apply undo.plan -y {FLAGS}"));
        if applied.code == 0 { Ok(()) } else { Err(wrong("undo fails", applied)) }
    }

    /// Whether there is a call that takes it back.
    fn can_be_undone(&self) -> bool {
        let operation = self.row.call.operation;
        let is_profile = operation == "customer update";
        !["quote ship", "attribute assign"].contains(&operation) && (self.row.is_magento() || is_profile)
    }

    /// What a read shows of the owner.
    fn shows(&self) -> Option<String> {
        let line = match self.row.call.owner {
            Owner::Customer(id) if self.row.is_magento() => format!("customer show --customer {id}"),
            Owner::Customer(_) => "customer show".to_owned(),
            _ if !self.can_be_undone() => return None,
            Owner::Cart(_) => "quote show".to_owned(),
            // A cart without items stays.
            Owner::NewCart(id) => {
                let shown = self.run(&format!("quote show --customer {id} -q -o json --jq .items"));
                return Some(if shown.code == 0 { shown.stdout } else { "[]\n".to_owned() });
            }
            Owner::Attribute(code) => format!("attribute show {code}"),
            Owner::Product(sku) => format!("product show {sku} --store-view fr"),
            // No call removes a comment.
            Owner::Order(id) => format!("order show --id {id} --jq del(.status_histories)"),
        };
        let shown = self.run(&format!("{line} -q -o json"));
        let object = serde_json::from_str::<Value>(&shown.stdout).map(|shown| canonical(&shown, false));
        Some(format!("{} {}", shown.code, object.unwrap_or_default()))
    }

    fn database(&self) -> Database {
        Database::read(self.trial.env.sandbox.data())
    }

    fn begins(&self) -> Outcome {
        if self.row.is_batch {
            return self.run(&format!("{} -y {FLAGS}", self.row.line()));
        }
        let planned = self.run(&format!("{} --plan {PLAN} -q -o json", self.row.line()));
        if planned.code != 0 {
            return planned;
        }
        self.trial.env.requests();
        self.resumes("")
    }

    fn resumes(&self, flags: &str) -> Outcome {
        let after = if self.is_profile() && !flags.is_empty() { "--after-unknown" } else { "" };
        if self.row.is_batch {
            return self.run(&format!("{} --resume -y {FLAGS} {flags} {after}", self.row.line()));
        }
        self.run(&format!("apply {PLAN} -y {FLAGS} {flags} {after}"))
    }

    fn is_profile(&self) -> bool {
        self.row.call.operation == "customer update"
    }

    fn journal(&self) -> String {
        format!("{}.journal", if self.row.is_batch { Row::INPUT } else { PLAN })
    }

    fn run(&self, line: &str) -> Outcome {
        self.trial.storefront(line).run()
    }
}

/// Whether a read shows what a row writes.
fn is_read(row: &Row) -> bool {
    row.is_magento() || row.call.operation == "customer update"
}

/// Whether a fault of a row leaves something that can be told. In the marketplace's interface the status alone says whether a
/// write was applied, where no read shows it.
pub fn can_be_told(row: &Row, fault: &str) -> bool {
    let is_blind = ["error-under-200", "reject-after-commit"].iter().any(|kind| fault.starts_with(kind));
    is_read(row) || !is_blind
}

/// What is shown, in one order, without times, and without the ids that are new when a part comes back. Absent, null, empty and
/// off are one.
fn canonical(value: &Value, is_address: bool) -> Value {
    const NEW: [&str; 3] = ["created_at", "updated_at", "item_id"];
    match value {
        Value::Object(members) => {
            let is_default = |name: &str| name == "default_billing" || name == "default_shipping";
            let left = members.iter().filter(|(name, value)| {
                !(NEW.contains(&name.as_str())
                    || (is_address && *name == "id")
                    || (is_default(name) && !value.is_boolean())
                    || matches!(value, Value::Null | Value::Bool(false))
                    || *value == "")
            });
            let left: BTreeMap<&String, Value> =
                left.map(|(name, value)| (name, canonical(value, name == "addresses"))).collect();
            left.into_iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(parts) => {
            let mut parts: Vec<Value> = parts.iter().map(|part| canonical(part, is_address)).collect();
            parts.sort_by_key(Value::to_string);
            parts.into()
        }
        value => value.clone(),
    }
}
