//! How a batch stands: whether it should be resumed, and how many of its records are in which state, according to its
//! journal.

use serde_json::{Map, Value, json};

use crate::batch::listing::Listing;
use crate::batch::origin::Origin;
use crate::batch::undone::undone;
use crate::client::Session;
use crate::journal::State;
use crate::journal::known::{KnownRun, known_runs};
use crate::plan::is_there;
use crate::system::storage::lock_of;
use storefront_core::failure::Failure;

/// The states of records in the order in which they are counted.
const STATES: [State; 7] = [
    State::Done,
    State::FailedPermanent,
    State::FailedTemporary,
    State::Unknown,
    State::Sending,
    State::Mismatch,
    State::NotSent,
];

/// How many records are in each of [`STATES`]; `None` if unknown.
type Counts = [Option<u64>; STATES.len()];

/// The batches of this machine.
pub struct BatchStates<'a> {
    session: &'a Session<'a>,
    known: Vec<KnownRun>,
}

impl<'a> BatchStates<'a> {
    /// Reads which batches are known.
    ///
    /// # Errors
    /// As [`known_runs`].
    pub fn read(session: &'a Session<'a>) -> Result<Self, Failure> {
        Ok(Self { session, known: known_runs(session.context)? })
    }

    /// The listed fields of a batch: its state as `outcome`, its input as `owner`, and the counts.
    pub fn of(&self, run: &KnownRun) -> Map<String, Value> {
        let report = self.session.report;
        let listing = Listing::read(self.session, &run.path);
        let counts = listing.as_ref().ok().map(|listing| counts(listing, run));
        let state = match &counts {
            _ if !is_there(&*self.session.context.storage, &run.path) => "gone",
            None => "unreadable",
            Some(_) if self.is_running(run) => "running",
            Some(counts) if is_open(counts) => "open",
            Some(_) => "done",
        };
        let header = listing.as_ref().map_or(&run.header, |listing| &listing.header);
        let known: Vec<&KnownRun> = self.known.iter().collect();
        let undone =
            listing.as_ref().ok().and_then(|listing| undone(self.session, &known, &run.path, &listing.past));
        let mut row = Map::new();
        let mut texts = Vec::new();
        for (index, state) in STATES.iter().enumerate() {
            let count = counts.and_then(|counts| counts[index]);
            row.insert(state.name().replace(' ', "_"), count.into());
            texts.extend(count.filter(|count| *count > 0).map(|count| format!("{count} {}", state.name())));
        }
        let of_batch = [
            ("records", json!(run.header.records)),
            ("input", json!(header.input)),
            ("interface", json!(header.interface)),
            ("store_view", json!(header.store_view)),
            ("shard", json!(header.shard)),
            ("undone", undone.as_ref().map(|undone| if undone.is_whole { "yes" } else { "partial" }).into()),
            ("outcome", json!(state)),
        ];
        row.extend(of_batch.map(|(name, value)| (name.to_owned(), value)));
        if !report.is_json() {
            let parts = [Some(state.to_owned()), undone.map(|undone| undone.in_words().to_owned())];
            let state = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            let counted = if texts.is_empty() { String::new() } else { format!(": {}", texts.join(", ")) };
            row.insert("outcome".to_owned(), format!("{state}{counted}").into());
            let input = listing.as_ref().map_or_else(|_| header.input.clone(), input);
            row.insert("owner".to_owned(), input.into());
        }
        row
    }

    /// Whether a process writes the journal.
    fn is_running(&self, run: &KnownRun) -> bool {
        matches!(self.session.context.storage.try_lock(&lock_of(&run.path)), Ok(None))
    }
}

/// The input as people know it; that of a plan's journal is a plan.
fn input(listing: &Listing<'_>) -> String {
    let name = &listing.header.input;
    match listing.origin(None) {
        _ if listing.header.undoes.is_some() => format!("undo plan {name}"),
        Ok(Some(Origin::Plan(..))) => format!("plan {name}"),
        _ => name.clone(),
    }
}

/// How many records are in each of [`STATES`].
fn counts(listing: &Listing<'_>, run: &KnownRun) -> Counts {
    let counts = listing.past.counts();
    STATES.map(|state| match state {
        State::NotSent => {
            let sent =
                counts.iter().filter(|(name, _)| **name != State::NotSent.name()).map(|(_, count)| count);
            Some(run.header.own_records()?.saturating_sub(sent.sum()))
        }
        state => Some(counts.get(state.name()).copied().unwrap_or(0)),
    })
}

/// Whether `resume` would send or look for something.
fn is_open(counts: &Counts) -> bool {
    let open = [State::Sending, State::Unknown, State::FailedTemporary, State::NotSent];
    STATES.iter().zip(counts).any(|(state, count)| open.contains(state) && count.is_some_and(|it| it > 0))
}
