//! What a run said, and whether that is true of the database.

use std::fmt;

use serde_json::Value;

use crate::support::storefront::Outcome;

/// How the database differs after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing changed.
    Nothing,
    /// It is as after a run without a fault.
    Everything,
    /// Neither.
    Other,
}

/// What the run said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub code: i32,
    /// `yes`, `no`, `partial`, `unknown`; empty where it said nothing that can be read.
    pub applied: String,
}

impl Said {
    /// The result object on standard output, where there is one, else the error object.
    pub fn of(outcome: &Outcome) -> Self {
        let object = |text: &str| serde_json::from_str::<Value>(text).ok();
        let result = outcome.stdout.lines().next().and_then(object);
        let error = outcome.stderr.lines().last().and_then(object).map(|line| line["error"].clone());
        let applied =
            [result, error].into_iter().flatten().find_map(|said| Some(said["applied"].as_str()?.to_owned()));
        Self { code: outcome.code, applied: applied.unwrap_or_default() }
    }
}

/// A way not to be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untruth {
    /// It says that nothing was changed, and something was.
    No,
    /// It says that it was done, and nothing was.
    Yes,
    /// It says that it was done, and something else was changed, too, or less.
    YesWithLosses,
    /// It says that a part was done, and all of it or nothing was.
    Partial,
    /// It says that nobody knows, and a look could tell.
    Unknown,
    /// The exit code says something else.
    Code,
    /// It says nothing that can be read.
    Silent,
}

impl fmt::Display for Untruth {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::No => "no, but changed",
            Self::Yes => "yes, but unchanged",
            Self::YesWithLosses => "yes, but not only that",
            Self::Partial => "partial, but whole or nothing",
            Self::Unknown => "unknown, but visible",
            Self::Code => "another exit code",
            Self::Silent => "no report",
        })
    }
}

/// What is untrue of it. `is_open` says whether no look could tell, so that it may be unknown.
pub fn judge(effect: Effect, said: &Said, is_open: bool) -> Option<Untruth> {
    let is_mismatch = said.code == 9;
    let is_interrupted = said.code == 130;
    match (effect, said.applied.as_str()) {
        // It was ended by the signal itself, before it sent anything.
        (Effect::Nothing, "") if said.code == -1 => None,
        (_, "") => Some(Untruth::Silent),
        (Effect::Nothing, "no") if said.code == 0 => Some(Untruth::Code),
        (Effect::Nothing, "no") => (said.code == 8 || is_mismatch).then_some(Untruth::Code),
        (_, "no") => Some(Untruth::No),
        (Effect::Nothing, "yes") if !is_mismatch => Some(Untruth::Yes),
        (Effect::Other, "yes") if !is_mismatch => Some(Untruth::YesWithLosses),
        (_, "yes") => (![0, 9].contains(&said.code) && !is_interrupted).then_some(Untruth::Code),
        (Effect::Nothing | Effect::Everything, "partial") => Some(Untruth::Partial),
        (Effect::Other, "partial") => (said.code == 0).then_some(Untruth::Code),
        _ if said.code == 0 => Some(Untruth::Code),
        _ => (!is_open && !is_mismatch).then_some(Untruth::Unknown),
    }
}
