//! `storefront sandbox …` as other programs drive it: the real binary.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;
use snapbox::str;

use crate::support::raw_http::{Answer, CUSTOMER, PROFILE, message};
use crate::support::storefront::Home;
use crate::support::test_env::log_count;

/// A child that does not outlive a test that fails.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `sandbox serve` and the line it printed.
fn serve(home: &Home, arguments: &str) -> (Serving, Value) {
    let mut serving = Serving(home.storefront(&format!("sandbox serve {arguments}")).spawn());
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
    send(url, &message("GET", PROFILE, &[&format!("Authorization: Bearer {token}")], b""))
}

fn send(url: &str, request: &[u8]) -> Answer {
    use std::io::Write as _;
    let mut stream = std::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    Answer::parse(&answer)
}

#[test]
#[cfg(unix)]
fn serve_prints_its_address_and_stops_cleanly_on_a_signal() {
    let home = Home::new();
    for signal in ["-TERM", "-INT"] {
        let (child, line) = serve(&home, "--listen 127.0.0.1:0 --data here.db -v");
        let members: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(members, ["url", "customer_token", "admin_token"]);
        let (url, token) = (line["url"].as_str().unwrap(), line["customer_token"].as_str().unwrap());
        assert_eq!(get(url, token).json()["customer"]["id"], 1);
        assert_eq!(get(url, line["admin_token"].as_str().unwrap()).status, 403);
        let logged = format!("GET {PROFILE} 200\nGET {PROFILE} 403\n");
        assert_eq!(stop(child, signal), (Some(0), String::new(), logged));
    }
    assert!(home.dir.path().join("here.db").exists());
}

