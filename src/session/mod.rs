//! What every command is given, and the service it talks to.

pub mod local_service;
pub mod runtime;
pub mod service;
pub mod signals;

use crate::cli::GlobalArgs;
use crate::config::ReadOnce;
use crate::context::Context;
use crate::plan::request::Dialect;
use crate::report::Report;

/// What every command is given.
#[derive(Debug)]
pub struct Session<'a> {
    /// The captured surroundings.
    pub context: &'a Context,
    /// The flags every command takes.
    pub global: &'a GlobalArgs,
    /// The configuration file, where it has been read already.
    pub config: &'a ReadOnce,
    /// The interface of the service.
    pub dialect: &'static Dialect,
    /// The way out.
    pub report: &'a Report,
}
