//! How the program is linked for Linux with GNU's C library, where a short command takes as long as loading it does. Only
//! a linker that is asked through a C compiler, as a rule `cc`, takes these arguments.
//!
//! - What unwinds the stack is part of the program. The shared library asks the processor for its features as it is
//!   loaded; on a virtual machine each question is a trap, and together they are a tenth of a short command's time.
//! - The program has a fixed address. For a random one the loader must correct 13,000 pointers on 50 pages, and the kernel
//!   must copy each of them, for every command (docs/performance.md has what was weighed).

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if (target("OS"), target("ENV")) == ("linux".into(), "gnu".into()) && linker_has("libgcc_eh.a") {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        println!("cargo::rustc-link-arg-bin=storefront=-no-pie");
    }
}

/// Asks the linker; one that does not know the library, or the question, is left as it is.
fn linker_has(library: &str) -> bool {
    let linker = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let answer = Command::new(linker).arg(format!("-print-file-name={library}")).output();
    answer.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}
