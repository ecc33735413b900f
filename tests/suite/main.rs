//! Everything that runs the binary, the sandbox or a socket.

mod http_send;
mod http_tls;
mod sandbox_attribute;
mod sandbox_door;
mod sandbox_fault;
mod sandbox_profile;
mod sandbox_quote;
mod sandbox_serve;
mod sandbox_store;
mod support;
