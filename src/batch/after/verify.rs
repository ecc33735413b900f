//! `verify` of a batch: whether what each record wrote is still there.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::look::{Answer, Finding, Task};
use super::{Follower, Gathered, Group, Member, follow, gather, run};
use crate::batch::listing::Listing;
use crate::batch::send::RunContext;
use crate::batch::undone;
use crate::client::Session;
use crate::journal::BY_HAND;
use crate::ops::Operation;
use crate::past::found::file_word;
use crate::past::state::StateSince;
use crate::report::ordered_results::OrderedResults;
use crate::report::style::time;
use crate::report::summary::count_records;
use crate::report::{Report, changes};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, HintCommand, hint, storefront};
use storefront_core::text::sanitize::sanitize_line;

/// Verifies the records of a journal that are done, unknown or mismatched.
///
/// # Errors
/// `partial` if something is not as it was written, `unknown` if something could not be compared, `unavailable` if it
/// could not be read; `usage` and `guard` for another input and another service.
pub async fn verify(
    session: &Session<'_>,
    listing: &Listing<'_>,
    operation: &dyn Operation,
    input: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(since) = undone::since(session, &listing.path, &listing.past) {
        session.report.status(&since);
    }
    let follower = Follower::new(operation, Task::Verify);
    follow(session, listing, input, &follower, async |shared| {
        let mut gathered = gather(shared, listing)?;
        leave_out_by_hand(&mut gathered);
        let undo = undo_command(listing);
        Verifying::new(shared.service.session.report, undo).run(shared, &follower, gathered).await
    })
    .await
}

/// Sets aside records that only people noted and the log does not have: nothing says what was written.
fn leave_out_by_hand(gathered: &mut Gathered) {
    let is_by_hand = |(group, _): &mut (Group, _)| group.members.iter().all(Member::is_by_hand_only);
    let noted: Vec<_> = gathered.groups.extract_if(.., is_by_hand).collect();
    let members = noted.into_iter().flat_map(|(group, _)| group.members);
    gathered.unusable.extend(members.map(|member| (member, BY_HAND.to_owned())));
}

/// What was found so far.
struct Verifying<'a> {
    report: &'a Report,
    results: OrderedResults,
    counts: BTreeMap<&'static str, u64>,
    /// How many records that are not as they were written were written less than a minute ago.
    recent: u64,
    /// The first failure of a read.
    failure: Option<Failure>,
    /// The command that plans how the batch is undone.
    undo: HintCommand,
    /// Whether something that the batch wrote is still there.
    is_left: bool,
}

/// The command that plans how the batch is undone.
fn undo_command(listing: &Listing<'_>) -> HintCommand {
    let known = listing.known_id().ok().flatten();
    storefront("undo").arg(known.unwrap_or_else(|| file_word(&listing.path)))
}

impl<'a> Verifying<'a> {
    fn new(report: &'a Report, undo: HintCommand) -> Self {
        let results = OrderedResults::new(report);
        Self { report, results, counts: BTreeMap::new(), recent: 0, failure: None, undo, is_left: false }
    }

    async fn run(
        mut self,
        shared: RunContext<'_>,
        follower: &Follower<'_>,
        gathered: Gathered,
    ) -> Result<(), Failure> {
        let Gathered { groups, unusable, others } = gathered;
        let all = groups.iter().flat_map(|(group, _)| &group.members);
        all.chain(unusable.iter().map(|(member, _)| member))
            .for_each(|member| self.results.begin(member.record));
        let subjects = groups.len();
        for (member, why) in unusable {
            self.add(&member, &not_known(&member, why))?;
        }
        let took = run::run(shared, follower, groups, |group, answer| self.answered(group, answer)).await?;
        self.results.close()?;
        let report = self.report;
        let total = self.counts.values().sum();
        let parts: Vec<String> = self.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        let reads = if subjects == 1 { "1 read".to_owned() } else { format!("{subjects} reads") };
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        report.status(&format!("verify: {}{parts}; {reads} ({})", count_records(total), time(took)));
        for (state, count) in others {
            report.status(&format!("not looked at: {count} {state}"));
        }
        if self.recent > 0 {
            let recent = count_records(self.recent);
            report.warn(&format!(
                "{recent} written less than a minute ago: a replica may show older values; verify again in a minute"
            ));
        }
        self.verdict(total)
    }

