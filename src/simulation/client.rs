//! One run of the program in the modelled world: the real commands, on a modelled disk, over a modelled network.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::disk::{Disk, Mount, Process};
use super::invariants::Reported;
use super::killable::Killable;
use super::network::Network;
use super::world::{Action, Run, World};
use crate::batch;
use crate::cli::batch::BatchArgs;
use crate::cli::customer::{CustomerChoice, ReplacementArgs, RestoreArgs, UpdateArgs};
use crate::cli::{Cli, Command, GlobalArgs, LazyArgs, LazySubcommands, OutputFormat};
use crate::clock::Clock;
use crate::config::{ReadOnce, Settings};
use crate::context::Context;
use crate::failure::Failure;
use crate::input::records::{Format, Origin, Source};
use crate::input::{Draft, NoFlags};
use crate::ops::profile::restore::restore;
use crate::ops::profile::update::Update;
use crate::ops::record::{RecordOperation, perform};
use crate::plan::operation::Operation;
use crate::plan::request::StoreView;
use crate::plan::request::dialect::MARKETPLACE;
use crate::report::Report;
use crate::report::ordered_results::OrderedResults;
use crate::report::outcome::Outcome;
use crate::session::Session;
use crate::session::service::Service;
use crate::token::Token;

/// A command of ours.
#[derive(Debug, Clone)]
pub struct Job {
    /// What it does.
    pub operation: Operation,
    /// Its records by their tags, each with its customer; a single command has one.
    pub records: Vec<(u32, usize)>,
    /// The file of its records; none for a single command.
    pub input: Option<PathBuf>,
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
    /// Whether it died.
    pub died: bool,
    /// What it said of its records.
    pub reported: Vec<Reported>,
    /// How often it reported each record of a batch.
    pub counts: Vec<usize>,
    /// Its failure.
    pub failure: Option<Failure>,
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
        self.world.borrow_mut().runs.push(Run {
            command: job.records[0].0,
            is_batch: job.input.is_some(),
            may_repeat: options.repeat,
        });
        let actions: Vec<Action> =
            job.records.iter().map(|(tag, _)| self.world.borrow().actions[tag].clone()).collect();
        self.world.borrow_mut().log(|| format!("run {run}: {job:?} {options:?} {actions:?}"));
        let mut process = Process::default();
        if let Death::Write(number) = options.death {
            process.dies_at = Some(number);
        }
        let process = Arc::new(Mutex::new(process));
        let lines = Lines::default();
        let running = Box::pin(self.perform(run, (job, &actions), options, process.clone(), lines.clone()));
        let polls = if let Death::Polls(polls) = options.death { Some(polls) } else { None };
        let killable = Killable { inner: Some(running), polls, process: process.clone() };
        let limit = if let Death::After(time) = options.death { time } else { Duration::from_secs(86_400) };
        let result = tokio::time::timeout(limit, killable).await.ok().flatten();
        process.lock().unwrap().is_dead = true;
        let mut world = self.world.borrow_mut();
        world.catch_up();
        let now = world.now();
        let mut ended = RunEnd { died: result.is_none(), ..RunEnd::default() };
        match result {
            Some(Ok(Some(outcome))) => ended.reported.push(of_outcome(run, job.records[0].0, now, &outcome)),
            Some(Ok(None)) | None => {}
            Some(Err(failure)) => {
                if job.input.is_none() {
                    ended.reported.push(of_failure(run, job.records[0].0, now, &failure));
                }
                ended.failure = Some(failure);
            }
        }
        if job.input.is_some() {
            ended.counts = vec![0; job.records.len()];
            lines.reported(run, job, now, &mut ended);
        }
        for reported in &ended.reported {
            world.log(|| format!("reported: {reported:?}"));
        }
        world.log(|| format!("run {run} ended: died {}, {:?}", ended.died, ended.failure));
        ended
    }

    async fn perform(
        &self,
        run: usize,
        (job, actions): (&Job, &[Action]),
        options: RunOptions,
        process: Arc<Mutex<Process>>,
        lines: Lines,
    ) -> Result<Option<Outcome>, Failure> {
        let mount = Mount::new(&self.disk, &process);
        let mut context = Context::for_test(&[], Path::new("/modelled"));
        context.storage = Arc::new(mount);
        context.clock = self.clock;
        let global = GlobalArgs {
            yes: true,
            no_input: true,
            allow_unknown: true,
            timeout: Some(self.timeout),
            retry: self.retry,
            ..GlobalArgs::default()
        };
        let report = Report::new(&context, OutputFormat::Json, None, false, 0);
        let config = ReadOnce::default();
        let session = Session {
            context: &context,
            global: &global,
            config: &config,
            dialect: &MARKETPLACE,
            report: &report,
        };
        let token = Token::new(&self.world.borrow().customers[job.records[0].1].token).unwrap();
        let mut settings = Settings::made_up(
            &global,
            "https://shop.example.com/rest".parse().unwrap(),
            StoreView::new("default").unwrap(),
            token.clone(),
            token,
        );
        settings.lock_timeout = Duration::from_secs(4);
        let tag = job.input.is_none().then_some(job.records[0].0);
        let network = Network { world: self.world.clone(), run, process, tag, shown: RefCell::default() };
        let service = Service::over(&session, settings, Box::new(network));
        let args = BatchArgs {
            jobs: Some(job.jobs),
            resume: options.resume,
            retry_unknown: options.resume && options.repeat,
            ..BatchArgs::default()
        };
        let mut update = update_args();
        update.replacement =
            ReplacementArgs { after_unknown: options.repeat && !options.resume, ..update.replacement };
        if let Some(input) = &job.input {
            let source = Source { origin: Origin::File(input.clone()), format: Format::Ndjson };
            let work = match job.operation {
                Operation::CustomerUpdate => RecordOperation::UpdateProfile(&update),
                operation => RecordOperation::Direct(operation, &NoFlags),
            };
            let results = OrderedResults::to(&report, Box::new(lines));
            let run = Box::pin(batch::run_over(&service, &source, &args, work, results));
            return run.await.map(|()| None);
        }
        let (tag, customer) = job.records[0];
        if let Action::Restore(may_delete) = actions[0] {
            let choice = CustomerChoice::default();
            let allow_delete = may_delete.then_some(1);
            let replacement = update.replacement;
            let args = RestoreArgs { choice, snapshot: None, allow_delete, all: false, replacement };
            return restore(&service, &args).await.map(Some);
        }
        let document = document(&actions[0], tag, customer);
        match actions[0] {
            Action::Remove(id) => update.remove_addresses = vec![id],
            Action::Default(id) => (update.address, update.default_billing) = (Some(id), true),
            _ => {}
        }
        if job.operation != Operation::CustomerUpdate {
            let draft = Draft::new(&MARKETPLACE, job.operation, Some(document), &NoFlags, true)?;
            return perform(&service, &draft, None).await.map(Some);
        }
        let draft = Draft::new(&MARKETPLACE, job.operation, Some(document), &update, true)?;
        Update::new(draft, &update)?.replace(&service).await.map(Some)
    }
}

