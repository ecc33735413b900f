//! One machine of ours in the world: its disk, its clock, and the runs of the program on it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::disk::{Disk, Mount, Process};
use super::invariants::Reported;
use super::killable::Killable;
use super::network::Network;
use super::program::{self, Given, Surrounded, Surroundings, Written};
use super::world::{Action, Run, World};
use crate::clock::Clock;

/// An operation over records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `customer update`, and `customer restore` for [`Action::Restore`].
    Update,
    /// `quote add-item`
    AddItem,
    /// `quote ship`
    Ship,
    /// `attribute create`
    Create,
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
    /// The file of its input.
    pub input: PathBuf,
    /// `--jobs`
    pub jobs: u16,
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

/// How a run ended.
#[derive(Debug, Default)]
pub struct RunEnd {
    /// Its exit code; none where it died.
    pub code: Option<u8>,
    /// What it said of its records.
    pub reported: Vec<Reported>,
    /// How often it reported each record of a batch.
    pub counts: Vec<usize>,
    /// The last error on its standard error.
    pub error: Value,
}

/// One machine of ours in the world.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The world.
    pub world: Rc<RefCell<World>>,
    /// Its disk.
    pub disk: Arc<Mutex<Disk>>,
    /// Its time of day.
    pub clock: Clock,
    /// `--timeout`
    pub timeout: Duration,
    /// `--retry`
    pub retry: Option<u32>,
}

impl Machine {
    /// Runs a command to its end, or to its death.
    pub async fn run(&self, job: &Job, options: RunOptions) -> RunEnd {
        let run = self.world.borrow().runs.len();
        let (tag, customer) = job.records[0];
        self.world.borrow_mut().runs.push(Run {
            records: job.records.clone(),
            command: tag,
            is_batch: job.is_batch,
            may_repeat: options.repeat,
        });
        let arguments = self.arguments(job, options);
        self.world.borrow_mut().log(|| format!("run {run}: {options:?} storefront {}", arguments.join(" ")));
        let mut process = Process::default();
        if let Death::Write(number) = options.death {
            process.dies_at = Some(number);
        }
        let process = Arc::new(Mutex::new(process));
        let token = self.world.borrow().customers[customer].token.clone();
        let variables = [
            ("STOREFRONT_BASE_URL", "https://shop.example.com/rest"),
            ("STOREFRONT_STORE_VIEW", "default"),
            ("STOREFRONT_TOKEN", &token),
            ("STOREFRONT_ADMIN_TOKEN", "token-of-the-administrator"),
        ];
        let running = program::run(Given {
            arguments: &arguments,
            variables: &variables,
            home: Path::new("/modelled"),
            storage: Arc::new(Mount::new(&self.disk, &process)),
            clock: self.clock,
        });
        let written = Rc::<RefCell<Written>>::default();
        let (world, alive, tag) = (self.world.clone(), process.clone(), (!job.is_batch).then_some(tag));
        let network = move || -> Box<dyn crate::http::Transport> {
            Box::new(Network {
                world: world.clone(),
                run,
                process: alive.clone(),
                tag,
                shown: RefCell::default(),
            })
        };
        let surroundings =
            Surroundings { network: Rc::new(network), written: written.clone(), interrupt: Rc::default() };
        let running = Box::pin(Surrounded::new(running, surroundings));
        let polls = if let Death::Polls(polls) = options.death { Some(polls) } else { None };
        let killable = Killable { inner: Some(running), polls, process: process.clone() };
        let limit = if let Death::After(time) = options.death { time } else { Duration::from_secs(86_400) };
        let code = tokio::time::timeout(limit, killable).await.ok().flatten();
        process.lock().unwrap().is_dead = true;
        let mut world = self.world.borrow_mut();
        world.catch_up();
        let ended = ended(&mut world, run, job, code, &written.borrow());
        for reported in &ended.reported {
            world.log(|| format!("reported: {reported:?}"));
        }
        world.log(|| format!("run {run} ended: {code:?} {}", ended.error));
        ended
    }

