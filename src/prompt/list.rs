//! A list to choose from. What is typed filters it: in `dialoguer`'s list letters do nothing and the space bar chooses, so
//! that a name typed or pasted there takes whatever is marked.

use deunicode::deunicode;
use dialoguer::console::{Key, Term, truncate_str};

use super::keyboard::Keyboard;
use super::text::Rows;
use super::{Prompt, rendered, stopped};
use crate::report::style::OutputStyle;
use storefront_core::failure::Failure;
use storefront_core::text::sanitize::sanitize_line;

/// What is typed and marked in a list.
struct List<'a> {
    choices: &'a [String],
    filter: String,
    /// The positions of the choices that match.
    matches: Vec<usize>,
    /// Which of these is marked.
    marked: usize,
}

impl<'a> List<'a> {
    fn new(choices: &'a [String], present: usize) -> Self {
        Self { choices, filter: String::new(), matches: (0..choices.len()).collect(), marked: present }
    }

    /// Lets a key act that neither chooses nor leaves; `page` is how many choices are shown.
    fn press(&mut self, key: Key, page: usize) {
        let last = self.matches.len().saturating_sub(1);
        match key {
            Key::ArrowDown | Key::Tab => self.marked = if self.marked >= last { 0 } else { self.marked + 1 },
            Key::ArrowUp | Key::BackTab => self.marked = self.marked.checked_sub(1).unwrap_or(last),
            Key::PageDown | Key::ArrowRight => self.marked = (self.marked + page).min(last),
            Key::PageUp | Key::ArrowLeft => self.marked = self.marked.saturating_sub(page),
            Key::Home => self.marked = 0,
            Key::End => self.marked = last,
            Key::Backspace => {
                self.filter.pop();
                self.apply();
            }
            Key::Char('\u{15}') => {
                self.filter.clear();
                self.apply();
            }
            Key::Char(character) if !character.is_control() => {
                self.filter.push(character);
                self.apply();
            }
            _ => {}
        }
    }

    /// The choices that begin with what is typed; else those with a word that begins so; else those that have it anywhere.
    fn apply(&mut self) {
        let (before, typed) = (self.matches.get(self.marked).copied(), plain(&self.filter));
        let choices: Vec<String> = self.choices.iter().map(|choice| plain(choice)).collect();
        let all = |is_match: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..choices.len()).filter(|index| is_match(&choices[*index])).collect()
        };
        self.matches = all(&|choice| choice.starts_with(&typed));
        if self.matches.is_empty() {
            self.matches = all(&|choice| choice.contains(&format!(" {typed}")));
        }
        if self.matches.is_empty() {
            self.matches = all(&|choice| choice.contains(&typed));
        }
        // Without a filter the mark stays where it is; with one it is on the first match.
        let kept = self.matches.iter().position(|index| Some(*index) == before);
        self.marked = kept.filter(|_| typed.is_empty()).unwrap_or_default();
    }

    /// The marked choice.
    fn chosen(&self) -> Option<usize> {
        self.matches.get(self.marked).copied()
    }
}

/// A text without what people type in several ways.
fn plain(text: &str) -> String {
    deunicode(text).to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Prompt {
    /// The position of one of these choices; `None` for Esc.
    ///
    /// # Errors
    /// [`Failure::cancelled`] when the person leaves.
    pub(super) fn choose(
        &self,
        (term, keyboard): (&Term, &Keyboard),
        question: &str,
        choices: &[String],
        present: usize,
    ) -> Result<Option<usize>, Failure> {
        let mut list = List::new(choices, present);
        let mut rows = Rows::new(term);
        let left = |rows: &Rows<'_>, failure| {
            let _ = term.show_cursor();
            rows.leave(failure)
        };
        let _ = term.hide_cursor();
        let chosen = loop {
            let page = usize::from(term.size().0).saturating_sub(4).max(3);
            rows.draw(self.list_text(term, question, &list, page), 0);
            let came_at_once = keyboard.has_more();
            match term.read_key_raw().map_err(|error| left(&rows, stopped(error)))? {
                // What was pasted names a choice, and takes none.
                Key::Enter if came_at_once && !list.filter.is_empty() => keyboard.flush(),
                Key::Enter if list.chosen().is_some() => break list.chosen(),
                Key::Escape if list.filter.is_empty() => break None,
                Key::Escape => list.press(Key::Char('\u{15}'), page),
                Key::CtrlC | Key::Char('\u{4}') => return Err(left(&rows, Failure::cancelled())),
                key => list.press(key, page),
            }
        };
        rows.close("");
        let _ = term.show_cursor();
        Ok(chosen)
    }

    fn list_text(&self, term: &Term, question: &str, list: &List<'_>, page: usize) -> String {
        let columns = usize::from(term.size().1).max(10);
        let screen = OutputStyle { width: u16::try_from(columns - 4).ok(), color: false };
        let mut lines = vec![rendered(|out| self.theme.format_select_prompt(out, &screen.wrapped(question)))];
        if !list.filter.is_empty() {
            let typed = sanitize_line(&list.filter);
            lines[0] = format!("{} {}", lines[0].trim_end(), truncate_str(&typed, columns / 3, "…"));
        }
        // The page of the mark. The mark is two columns.
        let first = list.marked / page * page;
        for (place, index) in list.matches.iter().enumerate().skip(first).take(page) {
            let choice = truncate_str(&list.choices[*index], columns - 3, "…");
            let is_marked = place == list.marked;
            lines.push(rendered(|out| self.theme.format_select_prompt_item(out, &choice, is_marked)));
        }
        if list.matches.is_empty() {
            lines.push("  nothing matches (Ctrl-U clears what was typed)".to_owned());
        } else if list.matches.len() > page {
            let last = (first + page).min(list.matches.len());
            let text =
                format!("  {} to {last} of {} (Page Down, or type to filter)", first + 1, list.matches.len());
            lines.push(truncate_str(&text, columns - 1, "…").into_owned());
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use dialoguer::console::Key;

    use super::List;

    fn after(choices: &[&str], typed: &str) -> Vec<String> {
        let choices: Vec<String> = choices.iter().map(|choice| (*choice).to_owned()).collect();
        let mut list = List::new(&choices, 0);
        typed.chars().for_each(|character| list.press(Key::Char(character), 10));
        list.matches.iter().map(|index| choices[*index].clone()).collect()
    }

    #[test]
    fn what_is_typed_filters_by_the_beginning_then_by_words_then_anywhere() {
        let choices =
            ["Address 1  12 rue", "Address 2  Main", "Profile fields", "Été", "New York  NY", "Nevada  NV"];
        assert_eq!(after(&choices, "address 2"), ["Address 2  Main"]);
        assert_eq!(after(&choices, "ete"), ["Été"]);
        assert_eq!(after(&choices, "nev"), ["Nevada  NV"]);
        assert_eq!(after(&choices, "york"), ["New York  NY"]);
        assert_eq!(after(&choices, "ofile"), ["Profile fields"]);
        assert_eq!(after(&choices, "xx"), Vec::<String>::new());
        assert_eq!(after(&choices, "xx\u{15}").len(), 6);
    }
}