/// A record as it stands in an input.
pub fn document(action: &Action, tag: u32, customer: usize) -> Value {
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
        Action::Set(None, name, value) => json!({"customer": {*name: value}, "tag": tag}),
        Action::Set(Some(id), name, value) => {
            json!({"customer": {"addresses": [{"id": id, *name: value}]}, "tag": tag})
        }
        Action::Add(address) => json!({"customer": {"addresses": [address]}, "tag": tag}),
        Action::Remove(_) | Action::Default(_) | Action::Restore(_) => {
            json!({"customer": {}, "tag": tag, "from": customer})
        }
    }
}

/// What the command line gives where no flag is named.
fn update_args() -> UpdateArgs {
    thread_local! {
        static ARGS: UpdateArgs = {
            let words = ["storefront", "customer", "update"].map(std::ffi::OsString::from);
            match Cli::parse_args(&words).unwrap().command {
                Command::Customer(LazySubcommands(crate::cli::customer::CustomerCommand::Update(LazyArgs(args)))) => *args,
                _ => unreachable!(),
            }
        };
    }
    ARGS.with(Clone::clone)
}

fn of_outcome(run: usize, tag: u32, at: Duration, outcome: &Outcome) -> Reported {
    let reason = outcome.reason.unwrap_or_default().to_owned();
    Reported { run, tag, at, applied: outcome.applied.name().to_owned(), reason }
}

fn of_failure(run: usize, tag: u32, at: Duration, failure: &Failure) -> Reported {
    Reported { run, tag, at, applied: failure.applied.name().to_owned(), reason: failure.message.clone() }
}

/// Standard output of a batch.
#[derive(Debug, Clone, Default)]
struct Lines(Rc<RefCell<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// What the lines say.
    fn reported(&self, run: usize, job: &Job, at: Duration, ended: &mut RunEnd) {
        for line in self.0.borrow().split(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
            let record = usize::try_from(line["record"].as_u64().unwrap()).unwrap() - 1;
            let reason = line["reason"].as_str().or_else(|| line["error"]["message"].as_str());
            ended.counts[record] += 1;
            ended.reported.push(Reported {
                run,
                tag: job.records[record].0,
                at,
                applied: line["applied"].as_str().unwrap().to_owned(),
                reason: reason.unwrap_or_default().to_owned(),
            });
        }
    }
}
