//! The deletion guard: an address is deleted only when its deletion was asked for by name or number.

use crate::failure::Failure;
use crate::plan::profile::address_ids::join_ids;
use crate::plan::profile::patch::{AddressSummary, ProfilePatch};

/// Lets a deletion by omission pass only when the exact number was allowed; `--yes` is no such number. A deletion by
/// name passes when it is `confirmed`: by `--yes`, or because a person is asked next.
///
/// # Errors
/// `guard`, naming the addresses and the flag to add.
pub fn check(
    patch: &ProfilePatch,
    summary: &AddressSummary,
    allowed: Option<usize>,
    confirmed: bool,
) -> Result<(), Failure> {
    let deleted = summary.removed.len();
    if deleted == 0 || allowed == Some(deleted) {
        return Ok(());
    }
    if !patch.replace && allowed.is_none() {
        return if confirmed { Ok(()) } else { Err(unconfirmed(summary)) };
    }
    let which = join_ids(&summary.removed);
    let message = match allowed {
        None => format!("this would delete {}: {which}", count_addresses(deleted)),
        Some(allowed) => {
            format!(
                "this would delete {}: {which}, but --allow-delete is {allowed}",
                count_addresses(deleted)
            )
        }
    };
    Err(Failure::guard(message).hint(format!("to proceed, add --allow-delete {deleted}")))
}

fn unconfirmed(summary: &AddressSummary) -> Failure {
    let deleted = summary.removed.len();
    let which = join_ids(&summary.removed);
    Failure::guard(format!(
        "this would delete {}: {which}; confirmation required, but there is no terminal to ask on",
        count_addresses(deleted)
    ))
    .hint(format!("add --yes, or --allow-delete {deleted}"))
}

/// A count of addresses in words.
pub fn count_addresses(count: usize) -> String {
    if count == 1 { "1 address".to_owned() } else { format!("{count} addresses") }
}

#[cfg(test)]
mod tests {
    use crate::plan::profile::deletion_guard::check;
    use crate::plan::profile::patch::{AddressSummary, ProfilePatch};

    #[test]
    fn only_the_exact_number_opens_the_gate() {
        let patch = ProfilePatch { replace: true, ..ProfilePatch::default() };
        let summary = AddressSummary { removed: vec![3, 4], ..AddressSummary::default() };
        for refused in [None, Some(0), Some(1), Some(3)] {
            assert!(check(&patch, &summary, refused, true).is_err(), "{refused:?}");
        }
        assert!(check(&patch, &summary, Some(2), false).is_ok());
    }

    #[test]
    fn a_removal_by_name_needs_a_yes_or_its_number() {
        let patch = ProfilePatch { remove: vec![3], ..ProfilePatch::default() };
        let summary = AddressSummary { removed: vec![3], ..AddressSummary::default() };
        assert!(check(&patch, &summary, None, true).is_ok());
        assert!(check(&patch, &summary, None, false).is_err());
        assert!(check(&patch, &summary, Some(1), false).is_ok());
        assert!(check(&patch, &summary, Some(2), true).is_err());
    }
}
