//! `undo`, run again or after updates that changed nothing: nothing comes back twice.

use serde_json::Value;

use crate::support::magento;
use crate::support::storefront::Home;
#[cfg(unix)]
use crate::support::terminal::Terminal;
use crate::support::test_env::TestEnv;

const INTERFACES: [&str; 2] = ["marketplace", "magento"];

/// The cities of all addresses, sorted.
fn cities(home: &Home, api: &str) -> Vec<String> {
    let shown = home.sandbox_ok(api, "customer show -o json").stdout;
    let profile: Value = serde_json::from_str(&shown).unwrap();
    let addresses = profile["addresses"].as_array().unwrap().iter();
    let mut cities: Vec<String> = addresses.map(|one| one["city"].as_str().unwrap().to_owned()).collect();
    cities.sort_unstable();
    cities
}

/// A deleted address comes back under a new id, and is known by its content then.
#[test]
fn a_deleted_address_comes_back_once() {
    for api in INTERFACES {
        for restores in [
            &["2 --whole-profile", "2 --whole-profile"][..],
            &["2", "2 --whole-profile", "2"],
            &["2", "1 --whole-profile"],
            &["2", "2"],
        ] {
            let home = Home::new();
            let before = cities(&home, api);
            home.sandbox_ok(api, "customer update --address 2 --telephone 5550100");
            home.sandbox_ok(api, "customer update --remove-address 3 --yes");
            for restore in restores {
                home.sandbox_ok(api, &format!("undo {restore} --yes"));
                assert_eq!(cities(&home, api), before, "{api} {restores:?}");
            }
        }
    }
}

/// The address of the corrected update looks like that of the one that was not taken.
#[test]
fn an_update_that_was_not_taken_has_nothing_to_undo() {
    let add = "customer update --add-address --city Kiel --country DE --region-code BER --no-input";
    let missing =
        "--address-firstname A --address-lastname B --street s --postcode 24103 --telephone 5550100";
    let whole = format!("{add} {missing}");
    for (faults, first, code) in [(&["PUT:429x1"][..], &*whole, 5), (&[][..], add, 4)] {
        let env = TestEnv::with_faults(faults);
        magento::fails(&env, code, &format!("{first} --retry 0"));
        magento::done(&env, &whole);
        let before = env.profile();
        env.requests();
        for flag in ["", " --whole-profile", " --allow-delete 1"] {
            let restored = magento::program(&env, &format!("undo 1 -y{flag}")).run();
            assert_eq!(restored.code, 0, "{restored:?}");
            let expected = "undo: nothing to undo: write 1 ";
            assert!(restored.stdout.starts_with(expected), "{restored:?}");
            assert!(restored.stdout.contains("was refused\n"), "{restored:?}");
            assert_eq!(env.requests(), Vec::<String>::new(), "{flag}");
        }
        assert_eq!(env.profile(), before);
    }
}

#[test]
fn a_custom_attribute_comes_back_and_goes() {
    // Address 1 has a door code, address 2 has none.
    for (api, id) in [("magento", 1), ("magento", 2), ("marketplace", 1), ("marketplace", 2)] {
        let home = Home::new();
        let value = || {
            let jq = format!(
                ".addresses[] | select(.id == {id}) | [.custom_attributes[]?.value | select(. != \"\")]"
            );
            home.sandbox_ok(api, &format!("customer show --jq '{jq}'")).stdout
        };
        let before = value();
        for new in ["", "x"] {
            home.sandbox_ok(
                api,
                &format!("customer update --address {id} --custom-attribute door_code={new}"),
            );
            home.sandbox_ok(api, "undo LAST -y");
            assert_eq!(value(), before, "{api}, address {id}, door_code={new}");
        }
    }
}

/// Off a terminal its number is needed.
#[cfg(unix)]
#[test]
fn a_person_is_asked_whether_an_added_address_is_deleted() {
    for (answer, left) in [("n", 5), ("y", 4)] {
        let home = Home::new();
        let add =
            "customer update --add-address --city Kiel --country DE --region-id 82 --gender 1 --no-input";
        home.sandbox_ok("marketplace", add);
        let refused = home.sandbox("marketplace", "undo 1 -y");
        assert!(refused.code == 3 && refused.stderr.contains("--allow-delete 1"), "{refused:?}");
        let mut terminal = Terminal::run(&home, 120, &["--sandbox", "undo", "1"], &[]);
        let screen = terminal.sees("Delete 1 address and send it?").screen();
        assert!(screen.contains("Gender  1 ") && screen.contains("address 13, removed"), "{screen}");
        terminal.confirms(answer);
        let (code, screen) = terminal.ends();
        assert_eq!((code == 0, cities(&home, "marketplace").len()), (answer == "y", left), "{screen}");
    }
}
