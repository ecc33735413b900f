//! What the tests share.

pub mod call;
pub mod scripted;
pub mod tls;
