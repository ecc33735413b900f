//! Everything that runs the binary, the sandbox or a socket.

// Most of this is no #[test] function, and so not covered by what clippy.toml allows in tests.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used, missing_docs)]
// Snapshots are as long as the outputs they show, and all are written in one form.
#![allow(clippy::needless_raw_string_hashes, clippy::too_many_lines)]
#![cfg_attr(windows, allow(dead_code, unused_imports, reason = "some tests that use them are for Unix only"))]

// Why modules are left out on Windows stands in `windows.rs`.
mod absent_records;
#[cfg(unix)]
mod address_form;
mod address_removal;
mod api;
mod attribute;
mod attribute_exchange;
mod attribute_sheet;
mod batch_crash_recovery;
mod batch_every_night;
#[cfg(unix)]
mod batch_interruption;
mod batch_journal;
mod batch_moved_rows;
mod batch_neighbours;
mod batch_older_journal;
mod batch_order;
mod batch_outage;
mod batch_persistence;
#[cfg(unix)]
mod batch_promises;
mod batch_resume;
mod batch_rows;
mod batch_run;
mod batch_sent_before;
mod batch_tokens;
mod cart_choice;
mod cart_lag;
mod cart_reports;
mod cart_resume;
mod cart_state;
mod command_hints;
mod commands;
#[cfg(unix)]
mod completion;
#[cfg(unix)]
mod config_files;
mod csv_input;
mod custom_attributes;
mod customer_base_file;
mod customer_check;
mod customer_concurrency;
mod customer_deleted;
mod customer_erasure;
mod customer_export;
mod customer_history;
mod customer_interruption;
mod customer_lag;
mod customer_notation;
mod customer_outcome;
mod customer_proof;
mod customer_reads;
#[cfg(unix)]
mod customer_show;
mod customer_update;
mod customer_written_back;
mod doctor;
mod doctor_service;
mod doctor_tokens;
mod draft_guards;
mod draft_meaning;
mod dry_run;
mod duplicate_fields;
mod exact_data;
mod fault_matrix;
#[cfg(unix)]
mod field_labels;
mod full_disk;
mod help;
mod http_proxy;
mod http_send;
mod http_tls;
mod http_transport_errors;
mod input_files;
#[cfg(unix)]
mod interactive_terminal;
#[cfg(unix)]
mod interrupted_looks;
mod journal_list;
mod journal_next_steps;
#[cfg(unix)]
mod journal_terminal;
mod journal_undo;
mod journal_verify;
mod kubernetes;
mod layout;
#[cfg(unix)]
mod live;
mod log_faults;
mod long_paths;
mod magento_admin;
mod magento_attributes;
mod magento_bad_input;
mod magento_base_url;
mod magento_customers;
mod magento_limits;
#[cfg(unix)]
mod magento_oauth;
mod magento_options;
mod magento_quotes;
mod magento_schema;
mod magento_tokens;
mod magento_traps;
mod masking;
mod mcp;
#[cfg(unix)]
mod operation_faults;
#[cfg(unix)]
mod order_update;
mod past;
mod people;
mod plans;
mod plans_of_sheets;
#[cfg(unix)]
mod printed_commands;
mod products;
mod profile_fields;
mod profile_round_trip;
#[cfg(unix)]
mod proxy_headers;
mod readme;
mod removal_look;
mod replies;
mod restore_defaults;
mod restore_owner;
mod restore_repeats;
mod restore_snapshots;
mod restore_unknown;
mod resumed_looks;
#[cfg(unix)]
mod review;
#[cfg(unix)]
mod review_browser;
mod sandbox_fault;
mod sandbox_magento_access;
mod sandbox_openapi;
mod sandbox_profile;
mod sandbox_routing;
mod sandbox_rules;
mod sandbox_serve;
mod sandbox_store;
mod schema;
mod secrets;
mod settings_as_written;
mod sheet_cells;
mod sheet_meaning;
mod snapshot_retention;
#[cfg(unix)]
mod standard_streams;
mod support;
mod team;
mod template;
#[cfg(unix)]
mod terminal_dialogues;
#[cfg(unix)]
mod terminal_output;
#[cfg(unix)]
mod terminal_snapshots;
#[cfg(unix)]
mod token_command;
mod undo_attributes;
mod undo_orders;
mod undo_products;
mod unexpected_answers;
mod way_back;
mod who_may_write;
mod windows;
mod words;
mod write_log;
mod written_files;
