//! The database file of the sandbox: creation, sharing, reset and refusal of other files.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use snapbox::str;
use storefront_sandbox::Options;

use crate::support::raw_http::{CUSTOMER, ITEM, Sandbox, ids};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;

const ADD: &str = r#"{"cartItem":{"sku":"mug-blue","qty":1,"quote_id":"1"}}"#;

fn start_error(data: &Path, listen: [u8; 4]) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listen = SocketAddr::from((listen, 0));
    let options = Options { listen, ..Options::new(data.to_owned()) };
    format!("{:#}", runtime.block_on(storefront_sandbox::start(options)).unwrap_err())
}

#[test]
fn the_seed_shows_what_is_needed_to_try_everything() {
    let directory = tempfile::tempdir().unwrap();
    let shown = storefront_sandbox::dump(&directory.path().join("sandbox.db")).unwrap();
    let names: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["customers", "quotes", "orders", "attributes", "attribute_sets", "products", "store_views"]
    );
    assert_eq!(ids(&shown["customers"][0]), [1, 2, 3, 4]);
    let shirt =
        shown["products"].as_array().unwrap().iter().find(|product| product["sku"] == "shirt").unwrap();
    assert_eq!(shirt["type"], "configurable");
    assert_eq!(
        shirt["options"][1],
        json!({"option_id": "144", "attribute_code": "size", "values": [{"option_value": 167, "label": "S"},
               {"option_value": 168, "label": "M"}, {"option_value": 169, "label": "L"}]})
    );
    assert_eq!(shown["quotes"][0]["items"], json!([]));
    let codes: Vec<&Value> =
        shown["store_views"].as_array().unwrap().iter().map(|view| &view["code"]).collect();
    assert_eq!(codes, ["default", "fr", "de"]);
}

#[test]
fn tokens_name_their_customer() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = storefront_sandbox::tokens(&directory.path().join("sandbox.db")).unwrap();
    let first = serde_json::to_value(&tokens[0]).unwrap();
    assert_eq!(
        first,
        json!({"token": CUSTOMER, "kind": "customer", "customer_id": 1, "email": "amina.haddad@example.com"})
    );
    let last = tokens.last().unwrap();
    assert_eq!((last.token.as_str(), last.kind.as_str(), last.customer_id), ("sandbox-admin", "admin", None));
}

#[test]
fn data_persists_between_processes() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("sandbox.db");
    assert_eq!(Sandbox::on(&data, &[]).call(CUSTOMER, "POST", ITEM, ADD).status, 200);
    let again = Sandbox::on(&data, &[]);
    again.call(CUSTOMER, "POST", ITEM, ADD);
    assert_eq!(again.show()["quotes"][0]["items"][0]["qty"], 2);
}

#[test]
fn two_sandboxes_on_one_file_lose_no_write() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("sandbox.db");
    let sandboxes = [Sandbox::on(&data, &[]), Sandbox::on(&data, &[])];
    std::thread::scope(|scope| {
        for sandbox in &sandboxes {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(sandbox.call(CUSTOMER, "POST", ITEM, ADD).status, 200);
                }
            });
        }
    });
    assert_eq!(sandboxes[0].show()["quotes"][0]["items"][0]["qty"], 200);
}

#[test]
fn a_new_database_may_be_created_concurrently() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("new").join("sandbox.db");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                assert_eq!(ids(&storefront_sandbox::dump(&data).unwrap()["customers"][0]), [1, 2, 3, 4]);
            });
        }
    });
}

#[test]
fn reset_restores_the_seed_under_a_running_sandbox() {
    let sandbox = Sandbox::new();
    let seed = sandbox.show();
    sandbox.put_profile(CUSTOMER, &json!({"addresses": [{"city": "Oran"}]}));
    sandbox.call(CUSTOMER, "POST", ITEM, ADD);
    assert_ne!(sandbox.show(), seed);
    storefront_sandbox::reset(sandbox.data()).unwrap();
    assert_eq!(sandbox.show(), seed);
    assert_eq!(sandbox.address_ids(CUSTOMER), [1, 2, 3, 4]);
    sandbox.put_profile(CUSTOMER, &json!({"addresses": [{"city": "Oran"}]}));
    assert_eq!(sandbox.address_ids(CUSTOMER), [13], "ids begin again where the seed ends");
}

