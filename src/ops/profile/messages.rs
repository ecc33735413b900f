//! The messages about a replacement that was not applied as it was sent, or not at all.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::log::{PendingWrite, Replacement, WriteName};
use crate::ops::profile::read::list_paths;
use crate::report::changes;
use crate::report::changes::local_minute;
use crate::report::fields::format_value;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, HintCommand, hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::interface::dialect::Dialect;
use storefront_core::interface::request::Request;
use storefront_core::profile::address::join_ids;
use storefront_core::profile::diff::FieldChange;
use storefront_core::profile::magento;
use storefront_core::profile::merge::Merged;
use storefront_core::profile::path::FieldPath;
use storefront_core::profile::refusal::{self, Explained};
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::Verification;

/// A doubt that only a person may accept; it is a refusal if nobody can be asked.
#[derive(Debug, Clone)]
pub struct Doubt {
    /// The refusal.
    pub refusal: Failure,
    /// The question after its message.
    pub question: &'static str,
    /// The changes that it is about, to be shown before the question.
    pub about: Vec<FieldChange>,
}

impl Doubt {
    fn of(refusal: Failure) -> Self {
        Self { refusal, question: "Continue?", about: Vec::new() }
    }
}

/// The doubt about undoing an update that may not have taken effect.
pub fn may_not_be_applied(replacement: &Replacement) -> Doubt {
    let name = replacement.name();
    let named = named(replacement);
    let fact = format!("it is unknown whether {named} was saved, and the profile does not show it");
    let hint = hint!(storefront("verify").arg(name), " looks for it again; ", list());
    Doubt { refusal: Failure::guard(fact).hint(hint), question: "Undo it?", about: replacement.changes() }
}

/// An update by its id, what it changed, and when: `update 1042 (address 2: Postcode; 2026-11-21 22:04:11+01:00)`. It
/// states no age, because an accepted doubt is recognized by these words.
pub fn named(replacement: &Replacement) -> String {
    let taken = replacement.taken.parse();
    let taken =
        taken.map_or_else(|_| replacement.taken.clone(), |taken| changes::local(taken, &TimeZone::system()));
    let what = Some(changes::in_words(&replacement.changes())).filter(|text| !text.is_empty());
    format!("update {} ({}{taken})", replacement.name(), what.map(|text| text + "; ").unwrap_or_default())
}

/// The hint to the list of updates.
pub fn list() -> Hint {
    hint!(storefront("history"), " lists the writes")
}

/// A failure after calls of the same command that were applied, by their names; `write` is the id of the update. The
/// applied calls are named whatever ended the rest.
pub fn after_calls(failure: Failure, applied: &[String], write: WriteName) -> Failure {
    if applied.is_empty() {
        return failure;
    }
    let message = format!("{}; already applied: {}", failure.message, applied.join(", "));
    let failure = Failure { message, ..failure };
    // The hint of a mismatch names an undo already.
    if failure.kind == FailureKind::Mismatch {
        return failure;
    }
    let again = "run the command again to send what is left: an address that it removed counts as removed";
    let again = hint!(again, "; to undo what was applied, run ", restore(write));
    let hint = failure.hint.clone().map_or_else(Hint::default, |hint| hint.and("; ")).and(again);
    failure.hint(hint)
}

/// These addresses by their ids.
pub fn addresses(ids: &[AddressId]) -> String {
    format!("{} {}", if ids.len() == 1 { "address" } else { "addresses" }, join_ids(ids))
}

/// The refusal to build a PUT on a read that does not show what our own writes left, or, without such writes, what an
/// earlier read showed.
pub fn lags_behind(missing: &[String], was_updated: bool) -> Doubt {
    let missing = missing.join(", ");
    let (newer, cause) = if was_updated {
        ("the last update left", "somebody undid that update")
    } else {
        ("a read of the last minute", "somebody changed the profile")
    };
    let refusal =
        Failure::guard(format!("the service shows an older profile than {newer}: {missing}")).hint(hint!(
            "check it with ",
            storefront("customer show"),
            format!(", and try again in a minute: a replica may be behind, or {cause}")
        ));
    Doubt::of(refusal)
}

/// The refusal to send another replacement while an earlier one may still take effect; without `replacement` it is not known
/// what that one changed. A plan is not applied before then.
pub fn still_open(open: &PendingWrite, replacement: Option<&Replacement>, is_planned: bool) -> Doubt {
    let until = local_minute(open.until);
    let named = replacement.map(named);
    let what = match (&named, open.is_mismatch) {
        (None, _) => format!("update {} cannot be read", open.entry.name()),
        (Some(named), true) => format!("{named} was written, but is not visible"),
        (Some(named), false) => format!("it is unknown whether {named} was saved"),
    };
    let check = match (named.is_some(), is_planned) {
        (false, _) => Hint::default(),
        (true, false) => hint!("run ", verify(open.entry.name()), " to look again, "),
        (true, true) => hint!("run ", verify(open.entry.name()), " to look again, or "),
    };
    let at_once = if is_planned { "" } else { ", or continue now with --after-unknown" };
    let refusal = Failure::guard(format!("{what}: it may still take effect and overwrite this one"))
        .hint(check.and(format!("wait until {until}{at_once}")));
    Doubt { about: replacement.map(Replacement::changes).unwrap_or_default(), ..Doubt::of(refusal) }
}

