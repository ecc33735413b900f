//! Snapshots: the stored profile as it was before a replacement, and as it was sent, in a file of its own. A small file
//! beside it says what became of the replacement ([`super::outcome`]).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::CustomerStore;
use super::listing::{SnapshotEntry, stem};
use super::record::WriteRecord;
use crate::system::environment::STATE_HOME;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::address::{address_list, addresses_by_id, own_id};
use storefront_core::profile::diff::{self, Change};
use storefront_core::profile::merge::Merged;
use storefront_core::text::exact_json;

/// What stands in the file.
#[derive(Serialize)]
struct Content<'a> {
    number: u64,
    taken: String,
    service: &'a str,
    operation: &'a str,
    customer: &'a Map<String, Value>,
    merged: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "<[AddressId]>::is_empty")]
    removes: &'a [AddressId],
}

/// A snapshot that was read.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its file.
    pub path: PathBuf,
    /// The service it was taken from, as [`CustomerStore::service`] names it.
    pub service: Option<String>,
    /// When it was taken, RFC 3339, UTC.
    pub taken: String,
    /// Who was about to replace the profile.
    pub operation: String,
    /// The customer object as it was.
    pub customer: Map<String, Value>,
    /// The customer object as it was to be.
    pub merged: Map<String, Value>,
    /// The one that was sent, from which `removes` were then removed.
    sent: Map<String, Value>,
    /// Ids of the addresses that are removed by calls of their own.
    pub removes: Vec<AddressId>,
}

/// A snapshot whose replacement has not left: that is noted when the command ends before it does, by an error or a
/// signal. Only a process that dies leaves the question open.
#[derive(Debug)]
pub struct Unsent<'a> {
    store: &'a CustomerStore,
    /// Its file.
    pub path: PathBuf,
    has_left: bool,
}

impl Unsent<'_> {
    /// The replacement leaves now: the snapshot's file.
    pub fn leaves(mut self) -> PathBuf {
        self.has_left = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if !self.has_left {
            self.store.set_outcome(&self.path, WriteOutcome::NotSent, &[]);
        }
    }
}

impl CustomerStore {
    /// Takes a snapshot, which is on disk whole or not at all when this returns: `operation` replaces, `customer` is the
    /// stored object with every field as it came, `merged` the one that is about to be sent, and `removes` are the addresses
    /// that are then removed by calls of their own. The caller holds the customer's lock.
    ///
    /// # Errors
    /// `internal` when it cannot be written; nothing may be sent then.
    pub async fn take(
        &self,
        operation: &str,
        customer: &Map<String, Value>,
        merged: &Map<String, Value>,
        removes: &[AddressId],
    ) -> Result<Unsent<'_>, Failure> {
        let unwritable = |error: std::io::Error| {
            let directory = self.directory.display();
            Failure::internal(format!("the snapshot cannot be written to `{directory}`: {error}")).hint(
                format!("a profile is replaced only after a snapshot: free some space, or set {STATE_HOME}"),
            )
        };
        let now = self.clock.now();
        let (taken, service) = (now.to_string(), &*self.service);
        let mut content = Content { number: 1, taken, service, operation, customer, merged, removes };
        content.number += self.last_number()?;
        loop {
            let bytes = serde_json::to_vec(&content).map_err(|error| unwritable(error.into()))?;
            let unsent = Unsent { store: self, path: self.file(content.number, now), has_left: false };
            let created = self.storage.clone().create_concurrently(unsent.path.clone(), bytes).await;
            let Err(error) = created else {
                self.add(SnapshotEntry { number: content.number, path: unsent.path.clone() });
                return Ok(unsent);
            };
            // It is another one's, or none.
            unsent.leaves();
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(unwritable(error));
            }
            content.number += 1;
        }
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// `usage` when there is no such file, or it is not a snapshot.
    pub fn read(&self, path: &Path) -> Result<Snapshot, Failure> {
        let unreadable =
            |error| Failure::usage(format!("the snapshot `{}` cannot be read: {error}", path.display()));
        Snapshot::parse(&self.storage.read(path).map_err(unreadable)?, path)
    }
}

