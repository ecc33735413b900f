//! What happens in one simulation: which commands are run, when they die, and how they are taken up again.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::disk::Disk;
use super::editors::Edit;
use super::faults::{FaultProfile, Observed};
use super::invariants::{self, Reported};
use super::machine::{Death, Job, Machine, Operation, RunEnd, RunOptions, document};
use super::random::Random;
use super::world::{Action, Sent, World};
use crate::clock::Clock;

/// How often a command is taken up again.
const MAX_RUNS: u64 = 4;

/// A simulation in its course.
pub struct Scenario {
    random: Random,
    machine: Machine,
    reported: Vec<Reported>,
    tags: u32,
    /// From when on nothing works any more; every record is then counted that is left unknown.
    is_outage: bool,
    /// Snapshots that dead runs left without a mark.
    unmarked: usize,
}

/// What a simulation came to.
#[derive(Debug, Default)]
pub struct Verdict {
    /// What was broken.
    pub violations: Vec<String>,
    /// What happened.
    pub trace: Vec<String>,
    /// Stands for everything that happened, to compare two simulations of one seed.
    pub fingerprint: u64,
    /// Foreign addresses that were out of reach.
    pub foreign_lost: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Records that were reported as applied, as not applied, and as unknown.
    pub reported: [u64; 3],
}

impl Verdict {
    /// Counts another one in.
    pub fn add(&mut self, other: &Self) {
        self.foreign_lost += other.foreign_lost;
        self.requests += other.requests;
        (0..3).for_each(|at| self.reported[at] += other.reported[at]);
    }
}

/// Simulates one seed; `directory` is for the inputs.
pub async fn simulate(seed: u64, directory: &Path, is_traced: bool) -> Verdict {
    let mut random = Random::new(seed);
    let is_outage = random.chance(6);
    let fault_profile = if is_outage { FaultProfile::default() } else { fault_profile(&mut random) };
    let customers = usize::try_from(1 + random.below(2)).unwrap();
    let disk_faults = if random.chance(15) { random.pick(&[5, 20, 100]) } else { 0 };
    let world = World::new(random.next(), customers, fault_profile, invariants::check_replacement, is_traced);
    let machine = Machine {
        world: std::rc::Rc::new(std::cell::RefCell::new(world)),
        disk: Disk::new(random.next(), disk_faults),
        clock: Clock::starting_at(jiff::Timestamp::from_second(1_800_000_000).unwrap()),
        timeout: Duration::from_secs(random.pick(&[2, 5])),
        retry: random.pick(&[None, None, Some(0)]),
    };
    let mut scenario = Scenario { random, machine, reported: Vec::new(), tags: 0, is_outage, unmarked: 0 };
    if is_outage {
        scenario.outage(directory).await;
    } else {
        scenario.ordinary(directory).await;
    }
    scenario.verdict()
}

fn fault_profile(random: &mut Random) -> FaultProfile {
    let mut fault_profile = FaultProfile {
        writes: random.pick(&[0, 20, 40, 70, 100]),
        reads: random.pick(&[0, 0, 10, 30]),
        stale: (random.pick(&[0, 0, 0, 40, 80]), random.pick(&[300, 2_000, 8_000])),
        ..FaultProfile::default()
    };
    if random.chance(10) {
        let from = random.millis(0, 3_000);
        fault_profile.outage = Some((from, from + random.millis(500, 60_000), any_outage(random)));
    }
    if random.chance(5) {
        fault_profile.unauthorized = Some(usize::try_from(random.below(10)).unwrap());
    }
    fault_profile
}

fn any_outage(random: &mut Random) -> Observed {
    random.pick(&[
        Observed::Silence,
        Observed::Reset,
        Observed::Refused,
        Observed::Page(503),
        Observed::Status(503, Some(2)),
        Observed::Status(502, None),
        Observed::Status(500, None),
    ])
}

impl Scenario {
    /// One or two commands, one after another or at once, with everything that can go wrong.
    async fn ordinary(&mut self, directory: &Path) {
        let first = self.job(directory, 0);
        let second = self.random.chance(45).then(|| self.job(directory, 1));
        self.plan_edits();
        let updated = |job: &Job| (job.operation == Operation::Update).then_some(job.records[0].1);
        let updated = updated(&first).or_else(|| second.as_ref().and_then(updated));
        match second {
            Some(second) if self.random.chance(30) => {
                let machine = self.machine.clone();
                let options = RunOptions::default();
                let (one, other) =
                    futures_util::future::join(machine.run(&first, options), machine.run(&second, options))
                        .await;
                self.take(&first, one);
                self.take(&second, other);
            }
            second => {
                self.with_restarts(&first).await;
                if let Some(second) = second {
                    self.pause().await;
                    self.with_restarts(&second).await;
                }
            }
        }
        if let Some(customer) = updated.filter(|_| self.random.chance(40)) {
            self.pause().await;
            let restore = self.restore(customer);
            self.with_restarts(&restore).await;
        }
    }

