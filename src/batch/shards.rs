//! Which journals belong to which shards of an input.

use std::path::Path;

use crate::failure::Failure;
use crate::journal::partition::Shard;

/// Shards put together are the whole only when none is missing: the records of a missing one would be sent again.
///
/// # Errors
/// `guard` for a journal of another shard, or of some only.
pub fn check_shards(path: &Path, shards: &[Option<Shard>], ours: Option<Shard>) -> Result<(), Failure> {
    let complete = |of: u32| (0..of).all(|index| shards.contains(&Some(Shard { index, count: of })));
    let wrong = shards.iter().find_map(|theirs| match (theirs, ours) {
        (theirs, ours) if *theirs == ours => None,
        (Some(theirs), None) if complete(theirs.count) => None,
        (Some(theirs), None) => Some(incomplete(shards, theirs.count)),
        (Some(theirs), Some(ours)) => Some(format!("belongs to shard {theirs}, expected {ours}")),
        (None, Some(ours)) => Some(format!("covers the whole input, expected shard {ours}")),
        (None, None) => None,
    });
    wrong.map_or(Ok(()), |what| {
        Err(Failure::guard(format!("journal `{}` {what}", path.display()))
            .hint("select the right journal with --journal, or use --restart"))
    })
}

/// Which shards of a division there are, and which are missing.
fn incomplete(shards: &[Option<Shard>], count: u32) -> String {
    const SHOWN: usize = 10;
    let list = |is_there: bool| {
        let all = (0..count).map(|index| Shard { index, count });
        let these: Vec<_> = all.filter(|shard| shards.contains(&Some(*shard)) == is_there).collect();
        let mut names: Vec<_> = these.iter().take(SHOWN).map(ToString::to_string).collect();
        if these.len() > SHOWN {
            names.push(format!("{} more", these.len() - SHOWN));
        }
        format!("shard{} {}", if these.len() == 1 { "" } else { "s" }, names.join(", "))
    };
    format!("covers only {}; missing: {}", list(true), list(false))
}

/// Whether these are other parts of the same division as ours.
pub fn is_other_part(shards: &[Option<Shard>], ours: Option<Shard>) -> bool {
    let Some(ours) = ours else { return false };
    shards
        .iter()
        .all(|theirs| theirs.is_some_and(|theirs| theirs.count == ours.count && theirs.index != ours.index))
}

/// Whether a file name is that of a journal of the input `input`.
pub fn is_journal_of(input: &str, name: &str) -> bool {
    let Some(middle) = name.strip_prefix(input).and_then(|rest| rest.strip_suffix(".journal")) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    middle.is_empty()
        || middle
            .strip_prefix('.')
            .and_then(|shard| shard.split_once('-'))
            .is_some_and(|(index, of)| is_number(index) && is_number(of))
}

#[cfg(test)]
mod tests {
    use super::is_journal_of;

    #[test]
    fn journals_of_an_input_are_told_by_their_names() {
        for name in ["a.csv.journal", "a.csv.0-4.journal", "a.csv.12-100.journal"] {
            assert!(is_journal_of("a.csv", name), "{name}");
        }
        for name in [
            "a.csv",
            "b.csv.journal",
            "a.csv.x-4.journal",
            "a.csv.04.journal",
            "a.csv.bak.journal",
            "a.csv.-.journal",
        ] {
            assert!(!is_journal_of("a.csv", name), "{name}");
        }
    }
}
