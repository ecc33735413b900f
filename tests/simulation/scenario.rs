//! What happens in one simulation: which commands are run, when they die, and how they are taken up again.

mod after;
mod extras;
mod goods;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use super::action::{Action, OWN_STAMP, RegionBy, Undo};
use super::customers::ids;
use super::disk::Disk;
use super::editors::{Act, Edit, Moment};
use super::faults::{FaultProfile, any_outage};
use super::goods::{Scope, increment_id, sku};
use super::input;
use super::job::{Access, BatchFlags, Death, Job, Operation, RunOptions, name};
use super::machine::{Machine, RunEnd};
use super::random::Random;
use super::rules::{
    Rule, batch, end, goods as goods_rules, history, journal, looked, partition, report, run, signal,
};
use super::setting::{Mode, Setting};
use super::states::State;
use super::verdict::Verdict;
use super::world::{Owner, Reported, World};

/// How often a command is taken up again.
const MAX_RUNS: u64 = 4;

/// A simulation in its course.
pub struct Scenario {
    random: Random,
    /// Chance of what came later, so that the worlds of before stay as they are.
    extra: Random,
    setting: Setting,
    /// Whether most reads fail or are told to come later, and signals come while they wait.
    is_busy: bool,
    directory: PathBuf,
    world: Rc<RefCell<World>>,
    machines: Vec<Machine>,
    tags: u32,
    /// The commands that were run, each with the last options, and how it ended.
    commands: Vec<(Job, Option<u8>)>,
    /// Whether something is not on a disk that was there: then less is known than was.
    has_lost: bool,
}

/// Simulates one seed; `directory` is for the inputs.
pub async fn simulate(seed: u64, directory: &Path, is_traced: bool) -> Verdict {
    let mut random = Random::new(seed);
    let mut setting = Setting::random(&mut random);
    let mut extra = Random::new(!seed);
    let goods = setting.goods(&mut Random::new(seed.rotate_left(32) ^ 0x60_0d5));
    let mut world =
        World::new(random.next(), setting.customers, setting.is_magento, setting.faults.clone(), is_traced);
    world.is_calm = setting.mode == Mode::Calm;
    world.began_with_read_faults = setting.disk.1 > 0;
    world.is_long_lag = setting.mode == Mode::LongLag;
    world.log(|| format!("{setting:?}"));
    let world = Rc::new(RefCell::new(world));
    let timeout = Duration::from_secs(random.pick(&[2, 5]));
    let retry = random.pick(&[None, None, Some(0)]);
    let machines = (0..setting.machines).map(|number| Machine {
        world: world.clone(),
        number,
        disk: Disk::new(random.next(), setting.disk.0, setting.disk.1),
        clock_error: Rc::new(Cell::new(0)),
        access: setting.access,
        timeout,
        retry,
    });
    let machines = machines.collect();
    let has_lost = setting.disk != (0, 0);
    let directory = dunce::canonicalize(directory).unwrap();
    let is_busy = setting.mode == Mode::Ordinary && extra.chance(7);
    if is_busy {
        world.borrow_mut().faults.reads = 45;
    }
    let mut scenario = Scenario {
        random,
        extra,
        is_busy,
        setting,
        directory,
        world,
        machines,
        tags: 0,
        commands: Vec::new(),
        has_lost,
    };
    let mode = scenario.setting.mode;
    match mode {
        _ if goods.is_some() => scenario.goods(goods.unwrap()).await,
        Mode::Outage => scenario.outage().await,
        Mode::Many => scenario.many().await,
        Mode::Notation => scenario.notation().await,
        Mode::Ordinary if scenario.is_reviewed() => scenario.reviewed().await,
        _ => scenario.ordinary().await,
    }
    scenario.end().await
}

impl Scenario {
    /// A few commands, one after another or at once.
    async fn ordinary(&mut self) {
        let first = self.job(0);
        let is_alone = !self.is_sequence() && self.random.chance(55);
        let second = (!is_alone).then(|| self.job(1));
        self.plan_edits();
        match second {
            Some(second) if self.random.chance(25) => self.at_once(&first, &second).await,
            second => {
                if !self.in_parts(&first).await {
                    self.with_restarts(&first).await;
                    if self.random.chance(8) {
                        self.look_back(&first).await;
                    }
                }
                if let Some(second) = second {
                    self.pause().await;
                    self.with_restarts(&second).await;
                }
            }
        }
        if self.is_sequence() && self.random.chance(50) {
            let third = self.job(2);
            self.pause().await;
            self.with_restarts(&third).await;
        }
        if let Some(job) = self.updated().filter(|_| self.random.chance(45)) {
            self.undo(&job).await;
        }
        if let Some(job) = self.updated_many().filter(|_| self.extra.chance(70)) {
            self.undo_batch(&job).await;
        }
    }

