//! Carts, in an interface where a cart is found or created before it is written.

pub mod add_item;
pub mod find;
pub mod items;
pub mod methods;
mod note;
mod owner;
mod payment;
pub mod ship;
mod verification;
