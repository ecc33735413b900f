//! Hints: what to do or type next. A command in a hint is a value: it can be completed, with the service that it is for, and is
//! quoted once, when the hint is printed.

use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};

use crate::text::shell::Shell;

/// The words of a command, without the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintCommand(Vec<String>);

/// A command for a hint, by the words that stand in the code: `storefront("undo").arg(name)`.
pub fn storefront(words: &'static str) -> HintCommand {
    HintCommand(words.split(' ').map(str::to_owned).collect())
}

impl HintCommand {
    /// A command by its words without the program.
    pub fn of(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }

    /// This command with one more word.
    #[must_use]
    pub fn arg(mut self, word: impl Into<String>) -> Self {
        self.0.push(word.into());
        self
    }

    /// The words, without the program.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Command(HintCommand),
}

/// Text with commands in it. [`hint!`] makes one of its parts; what has no command can be a plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint(Vec<Part>);

impl Hint {
    /// This hint, and then a text, a command or another hint.
    #[must_use]
    pub fn and(mut self, next: impl Into<Self>) -> Self {
        self.0.extend(next.into().0);
        self
    }

    /// Joins hints into one, with a separator between them.
    pub fn join(hints: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let joined = hints.into_iter().reduce(|before, next| before.and(separator).and(next));
        joined.unwrap_or_default()
    }

    /// This hint with each command changed.
    #[must_use]
    pub fn map_commands(self, change: impl Fn(HintCommand) -> HintCommand) -> Self {
        let changed = self.0.into_iter().map(|part| match part {
            Part::Command(command) => Part::Command(change(command)),
            text @ Part::Text(_) => text,
        });
        Self(changed.collect())
    }
}

/// As it is printed: each command between backticks, as it is typed in the shell of this system.
impl Display for Hint {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => to.write_str(text),
            Part::Command(command) => {
                let words = std::iter::once("storefront").chain(command.0.iter().map(String::as_str));
                write!(to, "`{}`", Shell::NATIVE.join(words))
            }
        })
    }
}

impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self(vec![Part::Text(text)])
    }
}

impl From<HintCommand> for Hint {
    fn from(command: HintCommand) -> Self {
        Self(vec![Part::Command(command)])
    }
}

/// A hint of its parts, which are texts, commands and other hints:
/// `hint!("search with ", storefront("customer find TEXT"))`.
#[macro_export]
#[doc(hidden)]
macro_rules! hint_of_parts {
    ($($part:expr),+ $(,)?) => { $crate::hint::Hint::default()$(.and($part))+ };
}
pub use hint_of_parts as hint;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{HintCommand, hint, storefront};
    use crate::text::shell::Shell;

    #[test]
    fn a_hint_reads_as_a_sentence_with_its_commands_in_backticks() {
        let restore = storefront("undo").arg("1").arg("--after-unknown");
        let shown =
            hint!("look with ", storefront("customer show"), "; to undo it, run ", restore).to_string();
        assert_eq!(
            shown,
            "look with `storefront customer show`; to undo it, run \
             `storefront undo 1 --after-unknown`"
        );
    }

    proptest! {
        #[test]
        fn any_word_of_a_command_in_a_hint_survives(
            words in prop::collection::vec("[a-z`'\"\\\\ $é-]{0,8}", 1..4),
        ) {
            let shown = hint!(HintCommand::of(words.clone())).to_string();
            let typed = shown.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap();
            let read = Shell::NATIVE.split(typed);
            prop_assert!(cfg!(windows) || read.unwrap()[1..] == words);
        }
    }
}
