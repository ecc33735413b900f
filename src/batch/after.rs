//! A batch some time after its run (docs/journal.md, "Is it still so?"): what each record wrote is read again, to verify
//! it or to plan how it is undone. The log says what was written. The input has the tokens of records with their own, and
//! the content of records that changed nothing. Nothing is written to the shop.

mod look;
mod run;
pub mod undo;
pub mod verify;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Map;

use self::look::{Answer, Task};
use crate::batch::listing::Listing;
use crate::batch::origin::Origin;
use crate::batch::record::{PreparedRecord, RecordPreparer, hash, key_of};
use crate::batch::send::RunContext;
use crate::batch::token::RecordToken;
use crate::batch::with_context;
use crate::client::Session;
use crate::client::service::Service;
use crate::input::Draft;
use crate::input::records::Source;
use crate::journal::State;
use crate::journal::read::{LatestEntry, Noted, OfRuns};
use crate::log::{Write, WriteLog};
use crate::ops::{Operation, RunFuture};
use crate::past::owners::customer_of;
use crate::plan::applying::ensure_same_service;
use crate::report::outcome::Outcome;
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::operation::OperationSpec;
use storefront_core::outcome::WriteOutcome;

/// Why the input alone does not say what a record wrote.
const FLAGS: &str = "flags of the run said what it set, and the journal does not have them";

/// Why nothing says what a record wrote.
const NOT_IN_LOG: &str = "what it wrote is not in the log of this machine";

/// Why nothing says it any more.
const DELETED_FROM_LOG: &str = "what it wrote was deleted from the log";

/// Why nothing says what a record that changed nothing was to leave.
const NOT_IN_INPUT: &str = "it changed nothing, and is not in the input as it was run";

/// A record that was sent.
#[derive(Debug, Clone)]
struct Member {
    /// Its number.
    record: u64,
    /// What it touches, for people.
    key: Option<String>,
    /// Whether the journal has its outcome; otherwise a look finds it out.
    is_done: bool,
    noted: Noted,
    /// The key by which the log finds it.
    of: OfRuns,
    /// The writes for it in the log that may have been applied.
    writes: Vec<Write>,
}

impl Member {
    /// Whether only a person's note tells of it.
    fn is_by_hand_only(&self) -> bool {
        self.noted.is_by_hand && self.writes.is_empty()
    }

    /// Whether more is known about it than a person's note.
    fn is_known(&self) -> bool {
        let is_unknown = |write: &Write| matches!(write.outcome, WriteOutcome::Unknown { .. });
        !self.noted.is_by_hand || !self.writes.is_empty() && !self.writes.iter().any(is_unknown)
    }
}

/// Records that wrote to one owner, for which one read is enough; or one that wrote nothing.
#[derive(Debug)]
struct Group {
    members: Vec<Member>,
}

/// The operation of a journal while its records are read again: it looks instead of sending.
struct Follower<'a> {
    operation: &'a dyn Operation,
    task: Task,
    /// By the number of the first member.
    groups: RefCell<HashMap<u64, Rc<Group>>>,
    answers: RefCell<HashMap<u64, Answer>>,
}

impl<'a> Follower<'a> {
    fn new(operation: &'a dyn Operation, task: Task) -> Self {
        Self { operation, task, groups: RefCell::default(), answers: RefCell::default() }
    }
}

impl Operation for Follower<'_> {
    fn spec(&self) -> &'static OperationSpec {
        self.operation.spec()
    }

    /// The values of flags are not known any more.
    fn apply(&self, _: &mut Map<String, serde_json::Value>) -> Result<(), Failure> {
        Ok(())
    }

    /// The record was checked before it was sent.
    fn lint(&self, _: &Draft) -> Result<Warnings, Failure> {
        Ok(Warnings::default())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async {
            let line = service.session.report.line.unwrap_or_default();
            let group = self.groups.borrow().get(&line).cloned();
            if let Some(group) = group {
                let answer = self.task.answer(service, self.operation, draft, &group).await?;
                self.answers.borrow_mut().insert(line, answer);
            }
            Ok(Outcome::not_sent(self.spec().name))
        })
    }
}

/// The records of a journal that are read again.
#[derive(Default)]
struct Gathered {
    /// Each with its last member, ready to run.
    groups: Vec<(Group, PreparedRecord)>,
    /// Records that cannot be looked at, with the reason.
    unusable: Vec<(Member, String)>,
    /// How many records are in other states.
    others: BTreeMap<&'static str, u64>,
}

impl Gathered {
    /// Adds a record to those of the same subject. `groups` has the places of the subjects.
    fn add(&mut self, member: Member, prepared: PreparedRecord, groups: &mut HashMap<String, usize>) {
        let next = self.groups.len();
        let at = *groups.entry(subject(&member)).or_insert(next);
        if at == next {
            self.groups.push((Group { members: vec![member] }, prepared));
        } else {
            self.groups[at].0.members.push(member);
            self.groups[at].1 = prepared;
        }
    }
}

