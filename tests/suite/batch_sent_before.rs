//! What another run sent, under another name or through a plan, is not sent twice: the log knows the records one by one.

use serde_json::Value;

use crate::support::magento::run;
#[cfg(unix)]
use crate::support::storefront::Home;
#[cfg(unix)]
use crate::support::terminal::Terminal;
use crate::support::test_env::{TestEnv, change_log};

const ROWS: &str = "1,mug-blue,1\n1,nope,1\n1,umbrella,2\n";

/// A batch of three rows, of which the second one has failed.
fn run_once() -> TestEnv {
    let env = TestEnv::new();
    env.file("a.csv", format!("quote_id,sku,qty\n{ROWS}"));
    assert_eq!(env.run("quote add-item -i a.csv").code, 7);
    env.requests();
    env
}

/// The message of a command that is refused before it sends anything.
#[track_caller]
fn refused(env: &TestEnv, line: &str) -> Value {
    let error = env.fails(3, line);
    assert_eq!(env.requests(), Vec::<String>::new(), "{line}: {error}");
    error
}

#[test]
fn a_copy_under_another_name_is_not_sent() {
    let env = run_once();
    let text = std::fs::read_to_string(env.home.dir.path().join("a.csv")).unwrap();
    env.file("b.csv", &text);
    let error = refused(&env, "quote add-item -i b.csv --yes");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("2 records (2, 4) of this input were sent already, by run 1 of "), "{error}");
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.contains(
            "`storefront quote add-item --input b.csv --quiet --output json --resume --plan b-rest.plan`"
        ),
        "{hint}"
    );
    assert!(!env.home.dir.path().join("b.csv.journal").exists());
    // By standard input, and with columns in another order.
    let piped = env.storefront("quote add-item -i - --input-format csv").stdin(text).run();
    assert!(piped.code == 3 && piped.stderr.contains("2 records (2, 4)"), "{piped:?}");
    env.file("c.csv", "sku,qty,quote_id\n umbrella ,2,1\n");
    refused(&env, "quote add-item -i c.csv");
    // Where the journal was removed, too.
    std::fs::remove_file(env.home.dir.path().join("a.csv.journal")).unwrap();
    refused(&env, "quote add-item -i a.csv");
}

#[test]
fn a_corrected_copy_does_not_send_again_what_was_done() {
    let env = run_once();
    env.file("b.csv", format!("quote_id,sku,qty\n{}", ROWS.replace("nope,1", "umbrella,5")));
    let error = refused(&env, "quote add-item -i b.csv");
    assert!(error["message"].as_str().unwrap().starts_with("2 records (2, 4) of this input"), "{error}");
    let planned = env.run("quote add-item -i b.csv --resume --plan rest.plan");
    assert_eq!(planned.code, 0, "{planned:?}");
    let applied = env.run("apply rest.plan");
    assert!(applied.code == 0 && applied.stderr.contains("1 record: 1 done"), "{applied:?}");
    // What is meant is said by --restart, and by a yes to the count.
    let meant = env.run("quote add-item -i b.csv --restart --yes");
    assert!(meant.code == 0 && meant.stderr.contains("3 records of an earlier run"), "{meant:?}");
}

#[test]
fn another_cart_another_day_and_one_that_was_not_applied_are_sent() {
    let env = TestEnv::new();
    env.file("a.csv", "sku,qty\nmug-blue,1\n");
    assert_eq!(env.run("quote add-item -i a.csv --quote-id 1").code, 0);
    env.file("b.csv", "sku,qty\nmug-blue,1\n");
    env.requests();
    refused(&env, "quote add-item -i b.csv --quote-id 1");
    // The next day it is another order, once the first one has nothing left to do.
    change_log(&env.home, "UPDATE run SET began = began - 21 * 3600 * 1000000");
    assert_eq!(env.run("quote add-item -i b.csv --quote-id 1").code, 0);
    // What has something left to do is the same one however old it is; what was refused was not sent.
    let env = run_once();
    change_log(&env.home, "UPDATE run SET began = began - 21 * 3600 * 1000000");
    env.file("b.csv", format!("quote_id,sku,qty\n{ROWS}"));
    refused(&env, "quote add-item -i b.csv");
    env.file("c.csv", "quote_id,sku,qty\n1,nope,1\n");
    assert_eq!(env.run("quote add-item -i c.csv").code, 7, "it was refused, and is sent again");
}

#[test]
fn an_update_that_adds_what_is_there_is_not_sent_twice_either() {
    let env = TestEnv::new();
    let row = "1,new,Ada,Lovelace,1 Street,Paris,75001,FR,1\n";
    for name in ["a.csv", "b.csv"] {
        env.file(
            name,
            format!("customer,address_id,address_firstname,address_lastname,street,city,postcode,country,telephone\n{row}"),
        );
    }
    let first = run(&env, "customer update -i a.csv --allow-duplicate");
    assert_eq!(first.code, 0, "{first:?}");
    env.requests();
    let second = run(&env, "customer update -i b.csv --allow-duplicate");
    assert!(second.code == 3 && second.stderr.contains("1 record (2) of this input was sent"), "{second:?}");
    assert_eq!(env.requests().iter().filter(|request| !request.starts_with("GET")).count(), 0);
}

#[cfg(unix)]
#[test]
fn a_person_is_asked_whether_it_is_sent_again() {
    let home = Home::new();
    let file = |name: &str| {
        std::fs::write(home.dir.path().join(name), "quote_id,sku,qty\n1,mug-blue,1\n").unwrap();
    };
    file("a.csv");
    assert_eq!(home.run("--sandbox quote add-item -i a.csv --yes").code, 0);
    file("b.csv");
    let ask = |flags: &str| {
        let line = format!("--sandbox quote add-item -i b.csv{flags}");
        Terminal::run(&home, 300, &line.split(' ').collect::<Vec<_>>(), &[])
    };
    let (code, screen) = ask(" --yes").ends();
    assert!(code == 3 && screen.contains("1 record (2) of this input was sent already"), "{screen}");
    let mut terminal = ask("");
    terminal
        .sees("1 record (2) of this input was sent already, by run 1 of 20")
        .sees("Continue?")
        .confirms("n");
    assert_eq!(terminal.ends().0, 130);
    let mut terminal = ask("");
    terminal.sees("Continue?").confirms("y").sees("Add the items of 1 record?").confirms("y");
    let (code, screen) = terminal.ends();
    assert!(code == 0 && screen.contains("1 record: 1 done"), "{screen}");
}
