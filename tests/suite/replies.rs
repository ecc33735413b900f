//! Replies that do not say what their status says: errors under 200, refusals after a save, notices around the JSON.

use serde_json::{Value, json};

use crate::support::magento;
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::scripted::{against, failing, ok};
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve};

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn an_error_under_200_is_no_success_of_an_update() {
    for (fault, code) in [
        ("error-under-200=message", 8),
        ("error-under-200=code", 8),
        ("error-under-200=messages", 8),
        ("error-under-200=false", 8),
        ("error-under-200-after-commit=message", 0),
    ] {
        let env = TestEnv::with_faults(&[&format!("PUT:{fault}")]);
        let before = env.address(1)["city"].clone();
        let outcome =
            magento::run(&env, "customer update --customer 1 --address 1 --city Rome --settle 0 -y");
        assert_eq!(outcome.code, code, "{fault}: {outcome:?}");
        assert_eq!(env.address(1)["city"], if code == 0 { "Rome".into() } else { before }, "{fault}");
        if code == 8 {
            assert_eq!(outcome.error()["applied"], "unknown", "{fault}: {outcome:?}");
        }
    }
}

#[test]
fn an_item_is_not_added_by_an_error_under_200() {
    for body in [
        r#"{"message": "No."}"#,
        r#"{"code": 500, "result": "No."}"#,
        r#"{"messages": {"error": [{"message": "No."}]}}"#,
        "false",
    ] {
        let steps = vec![ok(&json!({"id": 7, "items": []})), answer("200 OK", JSON, body)];
        let (code, error, _) = failing(steps, "quote add-item --api magento --quote-id 7 --sku mug --qty 1");
        assert_eq!((code, &error["applied"]), (8, &Value::from("unknown")), "{body}: {error}");
    }
}

