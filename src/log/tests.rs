use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::future::{join_all, poll_immediate};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::open::MIGRATIONS;
use super::{
    CustomerStore, DefaultNote, Document, FILE_NAME, Name, NewRun, NewWrite, OpenWrite, Owner, People, RunId,
    SeenAddresses, Write, WriteLog,
};
use crate::system::context::Context;
use crate::system::database::{DatabaseError, Step, commit_together};
use storefront_core::effect::{self, Before, Change, Effect, Kind, Seen, Sent};
use storefront_core::email::Email;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::path::FieldPath;
use storefront_core::text::token::Credential;

const SERVICE: &str = "magento https://shop.example";

/// What a process sees that keeps its files below `home`.
fn process(home: &TempDir) -> Context {
    Context::detached(&[], home.path())
}

fn file(home: &TempDir) -> PathBuf {
    home.path().join("state").join(FILE_NAME)
}

async fn opened(context: &Context) -> (WriteLog, RunId) {
    let log = WriteLog::open(context).unwrap();
    let run = NewRun {
        service: SERVICE.to_owned(),
        operation: "customer update".to_owned(),
        uuid: super::new_uuid(),
        ..NewRun::default()
    };
    let run = log.begin_run(run).await.unwrap();
    (log, run)
}

fn profile(city: &str) -> Map<String, Value> {
    let text = format!(r#"{{"id": 7, "rate": 1.50, "addresses": [{{"id": 1, "city": "{city}"}}]}}"#);
    serde_json::from_str(&text).unwrap()
}

fn new(run: RunId, customer: &str) -> NewWrite {
    NewWrite {
        run,
        is_part: false,
        record: Some((4, 0xa0)),
        journal_length: Some(120),
        call: "update".to_owned(),
        service: SERVICE.to_owned(),
        owner: Owner::customer(customer),
        effect: json!([{"path": "city", "before": "Oslo", "after": "Troy"}]).to_string(),
        document: Some(Document { stored: profile("Oslo"), sent: profile("Troy") }),
        people: People {
            customer: Some(customer.to_owned()),
            email: Some("Ann@Shop.example".to_owned()),
            email_after: None,
        },
    }
}

fn writes(log: &WriteLog, customer: &str) -> Vec<Write> {
    log.newest(SERVICE, &Owner::customer(customer), None, usize::MAX).unwrap()
}

fn applied() -> WriteOutcome {
    WriteOutcome::Applied { at: "2026-05-04T12:00:00.123456Z".parse().unwrap(), verified: true }
}

/// How many commits stand in the write-ahead log.
fn commits(home: &TempDir) -> usize {
    let wal = std::fs::read(file(home).with_extension("db-wal")).unwrap();
    let page = usize::try_from(u32::from_be_bytes(wal[8..12].try_into().unwrap())).unwrap();
    // The last frame of a commit has the size of the database after it.
    wal[32..].chunks_exact(24 + page).filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn a_write_is_in_the_log_as_it_was_given_and_open_until_it_is_closed() {
    let home = tempfile::tempdir().unwrap();
    let (log, run) = opened(&process(&home)).await;
    let id = log.gate(new(run, "7")).await.map(OpenWrite::leaves).unwrap();
    let [write] = &writes(&log, "7")[..] else { panic!() };
    assert_eq!((write.id, write.run, write.record, write.is_open), (id, run, Some(4), true));
    assert_eq!(write.outcome, WriteOutcome::Unknown { sent_at: write.left_at });
    assert_eq!((&*write.operation, &*write.call), ("customer update", "update"));
    assert_eq!(write.effect.to_string(), new(run, "7").effect);
    // Numbers keep their text, and fields their order.
    assert_eq!(log.document(id).unwrap(), new(run, "7").document);
    let mut effect = Effect::on(effect::Owner::new(Kind::Customer, 7));
    effect.changes.push(Change {
        path: FieldPath::default().member("city"),
        before: Before::Read(Some("Rome".into())),
        sent: Sent::Value(Some("Troy".into())),
        seen: Some(Seen { value: Some("TROY".into()) }),
    });
    log.close(id, applied(), Some(&effect));
    let write = log.write(id).unwrap().unwrap();
    assert_eq!((write.outcome, write.is_open), (applied(), false));
    assert_eq!(write.changes(), Some(effect));
    assert!(writes(&log, "8").is_empty());
}

#[tokio::test]
async fn a_log_of_the_first_schema_is_brought_up_to_date_with_what_it_has() {
    let home = tempfile::tempdir().unwrap();
    let context = process(&home);
    std::fs::create_dir_all(file(&home).parent().unwrap()).unwrap();
    let first = Connection::open(file(&home)).unwrap();
    first.execute_batch(MIGRATIONS[0]).unwrap();
    first
        .execute_batch(
            "PRAGMA application_id = 0x53464c47; PRAGMA user_version = 1;
             INSERT INTO run (uuid, service, operation, began, retention_days)
             VALUES ('first', 'magento https://shop.example', 'attribute assign', 1, 90)",
        )
        .unwrap();
    drop(first);
    let (log, second) = opened(&context).await;
    assert_eq!(log.run(RunId(1)).unwrap().unwrap().operation, "attribute assign");
    log.gate(new(second, "7")).await.map(OpenWrite::leaves).unwrap();
    log.end_run(second, true);
    log.flush().await;
    assert!(log.run(second).unwrap().unwrap().ended.is_some());
    let version = |connection: &Connection| {
        connection.query_row("SELECT user_version FROM pragma_user_version", [], |row| row.get::<_, i64>(0))
    };
    assert_eq!(usize::try_from(log.read(version).unwrap()), Ok(MIGRATIONS.len()));
}

#[tokio::test]
async fn a_write_that_does_not_leave_counts_as_not_sent() {
    let home = tempfile::tempdir().unwrap();
    let (log, run) = opened(&process(&home)).await;
    drop(log.gate(new(run, "7")).await.unwrap());
    // Dropped while it is committed, too.
    drop(Box::pin(log.gate(new(run, "7"))));
    let mut polled = Box::pin(log.gate(new(run, "7")));
    let _ = poll_immediate(&mut polled).await;
    drop(polled);
    log.close(super::WriteId(0), applied(), None);
    let outcomes: Vec<WriteOutcome> = writes(&log, "7").iter().map(|write| write.outcome).collect();
    assert_eq!(outcomes, [WriteOutcome::NotSent; 2]);
}

#[tokio::test]
async fn no_id_is_given_twice() {
    let home = tempfile::tempdir().unwrap();
    let (log, run) = opened(&process(&home)).await;
    let id = log.gate(new(run, "7")).await.map(OpenWrite::leaves).unwrap();
    log.delete(|connection| connection.execute("DELETE FROM run", [])).await.unwrap();
    assert!(log.write(id).unwrap().is_none() && log.document(id).unwrap().is_none());
    let (log, next) = opened(&process(&home)).await;
    assert_eq!(next, RunId(run.0 + 1));
    assert_eq!(log.gate(new(next, "7")).await.map(OpenWrite::leaves).unwrap().0, id.0 + 1);
}

#[tokio::test]
async fn two_processes_write_at_once() {
    let home = tempfile::tempdir().unwrap();
    let write_many = |context: Context| async move {
        let (log, run) = opened(&context).await;
        for _ in 0..50 {
            let id = log.gate(new(run, "7")).await.map(OpenWrite::leaves).unwrap();
            log.close(id, applied(), None);
        }
    };
    // Also the first thing that both do: to make the database.
    tokio::join!(write_many(process(&home)), write_many(process(&home)));
    let (log, _) = opened(&process(&home)).await;
    let all = writes(&log, "7");
    assert_eq!(all.len(), 100);
    assert!(all.iter().all(|write| write.outcome == applied()));
    assert!(all.is_sorted_by(|newer, older| newer.id > older.id));
}

#[tokio::test]
async fn at_the_gate_another_process_is_waited_for_a_second_and_nothing_is_in_the_log_then() {
    let home = tempfile::tempdir().unwrap();
    let (log, run) = opened(&process(&home)).await;
    let id = log.gate(new(run, "7")).await.map(OpenWrite::leaves).unwrap();
    let other = Connection::open(file(&home)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    let released = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        other.execute_batch("ROLLBACK").unwrap();
    };
    let closed = async { log.close(id, applied(), None) };
    let (refused, (), ()) = tokio::join!(log.gate(new(run, "7")), closed, released);
    let Err(Failure { kind, .. }) = refused else { panic!() };
    assert_eq!(kind, FailureKind::Unavailable);
    assert!((900..2_500).contains(&begun.elapsed().as_millis()));
    // What became of a call is tried again.
    let [write] = &writes(&log, "7")[..] else { panic!() };
    assert_eq!(write.outcome, applied());
}

#[tokio::test]
async fn writes_that_leave_at_the_same_time_share_a_commit() {
    let home = tempfile::tempdir().unwrap();
    let (log, run) = opened(&process(&home)).await;
    let before = commits(&home);
    let other = Connection::open(file(&home)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let gates = join_all((0..40).map(|_| log.gate(new(run, "7"))));
    let (gates, ()) = tokio::join!(gates, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        other.execute_batch("ROLLBACK").unwrap();
    });
    // Those that waited for the first one.
    assert!(gates.iter().all(Result::is_ok));
    assert!(commits(&home) - before <= 2, "{} commits", commits(&home) - before);
}

#[test]
fn of_steps_that_are_committed_together_none_is_there_if_one_fails() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t (a TEXT NOT NULL)").unwrap();
    let step = |text: Option<String>| -> Step {
        Box::new(move |connection| connection.execute("INSERT INTO t VALUES (?1)", [text]).map(drop))
    };
    let count = || -> i64 { connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap() };
    let short = || Some("x".to_owned());
    commit_together(&connection, [step(short()), step(short())]).unwrap();
    assert!(commit_together(&connection, [step(short()), step(None), step(short())]).is_err());
    assert_eq!(count(), 2);
    connection.pragma_update(None, "max_page_count", 4).unwrap();
    let long = Some("x".repeat(100_000));
    let done = commit_together(&connection, [step(short()), step(long), step(short())]);
    assert_eq!((done, count()), (Err(DatabaseError::Full), 2));
    assert!(connection.is_autocommit());
}

#[cfg(unix)]
#[tokio::test]
async fn the_database_and_its_companions_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("state")).unwrap();
    std::fs::write(file(&home), "").unwrap();
    std::fs::set_permissions(file(&home), std::fs::Permissions::from_mode(0o644)).unwrap();
    let (log, run) = opened(&process(&home)).await;
    log.gate(new(run, "7")).await.unwrap().leaves();
    let mode = |name: &str| {
        let path = home.path().join("state").join(name);
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(["log.db", "log.db-wal", "log.db-shm"].map(mode), [0o600; 3]);
}

