//! What people type first: words, numbers and names by which they know a customer, an object as the argument, and the names that
//! flags have elsewhere.

use crate::support::magento;
use crate::support::test_env::TestEnv;

fn found(env: &TestEnv, text: &str) -> Vec<i64> {
    let outcome = magento::run(env, &format!("customer find {text}"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let ids = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_i64().unwrap());
    ids.collect()
}

#[test]
fn a_customer_is_found_by_telephone_postcode_and_company_of_the_default_billing_address() {
    let env = TestEnv::new();
    for (text, ids) in [
        ("0142685300", &[1][..]),
        ("+33(0)1.42.68.53.00", &[1]),
        ("75002", &[1]),
        ("100-6701", &[2]),
        ("filles", &[1]),
        ("haddad 75002", &[1]),
        ("haddad 10118", &[]),
        // Of an address that is not the default for billing.
        ("2127363100", &[]),
        // The same digits in a longer number.
        ("4268531", &[]),
        ("株式会社", &[2]),
    ] {
        assert_eq!(found(&env, text), ids, "{text}");
    }
    let outcome = magento::run(&env, "customer find haddad");
    let row: serde_json::Value = serde_json::from_str(outcome.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&row["city"], &row["telephone"], &row["postcode"]),
        (&"Paris".into(), &"+33 1 42 68 53 00".into(), &"75002".into())
    );
}

#[test]
fn a_customer_is_the_argument_of_show_and_update() {
    let env = TestEnv::new();
    for who in ["2", "sato.kenji@example.jp", "--customer 2"] {
        let outcome = magento::run(&env, &format!("customer show {who} --jq .id"));
        assert_eq!((outcome.code, outcome.stdout.trim()), (0, "2"), "{who}: {outcome:?}");
    }
    magento::done(&env, "customer update 2 --address 6 --city Kobe --yes");
    let shown = magento::run(&env, "customer show 2");
    assert!(shown.stdout.contains("Kobe"), "{shown:?}");
    let both = magento::run(&env, "customer show 2 --customer 3");
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn a_flag_with_another_name_is_named() {
    let env = TestEnv::new();
    for (line, known) in [
        ("customer update --address 1 --zip 1", "--postcode"),
        ("customer update --address 1 --phone 1", "--telephone"),
        ("customer update --address 1 --state NY", "--region"),
        ("customer update --address 1 --first-name A", "--firstname"),
        ("quote ship --ship-zip 1", "--ship-postcode"),
        ("quote add-item --quantity 1", "--qty"),
    ] {
        let outcome = magento::run(&env, line);
        assert!(
            outcome.code == 2 && outcome.stderr.contains(&format!("use '{known}'")),
            "{line}: {outcome:?}"
        );
    }
    let outcome = magento::run(&env, "customer update --adress 1");
    assert!(outcome.code == 2 && outcome.stderr.contains("--address"), "{outcome:?}");
}
