//! `token-command`: its environment, and the interruption of a hung command.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::storefront::Home;

fn home(command: &str) -> Home {
    Home::with_config(&format!(
        "default-profile = \"shop\"\n[profiles.other]\ntoken-env = \"OTHER_TOKEN\"\n\
         [profiles.shop]\nbase-url = \"http://127.0.0.1:1\"\nstore-view = \"default\"\n\
         token-command = [\"sh\", \"-c\", {command:?}]\n"
    ))
}

fn interrupt(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

#[test]
fn the_command_gets_no_token_in_its_environment() {
    let home = home("env > seen; echo some-token");
    let outcome = home
        .storefront(&["customer", "show", "--retry", "0"])
        .env("STOREFRONT_ADMIN_TOKEN", "hunter2")
        .env("OTHER_TOKEN", "hunter2")
        .env("HARMLESS", "kept")
        .run();
    assert_eq!(outcome.code, 5, "the service not found: {outcome:?}");
    let seen = std::fs::read_to_string(home.dir.path().join("seen")).unwrap();
    assert!(seen.contains("HARMLESS=kept") && !seen.contains("hunter2"), "{seen}");
}

#[test]
fn interrupting_a_hung_command_ends_its_processes() {
    let home = home("sleep 60 & echo $! > started; wait");
    let started = home.dir.path().join("started");
    let child = home.storefront(&["customer", "show"]).spawn();
    let deadline = Instant::now() + Duration::from_secs(20);
    let pid = loop {
        match std::fs::read_to_string(&started) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ if Instant::now() > deadline => panic!("the command was not started"),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let start = Instant::now();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    while !(state().is_empty() || state().contains(") Z ")) {
        assert!(start.elapsed() < Duration::from_secs(10), "process {pid} still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}
