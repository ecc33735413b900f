//! One machine of ours in the world: its disk, its clock, and the runs of the program on it.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::action::OF_VIEW;
use super::call::ADMIN;
use super::customers::Stored;
use super::disk::{Disk, Mount, Process};
use super::input::InputEdit;
use super::job::{Access, Death, Job, RunOptions, name};
use super::killable::Killable;
use super::network::Network;
use super::program::{self, Given, Streams, Written};
use super::rules::Rule;
use super::states::State;
use super::world::{Reported, Run, World};
use storefront::client::Transport;
use storefront::system::clock::Clock;
use storefront::system::storage::Storage as _;

/// How a run ended.
#[derive(Debug, Default)]
pub struct RunEnd {
    /// Its number.
    pub run: usize,
    /// Its exit code; none where it died.
    pub code: Option<u8>,
    /// How often it reported each record.
    pub counts: Vec<usize>,
    /// The last error on its standard error.
    pub error: Value,
    /// All it printed.
    pub lines: Vec<Value>,
}

/// One machine of ours in the world.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The world.
    pub world: Rc<RefCell<World>>,
    /// Which machine it is.
    pub number: usize,
    /// Its disk.
    pub disk: Arc<Mutex<Disk>>,
    /// By how many seconds its clock is wrong.
    pub clock_error: Rc<Cell<i64>>,
    /// Whose tokens it has.
    pub access: Access,
    /// `--timeout`
    pub timeout: Duration,
    /// `--retry`
    pub retry: Option<u32>,
}

/// What a process is given.
struct Start {
    words: Vec<String>,
    token: String,
    base: Option<Stored>,
    options: RunOptions,
    edit: Option<InputEdit>,
}

impl Machine {
    /// Runs a command to its end, or to its death.
    pub async fn run(&self, job: &Job, options: RunOptions) -> RunEnd {
        // A part without a journal is begun, and not resumed.
        let journal = self.disk.lock().unwrap().content(&job.journal()).map(<[u8]>::to_vec);
        let has_journal = journal.is_some();
        if options.resume && journal.is_some_and(|text| text.last().is_some_and(|byte| *byte != b'\n')) {
            self.world.borrow_mut().reach(State::TornLine);
        }
        let is_new = job.batch.shard.is_some() && !has_journal;
        let options = RunOptions { resume: options.resume && !is_new, ..options };
        let (run, start) = {
            let mut world = self.world.borrow_mut();
            let mut words = job.words(&world, self.access, options);
            words.extend(["--timeout".to_owned(), self.timeout.as_secs().to_string()]);
            words.extend(self.retry.iter().flat_map(|retry| ["--retry".to_owned(), retry.to_string()]));
            let (tag, customer) = job.records[0];
            let journal = job.is_batch.then(|| job.journal());
            let (run, began) = (world.runs.len(), world.now());
            // A plan that was begun is resumed without a flag.
            let was_begun = world.runs.iter().any(|run| run.is_plan && run.journal == journal);
            world.runs.push(Run {
                records: job.records.clone(),
                places: job.places(),
                machine: self.number,
                command: tag,
                is_batch: job.is_batch,
                is_plan: job.is_plan,
                may_repeat: options.repeat || options.restart,
                is_restarted: options.restart,
                only: options.only,
                verifies: job.verifies,
                is_part: job.batch.shard.is_some() || options.only.is_some(),
                token: (self.access == Access::Own).then_some(job.token),
                journal,
                jobs: job.jobs,
                is_resumed: options.resume || was_begun,
                marks: options.settled[0] > 0,
                began,
                ..Run::default()
            });
            world.log(|| {
                format!("run {run}, machine {}: {options:?} storefront {}", self.number, words.join(" "))
            });
            let token = world.customers[customer].tokens[job.token].clone();
            let base = job.base.as_ref().map(|(_, base)| base.clone());
            (run, Start { words, token, base, options, edit: job.batch.edit.clone() })
        };
        let (code, written) = self.start(run, start).await;
        let mut world = self.world.borrow_mut();
        world.catch_up();
        let now = world.now();
        (world.runs[run].code, world.runs[run].ended) = (code, Some(now));
        let ended = read(&mut world, run, code, &written);
        world.log(|| format!("run {run} ended: {code:?}"));
        ended
    }

