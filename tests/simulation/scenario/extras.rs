//! What happens to the files of a batch and to its runs besides: inputs are edited, journals of plans are cut, signals come.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join;

use super::Scenario;
use crate::action::Action;
use crate::call::Call;
use crate::faults::Quirk;
use crate::input::{self, InputEdit};
use crate::job::{Job, Operation, RunOptions};
use crate::rules::{Rule, journal};
use crate::setting::Mode;
use crate::states::State;
use crate::world::{Event, World};

/// A batch before its input was edited, and that input; and the first run after it.
pub struct Before {
    job: Job,
    text: String,
    run: usize,
}

impl Scenario {
    /// Signals come, perhaps two.
    pub fn add_signals(&mut self, options: &mut RunOptions) {
        let percent = if self.is_busy { 70 } else { 7 };
        if options.interrupt.is_none()
            && !matches!(self.setting.mode, Mode::Calm | Mode::Outage)
            && self.extra.chance(percent)
        {
            let most = self.extra.pick(&[300, 1_500, 8_000]);
            options.interrupt = Some(self.extra.millis(0, most));
        }
        if options.interrupt.is_some() && self.extra.chance(50) {
            options.second = Some(self.extra.millis(1, 3_000));
        }
    }

    /// Somebody edits the input of a batch during its run: the command for this run, and what the input is given back
    /// afterwards.
    pub fn with_editor(&mut self, job: &Job, options: RunOptions) -> (Job, Option<String>) {
        // Lines that are named stay where they are.
        let has_order = job.operation == Operation::SetValue;
        if has_order || !job.is_batch || job.is_plan || options.settled != [0, 0] || !self.extra.chance(14) {
            return (job.clone(), None);
        }
        let original = std::fs::read_to_string(&job.input).unwrap();
        let before = input::rows(&original);
        let mut rows = before.clone();
        let at = usize::try_from(self.extra.below(rows.len() as u64)).unwrap();
        let has_new = self.may_have_new_rows(job);
        match self.extra.below(5) {
            0 | 1 => rows.reverse(),
            2 if has_new => rows.insert(0, self.new_row(job).1),
            3 if has_new => rows[at] = self.new_row(job).1,
            _ => drop(rows.remove(at)),
        }
        // A file that is read bit by bit is edited between two of them.
        let delay = if self.extra.chance(50) { Duration::ZERO } else { self.extra.millis(1, 600) };
        let has_gaps = !delay.is_zero();
        std::fs::write(&job.input, input::text(&before, has_gaps)).unwrap();
        let edit = InputEdit {
            path: job.input.clone(),
            content: input::text(&rows, has_gaps),
            is_renamed: self.extra.chance(40),
            delay,
        };
        self.world.borrow_mut().log(|| {
            format!(
                "the input is edited {delay:?} after the journal was begun (renamed: {}): {rows:?}",
                edit.is_renamed
            )
        });
        let mut edited = job.clone();
        edited.batch.edit = Some(edit);
        (edited, Some(original))
    }

    /// Somebody edits the input between two runs, all but its first row.
    pub fn rearrange(&mut self, job: &mut Job) -> Option<Before> {
        let is_edited = job.is_batch && !job.is_plan && job.records.len() > 2;
        if !is_edited || !self.may_have_new_rows(job) || !self.extra.chance(20) {
            return None;
        }
        let text = std::fs::read_to_string(&job.input).unwrap();
        let before = Before { job: job.clone(), text, run: self.world.borrow().runs.len() };
        let at = 1 + usize::try_from(self.extra.below(job.records.len() as u64 - 1)).unwrap();
        match self.extra.below(4) {
            0 => drop(job.records.remove(at)),
            1 => job.records[1..].reverse(),
            2 => job.records[at] = self.new_row(job).0,
            _ => job.records.push(self.new_row(job).0),
        }
        let rows: Vec<String> = job.records.iter().map(|record| self.row(job, *record)).collect();
        std::fs::write(&job.input, input::text(&rows, false)).unwrap();
        self.world.borrow_mut().reach(State::EditedBetweenRuns);
        Some(before)
    }

    /// Where a run has done nothing with an edited input, it is put back.
    pub fn put_back(&mut self, job: &mut Job, before: Option<Before>) {
        let Some(Before { job: original, text, run }) = before else { return };
        let mut world = self.world.borrow_mut();
        let is_sent = world.requests.iter().any(|sent| sent.run >= run && sent.call.is_write());
        if is_sent || world.reported.iter().any(|said| said.run >= run) {
            return;
        }
        world.log(|| "the input is put back".to_owned());
        std::fs::write(&original.input, text).unwrap();
        if let Some((known, _)) = self.commands.iter_mut().find(|(known, _)| known.is_same(job)) {
            *known = original.clone();
        }
        *job = original;
    }

