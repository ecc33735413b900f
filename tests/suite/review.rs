//! `storefront review`: the page gets to one browser of its owner, and to nobody else; what it applies, `apply` applies.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ring::pbkdf2::{PBKDF2_HMAC_SHA256, derive};
use serde_json::{Value, json};

use crate::support::batch::{attributes, created};
use crate::support::raw_http::Answer;
use crate::support::storefront::{Home, Outcome, Storefront, ended};
use crate::support::terminal::Terminal;
use crate::support::test_env::{TestEnv, serve};

/// The code that is kept for reviews without a terminal.
pub const CODE: &str = "correct horse";

/// A running review, as its page and others see it.
pub struct Review {
    child: Running,
    stdout: BufReader<std::process::ChildStdout>,
    /// The file that opens the page.
    pub door: PathBuf,
    pub host: String,
    secret: String,
    token: String,
}

/// The command; a test that fails leaves none behind.
struct Running(Option<Child>);

impl Running {
    fn child(&self) -> &Child {
        self.0.as_ref().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// Waits for the end of a command; one that serves a page for ever is ended, and fails.
fn ends_soon(mut child: Child) -> Outcome {
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    ended(child)
}

/// Keeps a code as `review --set-code` does, in a file that is quick to check.
pub fn keep_code(home: &Home) {
    let (salt, mut hash) = ([7_u8; 16], [0_u8; 32]);
    derive(PBKDF2_HMAC_SHA256, NonZeroU32::MIN, &salt, CODE.as_bytes(), &mut hash);
    let kept = json!({"salt": salt, "rounds": 1, "hash": hash});
    home.write("review-code.json", kept.to_string(), 0o600);
}

/// In a session of its own, which has no terminal.
pub fn without_terminal(program: Storefront) -> Command {
    let program = program.into_command();
    let mut command = Command::new("setsid");
    command.arg(program.get_program()).args(program.get_args()).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(program.get_current_dir().unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The value behind this text, up to the next quote.
fn behind<'a>(text: &'a str, start: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split('"').next().unwrap()
}

/// One request to a port of this machine, with exactly these header lines.
pub fn send(port: &str, line: &str, headers: &[String], body: &str) -> Answer {
    let mut stream = TcpStream::connect(port).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = headers.join("\r\n");
    let length = body.len();
    write!(
        stream,
        "{line} HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    // A driver of a browser leaves the connection open.
    let (mut answer, mut bytes) = (Vec::new(), vec![0; 65536]);
    while let Ok(read @ 1..) = stream.read(&mut bytes) {
        answer.extend_from_slice(&bytes[..read]);
        let Some(head) = answer.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let length = Answer::parse(&answer[..head + 4]).header("Content-Length").map(str::to_owned);
        if length.is_some_and(|length| answer.len() >= head + 4 + length.parse::<usize>().unwrap()) {
            break;
        }
    }
    Answer::parse(&answer)
}

impl Review {
    /// Starts a review whose code is the one that is kept.
    fn start(env: &TestEnv, plan: &str) -> Self {
        keep_code(&env.home);
        Self::of(without_terminal(env.storefront(&format!("review {plan} --no-browser -o json"))))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let child = Running(Some(child));
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let door = PathBuf::from(first["review"].as_str().unwrap().strip_prefix("file://").unwrap());
        let text = std::fs::read_to_string(&door).unwrap();
        let host = behind(&text, "action=\"http://").trim_end_matches('/').to_owned();
        let secret = behind(&text, "name=\"secret\" value=\"").to_owned();
        Self { child, stdout, door, host, secret, token: String::new() }
    }

    fn headers(&self, more: &[&str]) -> Vec<String> {
        let own = [format!("Host: {}", self.host)];
        own.into_iter().chain(more.iter().map(ToString::to_string)).collect()
    }

    /// What a browser sends that submits the private file.
    fn post_secret(&self, secret: &str) -> Answer {
        let headers = self.headers(&["Origin: null", "Content-Type: application/x-www-form-urlencoded"]);
        send(&self.host, "POST /", &headers, &format!("secret={secret}"))
    }

    /// Opens the page, which has the session from now on.
    fn open(&mut self) -> Answer {
        let answer = self.post_secret(&self.secret);
        assert_eq!(answer.status, 200, "{answer:?}");
        behind(&answer.body, "data-session=\"").clone_into(&mut self.token);
        answer
    }

    fn session(&self) -> String {
        format!("X-Storefront-Session: {}", self.token)
    }

    fn apply(&self, code: &str, only: &[u64]) -> Answer {
        let origin = format!("Origin: http://{}", self.host);
        let body = json!({"code": code, "only": only}).to_string();
        send(&self.host, "POST /apply", &self.headers(&[&origin, &self.session()]), &body)
    }

    /// The steps, once it has ended, and how.
    fn progress(&self) -> Value {
        for _ in 0..2000 {
            let answer = send(&self.host, "GET /progress?from=0", &self.headers(&[&self.session()]), "");
            assert_eq!(answer.status, 200, "{answer:?}");
            let progress = answer.json();
            if !progress["end"].is_null() {
                return progress;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }

    /// Waits for the end of the command.
    pub fn ends(mut self) -> Outcome {
        let outcome = ends_soon(self.child.0.take().unwrap());
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        Outcome { stdout, ..outcome }
    }

    /// Ends it as Ctrl-C does.
    fn stop(self) -> Outcome {
        let process = rustix::process::Pid::from_child(self.child.child());
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        self.ends()
    }
}

/// A home with a plan of so many attributes, named `a.plan`.
fn planned(records: usize) -> TestEnv {
    let env = TestEnv::new();
    env.file("a.csv", attributes(records));
    assert_eq!(env.run("attribute create -i a.csv --plan a.plan -o json").code, 0);
    env.requests();
    env
}

#[test]
fn what_is_selected_is_applied_and_the_rest_is_declined() {
    let env = planned(4);
    let mut review = Review::start(&env, "a.plan");
    let page = review.open().body;
    assert!(page.contains("code_3") && page.contains("4 records"), "{page}");
    assert_eq!(review.apply(CODE, &[1, 3]).status, 200);
    assert_eq!(review.apply(CODE, &[2]).status, 409, "once");
    let progress = review.progress();
    let steps = progress["steps"].as_array().unwrap();
    let of = |record: u64| -> Vec<&str> {
        let own = steps.iter().filter(|step| step["record"] == record);
        own.map(|step| step["state"].as_str().unwrap()).collect()
    };
    assert_eq!([1, 2, 3, 4].map(of), [vec!["sending", "done"], vec![], vec!["sending", "done"], vec![]]);
    let journal = env.home.dir.path().join("a.plan.journal");
    assert_eq!(progress["end"], json!({"journal": journal.canonicalize().unwrap()}));
    let door = review.door.clone();
    let outcome = review.ends();
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (0, 2), "{outcome:?}");
    assert!(!door.exists(), "{door:?}");
    assert_eq!(created(&env), [1, 3]);
    let states = env.storefront("history a.plan.journal --jq .state").run();
    assert_eq!(states.stdout, "done\ndeclined\ndone\ndeclined\n");
    assert_eq!(env.run("apply a.plan --only 4").code, 0);
    assert_eq!(created(&env), [1, 3, 4]);
}

#[test]
fn a_page_that_is_closed_stops_nothing_and_the_terminal_has_the_results() {
    let env = planned(2);
    let mut review = Review::start(&env, "a.plan");
    review.open();
    assert_eq!(review.apply(CODE, &[1, 2]).status, 200);
    let outcome = review.ends();
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (0, 2), "{outcome:?}");
    assert_eq!(created(&env), [1, 2]);
}

#[test]
fn what_fails_has_its_reason_and_the_next_step_on_the_page() {
    let env = planned(2);
    env.file("b.csv", attributes(1));
    assert_eq!(env.run("attribute create -i b.csv").code, 0);
    let mut review = Review::start(&env, "a.plan");
    review.open();
    assert_eq!(review.apply(CODE, &[1, 2]).status, 200);
    let progress = review.progress();
    let failed = progress["steps"].as_array().unwrap().iter().find(|step| step["state"] == "failed").unwrap();
    assert!(failed["reason"].as_str().unwrap().contains("same code already exists"), "{failed}");
    assert_eq!(progress["end"]["error"], "1 of 2 records failed");
    assert_eq!(progress["end"]["hint"], "make a plan of the failed records again");
    assert_eq!(review.ends().code, 7);
}

#[test]
fn who_reads_the_process_list_or_the_port_gets_nothing() {
    let env = planned(1);
    let review = Review::start(&env, "a.plan");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&review.door), mode(review.door.parent().unwrap())), (0o600, 0o700));
    for file in ["cmdline", "environ"] {
        let text = std::fs::read(format!("/proc/{}/{file}", review.child.child().id())).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains(&review.secret), "{file}");
    }
    assert!(!review.door.to_str().unwrap().contains(&review.secret));
    for (line, status) in [
        ("GET /", 403),
        ("GET /progress?from=0", 403),
        ("GET /a.plan", 404),
        ("PUT /", 404),
        ("POST /apply", 403),
    ] {
        let answer = send(&review.host, line, &review.headers(&[]), "{}");
        assert_eq!(answer.status, status, "{line}: {answer:?}");
        assert!(!answer.body.contains("code_1"), "{answer:?}");
    }
    assert_eq!(review.post_secret(&"0".repeat(64)).status, 403);
    assert_eq!(review.stop().code, 130);
    assert!(created(&env).is_empty());
}

