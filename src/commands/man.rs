//! `storefront man`: the manual pages, made from the grammar.

use std::path::Path;

use clap_mangen::Man;

use crate::cli;
use crate::failure::Failure;
use crate::session::Session;

/// Writes one page a command to `directory`, or prints the first page.
///
/// # Errors
/// `internal` when the directory cannot be written.
pub fn run(session: &Session<'_>, directory: Option<&Path>) -> Result<(), Failure> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        Man::new(cli::command())
            .render(&mut page)
            .map_err(|error| Failure::internal(format!("cannot generate the man page: {error}")))?;
        return session.report.stdout(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(cli::command(), directory))
        .map_err(|error| Failure::internal(format!("cannot write `{}`: {error}", directory.display())))
}
