//! What every command is given, and the service it talks to.

pub mod local_service;
pub mod runtime;
pub mod service;

use crate::cli::GlobalArgs;
use crate::config::{ConfigFile, Loaded};
use crate::prompt::Prompt;
use crate::report::Report;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Dialect;

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
    /// The way out.
    pub report: &'a Report,
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
        Prompt::new(self.context, self.global, self.report)
    }
}