/// What is handed to the browser is the name of the private file: that is all that stands in a process list.
#[test]
fn the_browser_is_given_the_name_of_the_file_and_no_secret() {
    let env = planned(1);
    keep_code(&env.home);
    let bin = env.home.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let script = bin.join("xdg-open");
    std::fs::write(
        &script,
        "#!/bin/sh\necho \"$@\" > \"$HOME/opened.tmp\"\nmv \"$HOME/opened.tmp\" \"$HOME/opened\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut child = without_terminal(env.storefront("review a.plan").env("PATH", &path)).spawn().unwrap();
    let opened = env.home.dir.path().join("opened");
    for _ in 0..2000 {
        if opened.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let opened = std::fs::read_to_string(&opened).unwrap();
    let text = std::fs::read_to_string(opened.trim()).unwrap();
    assert!(!opened.contains(behind(&text, "name=\"secret\" value=\"")), "{opened}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The variables of our tokens, and that of any profile.
#[test]
fn the_browser_gets_no_variable_that_holds_a_secret() {
    let env = planned(1);
    keep_code(&env.home);
    env.home.write("config.toml", "[profiles.other]\nadmin-token-env = \"OTHER_SHOP\"\n", 0o600);
    let bin = env.home.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let script = bin.join("xdg-open");
    std::fs::write(&script, "#!/bin/sh\nenv > \"$HOME/seen.tmp\"\nmv \"$HOME/seen.tmp\" \"$HOME/seen\"\n")
        .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let program = env.storefront("review a.plan").env("PATH", &path).env("OTHER_SHOP", "hunter2");
    let _review = Running(Some(without_terminal(program).spawn().unwrap()));
    let seen = env.home.dir.path().join("seen");
    for _ in 0..2000 {
        if seen.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let seen = std::fs::read_to_string(&seen).unwrap();
    assert!(seen.contains("PATH=") && seen.contains("STOREFRONT_BASE_URL="), "{seen}");
    for name in ["STOREFRONT_TOKEN=", "STOREFRONT_ADMIN_TOKEN=", "OTHER_SHOP=", "hunter2"] {
        assert!(!seen.contains(name), "{name}: {seen}");
    }
}

/// What a body may cost before anybody is known, and how many may ask at once.
#[test]
fn who_has_no_secret_costs_the_command_little() {
    let env = planned(1);
    let mut review = Review::start(&env, "a.plan");
    let headers = review.headers(&["Origin: null"]);
    let body = format!("secret={}", "0".repeat(2 << 10));
    assert_eq!(send(&review.host, "POST /", &headers, &body).status, 413);
    assert_eq!(send(&review.host, "POST /apply", &review.headers(&[]), &body).status, 403);
    let files = || std::fs::read_dir(format!("/proc/{}/fd", review.child.child().id())).unwrap().count();
    let before = files();
    let mut open: Vec<TcpStream> = Vec::new();
    let address = review.host.parse().unwrap();
    for _ in 0..200 {
        // Where the queue is full, a connection waits for minutes.
        let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) else { break };
        let _ = stream.write_all(b"POST / HTTP/1.1\r\nHost: x\r\n");
        open.push(stream);
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(files() <= before + 40, "{} of {before}", files());
    drop(open);
    review.open();
    assert_eq!(review.apply(CODE, &[1]).status, 200);
    assert_eq!(review.ends().code, 0);
}

/// The file that opens the page outlives a command that is killed, and not the next one that writes.
#[test]
fn the_file_of_a_review_that_was_killed_is_removed_by_the_next_command() {
    let env = planned(1);
    let left = || {
        let names = std::fs::read_dir(env.home.state().join("reviews")).unwrap();
        names
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "html"))
            .count()
    };
    let killed = Review::start(&env, "a.plan");
    drop(killed);
    assert_eq!(left(), 1);
    let running = Review::start(&env, "a.plan");
    assert_eq!(left(), 1, "the next review");
    drop(Review::start(&env, "a.plan"));
    assert_eq!(left(), 2);
    assert_eq!(env.run("customer update --gender 3").code, 0);
    assert_eq!(left(), 1, "a command that writes; that of a review that runs stays");
    assert!(running.door.exists());
    assert_eq!(running.stop().code, 130);
    assert_eq!(left(), 0);
}

/// Killed right after *Apply*, a later run must not send it.
#[test]
fn what_was_left_out_is_on_disk_when_the_page_hears_that_it_begins() {
    let records = 1500;
    let env = planned(records);
    let mut review = Review::start(&env, "a.plan");
    review.open();
    assert_eq!(review.apply(CODE, &[1, 3]).status, 200);
    let journal = std::fs::read_to_string(env.home.dir.path().join("a.plan.journal")).unwrap_or_default();
    drop(review);
    assert_eq!(journal.matches("\"declined\"").count(), records - 2);
    assert!([0, 8].contains(&env.run("apply a.plan").code));
    assert!(created(&env).iter().all(|number| [1, 3].contains(number)));
}

/// Beside the record on the page, and in the terminal; the question of `apply` has them, too.
#[test]
fn warnings_stand_beside_their_record_and_values_are_drawn_as_in_a_report() {
    let env = TestEnv::new();
    let options = json!([{"label": "S", "is_default": true, "store_labels": [{"store_id": 2, "label": "P"}]}, {"label": "M"}]);
    let attribute = |code: &str, label: &str| {
        json!({"attribute_code": code, "frontend_input": "select",
        "default_frontend_label": label, "options": options})
    };
    let input = json!([attribute("size", "Size"), attribute("fit", "null")]);
    env.file("in.json", input.to_string());
    let planned = env.run("attribute create -i in.json --plan a.plan");
    assert!(planned.code == 0 && planned.stderr.contains("null"), "{planned:?}");
    let mut review = Review::start(&env, "a.plan");
    let page = review.open().body;
    let records: Vec<&str> = page.split("<article").skip(1).collect();
    assert!(records[0].contains("<span>attribute size</span>"), "{page}");
    assert!(records[0].contains("<ins>*S (2: P) / M</ins>"), "{page}");
    assert!(!page.contains("the token&#39;s own customer") && !page.contains("store_labels"), "{page}");
    assert!(!records[0].contains("class=\"warning\""), "{page}");
    let (_, warning) = records[1].split_once("class=\"warning\"").unwrap_or_else(|| panic!("{page}"));
    assert!(warning.contains("null"), "{page}");
    let outcome = review.stop();
    assert!(outcome.stderr.contains("null"), "{outcome:?}");
    let words = ["apply", "a.plan"];
    let (url, token) = (env.url(), "sandbox-admin");
    let variables = [
        ("STOREFRONT_BASE_URL", &*url),
        ("STOREFRONT_ADMIN_TOKEN", token),
        ("STOREFRONT_STORE_VIEW", "default"),
    ];
    let mut terminal = Terminal::run(&env.home, 120, &words, &variables);
    let screen = terminal.sees("Create the attributes of 2 records?").screen();
    let (_, second) = screen.split_once("Record 2, attribute fit").unwrap_or_else(|| panic!("{screen}"));
    assert!(second.contains("warning: ") && second.contains("*S (2: P) / M"), "{screen}");
    terminal.confirms("n");
    terminal.ends();
}

#[test]
fn another_page_in_the_browser_gets_nothing() {
    let env = planned(1);
    let mut review = Review::start(&env, "a.plan");
    // Even with the secret, and it is not used up by that.
    for origin in ["http://evil.example", "https://127.0.0.1:1", &format!("http://{}", review.host)] {
        let headers = review.headers(&[&format!("Origin: {origin}")]);
        let answer = send(&review.host, "POST /", &headers, &format!("secret={}", review.secret));
        assert_eq!(answer.status, 403, "{origin}: {answer:?}");
    }
    review.open();
    let (own, session) = (format!("Origin: http://{}", review.host), review.session());
    let body = json!({"code": CODE, "only": [1]}).to_string();
    let port: u16 = review.host.rsplit(':').next().unwrap().parse().unwrap();
    let other_port = format!("Origin: http://127.0.0.1:{}", port.wrapping_add(1));
    for headers in [
        vec!["Origin: http://evil.example", &session],
        vec!["Origin: null", &session],
        vec![&other_port, &session],
        vec![&own, &session, "Sec-Fetch-Site: cross-site"],
        vec![&own, &session, "Sec-Fetch-Site: same-site"],
        vec![&own, &own, &session],
        vec![&session],
        vec![&own],
        vec![&own, "X-Storefront-Session: 0"],
        vec![&own, &format!("Cookie: session={}", review.token)],
    ] {
        let answer = send(&review.host, "POST /apply", &review.headers(&headers), &body);
        assert_eq!(answer.status, 403, "{headers:?}: {answer:?}");
    }
    // A browser asks before it sends the header of the session from elsewhere, and is not allowed to.
    let asks = ["Origin: http://evil.example", "Access-Control-Request-Headers: x-storefront-session"];
    let answer = send(&review.host, "OPTIONS /apply", &review.headers(&asks), "");
    assert!(answer.status == 404 && !answer.head.to_lowercase().contains("access-control"), "{answer:?}");
    let read = send(&review.host, "GET /progress?from=0", &review.headers(&[asks[0], &session]), "");
    assert_eq!(read.status, 403);
    assert_eq!(review.stop().code, 130);
    assert!(env.requests().is_empty() && created(&env).is_empty());
}

#[test]
fn a_name_that_was_made_to_lead_here_is_not_answered() {
    let env = planned(1);
    let mut review = Review::start(&env, "a.plan");
    let port = review.host.rsplit(':').next().unwrap().to_owned();
    let secret = format!("secret={}", review.secret);
    for host in
        ["evil.example", &format!("evil.example:{port}"), &format!("localhost:{port}"), "127.0.0.1", ""]
    {
        let headers = [format!("Host: {host}"), "Origin: null".to_owned()];
        assert_eq!(send(&review.host, "POST /", &headers, &secret).status, 421, "{host}");
    }
    let two = review.headers(&["Host: evil.example"]);
    assert_eq!(send(&review.host, "POST /", &two, &secret).status, 421);
    let target = format!("POST http://evil.example:{port}/");
    assert_eq!(send(&review.host, &target, &review.headers(&[]), &secret).status, 421);
    review.open();
    let headers = [format!("Host: evil.example:{port}"), review.session()];
    assert_eq!(send(&review.host, "GET /progress?from=0", &headers, "").status, 421);
    assert_eq!(review.stop().code, 130);
}

#[test]
fn five_wrong_codes_inside_the_session_end_it_and_outside_they_count_for_nothing() {
    let env = planned(1);
    let mut review = Review::start(&env, "a.plan");
    for _ in 0..10 {
        assert_eq!(review.apply("guess", &[1]).status, 403);
    }
    review.open();
    review.token.push('0');
    for _ in 0..10 {
        assert_eq!(review.apply("guess", &[1]).status, 403);
    }
    review.token.pop();
    for left in [4, 3, 2, 1] {
        let answer = review.apply("guess", &[1]);
        let message = format!("wrong code: {left} {} left", if left == 1 { "try is" } else { "tries are" });
        assert_eq!((answer.status, answer.json()["error"].as_str()), (422, Some(&*message)));
    }
    assert_eq!(review.apply("guess", &[1]).status, 410);
    let outcome = review.ends();
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert_eq!(outcome.error()["message"], "five wrong codes ended the review: nothing was applied");
    assert!(env.requests().is_empty() && created(&env).is_empty());
    assert!(!env.home.dir.path().join("a.plan.journal").exists());
}

#[test]
fn a_second_page_is_refused_and_the_terminal_says_so() {
    let env = planned(1);
    let mut review = Review::start(&env, "a.plan");
    review.open();
    let answer = review.post_secret(&review.secret);
    assert!(answer.status == 409 && !answer.body.contains("code_1"), "{answer:?}");
    let outcome = review.stop();
    let warning = "a second page tried to open the review, and was refused";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
}

#[test]
fn nothing_is_cached_and_the_page_loads_only_its_own_style_and_script() {
    let env = planned(1);
    let mut review = Review::start(&env, "a.plan");
    let page = review.open();
    let policy = page.header("Content-Security-Policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    for tag in ["style", "script"] {
        let (_, rest) = page.body.split_once(&format!("<{tag}>")).unwrap();
        let inside = rest.split_once(&format!("</{tag}>")).unwrap().0;
        let digest = ring::digest::digest(&ring::digest::SHA256, inside.as_bytes());
        let hash = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, digest);
        assert!(policy.contains(&format!("{tag}-src 'sha256-{hash}'")), "{policy}");
    }
    for word in ["src=", "href=", "url(", "@import", "innerHTML", "onclick", "document.cookie"] {
        assert!(!page.body.contains(word), "{word}");
    }
    for answer in [&page, &review.apply("wrong", &[1]), &review.post_secret("x")] {
        assert_eq!(answer.header("Cache-Control"), Some("no-store"));
        assert_eq!(answer.header("Set-Cookie"), None);
        assert!(answer.header("Content-Security-Policy").unwrap().starts_with("default-src 'none'"));
    }
    review.stop();
}

#[test]
fn what_comes_from_the_shop_is_text() {
    let env = TestEnv::new();
    let nasty = "</td><script>alert(1)</script>{{records}}{{session}}\"'\u{202e}";
    let input = json!({"customer": {"firstname": nasty, "addresses": [{"id": 2, "city": "<img src=x>"}]}});
    env.file("in.json", input.to_string());
    let planned = env.run("customer update -i in.json --plan a.plan -q");
    assert_eq!(planned.code, 0, "{planned:?}");
    let mut review = Review::start(&env, "a.plan");
    let page = review.open().body;
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains("<img") && page.contains("&lt;img src=x&gt;"));
    assert!(page.contains(
        "&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{records}}{{session}}&quot;&#39;\\u{202e}"
    ));
    review.stop();
}

#[test]
fn a_plan_that_changed_since_it_was_shown_or_is_of_another_shop_is_not_applied() {
    let env = planned(2);
    let path = env.home.dir.path().join("a.plan");
    let mut review = Review::start(&env, "a.plan");
    review.open();
    assert_eq!(env.run("attribute create --code z --label Z --type text --plan z.plan -q").code, 0);
    std::fs::copy(env.home.dir.path().join("z.plan"), &path).unwrap();
    assert_eq!(review.apply(CODE, &[1]).status, 200);
    assert_eq!(review.progress()["end"]["error"], "the plan has changed since it was shown");
    assert_eq!(review.ends().code, 3);
    let elsewhere = env.home.storefront("review a.plan --no-browser --sandbox --api magento").run();
    assert_eq!(elsewhere.code, 3);
    assert!(elsewhere.stderr.contains("the plan is for the"), "{elsewhere:?}");
    assert!(env.requests().iter().all(|heard| !heard.starts_with("POST")));
}

#[test]
fn a_setting_that_forbids_writes_refuses_and_one_that_asks_is_answered_by_the_code() {
    let env = planned(1);
    let with = |writes: &str| {
        let home = &env.home;
        serve(home.storefront("review a.plan --no-browser -o json"), &env.url())
            .env("STOREFRONT_WRITES", writes)
    };
    keep_code(&env.home);
    let refused = ends_soon(without_terminal(with("no")).spawn().unwrap());
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.stderr.contains("nothing may be written"), "{refused:?}");
    let mut review = Review::of(without_terminal(with("ask")));
    review.open();
    assert_eq!(review.apply("guess", &[1]).status, 422);
    assert!(env.requests().is_empty());
    assert_eq!(review.apply(CODE, &[1]).status, 200);
    assert_eq!((review.progress()["end"]["error"].clone(), review.ends().code), (Value::Null, 0));
    assert_eq!(created(&env), [1]);
}

