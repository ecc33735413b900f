//! The machine that the program runs on: its arguments and terminals, variables, clock and files.

pub mod child;
pub mod clock;
pub mod context;
pub mod database;
pub mod environment;
pub mod output;
pub mod storage;

pub use storefront_core::text::shell;
