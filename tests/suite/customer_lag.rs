//! Reads from a replica that lags behind: nothing that our own updates wrote is lost by a PUT that is made from one.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::scripted::{fails_with, methods, ok, profile, run};
use crate::support::storefront::{Home, Outcome};
#[cfg(unix)]
use crate::support::terminal::Terminal;
use crate::support::test_env::{after_a_minute, serve};

const ADD_LYON: &str = "customer update --add-address --city Lyon --country FR";
const ADD_NICE: &str = "customer update --add-address --city Nice --country FR";
const ROME: &str = "customer update --address 1 --city Rome";
const REMOVE: &str = "customer update --remove-address 2";
const EMAIL: &str = "customer update --email new@example.com";

/// The profile that later reads are behind: two addresses.
fn old() -> Value {
    profile(json!({}))
}

fn with(addresses: &[Value]) -> Value {
    profile(json!({"addresses": addresses}))
}

fn paris() -> Value {
    json!({"id": 1, "city": "Paris"})
}

fn new_address(id: i64, city: &str) -> Value {
    json!({"id": id, "city": city, "country_id": "FR"})
}

fn taken() -> Step {
    ok(&json!({}))
}

/// Updates that succeed, each with the profile that it leaves.
type Updates = Vec<(&'static str, Value)>;

fn lyon() -> Value {
    with(&[paris(), json!({"id": 2}), new_address(3, "Lyon")])
}

fn lyon_and_nice() -> Value {
    with(&[paris(), json!({"id": 2}), new_address(3, "Lyon"), new_address(4, "Nice")])
}

/// The replies to these updates: a read, the PUT, and the read that verifies it.
fn replies(updates: &Updates) -> Vec<Step> {
    let before = std::iter::once(old()).chain(updates.iter().map(|(_, after)| after.clone()));
    before.zip(updates).flat_map(|(before, (_, after))| [ok(&before), taken(), ok(after)]).collect()
}

/// Runs these updates, then a command against what follows; the methods of its requests.
fn after(updates: &Updates, then: Vec<Step>, line: &str) -> (Outcome, Vec<String>) {
    let (home, server) = (Home::new(), MockServer::start([replies(updates), then].concat()));
    for (line, _) in updates {
        run(&home, &server.url(""), &format!("{line} --yes")).done();
    }
    let outcome = run(&home, &server.url(""), &format!("{line} --yes"));
    (outcome, methods(&server).split_off(3 * updates.len()))
}

/// What was written, what the old read does not show of it, and in which words.
fn cases() -> Vec<(Updates, &'static str)> {
    let rome = with(&[json!({"id": 1, "city": "Rome"}), json!({"id": 2})]);
    vec![
        (vec![(ADD_LYON, lyon())], "address 3 is missing"),
        (vec![(ADD_LYON, lyon()), (ADD_NICE, lyon_and_nice())], "address 3 is missing, address 4 is missing"),
        (vec![(ROME, rome)], "address 1 city has its old value"),
        (vec![(REMOVE, with(&[paris()]))], "address 2, which was removed, is still there"),
    ]
}

#[test]
fn an_old_read_is_refused_with_what_it_does_not_show() {
    for (updates, missing) in cases() {
        // What asks for nothing new is not said to be unchanged, either.
        for line in [EMAIL, "customer update --address 1 --city Paris", "undo LAST"] {
            // Whether an earlier update may still come is another question.
            for flag in ["", " --after-unknown"] {
                let line = format!("{line}{flag} --settle 0.3");
                let (outcome, sent) = after(&updates, vec![ok(&old())], &line);
                assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{line}: {outcome:?}");
                let error = outcome.error();
                let expected =
                    format!("the service shows an older profile than the last update left: {missing}");
                assert_eq!(
                    (&error["message"], &error["applied"]),
                    (&json!(expected), &json!("no")),
                    "{line}"
                );
                assert!(error["hint"].as_str().unwrap().contains("try again in a minute"), "{error}");
                assert!(sent.len() > 1 && !sent.contains(&"PUT".to_owned()), "{line}: {sent:?}");
            }
        }
    }
}

#[test]
fn an_old_read_is_repeated_until_it_is_as_new_as_our_updates() {
    for (updates, missing) in cases() {
        let newest = updates.last().unwrap().1.clone();
        let mut written = newest.clone();
        written["email"] = "new@example.com".into();
        let then = vec![ok(&old()), ok(&old()), ok(&newest), taken(), ok(&written)];
        let (outcome, sent) = after(&updates, then, EMAIL);
        let kept = outcome.done()["addresses"]["kept"].as_array().unwrap().len();
        assert_eq!(kept, newest["addresses"].as_array().unwrap().len(), "{missing}");
        assert_eq!(sent, ["GET", "GET", "GET", "PUT", "GET"], "{missing}");
    }
}

/// The first request is not taken, and the read for the second one comes from an old replica. Nothing is remembered of
/// customers without an ID and an email from one command to the next.
#[test]
fn a_later_read_of_one_command_lacks_no_address_of_an_earlier_one() {
    let nameless = |mut profile: Value| {
        profile.as_object_mut().unwrap().retain(|name, _| name == "addresses");
        ok(&profile)
    };
    let busy = answer("429 Too Many Requests", "Retry-After: 0\r\n", "");
    let then = vec![nameless(lyon()), busy, nameless(old())];
    let (outcome, sent) = after(&vec![], then, "customer update --gender 2 --settle 0.3");
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stderr.contains("address 3 is missing"), "{outcome:?}");
    assert_eq!(sent.iter().filter(|method| *method == "PUT").count(), 1, "{sent:?}");
}