    /// A command that undoes the newest update.
    fn restore(&mut self, customer: usize) -> Job {
        self.tags += 1;
        let mut world = self.machine.world.borrow_mut();
        world.actions.insert(self.tags, Action::Restore(self.random.chance(30)));
        let records = vec![(self.tags, customer)];
        let operation = Operation::Update;
        Job { operation, records, is_batch: false, input: "".into(), jobs: 1 }
    }

    /// A batch during which the service stops working for good.
    async fn outage(&mut self, directory: &Path) {
        let operation = self.random.pick(&[Operation::AddItem, Operation::Create]);
        let job = self.batch(operation, 14, directory, 0);
        let from = self.random.millis(0, 900);
        let observed = any_outage(&mut self.random);
        self.machine.world.borrow_mut().fault_profile.outage = Some((from, Duration::MAX, observed));
        let ended = self.machine.run(&job, RunOptions::default()).await;
        self.take(&job, ended);
    }

    async fn with_restarts(&mut self, job: &Job) {
        let mut options = RunOptions { death: self.death(), ..RunOptions::default() };
        for run in 1..=MAX_RUNS {
            let ended = self.machine.run(job, options).await;
            let (died, failed) = (ended.code.is_none(), ended.code != Some(0));
            self.take(job, ended);
            if died && self.random.chance(50) {
                self.machine.world.borrow_mut().log(|| "power loss".to_owned());
                let mut disk = self.machine.disk.lock().unwrap();
                disk.lose_power();
                // Marks are not synced: what they say can be found out again.
                self.unmarked = invariants::unmarked(disk.files());
            }
            if !died && (!failed || self.random.chance(50)) {
                break;
            }
            self.pause().await;
            let death = if run < 2 { self.death() } else { Death::Never };
            options = RunOptions { resume: job.is_batch, repeat: self.random.chance(15), death };
        }
    }

    fn death(&mut self) -> Death {
        match self.random.below(10) {
            0 | 1 => Death::Polls(u32::try_from(self.random.below(60)).unwrap()),
            2 => Death::After(self.random.millis(0, 15_000)),
            3 => Death::Write(self.random.below(14)),
            _ => Death::Never,
        }
    }

    async fn pause(&mut self) {
        let pause = match self.random.below(4) {
            0 | 1 => self.random.millis(0, 3_000),
            2 => self.random.millis(3_000, 180_000),
            _ => self.random.millis(180_000, 900_000),
        };
        tokio::time::sleep(pause).await;
    }

    fn plan_edits(&mut self) {
        let world = &mut *self.machine.world.borrow_mut();
        let similar: Vec<Value> = world
            .actions
            .values()
            .filter_map(|action| if let Action::Add(address) = action { Some(address.clone()) } else { None })
            .collect();
        let count = self.random.pick(&[0, 0, 1, 2, 3]);
        let customers = world.customers.len();
        let edits =
            (0..count).map(|number| Edit::random(&mut self.random, customers, &similar, number)).collect();
        world.plan(edits);
    }

    /// Any command.
    fn job(&mut self, directory: &Path, number: usize) -> Job {
        let operation = match self.random.below(12) {
            0 | 1 => Operation::AddItem,
            2 => Operation::Create,
            3 | 4 => Operation::Ship,
            _ => Operation::Update,
        };
        if self.random.chance(40) {
            let count = 2 + self.random.below(if operation == Operation::Update { 3 } else { 6 });
            return self.batch(operation, count, directory, number);
        }
        let record = self.record(operation, true);
        let action = self.machine.world.borrow().actions[&record.0].clone();
        let input = directory.join(format!("in-{number}.json"));
        if !matches!(action, Action::Remove(_) | Action::Default(_)) {
            std::fs::write(&input, document(&action, record.0).to_string()).unwrap();
        }
        Job { operation, records: vec![record], is_batch: false, input, jobs: 1 }
    }

