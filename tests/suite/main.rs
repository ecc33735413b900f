//! Everything that runs the binary, the sandbox or a socket.

// Most of this is no #[test] function, and so not covered by what clippy.toml allows in tests.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod api;
mod attribute;
mod auth;
mod bad_input;
mod batch_doubts;
mod batch_failed_file;
mod batch_journal;
mod batch_kill;
mod batch_neighbours;
mod batch_order;
mod batch_outage;
mod batch_run;
mod batch_tokens;
#[cfg(unix)]
mod completion;
mod config;
#[cfg(unix)]
mod config_files;
mod csv_input;
mod customer_base;
mod customer_reads;
mod customer_region;
mod customer_update;
mod doctor;
mod dry_run;
mod exact_data;
mod faults;
mod global_flags;
mod help;
mod http_lost;
mod http_proxy;
mod http_send;
mod http_tls;
mod jq;
mod masking;
mod never_lost;
#[cfg(unix)]
mod people;
#[cfg(unix)]
mod pictures;
mod profile_round_trip;
mod quote;
mod readme;
mod sandbox_attribute;
mod sandbox_door;
mod sandbox_fault;
mod sandbox_magento_access;
mod sandbox_magento_addresses;
mod sandbox_magento_carts;
mod sandbox_magento_customers;
mod sandbox_magento_search;
mod sandbox_openapi;
mod sandbox_profile;
mod sandbox_quote;
mod sandbox_serve;
mod sandbox_store;
mod schema;
mod secrets;
#[cfg(unix)]
mod steps;
mod support;
mod template;
#[cfg(unix)]
mod terminal_output;
#[cfg(unix)]
mod token_command;
