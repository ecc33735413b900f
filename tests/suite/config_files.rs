//! The files of configuration and tokens: several changes at once are all kept, and a file that others can change is refused.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::{Child, Stdio};

use crate::support::storefront::Home;

/// How many processes change one file at once.
const PROCESSES: usize = 20;

const SHOP: &str = "[profiles.shop]\nbase-url = \"http://127.0.0.1:1\"\n";

fn wait_for_all(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Somebody else, where this test may give files away: only root can.
fn give_away(path: &std::path::Path) -> bool {
    chown(path, Some(12345), Some(12345)).is_ok()
}

#[test]
fn settings_changed_by_many_processes_at_once_are_all_kept() {
    let home = Home::with_config("# ours\n[profiles.shop]\n");
    let set = |number: usize| {
        let key = format!("profiles.p{number}.retry");
        home.storefront(&["config", "set", &key, &number.to_string()]).spawn()
    };
    wait_for_all((0..PROCESSES).map(set).collect());
    let text = home.read("config.toml");
    for number in 0..PROCESSES {
        assert!(text.contains(&format!("[profiles.p{number}]\nretry = {number}\n")), "{number}: {text}");
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

#[test]
fn a_change_keeps_comments_and_line_ends() {
    let before = "\u{feff}# ours\r\n[profiles.shop] # Paris\r\nretry = 1 # few\r\n";
    let home = Home::with_config(before);
    home.ok("config set profiles.shop.retry 5");
    home.ok("config set profiles.shop.timeout 7");
    let expected = before.replace("retry = 1", "retry = 5") + "timeout = 7\r\n";
    assert_eq!(home.read("config.toml"), expected);
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    let home = Home::with_config("");
    std::fs::remove_file(home.path("config.toml")).unwrap();
    symlink("dotfiles.toml", home.path("config.toml")).unwrap();
    home.ok("config init -p shop --base-url https://shop.example");
    assert!(std::fs::symlink_metadata(home.path("config.toml")).unwrap().file_type().is_symlink());
    assert!(home.read("dotfiles.toml").contains("https://shop.example"));
}

#[test]
fn a_configuration_that_others_can_write_runs_no_command_of_theirs() {
    let home = Home::with_config(&format!("{SHOP}token-command = [\"touch\", \"ran\"]\n"));
    let config = home.path("config.toml");
    let ran = home.dir.path().join("ran");
    for mode in [0o602, 0o646, 0o666] {
        std::fs::set_permissions(&config, PermissionsExt::from_mode(mode)).unwrap();
        let outcome = home.run(&["doctor", "-p", "shop", "-o", "json"]);
        assert_eq!(outcome.code, 2, "{mode:o}: {outcome:?}");
        assert!(format!("{outcome:?}").contains("chmod go-w"), "{outcome:?}");
        let outcome = home.run(&["customer", "show", "-p", "shop"]);
        assert!(outcome.code == 2 && outcome.stderr.contains("can be changed by other users"), "{outcome:?}");
    }
    assert!(!ran.exists(), "the command of somebody else was run");
}

#[test]
fn a_file_of_another_user_is_refused_and_a_secret_that_only_root_can_write_is_not() {
    let config = format!("{SHOP}store-view = \"default\"\ntoken-file = \"secret\"\n");
    let home = Home::with_config(&config);
    home.write("secret", "hunter2", 0o600);
    let stderr = home.fails(5, "customer show -p shop --retry 0");
    assert!(stderr.contains("127.0.0.1:1"), "the token was read: {stderr}");
    for name in ["config.toml", "secret"] {
        home.write("config.toml", &config, 0o600);
        if !give_away(&home.path(name)) {
            return;
        }
        let outcome = home.run(&["customer", "show", "-p", "shop"]);
        assert_eq!(outcome.code, 2, "{name}: {outcome:?}");
        assert!(outcome.stderr.contains("owned by another user (uid 12345)"), "{name}: {outcome:?}");
        assert!(outcome.stderr.contains("sudo chown"), "{name}: {outcome:?}");
        chown(home.path(name), Some(0), Some(0)).unwrap();
    }
    home.ok("auth logout -p shop");
    home.write("credentials.toml", "", 0o600);
    give_away(&home.path("credentials.toml"));
    assert!(home.fails(2, "auth logout -p shop").contains("credentials.toml"));
}

#[test]
fn a_token_file_that_others_can_write_or_read_is_refused() {
    let home = Home::with_config(&format!("{SHOP}store-view = \"default\"\ntoken-file = \"secret\"\n"));
    for (mode, says) in [(0o602, "changed"), (0o604, "read"), (0o666, "changed")] {
        home.write("secret", "hunter2", mode);
        let stderr = home.fails(2, "customer show -p shop --retry 0");
        assert!(stderr.contains(&format!("contains a token and can be {says} by other users")), "{stderr}");
        assert!(stderr.contains("chmod 600"), "{stderr}");
    }
}
