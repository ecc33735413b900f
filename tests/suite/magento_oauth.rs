//! An integration's four values: kept, masked, signed with, and what is said where the shop refuses them.

use crate::support::doctor::{QUICK, examine};
use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;
use storefront_sandbox::Version;

const VALUES: &str = "consumer-key=sandbox-consumer-key\nconsumer-secret=sandbox-consumer-secret\n\
                      token=sandbox-token\ntoken-secret=sandbox-token-secret\n";

fn profile(env: &TestEnv, more: &str) -> Home {
    Home::with_config(&format!(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{}/rest\"\napi = \"magento\"\n{more}",
        env.url()
    ))
}

fn login(home: &Home, values: &str) -> Outcome {
    home.storefront("auth login --oauth -vv").stdin(values).run()
}

fn secrets_in(text: &str) -> Vec<&str> {
    VALUES.lines().filter_map(|line| line.split('=').nth(1)).filter(|value| text.contains(value)).collect()
}

#[test]
fn an_integration_reads_and_writes_like_an_administrator() {
    let env = TestEnv::new();
    let home = profile(&env, "");
    let saved = login(&home, VALUES);
    assert_eq!((saved.code, secrets_in(&saved.stderr)), (0, vec![]), "{saved:?}");
    assert_eq!(home.mode("credentials.toml"), 0o600);
    home.ok("customer update --customer 2 --lastname Sato -y -q");
    assert!(home.ok("customer show --customer 2 -q -o json").contains("Sato"));
    home.write(
        "records.ndjson",
        "{\"customer\":2,\"firstname\":\"A\"}\n{\"customer\":3,\"firstname\":\"B\"}\n",
        0o600,
    );
    let records = home.path("records.ndjson");
    home.ok(&format!("customer update -i {} -q -o json", records.display()));
    let odd = "api GET /V1/customers/search?searchCriteria[pageSize]=2&searchCriteria[currentPage]=1&q=a+b%26é --admin -q";
    assert!(home.ok(odd).contains("total_count"));
    let shown = home.run("auth status -vv");
    assert_eq!((shown.code, secrets_in(&format!("{shown:?}"))), (0, vec![]), "{shown:?}");
    let detail = shown.stdout.lines().find(|line| line.starts_with("admin token")).unwrap();
    assert!(
        detail.contains("auth login --oauth of profile shop; requests are signed (OAuth 1.0a)"),
        "{detail}"
    );
    assert!(shown.stdout.contains("none; not needed for customers named by --customer"), "{shown:?}");
    let own = home.run("api GET /V1/customers/1");
    assert_eq!(own.code, 6, "{own:?}");
    assert!(own.stderr.contains("hint: add --admin; for a call with a customer's token: run"), "{own:?}");
    let gone = home.run("auth logout");
    assert!(gone.stderr.contains("deleted the admin token of profile `shop`"), "{gone:?}");
    assert_eq!(home.run("customer show --customer 2").code, 6);
}

#[test]
fn a_file_or_a_command_of_the_profile_gives_the_values() {
    let env = TestEnv::new();
    let home = profile(&env, "[profiles.shop.oauth]\nfile = \"keys\"\n");
    home.write("keys", VALUES, 0o600);
    home.ok("customer show --customer 2 -q");
    let printed = profile(&env, &format!("[profiles.shop.oauth]\ncommand = [\"printf\", {VALUES:?}]\n"));
    printed.ok("customer show --customer 2 -q");
    home.write("keys", VALUES, 0o644);
    assert_eq!(home.run("customer show --customer 2 -q").code, 2);
}

/// The shop of 2.4.8 sorts the names of a signed request by their bytes, older ones in natural order.
#[test]
fn a_read_is_signed_in_the_order_of_the_shop() {
    let filters = (0..11).map(|group| {
        let name = format!("searchCriteria[filter_groups][{group}][filters][0]");
        format!("{name}[field]=email&{name}[value]=%25a%25&{name}[condition_type]=like")
    });
    let filters = filters.collect::<Vec<_>>().join("&");
    for (version, requests) in [(Version::V247, 1), (Version::V248, 2)] {
        let env = TestEnv::with_options(|options| options.emulation.version = version);
        let home = profile(&env, "");
        assert_eq!(login(&home, VALUES).code, 0);
        env.requests();
        let path = format!("/V1/customers/search?searchCriteria[pageSize]=5&{filters}");
        let read = home.run(&["api", "GET", &path, "--admin", "--jq", ".total_count"]);
        assert_eq!((read.code, read.stdout.trim()), (0, "6"), "{version:?}: {read:?}");
        assert_eq!(env.requests().len(), requests, "{version:?}");
        home.ok("customer find a b c d e f g h i j k -q");
    }
}

