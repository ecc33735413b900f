//! Deleting what this machine keeps of customers: seen to be gone, and nothing that later commands need is lost.

use snapbox::str;

use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{files_below, forget_removals, snapshots};

const API: &str = "--sandbox --api magento";

fn run(home: &Home, line: &str) -> Outcome {
    home.run(&format!("{API} {line}"))
}

#[track_caller]
fn ok(home: &Home, line: &str) -> String {
    home.ok(&format!("{API} {line}"))
}

/// Files of the state directory whose name or content has one of these words, in any case.
fn with_words(home: &Home, words: &[&str]) -> Vec<String> {
    let has = |text: &str| words.iter().any(|word| text.to_lowercase().contains(&word.to_lowercase()));
    let files = files_below(&home.state()).into_iter();
    let found = files.map(|file| (file.strip_prefix(home.state()).unwrap().display().to_string(), file));
    let found = found
        .filter(|(name, file)| has(name) || has(&String::from_utf8_lossy(&std::fs::read(file).unwrap())));
    found.map(|(name, _)| name).collect()
}

/// Words of customer 1, and of customer 2.
const ONE: [&str; 5] = ["amina", "Haddad", "350 Fifth Avenue", "Rue de Rivoli", "1985"];
const TWO: [&str; 3] = ["sato", "kenji", "\u{4f50}\u{85e4}"];

/// Two customers who were named by email, shown and updated, one of them by a command that was killed.
fn with_history() -> Home {
    let home = Home::new();
    ok(&home, "customer update --customer sato.kenji@example.jp --gender 3 --yes");
    ok(&home, "customer update --customer amina.haddad@example.com --address 2 --postcode 10119 --yes");
    let directory = snapshots(&home)[0].with_file_name(".tmpAbC123");
    std::fs::write(directory, "{\"email\": \"amina.haddad@example.com\"").unwrap();
    ok(&home, "customer show --customer amina.haddad@example.com");
    home
}

#[test]
fn nothing_of_a_customer_who_was_deleted_is_left_in_the_state_directory() {
    for name in ["Amina.Haddad@example.com", "1"] {
        let home = with_history();
        assert!(with_words(&home, &ONE).len() >= 4, "{:?}", with_words(&home, &ONE));
        let others = with_words(&home, &TWO);
        let delete = format!("customer history --customer {name} --delete all --yes");
        ok(&home, &delete);
        assert_eq!(with_words(&home, &ONE), Vec::<String>::new(), "{name}");
        assert_eq!(with_words(&home, &TWO), others, "nothing of anybody else");
        assert_eq!(run(&home, &format!("customer history --customer {name}")).stdout, "");
    }
}

/// A flag that excludes `--delete` does not take its place.
#[test]
fn without_delete_nothing_of_all_customers_is_deleted() {
    let home = with_history();
    for flag in ["--check", "--limit 1", "--forget-owner", "--older-than 0d"] {
        let line = format!("customer history {flag} --all-customers --yes");
        assert_eq!((run(&home, &line).code, snapshots(&home).len()), (2, 2), "{line}");
    }
}

