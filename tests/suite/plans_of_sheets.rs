//! A plan that was made of a sheet, and runs of the sheet: what the one sent, the other does not send again.

use serde_json::Value;

use crate::support::test_env::TestEnv;

const TITLES: &str = "sku,qty,quote_id\n";
const MUG: &str = "mug-blue,2,1\n";
const UMBRELLA: &str = "umbrella,1,1\n";

/// A home with this sheet.
fn sheet(rows: &str) -> TestEnv {
    let env = TestEnv::new();
    write(&env, rows);
    env
}

fn write(env: &TestEnv, rows: &str) {
    env.file("a.csv", format!("{TITLES}{rows}"));
}

/// How many of each SKU the sandbox has in carts.
fn cart(env: &TestEnv) -> Vec<String> {
    let data = rusqlite::Connection::open(env.sandbox.data()).unwrap();
    let mut query = data.prepare("SELECT sku || ' ' || qty FROM quote_items ORDER BY sku").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[track_caller]
fn runs(env: &TestEnv, line: &str) {
    let outcome = env.run(line);
    assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
}

/// A command that is refused before it sends anything, and names this journal and how it is looked at.
#[track_caller]
fn refused(env: &TestEnv, line: &str, journal: &str) -> Value {
    let before = cart(env);
    env.requests();
    let error = env.fails(3, line);
    assert!(!env.requests().iter().any(|request| !request.starts_with("GET")), "{error}");
    assert_eq!(cart(env), before, "{line}: {error}");
    let [message, hint] = ["message", "hint"].map(|name| error[name].as_str().unwrap());
    let file = format!("{}{journal}`", std::path::MAIN_SEPARATOR);
    assert!(message.contains(&file), "{line}: {error}");
    let shows = hint.split('`').find(|part| part.contains("history")).unwrap();
    assert_eq!(env.run(shows.strip_prefix("storefront ").unwrap()).code, 0, "{shows}");
    error
}

#[test]
fn a_plan_of_rows_that_a_run_of_the_sheet_sent_is_refused() {
    let env = sheet(&[MUG, UMBRELLA].concat());
    runs(&env, "quote add-item -i a.csv --plan before.plan");
    runs(&env, "quote add-item -i a.csv");
    runs(&env, "quote add-item -i a.csv --plan after.plan");
    for plan in ["before.plan", "after.plan"] {
        let error = refused(&env, &format!("apply {plan}"), "a.csv.journal");
        assert!(error["message"].as_str().unwrap().starts_with("2 records (1, 2) of this plan"), "{error}");
        refused(&env, &format!("apply {plan} -n"), "a.csv.journal");
        refused(&env, &format!("apply {plan} --only 2 --yes"), "a.csv.journal");
        assert!(!env.home.dir.path().join(format!("{plan}.journal")).exists());
    }
    assert_eq!(cart(&env), ["mug-blue 2", "umbrella 1"]);
}

#[test]
fn rows_that_a_plan_sent_are_not_sent_by_the_sheet() {
    let env = sheet(MUG);
    runs(&env, "quote add-item -i a.csv");
    write(&env, &[MUG, UMBRELLA].concat());
    runs(&env, "quote add-item -i a.csv --resume --plan rest.plan");
    let plan = std::fs::read_to_string(env.home.dir.path().join("rest.plan")).unwrap();
    assert_eq!(plan.lines().count(), 2, "only what the resume would send: {plan}");
    runs(&env, "apply rest.plan");
    let error = refused(&env, "quote add-item -i a.csv --resume", "rest.plan.journal");
    assert!(error["message"].as_str().unwrap().starts_with("1 record (3) of this input"), "{error}");
    let dry = env.run("quote add-item -i a.csv --resume -n -o json");
    assert!(dry.code == 0 && dry.stdout.lines().count() == 1, "{dry:?}");
    assert!(dry.stdout.contains("done earlier"), "{dry:?}");
    let none = env.run("quote add-item -i a.csv --resume --plan none.plan");
    assert!(none.code == 0 && none.stderr.contains("No plan was written"), "{none:?}");
    assert_eq!(cart(&env), ["mug-blue 2", "umbrella 1"]);
}

#[test]
fn the_sheet_of_a_plan_that_was_applied_is_run_only_by_a_yes_to_restart() {
    let env = sheet(&[MUG, UMBRELLA].concat());
    runs(&env, "quote add-item -i a.csv --plan a.plan");
    runs(&env, "apply a.plan --only 1");
    refused(&env, "quote add-item -i a.csv", "a.plan.journal");
    assert!(!env.home.dir.path().join("a.csv.journal").exists());
    // Rows were added and sorted since.
    write(&env, &[UMBRELLA, MUG, "umbrella,3,1\n"].concat());
    let error = refused(&env, "quote add-item -i a.csv", "a.plan.journal");
    assert!(error["message"].as_str().unwrap().starts_with("1 record (3)"), "{error}");
    let error = env.fails(3, "quote add-item -i a.csv --restart");
    assert!(error["hint"].as_str().unwrap().contains("--yes"), "{error}");
    let again = env.run("quote add-item -i a.csv --restart --yes --jobs 1");
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stderr.contains("1 record of an earlier run may have been applied"), "{again:?}");
    assert_eq!(cart(&env)[0], "mug-blue 4");
}

