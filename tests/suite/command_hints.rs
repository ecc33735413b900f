//! Commands in hints: what they name is quoted for the shell, and they are for the service and the customer of the command.

use crate::support::magento;
use crate::support::test_env::TestEnv;

/// The commands between backticks that begin with the program's name; an apostrophe or a backtick in a value is quoted.
fn commands(hint: &str) -> Vec<Vec<String>> {
    let parts = hint.split("`storefront ").skip(1);
    parts
        .map(|part| {
            let end = ["` ", "`;"].iter().filter_map(|end| part.find(end)).min();
            shell_words::split(part[..end.unwrap_or(part.len())].trim_end_matches('`')).unwrap()
        })
        .collect()
}

#[test]
fn a_set_with_an_apostrophe_is_quoted_in_the_command_that_repeats_its_assignment() {
    let env = TestEnv::with_faults(&["POST:500"]);
    env.sandbox.sql("UPDATE attribute_sets SET name = 'Men''s' WHERE name = 'Default'");
    let error =
        magento::fails(&env, 8, "attribute assign color --set \"Men's/Content\" --retry 0 --settle 1");
    let found = commands(error["hint"].as_str().unwrap());
    let assign = ["attribute", "assign", "color", "--set", "Men's/Content"].map(str::to_owned).to_vec();
    assert_eq!(found[0], ["attribute", "list", "color"], "{error}");
    assert_eq!(found[1..], [assign], "{error}");
}