    /// Whether a plan comes between a command and what it sends: seldom where it has one record.
    fn is_reviewed(&mut self) -> bool {
        let is_own = self.setting.access == Access::Own;
        self.random.chance(if is_own { 20 } else { 75 })
    }

    /// Updates that are planned, and applied while others edit; then a copy of the plan is applied.
    async fn reviewed(&mut self) {
        let operation = if self.extra.chance(25) { Operation::AddItem } else { Operation::Update };
        let prepared = if self.setting.access == Access::Own {
            // A plan holds no tokens.
            let record = self.record(operation, false);
            self.single(operation, record, 0)
        } else {
            let count = 1 + self.random.below(4);
            self.batch(operation, count, 0)
        };
        self.plan_edits();
        self.apply_reviewed(prepared).await;
    }

    /// A plan is made of what is prepared, and applied while others edit; then it is undone, or a copy of it is applied.
    async fn apply_reviewed(&mut self, prepared: Job) {
        let machine = self.machines[prepared.machine].clone();
        let plan = self.directory.join("moves.plan");
        if machine.plan(&prepared, &plan).await != Some(0) || !self.note_planned(&prepared, &plan) {
            return self.with_restarts(&prepared).await;
        }
        if self.random.chance(65) {
            self.edit_planned(&prepared);
        }
        self.pause().await;
        let is_of_view = !prepared.is_batch && {
            let action = &self.world.borrow().actions[&prepared.records[0].0];
            matches!(action, Action::Value(Scope::View, ..))
        };
        let applied = Job { input: plan, is_plan: true, is_of_view, is_batch: true, ..prepared };
        self.refuse_edited_plan(&applied).await;
        self.apply_only(&applied).await;
        self.with_restarts(&applied).await;
        if self.extra.chance(25) {
            return self.apply_with_cut_journal(&applied).await;
        }
        let undone = self.updated_many().or_else(|| self.batch_of_goods());
        if let Some(job) = undone.filter(|_| self.extra.chance(45)) {
            return self.undo_batch(&job).await;
        }
        if self.commands.last().is_some_and(|(_, code)| *code == Some(0)) {
            let copy = Job { input: self.directory.join("copy.plan"), ..applied.clone() };
            machine.copy(&applied.input, &copy.input);
            let again = machine.run(&copy, RunOptions::default()).await;
            let world = &mut *self.world.borrow_mut();
            world.reach(State::PlanCopied);
            if world.requests.iter().any(|sent| sent.run == again.run && sent.call.is_write()) {
                world.broke(
                    Rule::Planned,
                    again.run,
                    None,
                    "a copy of an applied plan is applied".to_owned(),
                );
            }
        }
    }

    /// Takes note of what a plan expects; `false` where it leaves a record out.
    fn note_planned(&self, job: &Job, plan: &Path) -> bool {
        let disk = self.machines[job.machine].disk.lock().unwrap();
        let text = String::from_utf8_lossy(disk.content(plan).unwrap_or_default()).into_owned();
        let lines: Vec<Value> =
            text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        if lines.len() != job.records.len() {
            return false;
        }
        let mut world = self.world.borrow_mut();
        let expected = job.records.iter().zip(&lines);
        world.planned.extend(expected.map(|((tag, _), line)| (*tag, line["expect"].clone())));
        true
    }