#[test]
fn without_a_terminal_and_without_a_code_that_was_set_no_page_is_served() {
    let env = planned(1);
    let refused = ends_soon(without_terminal(env.storefront("review a.plan --no-browser")).spawn().unwrap());
    assert_eq!((refused.code, &*refused.stdout), (3, ""), "{refused:?}");
    assert!(refused.stderr.contains("`storefront review --set-code`"), "{refused:?}");
}

/// As where a person is logged in over SSH.
#[test]
fn where_no_browser_can_be_opened_the_link_stands_on_a_line_of_its_own() {
    let env = planned(1);
    let programs = env.home.dir.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let launcher = programs.join("xdg-open");
    std::fs::write(&launcher, "#!/bin/sh\nexit 3\n").unwrap();
    std::fs::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let setsid = std::env::split_paths(&path).map(|it| it.join("setsid")).find(|it| it.exists()).unwrap();
    std::os::unix::fs::symlink(setsid, programs.join("setsid")).unwrap();
    keep_code(&env.home);
    for flag in ["", " -q"] {
        let program =
            env.storefront(&format!("review a.plan{flag}")).env("PATH", &programs.to_string_lossy());
        let mut child = without_terminal(program).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let _child = Running(Some(child));
        let mut said = String::new();
        while !said.ends_with(".html\n") && stderr.read_line(&mut said).unwrap() > 0 {}
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], "warning: cannot open a browser; open this link in one:", "{said}");
        assert!(lines[1].starts_with("file:///") && lines.len() == 2, "{said}");
    }
}

