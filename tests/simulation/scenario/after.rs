//! The day after a batch: it is undone by a plan, while others edit.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::Scenario;
use crate::action::{Action, Back, GoodsKind, Undo};
use crate::goods::{FIRST_ORDER, FIRST_PRODUCT, Scope};
use crate::job::{Access, BatchFlags, Job, Operation};
use crate::machine::RunEnd;
use crate::rules::request::plain;
use crate::rules::{Rule, goods, journal, looked, restore};
use crate::states::State;
use crate::world::World;

impl Scenario {
    /// A batch of updates whose records name their customers: a plan holds no tokens.
    pub fn updated_many(&self) -> Option<Job> {
        let is_fit =
            |job: &&Job| job.is_batch && job.operation == Operation::Update && job.batch.shard.is_none();
        let mut batches = self.commands.iter().rev().map(|(job, _)| job).filter(is_fit);
        batches.find(|_| self.setting.access != Access::Own).cloned()
    }

    /// A batch is undone by a plan, and what is left then is planned once more.
    pub async fn undo_batch(&mut self, batch: &Job) {
        self.pause().await;
        if self.extra.chance(30) {
            self.verify_batch(batch).await;
        }
        if self.extra.chance(40) {
            self.edit_planned(batch);
            self.world.borrow_mut().reach(State::EditedAfterBatch);
            tokio::time::sleep(self.extra.millis(0, 4_000)).await;
        }
        let Some((undo, tags)) = self.plan_undo(batch, "undo-1.plan").await else { return };
        if self.extra.chance(40) {
            self.edit_planned(batch);
            self.world.borrow_mut().reach(State::EditedInUndo);
            tokio::time::sleep(self.extra.millis(0, 3_000)).await;
        }
        self.with_restarts(&undo).await;
        let is_done = |(tag, _): &(u32, usize)| {
            let world = self.world.borrow();
            let mut said = world.reported.iter().filter(|said| said.tag == *tag);
            said.any(|said| said.applied == "yes" && said.kind.is_none())
        };
        let done: Vec<(u32, usize)> = undo.records.iter().filter(|record| is_done(record)).copied().collect();
        if done.is_empty() {
            return;
        }
        for (tag, _) in &done {
            let world = &mut *self.world.borrow_mut();
            let run = world.reported.iter().rfind(|said| said.tag == *tag).map_or(0, |said| said.run);
            goods::check_undone(world, run, *tag);
        }
        self.note_removed(&tags);
        if self.extra.chance(50) {
            self.verify_batch(batch).await;
        }
        self.pause().await;
        let Some((again, _)) = self.plan_undo(batch, "undo-2.plan").await else { return };
        let world = &mut *self.world.borrow_mut();
        world.reach(State::BatchUndoneTwice);
        if !world.is_calm {
            return;
        }
        world.checks(Rule::Undo);
        let is_again = |(tag, number): &&(u32, usize)| {
            let thing = |tag: &u32, number: &usize| world.actions[tag].thing(*number);
            done.iter().any(|(tag_of_done, of)| thing(tag_of_done, of) == thing(tag, number))
        };
        if let Some((tag, number)) = again.records.iter().find(is_again) {
            let what = format!(
                "{:?} was undone, and is planned to be undone again: {}",
                world.actions[tag].owner(*number),
                world.planned[tag]
            );
            let run = world.runs.len() - 1;
            world.broke_of(Rule::Undo, run, None, &[*tag], what);
        }
    }

    /// Plans how a batch is undone; the command that applies the plan, with no records where nothing is planned, and the records
    /// of the batch that are done. `None` where no plan could be made.
    async fn plan_undo(&mut self, batch: &Job, name: &str) -> Option<(Job, Vec<u32>)> {
        let machine = self.machines[batch.machine].clone();
        let plan = self.directory.join(name);
        let tags: Vec<u32> = {
            let disk = machine.disk.lock().unwrap();
            let entries = journal::entries(disk.content(&batch.journal())?);
            let places = batch.places();
            let state = |at: usize| journal::state(journal::found(&entries, &places, at).1);
            let is_done = |at: &usize| ["done", "mismatch"].contains(&state(*at));
            let records = batch.records.iter().enumerate();
            records.filter(|(at, _)| is_done(at)).map(|(_, (tag, _))| *tag).collect()
        };
        let ended = machine.undo(batch, &plan).await;
        let is_left = matches!(ended.code, Some(7 | 3)) && ended.error.to_string().contains("of the batch");
        if ended.code != Some(0) && !is_left {
            let is_calm = self.world.borrow().is_calm;
            // Within a minute after one that removed an address by a call of its own, the next one is refused.
            if is_calm && name == "undo-1.plan" {
                let what = format!("a batch cannot be undone: {}", ended.error);
                self.world.borrow_mut().broke(Rule::Liveness, ended.run, None, what);
            }
            return None;
        }
        let records = self.planned_undo(batch, &plan, &tags);
        self.check_left_out(&ended, batch, &records, &tags);
        let is_of_goods = batch.operation.is_of_goods();
        let job = Job {
            operation: if is_of_goods { Operation::TakeBack } else { Operation::Restore },
            records,
            is_batch: true,
            is_plan: true,
            input: plan,
            base: None,
            batch: BatchFlags::default(),
            ..batch.clone()
        };
        (!job.records.is_empty() || name != "undo-1.plan").then_some((job, tags))
    }