    /// Somebody changes the very field that is planned to be changed, or was.
    fn edit_planned(&mut self, job: &Job) {
        let (tag, customer) = self.random.pick(&job.records);
        let mut world = self.world.borrow_mut();
        let value = "Foreign and later".to_owned();
        let position = |id: &i64| ids(&world.customers[customer].now).iter().position(|own| own == id);
        let act = match &world.actions[&tag] {
            Action::Set(Some(id), name, _) => position(id).map(|at| Act::Address(at, name, value)),
            Action::Set(None, name, _) => Some(Act::Profile(name, value)),
            // The first one is not kept.
            Action::Replace(..) => Some(Act::Address(0, "city", value)),
            Action::Correct(sides, field, _) => Some(Act::Address(sides[0] as usize, field, value)),
            Action::Value(scope, code, _) => Some(Act::Value(*scope, code, value)),
            _ => None,
        };
        let owner = world.actions[&tag].owner(customer);
        let moment = Moment::At(world.now() + self.random.millis(0, 2_000));
        world.plan(act.map(|act| Edit { moment, owner, act }).into_iter().collect());
    }

    /// Whether what one command leaves matters most to the next.
    fn is_sequence(&self) -> bool {
        !matches!(self.setting.mode, Mode::Ordinary | Mode::Outage)
    }

    /// An update that was run.
    fn updated(&self) -> Option<Job> {
        let mut commands = self.commands.iter().rev().map(|(job, _)| job);
        commands.find(|job| job.operation == Operation::Update).cloned()
    }

    /// Undoes an update, perhaps again, perhaps with the update and another one after it.
    async fn undo(&mut self, update: &Job) {
        self.pause().await;
        let Some(undo) = self.which(update) else { return };
        let restore = self.restore(update, undo.clone());
        self.with_restarts(&restore).await;
        if self.random.chance(50) {
            self.pause().await;
            match self.random.below(3) {
                0 => {
                    let again = self.restore(update, undo);
                    self.with_restarts(&again).await;
                }
                1 if !update.is_batch => {
                    self.with_restarts(update).await;
                    self.pause().await;
                    let next = self.job(3);
                    self.with_restarts(&next).await;
                }
                _ => {
                    let next = self.job(3);
                    self.with_restarts(&next).await;
                }
            }
        }
    }

    /// What an undo is for: an update that was reported with its id, or the whole profile before it.
    fn which(&mut self, update: &Job) -> Option<Undo> {
        let world = self.world.borrow();
        let of_update = |said: &&Reported| {
            update.records.iter().any(|(tag, customer)| *tag == said.tag && *customer == update.records[0].1)
        };
        let mut of_update = world.reported.iter().filter(of_update);
        let (name, tag) = of_update.find_map(|said| Some((said.write.clone()?, said.tag)))?;
        Some(match self.random.below(5) {
            0 => Undo::All(name),
            kind => Undo::Of(name, tag, kind < 3),
        })
    }

    fn restore(&mut self, update: &Job, undo: Undo) -> Job {
        self.tags += 1;
        self.world.borrow_mut().actions.insert(self.tags, Action::Restore(undo));
        let records = vec![(self.tags, update.records[0].1)];
        let operation = Operation::Restore;
        Job { operation, records, is_batch: false, jobs: 1, is_plan: false, base: None, ..update.clone() }
    }

    /// A batch during which the service stops working, for good or for some seconds.
    async fn outage(&mut self) {
        let operation = self.random.pick(&[Operation::AddItem, Operation::Create]);
        let job = self.batch(operation, 14, 0);
        let from = self.random.millis(0, 900);
        let observed = any_outage(&mut self.random);
        let is_short = self.extra.chance(25);
        let until = if is_short { from + self.extra.millis(200, 12_000) } else { Duration::MAX };
        {
            let mut world = self.world.borrow_mut();
            world.faults.outage = Some((from, until, observed));
            world.began_with_outage = Some((from, until));
        }
        self.once(&job, RunOptions::default()).await;
    }

    /// One customer changed so often within a minute that the first changes are far behind the newest: most of them set one
    /// field again and again, so that an old read shows a value that none of the last ones has found.
    async fn many(&mut self) {
        let count = 26 + self.random.below(6);
        let firsts = 1 + self.random.below(3);
        let records: Vec<(u32, usize)> = (0..count)
            .map(|at| {
                self.tags += 1;
                let value = json!(format!("Ours {}", self.tags));
                let action = match (at < firsts, at) {
                    (false, _) => Action::Set(Some(12), "telephone", value),
                    (true, 0) => Action::Set(Some(11), "city", value),
                    (true, 1) => Action::Set(None, "firstname", value),
                    (true, _) => Action::Set(Some(12), "postcode", value),
                };
                self.world.borrow_mut().actions.insert(self.tags, action);
                (self.tags, 0)
            })
            .collect();
        // One batch that set a field twice would be refused.
        let are_batches = self.random.chance(75);
        for (number, record) in records.into_iter().enumerate() {
            if are_batches {
                let batch = self.batch_of(Operation::Update, vec![record], number);
                self.with_restarts(&batch).await;
            } else {
                let job = self.single(Operation::Update, record, 0);
                self.once(&job, RunOptions::default()).await;
            }
        }
    }

