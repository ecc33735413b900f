//! Our commands, as command lines.

use std::path::PathBuf;
use std::time::Duration;

use super::action::{Action, OF_VIEW};
use super::customers::Stored;
use super::input::{self, InputEdit};
use super::world::World;

/// An operation over records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `customer update`
    Update,
    /// `undo`
    Restore,
    /// `quote add-item`
    AddItem,
    /// `quote ship`
    Ship,
    /// `attribute create`
    Create,
    /// `attribute assign`
    Assign,
    /// `attribute option add`
    AddOptions,
    /// `order update`
    Correct,
    /// `product set`
    SetValue,
    /// `undo` of a write to an order or to a product
    TakeBack,
}

impl Operation {
    /// Whether its records are each of a customer.
    pub fn is_of_customer(self) -> bool {
        !matches!(self, Self::Create | Self::Assign) && !self.is_of_goods()
    }

    /// Whether its records are of orders or of products.
    pub fn is_of_goods(self) -> bool {
        matches!(self, Self::Correct | Self::SetValue | Self::TakeBack)
    }
}

/// Whose tokens the commands of a world have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The customers' own.
    Own,
    /// An administrator's, who names customers by their ids.
    Id,
    /// The same by their emails.
    Email,
}

/// A command of ours.
#[derive(Debug, Clone)]
pub struct Job {
    /// What it does.
    pub operation: Operation,
    /// Its records by their tags, each with its customer; a single command has one.
    pub records: Vec<(u32, usize)>,
    /// Whether it goes over many records.
    pub is_batch: bool,
    /// The file of its input, where it has one.
    pub input: PathBuf,
    /// `--jobs`
    pub jobs: u16,
    /// Which of the customer's tokens it has.
    pub token: usize,
    /// The machine it runs on.
    pub machine: usize,
    /// Whether the input is a plan, which is applied.
    pub is_plan: bool,
    /// Whether that plan was made with `--store-view`, which it is applied with.
    pub is_of_view: bool,
    /// `--verify`
    pub verifies: bool,
    /// The profile that is given with `--base`, and its file.
    pub base: Option<(PathBuf, Stored)>,
    /// What only some batches have.
    pub batch: BatchFlags,
}

/// What only some batches have.
#[derive(Debug, Clone, Default)]
pub struct BatchFlags {
    /// How its input is edited while it runs.
    pub edit: Option<InputEdit>,
    /// `--shard`: which part, and of how many.
    pub shard: Option<(u32, u32)>,
}

/// How a command is run this time.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// `--resume`
    pub resume: bool,
    /// `--retry-unknown`, or `--after-unknown` of a single command.
    pub repeat: bool,
    /// When it dies.
    pub death: Death,
    /// When the first signal comes: SIGINT, SIGTERM and SIGHUP are one to a run that listens to them.
    pub interrupt: Option<Duration>,
    /// How long after the first one the second signal comes.
    pub second: Option<Duration>,
    /// `--only`: this record of a plan.
    pub only: Option<usize>,
    /// `--restart`
    pub restart: bool,
    /// `--yes`, where the command itself has none: a refusal has asked for it.
    pub agrees: bool,
    /// `--mark-done` and `--retry-unknown` with these records, as bits: somebody has looked at them.
    pub settled: [u64; 2],
}

/// When a run dies.
#[derive(Debug, Clone, Copy, Default)]
pub enum Death {
    /// It does not.
    #[default]
    Never,
    /// After it was polled so often.
    Polls(u32),
    /// After this time.
    After(Duration),
    /// At this write to its disk.
    Write(u64),
}

/// A customer, as an administrator names it.
pub fn name(access: Access, customer: usize) -> String {
    let id = customer + 1;
    if access == Access::Id { id.to_string() } else { format!("c{id}@example.com") }
}

impl Job {
    /// Where the records of a batch stand in its input, with their hashes; none of a plan.
    pub fn places(&self) -> Vec<(usize, u64)> {
        let is_read = self.is_batch && !self.is_plan;
        if is_read { input::places(&std::fs::read_to_string(&self.input).unwrap()) } else { Vec::default() }
    }
}

