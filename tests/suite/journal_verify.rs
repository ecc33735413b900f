//! `verify`: what each record of a batch wrote is read again, with one read a customer.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use snapbox::str;

use crate::support::batch::lines;
use crate::support::magento::{done, program, run};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, change_log, serve};

/// Four records of three customers.
const MOVES: &str = "customer,address_id,city\n1,1,Marseille\n1,2,Boston\n2,5,Nara\n5,12,Kiel\n";

/// A shop whose customers were moved by a batch.
fn moved() -> TestEnv {
    let env = TestEnv::new();
    env.file("moves.csv", MOVES);
    assert_eq!(run(&env, "customer update -i moves.csv").code, 0);
    env.requests();
    env
}

/// Takes away that a record is done, as if the program had been killed when its request had left.
pub fn forget_done(env: &TestEnv, journal: &str, record: u64, customer: &str) {
    let path = env.home.dir.path().join(journal);
    let text = std::fs::read_to_string(&path).unwrap();
    let of_record = |line: &&str| line.starts_with(&format!("{{\"line\":{record},"));
    let left: Vec<&str> =
        text.lines().filter(|line| !of_record(line) || line.contains("\"sending\"")).collect();
    std::fs::write(&path, left.join("\n") + "\n").unwrap();
    let open = format!("UPDATE write SET outcome = NULL WHERE record = {record} AND owner = '{customer}'");
    change_log(&env.home, &open);
    change_log(&env.home, "UPDATE run SET journal_length = 0");
}

fn states(verified: &Outcome) -> Value {
    lines(verified).iter().map(|line| line["state"].clone()).collect()
}

#[test]
fn what_a_batch_wrote_is_found_with_one_read_a_customer() {
    let env = moved();
    let verified = run(&env, "verify latest");
    assert_eq!(states(&verified), json!(["there", "there", "there", "there"]), "{verified:?}");
    assert_eq!((verified.code, env.requests()), (0, vec!["GET 200".to_owned(); 3]));
}

/// A later record of the same address keeps what an earlier one wrote: it is the earlier one that is changed.
#[test]
fn what_was_changed_since_is_that_of_the_record_that_wrote_it() {
    let env = TestEnv::new();
    env.file("a.csv", "order,address,city,company\n000000001,shipping,Nara,\n000000001,shipping,,Kyudo\n");
    assert_eq!(run(&env, "order update -i a.csv").code, 0);
    assert_eq!(states(&run(&env, "verify latest")), json!(["there", "there"]));
    assert_eq!(run(&env, "order update 000000001 --shipping --city Uji --yes").code, 0);
    assert_eq!(states(&run(&env, "verify a.csv.journal")), json!(["changed", "there"]));
}

#[test]
fn changes_of_others_are_shown_with_both_values() {
    let env = moved();
    done(&env, "customer update --customer 1 --address 2 --city Albany --yes");
    done(&env, "customer update --customer 2 --address 5 --postcode 111-1111 --yes");
    done(
        &env,
        "customer update --customer 5 --add-address --address-firstname A --address-lastname B --street S \
        --city Bonn --postcode 53113 --country DE --telephone 0228123456 --yes",
    );
    run(&env, "customer update --customer 5 --remove-address 12 --yes");
    let verified = run(&env, "verify moves.csv.journal");
    assert_eq!((verified.code, states(&verified)), (7, json!(["there", "changed", "there", "gone"])));
    assert_eq!(
        lines(&verified)[1]["differences"],
        json!([{"path": "addresses[id=2].city", "written": "Boston", "now": "Albany"}])
    );
    assert!(lines(&verified)[1]["taken"].as_str().is_some_and(|taken| taken.starts_with("20")));
    assert_eq!(verified.error()["message"], "2 of 4 records not as written");
    let shown = program(&env, "verify moves.csv.journal").run();
    let rows: Vec<&str> = shown.stdout.lines().collect();
    assert!(rows[0].starts_with("line 3: changed (written "), "{shown:?}");
    assert!(rows[0].ends_with("address 2 city: wrote Boston, now Albany"), "{shown:?}");
    assert!(rows[1].ends_with("address 12 city: wrote Kiel, now nothing"), "{shown:?}");
    assert!(shown.stderr.contains("verify: 4 records: 1 changed, 1 gone, 2 there; 3 reads ("), "{shown:?}");
}