/// The marketplace does not show its replies: only what can be nothing but an error is one.
#[test]
fn a_reply_that_is_not_shown_is_an_error_only_where_it_says_so() {
    let line = "quote add-item --quote-id 7 --sku mug --qty 1";
    for (body, is_error) in [
        (r#"{"code": 500, "result": "No."}"#, true),
        (r#"{"code": "404", "message": "No."}"#, true),
        (r#"{"messages": {"error": [{"code": 500, "message": "No."}]}}"#, true),
        (r#"{"message": "No.", "errors": [{"message": "No."}]}"#, true),
        (r#"{"message": "Added."}"#, false),
        (r#"{"code": 200, "result": "Added."}"#, false),
        ("{}", false),
        ("true", false),
    ] {
        let (outcome, _) = against(vec![answer("200 OK", JSON, body)], line);
        assert_eq!(outcome.code, if is_error { 8 } else { 0 }, "{body}: {outcome:?}");
    }
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn raw(headers: &str, body: &[u8]) -> Step {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\n\r\n");
    Step::Answer([head.as_bytes(), body].concat())
}

#[test]
fn what_is_not_json_is_no_success_of_a_write() {
    let page = "<html><title>Sign in</title></html>";
    for (kind, body) in [
        (JSON, utf16(page)),
        (JSON, [b"\xff\xfe".to_vec(), utf16(page)].concat()),
        (JSON, format!("\u{a0}{page}").into_bytes()),
        (JSON, [b"\xa0".to_vec(), page.into()].concat()),
        ("Content-Type: text/plain\r\n", b"Service temporarily unavailable".to_vec()),
    ] {
        for api in ["", "--api magento"] {
            let steps = match api {
                "" => vec![raw(kind, &body)],
                _ => vec![ok(&json!({"id": 7, "items": []})), raw(kind, &body)],
            };
            let line = format!("quote add-item {api} --quote-id 7 --sku mug --qty 1");
            let (code, error, _) = failing(steps, &line);
            assert_eq!((code, &error["applied"]), (8, &Value::from("unknown")), "{api} {kind}: {error}");
        }
    }
}

#[test]
fn an_addition_that_answers_with_another_sku_is_unknown() {
    let cart = ok(&json!({"id": 7, "items": []}));
    let line = "quote add-item --api magento --quote-id 7 --sku mug --qty 1";
    let other = ok(&json!({"item_id": 3, "sku": "hat", "qty": 1, "quote_id": "7"}));
    let (code, error, _) = failing(vec![cart.clone(), other], line);
    assert_eq!((code, &error["applied"]), (8, &Value::from("unknown")), "{error}");
    for own in ["mug", "MUG", "mug-red"] {
        let own = ok(&json!({"item_id": 3, "sku": own, "qty": 1, "quote_id": "7"}));
        let (outcome, _) = against(vec![cart.clone(), own], line);
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }
}

#[test]
fn a_mark_and_what_the_shop_prints_around_its_json_are_skipped() {
    let profile = r#"{"id": 1, "email": "a@example.com", "addresses": [{"id": 1, "city": "Rome"}]}"#;
    let notice = "\nWarning: Undefined array key [2] in /var/www/a.php on line 12\n";
    for (body, is_noted) in [
        (format!("\u{feff}{profile}"), false),
        (format!("{notice}{profile}"), true),
        (format!("{profile}{notice}"), true),
    ] {
        let (outcome, _) = against(vec![raw(JSON, body.as_bytes())], "customer show --api magento");
        assert_eq!(outcome.code, 0, "{body}: {outcome:?}");
        let is_said = outcome.stderr.contains("around its JSON");
        assert_eq!(is_said, is_noted, "{body}: {outcome:?}");
        assert!(!outcome.stderr.contains("var/www"), "{outcome:?}");
    }
    for broken in [format!("{notice}{}", &profile[..60]), format!("{}{notice}", &profile[..60])] {
        let (code, error, _) = failing(vec![raw(JSON, broken.as_bytes())], "customer show --api magento");
        assert_eq!(code, 3, "{error}");
    }
}

/// Nothing that is read is taken from what is not the service's JSON, and nothing of it is quoted.
#[test]
fn what_is_not_json_is_nothing_that_was_read() {
    let page = "<html><title>Sign in</title></html>";
    let customer = r#"{"id": 1, "email": "jane@example.com", "addresses": [{"id": 1, "city": "Rome"}]}"#;
    let text = "Content-Type: text/plain\r\n";
    for (kind, body, said) in [
        (JSON, utf16(page), "an HTML page"),
        (JSON, format!("\u{a0}{page}").into_bytes(), "an HTML page"),
        ("Content-Type: text/html\r\n", customer.into(), "an HTML page"),
        (text, b"Service temporarily unavailable".to_vec(), "a body that is not JSON"),
        (JSON, customer[..60].into(), "a body that is not JSON"),
        (JSON, b" \n".to_vec(), "an empty body"),
        (JSON, br#"{"message": "It is down."}"#.to_vec(), "an error under 200 OK: It is down"),
        (JSON, b"false".to_vec(), "an error under 200 OK: false"),
    ] {
        for line in [
            "customer show",
            "customer show --customer 1",
            "customer show --customer a@example.com",
            "customer find jane",
            "quote show",
            "quote show --customer 1",
            "quote methods",
            "attribute show color",
            "attribute create --code fabric --label Fabric --type text",
            "attribute assign color --set Default",
            "attribute option add color --option Teal",
            "quote add-item --sku mug --qty 1 --quote-id 7",
            "customer update --customer 1 --address 1 --city Oslo --yes",
        ] {
            let steps = vec![raw(kind, &body)];
            let (code, error, _) = failing(steps, &format!("{line} --api magento --retry 0"));
            assert!(matches!(code, 3 | 5), "{line}: {error}");
            assert_eq!(error["applied"], "no", "{line}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(said) && !error.to_string().contains("jane@"), "{line}: {error}");
            let hint = error["hint"].as_str().unwrap();
            assert_eq!(hint.contains("firewall"), said == "an HTML page", "{line}: {error}");
        }
    }
}

/// Elements that are no objects are left as they are; what has no code is no attribute.
#[test]
fn an_attribute_of_another_shape_is_shown_or_refused() {
    let views = json!([{"id": 0, "code": "admin"}, {"id": 1, "code": "default"}]);
    let red = json!({"label": "Red", "value": "1"});
    let attribute =
        json!({"attribute_code": "color", "frontend_labels": [7, null], "options": [true, red, "Blue"]});
    let own = json!({"options": [{"label": "Rouge", "value": "1"}]});
    for (reply, code, shown) in [(attribute, 0, "Rouge"), (json!([7]), 5, ""), (json!(true), 5, "")] {
        let server = MockServer::start(vec![ok(&reply), ok(&views), ok(&own)]);
        let outcome =
            serve(Home::new().storefront("attribute show color --api magento"), &server.url("")).run();
        assert_eq!(outcome.code, code, "{reply}: {outcome:?}");
        assert!(outcome.stdout.contains(shown), "{reply}: {outcome:?}");
    }
}

#[test]
fn a_page_that_refuses_says_nothing_of_the_token() {
    let page =
        |status: &str| answer(status, "Content-Type: text/html\r\n", "<html><title>Blocked</title></html>");
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let (code, error, _) = failing(vec![page(status)], "customer show --api magento");
        assert_eq!(code, 6, "{error}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("firewall") && !hint.contains("token"), "{error}");
        let (outcome, _) = against(vec![page(status)], "doctor --api magento");
        assert!(outcome.stdout.contains("firewall") && !outcome.stdout.contains("renew"), "{outcome:?}");
    }
    // The service itself speaks of the token.
    for body in ["", r#"{"message": "The consumer isn't authorized to access %resources."}"#] {
        let (_, error, _) =
            failing(vec![answer("401 Unauthorized", JSON, body)], "customer show --api magento");
        assert!(error["hint"].as_str().unwrap().contains("token"), "{error}");
    }
}

#[test]
fn an_error_under_200_is_no_profile() {
    let steps = vec![answer("200 OK", JSON, r#"{"message": "It is %1.", "parameters": ["down"]}"#)];
    let (code, error, methods) =
        failing(steps, "customer update --api magento --address 1 --city Rome --yes");
    assert_eq!((code, methods.len()), (3, 1), "{error}");
    assert!(error["message"].as_str().unwrap().contains("It is down"), "{error}");
}

/// A shop saves the profile, and fails at the email that it sends afterwards.
#[test]
fn a_refusal_after_the_save_is_a_mismatch_that_can_be_restored() {
    for status in ["400", "404", "409", "422", "501"] {
        let env = TestEnv::with_faults(&[&format!("PUT:reject-after-commit={status}x1")]);
        let outcome = magento::run(&env, "customer update --customer 1 --address 1 --city Rome -y");
        assert_eq!(outcome.code, 9, "{status}: {outcome:?}");
        let error = outcome.error();
        assert_eq!(error["applied"], "unknown", "{error}");
        assert!(error["message"].as_str().unwrap().contains("refused"), "{error}");
        assert_eq!(env.address(1)["city"], "Rome");
        let history = magento::run(&env, "history --customer 1");
        assert!(history.stdout.contains("mismatch"), "{history:?}");
        magento::done(&env, "undo LAST --customer 1 -y");
        assert_ne!(env.address(1)["city"], "Rome");
    }
}

#[test]
fn a_refusal_that_is_one_stays_a_refusal() {
    let stored = json!({"id": 1, "email": "a@example.com", "addresses": [{"id": 1, "city": "Rome"}]});
    let refused = answer("400 Bad Request", JSON, r#"{"message": "No."}"#);
    let line = "customer update --api magento --customer 1 --address 1 --city Oslo --yes";
    let (code, error, methods) = failing(vec![ok(&stored), refused.clone(), ok(&stored)], line);
    assert_eq!((code, &error["applied"]), (4, &Value::from("no")), "{error}");
    assert_eq!(methods, ["GET", "PUT", "GET"]);
    // It cannot be read: that is said.
    let lost = answer("503 Service Unavailable", "", "");
    let (outcome, _) = against(vec![ok(&stored), refused, lost], &format!("{line} --retry 0"));
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.stderr.contains("could not be read"), "{outcome:?}");
}

#[test]
fn a_refused_addition_that_the_cart_shows_is_a_mismatch() {
    let env = TestEnv::with_faults(&["POST:reject-after-commit=400x1"]);
    let outcome = magento::run(&env, "quote add-item --sku mug-blue --qty 2 --verify");
    assert_eq!(outcome.code, 9, "{outcome:?}");
    let error = outcome.error();
    assert_eq!(error["applied"], "unknown", "{error}");
    assert!(error["message"].as_str().unwrap().contains("refused, but saved: "), "{error}");
    // What was read before it was sent is enough.
    let env = TestEnv::with_faults(&["POST:reject-after-commit=400x1"]);
    let outcome = magento::run(&env, "quote add-item --sku mug-blue --qty 2 --quote-id 1");
    assert_eq!((outcome.code, &outcome.error()["applied"]), (9, &Value::from("unknown")), "{outcome:?}");
    assert!(outcome.error()["hint"].as_str().unwrap().contains("before you try again"), "{outcome:?}");
    // What was not read before proves nothing.
    let env = TestEnv::with_faults(&["POST:reject-after-commit=400@50:seed=97"]);
    let outcome = magento::run(&env, "quote add-item --sku mug-blue --qty 2");
    assert_eq!((outcome.code, &outcome.error()["applied"]), (4, &Value::from("unknown")), "{outcome:?}");
}

#[test]
fn a_refused_option_that_the_attribute_shows_is_a_mismatch() {
    let env = TestEnv::with_faults(&["POST:reject-after-commit=422x1"]);
    let outcome = magento::run(&env, "attribute option add color --option Teal");
    assert_eq!(outcome.code, 9, "{outcome:?}");
    let error = outcome.error();
    assert_eq!((&error["applied"], &error["calls"][0]["applied"]), (&"unknown".into(), &"unknown".into()));
    magento::done(&env, "attribute option add color --option Teal");
}

/// The journal says how certain it was.
#[test]
fn what_was_unknown_stays_unknown_when_the_batch_is_resumed() {
    let env = TestEnv::with_faults(&["PUT:reject-after-commit=400x1"]);
    env.file("a.csv", "customer,address_id,city\n1,1,Oslo\n1,2,Bergen\n");
    let first = magento::run(&env, "customer update -i a.csv --jobs 1");
    let again = magento::run(&env, "customer update -i a.csv --jobs 1 --resume");
    // The next record of the customer was held up by the first run only.
    assert_eq!(again.stdout.matches(r#""applied":"yes""#).count(), 1, "{again:?}");
    for outcome in [first, again] {
        let line: Value = serde_json::from_str(outcome.stdout.lines().next().unwrap_or("null")).unwrap();
        assert_eq!((outcome.code, &line["applied"]), (9, &json!("unknown")), "{outcome:?}");
    }
}
