//! How a write is taken back, whatever it changed: under the lock of its owner it is read and computed what leads back; a person
//! agrees; and it is sent.

use futures_util::future::LocalBoxFuture;

use super::found::Found;
use crate::client::service::Service;
use crate::ops::lock;
use crate::report::changes;
use crate::report::outcome::Outcome;
use crate::state::LockName;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::Success;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::Change;
use storefront_core::text::sanitize::sanitize_line;

/// What results call it.
pub const OPERATION: &str = "undo";

/// How many things it deletes that a person has agreed to.
pub type Allowed = Option<usize>;

/// What leads back, computed from what a read showed.
pub struct Back<'a> {
    /// What differs afterwards.
    pub changes: Vec<Change>,
    /// What is not taken back, in words.
    pub left: Vec<String>,
    /// What a person should know before.
    pub warnings: Vec<String>,
    /// What it deletes.
    pub deleted: Option<Deleted>,
    /// What a dry run shows.
    pub preview: Outcome,
    /// Sends it, once somebody waits for it.
    pub send: LocalBoxFuture<'a, Result<Outcome, Failure>>,
}

/// What an undo deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// How many things.
    pub count: usize,
    /// In words: `option Pink of color`.
    pub what: String,
    /// What no call shows of it, as a clause.
    pub unseen: Option<&'static str>,
}

/// What is to be taken back.
#[derive(Debug, Clone, Copy)]
pub struct Undoing<'n> {
    /// What the write is known by.
    pub name: &'n str,
    /// How many deletions were agreed to.
    pub allowed: Allowed,
}

/// Takes a write back. `plan` reads the owner, whose lock is held then; nobody waits for a person meanwhile. Without anything to
/// send it gives in words what is left.
///
/// # Errors
/// `guard` where nothing can be undone, and without the number of what is deleted; `partial` where a part is left; as `plan`, and
/// as the calls.
pub async fn take_back<'a>(
    service: &'a Service<'a>,
    undoing: Undoing<'_>,
    owner: &LockName,
    plan: impl AsyncFn() -> Result<Result<Back<'a>, Vec<String>>, Failure>,
) -> Result<Outcome, Failure> {
    let (session, name) = (service.session, undoing.name);
    let (is_dry_run, mut agreed) = (session.global.dry_run, None);
    loop {
        let lock =
            if is_dry_run { None } else { Some(lock(service, owner, service.settings.lock_timeout).await?) };
        let back = match plan().await? {
            Ok(back) => back,
            Err(left) => return unchanged_or_nothing(name, &left),
        };
        if agreed.is_none() {
            say_left(service, &back.left);
            back.warnings.iter().for_each(|warning| session.report.warn(warning));
        }
        if is_dry_run {
            return Ok(back.preview);
        }
        let asked = (back.changes, back.deleted);
        if agreed.as_ref() == Some(&asked) {
            return whole_or_part(name, &back.left, back.send.await?);
        }
        drop(lock);
        agree(service, undoing, &asked.0, asked.1.as_ref())?;
        agreed = Some(asked);
    }
}

/// Shows what goes back, and asks; what deletes needs its number where nobody can be asked.
///
/// # Errors
/// `guard` without an answer.
pub fn agree(
    service: &Service<'_>,
    Undoing { name, allowed }: Undoing<'_>,
    shown: &[Change],
    deleted: Option<&Deleted>,
) -> Result<(), Failure> {
    let (session, prompt) = (service.session, service.session.prompt());
    if !session.report.is_json() {
        session.report.stdout(changes::text(shown, session.report.stdout_style) + "\n")?;
    }
    let Some(Deleted { count, what, unseen }) = deleted else {
        return prompt.confirm_deletion(&format!("Undo write {name}?"));
    };
    if allowed.is_some_and(|allowed| allowed != *count) || allowed.is_none() && !prompt.can_ask() {
        let unseen = unseen.map(|unseen| format!("; {unseen}")).unwrap_or_default();
        return Err(Failure::guard(format!("undoing write {name} removes {what}{unseen}"))
            .hint(format!("add --allow-delete {count}")));
    }
    let unseen = unseen.map(|unseen| format!(" ({unseen})")).unwrap_or_default();
    prompt.confirm_deletion(&format!("Undo write {name}, which removes {what}{unseen}?"))
}

/// What the calls of an undo come to: `left` is what they did not take back.
///
/// # Errors
/// `partial` where that is something.
pub fn whole_or_part(name: &str, left: &[String], done: Outcome) -> Result<Outcome, Failure> {
    if !left.is_empty() {
        let message = format!("of write {name} a part is left: {}", left.join("; "));
        let applied = if done.applied == Applied::Yes { Applied::Partial } else { Applied::No };
        return Err(Failure::new(FailureKind::Partial, message).applied(applied));
    }
    let success = Some(Success { text: format!("Undid write {name}"), covers_response: true });
    Ok(Outcome { success, ..done })
}

/// Refuses a write of which it is not known whether it was applied.
///
/// # Errors
/// `guard`.
pub fn ensure_known(found: &Found) -> Result<(), Failure> {
    let is_unknown = |outcome: WriteOutcome| matches!(outcome, WriteOutcome::Unknown { .. });
    if found.writes.iter().any(|write| is_unknown(write.outcome)) {
        let name = found.name();
        return Err(Failure::guard(format!("the outcome of write {name} is unknown"))
            .hint(hint!(storefront("verify").arg(name), " looks for it, and notes it where it is there")));
    }
    Ok(())
}

/// Says what stays.
pub fn say_left(service: &Service<'_>, left: &[String]) {
    for one in left {
        service.session.report.status(&format!("left: {}", sanitize_line(one)));
    }
}

/// What an undo comes to that has nothing to send.
///
/// # Errors
/// `guard` where something is left.
pub fn unchanged_or_nothing(name: &str, left: &[String]) -> Result<Outcome, Failure> {
    if left.is_empty() { Ok(unchanged(name)) } else { Err(nothing(name, left)) }
}

/// Nothing can be undone.
pub fn nothing(name: &str, left: &[String]) -> Failure {
    let why = if left.is_empty() { "nothing of it was applied".to_owned() } else { left.join("; ") };
    Failure::guard(format!("nothing of write {name} can be undone: {why}")).for_good()
}

fn unchanged(name: &str) -> Outcome {
    let unchanged = Some(format!("write {name} is undone already"));
    Outcome { reason: Some("unchanged"), unchanged, ..Outcome::not_sent(OPERATION) }
}
