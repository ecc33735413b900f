//! Fuzzes the renderer of the service's errors.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| storefront_fuzz::service_error::hold(data));
