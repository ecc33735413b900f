//! What the commands about journals say comes next: only what can be done, with commands that run as they stand.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::batch::lines;
use crate::support::magento::{done, program, run};
use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

/// Two records of two customers.
const MOVES: &str = "customer,address_id,city\n1,1,Marseille\n2,5,Nara\n";
/// The built-in sandbox with Magento's interface.
const SHOP: &str = "--sandbox --api magento";

/// The sandbox after a batch of [`MOVES`].
pub fn moved() -> Home {
    let home = Home::new();
    std::fs::write(home.dir.path().join("moves.csv"), MOVES).unwrap();
    home.ok(&format!("{SHOP} customer update -i moves.csv --yes"));
    home
}

/// Runs the command of a hint that begins with these words.
#[track_caller]
fn pasted(home: &Home, hint: &str, words: &str) {
    let command = hint.split('`').find(|part| part.contains(words)).unwrap_or_else(|| panic!("{hint}"));
    let words = shell_words::split(command).unwrap();
    let outcome = home.run(&*words[1..].join(" "));
    assert!([0, 7].contains(&outcome.code), "{outcome:?}");
}

fn hint(stderr: &str) -> String {
    stderr.lines().find_map(|line| line.trim().strip_prefix("hint: ")).unwrap_or_default().to_owned()
}