    /// Writes a plan of what a command would do; gives the exit code.
    pub async fn plan(&self, job: &Job, file: &Path) -> Option<u8> {
        let (run, words, token) = {
            let mut world = self.world.borrow_mut();
            let mut words = job.words(&world, self.access, RunOptions::default());
            let file = file.to_string_lossy().into_owned();
            words.extend(["--plan".to_owned(), file, "--expires".to_owned(), "720h".to_owned()]);
            world.runs.push(Run { machine: self.number, ..Run::default() });
            let run = world.runs.len() - 1;
            world.log(|| format!("run {run}, machine {}: storefront {}", self.number, words.join(" ")));
            (run, words, world.customers[job.records[0].1].tokens[job.token].clone())
        };
        let options = RunOptions::default();
        let start = Start { words, token, base: None, options, edit: None };
        let (code, written) = self.start(run, start).await;
        let mut world = self.world.borrow_mut();
        world.runs[run].code = code;
        read(&mut world, run, code, &written).code
    }

    /// Copies a file on its disk.
    pub fn copy(&self, from: &Path, to: &Path) {
        let content = self.disk.lock().unwrap().content(from).unwrap_or_default().to_vec();
        // A disk that fails has no copy.
        let _ = Mount::new(&self.disk, &Arc::default()).create(to, &content);
    }

    /// Lists what was written to a customer with `history`, or compares the last of it with `verify`.
    pub async fn past(&self, command: &str, customer: usize) -> RunEnd {
        let mut words = vec![command.to_owned()];
        if self.access != Access::Own {
            words.extend(["--customer".to_owned(), name(self.access, customer)]);
        }
        self.look(words, customer).await
    }

    /// Says what became of a write, with `history`, or compares it with `verify`.
    pub async fn of_write(&self, command: &str, write: &str) -> RunEnd {
        self.look(vec![command.to_owned(), write.to_owned()], 0).await
    }

    /// Compares what a batch wrote with what is there.
    pub async fn verify(&self, job: &Job) -> RunEnd {
        let mut words = vec!["verify".to_owned(), job.journal().to_string_lossy().into_owned()];
        words.extend(OF_VIEW.map(str::to_owned).into_iter().filter(|_| job.is_of_view));
        self.look(words, 0).await
    }

    /// Deletes what is kept of a customer.
    pub async fn forget(&self, customer: usize) -> RunEnd {
        let access = if self.access == Access::Own { Access::Id } else { self.access };
        let words = ["forget", "--yes", "--customer"].map(str::to_owned).into_iter();
        self.look(words.chain([name(access, customer)]).collect(), customer).await
    }

    /// Writes a plan of how a batch is undone.
    pub async fn undo(&self, job: &Job, plan: &Path) -> RunEnd {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut words = vec!["undo".to_owned(), text(&job.journal()), "--plan".to_owned(), text(plan)];
        words.extend(["--expires", "720h"].map(str::to_owned));
        if !job.is_plan {
            words.extend(["--input".to_owned(), text(&job.input)]);
        }
        words.extend(OF_VIEW.map(str::to_owned).into_iter().filter(|_| job.is_of_view));
        self.look(words, job.records[0].1).await
    }

    /// Runs a command that writes nothing to the service.
    async fn look(&self, words: Vec<String>, customer: usize) -> RunEnd {
        let (run, token) = {
            let mut world = self.world.borrow_mut();
            let began = world.now();
            world.runs.push(Run { machine: self.number, began, ..Run::default() });
            world.log(|| format!("machine {}: storefront {}", self.number, words.join(" ")));
            (world.runs.len() - 1, world.customers[customer].tokens[0].clone())
        };
        let options = RunOptions::default();
        let start = Start { words, token, base: None, options, edit: None };
        let (code, written) = self.start(run, start).await;
        let mut world = self.world.borrow_mut();
        world.runs[run].code = code;
        read(&mut world, run, code, &written)
    }