    /// The command line.
    fn arguments(&self, job: &Job, options: RunOptions) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut add = |more: &[&str]| words.extend(more.iter().map(|&word| word.to_owned()));
        let (tag, _) = job.records[0];
        let action = self.world.borrow().actions[&tag].clone();
        let is_restore = matches!(action, Action::Restore(_));
        add(match job.operation {
            Operation::Update if is_restore => &["customer", "restore"],
            Operation::Update => &["customer", "update"],
            Operation::AddItem => &["quote", "add-item"],
            Operation::Ship => &["quote", "ship"],
            Operation::Create => &["attribute", "create"],
        });
        if job.is_batch {
            add(&["--jobs", &job.jobs.to_string()]);
        }
        match (job.is_batch, &action) {
            (false, Action::Set(Some(id), name, value)) => {
                add(&["--address", &id.to_string(), &format!("--{name}"), value]);
            }
            (false, Action::Set(None, name, value)) => add(&[&format!("--{name}"), value]),
            (false, Action::Remove(id)) => add(&["--remove-address", &id.to_string()]),
            (false, Action::Default(id)) => add(&["--address", &id.to_string(), "--default-billing"]),
            (false, Action::Restore(true)) => add(&["--allow-delete", "1"]),
            (false, Action::Restore(false)) => {}
            _ => add(&["--input", &job.input.to_string_lossy()]),
        }
        add(&["--yes", "--timeout", &self.timeout.as_secs().to_string()]);
        if let Some(retry) = self.retry {
            add(&["--retry", &retry.to_string()]);
        }
        if job.operation == Operation::Update {
            add(&["--lock-timeout", "4"]);
        }
        if options.resume {
            add(&["--resume"]);
        }
        match (job.is_batch, job.operation) {
            (true, _) if options.resume && options.repeat => add(&["--retry-unknown"]),
            (false, Operation::Update) if options.repeat => add(&["--after-unknown"]),
            _ => {}
        }
        words
    }
}

/// A record as it stands in an input.
pub fn document(action: &Action, tag: u32) -> Value {
    match action {
        Action::Item => {
            json!({"cartItem": {"sku": format!("sku_{tag}"), "qty": 1, "quote_id": format!("{}", tag % 3)}})
        }
        Action::Attribute => {
            json!({"attribute": {"attribute_code": format!("code_{tag}"), "frontend_input": "text",
            "entity_type_id": "4", "default_frontend_label": "Label"}})
        }
        Action::Ship(_) => {
            let address = json!({"firstname": "N", "lastname": "M", "street": ["Road 1"], "city": "Paris",
                "postcode": "75009", "country_id": "FR", "telephone": "5"});
            json!({"addressInformation": {"shipping_address": address, "shipping_carrier_code": "flatrate",
                "shipping_method_code": "flatrate"}, "paymentMethod": {"method": format!("pay_{tag}")}})
        }
        Action::Set(None, name, value) => json!({"customer": {*name: value}}),
        Action::Set(Some(id), name, value) => json!({"customer": {"addresses": [{"id": id, *name: value}]}}),
        Action::Add(address) => json!({"customer": {"addresses": [address]}}),
        Action::Remove(_) | Action::Default(_) | Action::Restore(_) => unreachable!("given by flags"),
    }
}

/// What a run said, taken from what it wrote.
fn ended(world: &mut World, run: usize, job: &Job, code: Option<u8>, written: &Written) -> RunEnd {
    let mut ended = RunEnd { code, ..RunEnd::default() };
    for (at, line) in &written.stderr {
        world.log_at(*at, || format!("stderr: {line}"));
        match serde_json::from_str::<Value>(line) {
            Ok(said) if said.get("error").is_some() => ended.error = said["error"].clone(),
            Ok(said) if said.get("warning").is_some() => {}
            _ => world.violated(5, format!("run {run}: standard error is no JSON: {line}")),
        }
    }
    ended.counts = vec![0; job.records.len()];
    for (at, said) in lines(&written.stdout) {
        world.log_at(at, || format!("stdout: {}", String::from_utf8_lossy(said)));
        let Ok(said) = serde_json::from_slice::<Value>(said) else {
            world.violated(5, format!("run {run}: standard output is no JSON"));
            continue;
        };
        let record = said["record"].as_u64().map_or(0, |record| usize::try_from(record).unwrap() - 1);
        let reason = said["reason"].as_str().or_else(|| said["error"]["message"].as_str());
        ended.counts[record] += 1;
        ended.reported.push(Reported {
            run,
            tag: job.records[record].0,
            at: world.time_of(at),
            applied: said["applied"].as_str().unwrap_or_default().to_owned(),
            reason: reason.unwrap_or_default().to_owned(),
        });
    }
    if let (false, Some(applied), Some((at, _))) =
        (job.is_batch, ended.error["applied"].as_str(), written.stderr.last())
    {
        let reason = ended.error["message"].as_str().unwrap_or_default().to_owned();
        let (tag, at) = (job.records[0].0, world.time_of(*at));
        ended.counts[0] += 1;
        ended.reported.push(Reported { run, tag, at, applied: applied.to_owned(), reason });
    }
    ended
}

/// The lines of standard output, each with the time at which its end was written.
fn lines(stdout: &[(Instant, Vec<u8>)]) -> Vec<(Instant, &[u8])> {
    let pieces =
        stdout.iter().flat_map(|(at, bytes)| bytes.split(|byte| *byte == b'\n').map(|line| (*at, line)));
    pieces.filter(|(_, line)| !line.is_empty()).collect()
}