/// After it was seen, `--resume` takes it as done, also where somebody has changed it since; one that is not seen stays unknown.
#[test]
fn a_record_of_unknown_outcome_is_reported_as_seen_or_not() {
    let env = moved();
    forget_done(&env, "moves.csv.journal", 4, "2");
    forget_done(&env, "moves.csv.journal", 5, "5");
    let elsewhere = Home::new();
    let by_others = |line: &str| {
        let other = serve(elsewhere.storefront(&format!("{line} --yes -q")), &format!("{}/rest", env.url()));
        let other = other.env("STOREFRONT_API", "magento").without("STOREFRONT_STORE_VIEW").run();
        assert_eq!(other.code, 0, "{other:?}");
    };
    by_others("customer update --customer 5 --address 12 --city Hamburg");
    env.requests();
    let verified = run(&env, "verify moves.csv.journal");
    assert_eq!(
        (verified.code, states(&verified)),
        (8, json!(["there", "there", "seen", "not seen"])),
        "{verified:?}"
    );
    let why = lines(&verified)[3]["reason"].as_str().unwrap().to_owned();
    assert!(why.starts_with("the shop does not show it; it may take effect until "), "{why}");
    assert_eq!(env.requests(), vec!["GET 200".to_owned(); 3]);
    by_others("customer update --customer 2 --address 5 --city Uji");
    let resumed = run(&env, "customer update -i moves.csv --resume --settle 0");
    let applied = lines(&resumed).iter().map(|line| line["applied"].clone()).collect::<Value>();
    assert_eq!(applied, json!(["yes", "yes", "yes", "unknown"]), "{resumed:?}");
    assert_eq!(lines(&run(&env, "history moves.csv.journal"))[2]["state"], "done");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let env = moved();
    let text = std::fs::read_to_string(env.home.dir.path().join("moves.csv.journal")).unwrap();
    let log = env.home.state().join("log.db");
    let kept = log.with_file_name("kept.db");
    rusqlite::Connection::open(&log).unwrap().execute("VACUUM INTO ?1", [kept.to_str().unwrap()]).unwrap();
    let reason = || {
        let verified = run(&env, "verify moves.csv.journal");
        assert_eq!(
            (verified.code, states(&verified)),
            (8, json!(["there", "there", "there", "not comparable"]))
        );
        lines(&verified)[3]["reason"].clone()
    };
    change_log(&env.home, "DELETE FROM write WHERE owner = '5'");
    assert_eq!(reason(), "what it wrote was deleted from the log");
    for name in ["log.db", "log.db-wal", "log.db-shm"] {
        let _ = std::fs::remove_file(log.with_file_name(name));
    }
    std::fs::rename(kept, &log).unwrap();
    // A journal of another shop, or of another interface.
    let other = text.replace("/rest\"", "/other\"");
    std::fs::write(env.home.dir.path().join("other.journal"), other).unwrap();
    let error = crate::support::magento::fails(&env, 3, "verify other.journal --input moves.csv");
    assert!(error["message"].as_str().unwrap().starts_with("the journal is for the service `"), "{error}");
    // The log says what was written: rows may be sorted, changed or gone.
    env.file("moves.csv", "customer,address_id,city\n5,12,Kiel\n2,5,Nara\n1,2,Boston\n1,1,Lyon\n");
    let sorted = program(&env, "verify moves.csv.journal").run();
    assert!(sorted.stderr.contains("verify: 4 records: 4 there; 3 reads ("), "{sorted:?}");
    std::fs::remove_file(env.home.dir.path().join("moves.csv")).unwrap();
    assert_eq!(run(&env, "verify moves.csv.journal").code, 0);
    assert_eq!(
        crate::support::magento::fails(&env, 2, "verify moves.csv.journal --input moves.csv")["kind"],
        "usage"
    );
}

/// A row that changed nothing is in no log: the shop is compared with what it says.
#[test]
fn a_row_that_changed_nothing_is_compared_with_what_it_says() {
    let env = moved();
    assert_eq!(run(&env, "customer update -i moves.csv").code, 0);
    env.requests();
    let verified = run(&env, "verify moves.csv.journal");
    assert_eq!(
        (verified.code, states(&verified)),
        (0, json!(["there", "there", "there", "there"])),
        "{verified:?}"
    );
    assert!(env.requests().iter().all(|request| request.starts_with("GET")));
    done(&env, "customer update --customer 2 --address 5 --city Uji --yes");
    let verified = run(&env, "verify moves.csv.journal");
    assert_eq!(
        (verified.code, states(&verified)),
        (7, json!(["there", "there", "changed", "there"])),
        "{verified:?}"
    );
    assert_eq!(lines(&verified)[2]["differences"][0]["now"], "Uji");
    std::fs::remove_file(env.home.dir.path().join("moves.csv")).unwrap();
    let verified = run(&env, "verify moves.csv.journal");
    assert_eq!(verified.code, 8, "{verified:?}");
    assert_eq!(lines(&verified)[0]["reason"], "it changed nothing, and is not in the input as it was run");
}

