//! Journals of batches.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use storefront_fuzz::{Case, HOME, commands, mutate, run};

fuzz_target!(|data: &[u8]| {
    let Some(case) = Case::parse(data) else { return };
    HOME.with(|home| {
        let home = home.clear();
        std::fs::write("in.ndjson", commands::INPUT).unwrap();
        std::fs::write("in.ndjson.journal", &case.file).unwrap();
        run(&case, commands::JOURNAL, home);
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::into(data, size, max_size, seed, fuzzer_mutate)
});