#[tokio::test]
async fn what_is_deleted_is_gone_from_the_files() {
    let home = tempfile::tempdir().unwrap();
    let (log, run) = opened(&process(&home)).await;
    let mut write = new(run, "7");
    write.document = Some(Document { stored: profile("Secretville"), sent: profile("Secretville") });
    log.gate(write).await.unwrap().leaves();
    let holds = |text: &str| {
        let files = std::fs::read_dir(home.path().join("state")).unwrap();
        let mut texts = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
        texts.any(|bytes| memchr::memmem::find(&bytes, text.as_bytes()).is_some())
    };
    assert!(holds("Secretville") && !holds("nn@"), "emails are hashes");
    log.delete(|connection| connection.execute("DELETE FROM run", [])).await.unwrap();
    log.truncate().unwrap();
    assert!(!holds("Secretville"));
    assert_eq!(log.damage().unwrap(), None);
}

/// What is said of a log that cannot be used.
fn refusal(home: &TempDir) -> (FailureKind, String, String) {
    let failure = WriteLog::open(&process(home)).unwrap_err();
    (failure.kind, failure.message, failure.hint.map(|hint| hint.to_string()).unwrap_or_default())
}

#[tokio::test]
async fn a_log_that_cannot_be_used_is_said_with_the_command_that_sets_it_aside() {
    type Spoil = fn(&Path);
    let spoils: [(Spoil, &str); 4] = [
        (|path| std::fs::write(path, "x".repeat(9_000)).unwrap(), "it is damaged"),
        (|path| pragma(path, "user_version = 99"), "a newer version of storefront has written it"),
        (|path| pragma(path, "application_id = 7"), "it is the database of another program"),
        (damage_first_page, "it is damaged"),
    ];
    for (spoil, what) in spoils {
        let home = tempfile::tempdir().unwrap();
        let (log, run) = opened(&process(&home)).await;
        log.gate(new(run, "7")).await.unwrap().leaves();
        log.truncate().unwrap();
        drop(log);
        spoil(&file(&home));
        let (kind, message, hint) = refusal(&home);
        assert_eq!((kind, message.rsplit_once(": ").unwrap().1), (FailureKind::Guard, what));
        // Reads do without it.
        assert!(WriteLog::to_write(&process(&home), true).unwrap().is_none());
        let command = hint.split('`').nth(1).unwrap();
        if cfg!(unix) {
            assert!(std::process::Command::new("sh").args(["-c", command]).status().unwrap().success());
            assert!(!file(&home).exists() && !file(&home).with_extension("db-wal").exists());
            assert!(writes(&opened(&process(&home)).await.0, "7").is_empty());
        }
    }
}