#[test]
fn attributes_and_items_are_compared_with_the_log() {
    let env = TestEnv::new();
    env.file("a.csv", "attribute_code,default_frontend_label,frontend_input,options\nsize_x,Size,select,S|M\nwarm_x,Warm,boolean,\n");
    assert_eq!(run(&env, "attribute create -i a.csv").code, 0);
    let verified = run(&env, "verify latest");
    assert_eq!((verified.code, states(&verified)), (0, json!(["there", "there"])), "{verified:?}");
    // An option that was added since is none of it; a label that was changed is.
    assert_eq!(run(&env, "attribute option add size_x --option L").code, 0);
    assert_eq!(run(&env, "verify latest").code, 0);
    env.sandbox.sql("UPDATE attributes SET body = json_set(body, '$.default_frontend_label', 'Width') WHERE code = 'size_x'");
    run(&env, "api DELETE /V1/products/attributes/warm_x --admin --yes");
    let verified = run(&env, "verify a.csv.journal");
    assert_eq!((verified.code, states(&verified)), (7, json!(["changed", "gone"])), "{verified:?}");
    done(&env, "quote add-item --sku mug-blue --qty 1");
    env.file("items.csv", "customer,sku,qty\n1,mug-blue,4\n");
    assert_eq!(run(&env, "quote set-item -i items.csv").code, 0);
    let verified = run(&env, "verify latest");
    assert_eq!((verified.code, states(&verified)), (0, json!(["there"])), "{verified:?}");
    done(&env, "quote set-item --sku mug-blue --qty 2");
    let verified = run(&env, "verify items.csv.journal");
    assert_eq!(lines(&verified)[0]["differences"][0]["now"], 2, "{verified:?}");
    env.file("add.csv", "customer,sku,qty\n1,umbrella,1\n");
    assert_eq!(run(&env, "quote add-item -i add.csv").code, 0);
    let verified = run(&env, "verify latest");
    assert_eq!((verified.code, states(&verified)), (0, json!(["there"])), "{verified:?}");
}