#[test]
fn the_code_stands_on_the_controlling_terminal_and_in_no_stream() {
    let env = planned(1);
    let [out, err] = ["out", "err"].map(|name| env.home.dir.path().join(name));
    let line = ["review", "a.plan", "--no-browser", "-o", "json"];
    let program = env.storefront(&line);
    let mut terminal = Terminal::run_apart(&env.home, program, &out, &err);
    let screen = terminal.sees("Code to apply the plan: ").screen();
    let code = screen.split("plan: ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!(code.len(), 9, "{screen}");
    let mut streams = String::new();
    for _ in 0..2000 {
        streams = [&out, &err].map(|file| std::fs::read_to_string(file).unwrap()).concat();
        if streams.contains("review-") {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(streams.contains("review-") && !streams.contains(&code), "{streams}");
    terminal.types("\u{3}");
    assert_eq!(terminal.ends().0, 130);
}

#[test]
fn a_code_that_is_set_is_kept_as_a_hash() {
    let home = Home::new();
    let mut terminal = Terminal::run(&home, 100, &["review", "--set-code"], &[]);
    terminal.asks("Code for reviews without a terminal").answers("swordfish-9");
    terminal.asks("The same code again").answers("swordfish-9");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("swordfish"), "{screen}");
    let kept = home.read("review-code.json");
    assert!(!kept.contains("swordfish") && kept.contains("\"rounds\":600000"), "{kept}");
    assert_eq!(home.mode("review-code.json"), 0o600);
    let refused = ends_soon(without_terminal(home.storefront("review --set-code")).spawn().unwrap());
    assert_eq!(refused.code, 2, "{refused:?}");
}