#[test]
#[cfg(unix)]
fn the_database_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    sandbox.call(CUSTOMER, "POST", ITEM, ADD);
    let directory = sandbox.data().parent().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory), 0o700);
    let files: Vec<_> = directory.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
}

#[test]
fn files_that_are_not_a_sandbox_are_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("notes.txt");
    std::fs::write(&text, "not a database, but long enough to be looked at ".repeat(100)).unwrap();
    let before = std::fs::read(&text).unwrap();
    assert_snapshot(
        &start_error(&text, [127, 0, 0, 1]),
        str![
            "`[HOME]/notes.txt` is not a readable SQLite database: file is not a database: Error code [N]: file is not a database"
        ],
    );
    assert!(storefront_sandbox::reset(&text).is_err());
    assert_eq!(std::fs::read(&text).unwrap(), before);

    assert_snapshot(
        &start_error(directory.path(), [127, 0, 0, 1]),
        str!["cannot use `[HOME]` as the database of the sandbox: is a directory"],
    );
    assert_snapshot(
        &start_error(&text.join("sandbox.db"), [127, 0, 0, 1]),
        str![
            "cannot use `[HOME]/notes.txt/sandbox.db` as the database of the sandbox: `[HOME]/notes.txt` is not a directory"
        ],
    );

    let foreign = directory.path().join("foreign.db");
    std::fs::write(&foreign, foreign_database()).unwrap();
    assert_snapshot(
        &storefront_sandbox::reset(&foreign).unwrap_err().to_string(),
        str!["`[HOME]/foreign.db` is not a sandbox database; choose another file"],
    );
}

/// A database of the sandbox with the `application_id` (at byte 68) of another program.
fn foreign_database() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("sandbox.db");
    storefront_sandbox::dump(&data).unwrap();
    let mut bytes = std::fs::read(&data).unwrap();
    assert_eq!(&bytes[68..72], b"SFSB");
    bytes[68..72].copy_from_slice(b"ABCD");
    bytes
}

#[test]
fn another_version_is_refused_until_it_is_reset() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("sandbox.db");
    storefront_sandbox::dump(&data).unwrap();
    let mut bytes = std::fs::read(&data).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&data, bytes).unwrap();
    assert_snapshot(
        &storefront_sandbox::dump(&data).unwrap_err().to_string(),
        str![
            "`[HOME]/sandbox.db` was created by another version of the sandbox; recreate it with `storefront sandbox reset`"
        ],
    );
    storefront_sandbox::reset(&data).unwrap();
    assert!(storefront_sandbox::dump(&data).is_ok());
}

#[test]
fn only_loopback_unless_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let error = start_error(&directory.path().join("sandbox.db"), [0, 0, 0, 0]);
    assert_snapshot(
        &error,
        str!["0.0.0.0:0 is reachable from other machines; use --allow-remote to permit it"],
    );
    assert!(!directory.path().join("sandbox.db").exists());
}

#[test]
fn an_observer_sees_every_request() {
    let directory = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let observer: storefront_sandbox::Observer =
        Arc::new(move |method, path, status| notes.lock().unwrap().push(format!("{method} {path} {status}")));
    let sandbox = Sandbox::observed(&directory.path().join("sandbox.db"), &["POST:500"], Some(observer));
    sandbox.get(CUSTOMER, "/nowhere?a=b");
    sandbox.call(CUSTOMER, "POST", ITEM, ADD);
    drop(sandbox);
    assert_eq!(*seen.lock().unwrap(), ["GET /nowhere 404".to_owned(), format!("POST {ITEM} 500")]);
}

#[cfg(unix)]
#[test]
fn an_invalid_sandbox_database_is_refused() {
    let home = Home::new();
    let data = home.dir.path().join("data/storefront/sandbox.db");
    std::fs::create_dir_all(data.parent().unwrap()).unwrap();
    std::fs::write(&data, "no database ".repeat(500)).unwrap();
    home.run("customer show --sandbox").assert_failure(2, str!["error: `[HOME]/data/storefront/sandbox.db` is not a readable SQLite database: file is not a database"]);
    std::fs::remove_file(&data).unwrap();
    std::fs::create_dir(&data).unwrap();
    home.run("customer show --sandbox").assert_failure(2, str!["error: cannot use `[HOME]/data/storefront/sandbox.db` as the database of the sandbox: is a directory"]);
}
