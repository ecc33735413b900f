//! The same input again: every night, after a mistake, and from another directory.

use serde_json::{Value, json};

use crate::support::batch::lines;
use crate::support::magento::{program, run};
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, change_log};

const UPDATE: &str = "customer update -i names.csv --jobs 1";

fn journal(env: &TestEnv, name: &str) -> String {
    env.home.dir.path().join(format!("{name}.journal")).display().to_string()
}

fn reasons(outcome: &Outcome) -> Vec<Value> {
    lines(outcome).iter().map(|line| line["reason"].clone()).collect()
}

/// Whether nothing but reads was sent since the last call.
fn only_read(env: &TestEnv) -> bool {
    env.requests().iter().all(|request| request.starts_with("GET"))
}

#[test]
fn a_sheet_of_updates_is_run_every_night_and_sends_what_is_new() {
    let env = TestEnv::new();
    let sheet = "customer,address_id,city\n1,1,Oslo\n2,5,Kyoto\n";
    env.file("names.csv", sheet);
    let first = run(&env, UPDATE);
    assert_eq!(first.code, 0, "{first:?}");
    env.requests();
    let second = run(&env, UPDATE);
    assert_eq!((second.code, reasons(&second)), (0, vec![json!("unchanged"); 2]), "{second:?}");
    assert!(only_read(&env), "{second:?}");
    // That of another day has the same name.
    env.file("names.csv", "customer,address_id,city\n3,7,Lyon\n1,1,Oslo\n");
    let shown = run(&env, &format!("{UPDATE} -n"));
    assert!(shown.code == 0 && only_read(&env), "{shown:?}");
    let third = run(&env, UPDATE);
    assert_eq!((third.code, &reasons(&third)[1]), (0, &json!("unchanged")), "{third:?}");
    // Another machine does not know what the journal has.
    let elsewhere = env.home.dir.path().join("elsewhere");
    let state = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" };
    let line = format!("{UPDATE} -y -o json");
    let other = program(&env, &line).env(state, elsewhere.to_str().unwrap()).run();
    assert!(other.code == 3 && other.stderr.contains("of another log"), "{other:?}");
}

#[test]
fn what_adds_is_sent_again_another_day_and_not_by_the_same_command_on_one() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,customer\nmug-blue,1,1\nno-such,1,1\n");
    let line = "quote add-item -i items.csv --jobs 1";
    let first = run(&env, line);
    assert_eq!(first.code, 7, "{first:?}");
    env.requests();
    let again = run(&env, line);
    let error = again.error();
    let hint = error["hint"].as_str().unwrap();
    assert!(
        again.code == 3 && again.stderr.contains("1 record (2) of this input was sent already, by run 1 of ")
    );
    assert!(hint.contains("`storefront resume 1`") && !hint.contains("--restart"), "{hint}");
    assert!(only_read(&env), "{again:?}");
    // Once the record that was refused is answered, the sheet of the next day needs nothing.
    change_log(&env.home, "UPDATE run SET began = began - 21 * 3600 * 1000000");
    assert_eq!(run(&env, line).code, 3);
    let answered = run(&env, "resume 1 --mark-done 3");
    assert_eq!(answered.code, 0, "{answered:?}");
    env.requests();
    env.file("items.csv", "sku,qty,customer\nmug-blue,1,1\numbrella,1,1\n");
    let next = run(&env, line);
    assert_eq!((next.code, reasons(&next)), (0, vec![Value::Null; 2]), "{next:?}");
    assert_eq!(env.requests().iter().filter(|sent| sent.starts_with("POST")).count(), 2);
}

