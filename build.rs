//! Gives the program for Windows its manifest, which allows paths of more than 260 characters also where the file system is
//! called by SQLite and by the C library.

use std::path::Path;

const MANIFEST: &str = "src/system/storefront.exe.manifest";

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo::rerun-if-changed={MANIFEST}");
    // Only the linker of MSVC takes one as an argument.
    if variable("CARGO_CFG_TARGET_OS") == "windows" && variable("CARGO_CFG_TARGET_ENV") == "msvc" {
        let manifest = Path::new(&variable("CARGO_MANIFEST_DIR")).join(MANIFEST);
        println!("cargo::rustc-link-arg-bins=/MANIFEST:EMBED");
        println!("cargo::rustc-link-arg-bins=/MANIFESTINPUT:{}", manifest.display());
    }
}
