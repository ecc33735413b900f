//! `customer update` with other editors at the same time: every edit is kept.

use std::thread;

use crate::support::test_env::TestEnv;

#[test]
fn eight_concurrent_updates_all_succeed_and_lose_nothing() {
    const EACH: usize = 12;
    let env = TestEnv::new();
    thread::scope(|scope| {
        for editor in 0..8 {
            let env = &env;
            scope.spawn(move || {
                for number in 0..EACH {
                    let address = 1 + editor % 4;
                    let line = format!(
                        "customer update --address {address} --custom-attribute of_{editor}_{number}=x"
                    );
                    let outcome = env.run(&line);
                    assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
                }
            });
        }
    });
    let codes: Vec<String> = (1..=4)
        .flat_map(|id| env.address(id)["custom_attributes"].as_array().cloned().unwrap_or_default())
        .filter_map(|attribute| Some(attribute["attribute_code"].as_str()?.to_owned()))
        .filter(|code| code.starts_with("of_"))
        .collect();
    assert_eq!(codes.len(), 8 * EACH, "{codes:?}");
}