    async fn start(&self, run: usize, start: Start) -> (Option<u8>, Written) {
        let Start { words, token, base, options, edit } = start;
        let mut process = Process { edit, ..Process::default() };
        if let Death::Write(number) = options.death {
            process.dies_at = Some(number);
        }
        let process = Arc::new(Mutex::new(process));
        let is_magento = self.world.borrow().is_magento;
        let of_customer =
            if self.access == Access::Own { ("STOREFRONT_TOKEN", token.as_str()) } else { ("LANG", "C") };
        let variables = [
            ("STOREFRONT_BASE_URL", "https://shop.example.com/rest"),
            ("STOREFRONT_STORE_VIEW", "default"),
            ("STOREFRONT_API", if is_magento { "magento" } else { "marketplace" }),
            ("STOREFRONT_ADMIN_TOKEN", ADMIN),
            of_customer,
        ];
        let wall = 1_800_000_000 + self.clock_error.get() + self.world.borrow().now().as_secs().cast_signed();
        let (written, interrupt) = (Streams::default(), Arc::<Notify>::default());
        let running = program::run(Given {
            arguments: &words,
            variables: &variables,
            home: Path::new("/modelled"),
            storage: Arc::new(Mount::new(&self.disk, &process)),
            clock: Clock::starting_at(jiff::Timestamp::from_second(wall).unwrap()),
            network: self.network(run, &process, base),
            written: written.clone(),
            interrupt: interrupt.clone(),
        });
        let running = Box::pin(running);
        let polls = if let Death::Polls(polls) = options.death { Some(polls) } else { None };
        let killable = Killable { inner: Some(running), polls, process: process.clone() };
        let limit = if let Death::After(time) = options.death { time } else { Duration::from_secs(86_400) };
        let signals = async {
            if let Some(after) = options.interrupt {
                tokio::time::sleep(after).await;
                self.signal(run, false);
                interrupt.notify_one();
                if let Some(after) = options.second {
                    tokio::time::sleep(after).await;
                    self.signal(run, true);
                    interrupt.notify_one();
                }
            }
            std::future::pending::<()>().await;
        };
        let editor = edit_later(&process);
        let code = tokio::select! {
            biased;
            () = signals => None,
            () = editor => None,
            code = tokio::time::timeout(limit, killable) => code.ok().flatten(),
        };
        let (is_edited, is_renamed) = {
            let mut process = process.lock().unwrap();
            process.is_dead = true;
            (process.is_edited, process.is_renamed)
        };
        if is_edited {
            let mut world = self.world.borrow_mut();
            world.runs[run].is_edited = true;
            world.reach(if is_renamed { State::RenamedDuring } else { State::EditedDuring });
        }
        (code, written.take())
    }

    /// A signal comes.
    fn signal(&self, run: usize, is_second: bool) {
        let mut world = self.world.borrow_mut();
        let now = world.now();
        world.log(|| format!("run {run} is sent the {} signal", if is_second { "second" } else { "first" }));
        let run = &mut world.runs[run];
        *(if is_second { &mut run.signalled_again } else { &mut run.signalled }) = Some(now);
    }

    fn network(
        &self,
        run: usize,
        process: &Arc<Mutex<Process>>,
        base: Option<Stored>,
    ) -> Rc<dyn Fn() -> Box<dyn Transport>> {
        let (world, disk, process) = (self.world.clone(), self.disk.clone(), process.clone());
        Rc::new(move || {
            Box::new(Network {
                world: world.clone(),
                disk: disk.clone(),
                run,
                process: process.clone(),
                base: base.clone(),
                shown: RefCell::default(),
            })
        })
    }
}

