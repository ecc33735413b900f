//! Undo, refusals and confirmations: what a person is told, and whether it names what helps.

use crate::support::storefront::{Home, Outcome};
#[cfg(unix)]
use crate::support::terminal::Terminal;

fn sandbox(home: &Home, line: &str) -> Outcome {
    home.storefront(&["--sandbox"].into_iter().chain(line.split_whitespace()).collect::<Vec<_>>())
        .env("TZ", "XYZ-2")
        .run()
}

fn magento(home: &Home, line: &str) -> Outcome {
    sandbox(home, &format!("--api magento {line}"))
}

#[track_caller]
fn ends(outcome: Outcome, code: i32) -> Outcome {
    assert_eq!(outcome.code, code, "{outcome:?}");
    outcome
}

fn names(home: &Home) -> Vec<String> {
    sandbox(home, "customer history --jq .snapshot").stdout.lines().map(str::to_owned).collect()
}

/// Whether a text has a time of day such as `14:05` after `until `.
fn says_until_when(text: &str) -> bool {
    text.split("until ").skip(1).any(|rest| {
        let time: Vec<char> = rest.chars().take(5).collect();
        time.len() == 5 && time[2] == ':' && [0, 1, 3, 4].iter().all(|at| time[*at].is_ascii_digit())
    })
}

const ADD: &str = "customer update --add-address --city Lyon --country FR --region-id 257 --no-input";

/// Nothing of it was ever unknown, however often the same was sent.
#[test]
fn an_update_that_is_made_again_after_its_undo_holds_nothing_back() {
    for run in [sandbox, magento] {
        let home = Home::new();
        let update = "customer update --address 2 --postcode 10119 -q";
        let add = "customer update --add-address --address-firstname A --address-lastname B --street s \
            --city Berlin --postcode 10115 --country DE --region-id 82 --telephone +49301234567";
        ends(run(&home, update), 0);
        ends(run(&home, "customer restore -q"), 0);
        let again = ends(run(&home, update), 0);
        assert_eq!(again.stderr, "", "{again:?}");
        ends(run(&home, add), 0);
    }
}

#[test]
fn an_unknown_update_is_looked_at_again_or_waited_for() {
    let home = Home::new();
    let update = "customer update --address 2 --postcode 10119 --settle 0 --retry 0";
    ends(sandbox(&home, &format!("{update} --fault PUT:reset-before-commit")), 8);
    // The same is refused, too: both may be carried out, and one after something else.
    for postcode in ["10119", "10120"] {
        let update = format!("customer update --address 2 --postcode {postcode} --yes");
        let refused = ends(sandbox(&home, &update), 3);
        assert!(refused.stderr.contains("customer history --check"), "{refused:?}");
        assert!(
            says_until_when(&refused.stderr) && refused.stderr.contains("--after-unknown"),
            "{refused:?}"
        );
    }
    ends(sandbox(&home, "customer update --address 2 --postcode 10120 --after-unknown"), 0);
    // Only the newest one counts.
    ends(sandbox(&home, ADD), 0);
}

#[test]
fn an_ambiguous_snapshot_name_is_refused_with_its_matches() {
    let home = Home::new();
    for postcode in ["10119", "10120"] {
        ends(sandbox(&home, &format!("customer update --address 2 --postcode {postcode}")), 0);
    }
    let refused = ends(sandbox(&home, "customer restore 0000"), 2);
    for name in names(&home) {
        assert!(refused.stderr.contains(&name), "{refused:?}");
    }
    assert_eq!(names(&home).len(), 2, "nothing was written");
    ends(sandbox(&home, "customer restore 2"), 0);
    assert_eq!(sandbox(&home, "customer show --jq .addresses[1].postcode").stdout, "10119\n");
}

#[test]
fn a_restore_that_restores_nothing_says_why() {
    let home = Home::new();
    for postcode in ["10119", "10120"] {
        ends(sandbox(&home, &format!("customer update --address 2 --postcode {postcode}")), 0);
    }
    let nothing = ends(sandbox(&home, "customer restore 1"), 0);
    assert!(
        nothing.stdout.starts_with("customer restore: nothing restored: all that 000001-"),
        "{nothing:?}"
    );
    assert!(nothing.stderr.contains("address 2 postcode has changed since; left as is"), "{nothing:?}");
    ends(sandbox(&home, "customer restore"), 0);
    let undone = ends(sandbox(&home, "customer restore"), 0);
    let newest = &names(&home)[1];
    let expected =
        format!("customer restore: nothing restored: the profile is already as it was before {newest}\n");
    assert!(undone.stdout.starts_with(&expected), "{undone:?}");
    ends(sandbox(&home, "customer restore 1"), 0);
    assert_eq!(sandbox(&home, "customer show --jq .addresses[1].postcode").stdout, "10118\n");
}

