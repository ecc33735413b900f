//! What this machine wrote: listed, compared with the shop, and taken back. All of it works on the effects in the log.

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
