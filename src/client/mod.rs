//! What every command gets, and the service it talks to.

mod attempt;
pub mod body;
mod classify;
pub mod error_body;
mod http;
mod http_trace;
pub mod local_service;
pub mod runtime;
pub mod service;
pub mod stage;
pub mod transport;
mod transport_error;

pub use attempt::{Attempt, Attempts, MAX_WAIT, Reply, ServiceSignal};
pub use classify::{CHECK_BEFORE_RETRY, LOOK_CLOSER, NO_SUCH_PATH, check_url, may_be_saved, says};
pub use http::{Client, HttpEvent, Observer, Tracer, pause, redacted};
pub use transport::{Connect, Transport};
pub use transport_error::{TransportError, run_doctor};

use crate::cli::GlobalArgs;
use crate::config::{ConfigFile, Loaded};
use crate::prompt::{Consent, Prompt};
use crate::report::Report;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Dialect;

/// Everything outside of a run of the program.
pub struct Surroundings {
    /// Its machine: arguments, variables, directories, terminals, storage, clock, output and signals.
    pub context: Context,
    /// Opens a service.
    pub connect: Box<Connect>,
}

impl Surroundings {
    /// The surroundings of this process.
    pub fn of_process() -> Self {
        Self { context: Context::capture(), connect: Box::new(transport::over_http) }
    }
}

/// What every command is given.
pub struct Session<'a> {
    /// The captured surroundings.
    pub context: &'a Context,
    /// The flags every command takes.
    pub global: &'a GlobalArgs,
    /// The configuration file, or why it cannot be read.
    pub config: &'a Loaded,
    /// The interface of the service.
    pub dialect: &'static Dialect,
    /// Prints results and messages.
    pub report: &'a Report,
    /// Opens a service.
    pub connect: &'a Connect,
    /// What a command may do to the shop.
    pub consent: &'a Consent,
}

impl Session<'_> {
    /// The configuration file.
    ///
    /// # Errors
    /// `usage`, as [`ConfigFile::load`].
    pub fn config_file(&self) -> Result<&ConfigFile, Failure> {
        self.config.as_ref().map_err(Failure::clone)
    }

    /// Whether and how this command asks questions.
    pub fn prompt(&self) -> Prompt {
        Prompt::new(self.context, self.global, self.report, self.consent)
    }
}
