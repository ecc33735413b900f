//! The column `exported` of a sheet that was written from a shop's values. It says what each row had then: a row that
//! nobody has edited is not sent, and an edited row does not overwrite what others have changed since.
//!
//! A mark such as `xsb-ab…` is an `x`, an `s` and a `b` if the address was the default for shipping and for billing,
//! and after the dash, in the letters `a` to `p`, the number of columns, how many values are numbers that a spreadsheet
//! shortens, a hash of the values, and a hash of the shortened values. It is a word, which no spreadsheet changes.

use std::fmt;

use super::cells::{compared, value};
use crate::text::hash::Fnv1a;

/// Title of the column.
pub const EXPORTED: &str = "exported";

/// What a row had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Whether the address was the default, in the order of [`crate::profile::address::DEFAULTS`]: billing, shipping.
    pub defaults: [bool; 2],
    /// How many columns are compared.
    pub columns: u8,
    /// How many cells have leading zeros, a leading `+` or blanks between digits.
    losable: u8,
    values: u64,
    /// Hash of the values as they are when leading zeros, a leading `+` and blanks between digits are lost.
    without_loss: u32,
}

/// How a row was edited since it was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// Not at all.
    No,
    /// A spreadsheet shortened its numbers.
    ByLoss,
    /// Somebody edited it, or the shop has other values.
    Yes,
}

impl Mark {
    /// The mark of a row, from its cells with the titles of their columns in any order. Empty cells do not count: they
    /// cannot be told from missing columns.
    pub fn of<'a>(cells: impl Iterator<Item = (&'a str, &'a str)>, defaults: [bool; 2]) -> Self {
        let mut cells: Vec<(&str, String)> = cells.map(|(title, cell)| (title, compared(cell))).collect();
        cells.sort_unstable();
        let count = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        let losable = cells.iter().filter(|(_, cell)| after_loss(cell) != *cell).count();
        let mut values = Fnv1a::default();
        let mut without_loss = Fnv1a::default();
        for (title, cell) in cells.iter().filter(|(_, cell)| !cell.is_empty()) {
            values = add(values, title, cell);
            without_loss = add(without_loss, title, &after_loss(cell));
        }
        // Half of the hash is enough here.
        let without_loss = u32::try_from(without_loss.finish() & u64::from(u32::MAX)).unwrap_or_default();
        let columns = count(cells.len());
        let losable = count(losable);
        let values = values.finish();
        Self { defaults, columns, losable, values, without_loss }
    }

    /// Reads a cell.
    pub fn parse(cell: &str) -> Option<Self> {
        let cell = value(cell);
        let (flags, hashes) = cell.strip_prefix('x')?.split_once('-')?;
        let (shipping, flags) = flags.strip_prefix('s').map_or((false, flags), |rest| (true, rest));
        let (billing, flags) = flags.strip_prefix('b').map_or((false, flags), |rest| (true, rest));
        if !flags.is_empty() || hashes.len() != LETTERS {
            return None;
        }
        let (columns, hashes) = hashes.split_at_checked(2)?;
        let (losable, hashes) = hashes.split_at_checked(2)?;
        let (values, without_loss) = hashes.split_at_checked(16)?;
        Some(Self {
            defaults: [billing, shipping],
            columns: u8::try_from(number(columns)?).ok()?,
            losable: u8::try_from(number(losable)?).ok()?,
            values: number(values)?,
            without_loss: u32::try_from(number(without_loss)?).ok()?,
        })
    }

    /// How a row with this mark was edited, if it now has the values of `now`. Defaults are compared separately.
    pub fn compare(&self, now: &Self) -> Edited {
        match now {
            _ if self.values == now.values => Edited::No,
            _ if self.without_loss == now.without_loss && now.losable < self.losable => Edited::ByLoss,
            _ => Edited::Yes,
        }
    }
}