impl Snapshot {
    /// Reads the text of a snapshot that stands at `path`.
    ///
    /// # Errors
    /// `usage` when it is none.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, Failure> {
        let no_snapshot = || {
            Failure::usage(format!("`{}` is not a snapshot", path.display()))
                .hint(hint!(storefront("customer history"), " lists the snapshots"))
        };
        let mut content = exact_json::parse_object(text).map_err(|error| match error {
            exact_json::Error::Syntax { .. } => no_snapshot(),
            error => Failure::usage(format!("`{}`: {error}", path.display())),
        })?;
        let text = |name: &str| content.get(name)?.as_str().map(str::to_owned);
        let (Some(taken), Some(operation)) = (text("taken"), text("operation")) else {
            return Err(no_snapshot());
        };
        let service = text("service");
        let Some(Value::Object(customer)) = content.remove("customer") else { return Err(no_snapshot()) };
        if !customer.get("addresses").is_some_and(Value::is_array) {
            return Err(no_snapshot());
        }
        let sent = match content.remove("merged") {
            Some(Value::Object(merged)) => merged,
            _ => customer.clone(),
        };
        let removes = content.get("removes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let removes: Vec<AddressId> = removes.iter().filter_map(AddressId::of).collect();
        let merged = if removes.is_empty() { sent.clone() } else { Merged::without(&sent, &removes) };
        Ok(Self { path: path.to_owned(), service, taken, operation, customer, merged, sent, removes })
    }

    /// What its calls made, newest first, each as a replacement of its own with what became of it. Those that changed nothing
    /// are left out. An address that the PUT has added is in the PUT alone: no snapshot has its id, and a removal does not
    /// change it.
    pub fn calls(self, record: &WriteRecord) -> Vec<(Self, WriteOutcome)> {
        if self.removes.is_empty() {
            return vec![(self, record.outcome)];
        }
        let put = record.put().filter(|put| put.may_be_applied());
        let mut now = self.customer.clone();
        let mut calls = Vec::new();
        if let Some(put) = put.filter(|_| self.sent != self.customer) {
            now.clone_from(&self.sent);
            if let Some(Value::Array(addresses)) = now.get_mut("addresses") {
                addresses.retain(|address| own_id(address).is_some());
            }
            calls.push((Self { merged: self.sent.clone(), removes: Vec::new(), ..self.clone() }, put));
        }
        for id in self.removes.iter().copied() {
            let outcome = record.removal(id);
            if outcome.may_be_applied() {
                let merged = Merged::without(&now, &[id]);
                let customer = std::mem::replace(&mut now, merged.clone());
                calls.push((Self { customer, merged, removes: vec![id], ..self.clone() }, outcome));
            }
        }
        calls.reverse();
        calls
    }

    /// This snapshot as if only those of its calls were asked for that may have been applied.
    #[must_use]
    pub fn as_applied(self, record: &WriteRecord) -> Self {
        if self.removes.is_empty() {
            return self;
        }
        let is_sent = record.put().is_some_and(WriteOutcome::may_be_applied);
        let mut gone = self.removes.clone();
        gone.retain(|id| record.removal(*id).may_be_applied());
        let merged = Merged::without(if is_sent { &self.sent } else { &self.customer }, &gone);
        Self { merged, ..self }
    }

    /// This snapshot with its PUT alone, whatever became of that.
    #[must_use]
    pub fn put(self) -> Self {
        Self { merged: self.sent.clone(), removes: Vec::new(), ..self }
    }

    /// What its PUT carried: the addresses that are removed by calls of their own are still in it.
    pub fn sent(&self) -> &Map<String, Value> {
        &self.sent
    }

    /// The name by which `customer restore` takes it.
    pub fn name(&self) -> &str {
        stem(&self.path)
    }

    /// What the replacement changed.
    pub fn changes(&self) -> Vec<Change> {
        diff::customers(&self.customer, &self.merged)
    }

    /// Ids of the addresses that the replacement deletes.
    pub fn removed(&self) -> impl Iterator<Item = AddressId> + '_ {
        let ids = |customer| addresses_by_id(address_list(customer)).map(|(id, _)| id);
        let staying: HashSet<AddressId> = ids(&self.merged).collect();
        ids(&self.customer).filter(move |id| !staying.contains(id))
    }
}
