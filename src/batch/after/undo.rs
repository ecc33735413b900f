//! `undo` of a batch: a plan that sets back what its records changed, if it is still as they left it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::look::{Answer, Task, WayBack};
use super::{Follower, Gathered, Group, Member, follow, gather, run};
use crate::batch::listing::Listing;
use crate::batch::record::PreparedRecord;
use crate::batch::send::RunContext;
use crate::batch::token::RecordToken;
use crate::client::Session;
use crate::journal::{BY_HAND, State, Undoes};
use crate::ops::Operation;
use crate::plan::Planned;
use crate::plan::planning::Planning;
use crate::report::Report;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::UNDO;
use storefront_core::text::sanitize::sanitize_line;

/// Plans how the done records of a journal are undone, one record for each owner, and lists what is left.
///
/// # Errors
/// `guard` if nothing can be undone, `partial` if a part is left; `usage` and `guard` for another input and another
/// service; as the reads if something cannot be read: then no plan is written.
pub async fn undo(
    session: &Session<'_>,
    listing: &Listing<'_>,
    operation: &dyn Operation,
    input: Option<&Path>,
) -> Result<(), Failure> {
    let follower = Follower::new(operation, Task::Undo);
    follow(session, listing, input, &follower, async |shared| {
        let gathered = gather(shared, listing)?;
        Undoing::default().run(shared, &follower, gathered, listing).await
    })
    .await
}

/// What was planned so far.
#[derive(Default)]
struct Undoing {
    /// The records of the plan, each by the first record that it undoes.
    planned: BTreeMap<u64, Planned>,
    /// What is printed about each group.
    said: BTreeMap<u64, (Member, Vec<String>, Vec<String>, bool)>,
    failure: Option<Failure>,
}

impl Undoing {
    async fn run(
        mut self,
        shared: RunContext<'_>,
        follower: &Follower<'_>,
        gathered: Gathered,
        listing: &Listing<'_>,
    ) -> Result<(), Failure> {
        let service = shared.service;
        let report = shared.service.session.report;
        let Gathered { groups, unusable, others } = only_done(gathered);
        let Some(mut planning) = Planning::of(service, &UNDO, Vec::new())? else {
            return Err(Failure::usage("no plan is named").hint("name its file with --plan FILE"));
        };
        if let Some(undone) = shared.preparer.origin.plan().and_then(|plan| plan.header.undoes.as_ref()) {
            report.warn(&format!(
                "this journal is of the plan that undid `{}`: to undo it makes those changes again",
                sanitize_line(&undone.journal)
            ));
        }
        refuse_tokens(&groups)?;
        for (member, why) in unusable {
            self.said.insert(member.record, (member, vec![why], Vec::new(), false));
        }
        run::run(shared, follower, groups, |group, answer| {
            self.answered(group, answer);
            Ok(())
        })
        .await?;
        if let Some(failure) = self.failure {
            let message = format!("no plan was written: {}", failure.message);
            return Err(Failure { message, applied: Applied::No, ..failure });
        }
        let left = self.say_groups(report)?;
        say_rest(report, &others, left);
        let is_whole = self.note(&mut planning, listing, left);
        self.planned.values().try_for_each(|record| planning.push(record))?;
        planning.finish()?;
        let is_empty = self.planned.is_empty();
        if is_whole || left == 0 && is_empty {
            return Ok(());
        }
        let message =
            if is_empty { "nothing of the batch can be undone" } else { "a part of the batch is left" };
        let kind = if is_empty { FailureKind::Guard } else { FailureKind::Partial };
        Err(Failure::new(kind, message).applied(Applied::No).hint(listing.shows_each()))
    }

    /// Notes in the plan which batch it undoes; returns whether it undoes all of it.
    fn note(&self, planning: &mut Planning<'_>, listing: &Listing<'_>, left: usize) -> bool {
        let is_open = |state| matches!(state, State::Sending | State::Unknown);
        let is_whole = left == 0 && !listing.past.records().any(|(_, latest)| is_open(latest.state));
        planning.nothing = Some(match (self.said.is_empty(), left == 0) {
            (true, _) => "no record is done",
            (false, true) => "nothing is left to undo",
            (false, false) => "nothing can be set back",
        });
        planning.undoes(Undoes {
            journal: listing.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            started: listing.header.started.clone(),
            run: listing.header.run.clone(),
            is_whole,
            done: Some(listing.past.count(State::Done)),
        });
        is_whole
    }

