//! What a run says of a write, compared with the whole database: operations by faults.

use std::time::Duration;

use crate::support::rows::{self, CALLS};
use crate::support::trial::Trial;

#[test]
fn every_operation_that_writes_has_a_row() {
    assert_eq!(rows::without_row(), Vec::<&str>::new(), "add a call to tests/suite/support/rows.rs");
}

#[test]
fn without_a_fault_every_row_changes_its_owner_and_says_so() {
    let mut operations: Vec<&str> = CALLS.iter().map(|call| call.operation).collect();
    operations.dedup();
    for row in rows::rows_of(&operations) {
        let trial = Trial::new(&row, &[]);
        let outcome = trial.run("");
        assert_eq!(outcome.code, 0, "{}: {outcome:?}", row.name());
        let said: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(said["applied"], "yes", "{}: {outcome:?}", row.name());
        let before = trial.before().clone();
        let difference = before.difference(&trial.stop(Duration::ZERO));
        let tables = row.call.owner.tables();
        let is_of_owner = |line: &str| line.split(' ').nth(1).is_some_and(|table| tables.contains(&table));
        assert!(
            !difference.is_empty() && difference.lines().all(is_of_owner),
            "{}: {difference}",
            row.name()
        );
    }
}
