//! SIGKILL between any two of: the journal's `sending` line, the commit in the log, the call, its answer, the commit of the
//! outcome, and the journal's line about it. What is said afterwards is what the shop has, and nothing is sent twice.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::json;

use crate::support::batch::lines;
use crate::support::flaky_proxy::{FlakyProxy, Half};
use crate::support::magento;
use crate::support::raw_http::CUSTOMER;
use crate::support::rows::{CALLS, Row};
use crate::support::storefront::{Outcome, Storefront};
use crate::support::test_env::{TestEnv, serve};
use crate::support::trial::Trial;

const BATCH: &str = "customer update -i moves.csv --jobs 1 --retry 0 -o json";
const SINGLE: &str = "customer update --address 2 --city Troy -y --retry 0 -o json";

const ADDITIONS: &str = "quote add-item -i adds.csv --jobs 1 --retry 0 -o json";
const ADDITION: &str = "quote add-item --sku mug-blue --qty 1 --quote-id 1 --retry 0 -o json";

/// The journal and the log as they are at one moment.
#[derive(Debug, Clone, Default)]
struct Disk(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Disk {
    fn of(paths: &[PathBuf]) -> Self {
        Self(paths.iter().map(|path| (path.clone(), std::fs::read(path).ok())).collect())
    }

    fn put_back(&self) {
        for (path, content) in &self.0 {
            match content {
                Some(content) => std::fs::write(path, content).unwrap(),
                None => drop(std::fs::remove_file(path)),
            }
        }
    }
}

/// What the process has on disk, as each half of an exchange passes.
type Seen = Arc<Mutex<Vec<((usize, Half), Disk)>>>;

/// A shop behind a proxy at which the program is killed.
struct Scene {
    env: TestEnv,
    proxy: FlakyProxy,
    journal: PathBuf,
    log: Vec<PathBuf>,
    seen: Seen,
}

impl Scene {
    /// Runs the line until this half of the exchange arrives, and kills the program while it waits. Of the request nothing reaches
    /// the shop then, of the reply nothing the program.
    fn killed(line: &str, at: (usize, Half)) -> Self {
        let env = TestEnv::new();
        files(&env);
        let journal = env.home.dir.path().join(if line == ADDITIONS {
            "adds.csv.journal"
        } else {
            "moves.csv.journal"
        });
        // Without the shared memory, which SQLite makes anew.
        let log = ["log.db", "log.db-wal"].map(|name| env.home.state().join(name)).to_vec();
        let paths = [log.clone(), vec![journal.clone()]].concat();
        let seen = Seen::default();
        let saw = seen.clone();
        let proxy = FlakyProxy::before(env.sandbox.address(), move |number, half| {
            saw.lock().unwrap().push(((number, half), Disk::of(&paths)));
            // It stays held: the number does not come again.
            if (number, half) == at {
                loop {
                    std::thread::park();
                }
            }
        });
        let mut child = serve(env.home.storefront(line), &proxy.url()).spawn_silent();
        while seen.lock().unwrap().last().is_none_or(|(now, _)| *now != at) {
            assert!(child.try_wait().unwrap().is_none(), "ended before {at:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        Self { env, proxy, journal, log, seen }
    }

    /// The disk as this half of an exchange passed.
    fn disk(&self, at: (usize, Half), only: &[PathBuf]) -> Disk {
        let seen = self.seen.lock().unwrap();
        let (_, disk) = seen.iter().find(|(moment, _)| *moment == at).unwrap();
        Disk(disk.0.iter().filter(|(path, _)| only.contains(path)).cloned().collect())
    }

    /// The log is as it was then.
    fn log_of(&self, at: (usize, Half)) {
        self.disk(at, &self.log).put_back();
        drop(std::fs::remove_file(self.env.home.state().join("log.db-shm")));
    }

    fn run(&self, line: &str) -> Outcome {
        serve(self.env.home.storefront(line), &self.proxy.url()).run()
    }

    /// How many writes have arrived.
    fn writes(&self) -> usize {
        self.env.requests().iter().filter(|heard| !heard.starts_with("GET")).count()
    }

    /// How many mugs the cart has.
    fn mugs(&self) -> u64 {
        let cart = self.env.sandbox.get(CUSTOMER, "/rest/V1/carts/mine").json();
        let items = cart["items"].as_array().unwrap();
        items.iter().map(|item| item["qty"].as_u64().unwrap()).sum()
    }

    /// What the history says of the newest write.
    fn told(&self) -> String {
        let history = self.run("history -o json");
        let newest = lines(&history).remove(0);
        newest["outcome"].as_str().unwrap_or_default().to_owned()
    }

    fn cities(&self) -> [String; 2] {
        [2, 3].map(|id| self.env.address(id)["city"].as_str().unwrap().to_owned())
    }
}

/// The exchanges of a line that write.
fn writes_of(line: &str) -> Vec<usize> {
    let env = TestEnv::new();
    files(&env);
    let outcome = env.run(line);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let heard = env.requests();
    let writes = (1..).zip(&heard).filter(|(_, heard)| !heard.starts_with("GET"));
    writes.map(|(number, _)| number).collect()
}

fn files(env: &TestEnv) {
    env.file("moves.csv", "address_id,city\n2,Troy\n3,Rome\n");
    env.file("adds.csv", "sku,qty,quote_id\nmug-blue,1,1\nmug-blue,2,1\n");
}

/// Cuts the journal after the line that says that the record in this line is being sent, or before it.
fn cut(journal: &Path, place: u64, with_sending: bool) {
    let text = std::fs::read_to_string(journal).unwrap();
    let line = format!("{{\"line\":{place},\"state\":\"sending\"");
    let start = text.find(&line).unwrap();
    let end = start + text[start..].find('\n').unwrap() + 1;
    std::fs::write(journal, &text[..if with_sending { end } else { start }]).unwrap();
}

fn applied(outcome: &Outcome) -> Vec<String> {
    lines(outcome).iter().map(|line| line["applied"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_batch_that_is_killed_around_a_call_says_what_the_shop_has() {
    let batch = BATCH;
    let resume = format!("{batch} --resume");
    let puts = writes_of(batch);
    assert_eq!(puts.len(), 2);
    let (first, second) = (puts[0], puts[1]);
    let done = ["yes", "yes"].map(str::to_owned).to_vec();
    let all = ["Troy", "Rome"].map(str::to_owned);

    // The journal says `sending`, and the log has nothing: it was not sent.
    for put in [first, second] {
        let scene = Scene::killed(batch, (put, Half::Request));
        scene.log_of((put - 1, Half::Reply));
        let outcome = scene.run(&resume);
        assert_eq!(
            (outcome.code, applied(&outcome)),
            (0, done.clone()),
            "sending, not in the log: {outcome:?}"
        );
        assert_eq!((scene.writes(), scene.cities()), (2, all.clone()));
    }

    // On another machine, whose log has no such run, nobody knows.
    let scene = Scene::killed(batch, (first, Half::Request));
    scene.log.iter().for_each(|path| drop(std::fs::remove_file(path)));
    drop(std::fs::remove_file(scene.env.home.state().join("log.db-shm")));
    let outcome = scene.run(&resume);
    assert_eq!((outcome.code, scene.writes()), (8, 0), "another machine: {outcome:?}");

    // In the log, and the call did not arrive: nobody knows on this side, and the shop does not have it.
    let scene = Scene::killed(batch, (first, Half::Request));
    let outcome = scene.run(&resume);
    assert_eq!((outcome.code, scene.writes()), (8, 0), "in the log: {outcome:?}");
    assert_eq!(applied(&outcome)[0], "unknown");

    // The shop has it, and the answer did not come: neither the log nor the journal has the outcome.
    let scene = Scene::killed(batch, (first, Half::Reply));
    let outcome = scene.run(&resume);
    assert_eq!((outcome.code, applied(&outcome)), (0, done.clone()), "no answer: {outcome:?}");
    assert_eq!((scene.writes(), scene.cities()), (2, all.clone()));

    // The same, and the journal lost the line that says `sending`: the log knows that it had it. Also where the call did not arrive.
    for half in [Half::Reply, Half::Request] {
        let scene = Scene::killed(batch, (first, half));
        scene.writes();
        cut(&scene.journal, 2, false);
        let outcome = scene.run(&resume);
        assert_eq!((outcome.code, scene.writes()), (3, 0), "journal cut: {outcome:?}");
    }

    // The outcome is in the log and not in the journal; then the other way round, as after a power cut.
    let scene = Scene::killed(batch, (second, Half::Request));
    cut(&scene.journal, 2, true);
    scene.log_of((second - 1, Half::Reply));
    let outcome = scene.run(&resume);
    assert_eq!((outcome.code, applied(&outcome)), (0, done.clone()), "not in the journal: {outcome:?}");
    assert_eq!((scene.writes(), scene.cities()), (2, all.clone()));
    let scene = Scene::killed(batch, (second, Half::Request));
    cut(&scene.journal, 3, false);
    scene.log_of((first, Half::Reply));
    let outcome = scene.run(&resume);
    assert_eq!((outcome.code, applied(&outcome)), (0, done), "not in the log: {outcome:?}");
    assert_eq!((scene.writes(), scene.cities()), (2, all));
}

#[test]
fn an_update_that_is_killed_around_its_call_says_what_the_shop_has() {
    let put = writes_of(SINGLE)[0];
    // Nothing is in the log: nothing was sent.
    let scene = Scene::killed(SINGLE, (put, Half::Request));
    scene.log_of((put - 1, Half::Reply));
    let outcome = scene.run(SINGLE);
    assert_eq!((outcome.code, scene.writes()), (0, 1), "not in the log: {outcome:?}");

    // In the log, and the call did not arrive: it may still do so.
    let scene = Scene::killed(SINGLE, (put, Half::Request));
    let outcome = scene.run(SINGLE);
    assert_eq!((outcome.code, scene.writes()), (3, 0), "in the log: {outcome:?}");

    // The shop has it.
    let scene = Scene::killed(SINGLE, (put, Half::Reply));
    let outcome = scene.run(SINGLE);
    assert_eq!((outcome.code, scene.writes()), (0, 1), "no answer: {outcome:?}");
    assert_eq!(scene.env.address(2)["city"], "Troy");
}

/// What is added to a cart is there twice where it is sent twice, and no read proves that this command did it.
#[test]
fn additions_that_are_killed_around_a_call_are_not_sent_twice() {
    let [first, second] = writes_of(ADDITIONS)[..] else { panic!() };
    let (request, reply) = (Half::Request, Half::Reply);
    // The log as it was then, the journal's records that are known to be done, then what the run that follows makes of the
    // records, and how many calls have arrived and mugs are in the cart.
    for (name, at, log_of, told, code, applied_to, arrived, mugs) in [
        ("sending, not in the log", (second, request), Some((first, reply)), "open", 0, ["yes", "yes"], 2, 3),
        ("in the log", (first, request), None, "open", 8, ["unknown", "yes"], 1, 2),
        ("no answer", (first, reply), None, "open", 8, ["unknown", "yes"], 2, 3),
        ("no answer to the last", (second, reply), None, "open", 8, ["yes", "unknown"], 2, 3),
    ] {
        let scene = Scene::killed(ADDITIONS, at);
        if let Some(earlier) = log_of {
            scene.log_of(earlier);
        }
        assert_eq!(scene.told(), told, "{name}");
        let outcome = scene.run(&format!("{ADDITIONS} --resume"));
        assert_eq!(
            (outcome.code, applied(&outcome)),
            (code, applied_to.map(str::to_owned).to_vec()),
            "{name}: {outcome:?}"
        );
        assert_eq!((scene.writes(), scene.mugs()), (arrived, mugs), "{name}");
        // Once more: what is unknown stays so, and nothing leaves.
        let outcome = scene.run(&format!("{ADDITIONS} --resume"));
        assert_eq!((outcome.code, scene.mugs()), (code, mugs), "{name}, again: {outcome:?}");
    }
    // The outcome is in the log and not in the journal, then the other way round.
    let scene = Scene::killed(ADDITIONS, (second, request));
    cut(&scene.journal, 2, true);
    scene.log_of((first, reply));
    assert_eq!(scene.run(&format!("{ADDITIONS} --resume")).code, 8, "neither has it");
    assert_eq!(scene.mugs(), 3);
    let put = writes_of(ADDITION)[0];
    for (half, there) in [(request, 0), (reply, 1)] {
        let scene = Scene::killed(ADDITION, (put, half));
        assert_eq!((scene.told(), scene.mugs()), ("unknown".to_owned(), there));
        // The same once more would add it twice, where it was added.
        let refused = scene.run(ADDITION);
        let error = refused.error();
        assert_eq!((refused.code, scene.writes() as u64, scene.mugs()), (3, there, there), "{refused:?}");
        assert!(error["message"].as_str().unwrap().contains("write 1"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("`storefront verify 1`"), "{error}");
        // Another item is none of that.
        let other = scene.run(&ADDITION.replace("mug-blue", "umbrella"));
        assert_eq!((other.code, scene.mugs()), (0, there + 1), "{other:?}");
    }
}

/// Killed after the log has the outcome, and before anything is printed: whoever typed the command was told nothing.
#[test]
fn an_addition_that_was_not_reported_is_not_sent_again() {
    let env = TestEnv::new();
    let writes = || env.requests().iter().filter(|heard| !heard.starts_with("GET")).count();
    assert_eq!((env.run(ADDITION).code, writes()), (0, 1));
    let log = rusqlite::Connection::open(env.home.state().join("log.db")).unwrap();
    assert_eq!(log.execute("UPDATE run SET ended = NULL, is_complete = 0", []).unwrap(), 1);
    drop(log);
    let refused = env.run(ADDITION);
    let error = refused.error();
    assert_eq!((refused.code, writes()), (3, 0), "{refused:?}");
    assert!(error["message"].as_str().unwrap().contains("write 1"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("`storefront verify 1`"), "{error}");
    // Whoever was told that it is there and adds it again, wants two.
    assert_eq!(env.run("verify 1").code, 8, "no read shows whose the line is");
    env.requests();
    assert_eq!((env.run(ADDITION).code, writes()), (0, 1));
    // That one was reported.
    assert_eq!((env.run(ADDITION).code, writes()), (0, 1));
}

/// A record of each operation, killed while its last call is on the way to the shop, and while the answer is on the way back.
#[test]
fn a_record_of_any_operation_that_is_killed_around_its_call_is_not_sent_twice() {
    for row in first_batches() {
        let undisturbed = Trial::new(&row, &[]);
        let done = undisturbed.run("--jobs 1 --retry 0");
        assert_eq!(done.code, 0, "{}: {done:?}", row.name());
        let heard = undisturbed.env.requests();
        let is_write = |(_, heard): &(usize, &String)| !heard.starts_with("GET");
        // Some reads are a POST, too, and come before.
        let writes: Vec<usize> = (1..).zip(&heard).filter(is_write).map(|(number, _)| number).collect();
        let (last, count) = (*writes.last().unwrap(), writes.len());
        // No read proves an addition, or shows a payment.
        let is_shown = !["quote add-item", "quote ship"].contains(&row.call.operation) && row.can_be_read();
        for half in [Half::Request, Half::Reply] {
            let name = format!("{}, {half:?}", row.name());
            let (trial, proxy) = killed_in(&row, (last, half));
            let resumed = with_shop(&trial, &row, &proxy, "--jobs 1 --retry 0 --resume").run();
            let arrived = trial.env.requests().iter().filter(|heard| !heard.starts_with("GET")).count();
            let expected = match half {
                Half::Reply if is_shown => (0, "yes", count),
                Half::Reply => (8, "unknown", count),
                // The option is there, and its default is set again.
                Half::Request if row.call.operation == "attribute option add" => (0, "yes", count),
                Half::Request => (8, "unknown", count - 1),
            };
            let said = applied(&resumed).remove(0);
            assert_eq!((resumed.code, &*said, arrived), expected, "{name}: {resumed:?}");
        }
    }
}

/// The first row of each operation and interface that has records.
fn first_batches() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for call in CALLS.iter().filter(|call| !call.record.is_empty()) {
        let is_same = |row: &Row| (row.call.operation, row.call.api) == (call.operation, call.api);
        if !rows.iter().any(is_same) {
            rows.push(Row { call, is_batch: true });
        }
    }
    rows
}

/// The row's own command, through a proxy.
fn with_shop(trial: &Trial, row: &Row, proxy: &FlakyProxy, flags: &str) -> Storefront {
    let path = if row.is_magento() { "/rest" } else { "" };
    trial.operation(flags).env("STOREFRONT_BASE_URL", &format!("{}{path}", proxy.url()))
}

/// Runs a row's command until this half of the exchange arrives, and kills it while it waits.
fn killed_in(row: &Row, at: (usize, Half)) -> (Trial, FlakyProxy) {
    let trial = Trial::new(row, &[]);
    let has_arrived = Arc::new(AtomicBool::new(false));
    let arrives = has_arrived.clone();
    let proxy = FlakyProxy::before(trial.env.sandbox.address(), move |number, half| {
        if (number, half) == at {
            arrives.store(true, Ordering::SeqCst);
            loop {
                std::thread::park();
            }
        }
    });
    let mut child = with_shop(&trial, row, &proxy, "--jobs 1 --retry 0").spawn_silent();
    while !has_arrived.load(Ordering::SeqCst) {
        assert!(child.try_wait().unwrap().is_none(), "{}: ended before {at:?}", row.name());
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    (trial, proxy)
}

/// A batch that stopped, and of which the log lost writes since: what was deleted may have been sent.
#[test]
fn a_sending_line_whose_write_was_forgotten_stays_unknown() {
    let batch = BATCH;
    let first = writes_of(batch)[0];
    let scene = Scene::killed(batch, (first, Half::Request));
    let log = rusqlite::Connection::open(&scene.log[0]).unwrap();
    assert_eq!(log.execute("DELETE FROM write", []).unwrap(), 1);
    drop(log);
    let outcome = scene.run(&format!("{batch} --resume"));
    assert_eq!((outcome.code, scene.writes()), (8, 0), "{outcome:?}");
}

/// Another process writes to the log for as long as this, from the read of the profile on that the call is made from.
fn beside_a_writer(line: &str, first_put: usize, holds: Duration) -> (TestEnv, Outcome) {
    let env = TestEnv::new();
    env.file("moves.csv", "address_id,city\n2,Troy\n3,Rome\n");
    let log = env.home.state().join("log.db");
    let has_begun = std::sync::Once::new();
    let proxy = FlakyProxy::before(env.sandbox.address(), move |number, half| {
        if (number, half) != (first_put - 1, Half::Reply) {
            return;
        }
        has_begun.call_once(|| {
            let connection = rusqlite::Connection::open(&log).unwrap();
            connection.busy_timeout(Duration::from_secs(5)).unwrap();
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            std::thread::spawn(move || {
                std::thread::sleep(holds);
                connection.execute_batch("COMMIT").unwrap();
            });
        });
    });
    let outcome = serve(env.home.storefront(line), &proxy.url()).run();
    (env, outcome)
}

/// The read that the call was made from would be old by then: the steps start again.
#[test]
fn a_log_that_another_process_writes_to_is_waited_for() {
    for (line, seconds, calls) in [(SINGLE, 2, 1), (BATCH, 12, 2)] {
        let first_put = writes_of(line)[0];
        let (env, outcome) = beside_a_writer(line, first_put, Duration::from_secs(seconds));
        assert_eq!(outcome.code, 0, "{seconds} s: {outcome:?}");
        let heard = env.requests();
        assert_eq!(heard.iter().filter(|heard| *heard == "PUT 200").count(), calls, "{heard:?}");
        let put = heard.iter().position(|heard| heard.starts_with("PUT"));
        assert!(seconds == 2 || put >= Some(first_put), "read once more: {heard:?}");
    }
}

/// The attribute is there by then.
#[test]
fn a_second_call_that_cannot_be_noted_leaves_a_part() {
    let file: Arc<OnceLock<PathBuf>> = Arc::default();
    let log = file.clone();
    let env = TestEnv::watched(
        |_| {},
        move |_, method| {
            if method == "POST" {
                let full =
                    "CREATE TRIGGER full BEFORE INSERT ON write BEGIN SELECT RAISE(ABORT, 'full'); END";
                rusqlite::Connection::open(log.wait()).unwrap().execute_batch(full).unwrap();
            }
        },
    );
    file.set(env.home.state().join("log.db")).unwrap();
    let line = "attribute create --code fabric --label Fabric --type text --set Default -y";
    let part = magento::run(&env, line);
    let error = part.error();
    assert_eq!((part.code, &error["applied"]), (7, &json!("partial")), "{part:?}");
    assert!(
        error["hint"].as_str().unwrap().contains("storefront attribute assign fabric --set Default"),
        "{part:?}"
    );
    assert_eq!(error["calls"][0]["applied"], "yes");
}
