//! A resumed plan is looked at first, which sends nothing: what is found to be missing is counted, shown and asked for.

use crate::support::magento::{program, run};
use crate::support::raw_http::{ADMIN, ids};
use crate::support::test_env::TestEnv;

/// The second of two calls is refused.
const SECOND: &str = "DELETE:429@50x1:seed=97";

/// A plan that removes two addresses, applied by a run that was killed before the second removal left.
fn killed_before_the_removal() -> TestEnv {
    let env = TestEnv::with_faults(&[SECOND]);
    let line = "customer update --customer 1 --remove-address 3 4 --plan a.plan";
    assert_eq!(run(&env, line).code, 0);
    let first = run(&env, "apply a.plan -y --retry 0");
    assert!(first.stdout.contains(r#""applied":"partial""#), "{first:?}");
    let journal = env.home.dir.path().join("a.plan.journal");
    let text = std::fs::read_to_string(&journal).unwrap();
    let kept: Vec<&str> = text.lines().take_while(|line| !line.contains(r#""failed""#)).collect();
    assert!(kept.last().unwrap().contains("sending"), "{text}");
    std::fs::write(&journal, kept.join("\n") + "\n").unwrap();
    assert_eq!(addresses(&env), [1, 2, 4]);
    env.requests();
    env
}

/// Asserts that nothing was sent since the last call.
#[track_caller]
fn nothing_was_sent(env: &TestEnv, said: &str) {
    let requests = env.requests();
    assert!(requests.iter().all(|request| request.starts_with("GET")), "{requests:?} {said}");
}

fn addresses(env: &TestEnv) -> Vec<i64> {
    ids(&env.sandbox.get(ADMIN, "/rest/V1/customers/1").json())
}

#[test]
fn what_a_look_finds_missing_is_counted_shown_and_wants_a_yes() {
    let env = killed_before_the_removal();
    let shown = program(&env, "apply a.plan -n").run();
    nothing_was_sent(&env, &format!("{shown:?}"));
    assert!(shown.code == 0 && shown.stderr.contains("1 record, nothing sent"), "{shown:?}");
    assert!(shown.stdout.contains("address 4, removed"), "{shown:?}");
    let refused = program(&env, "apply a.plan").run();
    nothing_was_sent(&env, &format!("{refused:?}"));
    assert_eq!(refused.code, 3, "{refused:?}");
    assert_eq!(addresses(&env), [1, 2, 4]);
    let second = run(&env, "apply a.plan -y");
    let deleted = env.requests().iter().filter(|request| request.starts_with("DELETE")).count();
    assert_eq!((second.code, deleted, addresses(&env)), (0, 1, vec![1, 2]), "{second:?}");
}

#[cfg(unix)]
#[test]
fn on_a_terminal_it_is_asked_for_and_a_no_sends_nothing() {
    use crate::support::terminal::Terminal;

    let env = killed_before_the_removal();
    let url = format!("{}/rest", env.url());
    let variables = [
        ("STOREFRONT_BASE_URL", url.as_str()),
        ("STOREFRONT_API", "magento"),
        ("STOREFRONT_ADMIN_TOKEN", ADMIN),
    ];
    let mut terminal = Terminal::run(&env.home, 200, &["apply", "a.plan"], &variables);
    terminal.sees("delete 2 addresses?").confirms("n");
    let (code, screen) = terminal.ends();
    nothing_was_sent(&env, &screen);
    assert_eq!((code, addresses(&env)), (130, vec![1, 2, 4]), "{screen}");
}
