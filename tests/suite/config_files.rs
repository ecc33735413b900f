//! The files of configuration and tokens: concurrent changes are all kept, and a file that others can change is refused.

use std::os::unix::fs::{chown, symlink};
use std::process::{Child, Stdio};

use snapbox::str;

use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

/// How many processes change one file at once.
const PROCESSES: usize = 20;

const SHOP: &str = "[profiles.shop]\nbase-url = \"http://127.0.0.1:1\"\n";

fn wait_for_all(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Changes the owner of a file, which only root can do.
fn change_owner(path: &std::path::Path) -> bool {
    chown(path, Some(12345), Some(12345)).is_ok()
}

#[test]
fn settings_changed_by_many_processes_at_once_are_all_kept() {
    let home = Home::with_config("# ours\n[profiles.shop]\n");
    let set = |number: usize| {
        let key = format!("profiles.p{number}.base-url");
        home.storefront(&["config", "set", &key, &format!("https://p{number}.example")]).spawn()
    };
    wait_for_all((0..PROCESSES).map(set).collect());
    let text = home.read("config.toml");
    for number in 0..PROCESSES {
        let profile = format!("[profiles.p{number}]\nbase-url = \"https://p{number}.example\"\n");
        assert!(text.contains(&profile), "{number}: {text}");
    }
    assert!(text.starts_with("# ours\n"), "{text}");
    assert_eq!(home.mode("config.toml"), 0o600);
}

#[test]
fn tokens_stored_by_many_processes_at_once_are_all_kept() {
    let profiles: Vec<String> = (0..PROCESSES)
        .map(|number| format!("[profiles.p{number}]\nbase-url = \"http://127.0.0.1:1\"\n"))
        .collect();
    let home = Home::with_config(&profiles.concat());
    let login = |number: usize| {
        let script = format!("echo token-of-{number} | \"$@\"");
        let mut shell = home.command("sh");
        let program = env!("CARGO_BIN_EXE_storefront");
        shell.args([
            "-c",
            &script,
            "sh",
            program,
            "auth",
            "login",
            "--with-token",
            "-p",
            &format!("p{number}"),
        ]);
        shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    wait_for_all((0..PROCESSES).map(login).collect());
    let text = home.read("credentials.toml");
    for number in 0..PROCESSES {
        assert!(text.contains(&format!("\"token-of-{number}\"")), "{number}: {text}");
    }
    assert_eq!(home.mode("credentials.toml"), 0o600);
}

/// Profiles of one name in two configurations are two profiles.
#[test]
fn each_configuration_has_its_own_stored_tokens() {
    let env = TestEnv::new();
    let profile = format!("[profiles.shop]\nbase-url = \"{}\"\nstore-view = \"default\"\n", env.url());
    let home = Home::with_config(&format!("default-profile = \"shop\"\n{profile}"));
    let other = home.dir.path().join("ci.toml");
    std::fs::write(&other, format!("default-profile = \"shop\"\n{profile}")).unwrap();
    let (main, other) = (home.path("config.toml"), other.display().to_string());
    let run = |config: &str, line: &str, stdin: &str| {
        home.storefront(line).env("STOREFRONT_CONFIG", config).stdin(stdin).run()
    };
    for (config, token) in [("", "sandbox-customer-1"), (&*other, "sandbox-customer-2")] {
        assert_eq!(run(config, "auth status", "").code, 6, "{config}");
        assert_eq!(run(config, "auth login --with-token", token).code, 0, "{config}");
    }
    let customer = |config: &str| run(config, "customer show --jq .id", "").stdout;
    assert_eq!((customer("").as_str(), customer(&other).as_str()), ("1\n", "2\n"));
    assert_eq!(customer(&main.display().to_string()), "1\n");
    assert_eq!(run(&other, "auth logout", "").code, 0);
    assert_eq!((customer("").as_str(), customer(&other).as_str()), ("1\n", ""));
}

#[test]
fn a_change_keeps_comments_and_line_endings() {
    let before = "\u{feff}# ours\r\n[profiles.shop] # Paris\r\nretry = 1 # few\r\n";
    let home = Home::with_config(before);
    home.ok("config set profiles.shop.retry 5");
    home.ok("config set profiles.shop.timeout 7");
    let expected = before.replace("retry = 1", "retry = 5") + "timeout = 7\r\n";
    assert_eq!(home.read("config.toml"), expected);
}

#[test]
fn a_link_to_a_missing_file_stays_a_link() {
    let home = Home::with_config("");
    std::fs::remove_file(home.path("config.toml")).unwrap();
    symlink("dotfiles.toml", home.path("config.toml")).unwrap();
    home.ok("config init -p shop --base-url https://shop.example");
    assert!(std::fs::symlink_metadata(home.path("config.toml")).unwrap().file_type().is_symlink());
    assert!(home.read("dotfiles.toml").contains("https://shop.example"));
}

#[test]
fn a_file_of_another_user_is_refused_and_a_secret_that_only_root_can_write_is_not() {
    let config = format!("{SHOP}store-view = \"default\"\ntoken-file = \"secret\"\n");
    let home = Home::with_config(&config);
    home.write("secret", "hunter2", 0o600);
    // The token was read.
    home.run("customer show -p shop --retry 0").assert_failure(
        5,
        str![[r#"
error: cannot connect to 127.0.0.1:1: Connection refused (os error [N])
  hint: run `storefront -p shop doctor` to diagnose the connection
"#]],
    );
    for (name, stderr) in [
        (
            "config.toml",
            str![[r#"
error: `[HOME]/config/storefront/config.toml` is owned by another user (uid 12345), who could change where tokens are sent
  hint: check its contents, then run `sudo chown 0 [HOME]/config/storefront/config.toml`
"#]],
        ),
        (
            "secret",
            str![[r#"
error: `[HOME]/config/storefront/secret` is owned by another user (uid 12345), who could change where tokens are sent
  hint: check its contents, then run `sudo chown 0 [HOME]/config/storefront/secret`
"#]],
        ),
    ] {
        home.write("config.toml", &config, 0o600);
        if !change_owner(&home.path(name)) {
            return;
        }
        home.run("customer show -p shop").assert_failure(2, stderr);
        chown(home.path(name), Some(0), Some(0)).unwrap();
    }
    home.ok("auth logout -p shop");
    home.write("credentials.toml", "", 0o600);
    change_owner(&home.path("credentials.toml"));
    home.run("auth logout -p shop").assert_failure(2, str![[r#"
error: `[HOME]/config/storefront/credentials.toml` is owned by another user (uid 12345), who could change where tokens are sent
  hint: check its contents, then run `sudo chown 0 [HOME]/config/storefront/credentials.toml`
"#]]);
}

#[test]
fn a_relative_path_is_that_of_the_file_where_it_is_typed() {
    let home = Home::with_config("[profiles.shop]\nbase-url = \"https://shop.example/rest\"\n");
    std::fs::write(home.dir.path().join("token.txt"), "hunter22").unwrap();
    home.ok("config set -p shop token-file token.txt");
    home.ok("config set -p shop ca-file nowhere.pem");
    let config = home.read("config.toml");
    let path = home.dir.path().join("token.txt").display().to_string();
    assert!(
        config.contains(&format!("token-file = {path:?}")) || config.contains(&format!("'{path}'")),
        "{config}"
    );
    assert!(config.contains("ca-file = \"nowhere.pem\""), "{config}");
}
