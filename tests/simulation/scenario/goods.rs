//! Worlds of orders and of products: they are corrected and set, one by one and in batches, while colleagues write beside; at a
//! later time it is verified what was written, and taken back.

use std::collections::{BTreeMap, HashSet};

use super::Scenario;
use crate::action::{Action, Back, GoodsKind};
use crate::editors::Edit;
use crate::goods::{Scope, Side, attributes};
use crate::job::{Access, Job, Operation};
use crate::machine::RunEnd;
use crate::rules::{goods, looked};
use crate::setting::{Mode, Setting};
use crate::states::State;
use crate::world::Reported;

/// Of so many hundred worlds in which they can be one is about orders, and one about products.
const PERCENT: u64 = 15;

impl Setting {
    /// What this world is about besides profiles; it is a Magento shop with an administrator's token then.
    pub fn goods(&mut self, random: &mut crate::random::Random) -> Option<GoodsKind> {
        let is_fit = matches!(self.mode, Mode::Ordinary | Mode::Calm | Mode::Replicas | Mode::Misreported);
        if !is_fit || !random.chance(PERCENT) {
            return None;
        }
        (self.is_magento, self.access) = (true, Access::Id);
        Some(random.pick(&[GoodsKind::Orders, GoodsKind::Products]))
    }
}

impl Scenario {
    /// Corrections or values, and what is made of them later.
    pub async fn goods(&mut self, kind: GoodsKind) {
        {
            let mut world = self.world.borrow_mut();
            for (code, shown) in attributes() {
                world.attributes.insert(code.to_owned(), shown.as_object().unwrap().clone());
                world.assigned.insert(code.to_owned());
            }
            world.reach(if kind == GoodsKind::Orders { State::OrderWorld } else { State::ProductWorld });
        }
        if self.extra.chance(30) {
            return self.goods_reviewed(kind).await;
        }
        let first = self.goods_job(kind, 0);
        self.edit_goods(kind);
        let second = (!self.random.chance(30)).then(|| self.goods_job(kind, 1));
        match second {
            Some(second) if self.random.chance(25) => self.at_once(&first, &second).await,
            second => {
                if !self.in_parts(&first).await {
                    self.with_restarts(&first).await;
                }
                if let Some(second) = second {
                    self.pause().await;
                    self.with_restarts(&second).await;
                }
            }
        }
        if let Some(batch) = self.batch_of_goods().filter(|_| self.extra.chance(60)) {
            self.undo_batch(&batch).await;
        }
        for _ in 0..self.random.below(3) {
            self.pause().await;
            let Some((written, machine)) = self.written() else { return };
            if self.random.chance(50) {
                self.verify_write(&written, machine).await;
            } else {
                self.take_back(kind, &written, machine).await;
            }
        }
    }

    /// A command about orders or products, with one record or a batch.
    fn goods_job(&mut self, kind: GoodsKind, number: usize) -> Job {
        let operation = if kind == GoodsKind::Orders { Operation::Correct } else { Operation::SetValue };
        if self.random.chance(55) {
            let record = self.goods_record(operation, true);
            return self.single(operation, record, number);
        }
        self.goods_batch(operation, number)
    }

    fn goods_batch(&mut self, operation: Operation, number: usize) -> Job {
        let count = 2 + self.random.below(3);
        let mut places = HashSet::new();
        let mut records: Vec<(u32, usize)> =
            (0..count).map(|_| self.goods_record(operation, false)).collect();
        if let Some(record) = self.translated(&records) {
            records.push(record);
        }
        {
            let world = self.world.borrow();
            records.retain(|(tag, number)| places.insert((*number, world.actions[tag].place())));
            // The value for all stands before those of store views.
            records.sort_by_key(|(tag, _)| matches!(world.actions[tag], Action::Value(Scope::View, ..)));
        }
        self.batch_of(operation, records, number)
    }

    /// Corrections or values that are planned, and applied while colleagues edit; the day after they are verified and undone.
    async fn goods_reviewed(&mut self, kind: GoodsKind) {
        let operation = if kind == GoodsKind::Orders { Operation::Correct } else { Operation::SetValue };
        let prepared = if self.extra.chance(15) {
            let record = self.goods_record(operation, true);
            self.single(operation, record, 0)
        } else {
            self.goods_batch(operation, 0)
        };
        self.edit_goods(kind);
        self.apply_reviewed(prepared).await;
    }

    /// A batch of orders or products of which all was sent by one command.
    pub fn batch_of_goods(&self) -> Option<Job> {
        let is_fit = |job: &&Job| job.is_batch && job.operation.is_of_goods() && job.batch.shard.is_none();
        self.commands.iter().rev().map(|(job, _)| job).find(is_fit).cloned()
    }

