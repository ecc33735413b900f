//! One record under way.

use std::time::Duration;

use super::intake::Prepared;
use super::work::Work;
use crate::batch::gate::Gate;
use crate::batch::journal::Journal;
use crate::cli::GlobalArgs;
use crate::commands::Session;
use crate::commands::customer::Replaced;
use crate::commands::service::{Service, WriteAhead};
use crate::failure::{Failure, Kind};
use crate::input::records::Content;
use crate::plan::profile::Profile;
use crate::report::records::Place;

/// How often a record that is turned away by a busy service is tried again, after the client's own repeats.
const MOST_ROUNDS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A record that is to be run.
#[derive(Debug)]
pub struct Task {
    /// Its turn among the results.
    pub turn: u64,
    /// Where it stands.
    pub place: Place,
    /// Its hash in the journal.
    pub hash: u64,
    /// What is sent.
    pub prepared: Prepared,
    /// How it stands in the input; kept where it may be given back.
    pub content: Option<Content>,
    /// The customer's profile, as the record before has read it.
    pub known: Option<Profile>,
}

/// A record that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its key in the queue.
    pub key: u64,
    /// Its turn among the results.
    pub turn: u64,
    /// Where it stands.
    pub place: Place,
    /// Its hash in the journal.
    pub hash: u64,
    /// How it stands in the input.
    pub content: Option<Content>,
    /// What became of it.
    pub result: Result<Replaced, Failure>,
}

/// What all records of a run share.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    /// The service.
    pub service: &'a Service<'a>,
    /// The flags, with every question answered.
    pub global: &'a GlobalArgs,
    /// The journal; none where nothing is sent.
    pub journal: Option<&'a Journal>,
    /// What is done.
    pub work: Work<'a>,
}

impl Shared<'_> {
    /// Runs one record to its end.
    pub async fn run(self, key: u64, task: Task) -> Ended {
        let Task { turn, place, hash, prepared, content, known } = task;
        let result = self.result(place, hash, prepared, known).await;
        Ended { key, turn, place, hash, content, result }
    }

    async fn result(
        self,
        place: Place,
        hash: u64,
        prepared: Prepared,
        known: Option<Profile>,
    ) -> Result<Replaced, Failure> {
        let report = self.service.session.report.of_record(place.record);
        let session = Session { report: &report, global: self.global, context: self.service.session.context };
        let gate = self.journal.map(|journal| Gate::new(journal, place.record, hash));
        let token = prepared.own.token().await?;
        let service =
            self.service.for_record(&session, token, gate.as_ref().map(|gate| gate as &dyn WriteAhead));
        let mut known = known;
        let mut round = 1;
        loop {
            let result = self.work.perform(&service, &prepared.ready, known.take()).await;
            match result {
                Err(failure) if is_busy(&failure) && round < MOST_ROUNDS && service.settings.retry > 0 => {
                    tokio::time::sleep(FIRST_PAUSE * round).await;
                    round += 1;
                }
                result => return result,
            }
        }
    }
}

/// The service asked for fewer requests, and took none of this record's.
fn is_busy(failure: &Failure) -> bool {
    failure.kind == Kind::Unavailable && matches!(failure.status, Some(429 | 503))
}