    /// Somebody looks what became of an update, or deletes what a machine remembers of a customer.
    async fn look_back(&mut self, job: &Job) {
        let customer = job.records[0].1;
        if job.operation != Operation::Update {
            return;
        }
        let machine = self.machines[job.machine].clone();
        if self.random.chance(60) {
            let looked = machine.past("verify", customer).await;
            let mut world = self.world.borrow_mut();
            world.reach(State::HistoryChecked);
            looked::check(&mut world, &looked, None, |world, line| {
                let is_it = |said: &&Reported| {
                    said.write.as_deref().is_some_and(|write| line["write"] == write)
                        && world.runs[said.run].machine == job.machine
                        && world.runs[said.run].records.contains(&(said.tag, customer))
                };
                Some(world.reported.iter().find(is_it)?.tag)
            });
            return;
        }
        // What is younger is not deleted.
        if self.random.chance(70) {
            tokio::time::sleep(Duration::from_secs(601)).await;
        }
        let deleted = machine.forget(customer).await;
        let mut world = self.world.borrow_mut();
        let at = world.now();
        world.log(|| format!("what is kept is deleted: {:?}", deleted.code));
        if deleted.code != Some(3) {
            world.forgotten.push((job.machine, customer, at));
        }
    }

    /// Values are set, set back, and sent again as they are stored, in another notation than the shop's.
    async fn notation(&mut self) {
        let is_magento = self.setting.is_magento;
        let mut back = Some(Action::Set(Some(11), "city", json!("Town 11")));
        for number in 0..4 + usize::try_from(self.random.below(4)).unwrap() {
            self.tags += 1;
            let tag = self.tags;
            let ours = format!("Ours {tag}");
            let action = match self.random.below(6) {
                0 => Action::Set(Some(11), "city", json!(ours)),
                1 if number > 0 && back.is_some() => back.take().unwrap(),
                2 if is_magento => Action::Custom(None, "x_since", "2020-02-29".to_owned()),
                3 if is_magento => Action::Custom(None, "x_limit", "1500.5".to_owned()),
                4 if is_magento => Action::Custom(Some(11), "x_door", ours),
                _ => Action::Set(Some(11), "telephone", json!(ours)),
            };
            self.world.borrow_mut().actions.insert(tag, action);
            let job = self.single(Operation::Update, (tag, 0), number);
            self.with_restarts(&job).await;
            tokio::time::sleep(self.random.millis(0, 8_000)).await;
        }
    }

    async fn at_once(&mut self, first: &Job, second: &Job) {
        let mut options =
            || RunOptions { death: self.death(), interrupt: self.interrupt(), ..RunOptions::default() };
        let (one, other) = (options(), options());
        let [first_on, second_on] = [first, second].map(|job| self.machines[job.machine].clone());
        let (one, other) =
            futures_util::future::join(first_on.run(first, one), second_on.run(second, other)).await;
        self.take(first, one);
        self.take(second, other);
    }

    async fn with_restarts(&mut self, job: &Job) {
        let interrupt = self.interrupt();
        let mut options = RunOptions { death: self.death(), interrupt, ..RunOptions::default() };
        self.add_signals(&mut options);
        let mut job = job.clone();
        let mut before = None;
        for run in 1..=MAX_RUNS {
            let code = self.once(&job, options).await;
            self.put_back(&mut job, before.take());
            if run == 1 && code.is_some() {
                self.refuse_copy(&job).await;
            }
            if code.is_none() && self.random.chance(50) {
                self.world.borrow_mut().log(|| "power loss".to_owned());
                self.machines[job.machine].disk.lock().unwrap().lose_power();
                self.has_lost = true;
            }
            if code == Some(0) || code.is_some() && (self.is_sequence() || self.random.chance(50)) {
                break;
            }
            self.pause().await;
            self.set_clock(job.machine);
            let death = if run < 2 { self.death() } else { Death::Never };
            let repeat = self.random.chance(15);
            options = RunOptions { resume: job.is_batch, repeat, death, ..RunOptions::default() };
            if run < MAX_RUNS {
                before = self.rearrange(&mut job);
                self.settle(&job, &mut options, before.is_some());
            }
        }
    }