    /// The value of a store view for a product whose value for all a record of the same sheet sets.
    fn translated(&mut self, records: &[(u32, usize)]) -> Option<(u32, usize)> {
        let mut world = self.world.borrow_mut();
        let (code, number) = records.iter().find_map(|(tag, number)| match world.actions[tag] {
            Action::Value(Scope::All, code @ ("x_note" | "x_text"), Some(_)) => Some((code, *number)),
            _ => None,
        })?;
        if !self.extra.chance(50) {
            return None;
        }
        self.tags += 1;
        let value = format!("Ours {}x", self.tags);
        world.actions.insert(self.tags, Action::Value(Scope::View, code, Some(value)));
        Some((self.tags, number))
    }

    /// A record that asks for a value no other record asks for.
    pub fn goods_record(&mut self, operation: Operation, is_single: bool) -> (u32, usize) {
        self.tags += 1;
        let (tag, random) = (self.tags, &mut self.random);
        let number = usize::try_from(random.below(self.setting.customers as u64)).unwrap();
        // No value is the beginning of another.
        let value = format!("Ours {tag}x");
        let action = if operation == Operation::Correct {
            let sides = match random.below(if is_single { 4 } else { 3 }) {
                0 => vec![Side::Billing],
                1 | 2 => vec![Side::Shipping],
                _ => vec![Side::Shipping, Side::Billing],
            };
            Action::Correct(sides, random.pick(&["city", "city", "company"]), value)
        } else {
            match random.below(8) {
                0 => Action::Value(Scope::All, "x_maker", Some(value)),
                1 if is_single => Action::Value(Scope::All, "x_note", None),
                2..=4 => Action::Value(Scope::View, random.pick(&["x_note", "x_text"]), Some(value)),
                _ => Action::Value(Scope::All, random.pick(&["x_note", "x_text"]), Some(value)),
            }
        };
        self.world.borrow_mut().actions.insert(tag, action);
        (tag, number)
    }

    /// Colleagues write to the same orders and products.
    fn edit_goods(&mut self, kind: GoodsKind) {
        let (count, random) = (self.setting.customers, &mut self.random);
        let edits = (0..self.setting.editors).map(|number| Edit::of_goods(random, kind, count, number));
        let edits: Vec<Edit> = edits.collect();
        self.world.borrow_mut().plan(edits);
    }

    /// A write that was reported with its id, and the machine that has it.
    fn written(&mut self) -> Option<(Reported, usize)> {
        let world = self.world.borrow();
        let written: Vec<&Reported> = world.reported.iter().filter(|said| said.write.is_some()).collect();
        if written.is_empty() {
            return None;
        }
        let said = written[usize::try_from(self.random.below(written.len() as u64)).unwrap()];
        Some((said.clone(), world.runs[said.run].machine))
    }

    /// Somebody looks at a later time whether a write is there.
    async fn verify_write(&mut self, written: &Reported, machine: usize) {
        let machine = self.machines[machine].clone();
        let ended = machine.of_write("verify", written.write.as_deref().unwrap_or_default()).await;
        let world = &mut *self.world.borrow_mut();
        world.reach(State::WriteVerified);
        looked::check(world, &ended, Some(written.run), |_, _| Some(written.tag));
    }

    /// A write is taken back, and perhaps again.
    async fn take_back(&mut self, kind: GoodsKind, written: &Reported, machine: usize) {
        let number = {
            let world = self.world.borrow();
            let mut records = world.runs[written.run].records.iter();
            let Some((_, number)) = records.find(|(tag, _)| *tag == written.tag) else { return };
            *number
        };
        self.tags += 1;
        let write = written.write.clone().unwrap_or_default();
        let tags = vec![written.tag];
        let back = Action::Back(Back { kind, scope: Scope::All, write, tags });
        self.world.borrow_mut().actions.insert(self.tags, back);
        let mut job = self.bare(Operation::TakeBack, vec![(self.tags, number)], self.directory.join("none"));
        job.machine = machine;
        self.with_restarts(&job).await;
        let mut world = self.world.borrow_mut();
        let last = world.runs.iter().rposition(|run| run.command == job.records[0].0);
        if let Some(run) = last {
            goods::check_undone(&mut world, run, job.records[0].0);
        }
    }

    /// What each machine remembers of all the writes that it has reported.
    pub async fn histories_of_goods(&self) -> Vec<RunEnd> {
        let mut writes: Vec<(usize, String)> = {
            let world = self.world.borrow();
            let of_goods = world.reported.iter().filter(|said| world.actions[&said.tag].is_of_goods());
            of_goods.filter_map(|said| Some((world.runs[said.run].machine, said.write.clone()?))).collect()
        };
        writes.sort();
        writes.dedup();
        let mut histories = BTreeMap::<usize, RunEnd>::new();
        for (machine, write) in writes {
            let mut shown = self.machines[machine].of_write("history", &write).await;
            let of_machine = histories.entry(machine).or_default();
            of_machine.run = shown.run;
            of_machine.lines.append(&mut shown.lines);
            // One that could not be read is missing.
            if !shown.error.is_null() {
                of_machine.error = shown.error;
            }
        }
        histories.into_values().collect()
    }
}
