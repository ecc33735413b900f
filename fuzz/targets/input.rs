//! Fuzzes the readers of what people write.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| storefront_fuzz::input::hold(data));