fn pragma(path: &Path, text: &str) {
    Connection::open(path).unwrap().execute_batch(&format!("PRAGMA {text}")).unwrap();
}

fn damage_first_page(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[100..200].fill(0xff);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_directory_that_cannot_be_used_is_said() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("state"), "in the way").unwrap();
    let (kind, message, hint) = refusal(&home);
    assert_eq!(kind, FailureKind::Guard);
    assert!(message.contains("cannot be used") && hint.contains("nothing is sent"), "{message}: {hint}");
}

#[tokio::test]
async fn a_token_or_an_email_leads_to_a_customer() {
    let home = tempfile::tempdir().unwrap();
    let (log, _) = opened(&process(&home)).await;
    let email = Name::email(&Email::new("ann@shop.example"));
    let token = Name::token(&Credential::new("opaque-token").unwrap());
    log.note_name(SERVICE, &email, "7");
    log.note_name(SERVICE, &token, "7");
    log.note_name(SERVICE, &Name::email(&Email::new("bob@shop.example")), "8");
    log.close(super::WriteId(0), applied(), None);
    assert_eq!(
        log.named(SERVICE, &Name::email(&Email::new("ANN@shop.example"))).unwrap().as_deref(),
        Some("7")
    );
    assert_eq!(log.named(SERVICE, &token).unwrap().as_deref(), Some("7"));
    assert_eq!(log.named("another", &token).unwrap(), None);
    assert!(log.forget_name(SERVICE, &token).await.unwrap());
    assert!(!log.forget_name(SERVICE, &token).await.unwrap());
    assert_eq!(log.forget_names_of(SERVICE, "7").await.unwrap(), 1);
    assert_eq!(
        log.named(SERVICE, &Name::email(&Email::new("bob@shop.example"))).unwrap().as_deref(),
        Some("8")
    );
}

