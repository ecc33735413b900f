//! One cell: a row's run under a column's fault, and what is true of it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::columns::{Column, Disturbance};
use super::verdict::{Effect, Said};
use crate::support::database::Database;
use crate::support::rows::Row;
use crate::support::storefront::{Outcome, ended};
use crate::support::trial::Trial;

/// How long an answer is held back after a signal, so that the signal comes first.
const AFTER_SIGNAL: Duration = Duration::from_millis(150);

/// A run and the database around it.
pub struct Cell {
    pub outcome: Outcome,
    pub before: Database,
    pub after: Database,
    /// The requests that arrived.
    pub requests: Vec<String>,
}

impl Cell {
    /// Runs a row under a column.
    pub fn run(row: &Row, column: &Column) -> Self {
        if column.disturbance == Disturbance::None {
            let trial = Trial::new(row, &column.faults);
            let outcome = trial.run(column.flags());
            return Self::ended(trial, outcome, column);
        }
        let data: Arc<OnceLock<PathBuf>> = Arc::default();
        let process: Arc<OnceLock<u32>> = Arc::default();
        let (file, child, disturbance) = (data.clone(), process.clone(), column.disturbance);
        let blinded = OnceLock::new();
        let trial = Trial::watched(row, &column.faults, move |number, method| match disturbance {
            Disturbance::CtrlC(request) if request == number => interrupt(*child.wait()),
            Disturbance::Blind if method != "GET" && blinded.set(()).is_ok() => blind(file.wait()),
            _ => {}
        });
        data.set(trial.env.sandbox.data().to_owned()).unwrap();
        let running = trial.operation(column.flags()).spawn();
        process.set(running.id()).unwrap();
        Self::ended(trial, ended(running), column)
    }

    fn ended(trial: Trial, outcome: Outcome, column: &Column) -> Self {
        let requests = trial.env.requests();
        let before = trial.before().clone();
        Self { outcome, before, after: trial.stop(column.end()), requests }
    }

    pub fn said(&self) -> Said {
        Said::of(&self.outcome)
    }

    /// What it did, compared with what a run without a fault did.
    pub fn effect(&self, undisturbed: &Self) -> Effect {
        if self.after == self.before {
            Effect::Nothing
        } else if self.after == undisturbed.after {
            Effect::Everything
        } else {
            Effect::Other
        }
    }
}

/// Ctrl-C for the program.
fn interrupt(process: u32) {
    let process = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    // One that has ended is not interrupted.
    let _ = rustix::process::kill_process(process, rustix::process::Signal::INT);
    std::thread::sleep(AFTER_SIGNAL);
}

/// Without tokens the sandbox answers everything with 500.
fn blind(data: &std::path::Path) {
    let connection = rusqlite::Connection::open(data).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection.execute_batch("ALTER TABLE tokens RENAME TO hidden").unwrap();
}
