//! What every command is given, and the service it talks to.

pub mod local_service;
pub mod runtime;
pub mod service;
pub mod signals;

use crate::cli::GlobalArgs;
use crate::context::Context;
use crate::report::Report;

/// What every command is given.
#[derive(Debug)]
pub struct Session<'a> {
    /// The captured surroundings.
    pub context: &'a Context,
    /// The flags every command takes.
    pub global: &'a GlobalArgs,
    /// The way out.
    pub report: &'a Report,
}