#[test]
fn two_plans_of_one_sheet_are_applied_once() {
    let env = sheet(&[MUG, UMBRELLA].concat());
    runs(&env, "quote add-item -i a.csv --plan one.plan");
    runs(&env, "quote add-item -i a.csv --plan two.plan");
    runs(&env, "apply one.plan");
    refused(&env, "apply two.plan", "one.plan.journal");
    let input = format!("{TITLES}mug-blue,3,1\n");
    for plan in ["three.plan", "four.plan"] {
        let line = format!("quote add-item -i - --input-format csv --plan {plan}");
        let planned = env.storefront(&*line).stdin(input.clone()).run();
        assert_eq!(planned.code, 0, "{planned:?}");
    }
    runs(&env, "apply three.plan");
    refused(&env, "apply four.plan", "three.plan.journal");
    assert_eq!(cart(&env), ["mug-blue 5", "umbrella 1"]);
}

#[test]
fn equal_rows_of_one_sheet_are_counted() {
    let env = sheet(MUG);
    runs(&env, "quote add-item -i a.csv");
    write(&env, &[MUG, MUG, MUG].concat());
    runs(&env, "quote add-item -i a.csv --resume --plan rest.plan");
    runs(&env, "apply rest.plan --only 1");
    refused(&env, "quote add-item -i a.csv --resume", "rest.plan.journal");
    runs(&env, "quote add-item -i a.csv --resume --plan last.plan");
    runs(&env, "apply rest.plan");
    refused(&env, "apply last.plan", "rest.plan.journal");
    assert_eq!(cart(&env), ["mug-blue 6"]);
}

#[test]
fn a_row_with_an_unknown_outcome_counts_as_sent() {
    let env = TestEnv::with_faults(&["reset-after-commit"]);
    write(&env, MUG);
    assert_eq!(env.run("quote add-item -i a.csv").code, 8);
    runs(&env, "quote add-item -i a.csv --plan a.plan");
    refused(&env, "apply a.plan", "a.csv.journal");
    assert_eq!(cart(&env), ["mug-blue 2"]);
}

#[test]
fn a_plan_that_was_made_to_send_again_is_applied_by_a_yes() {
    let env = sheet(MUG);
    runs(&env, "quote add-item -i a.csv");
    runs(&env, "quote add-item -i a.csv --restart --plan again.plan");
    let error = env.fails(3, "apply again.plan");
    assert!(error["hint"].as_str().unwrap().contains("--yes"), "{error}");
    assert_eq!(cart(&env), ["mug-blue 2"]);
    let again = env.run("apply again.plan --yes");
    assert!(again.stderr.contains("1 record of an earlier run may have been applied"), "{again:?}");
    assert_eq!((again.code, cart(&env)), (0, vec!["mug-blue 4".to_owned()]), "{again:?}");
}
