//! What the tests share.

pub mod call;
pub mod scripted;
pub mod storefront;
pub mod tls;
