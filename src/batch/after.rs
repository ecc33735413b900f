//! A batch some time after its run (docs/journal.md, "The day after"): what each record wrote is read again, to verify it or to plan
//! how it is undone. Nothing is written to the shop.

mod look;
mod run;
pub mod undo;
pub mod verify;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

use self::look::{Answer, Task};
use crate::batch::listing::Listing;
use crate::batch::record::{PreparedRecord, RecordPreparer, hash, key_of};
use crate::batch::with_context;
use crate::client::Session;
use crate::client::service::Service;
use crate::input::Draft;
use crate::input::records::Source;
use crate::journal::State;
use crate::journal::read::{Noted, OfRuns};
use crate::log::{Write, WriteLog};
use crate::ops::profile::after::Sent;
use crate::ops::{Operation, Run};
use crate::plan::Plan;
use crate::plan::applying::ensure_same_service;
use crate::report::outcome::Outcome;
use storefront_core::check::body::Warnings;
use storefront_core::effect::Effect;
use storefront_core::failure::Failure;
use storefront_core::operation::{CUSTOMER_UPDATE, OperationSpec, QUOTE_REMOVE_ITEM, QUOTE_SET_ITEM, scalar};

/// Why the input alone does not say what a record wrote.
const FLAGS: &str = "flags of the run said what it set, and the journal does not have them";

/// A record that was sent.
#[derive(Debug, Clone)]
struct Member {
    record: u64,
    line: u64,
    /// What it touches, for people.
    key: Option<String>,
    /// Whether it is done; else its outcome is unknown.
    is_done: bool,
    noted: Noted,
    /// By what the log finds it.
    of: OfRuns,
    /// What its last calls were to change, as the log has it.
    effects: Vec<Effect>,
}

/// Records that one read tells of: those of one customer, those of one item of a cart, or one attribute.
#[derive(Debug)]
struct Group {
    members: Vec<Member>,
}

impl Group {
    fn sent(&self) -> Vec<Sent> {
        let sent = |member: &Member| Sent {
            record: member.record,
            of: member.of.clone(),
            was_sent: member.noted.was_sent,
            is_done: member.is_done,
        };
        self.members.iter().map(sent).collect()
    }
}

/// The operation of a journal while its records are read again: in place of sending one it looks.
struct Follower {
    spec: &'static OperationSpec,
    task: Task,
    /// By the line of the first member.
    groups: RefCell<HashMap<u64, Rc<Group>>>,
    answers: RefCell<HashMap<u64, Answer>>,
}

impl Follower {
    fn new(spec: &'static OperationSpec, task: Task) -> Self {
        Self { spec, task, groups: RefCell::default(), answers: RefCell::default() }
    }
}

impl Operation for Follower {
    fn spec(&self) -> &'static OperationSpec {
        self.spec
    }

    /// What flags set is not known any more.
    fn apply(&self, _: &mut serde_json::Map<String, serde_json::Value>) -> Result<(), Failure> {
        Ok(())
    }

    /// It was checked before it was sent.
    fn lint(&self, _: &Draft) -> Result<Warnings, Failure> {
        Ok(Warnings::default())
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> Run<'a> {
        Box::pin(async {
            let line = service.session.report.line.unwrap_or_default();
            let group = self.groups.borrow().get(&line).cloned();
            if let Some(group) = group {
                let answer = self.task.look(service, draft, &group.members, &group.sent()).await?;
                self.answers.borrow_mut().insert(line, answer);
            }
            Ok(Outcome::not_sent(self.spec.name))
        })
    }
}

/// What of a journal is read again.
#[derive(Default)]
struct Gathered {
    /// Each with the draft of its last member.
    groups: Vec<(Group, PreparedRecord)>,
    /// Records that cannot be looked at, and why.
    unusable: Vec<(Member, String)>,
    /// Records that are not in the input any more.
    lost: u64,
    /// How many records are in other states.
    others: BTreeMap<&'static str, u64>,
}