    fn batch(&mut self, operation: Operation, count: u64, directory: &Path, number: usize) -> Job {
        let records: Vec<(u32, usize)> = (0..count).map(|_| self.record(operation, false)).collect();
        let input = directory.join(format!("in-{number}.ndjson"));
        let world = self.machine.world.borrow();
        let mut text = String::new();
        for (tag, customer) in &records {
            let mut document = document(&world.actions[tag], *tag);
            if matches!(operation, Operation::Update | Operation::Ship) {
                document["token"] = json!(world.customers[*customer].token);
            }
            text += &document.to_string();
            text.push('\n');
        }
        std::fs::write(&input, text).unwrap();
        let jobs = u16::try_from(1 + self.random.below(4)).unwrap();
        Job { operation, records, is_batch: true, input, jobs }
    }

    /// A record that asks for something no other record asks for.
    fn record(&mut self, operation: Operation, may_remove: bool) -> (u32, usize) {
        let random = &mut self.random;
        self.tags += 1;
        let tag = self.tags;
        let mut world = self.machine.world.borrow_mut();
        let customer = usize::try_from(random.below(world.customers.len() as u64)).unwrap();
        let address = i64::try_from((customer as u64 + 1) * 10 + 1 + random.below(2)).unwrap();
        let value = format!("Ours {tag}");
        let action = match (operation, random.below(10)) {
            (Operation::AddItem, _) => Action::Item,
            (Operation::Create, _) => Action::Attribute,
            (Operation::Ship, _) => Action::Ship(customer),
            (_, 0..=2) => Action::Set(Some(address), "city", value),
            (_, 3 | 4) => Action::Set(None, "firstname", value),
            (_, 5) if may_remove => Action::Remove(address),
            (_, 6) if may_remove => Action::Default(address),
            _ => Action::Add(json!({"firstname": "N", "lastname": "M", "street": [value], "city": "New",
                "postcode": "75009", "country_id": "FR", "telephone": "5"})),
        };
        world.actions.insert(tag, action);
        (tag, customer)
    }

    /// Takes in what a run said, and judges what can be judged at once.
    fn take(&mut self, job: &Job, ended: RunEnd) {
        let mut world = self.machine.world.borrow_mut();
        let RunEnd { code, reported, counts, error } = ended;
        let died = code.is_none();
        let was_refused = reported.is_empty() && code != Some(0);
        if !died && !was_refused {
            for (record, count) in counts.iter().enumerate().filter(|(_, count)| **count != 1) {
                world.violated(
                    5,
                    format!("record {} of {job:?} is reported {count} times: {error}", record + 1),
                );
            }
        }
        if self.is_outage {
            let unknown = unknown_since_last_answer(&world, &reported);
            if unknown > usize::from(job.jobs) + 5 {
                world.violated(6, format!("{unknown} records of {job:?} are unknown"));
            }
        }
        let disk = self.machine.disk.lock().unwrap();
        let unmarked = invariants::unmarked(disk.files());
        if !died && disk.faults == 0 && unmarked > self.unmarked {
            world.violated(
                11,
                format!("{unmarked} snapshots have no mark, and {} had none before", self.unmarked),
            );
        }
        self.unmarked = unmarked;
        self.reported.extend(reported);
    }

    fn verdict(self) -> Verdict {
        let Machine { world, disk, .. } = self.machine;
        let mut world = world.borrow_mut();
        world.finish();
        invariants::check_reports(&mut world, &self.reported);
        invariants::check_marks(&mut world, disk.lock().unwrap().files());
        let count =
            |applied| self.reported.iter().filter(|reported| reported.applied == applied).count() as u64;
        let mut fingerprint = crate::journal::fnv::Fnv1a::new();
        for effect in &world.effects {
            fingerprint = fingerprint.update(format!("{:?}", (effect.at, effect.request)).as_bytes());
        }
        for reported in &self.reported {
            fingerprint = fingerprint.update(format!("{reported:?}").as_bytes());
        }
        Verdict {
            fingerprint: fingerprint.finish(),
            foreign_lost: world.foreign_lost,
            requests: world.requests.len() as u64,
            reported: [count("yes"), count("no"), count("unknown")],
            violations: std::mem::take(&mut world.violations),
            trace: std::mem::take(&mut world.trace),
        }
    }
}

/// How many records an outage left unknown, which begins after the last answer.
fn unknown_since_last_answer(world: &World, reported: &[Reported]) -> usize {
    let heard = |sent: &Sent| sent.heard.map(|(at, _)| at);
    let answers = world.requests.iter().filter(|sent| sent.heard.is_some_and(|(_, is_answer)| is_answer));
    let last = answers.filter_map(heard).max();
    let is_later = |sent: &&Sent| heard(sent) > last;
    let later: Vec<Option<u32>> = world.requests.iter().filter(is_later).map(|sent| sent.tag).collect();
    reported
        .iter()
        .filter(|reported| reported.applied == "unknown" && later.contains(&Some(reported.tag)))
        .count()
}