/// Edits the input some time after the run has begun its journal.
async fn edit_later(process: &Mutex<Process>) {
    let (begun, delay) = {
        let process = process.lock().unwrap();
        (process.begun.clone(), process.edit.as_ref().map(|edit| edit.delay))
    };
    if let Some(delay) = delay.filter(|delay| !delay.is_zero()) {
        begun.notified().await;
        tokio::time::sleep(delay).await;
        let edit = process.lock().unwrap().edit.take();
        if let Some(edit) = edit {
            edit.perform();
            let mut process = process.lock().unwrap();
            (process.is_edited, process.is_renamed) = (true, edit.is_renamed);
        }
    }
    std::future::pending::<()>().await;
}

/// What a run said, taken from what it wrote.
fn read(world: &mut World, run: usize, code: Option<u8>, written: &Written) -> RunEnd {
    let records = world.runs[run].records.clone();
    let mut ended = RunEnd { run, code, counts: vec![0; records.len()], ..RunEnd::default() };
    for (at, line) in &written.stderr {
        let at = world.time_of(*at);
        world.log_at(at, || format!("stderr: {line}"));
        match serde_json::from_str::<Value>(line) {
            Ok(said) if said.get("error").is_some() => ended.error = said["error"].clone(),
            Ok(said) if said.get("warning").is_some() => {
                let message = said["warning"]["message"].as_str().unwrap_or_default();
                let of_line = message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
                let line = of_line.and_then(|(line, _)| line.parse::<usize>().ok()).unwrap_or(1);
                if message.contains("the comment was not added")
                    && let Some((tag, _)) = records.get(line - 1)
                {
                    world.without_comment.insert(*tag);
                }
            }
            _ => world.broke(Rule::Output, run, None, format!("standard error is no JSON: {line}")),
        }
    }
    for (at, line) in lines(&written.stdout) {
        let at = world.time_of(at);
        world.log_at(at, || format!("stdout: {}", String::from_utf8_lossy(line)));
        world.checks(Rule::Output);
        match serde_json::from_slice::<Value>(line) {
            Ok(said) => {
                let record = said["record"].as_u64().map_or(0, |record| usize::try_from(record).unwrap() - 1);
                if let Some((tag, _)) = records.get(record) {
                    ended.counts[record] += 1;
                    world.reported.push(reported(run, *tag, at, &said, &said["error"]));
                }
                ended.lines.push(said);
            }
            Err(_) => world.broke(Rule::Output, run, None, "standard output is no JSON".to_owned()),
        }
    }
    if let (false, Some((tag, _)), true) =
        (world.runs[run].is_batch, records.first(), ended.error.is_object())
    {
        ended.counts[0] += 1;
        let at = written.stderr.last().map_or(world.now(), |(at, _)| world.time_of(*at));
        world.reported.push(reported(run, *tag, at, &ended.error, &ended.error));
    }
    ended
}

fn reported(run: usize, tag: u32, at: Duration, said: &Value, error: &Value) -> Reported {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let write = said["write"].as_str().or(error["write"].as_str());
    Reported {
        run,
        tag,
        at,
        applied: text(&said["applied"]).unwrap_or_default(),
        reason: text(&said["reason"]).or_else(|| text(&error["message"])).unwrap_or_default(),
        kind: text(&error["kind"]),
        verified: said["verified"].as_bool(),
        line: said["line"].as_u64().and_then(|line| line.try_into().ok()),
        warned: said["calls"]
            .as_array()
            .is_some_and(|calls| calls.iter().any(|call| call["applied"] != "yes")),
        write: write.map(str::to_owned),
    }
}

/// The lines of standard output, each with the time at which its end was written.
fn lines(stdout: &[(Instant, Vec<u8>)]) -> Vec<(Instant, &[u8])> {
    let pieces =
        stdout.iter().flat_map(|(at, bytes)| bytes.split(|byte| *byte == b'\n').map(|line| (*at, line)));
    pieces.filter(|(_, line)| !line.is_empty()).collect()
}
