//! The tests that are left out on Windows, and those that fail under Wine: all of them stand here, by their names.

use std::collections::BTreeSet;
use std::path::Path;

/// What Windows does not have, and the tests and modules of tests that need it.
const LEFT_OUT: [(&str, &[&str]); 8] = [
    (
        "a pseudo-terminal",
        &[
            "address_form",
            "customer_lag::a_person_is_shown_what_an_old_read_lacks_and_asked",
            "customer_show",
            "field_labels",
            "interactive_terminal",
            "journal_terminal",
            "magento_tokens::a_command_with_an_expired_token_says_since_when_and_offers_the_log_in",
            "printed_commands",
            "profile_fields::the_form_of_the_profile_has_these_fields_and_no_numbers_of_groups_and_stores",
            "plans::a_person_sees_whose_profile_a_plan_changes_and_is_asked_once",
            "cart_state::removing_an_item_takes_a_yes",
            "resumed_looks::on_a_terminal_it_is_asked_for_and_a_no_sends_nothing",
            "batch_sent_before::a_person_is_asked_whether_it_is_sent_again",
            "review",
            "review_browser",
            "restore_repeats::a_person_is_asked_whether_an_added_address_is_deleted",
            "terminal_dialogues",
            "terminal_output",
            "terminal_snapshots",
            "who_may_write::a_person_is_asked_and_yes_does_not_answer",
        ],
    ),
    (
        "signals to send",
        &[
            "interrupted_looks",
            "order_update",
            "sandbox_serve::serve_has_the_rules_of_the_version_that_is_named",
            "batch_interruption",
            "cart_reports::interrupted_between_two_calls_the_report_is_partial",
            "customer_interruption::an_interrupted_item_names_no_customer_command",
            "customer_interruption::interrupted_at_every_step_it_names_what_to_check",
            "customer_interruption::one_signal_waits_for_the_request_in_flight_and_verifies_it",
            "customer_interruption::waiting_for_the_lock_can_be_interrupted",
            "batch_promises",
            "mcp::a_signal_ends_it",
            "operation_faults",
            "sandbox_serve::serve_accepts_only_the_allowed_host_names",
            "sandbox_serve::serve_injects_the_given_faults",
            "sandbox_serve::serve_prints_its_address_and_stops_cleanly_on_a_signal",
        ],
    ),
    (
        "a POSIX shell, and the programs that are called from it",
        &[
            "batch_outage::a_batch_stops_when_its_stdout_is_closed",
            "batch_outage::a_batch_that_fails_midway_reports_what_was_applied",
            "batch_outage::a_token_command_is_run_once_more_for_a_refused_token",
            "batch_outage::a_token_printed_by_different_commands_is_one_key",
            "batch_outage::the_loop_for_scripts_ends_in_every_case",
            "proxy_headers",
            "batch_tokens::a_record_behind_a_failed_one_with_the_same_printed_token_is_not_sent",
            "batch_tokens::a_record_behind_one_whose_command_failed_is_not_sent",
            "batch_tokens::a_record_behind_one_with_the_same_command_goes_before_later_ones_with_the_same_printed_token",
            "batch_tokens::a_record_that_waits_for_its_turn_is_not_sent_after_the_run_has_stopped",
            "batch_tokens::a_resumed_run_sends_no_record_behind_an_unknown_one_with_the_same_printed_token",
            "batch_tokens::a_token_command_is_filled_from_the_record",
            "batch_tokens::records_with_one_printed_token_keep_their_order",
            "completion",
            "dry_run::the_curl_command_has_the_same_effect",
            "help::the_help_of_each_command_ends_with_three_examples_and_each_runs",
            "live",
            "magento_oauth",
            "mcp::the_command_of_a_tool_is_forbidden_to_write",
            "settings_as_written::the_first_line_that_a_password_store_prints_is_the_token",
            "standard_streams",
            "token_command",
        ],
    ),
    (
        "directories that are found by HOME",
        &[
            "batch_resume::the_journal_of_another_machine_is_continued_by_the_command_of_the_hint",
            "settings_as_written::without_a_home_that_exists_nothing_is_kept_anywhere",
        ],
    ),
    (
        "permission bits",
        &[
            "commands::config_private",
            "config_files",
            "doctor::a_configuration_that_others_can_read_is_fixed_by_the_suggested_command",
            "doctor::a_token_file_that_others_can_read_is_fixed_by_the_suggested_command",
            "doctor::a_state_directory_that_others_can_read_is_a_warning",
            "input_files::an_unreadable_file_is_refused",
            "sandbox_store::the_database_files_are_private",
            "secrets::files_with_customer_data_are_readable_by_their_owner_only",
        ],
    ),
    (
        "a limit for the size of files, or a device that is full",
        &[
            "batch_journal::a_full_disk_stops_the_run_before_unjournalled_records_are_sent",
            "full_disk::a_full_disk_under_the_sandbox_is_reported",
            "full_disk::a_log_that_cannot_be_written_stops_the_update",
        ],
    ),
    (
        "pipes and links in the file system that anybody can make",
        &[
            "written_files::man_pages_are_not_written_through_a_link",
            "batch_journal::a_journal_that_is_no_regular_file_is_refused",
            "batch_neighbours::a_link_to_the_input_is_the_input",
        ],
    ),
    ("the paths and the messages of Unix", &["sandbox_store::an_invalid_sandbox_database_is_refused"]),
];

