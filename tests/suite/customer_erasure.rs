//! `forget`: what this machine keeps of customers is gone, and nothing that later commands need is lost.

use snapbox::str;

use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{change_log, files_below, log_count, updates};

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

/// Lets 11 minutes go by for all that is kept of writes.
fn later(home: &Home) {
    change_log(home, "UPDATE write SET left_at = left_at - 660000000, closed_at = closed_at - 660000000");
}

/// Two customers who were named by email, shown and updated some time ago.
fn with_history() -> Home {
    let home = Home::new();
    ok(&home, "customer update --customer sato.kenji@example.jp --gender 3 --yes");
    ok(&home, "customer update --customer amina.haddad@example.com --address 2 --postcode 10119 --yes");
    ok(&home, "customer show --customer amina.haddad@example.com");
    later(&home);
    home
}

#[test]
fn nothing_of_a_customer_who_was_forgotten_is_left_in_the_state_directory() {
    for name in ["Amina.Haddad@example.com", "1"] {
        let home = with_history();
        assert!(!with_words(&home, &ONE).is_empty(), "{:?}", with_words(&home, &ONE));
        ok(&home, &format!("forget --customer {name} --yes"));
        assert_eq!(with_words(&home, &ONE), Vec::<String>::new(), "{name}");
        assert!(!with_words(&home, &TWO).is_empty(), "nothing of anybody else");
        assert_eq!(run(&home, &format!("history --customer {name}")).stdout, "");
        assert_eq!(updates(&home).len(), 1);
    }
}

#[test]
fn one_choice_is_needed() {
    let home = with_history();
    for line in ["forget --yes", "forget --all --customer 1 --yes", "forget --all --older-than 30d --yes"] {
        assert_eq!((run(&home, line).code, updates(&home).len()), (2, 2), "{line}");
    }
}