#[test]
fn a_list_that_is_suddenly_empty_is_refused() {
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&lyon()), ok(&with(&[]))]));
    let same = run(&home, &server.url(""), "customer update --address 1 --city Paris").done();
    assert_eq!(same["reason"], "unchanged");
    let outcome = run(&home, &server.url(""), &format!("{EMAIL} --settle 0"));
    assert_eq!((outcome.code, methods(&server).len()), (3, 2), "{outcome:?}");
    assert!(outcome.stderr.contains("address 1 is missing, address 2 is missing"), "{outcome:?}");
}

/// What comparisons leave out is still what we wrote.
#[test]
fn ignored_fields_do_not_make_an_old_read_new() {
    let updates = vec![(ADD_LYON, lyon())];
    let script = [replies(&updates), vec![ok(&old())]].concat();
    let server = MockServer::start(script);
    let config = format!(
        "[profiles.shop]\nbase-url = {:?}\nstore-view = \"default\"\n\
         read.ignore = [\"/updated_at\", \"/email\"]\n",
        server.url("")
    );
    let home = Home::with_config(&config);
    let run = |line: &str| {
        let line = format!("{line} -p shop --yes --settle 0 -q -o json");
        home.storefront(&line).env("STOREFRONT_TOKEN", "t0ken").run()
    };
    let added = run(ADD_LYON);
    assert_eq!(added.code, 0, "{added:?}");
    let refused = run("customer update --firstname Ann");
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.stderr.contains("address 3 is missing"), "{refused:?}");
}

#[test]
fn a_dry_run_on_an_old_read_only_warns() {
    for (updates, missing) in cases() {
        let (outcome, sent) = after(&updates, vec![ok(&old())], &format!("{EMAIL} -n --settle 0"));
        assert_eq!((outcome.code, sent.as_slice()), (0, &["GET".to_owned()][..]), "{outcome:?}");
        assert!(outcome.stderr.contains(missing), "{outcome:?}");
    }
}

/// In a batch it is temporary: `--resume` sends the record.
#[test]
fn a_record_with_an_old_read_is_left_to_resume() {
    let updates = vec![(ADD_LYON, lyon())];
    let mut written = lyon();
    written["email"] = "new@example.com".into();
    let then = vec![ok(&old()), ok(&lyon()), taken(), ok(&written)];
    let (home, server) = (Home::new(), MockServer::start([replies(&updates), then].concat()));
    run(&home, &server.url(""), ADD_LYON).done();
    home.write("in.ndjson", "{\"customer\": {\"email\": \"new@example.com\"}}\n", 0o600);
    let batch = |flag: &str| {
        let line = format!("customer update -i {} --settle 0 {flag}", home.path("in.ndjson").display());
        serve(home.storefront(&line), &server.url("")).run()
    };
    let first = batch("");
    assert_ne!(first.code, 0, "{first:?}");
    assert!(
        first.stdout.contains("address 3 is missing") && first.stderr.contains("`storefront resume 2`"),
        "{first:?}"
    );
    let resumed = batch("--resume");
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(methods(&server)[3..], ["GET", "GET", "PUT", "GET"]);
}

/// Then somebody else undid it.
#[test]
fn after_a_minute_a_read_is_believed() {
    for (updates, missing) in cases() {
        let mut written = old();
        written["email"] = "new@example.com".into();
        let then = vec![ok(&old()), taken(), ok(&written)];
        let (home, server) = (Home::new(), MockServer::start([replies(&updates), then].concat()));
        for (line, _) in &updates {
            run(&home, &server.url(""), &format!("{line} --yes")).done();
        }
        after_a_minute(&home);
        let outcome = run(&home, &server.url(""), &format!("{EMAIL} --settle 0"));
        assert_eq!(outcome.code, 0, "{missing}: {outcome:?}");
    }
}

