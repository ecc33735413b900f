//! Stock Magento's REST interface over the same store, as 2.4.6 and 2.4.7 were measured to behave, traps included.
//!
//! Where the two versions differ, 2.4.7 is followed, and the place says so. It shares nothing with the client.

mod active_cart;
mod address_book;
mod address_check;
mod attribute_view;
mod attributes;
mod call;
mod cart_items;
mod cart_view;
mod carts;
mod coerce;
mod countries;
mod customer_search;
mod customer_view;
mod customers;
mod default_addresses;
mod dispatch;
mod fields;
mod openapi;
mod path;
mod payment;
mod quote_address;
mod route_table;
mod search_criteria;
mod selected_fields;
mod shipping;
mod shipping_rate;
mod store_views;
mod tokens;
mod totals;

pub use dispatch::answer;
pub use openapi::description;
