//! The day after a batch: it is undone by a plan, while others edit.

use std::path::Path;

use serde_json::Value;

use super::Scenario;
use crate::action::{Action, Undo};
use crate::job::{Access, BatchFlags, Job, Operation};
use crate::machine::RunEnd;
use crate::rules::request::plain;
use crate::rules::{Rule, journal, restore};
use crate::states::State;

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
        let done: Vec<usize> =
            undo.records.iter().filter(|record| is_done(record)).map(|(_, of)| *of).collect();
        if done.is_empty() {
            return;
        }
        self.note_removed(&tags);
        self.pause().await;
        let Some((again, _)) = self.plan_undo(batch, "undo-2.plan").await else { return };
        let world = &mut *self.world.borrow_mut();
        world.reach(State::BatchUndoneTwice);
        if !world.is_calm {
            return;
        }
        world.checks(Rule::Undo);
        if let Some((tag, customer)) = again.records.iter().find(|(_, customer)| done.contains(customer)) {
            let what = format!(
                "customer {customer} was undone, and is planned to be undone again: {}",
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
        let job = Job {
            operation: Operation::Restore,
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

    /// The records of a plan that undoes a batch, each with its customer.
    fn planned_undo(&mut self, batch: &Job, plan: &Path, tags: &[u32]) -> Vec<(u32, usize)> {
        let text = {
            let disk = self.machines[batch.machine].disk.lock().unwrap();
            String::from_utf8_lossy(disk.content(plan).unwrap_or_default()).into_owned()
        };
        let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut records = Vec::new();
        let mut world = self.world.borrow_mut();
        for line in lines {
            self.tags += 1;
            let customer: usize = line["customer"].as_str().unwrap().parse().unwrap();
            world.actions.insert(self.tags, Action::Restore(Undo::Batch(tags.to_vec())));
            world.planned.insert(self.tags, line["expect"].clone());
            records.push((self.tags, customer - 1));
        }
        records
    }

    /// Of a customer whom a plan leaves out nothing stands as the batch wrote it, as far as the plan's own read shows.
    fn check_left_out(&self, ended: &RunEnd, batch: &Job, planned: &[(u32, usize)], tags: &[u32]) {
        let world = &mut *self.world.borrow_mut();
        if !world.is_calm {
            return;
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
