//! The sandbox's rules, one table of requests and answers for each part of an interface: `tests/sandbox`.
//!
//! A line is one of these; one that begins with a blank continues the line before it, and `#` begins a
//! comment:
//!
//! - `$NAME = TEXT`: from here on `$NAME` is that text.
//! - `= TITLE`: what follows is asked of a new sandbox. A part with `$WAY` is run twice: for the first customer's own
//!   profile, and for the same by an administrator.
//! - `METHOD WHO PATH [BODY]`: a request; `WHO` is `admin`, `nobody`, or a customer's number. `SHOW` asks what the
//!   sandbox holds, and `SQL STATEMENT` changes it behind its back.
//! - `STATUS [EXPECTED]`: what is answered. Of an object the members that are named, of a list every element; null is
//!   null or absent. A text with a status from 400 on is a refusal's message, and what follows it are its parameters.

use std::path::Path;

use serde_json::Value;

use crate::support::raw_http::Sandbox;

const WAYS: [&str; 2] = ["1 /rest/V1/customers/me", "admin /rest/V1/customers/1"];

/// Runs a table; each of its lines is named where it fails.
fn run(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut names: Vec<(String, String)> = Vec::new();
    let mut parts: Vec<Vec<(usize, String)>> = vec![Vec::new()];
    for (number, line) in lines(&text) {
        let line = names.iter().rev().fold(line, |line, (name, text)| line.replace(name.as_str(), text));
        if let Some((name, text)) = line.split_once(" = ").filter(|_| line.starts_with('$')) {
            names.push((name.to_owned(), text.to_owned()));
        } else if line.starts_with("= ") {
            parts.push(Vec::new());
        } else {
            parts.last_mut().unwrap().push((number, line));
        }
    }
    let mut answers = 0;
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let ways = if part.iter().any(|(_, line)| line.contains("$WAY")) { &WAYS[..] } else { &[""] };
        for way in ways {
            let sandbox = Sandbox::new();
            let mut answer = None;
            for (number, line) in part {
                let line = line.replace("$WAY", way);
                let place = format!("{name}:{number}: {line}");
                if line.starts_with(|first: char| first.is_ascii_digit()) {
                    check(&line, answer.as_ref().unwrap_or_else(|| panic!("{place}")), &place);
                    answers += 1;
                } else {
                    answer = Some(ask(&sandbox, &line, &place));
                }
            }
        }
    }
    assert!(answers > 20, "{answers} answers");
}

/// The lines with their numbers, continued ones in one.
fn lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        match lines.last_mut() {
            Some((_, before)) if line.starts_with(' ') => before.push_str(line),
            _ if line.starts_with('#') => {}
            _ => lines.push((number + 1, line.to_owned())),
        }
    }
    lines
}

fn ask(sandbox: &Sandbox, line: &str, place: &str) -> (u16, String) {
    if line == "SHOW" {
        return (200, sandbox.show().to_string());
    }
    if let Some(statement) = line.strip_prefix("SQL ") {
        sandbox.sql(statement);
        return (0, String::new());
    }
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().unwrap_or_else(|| panic!("{place}: a word is missing"));
    let (method, who, path) = (word(), word(), word());
    assert!(["GET", "PUT", "POST", "DELETE"].contains(&method), "{place}");
    let token = match who {
        "admin" => "sandbox-admin".to_owned(),
        "nobody" => "nobody".to_owned(),
        customer => format!("sandbox-customer-{}", customer.parse::<u8>().unwrap()),
    };
    let answer = sandbox.call(&token, method, path, words.next().unwrap_or_default());
    (answer.status, answer.body)
}

fn check(line: &str, (status, body): &(u16, String), place: &str) {
    let (expected, rest) = line.split_once(' ').unwrap_or((line, ""));
    assert_eq!(status.to_string(), expected, "{place}: {body}");
    let values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let values: Vec<Value> =
        values.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{place}: {error}"));
    let body =
        || serde_json::from_str::<Value>(body).unwrap_or_else(|error| panic!("{place}: {error}: {body}"));
    match &values[..] {
        [] => {}
        [Value::String(message), parameters @ ..] if *status >= 400 => {
            let mut refusal = serde_json::json!({"message": message});
            if let [parameters] = parameters {
                refusal["parameters"] = parameters.clone();
            }
            assert_eq!(body(), refusal, "{place}");
        }
        [expected] => assert!(fits(expected, &body()), "{place}: {}", body()),
        _ => panic!("{place}: one value"),
    }
}

fn fits(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().all(|(name, expected)| fits(expected, found.get(name).unwrap_or(&Value::Null)))
        }
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(one, other)| fits(one, other))
        }
        _ => expected == found,
    }
}

#[test]
fn marketplace() {
    run("marketplace.txt");
}

#[test]
fn magento_profiles() {
    run("magento-profiles.txt");
}

#[test]
fn magento_addresses() {
    run("magento-addresses.txt");
}

#[test]
fn magento_carts() {
    run("magento-carts.txt");
}

#[test]
fn magento_attributes() {
    run("magento-attributes.txt");
}

#[test]
fn magento_products() {
    run("magento-products.txt");
}

#[test]
fn magento_orders() {
    run("magento-orders.txt");
}
