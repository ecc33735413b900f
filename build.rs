//! Arguments for the linker of the program.

use std::path::Path;

const MANIFEST: &str = "src/system/storefront.exe.manifest";

/// Bytes of stack, as elsewhere. Windows gives 1 MiB.
const STACK_SIZE: usize = 8 << 20;

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo::rerun-if-changed={MANIFEST}");
    let argument = |text: &str| println!("cargo::rustc-link-arg-bins={text}");
    match (variable("CARGO_CFG_TARGET_OS").as_str(), variable("CARGO_CFG_TARGET_ENV").as_str()) {
        ("windows", "msvc") => {
            // It allows paths of more than 260 characters also where the file system is called by SQLite and by the C
            // library. Only this linker takes one as an argument.
            let manifest = Path::new(&variable("CARGO_MANIFEST_DIR")).join(MANIFEST);
            argument("/MANIFEST:EMBED");
            argument(&format!("/MANIFESTINPUT:{}", manifest.display()));
            argument(&format!("/STACK:{STACK_SIZE}"));
        }
        ("windows", _) => argument(&format!("-Wl,--stack,{STACK_SIZE}")),
        // The tests start it some 10,000 times: without an address of its own at each start it has fewer pages to write.
        ("linux", "gnu") if variable("PROFILE") == "debug" => argument("-no-pie"),
        _ => {}
    }
}