fn add_settled(words: &mut Vec<String>, options: RunOptions) {
    for (flag, bits) in ["--mark-done", "--retry-unknown"].into_iter().zip(options.settled) {
        if bits > 0 {
            words.push(format!("{flag}={}", numbers(bits)));
        }
    }
}

/// The numbers, from 1, of the records whose bits are set.
fn numbers(bits: u64) -> String {
    let numbers = (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| (bit + 1).to_string());
    numbers.collect::<Vec<_>>().join(",")
}

impl Job {
    /// Its journal.
    pub fn journal(&self) -> PathBuf {
        let part = self.batch.shard.map(|(index, count)| format!(".{index}-{count}")).unwrap_or_default();
        format!("{}{part}.journal", self.input.display()).into()
    }

    /// Whether another one is the same command, whose input may have been edited since.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.records[0], self.batch.shard) == (other.records[0], other.batch.shard)
    }

    /// The words after the program's name, but for `--timeout` and `--retry`.
    pub fn words(&self, world: &World, access: Access, options: RunOptions) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut add = |more: &[&str]| words.extend(more.iter().map(|&word| word.to_owned()));
        if self.is_plan {
            add(&["apply", &self.input.to_string_lossy(), "--yes", "--jobs", &self.jobs.to_string()]);
            if self.is_of_view {
                add(&OF_VIEW);
            }
            if options.resume && options.repeat {
                add(&["--retry-unknown"]);
            }
            if let Some(only) = options.only {
                add(&["--only", &only.to_string()]);
            }
            add_settled(&mut words, options);
            return words;
        }
        let (tag, customer) = self.records[0];
        let action = &world.actions[&tag];
        add(match self.operation {
            Operation::Update => &["customer", "update"],
            Operation::Restore | Operation::TakeBack => &["undo"],
            Operation::AddItem => &["quote", "add-item"],
            Operation::Ship => &["quote", "ship"],
            Operation::Create => &["attribute", "create"],
            Operation::Assign => &["attribute", "assign"],
            Operation::AddOptions => &["attribute", "option", "add"],
            Operation::Correct => &["order", "update"],
            Operation::SetValue => &["product", "set"],
        });
        let is_of_profile = matches!(self.operation, Operation::Update | Operation::Restore);
        if self.is_batch {
            add(&["--jobs", &self.jobs.to_string()]);
        } else if access != Access::Own
            && self.operation.is_of_customer()
            && self.operation != Operation::Restore
        {
            add(&["--customer", &name(access, customer)]);
        }
        let flags = action.flags().or_else(|| action.flags_of_goods(customer));
        match flags.filter(|_| !self.is_batch) {
            Some(flags) => add(&flags.iter().map(String::as_str).collect::<Vec<_>>()),
            None => add(&["--input", &self.input.to_string_lossy()]),
        }
        if let Action::Replace(_, _, allowed) = action {
            add(&["--replace-addresses", "--yes"]);
            if let Some(allowed) = allowed {
                add(&["--allow-delete", &allowed.to_string()]);
            }
        }
        if self.verifies {
            add(&["--verify"]);
        }
        if let Some((file, _)) = &self.base {
            add(&["--base", &file.to_string_lossy()]);
            if !matches!(action, Action::Remove(..) | Action::Replace(..)) {
                add(&["--yes"]);
            }
        }
        if is_of_profile || self.operation.is_of_goods() {
            add(&["--lock-timeout", "4"]);
        }
        if options.restart {
            let is_agreed = matches!(action, Action::Replace(..));
            add(if is_agreed { &["--restart"] } else { &["--restart", "--yes"] });
        } else if options.resume {
            add(&["--resume"]);
            if options.agrees {
                add(&["--yes"]);
            }
        }
        if let Some((index, count)) = self.batch.shard.filter(|_| self.is_batch) {
            add(&["--shard", &format!("{index}/{count}")]);
        }
        match self.is_batch {
            true if options.resume && options.repeat => add(&["--retry-unknown"]),
            false if (is_of_profile || self.operation == Operation::TakeBack) && options.repeat => {
                add(&["--after-unknown"]);
            }
            _ => {}
        }
        add_settled(&mut words, options);
        words
    }
}
