//! SIGKILL at random moments: every record is applied exactly once, or reported as unknown.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use crate::support::batch::{attributes, created, lines, most_in_flight};
use crate::support::test_env::TestEnv;

/// The full test is 50 kills over 20,000 records: `STOREFRONT_TEST_KILLS=50 STOREFRONT_TEST_RECORDS=20000`.
fn parameter(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn killed_at_random_moments_no_record_is_lost_or_sent_twice() {
    const JOBS: usize = 8;
    let (kills, records) =
        (parameter("STOREFRONT_TEST_KILLS", 8), parameter("STOREFRONT_TEST_RECORDS", 1200));
    let env = TestEnv::new();
    env.file("a.csv", attributes(records));
    let arguments = ["attribute", "create", "-i", "a.csv", "--resume", "-o", "json"];
    let journal = env.home.dir.path().join("a.csv.journal");
    let mut killed = 0;
    for kill in 0..kills {
        // A part of the time the rest would take, so that the kills fall all over the run.
        let chance = RandomState::new().hash_one(kill) % 1000;
        let mut child = env.storefront(&arguments).spawn_silent();
        std::thread::sleep(Duration::from_millis(
            40 + chance * parameter("STOREFRONT_TEST_SPREAD", 200) as u64 / 1000,
        ));
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let last = env.storefront(&arguments).run();
    let found = lines(&last);
    assert_eq!(found.len(), records, "{}", last.stderr);
    let number = |state: &str| -> Vec<usize> {
        let of_state = found.iter().filter(|line| line["applied"] == state);
        of_state.map(|line| usize::try_from(line["record"].as_u64().unwrap()).unwrap()).collect()
    };
    let (done, unknown) = (number("yes"), number("unknown"));
    assert_eq!(number("no"), Vec::<usize>::new(), "a record that is sent twice is refused");
    assert_eq!(last.code, if unknown.is_empty() { 0 } else { 8 });
    assert!(unknown.len() <= killed * JOBS, "{} unknown after {killed} kills", unknown.len());
    let stored = created(&env);
    assert!(done.iter().all(|record| stored.contains(record)), "reported, but not stored");
    assert!(
        stored.iter().all(|record| done.contains(record) || unknown.contains(record)),
        "stored, but not reported"
    );
    let distinct: std::collections::HashSet<&usize> = stored.iter().collect();
    assert_eq!(distinct.len(), stored.len());
    assert_eq!(env.requests().iter().filter(|heard| *heard == "POST 200").count(), stored.len());
    assert!(most_in_flight(&std::fs::read_to_string(&journal).unwrap()) <= JOBS);
    assert!(killed >= kills / 2, "{killed} of {kills} kills came in time");
}