#[test]
fn all_customers_are_deleted_after_a_question_with_the_numbers() {
    let home = with_history();
    let delete = "customer history --delete all --all-customers";
    run(&home, delete).assert_failure(
        3,
        str![[r#"
error: cannot ask `Delete 2 snapshots of 2 customers? This cannot be undone`: not a terminal
  hint: add --yes
"#]],
    );
    assert_eq!(snapshots(&home).len(), 2);
    run(&home, &format!("{delete} --yes")).assert_report(str!["deleted 2 snapshots"]);
    assert_eq!(with_words(&home, &[&ONE[..], &TWO].concat()), Vec::<String>::new());
    run(&home, "customer history")
        .assert_report(str!["no changes of any customer recorded on this machine for the sandbox (magento)"]);
    // The sandbox's other interface, and any shop, is another service.
    home.ok("--sandbox customer update --gender 3 --yes");
    run(&home, &format!("{delete} --yes")).assert_report(str!["deleted 0 snapshots"]);
    assert_eq!(snapshots(&home).len(), 1);
}

#[test]
fn an_update_that_may_still_take_effect_is_kept_and_told() {
    let home = with_history();
    let lost = "customer update --customer 3 --gender 3 --yes --settle 0 --retry 0";
    assert_eq!(run(&home, &format!("{lost} --fault PUT:reset-before-commit")).code, 8);
    run(&home, "customer history --delete all --all-customers --yes").assert_failure(
        3,
        str![[r#"
deleted 2 snapshots
error: 1 snapshot kept whose update may still take effect: 000001-[SNAPSHOT] of customer 3
  hint: run the command again 10 minutes after the last update
"#]],
    );
    assert_eq!(snapshots(&home).len(), 1);
    assert_eq!(run(&home, &format!("{lost} --address 1 --city Rome")).code, 3, "it is still known");
}

#[test]
fn snapshots_are_deleted_by_age() {
    let home = with_history();
    run(&home, "customer history --older-than 30d --yes").assert_report(str!["deleted 0 snapshots"]);
    // Nothing that the next minutes need.
    run(&home, "customer history --older-than 0d --yes").assert_report(str!["deleted 0 snapshots"]);
    let newest = snapshots(&home).remove(0);
    for extension in ["json", "outcome"] {
        let file = newest.with_extension(extension);
        std::fs::rename(&file, newest.with_file_name("000001-20200101T000000Z").with_extension(extension))
            .unwrap();
    }
    let outcome = newest.with_file_name("000001-20200101T000000Z.outcome");
    std::fs::write(&outcome, r#"{"outcome":"mismatch","sent_at":"2020-01-01T00:00:00Z","is_final":true}"#)
        .unwrap();
    run(&home, "customer history --older-than 30d --yes").assert_failure(
        3,
        str![[r#"
deleted 0 snapshots
error: 1 snapshot kept whose outcome is unknown or a mismatch: 000001-[SNAPSHOT] of customer 1
  hint: delete each with `storefront --sandbox --api magento customer history --customer ID --delete SNAPSHOT`
"#]],
    );
    std::fs::write(&outcome, r#"{"outcome":"applied","at":"2020-01-01T00:00:00Z","verified":true}"#).unwrap();
    run(&home, "customer history --older-than 30d").assert_failure(
        3,
        str![[r#"
error: cannot ask `Delete 1 snapshot of 1 customer? This cannot be undone`: not a terminal
  hint: add --yes
"#]],
    );
    run(&home, "customer history --older-than 30d --yes").assert_report(str!["deleted 1 snapshot"]);
    assert_eq!(snapshots(&home).len(), 1);
}

/// What a read has to show is not known any more, until every replica shows the update.
#[test]
fn for_a_minute_after_a_deletion_nothing_is_based_on_a_read() {
    let home = Home::new();
    ok(&home, "customer update --customer 1 --address 2 --postcode 10119 --yes");
    ok(&home, "customer history --customer 1 --delete all --yes");
    let update = "customer update --customer 1 --address 2 --city Reno --region-id 39 --yes --settle 0";
    run(&home, update).assert_failure(
        3,
        str![[r#"
error: an update of the last minute was deleted from the history: whether the service shows it cannot be checked
  hint: try again in a minute
"#]],
    );
    ok(&home, "customer update --customer 2 --gender 1 --yes");
    forget_removals(&home);
    ok(&home, update);
    assert!(snapshots(&home)[0].to_string_lossy().contains("000001-"));
}

#[test]
fn a_deletion_names_its_customer() {
    let home = Home::new();
    let shop = |line: &str| {
        let run = home.storefront(line).env("STOREFRONT_BASE_URL", "http://127.0.0.1:1/rest");
        run.env("STOREFRONT_API", "magento").env("STOREFRONT_ADMIN_TOKEN", "t0ken").run()
    };
    for words in ["--delete all --yes", "--forget-owner"] {
        shop(&format!("customer history {words}")).assert_failure(
            2,
            str![[r#"
error: an administrator's token does not say which customer is meant
  hint: name the customer with --customer, or use --all-customers with --delete all
"#]],
        );
    }
    shop("customer history --delete 1 --all-customers --yes").assert_failure(
        2,
        str![[r#"
error: a snapshot is of one customer
  hint: name the customer with --customer, or delete `all`
"#]],
    );
    shop("customer history --delete all --all-customers --yes").assert_report(str!["deleted 0 snapshots"]);
    shop("customer history").assert_report(str![
        "no changes of any customer recorded on this machine for 127.0.0.1:[..] (magento)"
    ]);
}

#[test]
fn whose_a_token_is_stays_until_it_is_forgotten_by_name() {
    let home = Home::new();
    let token = || {
        let files = files_below(&home.state().join("customers"));
        files.iter().filter(|file| file.display().to_string().contains("token-")).count()
    };
    home.ok("--sandbox customer update --gender 3");
    home.ok("--sandbox customer history --customer 1 --delete all --yes");
    assert_eq!(token(), 1);
    home.run("--sandbox customer history --forget-owner")
        .assert_report(str!["forgot whose this token is; the next update keeps it again"]);
    assert_eq!(token(), 0);
    home.run("--sandbox customer history --forget-owner")
        .assert_report(str!["whose this token is was not kept"]);
    run(&home, "customer history --customer 1 --forget-owner")
        .assert_report(str!["no token or email of customer 1 was kept"]);
}

/// The newest first, whoever it was.
#[test]
fn without_a_customer_the_newest_changes_of_all_are_listed() {
    let home = Home::new();
    for (customer, city) in [("2", "Kobe"), ("1", "Lyon")] {
        let address = if customer == "1" { 1 } else { 5 };
        ok(&home, &format!("customer update --customer {customer} --address {address} --city {city} --yes"));
    }
    for snapshot in snapshots(&home).iter().filter(|file| file.ancestors().nth(2).unwrap().ends_with("2")) {
        let older = snapshot.with_file_name("000001-20200101T000000Z.json");
        std::fs::rename(snapshot, older).unwrap();
    }
    let listed = ok(&home, "customer history --jq '[.customer, .changes[0].after]'");
    assert_eq!(listed, "[\"1\",\"Lyon\"]\n[\"2\",\"Kobe\"]\n");
    let newest = run(&home, "customer history --limit 1");
    assert!(newest.stdout.contains("customer 1, customer update, "), "{newest:?}");
    assert!(
        !newest.stdout.contains("Kobe") && newest.stderr.ends_with("1 of 2 shown; --limit N shows more\n"),
        "{newest:?}"
    );
}

/// The update named the id: its snapshot has the email.
#[test]
fn an_email_leads_to_the_history_without_the_service() {
    let home = Home::new();
    ok(&home, "customer update --customer 1 --address 1 --city Lyon --yes");
    let shop = |line: &str| run(&home, &format!("{line} --fault GET:500 --retry 0"));
    let listed = shop("customer history --customer Amina.Haddad@example.com --jq .changes[0].after");
    assert_eq!((listed.code, listed.stdout.as_str()), (0, "Lyon\n"), "{listed:?}");
    // A customer of another website had the same email.
    let one = snapshots(&home).remove(0);
    let other = one.ancestors().nth(2).unwrap().with_file_name("77").join("0000xx");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::copy(&one, other.join(one.file_name().unwrap())).unwrap();
    shop("customer history --customer amina.haddad@example.com --delete all --yes").assert_failure(
        2,
        str![[r#"
error: 2 customers on this machine had the email `amina.haddad@example.com`: 1, 77
  hint: name the customer by ID: --customer ID
"#]],
    );
}

/// Plans of assistants that change this customer go, and what cannot be told from others is named.
#[test]
fn plans_of_assistants_go_and_other_files_that_may_name_the_customer_are_told() {
    let home = with_history();
    let plans = home.state().join("plans");
    std::fs::create_dir_all(&plans).unwrap();
    let plan = |name: &str, flags: &str| {
        let file = plans.join(name);
        ok(&home, &format!("customer update {flags} --plan {} -q", file.display()));
        file
    };
    let by_id = plan("customer-update-20261128T000000.000000001Z.plan", "--customer 1 --firstname Ida");
    let by_email = plan(
        "customer-update-20261128T000000.000000002Z.plan",
        "--customer amina.haddad@example.com --firstname Ida",
    );
    let other = plan("customer-update-20261128T000000.000000003Z.plan", "--customer 2 --firstname Ken");
    let begun =
        plan("customer-update-20261128T000000.000000004Z.plan", "--customer 1 --city Reno --address 2");
    std::fs::write(format!("{}.journal", begun.display()), "").unwrap();
    let rows = "customer,gender\n1,3\n2,3\n";
    let line = format!("{API} customer update -i - --input-format csv --yes");
    assert_eq!(home.storefront(&line).stdin(rows).run().code, 0);
    let kept = files_below(&home.state().join("stdin"));
    let journal = kept.into_iter().find(|file| file.extension().is_some_and(|it| it == "journal")).unwrap();
    let deleted = run(&home, "customer history --customer 1 --delete all --yes");
    assert_eq!(deleted.code, 0, "{deleted:?}");
    assert!(!by_id.exists() && !by_email.exists() && other.exists() && begun.exists(), "{deleted:?}");
    for named in [&begun, &journal] {
        assert!(
            deleted.stderr.replace('\n', "").contains(&*named.to_string_lossy()),
            "{named:?}: {deleted:?}"
        );
    }
    assert!(!deleted.stderr.contains(&*other.to_string_lossy()), "{deleted:?}");
    let all = run(&home, "customer history --delete all --all-customers --yes");
    assert!(all.code == 0 && !other.exists() && begun.exists() && journal.exists(), "{all:?}");
}
