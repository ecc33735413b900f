//! What the tests share.

pub mod call;
pub mod raw_http;
pub mod scripted;
pub mod shop;
pub mod storefront;
pub mod tls;