    async fn once(&mut self, job: &Job, options: RunOptions) -> Option<u8> {
        let machine = self.machines[job.machine].clone();
        let (edited, original) = self.with_editor(job, options);
        let ended = machine.run(&edited, options).await;
        if let Some(original) = original {
            std::fs::write(&job.input, original).unwrap();
        }
        self.take(job, ended)
    }

    fn death(&mut self) -> Death {
        if !self.setting.has_deaths {
            return Death::Never;
        }
        match self.random.below(10) {
            0 | 1 => Death::Polls(u32::try_from(self.random.below(60)).unwrap()),
            2 => Death::After(self.random.millis(0, 15_000)),
            3 => Death::Write(self.random.below(14)),
            _ => Death::Never,
        }
    }

    fn interrupt(&mut self) -> Option<Duration> {
        (self.setting.has_deaths && self.random.chance(6)).then(|| self.random.millis(0, 4_000))
    }

    async fn pause(&mut self) {
        let is_short = self.is_sequence();
        let pause = match self.random.below(4) {
            0 | 1 => self.random.millis(0, 3_000),
            2 if is_short => self.random.millis(0, 30_000),
            2 => self.random.millis(3_000, 180_000),
            _ if is_short => self.random.millis(0, 90_000),
            _ => self.random.millis(180_000, 900_000),
        };
        tokio::time::sleep(pause).await;
        let machine = usize::try_from(self.random.below(self.machines.len() as u64)).unwrap();
        self.set_clock(machine);
    }

    /// Sets a clock forward or back.
    fn set_clock(&mut self, machine: usize) {
        if !self.setting.sets_clocks || !self.random.chance(50) {
            return;
        }
        let by = self.random.pick(&[-7200, -3600, -900, 900, 3600]);
        let clock = &self.machines[machine].clock_error;
        clock.set(clock.get() + by);
        let mut world = self.world.borrow_mut();
        let at = world.now();
        world.log(|| format!("the clock of machine {machine} is set by {by} s"));
        if by > 0 {
            world.set_forward.push((machine, at));
        } else {
            world.set_back.push((machine, at));
            world.lost_time += Duration::from_secs(by.unsigned_abs());
        }
    }

    fn plan_edits(&mut self) {
        let world = &mut *self.world.borrow_mut();
        let similar: Vec<Value> =
            world.actions.values().filter_map(|action| action.added().cloned()).collect();
        let customers = world.customers.len();
        let random = &mut self.random;
        let edits = (0..self.setting.editors).map(|number| Edit::random(random, customers, &similar, number));
        world.plan(edits.collect());
    }

    /// Any command.
    fn job(&mut self, number: usize) -> Job {
        let operation = match self.random.below(12) {
            0 | 1 if !self.is_about_profiles() => Operation::AddItem,
            2 if !self.is_about_profiles() && self.setting.is_magento && self.random.chance(35) => {
                Operation::Assign
            }
            2 if !self.is_about_profiles() => Operation::Create,
            3 | 4 if !self.is_about_profiles() => Operation::Ship,
            _ => Operation::Update,
        };
        if self.random.chance(40) && self.setting.mode != Mode::NoRead {
            let count = 2 + self.random.below(if operation == Operation::Update { 3 } else { 6 });
            return self.batch(operation, count, number);
        }
        let (tag, customer) = self.record(operation, true);
        let mut job = self.single(operation, (tag, customer), number);
        let world = self.world.borrow();
        if self.setting.mode == Mode::NoRead && operation == Operation::Update {
            let base = self.directory.join(format!("base-{number}.json"));
            let mut profile = world.customers[customer].now.clone();
            if self.random.chance(30) && !world.faults.has_no_read {
                profile["lastname"] = json!("Old");
            }
            std::fs::write(&base, json!({"customer": profile}).to_string()).unwrap();
            job.base = Some((base, profile));
        }
        job
    }

