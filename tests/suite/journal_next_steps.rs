//! What the commands about journals say comes next: only what can be done, with commands that run as they stand.

use snapbox::str;

use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

fn hint(stderr: &str) -> String {
    stderr.lines().find_map(|line| line.trim().strip_prefix("hint: ")).unwrap_or_default().to_owned()
}

#[test]
fn a_journal_in_which_everything_is_done_is_not_to_be_resumed() {
    let env = TestEnv::new();
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n");
    assert_eq!(env.run("quote add-item -i items.csv").code, 0);
    env.run("quote add-item -i items.csv").assert_failure(
        3,
        str![[r#"
error: journal `[HOME]/items.csv.journal` already exists
  hint: every record is done; to send all of them again, use --restart, or copy the input to a new file
"#]],
    );
    // A row was added: there is something to continue.
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,mug-blue,2\n");
    assert!(env.run("quote add-item -i items.csv").stderr.contains("use --resume to continue it"));
}

#[test]
fn failed_records_can_be_given_up_with_the_command_of_the_hint() {
    let env = TestEnv::new();
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,nope,1\n1,nope,2\n");
    let failed = env.run("quote add-item -i items.csv");
    let command = "`storefront quote add-item --input items.csv --resume --mark-done=3,4`";
    assert!(hint(&failed.stderr).contains(&format!("to give them up, run {command}")), "{failed:?}");
    // Rows that were deleted are put back before.
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n");
    let shorter = env.run("quote add-item -i items.csv --resume");
    assert_eq!(shorter.code, 3, "{shorter:?}");
    assert!(
        hint(&shorter.stderr).ends_with(&format!("to give up failed ones, put them back and run {command}")),
        "{shorter:?}"
    );
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,nope,1\n1,nope,2\n");
    assert_eq!(env.run("quote add-item --input items.csv --resume --mark-done=3,4").code, 0);
}

#[test]
fn a_dry_run_of_an_applied_plan_says_that_it_was_applied() {
    let home = Home::new();
    home.ok("--sandbox customer update --city Lyon --address 1 --plan a.plan");
    home.ok("--sandbox apply a.plan --yes");
    let dry = home.run("--sandbox apply a.plan -n");
    assert_eq!((dry.code, dry.stderr.as_str()), (0, "dry run: the plan was applied already, nothing sent\n"));
}