    /// Prints what becomes of each group; returns how many changes are left.
    fn say_groups(&self, report: &Report) -> Result<usize, Failure> {
        let mut left = 0;
        for (member, own, notes, is_planned) in self.said.values() {
            left += own.len();
            let state = match (is_planned, own.is_empty()) {
                (true, _) => "planned",
                (false, false) => "left",
                (false, true) => "nothing to undo",
            };
            say(report, member.record, member.key.as_deref(), state, own, notes)?;
        }
        Ok(left)
    }

    fn answered(&mut self, group: &Group, answer: Result<Answer, Failure>) {
        let Some(first) = group.members.first() else { return };
        match answer {
            Ok(Answer::WayBack(way_back)) => {
                let WayBack { planned, left, notes } = *way_back;
                let is_planned = planned.is_some();
                self.planned.extend(planned.map(|planned| (first.record, planned)));
                self.said.insert(first.record, (first.clone(), left, notes, is_planned));
            }
            Ok(Answer::Findings(_)) => {}
            Err(failure) => drop(self.failure.get_or_insert(failure)),
        }
    }
}

/// Reports what of the journal is not undone.
fn say_rest(report: &Report, others: &BTreeMap<&'static str, u64>, left: usize) {
    for (state, count) in others {
        report.status(&format!("not undone: {count} {state}"));
    }
    if left > 0 {
        let changes = if left == 1 { "1 change is".to_owned() } else { format!("{left} changes are") };
        report.status(&format!("{changes} left as the shop has it now"));
    }
}

/// Removes the records that were not applied as far as is known, and those that were noted by hand and are not in the
/// log.
fn only_done(gathered: Gathered) -> Gathered {
    let Gathered { groups, unusable, mut others } = gathered;
    let mut is_done = |member: &Member| {
        if !member.is_done {
            *others.entry(State::Unknown.name()).or_default() += 1;
        }
        member.is_done
    };
    let mut unusable: Vec<_> = unusable.into_iter().filter(|(member, _)| is_done(member)).collect();
    // A record that wrote nothing has nothing to undo.
    unusable.retain(|(member, _)| member.noted.was_sent || member.noted.is_by_hand);
    let done = groups.into_iter().filter_map(|(mut group, prepared)| {
        group.members.retain(|member| is_done(member));
        let by_hand = group.members.extract_if(.., |member| !member.is_known());
        unusable.extend(by_hand.map(|member| (member, BY_HAND.to_owned())));
        (!group.members.is_empty()).then_some((group, prepared))
    });
    let groups = done.collect();
    Gathered { groups, unusable, others }
}

/// Refuses records with tokens of their own: a plan is passed on to others, who apply it with their tokens.
fn refuse_tokens(groups: &[(Group, PreparedRecord)]) -> Result<(), Failure> {
    if groups.iter().all(|(_, prepared)| prepared.token_source == RecordToken::Shared) {
        return Ok(());
    }
    Err(Failure::usage("a plan holds no tokens, and the records have tokens of their own").hint(hint!(
        "undo each update with ",
        storefront("undo ID:LINE"),
        ", with the token of its customer"
    )))
}

/// Prints what becomes of a record; people only see what they need to know.
fn say(
    report: &Report,
    line: u64,
    key: Option<&str>,
    state: &'static str,
    left: &[String],
    notes: &[String],
) -> Result<(), Failure> {
    if report.is_json() {
        let row = json!({
            "line": line, "key": key, "state": state, "left": left, "notes": notes,
        });
        return report.json_line(&row);
    }
    let place = format!("{} {line}", report.place);
    for text in left.iter().chain(notes).map(|text| format!("{place}: {text}")) {
        report.stdout(report.stdout_style.wrapped(&sanitize_line(&text)) + "\n")?;
    }
    Ok(())
}
