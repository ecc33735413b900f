//! `attribute create` with something missing: it is asked for, step by step.

pub mod command_line;
mod steps;
mod wizard;

pub use steps::Answers;
pub use wizard::Wizard;
