//! Everything that runs the binary, the sandbox or a socket.

mod auth;
mod config;
mod http_send;
mod http_tls;
mod support;
