//! The problems of an input of many records: all of them are counted, the first are kept to be shown.

use crate::failure::Failure;

/// Bad records, as they are found.
#[derive(Debug, Default)]
pub struct Problems {
    first: Vec<String>,
    count: usize,
}

/// A number of cells in words.
pub fn count_cells(number: usize) -> String {
    if number == 1 { "1 cell".to_owned() } else { format!("{number} cells") }
}

/// How many are kept: under `-o json` all of them are shown, but a file of ten million records may have as many.
const MAX_KEPT: usize = 1000;

impl Problems {
    /// Notes why a record cannot be sent.
    pub fn add(&mut self, failure: &Failure) {
        self.count += 1;
        if self.first.len() < MAX_KEPT {
            self.first.push(failure.message.clone());
        }
    }

    /// How many records cannot be sent.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Refuses the input, if a record cannot be sent.
    ///
    /// # Errors
    /// `usage`, with the first problems and how many more there are.
    pub fn refuse(self) -> Result<(), Failure> {
        let beyond = self.count - self.first.len();
        if self.count == 0 {
            return Ok(());
        }
        let mut failure = Failure::usage_problems(self.first);
        if beyond > 0 {
            let (shown, _) = failure.message.rsplit_once('\n').unwrap_or((&failure.message, ""));
            failure.message = format!("{shown}\n  and {} more", self.count - shown.lines().count());
        }
        Err(failure.hint("fix the records and try again; --skip-invalid sends the others"))
    }
}

#[cfg(test)]
mod tests {
    use super::Problems;
    use crate::failure::Failure;

    #[test]
    fn the_first_are_shown_and_all_are_counted() {
        let refused = |count: usize| {
            let mut problems = Problems::default();
            (1..=count).for_each(|line| problems.add(&Failure::usage(format!("line {line}"))));
            problems.refuse().map_err(|failure| failure.message)
        };
        assert_eq!(refused(0), Ok(()));
        assert_eq!(refused(2), Err("line 1\n  line 2".to_owned()));
        for (count, more) in [(23, "and 3 more"), (5000, "and 4980 more")] {
            let message = refused(count).unwrap_err();
            assert!(message.ends_with(more) && message.lines().count() == 21, "{message}");
        }
    }
}
