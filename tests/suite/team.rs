//! Several people who work on the customers of one shop (docs/team.md).

use snapbox::str;

use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

const LOST: &str = "customer update --customer 2 --gender 3 --yes --settle 0 --retry 0";
const NEXT: &str = "customer update --customer 2 --address 5 --city Kobe --yes --settle 0";

/// Profiles of two people for the shop.
fn give_profiles(home: &Home, env: &TestEnv) {
    let profile = |name: &str| {
        let url = env.url();
        format!("[profiles.{name}]\nbase-url = \"{url}/rest\"\napi = \"magento\"\n")
    };
    home.write("config.toml", profile("anna") + &profile("ben"), 0o600);
    for name in ["anna", "ben"] {
        let login = format!("auth login -p {name} --user admin --admin --with-password -q");
        let logged_in = home.storefront(&login).stdin("sandbox\n").run();
        assert_eq!(logged_in.code, 0, "{logged_in:?}");
    }
}

#[test]
fn profiles_of_one_account_see_what_the_others_did() {
    let env = TestEnv::with_faults(&["PUT:reset-before-commitx1"]);
    give_profiles(&env.home, &env);
    let run = |line: &str| env.home.run(line);
    assert_eq!(run(&format!("-p anna {LOST}")).code, 8);
    let refused = run(&format!("-p ben {NEXT}"));
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.stderr.contains("it is unknown whether update 1 "), "{refused:?}");
    assert_eq!(env.home.ok("-p ben history --customer 2 --jq .outcome"), "unknown\n");
    assert_eq!(run(&format!("-p ben {NEXT} --after-unknown")).code, 0);
    assert_eq!(env.home.ok("-p anna history --jq .changes[0].path"), "addresses[id=5].city\ngender\n");
    run("-p anna undo LAST --customer 2 --yes -q -o json --jq .changes[0].after")
        .assert_success(str!["千代田区"]);
}

/// What the page says is lost where each has an account.
#[test]
fn another_account_knows_nothing_of_what_a_colleague_did() {
    let env = TestEnv::with_faults(&["PUT:reset-before-commitx1"]);
    let ben = Home::new();
    give_profiles(&env.home, &env);
    give_profiles(&ben, &env);
    assert_eq!(env.home.run(&format!("-p anna {LOST}")).code, 8);
    assert_eq!(ben.ok("-p ben history -o json"), "");
    let updated = ben.run(&format!("-p ben {NEXT}"));
    assert_eq!(updated.code, 0, "{updated:?}");
}