    /// What a flag permits is for all records.
    fn may_have_new_rows(&self, job: &Job) -> bool {
        // The value of a product for all stands before those of store views.
        job.operation != Operation::SetValue
            && !job
                .records
                .iter()
                .any(|(tag, _)| matches!(self.world.borrow().actions[tag], Action::Replace(..)))
    }

    fn new_row(&mut self, job: &Job) -> ((u32, usize), String) {
        let record = self.record(job.operation, false);
        (record, self.row(job, record))
    }

    /// A plan that was edited is not applied.
    pub async fn refuse_edited_plan(&mut self, job: &Job) {
        if !self.extra.chance(10) {
            return;
        }
        let machine = self.machines[job.machine].clone();
        let original = machine.disk.lock().unwrap().content(&job.input).unwrap_or_default().to_vec();
        let mut lines = input::rows(&String::from_utf8_lossy(&original));
        let last = lines.len() - 1;
        match self.extra.below(3) {
            0 => drop(lines.remove(last)),
            1 if last > 1 => lines.swap(1, last),
            1 => lines.insert(1, lines[1].clone()),
            _ => lines[last] = lines[last].replacen("\"expect\":[", "\"expect\": [", 1),
        }
        machine.disk.lock().unwrap().put(&job.input, input::text(&lines, false).into_bytes());
        let ended = machine.run(job, RunOptions::default()).await;
        machine.disk.lock().unwrap().put(&job.input, original);
        let world = &mut *self.world.borrow_mut();
        world.reach(State::PlanEdited);
        if ended.code == Some(0) || world.requests.iter().any(|sent| sent.run == ended.run) {
            let what = format!("an edited plan is applied, with exit code {:?}", ended.code);
            world.broke(Rule::Planned, ended.run, None, what);
        }
    }

    /// The journal of a plan loses its last lines, and the plan is applied again: what was applied is not applied again.
    pub async fn apply_with_cut_journal(&mut self, job: &Job) {
        let journal = job.journal();
        let lines = {
            let disk = self.machines[job.machine].disk.lock().unwrap();
            disk.content(&journal).map_or(0, |text| text.split_inclusive(|byte| *byte == b'\n').count())
        };
        if lines < 2 {
            return;
        }
        let kept = if self.extra.chance(40) { 1 } else { 1 + self.extra.below(lines as u64 - 1) };
        let is_cut =
            self.machines[job.machine].disk.lock().unwrap().cut(&journal, usize::try_from(kept).unwrap());
        if !is_cut {
            return;
        }
        {
            let mut world = self.world.borrow_mut();
            world.log(|| format!("the journal is cut after line {kept} of {lines}"));
            world.reach(State::PlanCut);
            world.cut.insert(journal);
        }
        self.pause().await;
        self.once(job, RunOptions::default()).await;
        // It may be refused for ever.
        if let Some((_, code)) = self.commands.iter_mut().find(|(known, _)| known.is_same(job)) {
            *code = Some(0);
        }
    }

    /// How a batch is taken up: somebody has looked what became of unknown records, or it begins again.
    pub fn settle(&mut self, job: &Job, options: &mut RunOptions, is_rearranged: bool) {
        if !job.is_batch || options.repeat || is_rearranged {
            return;
        }
        if !job.is_plan && self.extra.chance(9) {
            self.world.borrow_mut().reach(State::Restarted);
            (options.restart, options.resume) = (true, false);
            return;
        }
        if !self.extra.chance(40) {
            return;
        }
        let mut world = self.world.borrow_mut();
        world.catch_up();
        let disk = self.machines[job.machine].disk.lock().unwrap();
        let entries = journal::entries(disk.content(&job.journal()).unwrap_or_default());
        let places = job.places();
        for (at, (tag, _)) in job.records.iter().enumerate() {
            let (record, entry) = journal::found(&entries, &places, at);
            let is_unknown = matches!(journal::state(entry), "unknown" | "sending");
            let is_pending = world.events.values().any(|event| {
                matches!(event, Event::Arrival(request, _) if world.requests[*request].tag == Some(*tag))
            });
            if is_unknown && !is_pending {
                let is_applied = is_applied(&world, *tag);
                if is_applied {
                    world.marked.insert(*tag);
                }
                options.settled[usize::from(!is_applied)] |= 1 << (record - 1);
            }
        }
        for (settled, state) in options.settled.into_iter().zip([State::MarkedDone, State::RetriedLine]) {
            if settled > 0 {
                world.reach(state);
            }
        }
    }

