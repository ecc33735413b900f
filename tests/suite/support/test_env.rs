//! The program, a home directory, and a sandbox that records its requests.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;
use storefront_sandbox::{Observer, Options};

use super::raw_http::{ADMIN, CUSTOMER, Sandbox};
use super::storefront::{Arguments, Home, Outcome, Storefront};

/// A command line that adds an item to the customer's quote.
pub const ADD_ITEM: &str = "quote add-item --sku mug-blue --qty 1 --quote-id 1";

/// A home directory, and a sandbox that is reached over HTTP.
pub struct TestEnv {
    pub home: Home,
    pub sandbox: Sandbox,
    requests: Arc<Mutex<Vec<String>>>,
}

impl TestEnv {
    pub fn new() -> Self {
        Self::with_faults(&[])
    }

    pub fn with_faults(faults: &[&str]) -> Self {
        let faults: Vec<_> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        Self::with_options(|options| options.faults = faults)
    }

    /// A sandbox that differs from the usual one.
    pub fn with_options(set: impl FnOnce(&mut Options)) -> Self {
        Self::watched(set, |_, _| {})
    }

    /// The same; `watch` gets the number (from 1) and the method of each request, after it was handled and before its
    /// answer leaves.
    pub fn watched(
        set: impl FnOnce(&mut Options),
        watch: impl Fn(usize, &str) + Send + Sync + 'static,
    ) -> Self {
        let home = Home::new();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ours = heard.clone();
        let observer: Observer = Arc::new(move |method, _, status| {
            let number = {
                let mut heard = ours.lock().unwrap();
                heard.push(format!("{method} {status}"));
                heard.len()
            };
            watch(number, method);
        });
        let data = home.dir.path().join("service.db");
        std::fs::write(&data, seeded()).unwrap();
        let mut options = Options::new(data);
        set(&mut options);
        let sandbox = Sandbox::with_options(options, Some(observer));
        Self { home, sandbox, requests: heard }
    }

    /// The base URL of the sandbox.
    pub fn url(&self) -> String {
        format!("http://{}", self.sandbox.address())
    }

    /// The program, with the sandbox as its service.
    pub fn storefront(&self, arguments: impl Arguments) -> Storefront {
        serve(self.home.storefront(arguments), &self.url())
    }

    /// Runs a command line, quoted as in a shell.
    pub fn run(&self, line: &str) -> Outcome {
        self.storefront(line).run()
    }

    /// Runs a command line that must succeed without a warning; gives its result object.
    #[track_caller]
    pub fn done(&self, line: &str) -> Value {
        self.run(&format!("{line} -q -o json")).done()
    }

    /// Runs a command line that must fail with this code; gives its error object.
    #[track_caller]
    pub fn fails(&self, code: i32, line: &str) -> Value {
        let outcome = self.run(&format!("{line} -q -o json"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{line}: {outcome:?}");
        outcome.error()
    }

    /// The requests since the last call: `GET 200`, `PUT 503`…
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }

    /// The stored profile of the seed's first customer.
    pub fn profile(&self) -> Value {
        let profile = self.sandbox.profile(CUSTOMER);
        self.requests.lock().unwrap().pop();
        profile
    }

    /// A stored address of the seed's first customer.
    pub fn address(&self, id: i64) -> Value {
        let profile = self.profile();
        let addresses = profile["addresses"].as_array().unwrap();
        addresses.iter().find(|address| address["id"] == id).cloned().unwrap_or_default()
    }

    /// Restores the seed of the sandbox.
    pub fn reset_sandbox(&self) {
        storefront_sandbox::reset(self.sandbox.data()).unwrap();
    }

    /// Writes a file into the home; its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The ids of the updates in the log, oldest first.
    pub fn updates(&self) -> Vec<i64> {
        updates(&self.home)
    }
}

/// A database with the seed, created once because that takes a while.
fn seeded() -> &'static [u8] {
    static SEEDED: OnceLock<Vec<u8>> = OnceLock::new();
    SEEDED.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("sandbox.db");
        storefront_sandbox::reset(&data).unwrap();
        std::fs::read(data).unwrap()
    })
}

/// Points the program to a service: everything by the environment.
pub fn serve(program: Storefront, url: &str) -> Storefront {
    program
        .env("STOREFRONT_BASE_URL", url)
        .env("STOREFRONT_TOKEN", CUSTOMER)
        .env("STOREFRONT_ADMIN_TOKEN", ADMIN)
        .env("STOREFRONT_STORE_VIEW", "default")
}

/// The words of a command line, quoted as in a shell.
pub fn words(line: &str) -> Vec<&str> {
    // Tests leak a few bytes so that their lines stay readable.
    super::storefront::words(line).into_iter().map(|word| &*word.leak()).collect()
}

/// The ids of the updates in the log of a machine, oldest first.
pub fn updates(home: &Home) -> Vec<i64> {
    let Some(log) = log(home) else { return Vec::new() };
    // One that could not be set up has no tables.
    let find = log.prepare("SELECT id FROM write WHERE part_of IS NULL ORDER BY id");
    let Ok(mut find) = find else { return Vec::new() };
    find.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// The log of a machine, where there is one.
pub fn log(home: &Home) -> Option<rusqlite::Connection> {
    let file = home.state().join("log.db");
    file.exists().then(|| {
        let log = rusqlite::Connection::open(file).unwrap();
        log.pragma_update(None, "foreign_keys", true).unwrap();
        log
    })
}

/// Changes the log of a machine.
pub fn change_log(home: &Home, statement: &str) {
    log(home).unwrap().execute_batch(statement).unwrap();
}

/// Notes what became of an update, of all of its calls.
pub fn set_outcome(home: &Home, update: i64, outcome: &Value) {
    let set = "UPDATE write SET outcome = ?2 WHERE id = ?1 OR part_of = ?1";
    log(home).unwrap().execute(set, rusqlite::params![update, outcome.to_string()]).unwrap();
}

/// Lets a minute go by for all that is kept of reads and writes.
pub fn after_a_minute(home: &Home) {
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(61);
    let log = log(home).unwrap();
    let set = "UPDATE write SET outcome = json_set(outcome, '$.at', ?1) WHERE outcome ->> 'at' IS NOT NULL";
    log.execute(set, [then.to_string()]).unwrap();
    log.execute("UPDATE last_read SET at = ?1", [then.as_microsecond()]).unwrap();
}

/// What a query counts in the log of a machine; 0 where there is none.
pub fn log_count(home: &Home, query: &str) -> usize {
    let count = log(home).map(|log| log.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap());
    count.unwrap_or_default().try_into().unwrap()
}

/// Every file below a directory; none where there is no directory.
pub fn files_below(directory: &std::path::Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    entries
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { files_below(&path) } else { vec![path] }
        })
        .collect()
}
