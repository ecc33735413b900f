//! The program with the sandbox's Magento side as its service.

use serde_json::Value;

use super::storefront::{Outcome, Storefront};
use super::test_env::{TestEnv, words};

/// A line of arguments, quoted as in a shell, against Magento's interface, without a store view.
pub fn program(env: &TestEnv, line: &str) -> Storefront {
    env.storefront(&words(line))
        .env("STOREFRONT_BASE_URL", &format!("{}/rest", env.url()))
        .env("STOREFRONT_API", "magento")
        .without("STOREFRONT_STORE_VIEW")
}

/// Runs a line and gives what came of it.
pub fn run(env: &TestEnv, line: &str) -> Outcome {
    program(env, &format!("{line} -q -o json")).run()
}

/// Runs a line that must end well without a warning; gives its result object.
#[track_caller]
pub fn done(env: &TestEnv, line: &str) -> Value {
    run(env, line).done()
}

/// Runs a line that must fail with this code; gives its error object.
#[track_caller]
pub fn fails(env: &TestEnv, code: i32, line: &str) -> Value {
    let outcome = run(env, line);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{line}: {outcome:?}");
    outcome.error()
}
