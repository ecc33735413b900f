//! What was written from this machine: listed, compared with the shop, and taken back. All of it speaks of the effects that the log
//! has.

pub mod attribute;
pub mod back;
pub mod cart;
pub mod found;
pub mod history;
pub mod order;
pub mod owners;
pub mod planned;
pub mod product;
pub mod profile;
pub mod state;
pub mod undo;
pub mod verify;
