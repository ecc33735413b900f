//! Links what unwinds the stack into the program, where GNU's compiler brings it as a library.
//!
//! The shared one asks the processor for its features as it is loaded; on a virtual machine each question is a trap, and
//! together they are a tenth of a short command's time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if (target("OS"), target("ENV")) == ("linux".into(), "gnu".into()) {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}
