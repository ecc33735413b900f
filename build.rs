//! Makes the table of countries, and says how the program is linked for Linux with GNU's C library, where a short command takes as long as loading it does. Only
//! a linker that is asked through a C compiler, as a rule `cc`, takes these arguments.
//!
//! - What unwinds the stack is part of the program. The shared library asks the processor for its features as it is
//!   loaded; on a virtual machine each question is a trap, and together they are a tenth of a short command's time.
//! - The program has a fixed address. For a random one the loader must correct 13,000 pointers on 50 pages, and the kernel
//!   must copy each of them, for every command (docs/performance.md has what was weighed).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use keshvar::{Country, CountryIterator};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(
        directory.join("countries.tsv"),
        CountryIterator::new().map(|it| line(&it)).collect::<String>(),
    )?;
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if (target("OS"), target("ENV")) == ("linux".into(), "gnu".into()) && linker_has("libgcc_eh.a") {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        println!("cargo::rustc-link-arg-bin=storefront=-no-pie");
    }
    Ok(())
}

/// A country as one line, with tabs between the fields: both codes, its name, the form of its postcodes as a regular
/// expression, empty where they have none, and its other names.
fn line(country: &Country) -> String {
    let (alpha2, alpha3) = (country.alpha2().to_string(), country.alpha3().to_string());
    let postcode = country.postal_code_format().unwrap_or_default();
    let mut fields = vec![&alpha2, &alpha3, country.iso_short_name(), postcode];
    fields.extend(country.unofficial_name_list());
    fields.join("\t") + "\n"
}

/// Asks the linker; one that does not know the library, or the question, is left as it is.
fn linker_has(library: &str) -> bool {
    let linker = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let answer = Command::new(linker).arg(format!("-print-file-name={library}")).output();
    answer.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}