/// Opens the service of a journal, which must be that of the run, and its input if there is one, and runs `task` with
/// them.
async fn follow(
    session: &Session<'_>,
    listing: &Listing<'_>,
    input: Option<&Path>,
    follower: &Follower<'_>,
    task: impl AsyncFnOnce(RunContext<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let header = &listing.header;
    listing.operation.ensure_in(session.dialect)?;
    let origin = match listing.origin(input) {
        Ok(Some(found)) => found,
        Ok(None) if input.is_none() => nothing_of(listing)?,
        Ok(None) => {
            let name = input.unwrap_or(&listing.path).display().to_string();
            return Err(Failure::usage(format!("`{name}` is not the input of a batch"))
                .hint("name the input of the batch with --input FILE"));
        }
        Err(failure) if input.is_none() => {
            session.report.warn(&format!("the input beside the journal is not read: {}", failure.message));
            nothing_of(listing)?
        }
        Err(failure) => return Err(failure),
    };
    let origin = origin.copied(session.context)?;
    let service = Service::open(session).await?;
    ensure_same_service(
        &service,
        "journal",
        [&header.service, &header.interface],
        header.store_view.as_deref(),
    )?;
    Box::pin(with_context(&service, &origin, follower, task)).await
}

/// An input without records.
fn nothing_of(listing: &Listing<'_>) -> Result<Origin, Failure> {
    let context = listing.session.context;
    let state = &context.directories()?.state;
    let failed = |error| Failure::internal(format!("cannot write to `{}`: {error}", state.display()));
    let file = context.storage.unnamed(state).map_err(failed)?;
    Ok(Origin::Input(Source::of_plan(&listing.path, Arc::new(file))))
}

/// A record as it is in the input.
struct InInput {
    key: Option<String>,
    prepared: Result<PreparedRecord, Failure>,
}

/// Finds the records of a journal, in the log and in the input, where they are known by their content: rows may have been
/// sorted since.
fn gather(shared: RunContext<'_>, listing: &Listing<'_>) -> Result<Gathered, Failure> {
    let preparer = shared.preparer;
    let unreadable = |error| Failure::guard(format!("cannot read `{}`: {error}", listing.path.display()));
    let mut noted = listing.past.noted().map_err(unreadable)?;
    let log = WriteLog::to_read(listing.session.context)?;
    let mut gathered = Gathered::default();
    let is_wanted = |latest: LatestEntry| latest.state == State::Done || latest.was_sent();
    let mut wanted = BTreeSet::new();
    for (record, latest) in listing.past.records() {
        if is_wanted(latest) {
            wanted.insert(record);
        } else {
            *gathered.others.entry(latest.state.name()).or_default() += 1;
        }
    }
    let mut in_input = find_in_input(preparer, listing, &wanted)?;
    let mut groups = HashMap::<String, usize>::new();
    for record in wanted {
        let of = listing.past.of(record);
        let state = listing.past.latest(record).state;
        let writes = log.as_ref().map(|log| log.standing(&of.runs, record)).transpose()?.unwrap_or_default();
        let InInput { key, prepared } = in_input
            .remove(&record)
            .unwrap_or_else(|| InInput { key: None, prepared: Err(Failure::usage(NOT_IN_INPUT)) });
        let member = Member {
            key: key.or_else(|| writes.last().map(Write::owner_in_words)),
            is_done: !matches!(state, State::Unknown | State::Sending),
            noted: noted.remove(&record).unwrap_or_default(),
            record,
            of,
            writes,
        };
        let prepared = match member.writes.last() {
            Some(write) => Ok(prepared.unwrap_or_else(|_| of_log(shared.service, listing, write))),
            None => match not_in_log(listing, log.as_ref(), &member)? {
                Some(why) => Err(Failure::usage(why)),
                None => prepared,
            },
        };
        match prepared {
            Ok(prepared) => gathered.add(member, prepared, &mut groups),
            Err(failure) => gathered.unusable.push((member, failure.message)),
        }
    }
    Ok(gathered)
}

/// Why nothing can be said of a record of which the log has no write; `None` where its input says what it wrote.
fn not_in_log(
    listing: &Listing<'_>,
    log: Option<&WriteLog>,
    member: &Member,
) -> Result<Option<&'static str>, Failure> {
    if member.noted.was_sent {
        let known = log.map(|log| log.known_runs(&member.of.runs)).transpose()?;
        let is_known = known.is_some_and(|known| known > 0);
        return Ok(Some(if is_known { DELETED_FROM_LOG } else { NOT_IN_LOG }));
    }
    Ok(listing.past.has_flags.then_some(FLAGS))
}

/// The records of the input that are unchanged since the run.
fn find_in_input(
    preparer: &RecordPreparer<'_>,
    listing: &Listing<'_>,
    wanted: &BTreeSet<u64>,
) -> Result<HashMap<u64, InInput>, Failure> {
    let mut found = HashMap::new();
    let places = listing.past.places_in(|each| preparer.each_hash(each))?;
    let mut reader = preparer.reader()?;
    while let Some(record) = reader.read()? {
        let number = places.name(record.line);
        if wanted.contains(&number) && listing.past.latest(number).is_of(hash(&record.content)) {
            let key = key_of(listing.operation, &record, reader.columns());
            let prepared = preparer.prepare(&record, reader.columns());
            found.insert(number, InInput { key, prepared });
        }
    }
    Ok(found)
}

/// A record that only the log knows, with the run's own token.
fn of_log(service: &Service<'_>, listing: &Listing<'_>, write: &Write) -> PreparedRecord {
    PreparedRecord {
        draft: Draft::unchecked(listing.operation, Map::new()),
        key: write.owner_in_words(),
        token_source: RecordToken::Shared,
        customer: customer_of(service, write).map(str::to_owned),
    }
}

/// The thing that is read once for all of its records.
fn subject(member: &Member) -> String {
    let owner = member.writes.last().and_then(|write| Some(write.changes()?.owner));
    match owner.filter(|owner| owner.id.is_some()) {
        Some(owner) => owner.to_string(),
        None => format!("record {}", member.record),
    }
}
