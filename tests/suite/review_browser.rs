//! The page of `storefront review` in Chromium, driven by the WebDriver protocol.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use storefront::plan::write::NewPlan;
use storefront::plan::{PlanHeader, Planned};
use storefront::system::storage::Disk;
use storefront_core::profile::diff::{Expected, FieldChange};

use crate::review::{CODE, Review, keep_code, send, without_terminal};
use crate::support::storefront::Home;

const TIMEOUT: Duration = Duration::from_secs(60);
/// As root, without a screen, and without a word to anybody else.
const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A browser with one page.
struct Browser {
    driver: Child,
    port: String,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    fn start() -> Self {
        let mut driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(driver.stdout.take().unwrap());
        let mut lines = output.lines().map(Result::unwrap);
        let port =
            lines.find_map(|line| line.split_once("successfully on port ").map(|(_, port)| port.to_owned()));
        let port = format!("127.0.0.1:{}", port.unwrap().trim_end_matches('.'));
        // It must not wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let mut args: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
        args.push(format!("--user-data-dir={}", profile.path().display()));
        let options = json!({"args": args});
        let wanted = json!({"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options,
            "unhandledPromptBehavior": "accept", "goog:loggingPrefs": {"browser": "ALL"}}}});
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let session = browser.call("POST", "", &wanted);
        browser.session = format!("/{}", session["sessionId"].as_str().unwrap());
        browser
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let line = format!("{method} /session{}{path}", self.session);
        let headers = [format!("Host: {}", self.port), "Content-Type: application/json".to_owned()];
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let answer = send(&self.port, &line, &headers, &body);
        assert_eq!(answer.status, 200, "{line}: {answer:?}");
        answer.json()["value"].take()
    }

    #[track_caller]
    fn script(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until this script gives `true`.
    #[track_caller]
    fn waits(&self, script: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while self.script(&format!("return Boolean({script})")) != true {
            assert!(Instant::now() < deadline, "waited for {script} in {}", self.text("body"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn text(&self, selector: &str) -> String {
        let text = self.script(&format!("return document.querySelector('{selector}').innerText"));
        text.as_str().unwrap().to_owned()
    }

    fn opens(&self, review: &Review) {
        self.call("POST", "/url", &json!({"url": format!("file://{}", review.door.display())}));
        self.waits("document.querySelector('.record')");
    }

    fn element(&self, selector: &str) -> String {
        let found = self.call("POST", "/element", &json!({"using": "css selector", "value": selector}));
        found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned()
    }

    fn types(&self, selector: &str, keys: &str) {
        let path = format!("/element/{}/value", self.element(selector));
        self.call("POST", &path, &json!({"text": keys}));
    }

    fn clicks(&self, selector: &str) {
        self.call("POST", &format!("/element/{}/click", self.element(selector)), &json!({}));
    }

    fn chromium(&self, command: &str, parameters: &Value) {
        self.call("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": parameters}));
    }

    /// A window of this size, for eyes that want it light or dark.
    fn looks(&self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.chromium("Emulation.setDeviceMetricsOverride", &size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.chromium("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    fn picture(&self) -> Vec<u8> {
        BASE64_STANDARD.decode(self.call("GET", "/screenshot", &Value::Null).as_str().unwrap()).unwrap()
    }

    /// What the browser complained about, such as what its policy kept from being loaded.
    fn complaints(&self) -> Value {
        self.call("POST", "/se/log", &json!({"type": "browser"}))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session, also where the test has failed.
        let line = format!("DELETE /session{}", self.session);
        let headers = [format!("Host: {}", self.port)];
        if !self.session.is_empty() {
            send(&self.port, &line, &headers, "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A home with a plan of three records of two customers.
fn planned() -> Home {
    let home = Home::new();
    let lines = [
        json!({"customer": 1, "addresses": [{"id": 2, "street": ["5th Avenue 12"], "city": "Albany", "telephone": "+1 518 555 0100"}]}),
        json!({"customer": 1, "addresses": [{"id": 4, "company": "Lumière & <b>Fils</b>"}]}),
        json!({"customer": 5, "addresses": [{"id": 12, "street": ["Große Elbstraße 9"], "postcode": "22767"}]}),
    ];
    let text = lines.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n");
    std::fs::write(home.dir.path().join("moves.ndjson"), text).unwrap();
    home.sandbox_ok("magento", "customer update -i moves.ndjson --plan moves.plan -q");
    keep_code(&home);
    home
}

fn reviewed(home: &Home, plan: &str) -> Review {
    let line = format!("review {plan} --sandbox --api magento --no-browser -o json");
    Review::of(without_terminal(home.storefront(&line)))
}

/// Compares nothing: fonts differ between machines. With `SNAPSHOTS=overwrite` the picture is written.
fn keeps_picture(name: &str, picture: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var("SNAPSHOTS").is_ok_and(|it| it == "overwrite") {
        std::fs::write(&path, picture).unwrap();
    }
    assert!(path.is_file() && picture.starts_with(b"\x89PNG"), "{}", path.display());
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_plan_is_read_selected_and_applied() {
    let home = planned();
    let (review, browser) = (reviewed(&home, "moves.plan"), Browser::start());
    for (scheme, name) in [("dark", "review-dark.png"), ("light", "review.png")] {
        browser.looks(1000, 640, scheme);
        if scheme == "dark" {
            browser.opens(&review);
            // The same picture every time, and as it is in a terminal.
            browser.script(
                "document.querySelector('.about').textContent = \
                 'moves.plan · 3 records · https://shop.example/rest · expires 2026-11-27T10:00:00Z'; \
                 document.querySelector('.code label').textContent = 'Code from the terminal'",
            );
        }
        keeps_picture(name, &browser.picture());
    }
    assert_eq!(browser.text("#counts"), "3 of 3 records selected");
    browser.types("#search", "elbstraße");
    browser.waits("document.querySelectorAll('.record:not([hidden])').length === 1");
    assert_eq!(browser.text("#counts"), "3 of 3 records selected, 2 of them not shown");
    browser.script(
        "const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))",
    );
    browser.waits("document.querySelectorAll('.record:not([hidden])').length === 3");
    // By the keyboard from the first box to the second, which is cleared.
    browser.script("document.querySelector('.record input').focus()");
    browser.types(".record input", "\u{e015}");
    browser.types("[data-n='2'] input", " ");
    assert_eq!(browser.text("#counts"), "2 of 3 records selected");
    assert_eq!(browser.script("return document.activeElement.closest('.record').dataset.n"), "2");
    browser.types("#code", "wrong code\u{e007}");
    browser.waits("document.getElementById('message').textContent === 'wrong code: 4 tries are left'");
    browser.types("#code", &format!("{CODE}\u{e007}"));
    browser.waits("!document.getElementById('result').hidden");
    let result = browser.text("#result");
    assert!(result.starts_with("Applied\n") && result.contains("2 done, 1 declined"), "{result}");
    assert!(result.contains("moves.plan.journal"), "{result}");
    let states = "return [...document.querySelectorAll('.state')].map((one) => one.textContent).join()";
    assert_eq!(browser.script(states), "done,declined,done");
    // A wrong code is a refused request, which Chromium notes; nothing else is.
    let complaints = browser.complaints();
    let others =
        complaints.as_array().unwrap().iter().filter(|one| !one["message"].as_str().unwrap().contains("422"));
    assert_eq!(others.count(), 0, "{complaints}");
    assert_eq!(review.ends().code, 0);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn it_fits_any_width_light_and_dark_and_is_accessible() {
    let home = planned();
    let (review, browser) = (reviewed(&home, "moves.plan"), Browser::start());
    browser.opens(&review);
    let axe = std::env::var("STOREFRONT_AXE").ok().map(|path| std::fs::read_to_string(path).unwrap());
    for (width, height) in [(360, 740), (768, 1024), (1280, 900)] {
        for scheme in ["light", "dark"] {
            browser.looks(width, height, scheme);
            let overflow = browser.script("return document.documentElement.scrollWidth - innerWidth");
            assert!(overflow.as_i64().unwrap() <= 0, "{width}: {overflow}");
            if let Ok(directory) = std::env::var("STOREFRONT_PICTURES") {
                let path = PathBuf::from(directory).join(format!("{width}-{scheme}.png"));
                std::fs::write(path, browser.picture()).unwrap();
            }
            let Some(axe) = &axe else { continue };
            let script = format!(
                "{axe}; const done = arguments[0]; axe.run().then((found) => done(found.violations.map(\
                (one) => one.id + ': ' + one.nodes.map((node) => node.html).slice(0, 3).join(' '))))"
            );
            let found = browser.call("POST", "/execute/async", &json!({"script": script, "args": []}));
            assert_eq!(found, json!([]), "{width} {scheme}");
        }
    }
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn without_its_script_the_page_can_be_read() {
    let home = planned();
    let (review, browser) = (reviewed(&home, "moves.plan"), Browser::start());
    browser.chromium("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    browser.call("POST", "/url", &json!({"url": format!("file://{}", review.door.display())}));
    browser.clicks("button");
    browser.element(".record");
    let path = format!("/element/{}/text", browser.element("body"));
    let text = browser.call("GET", &path, &Value::Null);
    let text = text.as_str().unwrap();
    assert!(text.contains("Albany") && text.contains("Lumière & <b>Fils</b>"), "{text}");
    assert!(
        text.contains("storefront --sandbox --api magento apply moves.plan") && !text.contains("Search"),
        "{text}"
    );
}

/// What it took is printed: `-- --ignored --nocapture`.
#[test]
#[ignore = "needs chromium and chromedriver"]
fn ten_thousand_records_are_filtered_and_searched() {
    const RECORDS: usize = 10_000;
    let home = planned();
    let first = std::fs::read_to_string(home.dir.path().join("moves.plan")).unwrap();
    let header: PlanHeader = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let change = |path: &str, before: &str, after: String| {
        FieldChange::parse(&json!({"path": path, "before": before, "after": after})).unwrap()
    };
    // Each thousandth deletes an address.
    let deleted = |number: usize| {
        let path = format!("addresses[id={number}]");
        FieldChange::parse(&json!({"path": path, "before": {"id": number, "city": "Paris"}, "after": null}))
            .unwrap()
    };
    let record = |number: usize| {
        let owner = json!({"id": number, "email": format!("c{number}@example.com"), "firstname": "Ada", "lastname": "L"});
        let changed = || {
            vec![
                change(&format!("addresses[id={number}].city"), "New York", format!("City {number}")),
                change(
                    &format!("addresses[id={number}].telephone"),
                    "+1 212 736 3100",
                    format!("+1 518 {number}"),
                ),
            ]
        };
        let changes = if number.is_multiple_of(1000) { vec![deleted(number)] } else { changed() };
        let expect = Expected { owner: owner.as_object().unwrap().clone(), changes, ..Expected::default() };
        Planned { customer: Some(number.to_string()), expect, ..Planned::default() }
    };
    let header = PlanHeader { id: PlanHeader::new().id, ..header };
    let mut plan = NewPlan::new(home.dir.path().join("many.plan"), header);
    (1..=RECORDS).for_each(|number| plan.push(&Disk, &record(number)).unwrap());
    plan.finish(&Disk).unwrap();
    let (review, browser) = (reviewed(&home, "many.plan"), Browser::start());
    browser.looks(1280, 900, "light");
    let started = Instant::now();
    browser.opens(&review);
    browser.waits(&format!("document.getElementById('counts').textContent.startsWith('{RECORDS} of')"));
    println!("opened after {:?}", started.elapsed());
    let timed = |script: &str| {
        let timed = format!(
            "const t = performance.now(); {script}; document.body.offsetHeight; return performance.now() - t"
        );
        println!("{script}: {} ms", browser.script(&timed));
    };
    let shown = |count: usize| {
        browser.waits(&format!("document.querySelectorAll('.record:not([hidden])').length === {count}"));
    };
    timed("const f = document.getElementById('field'); f.value = '0'; f.dispatchEvent(new Event('change'))");
    timed(
        "const v = document.getElementById('view'); v.value = 'left'; v.dispatchEvent(new Event('change'))",
    );
    shown(0);
    timed("const v = document.getElementById('view'); v.value = 'all'; v.dispatchEvent(new Event('change'))");
    shown(RECORDS);
    // What deletes stands first.
    assert_eq!(browser.script("return document.querySelector('.record').dataset.n"), "1000");
    timed(
        "const v = document.getElementById('view'); v.value = 'deletions'; v.dispatchEvent(new Event('change'))",
    );
    shown(10);
    let counts = "10000 of 10000 records selected, 10 deletions, 9990 of them not shown";
    assert_eq!(browser.text("#counts"), counts);
    timed("const v = document.getElementById('view'); v.value = 'all'; v.dispatchEvent(new Event('change'))");
    timed("document.getElementById('leave').click()");
    timed("document.getElementById('select').click()");
    timed("document.querySelector('.record input').click()");
    timed("scrollTo(0, document.body.scrollHeight)");
    let started = Instant::now();
    browser.types("#search", "c9999@");
    shown(1);
    println!("searched after {:?}", started.elapsed());
    assert_eq!(
        browser.text("#counts"),
        "9999 of 10000 records selected, 9 deletions, 9998 of them not shown"
    );
}