/// Opens the service and the input of a journal, which have to be those of the run, and does `task` with them.
async fn follow(
    session: &Session<'_>,
    listing: &Listing<'_>,
    input: Option<&Path>,
    follower: &Follower,
    task: impl AsyncFnOnce(crate::batch::send::RunContext<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let header = &listing.header;
    listing.operation.ensure_in(session.dialect)?;
    let Some((source, plan)) = listing.source(input)? else {
        let message = match input {
            Some(input) => format!("`{}` is not the input of a batch", input.display()),
            None => format!("the input `{}` is not next to the journal", header.input),
        };
        return Err(Failure::usage(message).hint("name the input of the batch with --input FILE"));
    };
    let (source, plan): (Source, Option<Plan>) = (source, plan);
    let context = session.context;
    let source = source.copied(&*context.storage, &context.directories()?.state)?;
    let service = Service::open(session).await?;
    ensure_same_service(
        &service,
        "journal",
        [&header.service, &header.interface],
        header.store_view.as_deref(),
    )?;
    Box::pin(with_context(&service, &source, follower, plan.as_ref(), task)).await
}

/// Finds the records of a journal in its input. They are known by their content: rows may have been sorted since.
fn gather(preparer: &RecordPreparer<'_>, listing: &Listing<'_>) -> Result<Gathered, Failure> {
    let unreadable = |error| Failure::guard(format!("cannot read `{}`: {error}", listing.path.display()));
    let mut noted = listing.past.noted().map_err(unreadable)?;
    let log = WriteLog::to_read(listing.session.context)?;
    let mut gathered = Gathered::default();
    let is_wanted = |state| matches!(state, State::Done | State::Unknown | State::Sending);
    for (_, latest) in listing.past.records() {
        if is_wanted(latest.state) {
            gathered.lost += 1;
        } else {
            *gathered.others.entry(latest.state.name()).or_default() += 1;
        }
    }
    let mut groups = HashMap::<String, usize>::new();
    let places = listing.past.places_in(|found| preparer.each_hash(found))?;
    let mut reader = preparer.reader()?;
    while let Some(record) = reader.read()? {
        let number = places.name(record.line);
        let latest = listing.past.latest(number);
        if !is_wanted(latest.state) || !latest.is_of(hash(&record.content)) {
            continue;
        }
        gathered.lost -= 1;
        let of = listing.past.of(number);
        let writes = log.as_ref().map(|log| log.last_sent(&of.runs, number)).transpose()?;
        let member = Member {
            effects: writes.iter().flatten().filter_map(Write::changes).collect(),
            record: number,
            line: number,
            key: key_of(listing.operation, &record, reader.columns()),
            is_done: latest.state == State::Done,
            noted: noted.remove(&number).unwrap_or_default(),
            of,
        };
        let prepared = if listing.past.has_flags {
            Err(Failure::usage(FLAGS))
        } else {
            preparer.prepare(&record, reader.columns())
        };
        match prepared.and_then(|prepared| Ok((subject(&prepared, number)?, prepared))) {
            Err(failure) => gathered.unusable.push((member, failure.message)),
            Ok((subject, prepared)) => {
                let next = gathered.groups.len();
                let at = *groups.entry(subject).or_insert(next);
                if at == next {
                    gathered.groups.push((Group { members: vec![member] }, prepared));
                } else {
                    gathered.groups[at].0.members.push(member);
                    gathered.groups[at].1 = prepared;
                }
            }
        }
    }
    Ok(gathered)
}

/// What is read once for a record.
fn subject(prepared: &PreparedRecord, record: u64) -> Result<String, Failure> {
    let (draft, key) = (&prepared.draft, &prepared.key);
    if *draft.operation == CUSTOMER_UPDATE {
        return Ok(key.clone());
    }
    if ![&QUOTE_SET_ITEM, &QUOTE_REMOVE_ITEM].contains(&draft.operation) {
        return Ok(record.to_string());
    }
    let [item, sku, qty] = ["item_id", "sku", "qty"].map(|name| scalar(draft.fields.get(name)));
    let is_whole = *draft.operation == QUOTE_REMOVE_ITEM || qty.is_some();
    match item.or(sku).filter(|_| is_whole) {
        Some(item) => Ok(format!("{key}\n{item}")),
        None => Err(Failure::usage(FLAGS)),
    }
}