    /// A command with one record.
    fn single(&mut self, operation: Operation, record: (u32, usize), number: usize) -> Job {
        let input = self.directory.join(format!("in-{number}.json"));
        let job = self.bare(operation, vec![record], input);
        let world = self.world.borrow();
        let action = &world.actions[&record.0];
        if action.flags().or_else(|| action.flags_of_goods(record.1)).is_none() {
            let document = action.document(record.0, world.is_magento, false);
            std::fs::write(&job.input, document.to_string()).unwrap();
        }
        job
    }

    fn is_about_profiles(&self) -> bool {
        !matches!(self.setting.mode, Mode::Ordinary | Mode::Calm | Mode::Misreported)
    }

    fn bare(&mut self, operation: Operation, records: Vec<(u32, usize)>, input: PathBuf) -> Job {
        let machine = usize::try_from(self.random.below(self.machines.len() as u64)).unwrap();
        let token = usize::from(self.random.chance(30));
        Job {
            operation,
            records,
            is_batch: false,
            input,
            jobs: 1,
            token,
            machine,
            is_plan: false,
            is_of_view: false,
            verifies: operation == Operation::AddItem && self.setting.is_magento && self.random.chance(40),
            base: None,
            batch: BatchFlags::default(),
        }
    }

    fn batch(&mut self, operation: Operation, count: u64, number: usize) -> Job {
        // What a flag permits is for all records.
        let replaces = operation == Operation::Update && self.random.chance(15);
        let records: Vec<(u32, usize)> = if replaces {
            (0..self.setting.customers).map(|customer| (self.replace(customer, Some(1)), customer)).collect()
        } else {
            // Two records of a batch that set one field are refused.
            let mut places = HashSet::new();
            let records = (0..count).map(|_| self.record(operation, false));
            let records: Vec<(u32, usize)> = records.collect();
            let world = self.world.borrow();
            let is_new = |(tag, customer): &(u32, usize)| {
                world.actions[tag].place().is_none_or(|place| places.insert((*customer, place)))
            };
            records.into_iter().filter(is_new).collect()
        };
        self.batch_of(operation, records, number)
    }

    fn batch_of(&mut self, operation: Operation, records: Vec<(u32, usize)>, number: usize) -> Job {
        let input = self.directory.join(format!("in-{number}.ndjson"));
        let mut job = self.bare(operation, records, input);
        let rows: Vec<String> = job.records.iter().map(|record| self.row(&job, *record)).collect();
        std::fs::write(&job.input, input::text(&rows, false)).unwrap();
        job.is_batch = true;
        job.jobs = u16::try_from(1 + self.random.below(4)).unwrap();
        job
    }

    /// A record as it stands in the input of a batch.
    fn row(&self, job: &Job, (tag, customer): (u32, usize)) -> String {
        let world = self.world.borrow();
        let is_named = self.setting.access != Access::Own && job.operation.is_of_customer();
        let mut document = world.actions[&tag].document(tag, world.is_magento, is_named);
        match world.actions[&tag].owner(customer) {
            Owner::Order(order) => document["order"] = json!(increment_id(order)),
            Owner::Product(product) => document["sku"] = json!(sku(product)),
            Owner::Customer(_) => {}
        }
        if is_named {
            document["customer"] = json!(name(self.setting.access, customer));
        } else if job.operation.is_of_customer() {
            document["token"] = json!(world.customers[customer].tokens[job.token]);
        }
        document.to_string()
    }