    fn verdict(self, total: u64) -> Result<(), Failure> {
        let count = |is: fn(&str) -> bool| -> u64 {
            self.counts.iter().filter(|(what, _)| is(what)).map(|(_, count)| count).sum()
        };
        let differing = count(|what| ["changed", "gone"].contains(&what));
        let total = count_records(total);
        if differing > 0 {
            let message = format!("{differing} of {total} not as written");
            let look = Hint::from("look at them in the shop");
            let plans =
                hint!(look.clone(), "; ", self.undo, " plans how to set back what is left of the batch");
            let hint = if self.is_left { plans } else { look };
            return Err(Failure::new(FailureKind::Partial, message).applied(Applied::No).hint(hint));
        }
        let untold = count(|what| !["there", "seen"].contains(&what));
        match self.failure {
            Some(failure) => {
                let message = format!("{untold} of {total} could not be read: {}", failure.message);
                Err(Failure { message, ..failure })
            }
            None if untold > 0 => {
                let message = format!("{untold} of {total} could not be compared");
                Err(Failure::new(FailureKind::Unknown, message).applied(Applied::No).hint("look in the shop"))
            }
            None => Ok(()),
        }
    }

    fn answered(&mut self, group: &Group, answer: Result<Answer, Failure>) -> Result<(), Failure> {
        let findings = match answer {
            Ok(Answer::Findings(findings)) => findings,
            Ok(Answer::WayBack(_)) => Vec::new(),
            Err(failure) => {
                let why = failure.message.clone();
                self.failure.get_or_insert(failure);
                let not_known = |member: &Member| not_known(member, why.clone());
                group.members.iter().map(not_known).collect()
            }
        };
        for member in &group.members {
            let finding = findings.iter().find(|finding| finding.record == member.record);
            let lost = || not_known(member, "it was not looked at".to_owned());
            self.add(member, &finding.cloned().unwrap_or_else(lost))?;
        }
        self.results.flush()
    }

    fn add(&mut self, member: &Member, finding: &Finding) -> Result<(), Failure> {
        let by_hand = Finding::of(member.record, StateSince::There);
        let (name, finding) =
            if member.is_by_hand_only() { (BY_HAND, &by_hand) } else { (finding.state.name(), finding) };
        *self.counts.entry(name).or_default() += 1;
        self.is_left |= finding.is_left;
        self.recent += u64::from(finding.is_recent && !finding.state.is_there());
        let text = if self.report.is_json() {
            self.results.object(&row(member, name, finding))
        } else {
            self.text(member, finding)
        };
        self.results.push(member.record, text)
    }

    /// What people read: nothing about a record that is as it was written.
    fn text(&self, member: &Member, finding: &Finding) -> String {
        let place = format!("{} {}", self.report.place, member.record);
        let line = |text: String| self.report.stdout_style.wrapped(&sanitize_line(&text)) + "\n";
        let name = finding.state.name();
        let why = finding.state.reason().map(|why| line(format!("{place}: {name}: {why}")));
        let zone = TimeZone::system();
        let taken = finding.taken.as_deref().and_then(|taken| taken.parse().ok());
        let written = taken.map(|taken| format!(" (written {})", changes::local(taken, &zone)));
        let written = written.unwrap_or_default();
        let each = finding.state.places().iter();
        let places = each.map(|since| line(format!("{place}: {name}{written}: {}", since.in_words())));
        let seen =
            (finding.state == StateSince::Seen).then(|| line(format!("{place}: seen: it took effect")));
        why.into_iter().chain(places).chain(seen).collect()
    }
}

/// A record that cannot be compared.
fn not_known(member: &Member, why: String) -> Finding {
    Finding::of(member.record, StateSince::NotComparable(why))
}

/// A record as programs read it.
fn row(member: &Member, state: &str, finding: &Finding) -> Value {
    json!({
        "line": member.record,
        "key": member.key,
        "state": state,
        "differences": finding.state.places(),
        "write": finding.write,
        "taken": finding.taken,
        "reason": finding.state.reason(),
    })
}