#[test]
fn a_batch_that_nothing_sets_back_is_left_and_says_so() {
    let env = TestEnv::new();
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,mug-blue,2\n");
    assert_eq!(env.run("quote add-item -i items.csv").code, 0);
    env.run("undo items.csv.journal --plan u.plan").assert(
        3,
        str!["line 2: this interface has no call that sets the cart back\n"],
        str![[r#"
1 change is left as the shop has it now
No plan was written: nothing can be set back
error: nothing of the batch can be undone
  hint: `storefront history items.csv.journal` lists what became of each record
"#]],
    );
    let listed = env.run("undo items.csv.journal --plan u.plan -o json");
    assert_eq!(lines(&listed)[0]["left"], json!(["this interface has no call that sets the cart back"]));
    assert_eq!(env.run("verify items.csv.journal").code, 8);
}

#[test]
fn a_second_undo_says_that_nothing_is_left() {
    let home = moved();
    home.ok(&format!("{SHOP} undo moves.csv.journal --plan back.plan"));
    home.ok("apply back.plan --yes --sandbox --api magento");
    let again = home.run(&*format!("{SHOP} undo moves.csv.journal --plan again.plan"));
    assert_eq!((again.code, again.stderr.as_str()), (0, "No plan was written: nothing is left to undo\n"));
    // What others changed is left, and is not nothing.
    let home = moved();
    for change in ["--customer 1 --address 1 --city Troy", "--customer 2 --address 5 --city Uji"] {
        home.ok(&format!("{SHOP} customer update {change} --yes"));
    }
    let left = home.run(&*format!("{SHOP} undo moves.csv.journal --plan back.plan"));
    assert_eq!(left.code, 3, "{left:?}");
    assert!(left.stderr.contains("No plan was written: nothing can be set back\n"), "{left:?}");
}

#[test]
fn the_hint_of_verify_is_a_command_that_runs_and_only_where_something_can_be_undone() {
    let home = moved();
    home.ok(&format!("{SHOP} customer update --customer 2 --address 5 --city Uji --yes"));
    let verified = home.run(&*format!("{SHOP} verify moves.csv.journal"));
    assert_eq!(verified.code, 7, "{verified:?}");
    let hint_of = hint(&verified.stderr);
    assert!(
        hint_of.contains("`storefront --sandbox --api magento undo 1` plans how to set back"),
        "{hint_of}"
    );
    pasted(&home, &hint_of, "undo");
    home.ok("--sandbox --api magento apply undo-1.plan --yes");
    let undone = home.run(&*format!("{SHOP} verify moves.csv.journal"));
    assert_eq!(undone.code, 7, "{undone:?}");
    assert!(!undone.stderr.contains(" undo "), "{undone:?}");
    let env = TestEnv::new();
    env.file("a.csv", "attribute_code,default_frontend_label,frontend_input\nwarm_y,Warm,boolean\n");
    assert_eq!(run(&env, "attribute create -i a.csv").code, 0);
    done(&env, "api DELETE /V1/products/attributes/warm_y --admin --yes");
    let verified = program(&env, "verify a.csv.journal").run();
    assert_eq!(verified.code, 7, "{verified:?}");
    assert!(!verified.stderr.contains(" undo "), "{verified:?}");
}

#[test]
fn a_journal_in_which_everything_is_done_is_not_to_be_resumed() {
    let env = TestEnv::new();
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n");
    assert_eq!(env.run("quote add-item -i items.csv").code, 0);
    env.run("quote add-item -i items.csv").assert_failure(
        3,
        str![[r#"
error: 1 record (2) of this input was sent already, by run 1 of [TIME]: journal `[HOME]/items.csv.journal`
  hint: `storefront history [HOME]/items.csv.journal` shows what became of it; `storefront resume 1` sends what is left of it
"#]],
    );
    // A row was added: there is something left of it.
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,mug-blue,2\n");
    assert!(env.run("quote add-item -i items.csv").stderr.contains("`storefront resume 1`"));
    env.requests();
    let resumed = env.run("resume 1");
    assert_eq!((resumed.code, env.requests()), (0, vec!["POST 200".to_owned()]), "{resumed:?}");
}

#[test]
fn the_journal_of_an_undo_plan_is_named_as_such() {
    let home = moved();
    home.ok(&format!("{SHOP} undo moves.csv.journal --plan back.plan"));
    home.ok("apply back.plan --yes --sandbox --api magento");
    let listed = home.ok(&format!("{SHOP} history"));
    assert!(listed.contains("undo plan back.plan"), "{listed}");
    let again = home.run(&*format!("{SHOP} undo back.plan.journal --plan forth.plan"));
    assert_eq!(again.code, 0, "{again:?}");
    assert!(
        again.stderr.contains("warning: this journal is of the plan that undid `moves.csv.journal`"),
        "{again:?}"
    );
}

#[test]
fn failed_records_can_be_given_up_with_the_command_of_the_hint() {
    let env = TestEnv::new();
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,nope,1\n1,nope,2\n");
    let failed = env.run("quote add-item -i items.csv");
    // PowerShell reads a comma as a list.
    let flag = if cfg!(windows) { r#""--mark-done=3,4""# } else { "--mark-done=3,4" };
    let hinted = format!("to give them up, run `storefront resume 1 {flag}`");
    assert!(hint(&failed.stderr).contains(&hinted), "{failed:?}");
    assert_eq!(env.run("resume 1 --mark-done=3,4").code, 0);
}

#[test]
fn a_batch_with_failed_records_is_listed_with_their_number() {
    let env = TestEnv::new();
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,nope,1\n");
    assert_eq!(env.run("quote add-item -i items.csv").code, 7);
    let listed = lines(&env.run("history -o json"));
    assert_eq!(
        [&listed[0]["outcome"], &listed[0]["done"], &listed[0]["failed"]],
        [&json!("done"), &json!(1), &json!(1)]
    );
    assert!(env.run("history").stdout.contains("done: 1 done, 1 failed"));
}

#[test]
fn the_input_of_a_batch_is_named_with_i_as_everywhere() {
    let home = moved();
    std::fs::rename(home.dir.path().join("moves.csv"), home.dir.path().join("old.csv")).unwrap();
    home.ok(&format!("{SHOP} verify moves.csv.journal -i old.csv"));
    home.ok(&format!("{SHOP} undo moves.csv.journal -i old.csv --plan back.plan"));
}

#[test]
fn a_dry_run_of_an_applied_plan_says_that_it_was_applied() {
    let home = Home::new();
    home.ok("--sandbox customer update --city Lyon --address 1 --plan a.plan");
    home.ok("--sandbox apply a.plan --yes");
    let dry = home.run("--sandbox apply a.plan -n");
    assert_eq!((dry.code, dry.stderr.as_str()), (0, "dry run: the plan was applied already, nothing sent\n"));
}

#[test]
fn a_batch_that_was_undone_is_marked_as_such_until_the_undo_is_undone() {
    let home = moved();
    let batches = || lines(&home.run(&*format!("{SHOP} history -o json")));
    let marks = || batches().iter().map(|batch| batch["undone"].clone()).collect::<Value>();
    assert_eq!(marks(), json!([null]));
    let undo = |journal: &str, plan: &str| {
        home.ok(&format!("{SHOP} undo {journal} --plan {plan}"));
        // A plan that is not applied undoes nothing.
        let before = marks();
        home.ok(&format!("apply {plan} --yes {SHOP}"));
        before
    };
    assert_eq!(undo("moves.csv.journal", "back.plan"), json!([null]));
    assert_eq!(marks(), json!([null, "yes"]));
    assert_eq!(batches()[1]["undone_by"], "2");
    let listed = home.ok(&format!("{SHOP} history"));
    assert!(listed.contains("done, undone: "), "{listed}");
    // To resume it sends nothing; that its records are done is not all that is said.
    for flag in ["", " -n"] {
        let resumed = home.run(&*format!("{SHOP} customer update -i moves.csv --resume{flag}"));
        assert_eq!(resumed.code, 0, "{resumed:?}");
        assert!(
            resumed.stderr.contains(
                "warning: what this batch did was undone since, with plan `back.plan`; its done records are not sent \
                 again: `storefront --sandbox --api magento customer update --input moves.csv"
            ) && resumed.stderr.contains(" --restart` sends all records again\n")
                && !resumed.stderr.contains("--dry-run"),
            "{resumed:?}"
        );
    }
    let verified = home.run(&*format!("{SHOP} verify moves.csv.journal"));
    assert!(
        verified.stderr.starts_with("what this batch did was undone since, with plan `back.plan`\n"),
        "{verified:?}"
    );
    let restarted = home.run(&*format!("{SHOP} customer update -i moves.csv --restart --yes"));
    assert!(!restarted.stderr.contains("undone"), "{restarted:?}");
    // What was started over is another batch.
    assert_eq!(marks(), json!([null, null]));
    undo("moves.csv.journal", "back2.plan");
    undo("back2.plan.journal", "forth.plan");
    assert_eq!(marks(), json!([null, "yes", null, null]));
    let resumed = home.run(&*format!("{SHOP} customer update -i moves.csv --resume"));
    assert!(!resumed.stderr.contains("undone"), "{resumed:?}");
}

#[test]
fn a_batch_of_which_something_is_left_is_undone_in_part() {
    let home = moved();
    home.ok(&format!("{SHOP} customer update --customer 2 --address 5 --city Uji --yes"));
    let undone = home.run(&*format!("{SHOP} undo moves.csv.journal --plan back.plan"));
    assert_eq!(undone.code, 7, "{undone:?}");
    home.ok(&format!("apply back.plan --yes {SHOP}"));
    let listed = lines(&home.run(&*format!("{SHOP} history -o json")));
    assert_eq!(listed.last().unwrap()["undone"], "partial");
    let listed = home.ok(&format!("{SHOP} history"));
    assert!(listed.contains("done, undone in part: "), "{listed}");
}
