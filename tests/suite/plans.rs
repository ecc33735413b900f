//! Plans are applied once, whatever happens in between; `tests/cmd/plan.txt` has what they print.

use std::time::Duration;

use crate::support::batch::{attributes, created};
use crate::support::test_env::TestEnv;
#[cfg(unix)]
use crate::support::{storefront::Home, terminal::Terminal};

/// A home with a plan of so many attributes.
fn planned(records: usize) -> TestEnv {
    let env = TestEnv::new();
    env.file("a.csv", attributes(records));
    assert_eq!(env.run("attribute create -i a.csv --plan a.plan -o json").code, 0);
    env.requests();
    env
}

#[test]
fn a_copy_of_a_plan_that_was_begun_is_refused_and_sends_nothing() {
    let env = planned(3);
    let path = |name: &str| env.home.dir.path().join(name);
    std::fs::copy(path("a.plan"), path("copy.plan")).unwrap();
    assert_eq!(env.run("apply a.plan --only 2").code, 0);
    assert_eq!(created(&env), [2]);
    env.requests();
    let error = env.fails(3, "apply copy.plan");
    assert!(error["message"].as_str().unwrap().contains("was applied already, with journal"), "{error}");
    assert!(!path("copy.plan.journal").exists() && env.requests().is_empty());
    assert_eq!(env.run("apply a.plan").code, 0);
    let mut all = created(&env);
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3]);
}

#[test]
fn a_plan_is_resumed_after_a_kill_and_has_one_process_at_a_time() {
    const RECORDS: usize = 400;
    let env = planned(RECORDS);
    let mut running = env.storefront("apply a.plan --rate 40 -o json").spawn_silent();
    let journal = env.home.dir.path().join("a.plan.journal");
    while std::fs::read_to_string(&journal).unwrap_or_default().lines().count() < 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let error = env.fails(3, "apply a.plan");
    assert!(error["message"].as_str().unwrap().ends_with("is in use by another process"), "{error}");
    assert!(!error["hint"].as_str().unwrap().contains("--journal"), "{error}");
    running.kill().unwrap();
    running.wait().unwrap();
    let again = env.storefront("apply a.plan -o json").run();
    let mut stored = created(&env);
    stored.sort_unstable();
    let posts = env.requests().iter().filter(|heard| *heard == "POST 200").count();
    assert_eq!(posts, stored.len());
    stored.dedup();
    assert_eq!(posts, stored.len(), "none twice");
    let unknown = again.stdout.lines().filter(|line| line.contains(r#""applied":"unknown""#)).count();
    assert!(stored.len() + unknown >= RECORDS && unknown <= 8, "{} {unknown}", stored.len());
    assert_eq!(again.code, if unknown == 0 { 0 } else { 8 });
}

#[test]
fn lines_that_were_edited_moved_or_taken_out_are_named_and_nothing_is_sent() {
    let env = planned(3);
    let path = env.home.dir.path().join("a.plan");
    let text = std::fs::read_to_string(&path).unwrap();
    let [header, one, two, three] = text.lines().collect::<Vec<_>>().try_into().unwrap();
    let other = planned(3);
    let of_another = std::fs::read_to_string(other.home.dir.path().join("a.plan")).unwrap();
    let of_another = of_another.lines().nth(2).unwrap();
    let edited = two.replacen("text", "texy", 1);
    assert_ne!(edited, two);
    for (lines, message) in [
        (vec![header, one, &edited, three], "line 3: changed after the plan was written"),
        (vec![header, one, of_another, three], "line 3: changed after the plan was written"),
        (vec![header, two, one, three], "line 2: not in its place"),
        (vec![header, one, one, three], "line 3: not in its place"),
        (vec![header, one, three], "line 3: not in its place"),
        (vec![header, one, two], "has 2 records of 3"),
        (vec![header, one, two, three, three], "line 5: not in its place"),
    ] {
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let error = env.fails(3, "apply a.plan");
        assert!(error["message"].as_str().unwrap().contains(message), "{message}: {error}");
        assert_eq!(error["hint"], "make the plan again with --plan");
    }
    assert!(env.requests().is_empty() && created(&env).is_empty());
    std::fs::write(&path, text).unwrap();
    assert_eq!(env.run("apply a.plan").code, 0);
}

#[cfg(unix)]
fn city(home: &Home) -> String {
    home.ok("customer show --sandbox --jq .addresses[1].city").trim().to_owned()
}

#[cfg(unix)]
#[test]
fn a_person_sees_whose_profile_a_plan_changes_and_is_asked_once() {
    let home = Home::new();
    home.ok("customer update --sandbox --address 2 --city Albany --plan a.plan -q");
    for (answer, code, stored) in [("n", 130, "New York"), ("y", 0, "Albany")] {
        let mut terminal = Terminal::run(&home, 100, &["apply", "a.plan", "--sandbox"], &[]);
        let screen = terminal.sees("Apply 1 change to 1 customer? (y/n)").screen();
        let whose = "Record 1, Amina Haddad <amina.haddad@example.com> (customer 1)";
        assert!(screen.contains(whose) && screen.contains("New York"), "{screen}");
        terminal.confirms(answer);
        let (ended, screen) = terminal.ends();
        assert_eq!((ended, city(&home).as_str()), (code, stored), "{screen}");
        assert_eq!(screen.matches("(y/n)").count(), 1, "{screen}");
    }
}

#[test]
fn a_declined_record_is_sent_only_where_it_is_named() {
    let env = planned(4);
    let journal = env.home.dir.path().join("a.plan.journal");
    assert_eq!(env.run("apply a.plan --only 1").code, 0);
    let mut text = std::fs::read_to_string(&journal).unwrap();
    for record in [2, 4] {
        text += &format!("{{\"line\":{record},\"state\":\"declined\",\"hash\":\"00000000000000a0\"}}\n");
    }
    std::fs::write(&journal, text).unwrap();
    let again = env.storefront("apply a.plan -o json").run();
    assert_eq!((again.code, again.stdout.lines().count()), (0, 2), "{}", again.stderr);
    let warning = "2 records (2, 4) were declined in a review: to send one, name it with --only";
    assert!(again.stderr.contains(warning), "{}", again.stderr);
    assert_eq!(created(&env), [1, 3]);
    let listed = env.storefront("history a.plan.journal --state declined --jq .line").run();
    assert_eq!(listed.stdout, "2\n4\n");
    assert_eq!(env.run("apply a.plan --only 4 --retry-unknown").code, 0);
    assert_eq!(created(&env), [1, 3, 4]);
    let dry = env.storefront("apply a.plan -n -o json --jq .record").run();
    assert!((dry.code, &*dry.stdout) == (0, "1\n3\n4\n"), "{} {}", dry.stdout, dry.stderr);
}
