//! The deletion gate: an address is deleted only when its deletion was spelled out.

use crate::failure::Failure;
use crate::plan::profile::address_ids::listed;
use crate::plan::profile::patch::{Tally, Wish};

/// Lets a deletion by omission pass only when the exact number was allowed; `--yes` is no such number. A deletion by
/// name passes when it is `confirmed`: by `--yes`, or because a person is asked next.
///
/// # Errors
/// `guard`, naming the addresses and the flag to add.
pub fn deletions(wish: &Wish, tally: &Tally, allowed: Option<usize>, confirmed: bool) -> Result<(), Failure> {
    let deleted = tally.removed.len();
    if deleted == 0 || allowed == Some(deleted) {
        return Ok(());
    }
    if !wish.replace && allowed.is_none() {
        return if confirmed { Ok(()) } else { Err(unconfirmed(tally)) };
    }
    let which = listed(&tally.removed);
    let message = match allowed {
        None => format!("this would delete {}: {which}", addresses(deleted)),
        Some(allowed) => {
            format!("this would delete {}: {which}, but --allow-delete says {allowed}", addresses(deleted))
        }
    };
    Err(Failure::guard(message).hint(format!("if that is meant, add --allow-delete {deleted}")))
}

fn unconfirmed(tally: &Tally) -> Failure {
    let deleted = tally.removed.len();
    let which = listed(&tally.removed);
    Failure::guard(format!(
        "this deletes {}: {which}, and nobody can be asked to confirm it",
        addresses(deleted)
    ))
    .hint(format!("add --yes, or --allow-delete {deleted}"))
}

/// A count of addresses in words.
pub fn addresses(count: usize) -> String {
    if count == 1 { "1 address".to_owned() } else { format!("{count} addresses") }
}

#[cfg(test)]
mod tests {
    use super::deletions;
    use crate::plan::profile::patch::{Tally, Wish};

    #[test]
    fn only_the_exact_number_opens_the_gate() {
        let wish = Wish { replace: true, ..Wish::default() };
        let tally = Tally { removed: vec![3, 4], ..Tally::default() };
        for refused in [None, Some(0), Some(1), Some(3)] {
            assert!(deletions(&wish, &tally, refused, true).is_err(), "{refused:?}");
        }
        assert!(deletions(&wish, &tally, Some(2), false).is_ok());
    }

    #[test]
    fn a_removal_by_name_needs_a_yes_or_its_number() {
        let wish = Wish { remove: vec![3], ..Wish::default() };
        let tally = Tally { removed: vec![3], ..Tally::default() };
        assert!(deletions(&wish, &tally, None, true).is_ok());
        assert!(deletions(&wish, &tally, None, false).is_err());
        assert!(deletions(&wish, &tally, Some(1), false).is_ok());
        assert!(deletions(&wish, &tally, Some(2), true).is_err());
    }
}
