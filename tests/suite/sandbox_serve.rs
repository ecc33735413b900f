//! `storefront sandbox …` as other programs drive it: the real binary.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::raw_http::{Answer, CUSTOMER, PROFILE, message};

fn storefront(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_storefront"));
    command.args(arguments).env_clear().env("HOME", home).env("LOCALAPPDATA", home).current_dir(home);
    if cfg!(windows) {
        // Without it there are no sockets.
        command.env("SystemRoot", std::env::var_os("SystemRoot").unwrap_or_default());
    }
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    storefront(home, arguments).stdin(Stdio::null()).output().unwrap()
}

/// A child that does not outlive a test that fails.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `sandbox serve` and the line it printed.
fn serve(home: &Path, arguments: &[&str]) -> (Serving, Value) {
    let mut command = storefront(home, &[&["sandbox", "serve"], arguments].concat());
    let mut serving = Serving(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(serving.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let line = serde_json::from_str(&line).unwrap_or_else(|error| {
        let mut stderr = String::new();
        serving.0.stderr.as_mut().unwrap().read_to_string(&mut stderr).unwrap();
        panic!("{error}: {line:?} {stderr}")
    });
    (serving, line)
}

/// Sends the signal and returns exit code, the rest of standard output, and standard error.
fn stop(mut serving: Serving, signal: &str) -> (Option<i32>, String, String) {
    let child = &mut serving.0;
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    let deadline = Instant::now() + Duration::from_secs(5);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > deadline => panic!("did not stop on {signal}"),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.as_mut().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.as_mut().unwrap().read_to_string(&mut stderr).unwrap();
    (status.code(), stdout, stderr)
}

fn get(url: &str, token: &str) -> Answer {
    use std::io::Write as _;
    let mut stream = std::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let request = message("GET", PROFILE, &[&format!("Authorization: Bearer {token}")], b"");
    stream.write_all(&request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    Answer::parse(&answer)
}

#[test]
#[cfg(unix)]
fn serve_says_where_serves_and_stops_clean() {
    let home = tempfile::tempdir().unwrap();
    for signal in ["-TERM", "-INT"] {
        let (child, line) = serve(home.path(), &["--listen", "127.0.0.1:0", "--data", "here.db", "-v"]);
        let members: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(members, ["url", "customer_token", "admin_token"]);
        let (url, token) = (line["url"].as_str().unwrap(), line["customer_token"].as_str().unwrap());
        assert_eq!(get(url, token).json()["customer"]["id"], 1);
        assert_eq!(get(url, line["admin_token"].as_str().unwrap()).status, 403);
        let told = format!("GET {PROFILE} 200\nGET {PROFILE} 403\n");
        assert_eq!(stop(child, signal), (Some(0), String::new(), told));
    }
    assert!(home.path().join("here.db").exists());
}

#[test]
#[cfg(unix)]
fn serve_misbehaves_by_flag() {
    let home = tempfile::tempdir().unwrap();
    let (child, line) = serve(home.path(), &["--fault", "GET:503=9x1", "--fault", "html", "--data", "a.db"]);
    let url = line["url"].as_str().unwrap();
    let first = get(url, CUSTOMER);
    assert_eq!((first.status, first.header("retry-after")), (503, Some("9")));
    assert!(get(url, CUSTOMER).body.starts_with("<!DOCTYPE"));
    assert_eq!(stop(child, "-TERM"), (Some(0), String::new(), String::new()));
    let help = run(home.path(), &["sandbox", "serve", "--help"]);
    let help = String::from_utf8_lossy(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for kind in ["late=MS", "stale-read=N", "varnish[=applied|not-applied]", "503-after-commit[=SECONDS]"] {
        assert!(help.contains(kind), "{kind}: {help}");
    }
    let typo = run(home.path(), &["sandbox", "serve", "--fault", "htlm"]);
    assert_eq!(typo.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&typo.stderr).contains("did you mean `html`?"), "{typo:?}");
}

#[test]
#[cfg(unix)]
fn serve_answers_the_host_names_it_is_told() {
    let home = tempfile::tempdir().unwrap();
    let (child, line) = serve(home.path(), &["--allow-host", "localhost.test", "--data", "a.db"]);
    let url = line["url"].as_str().unwrap();
    let get = |host: &str| {
        use std::io::Write as _;
        let mut stream = std::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        let head = format!(
            "GET {PROFILE} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {CUSTOMER}\r\n\
                            Connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::parse(&answer).status
    };
    assert_eq!([get("localhost"), get("localhost.test"), get("other.test")], [200, 200, 421]);
    stop(child, "-TERM");
}

#[test]
fn show_and_tokens_print_json_and_reset_seeds_afresh() {
    let home = tempfile::tempdir().unwrap();
    let json = |arguments: &[&str]| -> Value {
        let output = run(home.path(), &[arguments, &["-o", "json"]].concat());
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(json(&["sandbox", "show"])["customers"][0]["addresses"][3]["postcode"], "02138");
    let data = if cfg!(windows) { "storefront" } else { ".local/share/storefront" };
    assert!(home.path().join(data).join("sandbox.db").exists());
    assert_eq!(json(&["sandbox", "tokens"])[0]["token"], CUSTOMER);
    assert_eq!(json(&["sandbox", "reset"])["applied"], "yes");
    let tables = run(home.path(), &["sandbox", "show"]);
    let text = String::from_utf8(tables.stdout).unwrap();
    assert!(text.contains("佐藤") && text.contains("color 93 (Black=49, Blue=50"), "{text}");
    assert!(run(home.path(), &["sandbox", "tokens"]).stdout.starts_with(b"TOKEN"));
}

#[test]
fn what_cannot_be_used_is_said_with_exit_code_2() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("notes.txt"), "x".repeat(5000)).unwrap();
    for (arguments, says) in [
        (&["sandbox", "serve", "--data", "notes.txt"][..], "notes.txt is not a readable SQLite database"),
        (&["sandbox", "show", "--data", "."], "cannot use . as the sandbox's database"),
        (&["sandbox", "reset", "--data", "notes.txt/sandbox.db"], "cannot use notes.txt/sandbox.db"),
        (&["sandbox", "serve", "--listen", "0.0.0.0:0"], "--allow-remote"),
        (&["sandbox", "serve", "--listen", "localhost"], "invalid"),
        (&["customer", "show", "--fault", "html"], "--fault requires --sandbox"),
        (&["customer", "show", "--sandbox", "--fault", "hmtl"], "did you mean `html`?"),
    ] {
        let mut command = storefront(home.path(), arguments);
        command.stdin(Stdio::null());
        let mut child = Serving(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(child.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "", "{arguments:?}");
        let mut stderr = String::new();
        child.0.stderr.as_mut().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.0.wait().unwrap().code(), Some(2), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
    }
}