    /// A record that asks for something no other record asks for.
    fn record(&mut self, operation: Operation, is_single: bool) -> (u32, usize) {
        if operation.is_of_goods() {
            return self.goods_record(operation, is_single);
        }
        let customer = usize::try_from(self.random.below(self.setting.customers as u64)).unwrap();
        let address = i64::try_from((customer as u64 + 1) * 10 + 1 + self.random.below(2)).unwrap();
        if operation == Operation::Update && is_single && self.random.chance(6) {
            let allowed = self.random.pick(&[None, Some(1), Some(1), Some(2)]);
            return (self.replace(customer, allowed), customer);
        }
        let removes = operation == Operation::Update && is_single && self.setting.access != Access::Own;
        let removes = removes && self.random.chance(25);
        self.tags += 1;
        let tag = self.tags;
        let random = &mut self.random;
        let value = format!("Ours {tag}");
        let action = match (operation, random.below(12)) {
            (Operation::AddItem, _) => Action::Item,
            (Operation::Update, _) if removes => Action::Remove(address, random.chance(90)),
            (Operation::Create, _) => Action::Attribute(self.setting.is_magento && random.chance(40)),
            (Operation::Assign, _) => {
                let code = format!("code_{tag}");
                let attribute = json!({"attribute_code": code, "frontend_input": "text"});
                let mut world = self.world.borrow_mut();
                world.attributes.insert(code, attribute.as_object().unwrap().clone());
                Action::Assign
            }
            (Operation::Ship, _) => {
                self.world.borrow_mut().customers[customer].has_cart = true;
                Action::Ship
            }
            (_, 0..=2) => Action::Set(Some(address), "city", json!(value)),
            (_, 3 | 4) => Action::Set(None, "firstname", json!(value)),
            (_, 5) if is_single => Action::Remove(address, random.chance(80)),
            (_, 6) if is_single => Action::Default(address),
            (_, 9) if random.chance(50) => self.unusual(address, tag),
            (_, 11) => self.unusual(address, tag),
            (_, 10) if self.setting.is_magento && random.chance(60) => match random.below(2) {
                0 => Action::Custom(None, "x_note", value),
                _ => Action::Custom(Some(address), "x_door", value),
            },
            _ => Action::Add(new_address(tag)),
        };
        self.world.borrow_mut().actions.insert(tag, action);
        (tag, customer)
    }

    /// A record whose value is nearly the one that is stored: with other blanks, a text for a number, null for an empty text, or
    /// of a field that comparisons leave out. Or one that clears a field, or is about the region.
    fn unusual(&mut self, address: i64, tag: u32) -> Action {
        let world = self.world.borrow();
        let is_new = |address: Option<i64>, field: &str| {
            let is_it = |action: &Action| matches!(action, Action::Set(of, name, _) if *of == address && *name == field);
            !world.actions.values().any(is_it)
        };
        let is_magento = world.is_magento;
        let region = |by| Action::Region(address, by);
        let has_region = |action: &Action| matches!(action, Action::Region(id, _) if *id == address);
        let has_no_region = !world.actions.values().any(has_region) && is_new(Some(address), "country_id");
        match self.random.below(14) {
            7 | 8 if is_new(Some(address), "vat_id") => Action::Set(Some(address), "vat_id", json!("")),
            9 | 10 if has_no_region => region(RegionBy::Code),
            11 | 12 if has_no_region => region(RegionBy::Name),
            13 if has_no_region && is_magento => region(RegionBy::Country),
            13 if has_no_region => Action::Set(Some(address), "country_id", json!("DE")),
            0 if !world.is_magento => Action::Set(None, OWN_STAMP, json!(format!("Ours {tag}"))),
            1 if !world.is_magento && is_new(None, "x_weight") => {
                Action::Set(None, "x_weight", json!("0.10"))
            }
            2 if is_new(Some(address), "company") => Action::Set(Some(address), "company", Value::Null),
            _ => {
                // As many as no other record has.
                let blanks = " ".repeat(usize::try_from(tag).unwrap());
                Action::Set(Some(address), "city", json!(format!("Town {address}{blanks}")))
            }
        }
    }

    /// A record that keeps one of the addresses there are, and perhaps adds one.
    fn replace(&mut self, customer: usize, allowed: Option<usize>) -> u32 {
        self.tags += 1;
        let mut world = self.world.borrow_mut();
        let kept: Vec<i64> = ids(&world.customers[customer].now).into_iter().skip(1).collect();
        let added = self.random.chance(50).then(|| new_address(self.tags));
        world.actions.insert(self.tags, Action::Replace(kept, added, allowed));
        self.tags
    }

    /// Takes in how a run ended, and judges what can be judged at once.
    fn take(&mut self, job: &Job, ended: RunEnd) -> Option<u8> {
        let world = &mut *self.world.borrow_mut();
        let disk = self.machines[job.machine].disk.lock().unwrap();
        if let Some(code) = ended.code {
            run::check(
                world,
                ended.run,
                code,
                &ended.error,
                &ended.counts,
                self.setting.mode == Mode::Outage,
            );
            signal::check(world, ended.run);
            batch::check(world, ended.run);
            if self.setting.disk == (0, 0) {
                journal::check_run(world, ended.run, &disk);
                partition::check(world, ended.run, &ended.error, &disk);
            }
            if world.is_calm {
                end::check_calm(world, ended.run);
            }
        }
        match self.commands.iter_mut().find(|(known, _)| known.is_same(job)) {
            Some(known) => *known = (job.clone(), ended.code),
            None => self.commands.push((job.clone(), ended.code)),
        }
        ended.code
    }

