//! One run of a row against a sandbox of its own, and the whole database before and after it.

use std::path::PathBuf;
use std::time::Duration;

use storefront_sandbox::Options;

use super::database::Database;
use super::magento;
use super::rows::Row;
use super::storefront::{Outcome, Storefront};
use super::test_env::TestEnv;

/// How long a look may take: long enough for several reads, and short for a test.
const SETTLE: &str = "800ms";

/// A row's sandbox, seeded and set up, with a home for the program.
pub struct Trial {
    pub env: TestEnv,
    row: Row,
    before: Database,
}

impl Trial {
    /// A sandbox with these faults.
    pub fn new(row: &Row, faults: &[String]) -> Self {
        Self::watched(row, faults, |_, _| {})
    }

    /// The same, with `watch` called as [`TestEnv::watched`] does it.
    pub fn watched(
        row: &Row,
        faults: &[String],
        watch: impl Fn(usize, &str) + Send + Sync + 'static,
    ) -> Self {
        let set = |options: &mut Options| {
            options.faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        };
        let env = TestEnv::watched(set, watch);
        env.sandbox.sql(row.call.setup);
        let trial = Self { before: Database::read(env.sandbox.data()), env, row: *row };
        let profile = format!(
            "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{}\"\nsettle = \"{SETTLE}\"\n",
            trial.base_url()
        );
        trial.env.home.write("config.toml", profile, 0o600);
        if let Some(input) = row.input() {
            trial.env.file(Row::INPUT, input);
        }
        trial
    }

    fn base_url(&self) -> String {
        if self.row.is_magento() { format!("{}/rest", self.env.url()) } else { self.env.url() }
    }

    /// A command against this sandbox, in the interface of the row.
    pub fn storefront(&self, line: &str) -> Storefront {
        if self.row.is_magento() { magento::program(&self.env, line) } else { self.env.storefront(line) }
    }

    /// The row's own command, with these flags.
    pub fn operation(&self, flags: &str) -> Storefront {
        self.storefront(&format!("{} -y -q -o json {flags}", self.row.line()))
    }

    /// Runs the row's own command.
    pub fn run(&self, flags: &str) -> Outcome {
        self.operation(flags).run()
    }

    /// The database before the run.
    pub fn before(&self) -> &Database {
        &self.before
    }

    /// Stops the sandbox, once what it was asked to do later is done, and reads the database.
    pub fn stop(self, after: Duration) -> Database {
        std::thread::sleep(after);
        let TestEnv { home, sandbox, .. } = self.env;
        let data: PathBuf = sandbox.data().to_owned();
        drop(sandbox);
        let database = Database::read(&data);
        drop(home);
        database
    }
}
