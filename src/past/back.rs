//! How a write is taken back, whatever it changed: under the lock of its owner the way back is computed from a read and sent. While a
//! person is asked, the lock is not held, and the way back is computed again after that.

use futures_util::future::LocalBoxFuture;

use super::found::Found;
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::ops::lock;
use crate::report::changes;
use crate::report::outcome::Outcome;
use crate::state::LockName;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::Success;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::{FieldChange, PlannedUndo};
use storefront_core::text::sanitize::sanitize_line;

/// Its name in results.
pub const OPERATION: &str = "undo";

/// How many deletions a person has agreed to.
pub type Allowed = Option<usize>;

/// Something that a write changed, from which the way back is computed.
pub trait Subject {
    /// The lock of its owner; `None` for a cart.
    fn lock(&self) -> Option<LockName>;

    /// Reads the owner, and computes the way back.
    ///
    /// # Errors
    /// As the reads.
    fn plan(&self) -> LocalBoxFuture<'_, Result<Plan<'_>, Failure>>;
}

/// How a write is undone.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    /// How many deletions were agreed to.
    pub allowed: Allowed,
    /// Whether all of a profile is restored.
    pub whole_profile: bool,
    /// How a profile is replaced.
    pub replacement: &'a ReplacementArgs,
}

/// The way back; or, if there is nothing to send, what is left in words, which is empty if all of it is undone already.
pub type Plan<'a> = Result<Back<'a>, Vec<String>>;

/// The way back, computed from what a read showed.
pub struct Back<'a> {
    /// The differences that it makes.
    pub changes: Vec<FieldChange>,
    /// What is not taken back, in words.
    pub left: Vec<String>,
    /// The warnings before it is sent.
    pub warnings: Vec<String>,
    /// What it deletes.
    pub deleted: Option<Deleted>,
    /// The result of a dry run.
    pub preview: Outcome,
    /// Sends it when awaited.
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

/// The way back from writes to one owner, in words for a plan.
#[derive(Debug, Default)]
pub struct Shown {
    /// The differences that it makes.
    pub changes: Vec<FieldChange>,
    /// What is not taken back.
    pub left: Vec<String>,
    /// The warnings before it is sent.
    pub warnings: Vec<String>,
    /// How many things it deletes.
    pub deletes: usize,
    /// What it deletes, in words.
    pub deleted: Option<String>,
}

impl Shown {
    /// Nothing can be taken back.
    pub fn left(left: Vec<String>) -> Self {
        Self { left, ..Self::default() }
    }

    /// The words of a plan.
    pub fn of(plan: Plan<'_>) -> Self {
        match plan {
            Ok(Back { changes, left, warnings, deleted, .. }) => {
                let deletes = deleted.as_ref().map_or(0, |deleted| deleted.count);
                Self { changes, left, warnings, deletes, deleted: deleted.map(|deleted| deleted.what) }
            }
            Err(left) => Self::left(left),
        }
    }
}

/// The write to take back.
#[derive(Debug, Clone, Copy)]
pub struct Undoing<'n> {
    /// The name of the write.
    pub name: &'n str,
    /// What was agreed to.
    pub agreed: Agreed<'n>,
}

/// What was agreed to.
#[derive(Debug, Clone, Copy)]
pub enum Agreed<'n> {
    /// This number of deletions; a person is asked.
    Deletions(Allowed),
    /// The contents of a plan.
    Planned(PlannedUndo<'n>),
}

/// Takes a write back. The way back is computed under the owner's lock, which is not held while a person is asked.
///
/// # Errors
/// `guard` if nothing can be undone, or the number of deletions was not given; `partial` if a part is left; as the plan,
/// and as the calls.
pub async fn take_back(
    service: &Service<'_>,
    undoing: Undoing<'_>,
    subject: &dyn Subject,
) -> Result<Outcome, Failure> {
    let session = service.session;
    let name = undoing.name;
    let is_dry_run = session.global.dry_run;
    let mut agreed = None;
    loop {
        let lock = match subject.lock().filter(|_| !is_dry_run) {
            Some(owner) => Some(lock(service, &owner, service.settings.lock_timeout).await?),
            None => None,
        };
        let back = match subject.plan().await? {
            Ok(back) => back,
            Err(left) => return unchanged_or_nothing(name, &left),
        };
        let allowed = match undoing.agreed {
            Agreed::Deletions(allowed) => allowed,
            Agreed::Planned(planned) => {
                planned.ensure(&back.changes, &back.left)?;
                return if is_dry_run { Ok(back.shown()) } else { Ok(undone(name, back.send.await?)) };
            }
        };
        if agreed.is_none() {
            say_left(service, &back.left);
            back.warnings.iter().for_each(|warning| session.report.warn(warning));
        }
        if is_dry_run {
            return Ok(back.shown());
        }
        let asked = (back.changes, back.deleted);
        if agreed.as_ref() == Some(&asked) {
            return whole_or_part(name, &back.left, back.send.await?);
        }
        drop(lock);
        agree(service, name, allowed, &asked.0, asked.1.as_ref())?;
        agreed = Some(asked);
    }
}

impl Back<'_> {
    /// The result of a dry run.
    fn shown(self) -> Outcome {
        let changes = Some(self.changes).filter(|_| self.preview.changed.is_none());
        Outcome { changes, ..self.preview }
    }
}

/// Shows what goes back, and asks. If nobody can be asked, deletions need their number.
///
/// # Errors
/// `guard` if nobody can be asked or the number is another one, [`Failure::cancelled`] by a no.
fn agree(
    service: &Service<'_>,
    name: &str,
    allowed: Allowed,
    shown: &[FieldChange],
    deleted: Option<&Deleted>,
) -> Result<(), Failure> {
    let session = service.session;
    let prompt = service.session.prompt();
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

/// The result of the calls of an undo; `left` is what they did not take back.
///
/// # Errors
/// `partial` if something is left.
pub fn whole_or_part(name: &str, left: &[String], done: Outcome) -> Result<Outcome, Failure> {
    if !left.is_empty() {
        let message = format!("of write {name} a part is left: {}", left.join("; "));
        let applied = if done.applied == Applied::Yes { Applied::Partial } else { Applied::No };
        return Err(Failure::new(FailureKind::Partial, message).applied(applied));
    }
    Ok(undone(name, done))
}

fn undone(name: &str, done: Outcome) -> Outcome {
    let success = Some(Success { text: format!("Undid write {name}"), covers_response: true });
    Outcome { success, ..done }
}

/// Refuses a write whose outcome is unknown.
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

/// Reports what stays.
fn say_left(service: &Service<'_>, left: &[String]) {
    for one in left {
        service.session.report.status(&format!("left: {}", sanitize_line(one)));
    }
}

/// The result of an undo that has nothing to send.
///
/// # Errors
/// `guard` if something is left.
pub fn unchanged_or_nothing(name: &str, left: &[String]) -> Result<Outcome, Failure> {
    if left.is_empty() { Ok(unchanged(name)) } else { Err(nothing(name, left)) }
}

/// The failure if nothing can be undone.
pub fn nothing(name: &str, left: &[String]) -> Failure {
    let why = if left.is_empty() { "nothing of it was applied".to_owned() } else { left.join("; ") };
    Failure::guard(format!("nothing of write {name} can be undone: {why}")).for_good()
}

fn unchanged(name: &str) -> Outcome {
    let unchanged = Some(format!("nothing of write {name} is left to undo"));
    Outcome { reason: Some("unchanged"), unchanged, ..Outcome::not_sent(OPERATION) }
}
