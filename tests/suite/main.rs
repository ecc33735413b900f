//! Everything that runs the binary, the sandbox or a socket.

// Most of this is no #[test] function, and so not covered by what clippy.toml allows in tests.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod http_proxy;
mod http_send;
mod http_tls;
mod support;
