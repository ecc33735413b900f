//! Lists of lines or records as they are typed: `3,7-12`.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Lines of an input, or records of an array or a plan, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines(Vec<RangeInclusive<u64>>);

impl Lines {
    /// Whether this number is among them.
    pub fn contains(&self, line: u64) -> bool {
        self.0.iter().any(|range| range.contains(&line))
    }

    /// The parts of the list: single numbers and ranges.
    pub fn ranges(&self) -> &[RangeInclusive<u64>] {
        &self.0
    }

    /// A number that is in both lists.
    pub fn common(&self, other: &Self) -> Option<u64> {
        let starts = self.0.iter().chain(&other.0).map(RangeInclusive::start).copied();
        starts.into_iter().find(|start| self.contains(*start) && other.contains(*start))
    }
}

impl FromIterator<u64> for Lines {
    fn from_iter<T: IntoIterator<Item = u64>>(numbers: T) -> Self {
        Self(numbers.into_iter().map(|number| number..=number).collect())
    }
}

impl FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
        let range = |part: &str| match part.split_once('-') {
            Some((first, last)) => Some(number(first)?..=number(last)?).filter(|range| !range.is_empty()),
            None => number(part).map(|number| number..=number),
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        ranges.map(Self).ok_or_else(|| "expected numbers and ranges, e.g. 3,7-12".to_owned())
    }
}

impl Display for Lines {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let part = |range: &RangeInclusive<u64>| match (range.start(), range.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        };
        to.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn a_list_has_numbers_and_ranges() {
        let lines: Lines = "3, 7-12,20".parse().unwrap();
        let found: Vec<u64> = (1..=30).filter(|line| lines.contains(*line)).collect();
        assert_eq!(found, [3, 7, 8, 9, 10, 11, 12, 20]);
        assert_eq!(lines.to_string(), "3,7-12,20");
        for bad in ["", "0", "x", "3,", "7-", "-7", "12-7", "1-2-3", "3 7"] {
            assert!(bad.parse::<Lines>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn two_lists_have_a_number_in_common() {
        let lines = |text: &str| text.parse::<Lines>().unwrap();
        assert_eq!(lines("3,7-12").common(&lines("1-2,10-20")), Some(10));
        assert_eq!(lines("3,7-12").common(&lines("4-6,13")), None);
    }
}
