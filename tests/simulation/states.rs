//! What has to happen in some worlds: a promise that is never in danger is not proven. The default run fails if one of these
//! states was never reached; with fewer seeds those that were not are listed.
//!
//! What a request, a disk or a person does is noted where it happens, with [`World::reach`]; what the ledger tells is found in
//! it when a world is over, below.

use std::time::Duration;

use super::action::{Action, RegionBy, Undo};
use super::call::Call;
use super::customers::{Writer, ids};
use super::faults::Observed;
use super::goods::Scope;
use super::world::{Effect, OutOfReach, Reported, Run, Sent, World};

macro_rules! states {
    ($($name:ident: $sentence:literal,)+) => {
        /// A state of a world.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum State {
            $(#[doc = $sentence] $name,)+
        }

        /// All of them, each with a sentence.
        pub const ALL: &[(State, &str)] = &[$((State::$name, $sentence),)+];
    };
}

states! {
    // Orders and products.
    OrderWorld: "orders were corrected",
    ProductWorld: "values of products were set",
    WriteVerified: "it was verified later whether a write is there",
    GoodsUndone: "a write to an order or a product was taken back",
    GoodsPlanned: "a plan for orders or products was applied",
    GoodsPlanOutdated: "a record of such a plan was refused because somebody had changed what it changes",
    GoodsBatchUndone: "a batch of corrections or values was undone by a plan",
    GoodsBatchLeft: "of such a batch something was left that was changed since",
    BatchVerified: "it was verified later whether a batch is there",
    BatchNotThere: "a batch was verified, and something of it was changed since",
    CommentCompleted: "a resumed batch added the comment that was missing",
    CommentLost: "a comment was not added, or nobody knows, and the address was saved",
    ValueOfView: "a value of one store view was set",
    SaleRefused: "a value of a store view was refused because a sale would begin",
    // The network.
    WriteLost: "a write was lost on its way, and nothing told the client",
    WriteUnanswered: "a write took effect, and its answer was lost",
    WriteLate: "a write took effect more than a minute after it was sent",
    WriteAfterEnd: "a write took effect after its run had ended",
    AnswerCut: "the answer to a write broke off in its middle",
    NoConnection: "a write found no connection",
    ToldToWait: "a write was told to come later with Retry-After",
    ReadToldToWait: "a read was told to come later",
    AcceptedOnly: "a write was answered with 202",
    PageForAnswer: "a write was answered with a page and the status 200",
    PageForRead: "a read was answered with a page",
    PutDoubled: "a PUT was doubled by a proxy, and both took effect",
    PostDoubled: "a POST was doubled by a proxy, and both took effect",
    TokenRefused: "a token was refused in the middle of a run",
    OutageSurvived: "a run was answered again after an outage",
    OutageStopped: "a batch was stopped by an outage, with records that were not sent",
    // What reads show.
    LaggingReplica: "a replica showed a profile as it was before a write of ours",
    OlderProfile: "a read older than a write of ours was told from a newer one",
    OtherCustomer: "a cache answered with the profile of another customer",
    NoAddresses: "a profile was read without its list of addresses",
    NotReadable: "a profile could not be read, and was replaced by a base",
    SlowLookup: "a shop took so long to list regions that the profile had to be read again",
    // The shop.
    AddressDropped: "the shop lost an address of a PUT",
    AddressesRenumbered: "the shop gave all addresses new ids",
    ValueRewritten: "the shop stored a value in its own notation",
    AddressRemovedByCall: "an address was removed by its own call",
    WriteRefused: "the shop refused a write",
    SavedAndRefused: "the shop saved a write and answered with a refusal",
    ErrorUnder200: "the shop answered with an error under the status 200",
    // Others.
    EditedBetween: "somebody changed a profile between the read and the PUT",
    EditedBefore: "somebody changed a profile that a run had read before its last read",
    AddressRemovedByOthers: "somebody removed an address that a record names",
    OthersDefault: "somebody chose another default address",
    CorrectedAfterUs: "somebody corrected a field that an update of ours had set",
    SameByOthers: "somebody did exactly what a lost request asked for",
    // The machine.
    DiedBeforeWrite: "a run died before it had written",
    DiedInFlight: "a run died while a write was in flight",
    DiedAtDisk: "a run died at a write to its disk",
    PowerLost: "the power failed, and something that was not synced was lost",
    TornLine: "a batch was resumed after a line of its journal was torn",
    DiskFull: "a write to the disk failed",
    DiskUnreadable: "a read of the disk failed",
    ClockForward: "a clock was set forward",
    ClockBack: "a clock was set back",
    TwoRuns: "two runs were under way at once on one machine",
    TwoMachines: "two machines updated one customer",
    LockWaited: "a run waited in vain for the lock of another one",
    // Signals.
    Signal: "a run was told to stop",
    SignalInFlight: "a signal came while a write was in flight",
    SignalInRead: "a signal came while only a read was waited for",
    SecondSignal: "a second signal came",
    // What was said.
    Partial: "the first call of a record was applied, and the second was not",
    Unknown: "a write was reported as unknown",
    Mismatch: "a read showed that something was lost, and it was reported",
    Verified: "an update was verified by a read",
    Unchanged: "a record had nothing to change",
    StillOpen: "an update was refused because an earlier one might still take effect",
    SentDespiteUnknown: "an update was sent although an earlier one was unknown, as a person had asked",
    AddedAfterLook: "an item whose addition was cut short was added again after somebody had looked",
    FoundApplied: "an unknown outcome was found out to be applied by a later run",
    DeletionRefused: "a deletion without permission was refused",
    // What was asked for.
    AddressRemoved: "an address was removed by its name",
    ListReplaced: "a list of addresses was replaced, and an address was deleted with permission",
    DefaultMoved: "a default address was moved",
    FieldCleared: "a field was cleared",
    OnlyBlanks: "an update changed nothing but blanks",
    RegionNamed: "a region was set by its code or its name",
    AttributeSet: "a custom attribute was set",
    Undone: "an update was undone",
    UndoneByName: "an update was undone",
    UndoneWhole: "a whole profile was restored",
    AddedAddressUndone: "a restore removed the address that an update had added",
    BatchUndone: "a batch was undone by a plan",
    BatchUndoneTwice: "a batch that was undone was to be undone again",
    EditedAfterBatch: "what a batch had written was changed by others before it was undone",
    EditedInUndo: "what a plan sets back was changed by others before it was applied",
    BatchAddressUndone: "a plan that undoes a batch removed an address which that had added",
    ManyWrites: "one customer was written more than twenty times within a minute",
    HistoryDeleted: "a history was deleted",
    HistoryChecked: "a history was looked through again",
    // Batches.
    Resumed: "a batch was resumed",
    DoneEarlier: "a resumed batch found a record that was done earlier",
    LaterOfKeyWaits: "a record was not sent because an earlier one of its key was unknown",
    InParts: "a batch was run in two parts",
    CopyRun: "a copy of an input was run under another name",
    WholeAfterPart: "the whole input was run after a part of it",
    Restarted: "a batch was started over",
    MarkedDone: "a person marked an unknown record as done",
    RetriedLine: "a person let an unknown record be sent again",
    EditedDuring: "an input was edited during a run",
    RenamedDuring: "an input was replaced by another file during a run",
    EditedBetweenRuns: "an input was edited between two runs",
    // Plans.
    Planned: "a plan was applied",
    PlanEdited: "an edited plan was refused",
    PlanOutdated: "a record of a plan was refused because its profile had changed",
    PlanCopied: "a copy of an applied plan was refused",
    PlanOnly: "one record of a plan was applied alone",
    PlanCut: "the journal of a plan lost its last lines",
}

