//! Questions where nobody can be asked.

use std::path::Path;

use super::Prompt;
use crate::cli::{GlobalArgs, OutputFormat};
use crate::context::Context;
use crate::failure::FailureKind;
use crate::report::Report;

fn prompt(terminal: bool, yes: bool, no_input: bool) -> Prompt {
    let mut context = Context::for_test(&[], Path::new("/"));
    context.stdin_is_terminal = terminal;
    context.stderr_is_terminal = terminal;
    let global = GlobalArgs { no_input, yes, ..GlobalArgs::default() };
    let report = Report::new(&context, OutputFormat::Table, None, false, 0);
    Prompt::new(&context, &global, &report)
}

#[test]
fn nobody_is_asked_where_nobody_is() {
    let failure = prompt(false, false, false).input("name", "use -p NAME", None, |_| Ok(())).unwrap_err();
    assert_eq!(failure.hint.as_deref(), Some("use -p NAME"));
    assert!(prompt(true, false, true).password("token", "").unwrap_err().message.contains("--no-input"));
    assert!(prompt(true, false, true).input("which", "", None, |_| Ok(())).is_err());
}

#[test]
fn a_script_and_yes_confirm_and_a_deletion_needs_the_yes() {
    for (terminal, yes, no_input) in [(false, false, false), (true, true, true), (true, false, true)] {
        let prompt = prompt(terminal, yes, no_input);
        assert_eq!(prompt.confirm("sure?").map_err(|failure| failure.message), Ok(()));
        let deletion = prompt.confirm_deletion("sure?").map_err(|failure| (failure.kind, failure.hint));
        let refused = (FailureKind::Guard, Some("add --yes".to_owned()));
        assert_eq!(deletion, if yes { Ok(()) } else { Err(refused) });
    }
}