/// Adds the fields that it is about to a refusal of the profile.
pub fn refused(service: &Service<'_>, stored: &Profile, merged: &Merged, failure: Failure) -> Failure {
    if !service.settings.dialect.names_refused_fields || failure.status != Some(400) {
        return failure;
    }
    let removes_by_call = service.target().is_ok_and(|target| {
        merged.summary.removed.first().is_some_and(|id| Request::remove_address(&target, *id).is_some())
    });
    match refusal::explain(stored.customer(), &merged.customer, &failure.message, removes_by_call) {
        Some(Explained { hint, is_stored }) => {
            let message = match service.write_ahead {
                // For a record of a batch, only the message is shown.
                Some(_) => format!("{}; {hint}", failure.message),
                None => failure.message,
            };
            Failure { message, is_of_stored: is_stored, ..failure }.hint(hint)
        }
        None => failure,
    }
}

/// The failure if the service applied it and something is missing.
pub fn mismatch(service: &Service<'_>, write: WriteName, verification: &Verification) -> Failure {
    let administrators = service.settings.dialect.administrators_fields;
    let hint =
        magento::ignored_on_own_profile(verification, administrators).filter(|_| service.customer.is_none());
    let mut what = lost(verification);
    let (removals, others): (Vec<FieldChange>, Vec<FieldChange>) =
        verification.undone.iter().cloned().partition(FieldChange::is_removal);
    let removals: Vec<AddressId> = removals.iter().filter_map(|change| change.path.address_id()).collect();
    if !removals.is_empty() {
        let verb = if removals.len() == 1 { "was" } else { "were" };
        what.push(format!("{} {verb} not removed", addresses(&removals)));
    }
    if !others.is_empty() {
        what.push(format!("not visible afterwards: {}", list_paths(&others)));
    }
    let undone = verification.undone.iter().map(|change| change.path.to_string());
    let missing = lost_paths(verification).chain(undone).collect();
    let failure =
        Failure::new(FailureKind::Mismatch, format!("the profile was written, but {}", what.join("; ")));
    let failure = failure.hint(hint.map_or_else(|| check_again(write), Hint::from));
    Failure { missing, write: Some(text(write)), ..failure }
}

/// The clauses about addresses that were to stay and are gone, or have become others.
fn lost(verification: &Verification) -> Vec<String> {
    let mut what = Vec::new();
    for (ids, problem) in [(&verification.missing, "missing"), (&verification.replaced, "another one")] {
        if let [_, others @ ..] = &ids[..] {
            let verb = if others.is_empty() { "is" } else { "are" };
            what.push(format!("{} {verb} {problem} afterwards", addresses(ids)));
        }
    }
    what
}

fn lost_paths(verification: &Verification) -> impl Iterator<Item = String> {
    let ids = verification.missing.iter().chain(&verification.replaced);
    ids.map(|id| FieldPath::address(*id).to_string())
}

/// The failure if the service applied it and answers with the profile of another customer.
pub fn other_customer(write: WriteName, id: &str) -> Failure {
    let message =
        format!("the profile was written, but the service then answered with that of customer {id}");
    let hint = hint!("check any cache in front of the service; ", check_again(write));
    let failure = Failure::new(FailureKind::Mismatch, message).hint(hint);
    Failure { write: Some(text(write)), ..failure }
}

/// The failure if the service refused it, and a read shows that it was saved, or that addresses are gone.
pub fn saved_though_refused(write: WriteName, verification: &Verification, refused: Failure) -> Failure {
    let saved = format!("refused, but saved: {}", refused.message);
    let what: Vec<String> = std::iter::once(saved).chain(lost(verification)).collect();
    let missing = lost_paths(verification).collect();
    let hint =
        hint!("look with ", storefront("customer show"), "; to undo what was saved, run ", restore(write));
    Failure {
        kind: FailureKind::Mismatch,
        applied: Applied::Unknown,
        message: what.join("; "),
        hint: Some(hint),
        missing,
        write: Some(text(write)),
        ..refused
    }
}

/// The failure if the service refused it, and it could not be read whether it was saved all the same.
pub fn refused_unread(write: WriteName, refused: Failure, unread: &Failure) -> Failure {
    let why = format!("whether it was saved all the same could not be read: {}", unread.message);
    refused_unknown(write, refused, &why)
}