/// The states that a world has been in, as its ledger tells.
pub fn find(world: &World) -> Vec<State> {
    let mut found = Vec::new();
    let mut note = |state, is_reached: bool| {
        if is_reached {
            found.push(state);
        }
    };
    note(State::ClockForward, !world.set_forward.is_empty());
    note(State::ClockBack, !world.set_back.is_empty());
    note(State::HistoryDeleted, !world.forgotten.is_empty());
    note(State::SameByOthers, world.out_of_reach.contains_key(&OutOfReach::Indistinguishable));
    let is_default = |path: &String| path.ends_with(super::customers::DEFAULT);
    note(State::OthersDefault, any_writers(world, |path, by| is_default(path) && has_foreign(by)));
    note(State::CorrectedAfterUs, any_writers(world, |_, by| is_corrected(by)));
    for (number, sent) in world.requests.iter().enumerate() {
        of_request(world, number, sent, &mut note);
    }
    for run in &world.runs {
        of_run(world, run, &mut note);
    }
    for effect in &world.effects {
        of_effect(world, effect, &mut note);
    }
    for said in &world.reported {
        of_report(world, said, &mut note);
    }
    found
}

/// Who wrote a field, and when, oldest first.
type Writers = Vec<(Writer, Duration)>;

fn any_writers(world: &World, is_it: impl Fn(&String, &Writers) -> bool) -> bool {
    world.customers.iter().any(|customer| customer.writers.iter().any(|(path, by)| is_it(path, by)))
}

