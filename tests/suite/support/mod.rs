//! What the tests share.

#[cfg(unix)]
pub mod batch;
pub mod call;
pub mod gate;
pub mod json_schema;
pub mod raw_http;
pub mod scripted;
pub mod shop;
pub mod storefront;
pub mod terminal;
pub mod tls;
