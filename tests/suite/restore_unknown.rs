//! `undo` of an update whose outcome is unknown.

use serde_json::json;
use snapbox::str;

use crate::support::magento::{done, run};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, change_log, log_count, set_outcome, updates};

const API: &str = "marketplace";

/// Sets the outcome of the newest update to unknown, as of an hour ago.
fn make_unknown(home: &Home) -> i64 {
    let newest = updates(home).pop().unwrap();
    let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    set_outcome(home, newest, &json!({"outcome": "unknown", "sent_at": hour_ago.to_string()}));
    newest
}

fn address(home: &Home) -> String {
    home.sandbox_ok(API, "customer show --jq .addresses[1]|.city,.postcode").stdout.replace('\n', " ")
}

#[test]
fn an_old_unknown_update_that_the_profile_shows_is_the_one_undone() {
    let home = Home::new();
    home.sandbox_ok(API, "customer update --address 2 --city Reno --region-id 39");
    home.sandbox_ok(API, "customer update --address 2 --postcode 89501");
    let newest = make_unknown(&home);
    home.sandbox_ok(API, "undo LAST --yes");
    assert_eq!(address(&home), "Reno 10118 ");
    let applied = format!(
        "SELECT count(*) FROM write WHERE id = {newest} AND outcome ->> 'outcome' = 'applied' \
         AND outcome ->> 'verified'"
    );
    assert_eq!(log_count(&home, &applied), 1);
}

/// Whether it did nothing, or something else came after it, is for a person to say.
#[test]
fn an_old_unknown_update_that_the_profile_does_not_show_is_not_undone_unasked() {
    let lost = "customer update --address 2 --postcode 10120 --settle 0 --retry 0";
    let (never_came, overwritten) = (Home::new(), Home::new());
    for home in [&never_came, &overwritten] {
        home.sandbox_ok(API, "customer update --address 2 --postcode 10119");
    }
    assert_eq!(never_came.sandbox(API, &format!("{lost} --fault PUT:reset-before-commit")).code, 8);
    overwritten.sandbox_ok(API, "customer update --address 2 --postcode 10120 --telephone 1");
    overwritten.sandbox_ok(API, "customer update --address 2 --telephone 2");
    change_log(&overwritten, "DELETE FROM run WHERE id = 3; DELETE FROM last_read");
    for (home, postcode, changed) in
        [(&never_came, "10119", "Postcode"), (&overwritten, "10120", "Telephone number, Postcode")]
    {
        make_unknown(home);
        let refused = home.sandbox(API, "undo LAST --yes");
        let stderr = refused.stderr.replace(&format!("(address 2: {changed};"), "(address 2: FIELDS;");
        Outcome { stderr, ..refused }.assert_failure(3, str![[r#"
error: it is unknown whether update 2 (address 2: FIELDS; [TIME]) was saved, and the profile does not show it
  hint: `storefront --sandbox --api marketplace verify 2` looks for it again; `storefront --sandbox --api marketplace history` lists the writes
"#]]);
        assert_eq!(address(home), format!("New York {postcode} "));
        home.sandbox(API, "undo 2 --yes --after-unknown");
        assert_eq!(address(home), "New York 10119 ");
    }
}

/// One read shows it, another one a second later proves it: a restore costs as many as an update.
#[test]
fn a_lost_reply_costs_two_reads() {
    for (api, customer) in [("magento", " --customer 1"), ("marketplace", "")] {
        let home = Home::new();
        let reads = |line: &str| {
            let lost = format!("{line}{customer} --yes --fault PUT:reset-after-commit -v");
            home.sandbox_ok(api, &lost).stderr.matches("> GET ").count() - 1
        };
        assert_eq!(reads("customer update --address 2 --city Troy"), 2, "{api}");
        home.sandbox_ok(api, &format!("customer update{customer} --remove-address 3 --yes"));
        let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
        let outcome = json!({"outcome": "applied", "at": hour_ago.to_string(), "verified": true});
        for update in updates(&home) {
            set_outcome(&home, update, &outcome);
        }
        assert_eq!(reads("undo LAST"), 2, "{api}");
    }
}

/// Right after its update a read that shows what the restore sent may be an old one.
#[test]
fn a_lost_reply_to_the_restore_of_a_recent_update_is_unknown_and_says_why() {
    let home = Home::new();
    home.sandbox_ok(API, "customer update --address 2 --city Troy");
    let restored = home.sandbox(API, "undo LAST --yes --fault PUT:reset-after-commit -v -o json");
    assert_eq!(restored.code, 8, "{restored:?}");
    assert!(restored.stderr.contains("it sets back an update of the last minute"), "{restored:?}");
    assert_eq!(restored.stderr.matches("> GET ").count(), 2, "one look, for what may be lost: {restored:?}");
}

#[test]
fn an_update_that_was_refused_has_nothing_to_undo() {
    let home = Home::new();
    let refused = "customer update --address 2 --postcode 10120 --fault PUT:429 --retry 0";
    assert_eq!(home.sandbox(API, refused).code, 5);
    home.sandbox(API, "undo 1 --yes").assert_success(str!["undo: nothing to undo: write 1 was refused"]);
    assert_eq!(updates(&home).len(), 1);
}

/// The address is there under a new id, and a replica that lags behind would show the old one: nobody knows which it is.
#[test]
fn a_refused_undo_that_was_saved_is_not_reported_as_not_applied() {
    let env = TestEnv::with_faults(&["PUT:reject-after-commit"]);
    done(&env, "customer update --customer 1 --remove-address 3 -y");
    let refused = run(&env, "undo 1 -y --settle 0.2s");
    let error = refused.error();
    assert_eq!((refused.code, &error["applied"]), (4, &json!("unknown")), "{refused:?}");
    assert!(error["message"].as_str().unwrap().contains("was there a moment ago, too"), "{refused:?}");
}