fn has_foreign(by: &Writers) -> bool {
    by.iter().any(|(writer, _)| *writer == Writer::Foreign)
}

fn is_corrected(by: &Writers) -> bool {
    by.windows(2).any(|pair| matches!(pair, [(Writer::Ours(_), _), (Writer::Foreign, _)]))
}

fn of_request(world: &World, number: usize, sent: &Sent, note: &mut impl FnMut(State, bool)) {
    let (observed, is_write) = (sent.heard.as_ref().map(|heard| heard.observed), sent.call.is_write());
    let has_effect = world.effects.iter().any(|effect| effect.request == number);
    let is_lost = matches!(observed, Some(Observed::Silence | Observed::Reset));
    note(State::WriteLost, is_write && is_lost && sent.processed.is_none());
    note(State::WriteUnanswered, is_lost && has_effect);
    note(State::AnswerCut, is_write && observed == Some(Observed::Cut));
    note(State::NoConnection, is_write && observed == Some(Observed::Refused));
    note(State::ToldToWait, is_write && matches!(observed, Some(Observed::Status(429, Some(_)))));
    note(State::ReadToldToWait, !is_write && matches!(observed, Some(Observed::Status(429, Some(_)))));
    note(State::AcceptedOnly, is_write && matches!(observed, Some(Observed::Status(202, _))));
    note(State::PageForAnswer, is_write && observed == Some(Observed::Page(200)));
    note(State::PageForRead, !is_write && matches!(observed, Some(Observed::Page(_))));
    note(State::TokenRefused, observed == Some(Observed::Status(401, None)));
    note(State::NoAddresses, observed == Some(Observed::NoList));
    note(State::ErrorUnder200, matches!(observed, Some(Observed::Error(_))));
    note(State::SavedAndRefused, has_effect && matches!(observed, Some(Observed::Status(400..=501, None))));
    let status = sent.reply.as_ref().map(|(status, _)| *status);
    note(State::WriteRefused, is_write && observed == Some(Observed::Answer) && status == Some(400));
    note(State::NotReadable, has_effect && sent.replaces().is_some() && world.began_without_reads);
    let is_outage = |moment: Duration| {
        world.began_with_outage.is_some_and(|(from, until)| (from..until).contains(&moment))
    };
    let was_out = |other: &Sent| other.run == sent.run && is_outage(other.at);
    let is_answered = observed == Some(Observed::Answer) && !is_outage(sent.at);
    note(State::OutageSurvived, is_answered && world.requests[..number].iter().any(was_out));
    let Some(action) = sent.tag.and_then(|tag| world.actions.get(&tag)) else { return };
    if let Some(customer) = sent.profile_of().filter(|_| sent.heard.is_some() || has_effect) {
        note(State::AddressRemovedByOthers, !action.fits(&world.customers[customer].now));
    }
}

