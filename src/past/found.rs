//! Which write is meant: by its id, its owner, or the newest.

use std::path::Path;

use crate::client::service::Service;
use crate::log::{LoggedRun, Owner, RunId, Write, WriteLog};
use storefront_core::effect::{Created, Effect};
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::path::{FieldPath, List};

/// The word for the newest write that may have been applied, is not an undo and is not undone.
pub const LATEST: &str = "latest";

/// Whether a word is the name of a file: anything else is an id.
pub fn is_file(what: &str) -> bool {
    what.contains(['/', '\\']) || what.ends_with(".journal")
}

/// A journal as an argument of these commands.
pub fn file_word(journal: &Path) -> String {
    let shown = journal.display().to_string();
    if is_file(&shown) { shown } else { format!("./{shown}") }
}

/// A command that wrote, or one record of a batch, with its writes.
#[derive(Debug)]
pub struct Found {
    /// The command.
    pub run: LoggedRun,
    /// The number of the record.
    pub record: Option<u64>,
    /// Its writes, in their order.
    pub writes: Vec<Write>,
}

impl Found {
    /// What people know it by.
    pub fn name(&self) -> String {
        self.run.id.name(self.record)
    }

    /// What became of it.
    pub fn outcome(&self) -> WriteOutcome {
        WriteOutcome::of_calls(&self.last_made().map(|write| write.outcome).collect::<Vec<_>>())
    }

    /// Its writes without those that applied nothing and were made again.
    pub fn last_made(&self) -> impl Iterator<Item = &Write> {
        let is_made_again = |at: usize, write: &Write| {
            let is_same = |other: &Write| {
                (other.record, &other.call, &other.effect["owner"])
                    == (write.record, &write.call, &write.effect["owner"])
            };
            !write.outcome.may_be_applied() && self.writes[at + 1..].iter().any(is_same)
        };
        let writes = self.writes.iter().enumerate();
        writes.filter(move |(at, write)| !is_made_again(*at, write)).map(|(_, write)| write)
    }

    /// Whether it is a whole batch.
    pub fn is_batch(&self) -> bool {
        self.run.journal.is_some() && self.record.is_none()
    }

    /// What it changed, as far as it may have been applied, in order.
    pub fn effects(&self) -> Vec<Effect> {
        let applied = self.writes.iter().filter(|write| write.outcome.may_be_applied());
        applied.filter_map(Write::changes).collect()
    }

    /// What it wrote to, in words: `cart 4`, or how many things.
    pub fn owner(&self) -> String {
        let mut owners: Vec<String> = self.writes.iter().map(Write::owner_in_words).collect();
        owners.dedup();
        match &owners[..] {
            [one] => one.clone(),
            several => format!("{} owners", several.len()),
        }
    }
}

/// Finds the write with this name: an id, with the number of a record in a batch, or [`LATEST`]. Without a name it is the
/// newest one of this owner.
///
/// # Errors
/// `usage` when nothing is found; `guard` if the log cannot be read.
pub fn find(service: &Service<'_>, name: Option<&str>, owner: Option<&Owner>) -> Result<Found, Failure> {
    let id = service.settings.service_id().to_string();
    let none = |what: &str| {
        Failure::usage(format!("{what} of this shop on this machine"))
            .hint(hint!(storefront("history"), " lists the writes"))
    };
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Err(none("no write")) };
    let Some(name) = name.filter(|name| *name != LATEST) else {
        for run in log.runs(&id, owner, None)? {
            let is_meant = run.undoes.is_none() && log.may_be_applied(run.id)?;
            if is_meant && undone_by(&log, run.id, None)?.is_none() {
                return Ok(Found { writes: log.writes_of(run.id, None)?, run, record: None });
            }
        }
        return Err(none("no write that could be meant"));
    };
    let Some((run, record)) = WriteLog::parse(name) else {
        return Err(Failure::usage(format!("`{name}` is no ID of a write"))
            .hint("give an ID such as 1042 or 1042:7, or `latest`"));
    };
    let run = log.run(run)?.filter(|run| run.service == id);
    let run = run.ok_or_else(|| none(&format!("no write `{name}`")))?;
    let writes = log.writes_of(run.id, record)?;
    if writes.is_empty() && (record.is_some() || run.journal.is_none()) {
        let why = if record.is_some() { "sent nothing for that record" } else { "has no writes (any more)" };
        return Err(
            Failure::usage(format!("`{name}` {why}")).hint(hint!(storefront("history"), " lists the writes"))
        );
    }
    let is_own = |write: &Write| owner.is_none_or(|owner| write.is_to(owner));
    if !writes.iter().any(is_own) && !writes.is_empty() {
        let of = owner.map(|owner| format!("{} {}", owner.kind, owner.id.as_deref().unwrap_or_default()));
        return Err(Failure::usage(format!("write {name} is none to {}", of.unwrap_or_default()))
            .hint(hint!(storefront("history").arg(name), " shows it")));
    }
    Ok(Found { run, record, writes })
}

/// The newest run that undid this one, unless it was undone itself. With the writes of one record: the run that took back some of them,
/// for an undo of a batch may leave some of its records.
///
/// # Errors
/// `guard` where the log cannot be read.
pub fn undone_by(log: &WriteLog, run: RunId, record: Option<&[Write]>) -> Result<Option<RunId>, Failure> {
    for undo in log.undos_of(run)? {
        let is_meant = match record {
            Some(writes) => take_back(&log.writes_of(undo, None)?, writes),
            None => true,
        };
        if is_meant {
            return Ok(undone_by(log, undo, None)?.is_none().then_some(undo));
        }
    }
    Ok(None)
}

/// Whether writes of an undo take back something that these have written.
fn take_back(undo: &[Write], writes: &[Write]) -> bool {
    let own: Vec<Effect> = writes.iter().filter_map(Write::changes).collect();
    let sent = undo.iter().filter(|write| write.outcome.may_be_applied()).filter_map(Write::changes);
    sent.into_iter().any(|undo| own.iter().any(|own| takes_back(&undo, own)))
}

fn takes_back(undo: &Effect, own: &Effect) -> bool {
    let is_at = |path: &FieldPath| {
        own.changes.iter().any(|change| change.path.overlaps(path))
            || own.creates.iter().any(|created| created.path().overlaps(path))
    };
    let is_made_again = |created: &Created| {
        let removed = own.changes.iter().filter(|change| change.path.is_element());
        removed.into_iter().any(|change| List::of(&change.path) == Some(created.list))
    };
    undo.owner == own.owner
        && (undo.changes.iter().any(|change| is_at(&change.path)) || undo.creates.iter().any(is_made_again))
}
