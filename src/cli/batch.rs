//! Flags of a run over many records.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::journal::Shard;
use crate::journal::plan_file::Plan;

const HEADING: &str = "Batch options";

/// Flags of a run over many records; without such an input they are refused.
#[derive(Debug, Clone, Default, Args)]
pub struct BatchArgs {
    /// Records to process concurrently [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = HEADING)]
    pub jobs: Option<u16>,
    /// Maximum rate: N/s, N/m or N/h
    #[arg(long, value_name = "N/s", help_heading = HEADING)]
    pub rate: Option<Rate>,
    /// Journal file [default: INPUT.journal]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub journal: Option<PathBuf>,
    /// Resume from the journal, skipping completed records (starts one if missing)
    #[arg(long, help_heading = HEADING)]
    pub resume: bool,
    /// Discard the journal and process every record again
    #[arg(long, conflicts_with = "resume", help_heading = HEADING)]
    pub restart: bool,
    /// With --resume: also resend records whose outcome is unknown
    #[arg(long, requires = "resume", help_heading = HEADING)]
    pub retry_unknown: bool,
    /// Write permanently failed records to FILE in the input format, with a reason
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub failed: Option<PathBuf>,
    /// Stop at the first failure
    #[arg(long, help_heading = HEADING)]
    pub stop_on_error: bool,
    /// Report invalid records as failed instead of rejecting the whole input
    #[arg(long, help_heading = HEADING)]
    pub skip_invalid: bool,
    /// Process only shard I of N (from 0); records with the same key share a shard
    #[arg(long, value_name = "I/N", help_heading = HEADING)]
    pub shard: Option<Shard>,
    /// The plan whose records they are.
    #[arg(skip)]
    pub plan: Option<Plan>,
}

/// A limit on how many records are begun in a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Records a second, above 0.
    pub per_second: f64,
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = match unit {
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err("expected N, N/s, N/m or N/h".to_owned()),
        };
        let number: Option<f64> = number.parse().ok();
        number
            .filter(|number| number.is_finite() && *number > 0.0)
            .map(|number| Self { per_second: number / seconds })
            .ok_or_else(|| "expected a positive rate, e.g. 20/s".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;
    use crate::journal::Shard;

    #[test]
    fn rates_have_a_unit_of_time() {
        let rate = |text: &str| text.parse::<Rate>().map(|rate| rate.per_second);
        assert_eq!(
            (rate("20"), rate("20/s"), rate("30/m"), rate("36/h")),
            (Ok(20.0), Ok(20.0), Ok(0.5), Ok(0.01))
        );
        for bad in ["", "0", "-1", "x", "5/d", "inf", "NaN"] {
            assert!(rate(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn shards_count_from_zero() {
        assert_eq!("3/4".parse(), Ok(Shard { index: 3, count: 4 }));
        for bad in ["4/4", "0/0", "-1/2", "1", "a/b", ""] {
            assert!(bad.parse::<Shard>().is_err(), "{bad:?}");
        }
    }
}