#[tokio::test]
async fn a_note_replaces_the_one_before() {
    let home = tempfile::tempdir().unwrap();
    let (log, _) = opened(&process(&home)).await;
    let note = |label: &str| DefaultNote { default: "5".to_owned(), labels: vec![label.to_owned()] };
    log.note_default(SERVICE, "color", &note("Red")).await.unwrap();
    log.note_default(SERVICE, "color", &note("Blue")).await.unwrap();
    assert_eq!(log.default_note(SERVICE, "color").unwrap(), Some(note("Blue")));
    assert_eq!(log.default_note(SERVICE, "size").unwrap(), None);
    log.forget_default(SERVICE, "color");
    let seen = |city: &str, customer: Option<(&str, &str)>| SeenAddresses {
        customer: customer.map(|(id, _)| id.to_owned()),
        email: customer.map(|(_, email)| email.to_owned()),
        addresses: json!({"12": city}).as_object().cloned().unwrap(),
    };
    log.note_addresses("shop", seen("Oslo", None));
    log.note_addresses("shop", seen("Troy", Some(("7", "Ann@shop.example"))));
    log.close(super::WriteId(0), applied(), None);
    assert_eq!(log.default_note(SERVICE, "color").unwrap(), None);
    for (asked, is_it) in
        [(Some("7"), true), (Some("ann@SHOP.example"), true), (Some("8"), false), (None, false)]
    {
        assert_eq!(!log.seen_addresses("shop", asked).is_empty(), is_it, "{asked:?}");
    }
}