fn of_effect(world: &World, effect: &Effect, note: &mut impl FnMut(State, bool)) {
    let sent = &world.requests[effect.request];
    let run = &world.runs[sent.run];
    let is_put = sent.replaces().is_some();
    note(State::PutDoubled, effect.is_copy && is_put);
    note(State::PostDoubled, effect.is_copy && matches!(sent.call, Call::Item(_) | Call::Ship(_)));
    let late = effect.at.saturating_sub(sent.at);
    note(State::WriteLate, !effect.is_copy && late > Duration::from_secs(60));
    note(State::WriteAfterEnd, run.ended.is_some_and(|ended| effect.at > ended));
    note(State::ValueOfView, matches!(sent.call, Call::SetValues(Scope::View, _)));
    if matches!(sent.call, Call::Comment(_)) {
        let is_saved = |other: &Sent| {
            other.run == sent.run && other.tag == sent.tag && matches!(other.call, Call::SaveAddress(..))
        };
        note(State::CommentCompleted, !world.requests.iter().any(is_saved));
    }
    let action = sent.tag.and_then(|tag| world.actions.get(&tag));
    let is_back = matches!(action, Some(Action::Back(..)));
    note(State::GoodsUndone, is_back && !run.is_plan);
    note(State::GoodsBatchUndone, is_back && run.is_plan);
    note(State::GoodsPlanned, run.is_plan && !is_back && action.is_some_and(Action::is_of_goods));
    let Some(customer) = sent.replaces() else { return };
    let is_of_customer =
        |other: &&Effect| world.requests[other.request].replaces() == Some(customer) && !other.is_copy;
    let of_customer = || world.effects.iter().filter(is_of_customer);
    let until = effect.at + Duration::from_secs(60);
    let within = |other: &&Effect| (effect.at..until).contains(&other.at);
    note(State::ManyWrites, of_customer().filter(within).count() > 20);
    let machine = |other: &Effect| world.runs[world.requests[other.request].run].machine;
    note(State::TwoMachines, of_customer().any(|other| machine(other) != run.machine));
    if let Some(shown) = &sent.shown {
        let mut foreign = world.customers[customer].writers.values().flatten();
        let is_between =
            |(by, at): &(Writer, Duration)| *by == Writer::Foreign && (shown.at..effect.at).contains(at);
        note(State::EditedBetween, foreign.any(is_between));
    }
    if let Some(action) = action {
        of_action(world, sent, action, note);
    }
}

/// What a PUT that took effect was for.
fn of_action(world: &World, sent: &Sent, action: &Action, note: &mut impl FnMut(State, bool)) {
    match action {
        Action::Remove(..) => note(State::AddressRemoved, true),
        Action::Replace(_, _, Some(_)) => note(State::ListReplaced, true),
        Action::Default(_) => note(State::DefaultMoved, true),
        Action::Region(_, RegionBy::Code | RegionBy::Name) => note(State::RegionNamed, true),
        Action::Custom(..) => note(State::AttributeSet, true),
        Action::Set(_, _, value) => {
            note(State::FieldCleared, *value == "");
            note(State::OnlyBlanks, value.as_str().is_some_and(|text| text.trim() != text));
        }
        Action::Restore(undo) => {
            let batch = if let Undo::Batch(tags) = undo { Some(tags) } else { None };
            note(State::Undone, batch.is_none());
            note(State::BatchUndone, batch.is_some());
            note(State::UndoneByName, matches!(undo, Undo::Of(..)));
            note(State::UndoneWhole, matches!(undo, Undo::All(_)));
            let body = sent.body["customer"].as_object();
            let left_out = sent.shown.iter().flat_map(|shown| ids(&shown.profile));
            let is_gone = |id: i64| body.is_some_and(|body| !ids(body).contains(&id));
            note(State::AddedAddressUndone, batch.is_none() && left_out.into_iter().any(is_gone));
        }
        _ => {}
    }
    let run = &world.runs[sent.run];
    note(State::SentDespiteUnknown, run.may_repeat && world.healing_since.is_none_or(|at| run.began < at));
}