/// The failure if the service refused it, and a read shows that addresses are gone, or values that are neither those
/// before nor those sent.
pub fn refused_altered(write: WriteName, refused: Failure, verification: &Verification) -> Failure {
    const SHOWN: usize = 4;
    let now = verification.altered.iter().take(SHOWN);
    let now = now.map(|change| format!("{} is {} now", change.path, format_value(change.after.as_ref())));
    let now: Vec<String> = lost(verification).into_iter().chain(now).collect();
    let why = format!("the profile is neither as before nor as it was to be: {}", now.join(", "));
    Failure { missing: lost_paths(verification).collect(), ..refused_unknown(write, refused, &why) }
}

fn refused_unknown(write: WriteName, refused: Failure, why: &str) -> Failure {
    let message = format!("{}; {why}", refused.message);
    let hint =
        hint!("look with ", storefront("customer show"), "; to undo what was saved, run ", restore(write));
    Failure { message, write: Some(text(write)), ..refused }.applied(Applied::Unknown).hint(hint)
}

fn check_again(write: WriteName) -> Hint {
    hint!(
        "look again with ",
        storefront("customer show"),
        "; if an address is still missing, restore the profile with ",
        restore(write)
    )
}

/// Why nothing proves that an update was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unproven {
    /// The service has no call that reads the profile.
    Unreadable,
    /// It changes nothing that a read could tell apart.
    NothingToShow,
    /// An old read would show the same.
    SetsBack,
    /// Reads do not show it.
    NotShown,
}

/// The failure if nobody knows whether it was applied. If the profile cannot be read, no command can find that out; if it
/// sets back an update of the last minute, none can yet.
pub fn unknown(
    write: WriteName,
    failure: Failure,
    unproven: Unproven,
    seen: Option<&Verification>,
) -> Failure {
    let history = storefront("history").arg(write.to_string());
    let look =
        hint!("look in the shop whether the change is there; ", history, " shows what was there before");
    let check = hint!(
        "do not send it again: it may be saved already, or within 10 minutes; check with ",
        storefront("customer show"),
        " and ",
        verify(write)
    );
    let check = hint!(check, "; undo it with ", restore(write));
    let (why, hint) = match unproven {
        Unproven::Unreadable => ("the profile cannot be read back to verify it", look),
        Unproven::NothingToShow => ("it changes nothing that a read could show", look),
        Unproven::SetsBack => {
            ("it sets back an update of the last minute, so that an old read would show the same", check)
        }
        Unproven::NotShown => ("reading back does not show that it was applied", check),
    };
    let lost = seen.map(lost).unwrap_or_default();
    let missing = seen.map(|seen| lost_paths(seen).collect()).unwrap_or_default();
    let message = lost
        .into_iter()
        .fold(format!("{}; {why}", failure.message), |message, lost| format!("{message}; {lost}"));
    let kind = FailureKind::Unknown;
    let applied = Applied::Unknown;
    Failure { kind, applied, message, hint: Some(hint), missing, write: Some(text(write)), ..failure }
}

/// The command that looks for a write again.
fn verify(write: WriteName) -> HintCommand {
    storefront("verify").arg(write.to_string())
}

/// The command that undoes it, with the flag, because the update itself may still take effect.
pub fn restore(write: WriteName) -> HintCommand {
    storefront("undo").arg(write.to_string()).arg("--after-unknown")
}

fn text(write: WriteName) -> Box<str> {
    write.to_string().into()
}

/// The warnings about what a read shows beside what was sent: new ids, and values that the service or somebody else
/// changed.
pub fn of_verification(
    verification: &Verification,
    merged: &Merged,
    before: &Map<String, Value>,
    dialect: &Dialect,
) -> Vec<String> {
    let renumbered = verification.renumbered.iter();
    let mut warnings: Vec<String> =
        renumbered.map(|(old, new)| format!("the service gave address {old} a new ID: {new}")).collect();
    warnings.extend(verification.doubles.iter().map(|(double, id)| {
        format!(
            "address {double} has the same values as the added address {id}: the service may have added it twice"
        )
    }));
    for change in &verification.foreign {
        let path = &change.path;
        let was = format_value(change.before.as_ref());
        let is = format_value(change.after.as_ref());
        warnings.push(if dialect.merges_profiles && magento::is_lost_default(change, before) {
            format!("{path} cleared: {was} is not one of the customer's addresses")
        } else {
            format!("{path} was also changed, from {was} to {is} (by the service or another editor)")
        });
    }
    for change in &verification.altered {
        let sent = merged.changes.iter().find(|sent| sent.path == change.path);
        let sent = format_value(sent.and_then(|sent| sent.after.as_ref()));
        let now = format_value(change.after.as_ref());
        warnings.push(format!("{}: sent {sent}, the service has {now}", change.path));
    }
    warnings
}
