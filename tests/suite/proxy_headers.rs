//! Headers of a profile, for a proxy in front of the shop: sent with every call to its host, and shown nowhere.

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::Home;

const SECRETS: [&str; 4] = ["in-the-profile", "in-a-variable", "in-a-file", "printed-by-it"];

const PROFILE: &str = "base-url = \"URL\"\nstore-view = \"default\"\n[profiles.shop.headers]\n\
    X-Text = \"in-the-profile\"\nX-Variable = { env = \"PROXY_SECRET\" }\nX-File = { file = \"header.txt\" }\n\
    X-Command = { command = [\"/bin/sh\", \"-c\", \"echo printed-by-it; echo more\"] }\n";

fn home(url: &str) -> Home {
    let config = format!("default-profile = \"shop\"\n[profiles.shop]\n{}", PROFILE.replace("URL", url));
    let home = Home::with_config(&config);
    home.write("header.txt", "in-a-file\n", 0o600);
    home
}

fn echo() -> Vec<Step> {
    vec![answer(
        "400 Bad Request",
        "X-Echo: in-the-profile\r\n",
        &format!(r#"{{"message":"{}"}}"#, SECRETS.join(" ")),
    )]
}

#[test]
fn they_are_sent_with_each_call_and_masked() {
    for line in ["customer show", "customer show -vv", "api GET /V1/x -o json -vv"] {
        let server = MockServer::start(echo());
        let home = home(&server.url(""));
        let outcome = home
            .storefront(line)
            .env("STOREFRONT_TOKEN", "token-of-a-customer")
            .env("PROXY_SECRET", "in-a-variable")
            .run();
        let sent = &server.requests()[0].to_ascii_lowercase();
        for (name, value) in ["x-text", "x-variable", "x-file", "x-command"].iter().zip(SECRETS) {
            assert!(sent.contains(&format!("{name}: {value}\r\n")), "{sent}");
            let shown = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(!shown.contains(value) && shown.contains("•••"), "{shown}");
        }
    }
}

#[test]
fn they_do_not_go_to_another_host() {
    let server = MockServer::start(echo());
    let home = home("https://shop.example");
    let outcome = home
        .storefront("customer show")
        .env("STOREFRONT_BASE_URL", &server.url(""))
        .env("STOREFRONT_TOKEN", "token-of-a-customer")
        .run();
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(!server.requests()[0].to_ascii_lowercase().contains("x-text"), "{:?}", server.requests());
}

#[test]
fn one_that_is_not_there_stops_the_command() {
    let server = MockServer::start(echo());
    let home = home(&server.url(""));
    let outcome = home.storefront("customer show").env("STOREFRONT_TOKEN", "token-of-a-customer").run();
    assert_eq!((outcome.code, server.requests().len()), (2, 0), "{outcome:?}");
    let expected =
        "the environment variable PROXY_SECRET (headers.x-variable of profile shop) is empty or not there";
    assert!(outcome.stderr.contains(expected), "{outcome:?}");
}

#[test]
fn the_configuration_shows_where_they_are_and_not_what_they_are() {
    let home = home("https://shop.example");
    for line in ["config list", "config list -o json", "config get headers", "config get headers.X-Text"] {
        let outcome = home.run(line);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(!outcome.stdout.contains("in-the-profile") && outcome.stdout.contains("•••"), "{outcome:?}");
    }
    let set = home.run("config set headers.X-Other other-text");
    assert_eq!(set.code, 0, "{set:?}");
    for name in ["Authorization", "host", "Content-Type", "Proxy-Authorization", "Cookie2", "'a b'"] {
        let outcome = home.run(format!("config set headers.\"{name}\" text").as_str());
        assert_eq!(outcome.code, 2, "{name}: {outcome:?}");
    }
}
