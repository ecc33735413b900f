//! Opens the page in the browser of the person.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::time::timeout;

use crate::client::Session;
use crate::config::ConfigFile;
use crate::system::child;

/// How long a launcher is watched: one that finds no browser ends by then. Another one may run as long as the browser.
const FAILS_WITHIN: Duration = Duration::from_millis(250);

/// Opens a file with the first launcher that does not fail; `false` if all fail.
pub async fn open(session: &Session<'_>, file: &Path) -> bool {
    let variables = session.config.as_ref().map(ConfigFile::token_variables).unwrap_or_default();
    for mut command in open::commands(file) {
        // The messages of a launcher are not about the review.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C is for the review.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let Ok(mut launcher) = child::start(command, &variables, false) else { continue };
        match timeout(FAILS_WITHIN, launcher.wait()).await {
            Ok(Ok(status)) if !status.success() => {}
            _ => return true,
        }
    }
    false
}