#[test]
fn a_default_that_follows_its_recreated_address_is_not_reported_as_lost() {
    for run in [sandbox, magento] {
        let home = Home::new();
        ends(run(&home, "customer update --remove-address 1 --yes"), 0);
        let restored = ends(run(&home, "customer restore"), 0);
        let shown = run(&home, "customer show --jq .default_billing").stdout;
        let ids = run(&home, "customer show --jq .addresses[-1].id").stdout;
        let follows = shown.trim().trim_matches('"') == ids.trim();
        assert_eq!(
            restored.stderr.contains("cannot restore default_billing"),
            !follows,
            "{restored:?} {shown} {ids}"
        );
    }
}

#[test]
fn the_undo_of_an_addition_says_what_deletes_it() {
    let home = Home::new();
    ends(sandbox(&home, ADD), 0);
    let kept = ends(sandbox(&home, "customer restore"), 0);
    assert!(
        kept.stderr.contains(" is newer than the snapshot and is kept; --allow-delete 1 deletes it"),
        "{kept:?}"
    );
    assert!(kept.stdout.starts_with("customer restore: nothing restored: see the warnings\n"), "{kept:?}");
    ends(sandbox(&home, "customer restore --allow-delete 1"), 0);
    assert_eq!(sandbox(&home, "customer show --jq [.addresses[].id]").stdout, "[1,2,3,4]\n");
}

/// The spinner stands on the line that the message is written to.
#[cfg(unix)]
#[test]
fn an_interruption_is_written_in_place_of_the_spinner() {
    let home = Home::new();
    let words = ["--sandbox", "customer", "update", "--address", "2", "--postcode", "10119"];
    let mut terminal =
        Terminal::run(&home, 100, &[&words[..], &["-y", "--fault", "PUT:latency=3000"]].concat(), &[]);
    terminal.sees("sent, waiting for the response (1 s)").terminate();
    let screen = terminal.sees("press Ctrl-C again to stop at once").screen();
    let line = screen.lines().find(|line| line.contains("stopping: ")).unwrap();
    assert!(line.starts_with("stopping: ") || line.starts_with("^Cstopping: "), "{screen}");
    terminal.ends();
}

#[cfg(unix)]
#[test]
fn the_confirmation_names_the_customer_and_the_deletions() {
    let home = Home::new();
    let words = ["--sandbox", "customer", "update", "--remove-address", "3", "4"];
    let mut terminal = Terminal::run(&home, 200, &words, &[]);
    let screen = terminal.sees("Delete 2 addresses and send it?").screen();
    assert!(screen.contains("Amina Haddad <amina.haddad@example.com> (customer 1)"), "{screen}");
    terminal.confirms("n");
    terminal.ends();
}

#[test]
fn a_refused_new_address_is_not_blamed_on_stored_ones() {
    let home = Home::new();
    let refused =
        ends(magento(&home, "customer update --add-address --city Lyon --country FR -y --no-input"), 4);
    assert!(refused.stderr.contains("the new address needs firstname, lastname"), "{refused:?}");
    assert!(!refused.stderr.contains("addresses["), "{refused:?}");
}

#[test]
fn an_attribute_without_a_code_is_refused_before_anything_is_sent() {
    let home = Home::new();
    home.write(
        "a.csv",
        "attribute_code,default_frontend_label,frontend_input\nfit,Fit,text\n,Cut,text\n",
        0o600,
    );
    home.write("a.json", r#"{"default_frontend_label": "Cut", "frontend_input": "text"}"#, 0o600);
    let csv = ends(sandbox(&home, &format!("attribute create -y -i {}", home.path("a.csv").display())), 2);
    assert!(csv.stderr.contains("attribute_code is missing") && csv.stderr.contains("line 3"), "{csv:?}");
    let json = ends(sandbox(&home, &format!("attribute create -y -i {}", home.path("a.json").display())), 2);
    assert!(json.stderr.contains("attribute_code is missing"), "{json:?}");
    // Nothing was created: the code is free.
    ends(sandbox(&home, "attribute create --code fit --label Fit --type text -y"), 0);
}

#[test]
fn a_column_of_customers_names_the_interface_it_needs() {
    let home = Home::new();
    home.write("c.csv", "customer,lastname\n1,Ada\n", 0o600);
    let path = home.path("c.csv").display().to_string();
    let refused = ends(sandbox(&home, &format!("customer update -y -i {path}")), 2);
    assert!(refused.stderr.contains("`customer` works with --api magento"), "{refused:?}");
    assert!(!refused.stderr.contains("customer_id`?"), "{refused:?}");
}

#[test]
fn a_search_that_shows_a_part_says_of_how_many() {
    let home = Home::new();
    let found = ends(magento(&home, "customer find a --limit 2"), 0);
    assert!(found.stderr.contains("2 of 6 shown; --limit N shows more"), "{found:?}");
    assert!(!magento(&home, "customer find a").stderr.contains("shown"));
}