/// When a test fails under Wine.
enum Fails {
    Always,
    Sometimes,
}
use Fails::{Always, Sometimes};

/// Tests that are run on Windows and fail under Wine, and why. `packaging/wine.py` reads this and compares it with a run.
const FAIL_UNDER_WINE: [(&str, Fails, &str); 4] = [
    (
        "customer_lag::an_old_read_is_refused_with_what_it_does_not_show",
        Sometimes,
        "on a busy machine one read takes longer than the time that --settle allows for repeating it",
    ),
    (
        "doctor_service::an_untrusted_certificate_is_fixed_by_ca_file",
        Always,
        "Wine finds no revocation list where Windows finds an unknown authority",
    ),
    (
        "http_transport_errors::a_write_after_a_dropped_connection_uses_a_new_one",
        Always,
        "Wine tells a program that a kept connection was closed only once it writes",
    ),
    (
        "masking::every_spelling_of_the_token_in_an_error_body_is_masked",
        Sometimes,
        "Wine fails to start one of its hundreds of programs (error 1359)",
    ),
];

/// What the suite does not have on Windows: a file that uses it does not compile there.
const ABSENT: [&str; 2] = ["use crate::support::terminal", "use std::os::unix"];

#[test]
fn what_windows_does_not_have_is_imported_only_where_it_is_left_out() {
    let (_, left_out) = tests();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut found = Vec::new();
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if left_out.contains(path.file_stem().unwrap().to_str().unwrap()) {
            continue;
        }
        let mut before = "";
        for (number, line) in (1..).zip(text.lines()) {
            if before != "#[cfg(unix)]" && ABSENT.iter().any(|import| line.starts_with(import)) {
                found.push(format!("{}:{number}: {line}", path.display()));
            }
            before = line;
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The tests of the suite, and those of them that are left out on Windows; of a module that is, its name.
fn tests() -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut left_out) = (BTreeSet::new(), BTreeSet::new());
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let mut attributes: Vec<&str> = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with("#[") {
                attributes.push(line);
            }
            if line.starts_with("#[") || line.starts_with("//") {
                continue;
            }
            let is_test = attributes.contains(&"#[test]");
            let name = match line.strip_prefix("mod ").map(|rest| rest.trim_end_matches(';')) {
                Some(child) if module == "main" => Some(child.to_owned()),
                // A name alone is a table of `commands`.
                None if is_test || module == "commands" && line.ends_with(',') => {
                    let name = line.trim_start_matches("fn ").trim_end_matches(',');
                    Some(format!("{module}::{}", name.split('(').next().unwrap()))
                }
                _ => None,
            };
            let is_left_out = attributes
                .iter()
                .any(|one| *one == "#[cfg(unix)]" || one.starts_with("#[cfg_attr(windows, ignore"));
            left_out.extend(name.clone().filter(|_| is_left_out));
            all.extend(name);
            attributes.clear();
        }
    }
    (all, left_out)
}

#[test]
fn what_is_left_out_is_named_with_the_reason() {
    let (all, left_out) = tests();
    let listed: BTreeSet<String> =
        LEFT_OUT.iter().flat_map(|(_, names)| names.iter().map(ToString::to_string)).collect();
    assert_eq!(left_out, listed);
    for (name, fails, _) in FAIL_UNDER_WINE {
        assert!(all.contains(name) && matches!(fails, Always | Sometimes), "{name}");
    }
}
