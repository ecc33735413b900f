//! What the service's interfaces say, and what is to be sent: pure functions over JSON. Nothing here reads or writes
//! files, waits, or parses a command line. Hints name commands and flags; the tokens to be masked are one list of the process.
//!
//! A profile update goes [`profile::stored`] → [`profile::merge`] (with [`profile::region`]) → [`profile::diff`] →
//! [`interface::request`], and [`profile::verify`] compares what is read afterwards with what was sent.

pub mod absent;
pub mod attribute;
pub mod cart;
pub mod effect;
pub mod email;
pub mod failure;
pub mod hint;
pub mod id;
pub mod lint;
pub mod operation;
pub mod order;
pub mod outcome;
pub mod text;

/// The interfaces: their fields as tables, what differs between them, and calls as plain, comparable data.
pub mod interface {
    pub mod bearer;
    pub mod dialect;
    pub mod fields;
    pub mod json_schema;
    pub mod label;
    pub mod request;
    pub mod store_view;
}

/// Checks of a request body against the tables, and of countries and postcodes.
pub mod check {
    pub mod accepted;
    pub mod body;
    pub mod country;
    pub mod field_names;
    pub mod spreadsheet;
    pub mod synonyms;
    pub mod text;
}

pub mod product;

/// What stands in the cells of a sheet.
pub mod sheet {
    pub mod address;
    pub mod attribute;
    pub mod cells;
    pub mod exported;
}

/// The stored profile and what is done with it: patch, merge, diff, restore, verification.
pub mod profile {
    pub mod address;
    pub mod address_book;
    pub mod addresses_by_place;
    pub mod clear;
    pub mod custom;
    pub mod defaults;
    pub mod diff;
    pub mod equal;
    pub mod magento;
    pub mod merge;
    pub mod patch;
    pub mod path;
    pub mod refusal;
    pub mod region;
    pub mod restore;
    pub mod stored;
    pub mod verify;
}