#[test]
fn everything_of_a_shop_goes_after_a_question_with_the_numbers() {
    let home = with_history();
    run(&home, "forget --all").assert_failure(
        3,
        str![[r#"
error: cannot ask `Delete 2 updates of all customers of this shop from this machine? The shop is not touched; this cannot be undone`: not a terminal
  hint: add --yes
"#]],
    );
    assert_eq!(updates(&home).len(), 2);
    run(&home, "forget --all --yes").assert_report(str!["deleted 2 updates of all customers of this shop"]);
    assert_eq!(with_words(&home, &[&ONE[..], &TWO].concat()), Vec::<String>::new());
    run(&home, "history").assert_report(str!["nothing was written to this shop from this machine"]);
    // The sandbox's other interface, and any shop, is another service.
    home.ok("--sandbox customer update --gender 3 --yes");
    later(&home);
    run(&home, "forget --all --yes").assert_report(str!["deleted 0 updates of all customers of this shop"]);
    assert_eq!(updates(&home), [3], "no id is given twice");
}

/// Whatever became of it: the next update is compared with it.
#[test]
fn an_update_of_the_last_minutes_is_not_deleted() {
    let home = with_history();
    let lost = "customer update --customer 3 --gender 3 --yes --settle 0 --retry 0";
    assert_eq!(run(&home, &format!("{lost} --fault PUT:reset-before-commit")).code, 8);
    for line in ["forget --all --yes", "forget --customer 3 --yes"] {
        run(&home, line).assert_failure(
            3,
            str![[r#"
error: 1 update of the last 10 minutes: the next update is compared with them
  hint: run it again in 10 minutes
"#]],
        );
    }
    assert_eq!(updates(&home).len(), 3);
    assert_eq!(run(&home, &format!("{lost} --address 1 --city Rome")).code, 3, "it is still known");
    ok(&home, "forget --customer 2 --yes");
    ok(&home, "customer update --customer 5 --lastname Levi --yes");
    later(&home);
    ok(&home, "forget --customer 3 --yes");
    assert_eq!(updates(&home).len(), 2);
}

#[test]
fn updates_are_deleted_by_age() {
    let home = with_history();
    run(&home, "forget --older-than 30d --yes").assert_report(str!["deleted 0 updates of all customers"]);
    change_log(&home, "UPDATE write SET left_at = 0, closed_at = 0 WHERE id = 1");
    run(&home, "forget --older-than 30d").assert_failure(
        3,
        str![[r#"
error: cannot ask `Delete 1 update of all customers from this machine? The shop is not touched; this cannot be undone`: not a terminal
  hint: add --yes
"#]],
    );
    run(&home, "forget --older-than 30d --yes").assert_report(str!["deleted 1 update of all customers"]);
    assert_eq!(updates(&home), [2]);
}

#[test]
fn whose_a_token_is_is_forgotten_with_the_customer_or_alone() {
    let home = Home::new();
    let names = || log_count(&home, "SELECT count(*) FROM name WHERE kind = 'token'");
    home.ok("--sandbox customer update --gender 3");
    assert_eq!(names(), 1);
    home.run("--sandbox forget --token")
        .assert_report(str!["forgot whose this token is; the next update keeps it again"]);
    assert_eq!(names(), 0);
    home.run("--sandbox forget --token").assert_report(str!["whose this token is was not kept"]);
    home.ok("--sandbox customer update --gender 2");
    later(&home);
    home.ok("--sandbox forget --customer 1 --yes");
    assert_eq!(names(), 0);
}

/// The newest first, whoever it was.
#[test]
fn without_a_customer_the_newest_changes_of_all_are_listed() {
    let home = Home::new();
    for (customer, city) in [("2", "Kobe"), ("1", "Lyon")] {
        let address = if customer == "1" { 1 } else { 5 };
        ok(&home, &format!("customer update --customer {customer} --address {address} --city {city} --yes"));
    }
    let listed = ok(&home, "history --jq '[.owner.customer, .changes[0].after]'");
    assert_eq!(listed, "[1,\"Lyon\"]\n[2,\"Kobe\"]\n");
    let newest = run(&home, "history --limit 1");
    assert!(newest.stdout.contains("customer 1"), "{newest:?}");
    assert!(
        !newest.stdout.contains("Kobe")
            && newest.stderr.ends_with("the newest 1 shown; --limit N shows more\n"),
        "{newest:?}"
    );
}

/// The update named the id: the log has a hash of the email.
#[test]
fn an_email_leads_to_the_history_without_the_service() {
    let home = Home::new();
    ok(&home, "customer update --customer 1 --address 1 --city Lyon --yes");
    let shop = |line: &str| run(&home, &format!("{line} --fault GET:500 --retry 0"));
    let listed = shop("history --customer Amina.Haddad@example.com --jq .changes[0].after");
    assert_eq!((listed.code, listed.stdout.as_str()), (0, "Lyon\n"), "{listed:?}");
    // A customer of another website had the same email.
    change_log(
        &home,
        "INSERT INTO write (run, call, service, owner_kind, owner, effect, customer, email, left_at) \
         SELECT run, call, service, owner_kind, '77', effect, '77', email, left_at FROM write",
    );
    shop("history --customer amina.haddad@example.com").assert_failure(
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
    later(&home);
    let deleted = run(&home, "forget --customer 1 --yes");
    assert_eq!(deleted.code, 0, "{deleted:?}");
    assert!(!by_id.exists() && !by_email.exists() && other.exists() && begun.exists(), "{deleted:?}");
    for named in [&begun, &journal] {
        assert!(
            deleted.stderr.replace('\n', "").contains(&*named.to_string_lossy()),
            "{named:?}: {deleted:?}"
        );
    }
    assert!(!deleted.stderr.contains(&*other.to_string_lossy()), "{deleted:?}");
    let all = run(&home, "forget --all --yes");
    assert!(all.code == 0 && !other.exists() && begun.exists() && journal.exists(), "{all:?}");
}

/// The addresses of an order are the customer's data, too; a guest is known by the email.
#[test]
fn nothing_of_an_order_is_left_once_it_or_its_customer_is_forgotten() {
    const WORDS: [&str; 2] = ["10119", "Zebra"];
    for name in ["--order 2", "--customer 1", "--customer amina.haddad@example.com"] {
        let home = Home::new();
        ok(&home, "order update 000000002 --shipping --postcode 10119 --comment Zebra --yes");
        ok(&home, "customer update --customer sato.kenji@example.jp --gender 3 --yes");
        assert_eq!(run(&home, &format!("forget {name} --yes")).code, 3, "it is needed for 10 minutes");
        later(&home);
        assert!(!with_words(&home, &WORDS).is_empty(), "{name}");
        ok(&home, &format!("forget {name} --yes"));
        let left = with_words(&home, &WORDS);
        // The service of the sandbox keeps the order.
        assert!(left.iter().all(|file| file.contains("sandbox")), "{name}: {left:?}");
        assert_eq!(log_count(&home, "SELECT count(*) FROM write"), 1, "{name}");
    }
}