    /// Somebody looks at a later time whether what a batch wrote is there.
    async fn verify_batch(&mut self, batch: &Job) {
        let machine = self.machines[batch.machine].clone();
        let ended = machine.verify(batch).await;
        let tags = self.tags_by_record(batch);
        let world = &mut *self.world.borrow_mut();
        world.reach(State::BatchVerified);
        if looked::check(world, &ended, None, |_, line| tags.get(&line["line"].as_u64()?).copied()) {
            world.reach(State::BatchNotThere);
        }
    }

    /// The records of a batch that its journal has, by the numbers that it names them by.
    fn tags_by_record(&self, batch: &Job) -> BTreeMap<u64, u32> {
        let disk = self.machines[batch.machine].disk.lock().unwrap();
        let entries = journal::entries(disk.content(&batch.journal()).unwrap_or_default());
        let places = batch.places();
        // The line of one that was never sent may be the name of another, which stood there when it was sent.
        let named = |(at, (tag, _)): (usize, &(u32, usize))| {
            let (number, entry) = journal::found(&entries, &places, at);
            entry.map(|_| (number as u64, *tag))
        };
        batch.records.iter().enumerate().filter_map(named).collect()
    }

    /// The records of a plan that undoes a batch, each with the number of what it is about.
    fn planned_undo(&mut self, batch: &Job, plan: &Path, tags: &[u32]) -> Vec<(u32, usize)> {
        let text = {
            let disk = self.machines[batch.machine].disk.lock().unwrap();
            String::from_utf8_lossy(disk.content(plan).unwrap_or_default()).into_owned()
        };
        let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let (mut records, by_record) = (Vec::new(), self.tags_by_record(batch));
        let mut world = self.world.borrow_mut();
        for line in lines {
            self.tags += 1;
            let (number, action) = planned_back(&world, &line, &by_record).unwrap_or_else(|| {
                let customer: usize = line["customer"].as_str().unwrap().parse().unwrap();
                (customer - 1, Action::Restore(Undo::Batch(tags.to_vec())))
            });
            world.actions.insert(self.tags, action);
            world.planned.insert(self.tags, line["expect"].clone());
            records.push((self.tags, number));
        }
        records
    }

    /// Of a customer whom a plan leaves out nothing stands as the batch wrote it, as far as the plan's own read shows.
    fn check_left_out(&self, ended: &RunEnd, batch: &Job, planned: &[(u32, usize)], tags: &[u32]) {
        let world = &mut *self.world.borrow_mut();
        let is_left = |line: &Value| line["left"].as_array().is_some_and(|left| !left.is_empty());
        if batch.operation.is_of_goods() && ended.lines.iter().any(is_left) {
            world.reach(State::GoodsBatchLeft);
        }
        if !world.is_calm {
            return;
        }
        if batch.operation.is_of_goods() {
            return goods::check_left_out(world, ended.run, batch, (planned, tags));
        }
        let mut customers: Vec<usize> = batch.records.iter().map(|(_, customer)| *customer).collect();
        customers.retain(|customer| !planned.iter().any(|(_, of)| of == customer));
        customers.dedup();
        for customer in customers {
            let of_customer = world.customers[customer].now.get("id").cloned();
            let heard = world.requests.iter().rev().filter(|sent| sent.run == ended.run);
            let mut profiles = heard.filter_map(|sent| sent.heard.as_ref()?.profile.clone());
            let Some(shown) = profiles.find(|profile| profile.get("id") == of_customer.as_ref()) else {
                continue;
            };
            world.checks(Rule::Undo);
            let shown = plain(world, &shown);
            if let Some(what) = restore::left_standing(world, customer, tags, (&shown, &shown)) {
                world.broke(Rule::Undo, ended.run, None, format!("customer {customer} is left out: {what}"));
            }
        }
    }

    /// Notes whether addresses that a batch had added are gone.
    fn note_removed(&self, tags: &[u32]) {
        let world = &mut *self.world.borrow_mut();
        let is_gone = world.customers.iter().any(|customer| {
            let now = crate::customers::ids(&customer.now);
            let mut added = customer.creators.iter().filter(|(id, _)| !now.contains(id));
            added.any(|(_, creator)| restore::is_of_batch(world, Some(*creator), tags))
        });
        if is_gone {
            world.reach(State::BatchAddressUndone);
        }
    }
}

/// What a line of a plan that undoes a batch takes back, where it is an order or a product, and its number.
fn planned_back(world: &World, line: &Value, by_record: &BTreeMap<u64, u32>) -> Option<(usize, Action)> {
    let (kind, id) = line["input"]["owner"].as_str()?.split_once(' ')?;
    let (kind, first) = match kind {
        "order" => (GoodsKind::Orders, FIRST_ORDER),
        "product" => (GoodsKind::Products, FIRST_PRODUCT),
        _ => return None,
    };
    let writes = line["input"]["writes"].as_array()?.iter().filter_map(Value::as_str);
    let record = |write: &str| write.split_once(':')?.1.parse().ok();
    let tags: Vec<u32> =
        writes.filter_map(record).filter_map(|record: u64| by_record.get(&record).copied()).collect();
    let scope = match world.actions.get(tags.first()?) {
        Some(Action::Value(scope, ..)) => *scope,
        _ => Scope::All,
    };
    let number = id.parse::<usize>().ok()?.checked_sub(first)?;
    Some((number, Action::Back(Back { kind, scope, write: String::new(), tags })))
}
