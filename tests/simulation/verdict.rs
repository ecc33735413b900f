//! What a simulation came to.

use std::collections::BTreeMap;

use super::rules::{Rule, excuse, known};
use super::states::{self, State};
use super::world::{OutOfReach, World};

/// What a simulation, or many of them, came to.
#[derive(Debug, Default)]
pub struct Verdict {
    /// What was broken and is not known.
    pub violations: Vec<(Rule, String)>,
    /// What happened.
    pub trace: Vec<String>,
    /// Stands for everything that happened, to compare two simulations of one seed.
    pub fingerprint: u64,
    /// Worlds in which a known case was seen, by its name.
    pub known: BTreeMap<&'static str, u64>,
    /// What was out of reach.
    pub out_of_reach: BTreeMap<OutOfReach, u64>,
    /// Worlds in which something has happened, by its name.
    pub reached: BTreeMap<State, u64>,
    /// How often each rule had something to check.
    pub checked: BTreeMap<Rule, u64>,
    /// Requests that were sent.
    pub requests: u64,
    /// Runs of the program.
    pub runs: u64,
    /// Records that were reported as applied, as not applied, and as unknown.
    pub reported: [u64; 3],
}

impl Verdict {
    /// The verdict on a world that is over.
    pub fn of(world: &mut World) -> Self {
        let mut verdict = Self::default();
        for broken in std::mem::take(&mut world.broken) {
            if excuse::is_misled(world, &broken) {
                world.count(OutOfReach::Misled);
                continue;
            }
            match known::find(world, &broken) {
                Some(known) => drop(verdict.known.insert(known.name, 1)),
                None => verdict.violations.push((broken.rule, broken.what.clone())),
            }
        }
        let count = |applied| world.reported.iter().filter(|said| said.applied == applied).count() as u64;
        let mut fingerprint = storefront_core::text::hash::Fnv1a::default();
        for effect in &world.effects {
            fingerprint = fingerprint.update(format!("{:?}", (effect.at, effect.request)).as_bytes());
        }
        for reported in &world.reported {
            fingerprint = fingerprint.update(format!("{reported:?}").as_bytes());
        }
        Self {
            fingerprint: fingerprint.finish(),
            out_of_reach: world.out_of_reach.clone(),
            reached: world
                .reached
                .iter()
                .copied()
                .chain(states::find(world))
                .map(|state| (state, 1))
                .collect(),
            checked: world.checked.borrow().clone(),
            requests: world.requests.len() as u64,
            runs: world.runs.len() as u64,
            reported: [count("yes"), count("no"), count("unknown")],
            trace: std::mem::take(&mut world.trace),
            ..verdict
        }
    }

    /// Counts another one in.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.runs += other.runs;
        (0..3).for_each(|at| self.reported[at] += other.reported[at]);
        for (name, count) in &other.known {
            *self.known.entry(name).or_default() += count;
        }
        for (rule, count) in &other.checked {
            *self.checked.entry(*rule).or_default() += count;
        }
        for (state, count) in &other.reached {
            *self.reached.entry(*state).or_default() += count;
        }
        for (what, count) in &other.out_of_reach {
            *self.out_of_reach.entry(*what).or_default() += count;
        }
    }
}