    /// Makes everything good, takes up what is not done, and judges the whole.
    async fn end(mut self) -> Verdict {
        let histories = self.histories().await;
        let last_run = self.world.borrow().runs.len();
        self.world.borrow_mut().faults = FaultProfile::default();
        // A clock that was set back makes the ten minutes longer.
        let lost_time = self.world.borrow().lost_time;
        tokio::time::sleep(Duration::from_secs(11 * 60) + lost_time).await;
        for machine in &self.machines {
            machine.disk.lock().unwrap().heal();
        }
        {
            let mut world = self.world.borrow_mut();
            world.catch_up();
            world.cached = None;
            world.edits.clear();
            world.is_calm = false;
            world.healing_since = Some(world.now());
            world.log(|| "everything is made good".to_owned());
        }
        for (job, code) in self.commands.clone() {
            if code == Some(0)
                || matches!(job.operation, Operation::Restore | Operation::TakeBack)
                || job.base.is_some()
            {
                continue;
            }
            let machine = self.machines[job.machine].clone();
            let options = RunOptions { resume: job.is_batch, repeat: true, ..RunOptions::default() };
            let mut ended = machine.run(&job, options).await;
            if let Some(write) = cut_short(&ended) {
                // Somebody looks, as the refusal says, and adds it again.
                self.world.borrow_mut().reach(State::AddedAfterLook);
                machine.of_write("verify", &write).await;
                ended = machine.run(&job, options).await;
            }
            // Of one that was started again, and sent nothing, all would be sent again: that takes a yes.
            if ended.error["hint"] == "add --yes" {
                ended = machine.run(&job, RunOptions { agrees: true, ..options }).await;
            }
            let run = ended.run;
            self.take(&job, ended);
            end::check_healed(&mut self.world.borrow_mut(), run);
        }
        let mut world = self.world.borrow_mut();
        for (job, _) in
            self.commands.iter().filter(|(job, _)| job.batch.shard.is_some_and(|part| part.0 == 0))
        {
            if let Some(run) = world.runs.iter().rposition(|run| run.command == job.records[0].0) {
                end::check_parts(&mut world, run);
            }
        }
        world.finish();
        report::check(&mut world);
        goods_rules::check_comments(&mut world);
        for listed in histories {
            history::check(&mut world, &listed, last_run, !self.has_lost);
        }
        for (job, _) in self.commands.iter().filter(|(job, _)| job.is_batch) {
            let last = world.runs.iter().rposition(|run| run.command == job.records[0].0);
            let path = job.journal();
            if world.cut.contains(&path) {
                continue;
            }
            let disk = self.machines[job.machine].disk.lock().unwrap();
            journal::check_end(&mut world, last.unwrap_or_default(), &path, &disk);
        }
        for machine in &self.machines {
            world.reached.extend(&machine.disk.lock().unwrap().reached);
        }
        Verdict::of(&mut world)
    }

    /// What the machines remember, while what they were told of the service is all they have.
    async fn histories(&self) -> Vec<RunEnd> {
        let mut customers: Vec<(usize, usize)> = Vec::new();
        for (job, _) in self.commands.iter().filter(|(job, _)| job.operation == Operation::Update) {
            customers.extend(job.records.iter().map(|(_, customer)| (job.machine, *customer)));
        }
        customers.sort_unstable();
        customers.dedup();
        let mut histories = Vec::new();
        for (machine, customer) in customers {
            histories.push(self.machines[machine].past("history", customer).await);
        }
        histories.extend(self.histories_of_goods().await);
        histories
    }
}

/// The addition of the same item that was cut short, and for which a run refused to add it again.
fn cut_short(ended: &RunEnd) -> Option<String> {
    let hint = ended.error["hint"].as_str()?.strip_suffix("`; after that it can be added again")?;
    Some(hint.split_once("storefront verify ")?.1.to_owned())
}

fn new_address(tag: u32) -> Value {
    json!({"firstname": "N", "lastname": "M", "street": [format!("Ours {tag}")], "city": "New",
        "postcode": "75009", "country_id": "FR", "telephone": "5"})
}
