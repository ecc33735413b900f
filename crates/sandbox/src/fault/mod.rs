//! Fault injection for `--fault`: the specification, the middleware and the connection.

pub(crate) mod connection;
mod gateway;
pub(crate) mod inject;
pub(crate) mod spec;

use std::sync::Arc;
use std::time::Duration;

use crate::fault::spec::{FaultKind, FaultValue};

/// The faults that have struck one request.
#[derive(Debug, Clone, Default)]
pub struct TriggeredFaults(pub(crate) Arc<[(FaultKind, FaultValue)]>);

impl TriggeredFaults {
    /// Whether a fault of this kind has struck.
    pub fn has(&self, kind: FaultKind) -> bool {
        self.setting(kind).is_some()
    }

    /// The number behind `=` of a fault of this kind that has struck.
    pub fn number(&self, kind: FaultKind) -> Option<u32> {
        match self.setting(kind) {
            Some(FaultValue::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The unchanged parts that a write loses as well ([`FaultKind::Lose`]): the last ones.
    pub fn lost<T>(&self, others: impl IntoIterator<Item = T>) -> Vec<T> {
        let count = self.number(FaultKind::Lose).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        let mut others: Vec<T> = others.into_iter().collect();
        others.split_off(others.len().saturating_sub(count))
    }

    pub(crate) fn setting(&self, kind: FaultKind) -> Option<FaultValue> {
        self.0.iter().find(|(struck, _)| *struck == kind).map(|(_, setting)| *setting)
    }

    pub(crate) async fn wait(&self, kind: FaultKind) {
        if let Some(milliseconds) = self.number(kind) {
            tokio::time::sleep(Duration::from_millis(milliseconds.into())).await;
        }
    }
}