#[test]
fn a_batch_that_has_something_left_to_do_is_not_begun_again() {
    let env = TestEnv::with_faults(&["POST:503", "POST:503", "POST:503"]);
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n");
    let line = "quote add-item -i items.csv --retry 0";
    let first = env.run(line);
    assert_ne!(first.code, 0, "{first:?}");
    env.requests();
    let error = env.fails(3, line);
    assert!(error["message"].as_str().unwrap().contains("already exists"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("continue it with"), "{error}");
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_new_address_of_a_sheet_that_is_stored_already_is_unchanged() {
    let env = TestEnv::new();
    env.file(
        "new.csv",
        "customer,address_id,address_firstname,address_lastname,street,city,postcode,country,telephone\n\
         1,new,Ada,Lovelace,1 Street,Paris,75001,FR,1\n",
    );
    let line = "customer update -i new.csv";
    assert_eq!(run(&env, line).code, 0);
    env.requests();
    let again = run(&env, line);
    assert_eq!((again.code, reasons(&again)), (0, vec![json!("unchanged")]), "{again:?}");
    assert!(only_read(&env), "{again:?}");
}

#[test]
fn a_batch_is_resumed_from_anywhere_with_the_arguments_that_it_was_begun_with() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,customer\nno-such,1,1\nmug-blue,1,2\n");
    let first = run(&env, "quote add-item -i items.csv --jobs 1");
    assert_eq!(first.code, 7, "{first:?}");
    let elsewhere = env.home.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let resume = |batch: &str, flags: &str| {
        let mut command = program(&env, &format!("resume {batch} -q -o json {flags}")).into_command();
        command.current_dir(&elsewhere);
        let ended = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (ended.status.code().unwrap(), text(ended.stdout) + &text(ended.stderr))
    };
    let file = journal(&env, "items.csv");
    env.requests();
    let (code, shown) = resume(&file, "-n");
    assert!(code == 0 && shown.contains("404 Not Found") && only_read(&env), "{shown}");
    // As it is, and by its number.
    let (code, again) = resume("1", "--retry-failed=2");
    assert!(code == 7 && again.contains("done earlier"), "{again}");
    assert_eq!(env.requests().iter().filter(|sent| sent.starts_with("POST")).count(), 1);
    env.file("items.csv", "sku,qty,customer\numbrella,1,1\nmug-blue,1,2\n");
    let (code, done) = resume(&file, "--jobs 2 -y");
    assert!(code == 0 && done.contains("done earlier"), "{done}");
    for (batch, says) in
        [("latest", "has to be named"), ("99", "is no batch"), ("other.journal", "is no batch")]
    {
        let (code, refused) = resume(batch, "");
        assert!(code == 2 && refused.contains(says), "{batch}: {refused}");
    }
    let (code, refused) = resume(&file, "-i -");
    assert!(code == 2 && refused.contains("its input was a file"), "{refused}");
}

/// Both shards of a sheet, one after the other.
fn both_shards(env: &TestEnv, line: &str) -> [Outcome; 2] {
    [0, 1].map(|part| run(env, &format!("{line} --shard {part}/2")))
}

#[test]
fn shards_are_run_every_night_and_start_over_from_one_copy_of_the_sheet() {
    let env = TestEnv::new();
    env.file("names.csv", "customer,address_id,city\n1,1,Oslo\n2,5,Kyoto\n3,7,Lyon\n");
    for night in ["", "the second night, "] {
        for (part, ended) in both_shards(&env, UPDATE).iter().enumerate() {
            assert_eq!(ended.code, 0, "{night}shard {part}: {ended:?}");
        }
    }
    // The sheet of the third night is another one, with one shard fewer customers.
    env.file("names.csv", "customer,address_id,city\n1,1,Turku\n2,5,Kyoto\n5,12,Bonn\n");
    assert_eq!(run(&env, &format!("{UPDATE} --shard 0/2")).code, 0);
    // A row of what is there now may be of the shard that began over what was there before.
    env.file("names.csv", "customer,address_id,city\n1,1,Turku\n2,5,Kyoto\n3,7,Nice\n5,12,Bonn\n");
    let other = run(&env, &format!("{UPDATE} --shard 1/2"));
    assert!(other.code == 3 && other.stderr.contains("belongs to another copy of this input"), "{other:?}");
    for (part, ended) in both_shards(&env, UPDATE).iter().enumerate() {
        assert_eq!(ended.code, 0, "with what is there now, shard {part}: {ended:?}");
    }
}

#[test]
fn shards_of_what_adds_are_finished_and_sent_again_another_day() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,customer\nmug-blue,1,1\nmug-blue,1,2\nmug-blue,1,3\n");
    let line = "quote add-item -i items.csv --jobs 1";
    let first = both_shards(&env, line);
    assert!(first.iter().all(|shard| shard.code == 0), "{first:?}");
    change_log(&env.home, "UPDATE run SET began = began - 21 * 3600 * 1000000");
    env.requests();
    let second = both_shards(&env, line);
    assert!(second.iter().all(|shard| shard.code == 0), "{second:?}");
    assert_eq!(env.requests().iter().filter(|sent| sent.starts_with("POST")).count(), 3);
    // A shard in which a record was not sent is open.
    change_log(&env.home, "UPDATE run SET began = began - 21 * 3600 * 1000000");
    env.file("items.csv", "sku,qty,customer\nno-such,1,1\nmug-blue,1,1\nno-such,1,2\nmug-blue,1,2\n");
    let stopped = both_shards(&env, &format!("{line} --stop-on-error"));
    assert!(stopped.iter().all(|shard| shard.code != 0), "{stopped:?}");
    let listed = lines(&run(&env, "history"));
    let states: Vec<_> = listed[..2].iter().map(|row| (&row["outcome"], &row["not_sent"])).collect();
    assert_eq!(states, [(&json!("open"), &json!(1)); 2]);
    let again = both_shards(&env, line);
    assert!(again.iter().all(|shard| shard.code == 3), "{again:?}");
}