#[test]
#[cfg(unix)]
fn serve_injects_the_given_faults() {
    let home = Home::new();
    let (child, line) = serve(&home, "--fault GET:503=9x1 --fault html --data a.db");
    let url = line["url"].as_str().unwrap();
    let first = get(url, CUSTOMER);
    assert_eq!((first.status, first.header("retry-after")), (503, Some("9")));
    assert!(get(url, CUSTOMER).body.starts_with("<!DOCTYPE"));
    assert_eq!(stop(child, "-TERM"), (Some(0), String::new(), String::new()));
    Home::new().run("sandbox serve --fault htlm").assert_failure(
        2,
        str![[r#"
error: invalid value 'htlm' for '--fault <FAULT>': unknown fault `htlm`; did you mean `html`?

For more information, try '--help'.
"#]],
    );
}

/// A city that 2.4.8 refuses is stored by 2.4.7 and by 2.4.9, and a street that 2.4.9 refuses by the others.
#[test]
#[cfg(unix)]
fn serve_has_the_rules_of_the_version_that_is_named() {
    use std::io::Write as _;
    let home = Home::new();
    for (flag, statuses) in
        [("", [200, 200]), ("--magento-version 2.4.8", [400, 200]), ("--magento-version 2.4.9", [200, 400])]
    {
        let (child, line) = serve(&home, &format!("{flag} --data a.db"));
        let address = line["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let answers =
            [r#"{"id": 12, "city": "St. Louis"}"#, r#"{"id": 12, "street": ["c/o A: B"]}"#].map(|change| {
                let body = format!(r#"{{"customer": {{"addresses": [{change}]}}}}"#);
                let headers = ["Authorization: Bearer sandbox-admin", "Content-Type: application/json"];
                let mut stream = std::net::TcpStream::connect(&address).unwrap();
                stream.write_all(&message("PUT", "/rest/V1/customers/5", &headers, body.as_bytes())).unwrap();
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer).unwrap();
                Answer::parse(&answer).status
            });
        assert_eq!(answers, statuses, "{flag}");
        stop(child, "-TERM");
        home.run("sandbox reset --data a.db");
    }
    assert_eq!(home.run("sandbox serve --version 2.4.8").code, 2);
}

#[test]
#[cfg(unix)]
fn serve_accepts_only_the_allowed_host_names() {
    let home = Home::new();
    let (child, line) = serve(&home, "--allow-host localhost.test --data a.db");
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
fn show_and_tokens_print_json_and_reset_restores_the_seed() {
    let home = Home::new();
    let json = |line: &str| home.storefront(line).without("XDG_DATA_HOME").run().done();
    assert_eq!(json("sandbox show -o json")["customers"][0]["addresses"][3]["postcode"], "02138");
    let data = if cfg!(windows) { "data/storefront" } else { ".local/share/storefront" };
    assert!(home.dir.path().join(data).join("sandbox.db").exists());
    let tokens = home.storefront("sandbox tokens -o json").without("XDG_DATA_HOME").run();
    let first: Value = serde_json::from_str(tokens.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["token"], tokens.stdout.lines().count()),
        (&Value::from(CUSTOMER), 7),
        "a line for each"
    );
    home.ok("--sandbox customer show -q");
    let seen = || log_count(&home, "SELECT count(*) FROM seen_address");
    assert_eq!(seen(), 1);
    assert_eq!(json("sandbox reset -o json")["applied"], "yes");
    assert_eq!(seen(), 0);
    let tables = Home::new();
    tables.run("sandbox show").assert_success(str![[r#"
CUSTOMER  FIRST NAME  LAST NAME  EMAIL                     ADDRESSES
1         Amina       Haddad     amina.haddad@example.com  4
2         健二        佐藤       sato.kenji@example.jp     2
3         प्रिया       शर्मा       priya.sharma@example.in   2
4         נועה        לוי        noa.levi@example.co.il    3
5         Jan         Müller     jan.mueller@example.de    1
6         New         Customer   new.customer@example.com  0

QUOTE  CUSTOMER  ITEMS
1      1         0
2      2         0
3      3         0
4      4         0
5      5         0

ATTRIBUTE  CODE   LABEL         OPTIONS
73         name   Product Name  0
93         color  Color         4
144        size   Size          5

SKU               TYPE          NAME                     OPTIONS
Grüner Tee 100 g  simple        Grüner Tee, lose, 100 g  0
cap               configurable  Cap                      1
mug-blue          simple        Blue Mug                 0
shirt             configurable  Linen Shirt              2
umbrella          simple        Umbrella                 0

STORE VIEW  ID  NAME
default     1   Default Store View
fr          2   Boutique française
de          3   Deutscher Shop
"#]]);
    tables.run("sandbox tokens").assert_success(str![[r#"
TOKEN               KIND      CUSTOMER  EMAIL
sandbox-customer-1  customer  1         amina.haddad@example.com
sandbox-customer-2  customer  2         sato.kenji@example.jp
sandbox-customer-3  customer  3         priya.sharma@example.in
sandbox-customer-4  customer  4         noa.levi@example.co.il
sandbox-customer-5  customer  5         jan.mueller@example.de
sandbox-customer-6  customer  6         new.customer@example.com
sandbox-admin       admin
"#]]);
    tables.run("sandbox reset").assert_report(str!["sandbox reset: [HOME]/data/storefront/sandbox.db"]);
}

#[test]
fn unusable_data_and_options_are_refused_with_exit_code_2() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("notes.txt"), "x".repeat(5000)).unwrap();
    for (line, stderr) in [
        (
            "sandbox serve --data notes.txt",
            str!["error: `notes.txt` is not a readable SQLite database: file is not a database"],
        ),
        (
            "sandbox show --data .",
            str!["error: cannot use `.` as the database of the sandbox: is a directory"],
        ),
        (
            "sandbox reset --data notes.txt/sandbox.db",
            str![
                "error: cannot use `notes.txt/sandbox.db` as the database of the sandbox: `notes.txt` is not a directory"
            ],
        ),
        (
            "sandbox serve --listen 0.0.0.0:0",
            str!["error: 0.0.0.0:0 is reachable from other machines; use --allow-remote to permit it"],
        ),
        (
            "sandbox serve --listen localhost",
            str![[r#"
error: invalid value 'localhost' for '--listen <ADDRESS:PORT>': invalid socket address syntax

For more information, try '--help'.
"#]],
        ),
        (
            "customer show --fault html",
            str![[r#"
error: --fault requires --sandbox
  hint: add --sandbox
"#]],
        ),
        (
            "customer show --sandbox --fault hmtl",
            str![[r#"
error: invalid value 'hmtl' for '--fault <FAULT>': unknown fault `hmtl`; did you mean `html`?

For more information, try '--help'.
"#]],
        ),
    ] {
        home.run(line).assert_failure(2, stderr);
    }
}

/// A seed is edited and served; a container asks for its health.
#[test]
fn a_seed_of_ones_own_is_served_into_a_new_database() {
    let home = Home::new();
    let seed = home.ok("sandbox seed");
    let mut edited: Value = serde_json::from_str(&seed).unwrap();
    edited["customers"].as_array_mut().unwrap().retain(|customer| customer["id"] != 1);
    edited["quotes"].as_array_mut().unwrap().retain(|quote| quote["customer_id"] != 1);
    edited["orders"].as_array_mut().unwrap().retain(|order| order["customer_id"] != 1);
    edited["customers"][0]["firstname"] = "Zoé".into();
    let file = |name: &str, content: &Value| {
        let path = home.dir.path().join(name);
        std::fs::write(&path, content.to_string()).unwrap();
        path.display().to_string()
    };
    let data = home.dir.path().join("own.db").display().to_string();
    let own = file("own.json", &edited);
    let (serving, line) = serve(&home, &format!("--seed {own} --data {data} --fault 503"));
    let (url, token) = (line["url"].as_str().unwrap(), line["customer_token"].as_str().unwrap());
    assert_eq!(token, "sandbox-customer-2");
    assert_eq!(get(url, token).status, 503);
    let health = send(url, &message("GET", "/health", &[], b""));
    assert_eq!((health.status, health.json()), (200, serde_json::json!({"status": "ok"})));
    drop(serving);
    let shown: Value =
        serde_json::from_str(&home.ok(&format!("sandbox show --data {data} -o json"))).unwrap();
    assert_eq!(shown["customers"][0]["firstname"], "Zoé");

    let mut unknown = edited.clone();
    unknown["shops"] = serde_json::json!([]);
    let mut broken = edited;
    broken["quotes"][0]["customer_id"] = 99.into();
    for (content, data, because) in [
        (&unknown, "a.db", "unknown field `shops`"),
        (&broken, "b.db", "one of its `quotes` names one of `customers` that there is not"),
        (&broken, "own.db", "exists, and a seed is for a new database"),
    ] {
        let (seed, data) = (file("seed.json", content), home.dir.path().join(data));
        let refused = home.run(&format!("sandbox serve --seed {seed} --data {}", data.display()));
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(because), "{refused:?}");
    }
    assert!(!home.dir.path().join("a.db").exists());
}