#[tokio::test]
async fn a_plan_is_started_once() {
    let home = tempfile::tempdir().unwrap();
    let (log, _) = opened(&process(&home)).await;
    assert_eq!(log.start_plan("p1", "/a.journal").await.unwrap(), None);
    assert_eq!(log.start_plan("p1", "/b.journal").await.unwrap().as_deref(), Some("/a.journal"));
    assert_eq!(log.started_plan("p2").unwrap(), None);
}

#[tokio::test]
async fn the_newest_run_over_each_journal_is_listed() {
    let home = tempfile::tempdir().unwrap();
    let (log, _) = opened(&process(&home)).await;
    for (journal, started) in [("/a", 1), ("/b", 2), ("/a", 3)] {
        let journal = Some((journal.to_owned(), json!({"started": started})));
        let run =
            log.begin_run(NewRun { journal, uuid: super::new_uuid(), ..NewRun::default() }).await.unwrap();
        log.end_run(run, true);
    }
    let runs = log.runs_with_journals().unwrap();
    let journals: Vec<_> = runs.iter().map(|run| run.journal.clone().unwrap()).collect();
    assert_eq!(
        journals,
        [("/a".to_owned(), json!({"started": 3})), ("/b".to_owned(), json!({"started": 2}))]
    );
}

#[tokio::test]
async fn the_last_read_has_the_newest_write_of_then() {
    let home = tempfile::tempdir().unwrap();
    let (log, run) = opened(&process(&home)).await;
    log.note_read(SERVICE, "7", &profile("Oslo"));
    let id = log.gate(new(run, "7")).await.map(OpenWrite::leaves).unwrap();
    let read = log.last_read(SERVICE, "7").unwrap().unwrap();
    assert!(read.newest < id && read.customer == profile("Oslo"));
    log.note_read(SERVICE, "7", &profile("Troy"));
    log.close(id, applied(), None);
    let read = log.last_read(SERVICE, "7").unwrap().unwrap();
    assert!(read.newest == id && read.customer == profile("Troy"));
    assert!(log.last_read(SERVICE, "8").unwrap().is_none());
}

/// Commands overlap: one that began earlier may write later.
#[tokio::test]
async fn a_write_is_found_by_its_name_where_an_older_command_wrote_after_it() {
    let home = tempfile::tempdir().unwrap();
    let (log, older) = opened(&process(&home)).await;
    let run = NewRun { service: SERVICE.to_owned(), uuid: super::new_uuid(), ..NewRun::default() };
    let newer = log.begin_run(run).await.unwrap();
    for run in [newer, older] {
        log.gate(new(run, "7")).await.map(OpenWrite::leaves).unwrap();
    }
    let of = |key: &str| CustomerStore::new(Some(log.clone()), SERVICE.to_owned(), key.to_owned());
    for run in [older, newer] {
        assert!(of("7").has(&run.name(None)).unwrap() && of("7").has(&run.name(Some(4))).unwrap());
        assert!(!of("7").has(&run.name(Some(5))).unwrap() && !of("8").has(&run.name(None)).unwrap());
    }
}