/// `--yes` does not answer it.
#[cfg(unix)]
#[test]
fn a_person_is_shown_what_an_old_read_lacks_and_asked() {
    for answer in ["y", "n"] {
        let mut written = old();
        written["email"] = "new@example.com".into();
        let then = vec![ok(&old()), ok(&old()), taken(), ok(&written)];
        let (updates, home) = (vec![(ADD_LYON, lyon())], Home::new());
        let server = MockServer::start([replies(&updates), then].concat());
        run(&home, &server.url(""), ADD_LYON).done();
        let words = ["customer", "update", "--email", "new@example.com", "--settle", "0", "--yes"];
        let url = server.url("");
        let variables = [
            ("STOREFRONT_BASE_URL", &*url),
            ("STOREFRONT_TOKEN", "sandbox-customer-1"),
            ("STOREFRONT_STORE_VIEW", "default"),
        ];
        let mut terminal = Terminal::run(&home, 120, &words, &variables);
        terminal.sees("address 3 is missing. Continue?").confirms(answer);
        let (code, screen) = terminal.ends();
        let sent = methods(&server).iter().filter(|method| *method == "PUT").count();
        assert_eq!((code, sent), if answer == "y" { (0, 2) } else { (130, 1) }, "{screen}");
    }
}

/// The seed is older than any update.
#[test]
fn a_reset_of_the_sandbox_is_no_lag() {
    let home = Home::new();
    for _ in 0..2 {
        home.ok("--sandbox customer update --address 2 --postcode 10119 --settle 0");
        home.ok("sandbox reset");
    }
}

/// The first command could not read the profile back; what the second reads first is as old as what the first had read.
#[test]
fn an_addition_that_could_not_be_verified_is_not_made_again_from_an_old_read() {
    let before = profile(json!({}));
    let mut after = before.clone();
    let new = json!({"id": 3, "city": "Lyon", "country_id": "FR", "firstname": "Ann"});
    after["addresses"].as_array_mut().unwrap().push(new);
    let failed = answer("500 Internal Server Error", "", "{}");
    let script = [ok(&before), ok(&json!({})), failed, ok(&before), ok(&after)];
    let (home, server) = (Home::new(), MockServer::start(script.to_vec()));
    let add =
        "customer update --add-address --address-firstname Ann --city Lyon --country FR --retry 0 --yes";
    assert_eq!(run(&home, &server.url(""), &format!("{add} --settle 0")).code, 0);
    let again = run(&home, &server.url(""), &format!("{add} --settle 5"));
    assert_eq!(methods(&server), ["GET", "PUT", "GET", "GET", "GET"], "{again:?}");
    fails_with(
        &again,
        3,
        str![[r#"
address 3 already has these values
  hint: change it with --address ID, or add a second one with --allow-duplicate
"#]],
    );
}

/// However many updates there were within the minute, the read must show all of them: here the newest twenty and more
/// leave what was there before, and only the first one tells the old read from a new one.
#[test]
fn an_old_read_is_recognized_after_any_number_of_updates() {
    let gender = |number: usize| format!("customer update --gender {}", 2 - number % 2);
    let state = |gender: usize| {
        let mut state = with(&[json!({"id": 1, "city": "Rome"}), json!({"id": 2})]);
        state["gender"] = json!(2 - gender % 2);
        state
    };
    let mut old = old();
    old["gender"] = json!(2);
    let (home, mut script) = (Home::new(), vec![ok(&old), taken(), ok(&state(0))]);
    script.extend((1..=24).flat_map(|number| [ok(&state(number - 1)), taken(), ok(&state(number))]));
    script.push(ok(&old));
    let server = MockServer::start(script);
    run(&home, &server.url(""), ROME).done();
    for number in 1..=24 {
        run(&home, &server.url(""), &gender(number)).done();
    }
    let outcome = run(&home, &server.url(""), &format!("{EMAIL} --settle 0"));
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(outcome.stderr.contains("address 1 city has its old value"), "{outcome:?}");
}

/// The service took one request twice, or a proxy doubled it.
#[test]
fn an_added_address_that_is_there_twice_is_told() {
    let twice = with(&[paris(), json!({"id": 2}), new_address(3, "Lyon"), new_address(4, "Lyon")]);
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&old()), taken(), ok(&twice)]));
    let outcome = run(&home, &server.url(""), ADD_LYON);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("address 4 has the same values as the added address 3"), "{outcome:?}");
}