fn of_run(world: &World, run: &Run, note: &mut impl FnMut(State, bool)) {
    let Some(ended) = run.ended else { return };
    let is_own = |number: usize| std::ptr::eq(&raw const world.runs[number], run);
    let writes = || world.requests.iter().filter(|sent| sent.call.is_write() && is_own(sent.run));
    let has_died = run.code.is_none();
    let is_heard_by = |sent: &Sent, at: Duration| sent.heard.as_ref().is_some_and(|heard| heard.at <= at);
    note(State::DiedBeforeWrite, has_died && writes().next().is_none());
    note(State::DiedInFlight, has_died && writes().any(|sent| !is_heard_by(sent, ended)));
    if let Some(signalled) = run.signalled {
        let is_out = |sent: &Sent| sent.at < signalled && !is_heard_by(sent, signalled);
        note(State::SignalInFlight, writes().any(is_out));
    }
    let is_during = |other: &Run| {
        let is_other = !std::ptr::eq(other, run) && other.machine == run.machine;
        is_other && other.began < ended && other.ended.is_some_and(|until| until > run.began)
    };
    note(State::TwoRuns, world.runs.iter().any(is_during));
    note(State::Resumed, run.is_resumed && writes().next().is_some());
    let said = || world.reported.iter().filter(|said| is_own(said.run));
    let is_out = |sent: &Sent| world.began_with_outage.is_some_and(|(from, _)| sent.at >= from);
    let was_not_sent = said().any(|said| said.reason == "not sent");
    note(State::OutageStopped, was_not_sent && run.signalled.is_none() && writes().any(is_out));
    note(State::Planned, run.is_plan && writes().next().is_some());
    let is_read = |sent: &&Sent| is_own(sent.run) && matches!(sent.call, Call::Read(_));
    let reads: Vec<_> =
        world.requests.iter().filter(is_read).filter_map(|sent| sent.heard.as_ref()).collect();
    let last = reads.last().map_or(run.began, |heard| heard.at);
    let is_edited = |(by, at): &(Writer, Duration)| {
        *by == Writer::Foreign && reads.iter().any(|heard| heard.at < *at) && *at < last
    };
    note(State::EditedBefore, any_writers(world, |_, by| by.iter().any(is_edited)));
}

fn of_report(world: &World, said: &Reported, note: &mut impl FnMut(State, bool)) {
    let (run, action) = (&world.runs[said.run], world.actions.get(&said.tag));
    let kind = said.kind.as_deref();
    note(State::Partial, said.applied == "partial");
    note(State::Unknown, said.applied == "unknown");
    note(State::CommentLost, said.warned && said.applied == "yes");
    note(State::SaleRefused, kind == Some("guard") && said.reason.contains("has a special price"));
    note(State::Mismatch, kind == Some("mismatch"));
    note(State::Verified, said.verified == Some(true));
    note(State::Unchanged, said.reason == "unchanged");
    note(State::DoneEarlier, said.reason == "done earlier");
    note(State::OlderProfile, said.reason.contains("an older profile"));
    note(State::LockWaited, said.reason.contains("another storefront command has been writing"));
    note(State::StillOpen, kind == Some("guard") && said.reason.contains("still take effect"));
    let is_forbidden = matches!(action, Some(Action::Remove(_, false) | Action::Replace(_, _, None)));
    note(State::DeletionRefused, kind == Some("guard") && is_forbidden);
    let is_outdated = kind == Some("guard") && run.is_plan && said.reason.contains("plan");
    note(State::PlanOutdated, is_outdated);
    note(State::GoodsPlanOutdated, is_outdated && action.is_some_and(Action::is_of_goods));
    let was_unknown = |other: &Reported| {
        other.tag == said.tag && other.run < said.run && other.applied == "unknown" && said.applied == "yes"
    };
    let is_sent = |sent: &Sent| sent.run == said.run && sent.tag == Some(said.tag);
    let is_found = world.reported.iter().any(was_unknown) && !world.requests.iter().any(is_sent);
    note(State::FoundApplied, is_found);
    let customer = run.records.iter().find(|(tag, _)| *tag == said.tag).map(|(_, customer)| *customer);
    let is_earlier = |other: &Reported| {
        let is_of_key = run.records.iter().any(|(tag, of)| *tag == other.tag && Some(*of) == customer);
        other.run == said.run && other.tag < said.tag && is_of_key && other.applied == "unknown"
    };
    let is_held = said.applied == "no" && kind.is_some() && !world.requests.iter().any(is_sent);
    note(State::LaterOfKeyWaits, run.is_batch && is_held && world.reported.iter().any(is_earlier));
}
