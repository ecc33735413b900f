//! What a replacement that was not applied as it was sent is reported as.

use super::Replacement;
use crate::failure::{Applied, Failure, FailureKind};
use crate::http::Attempt;
use crate::ops::profile::read::list_changes;
use crate::plan::profile::address_ids::join_ids;
use crate::plan::profile::field_path::FieldPath;
use crate::plan::profile::profile_rules;
use crate::plan::profile::read_back::ReadBack;
use crate::plan::profile::unacceptable;
use crate::session::service::Service;
use crate::state::Mark;

impl Replacement<'_> {
    /// A refusal of the profile names the fields that it is about.
    pub(super) fn explained(&self, service: &Service<'_>, attempt: Attempt) -> Attempt {
        let Attempt::Rejected(failure) = attempt else { return attempt };
        if !service.settings.dialect.is_magento() || failure.status != Some(400) {
            return Attempt::Rejected(failure);
        }
        Attempt::Rejected(
            match unacceptable::explain(self.before.customer(), &self.merged.customer, &failure.message) {
                Some(hint) => failure.hint(hint),
                None => failure,
            },
        )
    }

    /// No attempt was applied, and none may have been, unless the failure says so.
    pub(super) fn failed(&self, service: &Service<'_>, failure: Failure, readable: bool) -> Failure {
        if failure.applied == Applied::Unknown {
            return if readable { self.unknown(failure) } else { self.unknown_without_read(failure) };
        }
        self.mark(service, Mark::Refused);
        failure
    }

    pub(super) fn mismatch(&self, service: &Service<'_>, found: &ReadBack, status: Option<u16>) -> Failure {
        let hint = if service.customer.is_none() && service.settings.dialect.is_magento() {
            profile_rules::ignored_on_own_profile(found)
        } else {
            None
        };
        let failure = Failure::new(
            FailureKind::Mismatch,
            format!("the profile was written, but {}", describe_missing(found)),
        )
        .hint(hint.unwrap_or_else(|| {
            let command = self.restore_command();
            // A restore sets back what was asked to change; an address was not.
            let then = if found.keeps_addresses() {
                format!("restore it with `{command}`")
            } else {
                format!("put the whole profile back with `{command} --all`, and make the change again")
            };
            format!("look again with `storefront customer show`; then, if it is so, {then}")
        }))
        .missing(missing_paths(found))
        .snapshot(self.snapshot.display().to_string());
        match status {
            Some(status) => failure.status(status),
            None => failure,
        }
    }

    fn unknown(&self, failure: Failure) -> Failure {
        let hint = format!(
            "look with `storefront customer show`; `storefront customer history --check` verifies it again; restore it with `{}`",
            self.restore_command()
        );
        Failure {
            kind: FailureKind::Unknown,
            applied: Applied::Unknown,
            message: format!("{}; reading back does not show that it was applied", failure.message),
            hint: Some(hint),
            ..failure
        }
        .snapshot(self.snapshot.display().to_string())
    }

    /// No command can find out what became of it: every one of them would read the profile.
    fn unknown_without_read(&self, failure: Failure) -> Failure {
        let snapshot = self.snapshot.display().to_string();
        let hint = format!(
            "look in the shop whether the change is there; `{snapshot}` contains the profile as it was before"
        );
        Failure {
            kind: FailureKind::Unknown,
            applied: Applied::Unknown,
            message: format!("{}; the profile cannot be read back to verify it", failure.message),
            hint: Some(hint),
            ..failure
        }
        .snapshot(snapshot)
    }

    fn restore_command(&self) -> String {
        let name = self.snapshot.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        format!("storefront customer restore {name}")
    }
}

fn describe_missing(found: &ReadBack) -> String {
    let mut what = Vec::new();
    for (ids, problem) in [
        (&found.missing, "is missing afterwards"),
        (&found.emptied, "is empty afterwards"),
        (&found.swapped, "reads like another one afterwards"),
    ] {
        if !ids.is_empty() {
            what.push(format!("address {} {problem}", join_ids(ids)));
        }
    }
    if !found.undone.is_empty() {
        what.push(format!("changes missing: {}", list_changes(&found.undone)));
    }
    what.join(", and ")
}

/// What is not there, by path.
fn missing_paths(found: &ReadBack) -> Vec<String> {
    let addresses = [&found.missing, &found.emptied, &found.swapped].into_iter().flatten();
    let addresses = addresses.map(|id| FieldPath::address(*id).to_string());
    addresses.chain(found.undone.iter().map(|change| change.path.to_string())).collect()
}
