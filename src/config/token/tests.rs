//! Programs that print a token.

use std::time::{Duration, Instant};

use super::{Failure, FailureKind, Token, TokenCommand};

fn command(argv: &[&str]) -> TokenCommand {
    TokenCommand::new(argv.iter().map(|word| (*word).to_owned()).collect())
}

fn run_within(command: &TokenCommand, limit: Duration) -> Result<Token, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(command.run_within(limit))
}

fn run(argv: &[&str]) -> Result<Token, Failure> {
    run_within(&command(argv), Duration::from_secs(30))
}

#[test]
fn a_command_is_named_and_what_it_printed_never_is() {
    assert_eq!(run(&["printf", "%s\\n", "~root"]).unwrap().expose(), "~root");
    for (argv, problem) in [
        (&["sh", "-c", "echo hunter2; exit 3"][..], "failed (exit status: 3)"),
        (&["sh", "-c", "echo hunter2; echo not hunter2 >&2; exit 3"], ": not •••"),
        (&["sh", "-c", "echo no $1 >&2; exit 3", "sh", "secret-hunter2"], ": no •••"),
        (&["sh", "-c", "printf 'no\\033[31m key\\n' >&2; exit 1"], r": no\u{1b}[31m key"),
        (&["sh", "-c", "echo locked >&2"], "printed nothing; it wrote to stderr: locked"),
        (&["sh", "-c", "head -c 70000 /dev/zero | tr '\\0' x"], "more than 64 KiB"),
        (&["echo", "hunter2 and more"], "can be in it"),
        (&["printf", "hunter2\\nuser: me"], "can be in it"),
        (&["true"], "printed nothing"),
        (&["/nonexistent/program", "hunter2"], "cannot be run"),
        (&[], "is empty"),
    ] {
        let failure = run(argv).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Auth);
        assert!(failure.message.contains(problem), "{failure}");
        assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
    }
}

#[test]
fn a_long_message_is_cut_and_does_not_hold_the_program_up() {
    let failure = run(&["sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x >&2; exit 4"]).unwrap_err();
    assert!(failure.message.contains("exit status: 4") && failure.message.len() < 1200, "{failure}");
}

#[test]
fn a_command_that_hangs_is_killed_with_all_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let pid_file = directory.path().join("pid");
    let script = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
    let start = Instant::now();
    let mut command = command(&["sh", "-c", &script]);
    command.own_group = true;
    let failure = run_within(&command, Duration::from_secs(1)).unwrap_err();
    assert!(failure.message.contains("did not end within 1 seconds"), "{failure}");
    assert!(start.elapsed() < Duration::from_secs(10));
    let pid: i32 = std::fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    let is_gone = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.is_empty() || status.contains(") Z ")
    };
    let gone = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_gone()
    });
    assert!(gone || !std::path::Path::new("/proc/self").exists(), "{pid} still runs");
}

#[test]
fn an_agent_that_is_left_behind_does_not_hold_the_token() {
    let start = Instant::now();
    assert_eq!(run(&["sh", "-c", "sleep 5 & echo token"]).unwrap().expose(), "token");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}
