//! `journal`: what became of the records of a batch.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::LazyArgs;

/// What `journal` can do.
#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// List the state and reason of each record of a batch
    Show(LazyArgs<ShowArgs>),
}

/// List the state and reason of each record of a batch, with its line and key where the input is next to the journal.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Journal of a batch
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print CSV
    #[arg(long)]
    pub csv: bool,
}