/// 2.4.8 signs the path as it was sent, older shops that of laminas-uri, in which `%2f` is a slash.
#[test]
fn a_read_of_a_path_with_escapes_is_signed_as_the_shop_does() {
    for (version, requests) in [(Version::V247, 1), (Version::V248, 2)] {
        let env = TestEnv::with_options(|options| options.emulation.version = version);
        let home = profile(&env, "");
        assert_eq!(login(&home, VALUES).code, 0);
        env.requests();
        let read = home.run("api GET /V1/products/attributes/a%2fb! --admin");
        assert_eq!((read.code, read.stderr.contains("404")), (4, true), "{version:?}: {read:?}");
        assert_eq!(env.requests().len(), requests, "{version:?}");
    }
}

/// A signature serves once: a curl command with one, or with a bearer token, would be refused.
#[test]
fn a_signed_request_has_no_curl_command() {
    let env = TestEnv::new();
    let home = profile(&env, "");
    assert_eq!(login(&home, VALUES).code, 0);
    let line = "customer update --customer 2 --lastname Sato -n -q";
    let curl = "# an integration signs each request with a new nonce: no curl command can send this one\n";
    assert_eq!(home.ok(&format!("{line} --curl")), curl);
    assert_eq!(home.ok(&format!("{line} --curl -o json --jq .request.curl")), curl);
}

/// A wrong clock is told from a wrong secret, each with what to correct; no login is suggested that the settings refuse.
#[test]
fn doctor_names_a_wrong_clock_and_a_wrong_secret() {
    let refused = |message: &str| answer("401 Unauthorized", "", &format!("{{\"message\": \"{message}\"}}"));
    for (message, named, other) in [
        ("An error occurred validating the nonce", "set this machine's clock", "secret"),
        ("The signature is invalid. Verify and try again.", "check the consumer secret", "clock"),
        ("A consumer with this key does not exist.", "correct the four values", "auth login"),
    ] {
        let shop = MockServer::start(vec![refused(message); 4]);
        let home = Home::with_config(&format!(
            "[profiles.shop]\nbase-url = {:?}\napi = \"magento\"\n[profiles.shop.oauth]\nfile = \"keys\"\n",
            shop.url("/rest")
        ));
        home.write("keys", VALUES, 0o600);
        let found = examine(home.storefront(&[&QUICK[..], &["-p", "shop"]].concat()));
        let (state, detail, fix) = found.check("admin token");
        assert_eq!((found.code, state), (6, "failed"), "{}", found.report);
        assert!(
            detail.contains(message.trim_end_matches('.')) && fix.contains(named) && !fix.contains(other),
            "{}",
            found.report
        );
    }
}

#[test]
fn a_wrong_secret_is_not_kept_and_sign_port_is_named() {
    let env = TestEnv::new();
    let home = profile(&env, "sign-port = false\n");
    for values in [VALUES.replace("token-secret=sandbox", "token-secret=other"), VALUES.to_owned()] {
        let refused = login(&home, &values);
        assert_eq!(refused.code, 6, "{refused:?}");
        assert!(
            refused.stderr.contains("consumer secret") && refused.stderr.contains("sign-port"),
            "{refused:?}"
        );
        assert!(!home.path("credentials.toml").exists());
    }
    let partly = login(&home, "consumer-key=a\ntoken=b\n");
    assert_eq!(partly.code, 2, "{partly:?}");
}

/// Up to ten filter groups both orders of names are one. A search of our own has no names that differ in them.
#[test]
fn a_read_refused_for_its_signature_is_signed_once_more_in_the_order_of_newer_versions() {
    let message = "{\"message\": \"The signature is invalid. Verify and try again.\"}";
    let refused = || answer("401 Unauthorized", "", message);
    let found = || answer("200 OK", "", "{}");
    let path = |groups: usize| {
        let filters =
            (0..groups).map(|it| format!("searchCriteria[filter_groups][{it}][filters][0][field]=sku"));
        format!("/V1/products?{}", filters.collect::<Vec<_>>().join("&"))
    };
    for (line, second, expected) in [
        (format!("api GET {} --admin", path(11)), found(), (0, 2)),
        (format!("api GET {} --admin", path(11)), refused(), (6, 2)),
        (format!("api GET {} --admin", path(10)), found(), (6, 1)),
        (format!("api DELETE {} --admin -y", path(11)), found(), (6, 1)),
        ("customer find a b c d e f g h i j k".to_owned(), found(), (6, 1)),
    ] {
        let shop = MockServer::start(vec![refused(), second]);
        let home = Home::with_config(&format!(
            "default-profile = \"shop\"\n[profiles.shop]\nbase-url = {:?}\napi = \"magento\"\n\
             [profiles.shop.oauth]\nfile = \"keys\"\n",
            shop.url("/rest")
        ));
        home.write("keys", VALUES, 0o600);
        let words: Vec<&str> = line.split(' ').collect();
        let code = home.storefront(&words).run().code;
        assert_eq!((code, shop.requests().len()), expected, "{line}");
    }
}
