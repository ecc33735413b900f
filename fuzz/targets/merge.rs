//! Fuzzes the address merge, what puts a snapshot back, and what verifies the read-back.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    storefront_fuzz::merge::hold(data);
    storefront_fuzz::restoration::hold(data);
});