#[test]
fn records_with_tokens_are_read_with_them() {
    let env = TestEnv::new();
    env.file("names.csv", "token,firstname\nsandbox-customer-1,Ada\nsandbox-customer-2,Bob\n");
    assert_eq!(env.run("customer update -i names.csv").code, 0);
    let verified = env.run("verify latest");
    verified.assert(
        0,
        str![""],
        str![[r#"
journal [HOME]/names.csv.journal
verify: 2 records: 2 there; 2 reads ([DURATION])
"#]],
    );
    let refused = env.run("undo names.csv.journal --plan u.plan");
    refused.assert_failure(
        2,
        str![[r#"
error: a plan holds no tokens, and the records have tokens of their own
  hint: undo each update with `storefront undo ID:LINE`, with the token of its customer
"#]],
    );
}

/// With a token of its own a customer may not be named.
#[test]
fn records_with_tokens_are_read_with_them_also_where_an_administrator_could_name_the_customer() {
    let env = TestEnv::new();
    env.file("names.csv", "token,firstname\nsandbox-customer-1,Ada\nsandbox-customer-2,Bob\n");
    assert_eq!(run(&env, "customer update -i names.csv").code, 0);
    let verified = run(&env, "verify latest");
    assert_eq!((verified.code, states(&verified)), (0, json!(["there", "there"])), "{verified:?}");
}

/// Cells are compared as the run understood them, with the words of the admin panel.
#[test]
fn attributes_in_the_words_of_the_admin_panel_are_there() {
    let env = TestEnv::new();
    env.file(
        "a.csv",
        "attribute_code,default_frontend_label,frontend_input,scope,is_required,default_value,options\n\
         fit_x,Fit,Dropdown,Global,Yes,,S|M\nwarm_y,Warm,Yes/No,Global,No,Yes,\nnote_z,Note,Text Area,Website,No,,\n",
    );
    assert_eq!(run(&env, "attribute create -i a.csv").code, 0);
    let verified = run(&env, "verify a.csv.journal");
    assert_eq!((verified.code, states(&verified)), (0, json!(["there", "there", "there"])), "{verified:?}");
}

/// The log has what flags said.
#[test]
fn what_flags_of_the_run_said_is_compared() {
    let env = TestEnv::new();
    env.file(
        "a.csv",
        "attribute_code,default_frontend_label,frontend_input,is_required\nfit_x,Fit,text,no\n",
    );
    assert_eq!(run(&env, "attribute create -i a.csv --required").code, 0);
    assert_eq!(run(&env, "verify a.csv.journal").code, 0);
    done(&env, "quote add-item --sku mug-blue --qty 1");
    env.file("items.csv", "customer,sku,qty\n1,mug-blue,4\n");
    assert_eq!(run(&env, "quote set-item -i items.csv --qty 6").code, 0);
    assert_eq!(run(&env, "verify items.csv.journal").code, 0);
    env.file("names.csv", "customer,firstname\n1,Ada\n2,Bob\n");
    assert_eq!(run(&env, "customer update -i names.csv --lastname Berg").code, 0);
    assert_eq!(run(&env, "verify names.csv.journal").code, 0);
    // Of a record that changed nothing only the flags would say it, and the journal does not have them.
    assert_eq!(run(&env, "quote set-item -i items.csv --qty 6").code, 0);
    let verified = run(&env, "verify items.csv.journal");
    assert_eq!((verified.code, states(&verified)), (8, json!(["not comparable"])), "{verified:?}");
    let flags = "flags of the run said what it set, and the journal does not have them";
    assert_eq!(lines(&verified)[0]["reason"], flags);
}

#[test]
fn records_that_were_noted_by_hand_are_not_compared() {
    let env = TestEnv::new();
    env.file(
        "a.csv",
        "attribute_code,default_frontend_label,frontend_input,options\nfit_x,Fit,select,S|M\nBad Code,Bad,text,\n",
    );
    assert_eq!(run(&env, "attribute create -i a.csv").code, 7);
    assert_eq!(run(&env, "attribute create -i a.csv --resume --mark-done=3").code, 0);
    let shown = lines(&run(&env, "history a.csv.journal"));
    assert_eq!([&shown[0]["reason"], &shown[1]["reason"]], [&json!(null), &json!("noted by hand")]);
    env.requests();
    let verified = run(&env, "verify a.csv.journal");
    assert_eq!((verified.code, states(&verified)), (8, json!(["there", "noted by hand"])), "{verified:?}");
    assert_eq!(env.requests(), ["GET 200", "GET 200"]);
    let shown = program(&env, "verify a.csv.journal").run();
    assert_eq!(shown.stdout, "", "{shown:?}");
    assert!(shown.stderr.contains("verify: 2 records: 1 noted by hand, 1 there; 1 read ("), "{shown:?}");
}

/// The read that a later record is made from shows it, too: that is no read of the time before.
#[test]
fn a_write_that_a_later_record_was_built_on_is_seen() {
    let file: Arc<OnceLock<PathBuf>> = Arc::default();
    let (data, blinded) = (file.clone(), OnceLock::new());
    let env = TestEnv::watched(
        |options| options.faults = vec!["PUT:502-after-commit".parse().unwrap()],
        move |_, method| {
            if method == "PUT" && blinded.set(()).is_ok() {
                // Without tokens the sandbox answers everything with 500.
                let connection = rusqlite::Connection::open(data.wait()).unwrap();
                connection.execute_batch("ALTER TABLE tokens RENAME TO hidden").unwrap();
            }
        },
    );
    file.set(env.sandbox.data().to_owned()).unwrap();
    env.file("moves.csv", "customer,address_id,city\n1,2,Troy\n1,1,Lyon\n");
    let unknown = run(&env, "customer update -i moves.csv -y --retry 0 --settle 0.2s");
    env.sandbox.sql("ALTER TABLE hidden RENAME TO tokens");
    assert_eq!((unknown.code, env.address(2)["city"].clone()), (8, json!("Troy")), "{unknown:?}");
    // As if it had been killed, eleven minutes ago.
    change_log(&env.home, "UPDATE write SET left_at = left_at - 660000000, closed_at = NULL, outcome = NULL");
    let resumed = run(&env, "customer update -i moves.csv -y --resume --mark-done=2");
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(states(&run(&env, "verify latest")), json!(["seen", "there"]));
}
