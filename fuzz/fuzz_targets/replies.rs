//! What a service answers.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use storefront_fuzz::{Case, HOME, commands, mutate, run};

fuzz_target!(|data: &[u8]| {
    let Some(case) = Case::parse(data) else { return };
    HOME.with(|home| run(&case, commands::REPLIES, home.clear()));
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::into(data, size, max_size, seed, fuzzer_mutate)
});
