//! Exit code from [`storefront::run`], nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    storefront::run()
}
