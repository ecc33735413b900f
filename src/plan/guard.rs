//! The deletion gate: an address is deleted only when its deletion was spelled out.

use super::merge::{Tally, Wish};
use super::roster::listed;
use crate::failure::Failure;

/// How many addresses a wish deletes by leaving them out, rather than by naming them.
pub fn left_out(wish: &Wish, tally: &Tally) -> usize {
    if wish.replace { tally.removed.len() } else { 0 }
}

/// Lets a deletion by omission pass only when the exact number was allowed. `--yes` is no such number.
///
/// # Errors
/// `guard`, naming the addresses and the flag to add.
pub fn deletions(wish: &Wish, tally: &Tally, allowed: Option<usize>) -> Result<(), Failure> {
    let deleted = left_out(wish, tally);
    if deleted == 0 || allowed == Some(deleted) {
        return Ok(());
    }
    let which = listed(&tally.removed);
    let message = match allowed {
        None => format!("this would delete {}: {which}; nothing was written", addresses(deleted)),
        Some(allowed) => format!(
            "this would delete {}: {which}, but --allow-delete says {allowed}; nothing was written",
            addresses(deleted)
        ),
    };
    Err(Failure::guard(message).hint(format!("if that is meant, add --allow-delete {deleted}")))
}

/// A count of addresses in words.
pub fn addresses(count: usize) -> String {
    if count == 1 { "1 address".to_owned() } else { format!("{count} addresses") }
}

#[cfg(test)]
mod tests {
    use super::deletions;
    use crate::plan::merge::{Tally, Wish};

    #[test]
    fn only_the_exact_number_opens_the_gate() {
        let wish = Wish { replace: true, ..Wish::default() };
        let tally = Tally { removed: vec![3, 4], ..Tally::default() };
        for refused in [None, Some(0), Some(1), Some(3)] {
            assert!(deletions(&wish, &tally, refused).is_err(), "{refused:?}");
        }
        assert!(deletions(&wish, &tally, Some(2)).is_ok());
    }

    #[test]
    fn a_removal_by_name_is_enough() {
        let wish = Wish { remove: vec![3], ..Wish::default() };
        assert!(deletions(&wish, &Tally { removed: vec![3], ..Tally::default() }, None).is_ok());
    }
}
