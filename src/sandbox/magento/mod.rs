//! Stock Magento's REST interface over the same store, as 2.4.6 and 2.4.7 were measured to behave, traps included.
//!
//! Where the two versions differ, 2.4.7 is followed, and the place says so. It shares nothing with the client.

mod active_cart;
mod address_book;
mod attributes;
mod call;
mod cart_items;
mod carts;
mod coerce;
mod customer_view;
mod customers;
mod default_addresses;
mod directory;
mod dispatch;
mod fields;
mod openapi;
mod path;
mod payment;
mod route_table;
mod search;
mod selected_fields;
mod shipping;
mod tokens;
mod totals;

pub use dispatch::answer;
pub use openapi::description;
