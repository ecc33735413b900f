//! Settings, tokens and directories as people have them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use snapbox::str;

use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::Home;
use crate::support::test_env::files_below;

const CUSTOMER: &str = r#"{"id": 7, "email": "a@example.com", "addresses": []}"#;

/// The `Authorization` header of a read by a profile with these settings and this file `secret`.
fn authorization(settings: &str, secret: &str, command: &str) -> String {
    let service = MockServer::start(vec![answer("200 OK", "", CUSTOMER)]);
    let home = Home::new();
    let url = service.url("/rest");
    let config = format!("[profiles.p]\nbase-url = \"{url}\"\nstore-view = \"default\"\n{settings}\n");
    home.write("config.toml", config, 0o600);
    home.write("secret", secret, 0o600);
    let shown = home.run(&format!("-p p {command}"));
    assert_eq!(shown.code, 0, "{shown:?}");
    let request = service.requests().remove(0);
    let header = request.lines().find(|line| line.to_lowercase().starts_with("authorization: ")).unwrap();
    header.split_once(": ").unwrap().1.to_owned()
}

#[test]
fn a_token_file_may_have_a_mark_quotes_and_windows_line_ends() {
    for secret in ["\u{feff}t0ken\r\n", "\"t0ken\"\n", "'t0ken'", "\u{feff}\"t0ken\"\r\n"] {
        assert_eq!(
            authorization("token-file = \"secret\"", secret, "customer show"),
            "Bearer t0ken",
            "{secret:?}"
        );
    }
}

/// As the page of the integration shows them.
#[test]
fn the_file_of_an_integration_may_have_the_titles_of_the_shops_page() {
    let secret = "\u{feff}Consumer Key: ckey\r\nConsumer Secret: csecret\r\nAccess Token: atoken\r\n\
                  Access Token Secret: asecret\r\n";
    let settings = "api = \"magento\"\n[profiles.p.oauth]\nfile = \"secret\"";
    let header = authorization(settings, secret, "customer show --customer 7");
    assert!(
        header.contains("oauth_consumer_key=\"ckey\"") && header.contains("oauth_token=\"atoken\""),
        "{header}"
    );
}

#[cfg(unix)]
#[test]
fn the_first_line_that_a_password_store_prints_is_the_token() {
    let settings = r#"token-command = ["printf", "t0ken\\nuser: me\\nurl: https://shop.example\\n"]"#;
    assert_eq!(authorization(settings, "", "customer show"), "Bearer t0ken");
}

#[test]
fn a_socks_proxy_of_the_environment_is_used() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let greeting = std::thread::spawn(move || {
        let mut first = [0];
        proxy.accept().unwrap().0.read_exact(&mut first).unwrap();
        first[0]
    });
    let home = Home::with_config(
        "[profiles.p]\nbase-url = \"https://shop.invalid/rest\"\nstore-view = \"default\"\ntoken = \"t0ken\"\n",
    );
    let shown = home
        .storefront("-p p customer show --retry 0")
        .env("ALL_PROXY", &format!("socks5h://{address}"))
        .run();
    assert_eq!(shown.code, 5, "{shown:?}");
    // Where it was not asked, nobody else would be.
    let _ = TcpStream::connect(address).and_then(|mut stream| stream.write_all(&[0]));
    // To Windows `all_proxy` is the same variable.
    assert!(shown.stderr.to_ascii_uppercase().contains("VIA ALL_PROXY"), "{shown:?}");
    assert_eq!(greeting.join().unwrap(), 5, "the version of the protocol");
}

#[test]
fn a_base_url_that_no_command_takes_is_not_set() {
    let home = Home::new();
    home.ok("config init -p shop --api magento --base-url https://shop.example/rest");
    let before = home.read("config.toml");
    let hint = str![[r#"
error: the base URL https://shop.example/rest/fr/V1 continues after the root of the REST API
  hint: run `storefront config set -p shop base-url https://shop.example/rest` and `storefront config set -p shop store-view fr`
"#]];
    home.run("config set -p shop base-url https://shop.example/rest/fr/V1").assert_failure(2, hint);
    home.run("config init -p shop --replace --api magento --base-url https://shop.example/rest/fr/V1")
        .assert_failure(
            2,
            str![[r#"
warning: the base URL has no `/rest` at its end, where a Magento shop has its interface
error: the base URL https://shop.example/rest/fr/V1 continues after the root of the REST API
  hint: end --base-url with the root of the API, and name a store view with --store-view
"#]],
        );
    assert_eq!(home.read("config.toml"), before);
    // To the marketplace's interface it is a path as any other.
    home.ok("config set -p shop api marketplace");
    home.ok("config set -p shop base-url https://shop.example/rest/fr/V1");
    assert_eq!(home.run("config set -p shop api magento").code, 2);
}

#[test]
fn a_whole_profile_is_removed_only_with_a_yes() {
    let home = Home::new();
    home.ok("config init -p shop --api magento --base-url https://shop.example/rest");
    home.run("config unset profiles.shop").assert_failure(
        3,
        str![[r#"
error: cannot ask `Remove profiles.shop with its 2 settings? This cannot be undone`: not a terminal
  hint: add --yes
"#]],
    );
    home.ok("config unset profiles.shop.api");
    home.ok("config unset profiles.shop --yes");
    assert!(!home.read("config.toml").contains("shop.example"));
}

/// What a job keeps must not get lost in a directory that nobody looks into.
#[cfg(unix)]
#[test]
fn without_a_home_that_exists_nothing_is_kept_anywhere() {
    let home = Home::new();
    let nowhere = home.dir.path().join("nowhere");
    let run = |set: Option<&str>| {
        let run = home.storefront("--sandbox customer update --gender 3");
        let run = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"]
            .iter()
            .fold(run, |run, name| run.without(name));
        match set {
            Some(set) => run.env("HOME", set),
            None => run.without("HOME"),
        }
    };
    run(nowhere.to_str()).run().assert_failure(
        2,
        str![[r#"
error: the home directory `[HOME]/nowhere` does not exist
  hint: set HOME, or XDG_CONFIG_HOME, XDG_DATA_HOME and XDG_STATE_HOME
"#]],
    );
    assert!(!nowhere.exists());
    let unset = run(None).run();
    assert_eq!(unset.code, 2, "{unset:?}");
    assert!(unset.stderr.contains("error: home directory unknown"), "{unset:?}");
    // All three directories are enough.
    let named =
        home.storefront("--sandbox customer update --gender 3").env("HOME", nowhere.to_str().unwrap()).run();
    assert_eq!((named.code, nowhere.exists()), (0, false), "{named:?}");
    assert!(!files_below(&home.state()).is_empty());
}