    /// A batch is run in two parts, at once or one after another; `false` where it is not.
    pub async fn in_parts(&mut self, job: &Job) -> bool {
        let is_fit = job.is_batch && !job.is_plan && self.setting.mode != Mode::Calm;
        if !is_fit || !self.extra.chance(12) {
            return false;
        }
        if self.extra.chance(50) {
            let mut world = self.world.borrow_mut();
            if world.faults.quirk == Quirk::None && self.extra.chance(60) {
                world.faults.quirk = Quirk::Refuses(50);
                // The second copy of a request that was refused may not be.
                world.faults.doubled = 0;
            }
        }
        let parts = [0, 1].map(|index| {
            let mut part = job.clone();
            part.batch.shard = Some((index, 2));
            part
        });
        let mut options = || RunOptions { death: self.death(), ..RunOptions::default() };
        let options = [options(), options()];
        let machine = self.machines[job.machine].clone();
        self.world.borrow_mut().reach(State::InParts);
        let [one, other] = [0, 1].map(|at| machine.run(&parts[at], options[at]));
        let ends = if self.extra.chance(50) {
            join(one, other).await.into()
        } else {
            let one = one.await;
            self.pause().await;
            [one, other.await]
        };
        for (part, ended) in parts.iter().zip(ends) {
            self.take(part, ended);
        }
        self.refuse_whole(job).await;
        for part in &parts {
            if self.extra.chance(60) {
                self.pause().await;
                let options = RunOptions { resume: true, ..RunOptions::default() };
                self.once(part, options).await;
            }
        }
        true
    }

    /// The whole input is not run where a part of it was.
    async fn refuse_whole(&mut self, job: &Job) {
        let command = job.records[0].0;
        let is_sent = {
            let world = self.world.borrow();
            let is_of_command = |run: usize| world.runs[run].command == command;
            world.requests.iter().any(|sent| sent.call.is_write() && is_of_command(sent.run))
        };
        if !is_sent || !self.extra.chance(75) {
            return;
        }
        let whole = self.machines[job.machine].run(job, RunOptions::default()).await;
        let world = &mut *self.world.borrow_mut();
        world.reach(State::WholeAfterPart);
        if world.requests.iter().any(|sent| sent.run == whole.run && sent.call.is_write()) {
            let what = "the whole input is sent, and a part of it was".to_owned();
            world.broke(Rule::Twice, whole.run, None, what);
        }
    }

    /// A copy of an input of which something was added is not run under another name.
    pub async fn refuse_copy(&mut self, job: &Job) {
        if !job.is_batch || job.is_plan || job.operation != Operation::AddItem || !self.extra.chance(25) {
            return;
        }
        let machine = self.machines[job.machine].clone();
        let is_any_done = {
            let disk = machine.disk.lock().unwrap();
            let entries = journal::entries(disk.content(&job.journal()).unwrap_or_default());
            entries.values().any(|entry| journal::state(Some(entry)) == "done")
        };
        if !is_any_done {
            return;
        }
        let mut copy = job.clone();
        copy.input = job.input.with_extension("copy.ndjson");
        std::fs::copy(&job.input, &copy.input).unwrap();
        let ended = machine.run(&copy, RunOptions::default()).await;
        let world = &mut *self.world.borrow_mut();
        world.reach(State::CopyRun);
        if ended.code == Some(0)
            || world.requests.iter().any(|sent| sent.run == ended.run && sent.call.is_write())
        {
            let what = format!("a copy of the input is sent, with exit code {:?}", ended.code);
            world.broke(Rule::Twice, ended.run, None, what);
        }
    }

    /// One record of a plan is applied before the others.
    pub async fn apply_only(&mut self, job: &Job) {
        if !self.extra.chance(15) {
            return;
        }
        let only = 1 + usize::try_from(self.extra.below(job.records.len() as u64)).unwrap();
        self.world.borrow_mut().reach(State::PlanOnly);
        self.once(job, RunOptions { only: Some(only), ..RunOptions::default() }).await;
        self.pause().await;
    }
}

/// Whether all that a record asks for was applied, as somebody finds it who looks.
fn is_applied(world: &World, tag: u32) -> bool {
    let calls = || world.effects_of(tag).map(|effect| &world.requests[effect.request].call);
    // A comment is not all of it, nor is one of two addresses.
    if let Action::Correct(sides, ..) = &world.actions[&tag] {
        let saved = calls().filter_map(|call| match call {
            Call::SaveAddress(_, address) => Some(*address),
            _ => None,
        });
        return saved.collect::<BTreeSet<_>>().len() >= sides.len();
    }
    let is_last = match &world.actions[&tag] {
        Action::Ship if world.is_magento => |call: &Call| matches!(call, Call::Pay(_)),
        Action::Attribute(true) => |call: &Call| matches!(call, Call::Assign(_)),
        _ => Call::is_write,
    };
    calls().any(is_last)
}
