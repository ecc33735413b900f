//! `writes`: decided before any request, the stricter of profile and environment, and never for reads.

use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;

const WRITES: [&str; 14] = [
    "customer update --firstname Amy -y",
    "quote add-item --sku A --qty 1",
    "quote set-item --item 1 --qty 2",
    "quote remove-item --item 1",
    "quote clear -y",
    "quote ship --carrier flatrate --method flatrate --no-payment",
    "attribute create --code a --label A --type text",
    "attribute assign a --set Default",
    "attribute option add a --option A",
    "attribute option default a A",
    "product set a b=c",
    "order update 000000002 --shipping --city A -y",
    "api POST /V1/x",
    "apply a.plan -y",
];

fn run(env: &TestEnv, home: &Home, line: &str, variable: &str) -> Outcome {
    let program = home.storefront(line).env("STOREFRONT_WRITES", variable);
    program.env("STOREFRONT_TOKEN", "sandbox-customer-1").env("STOREFRONT_BASE_URL", &env.url()).run()
}

fn profile(env: &TestEnv, writes: &str) -> Home {
    Home::with_config(&format!(
        "default-profile = \"live\"\n[profiles.live]\nbase-url = \"{}\"\nstore-view = \"default\"\nwrites = \"{writes}\"\n",
        env.url()
    ))
}

#[test]
fn no_write_leaves_where_the_stricter_of_profile_and_environment_forbids_it() {
    let env = TestEnv::new();
    for (of_profile, variable, named) in [
        ("no", "", "`writes` of profile live"),
        ("no", "yes", "`writes` of profile live"),
        ("yes", "no", "STOREFRONT_WRITES"),
        ("yes", "ask", "STOREFRONT_WRITES"),
        ("ask", "", "`writes` of profile live"),
    ] {
        let home = profile(&env, of_profile);
        for line in WRITES {
            let refused = run(&env, &home, line, variable);
            assert_eq!(refused.code, 3, "{line}: {refused:?}");
            assert!(refused.stderr.contains(named), "{line}: {refused:?}");
        }
        assert_eq!(env.requests(), Vec::<String>::new());
    }
}

/// What can be tried without a write is what writes.
#[test]
fn every_command_with_a_dry_run_is_among_the_writes() {
    fn check(command: &clap::Command, words: &str) {
        for inner in command.get_subcommands() {
            check(inner, format!("{words} {}", inner.get_name()).trim());
        }
        let has_dry_run = command.get_arguments().any(|argument| argument.get_id() == "dry_run");
        let is_listed = WRITES.iter().any(|line| line.starts_with(words));
        let is_leaf = command.get_subcommands().next().is_none();
        // They are what they repeat or take back.
        let is_of_another = ["resume", "undo", "journal undo", "customer restore"].contains(&words);
        assert!(!is_leaf || has_dry_run == is_listed || is_of_another, "{words}");
    }
    check(&storefront::commands::grammar(), "");
}

#[test]
fn reads_dry_runs_and_the_sandbox_always_work() {
    let env = TestEnv::new();
    let home = profile(&env, "no");
    for line in [
        "customer show",
        "api GET /V1/storeview/default/customer/profile",
        "customer update --firstname Amy -n",
        "history",
        "customer update --firstname Amy -y --sandbox",
    ] {
        let done = run(&env, &home, line, "");
        assert_eq!(done.code, 0, "{line}: {done:?}");
    }
    let doctor = run(&env, &home, "doctor", "");
    assert!(doctor.stdout.contains("writes: no"), "{doctor:?}");
    let wrong = run(&env, &home, "customer update --firstname Amy", "maybe");
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

#[test]
fn with_yes_a_write_is_sent() {
    let env = TestEnv::new();
    let home = profile(&env, "yes");
    assert_eq!(run(&env, &home, "customer update --firstname Amy -y", "yes").code, 0);
}

#[cfg(unix)]
#[test]
fn a_person_is_asked_and_yes_does_not_answer() {
    use crate::support::terminal::Terminal;

    for (line, question) in [
        (&["customer", "update", "--firstname", "Amy", "--yes"][..], "Send it?"),
        (&["quote", "add-item", "-i", "items.csv", "--yes"], "Add the items of 2 records?"),
        (&["apply", "a.plan", "--yes"], "Apply 1 change to 1 customer?"),
        (&["api", "POST", "/V1/x", "-i", "list.json"], "Let this command write to the shop of profile live?"),
        (&["api", "POST", "/V1/x"], "Let this command write to the shop of profile live?"),
    ] {
        for answer in ["n", "y"] {
            let env = TestEnv::new();
            let home = profile(&env, "ask");
            let items = home.dir.path().join("items.csv");
            std::fs::write(items, "sku,qty,quote_id\nmug-blue,1,1\nmug-blue,1,1\n").unwrap();
            std::fs::write(home.dir.path().join("list.json"), "[1, 2]").unwrap();
            let planned = run(&env, &home, "customer update --firstname Amy --plan a.plan", "");
            assert_eq!(planned.code, 0, "{planned:?}");
            env.requests();
            let mut terminal = Terminal::run(&home, 200, line, &[("STOREFRONT_TOKEN", "sandbox-customer-1")]);
            terminal.sees(question).confirms(answer);
            let (_, screen) = terminal.ends();
            let is_written = env.requests().iter().any(|request| !request.starts_with("GET"));
            assert_eq!(is_written, answer == "y", "{screen}");
            assert_eq!(screen.matches("(y/n)").count(), 1, "{screen}");
            assert!(answer == "n" || screen.contains("every write is confirmed"), "{screen}");
        }
    }
}