/// Letters after the dash.
const LETTERS: usize = 2 + 2 + 16 + 8;

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [billing, shipping] = self.defaults;
        let flags = [(shipping, 's'), (billing, 'b')].into_iter().filter(|(is_set, _)| *is_set);
        let flags: String = flags.map(|(_, letter)| letter).collect();
        let digits =
            format!("{:02x}{:02x}{:016x}{:08x}", self.columns, self.losable, self.values, self.without_loss);
        write!(f, "x{flags}-{}", digits.chars().filter_map(letter).collect::<String>())
    }
}

fn add(hash: Fnv1a, title: &str, cell: &str) -> Fnv1a {
    hash.update(title.as_bytes()).update(&[0]).update(cell.as_bytes()).update(&[0])
}

/// The letter of a hexadecimal digit.
fn letter(digit: char) -> Option<char> {
    char::from_digit(digit.to_digit(16)? + 10, 26 + 10)
}

fn number(letters: &str) -> Option<u64> {
    letters.chars().try_fold(0, |number: u64, letter| {
        let digit = letter.to_digit(26 + 10)?.checked_sub(10).filter(|digit| *digit < 16)?;
        Some(number << 4 | u64::from(digit))
    })
}

/// A number as a spreadsheet leaves it: without a leading `+`, leading zeros and blanks between its digits. Any other
/// text is unchanged.
pub fn after_loss(text: &str) -> String {
    let is_number = text.contains(|it: char| it.is_ascii_digit())
        && text.trim_start_matches('+').chars().all(|it| it.is_ascii_digit() || it.is_whitespace());
    if !is_number {
        return text.to_owned();
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number = digits.trim_start_matches('0');
    if number.is_empty() { "0".to_owned() } else { number.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Edited, Mark, after_loss};

    fn mark(cells: &[(&str, &str)]) -> Mark {
        Mark::of(cells.iter().copied(), [false, true])
    }

    #[test]
    fn a_mark_is_read_as_it_is_written_and_is_a_word() {
        let marks = [[false, false], [true, false], [false, true], [true, true]]
            .map(|defaults| Mark::of([("city", "Troy")].into_iter(), defaults));
        for (mark, start) in marks.iter().zip(["x-", "xb-", "xs-", "xsb-"]) {
            let text = mark.to_string();
            assert!(text.starts_with(start) && !text.contains(|it: char| it.is_ascii_digit()), "{text}");
            assert_eq!(Mark::parse(&text), Some(*mark));
        }
        let [long, wrong] = ["a", "z"].map(|letter| letter.repeat(28));
        for other in ["", "x", "xs", "x-", "xq-abc", "x-é", &format!("y-{long}"), &format!("x-{wrong}")] {
            assert_eq!(Mark::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_row_is_the_same_whatever_a_spreadsheet_writes_it_as() {
        let exported =
            mark(&[("city", "Troy"), ("postcode", "=\"02138\""), ("company", ""), ("fax", "=\"'1\"")]);
        assert_eq!(exported.columns, 4);
        let moved = [("postcode", "02138 "), ("fax", "'1"), ("city", "\u{a0}Troy"), ("company", "")];
        assert_eq!(exported.compare(&mark(&moved)), Edited::No);
        assert_eq!(exported.compare(&mark(&moved[..3])), Edited::No);
        let lost = mark(&[("postcode", "2138"), ("fax", "1"), ("city", "Troy")]);
        assert_eq!(exported.compare(&lost), Edited::ByLoss);
        // A zero that is put back is an edit.
        assert_eq!(lost.compare(&exported), Edited::Yes);
        for other in [
            [("postcode", "02139"), ("fax", "1"), ("city", "Troy")],
            [("city", "02138"), ("fax", "1"), ("postcode", "Troy")],
        ] {
            assert_eq!(exported.compare(&mark(&other)), Edited::Yes);
        }
    }

    #[test]
    fn only_numbers_lose_something() {
        for (text, left) in
            [("02138", "2138"), ("+1 212 555", "1212555"), ("00", "0"), ("7\u{202f}000", "7000")]
        {
            assert_eq!(after_loss(text), left);
        }
        for text in ["", "+", "12a", "1-2", "Troy", "0.5"] {
            assert_eq!(after_loss(text), text);
        }
    }
}
