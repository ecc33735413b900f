//! A list to choose from. Typing filters it: in `dialoguer`'s list letters do nothing and the space bar chooses, so that
//! a typed or pasted name would choose the marked line.

use std::borrow::Cow;

use deunicode::deunicode;
use dialoguer::console::{Key, Term, measure_text_width, truncate_str};

use super::keyboard::Keyboard;
use super::text::{Objection, Rows};
use super::{Prompt, rendered, stopped};
use crate::report::style::OutputStyle;
use storefront_core::failure::Failure;
use storefront_core::text::sanitize::sanitize_line;

/// The filter and the mark of a list.
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

    /// Handles a key that neither chooses nor leaves; `page` is how many choices are shown.
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
        let before = self.matches.get(self.marked).copied();
        let typed = plain(&self.filter);
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

/// The position of the choice with this number, or of the only choice that these words match.
///
/// # Errors
/// What to type.
pub(super) fn line_of(choices: &[String], typed: &str) -> Result<usize, String> {
    let count = choices.len();
    if let Ok(number) = typed.parse::<usize>() {
        let is_there = (1..=count).contains(&number);
        return if is_there { Ok(number - 1) } else { Err(format!("enter a number from 1 to {count}")) };
    }
    let mut list = List::new(choices, 0);
    typed.clone_into(&mut list.filter);
    list.apply();
    match &list.matches[..] {
        _ if plain(typed).is_empty() => Err(format!("enter a number from 1 to {count}")),
        [] => Err(format!("no line has `{typed}`; enter a number from 1 to {count}")),
        [one] => Ok(*one),
        many => {
            let numbers: Vec<String> = many.iter().take(5).map(|index| (index + 1).to_string()).collect();
            let more = if many.len() > 5 { " and others" } else { "" };
            Err(format!("these lines have `{typed}`: {}{more}; enter a number", numbers.join(", ")))
        }
    }
}

/// Checks what was typed: a line number that is also the ID of an address in another line is in doubt.
///
/// # Errors
/// What is wrong or in doubt.
pub(super) fn check_line(choices: &[String], typed: &str) -> Result<(), Objection> {
    let line = line_of(choices, typed)?;
    let is_address = |choice: &String| {
        let choice = plain(choice);
        let words: Vec<&str> = choice.split(|it: char| !it.is_alphanumeric()).collect();
        words.windows(2).any(|words| words == ["address", typed])
    };
    match choices.iter().position(is_address).filter(|other| *other != line) {
        None => Ok(()),
        Some(other) => Err(Objection::Doubt(format!(
            "line {typed} is `{}`; address {typed} is in line {}",
            choices[line],
            other + 1
        ))),
    }
}

/// A choice cut by columns to fit the room; the part after the last two blanks is kept.
fn fitted(choice: &str, room: usize) -> Cow<'_, str> {
    let end = choice.rsplit_once("  ").filter(|(_, end)| measure_text_width(end) <= room / 2);
    match end {
        Some((start, end)) if measure_text_width(choice) > room => {
            let room = room - measure_text_width(end) - 2;
            format!("{}  {end}", truncate_str(start.trim_end(), room, "…")).into()
        }
        _ => truncate_str(choice, room, "…"),
    }
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
        let mut rows = Rows::new(term, false);
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
                // Pasted text filters the choices, and its line end chooses none.
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
            let choice = fitted(&list.choices[*index], columns - 3);
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
    use dialoguer::console::{Key, measure_text_width};

    use super::{List, check_line, fitted, line_of};
    use crate::prompt::Objection;

    #[test]
    fn the_number_of_a_line_is_not_taken_for_the_id_of_an_address() {
        let choices = ["10118 New York  address 2", "75002 Paris  address 12", "Add an address", "Done"];
        let choices = choices.map(str::to_owned);
        assert_eq!((line_of(&choices, "1"), check_line(&choices, "1")), (Ok(0), Ok(())));
        let Err(Objection::Doubt(doubt)) = check_line(&choices, "2") else { panic!("no doubt") };
        assert_eq!(doubt, "line 2 is `75002 Paris  address 12`; address 2 is in line 1");
        assert_eq!(line_of(&choices, "2"), Ok(1));
        assert_eq!(line_of(&choices, "address 2"), Ok(0));
        assert_eq!(line_of(&choices, "paris"), Ok(1));
        assert_eq!(line_of(&choices, "12").unwrap_err(), "enter a number from 1 to 4");
        assert_eq!(
            line_of(&choices, "address").unwrap_err(),
            "these lines have `address`: 1, 2, 3; enter a number"
        );
        assert!(line_of(&choices, "").is_err() && line_of(&choices, "x").is_err());
    }

    #[test]
    fn a_choice_is_cut_by_columns_and_keeps_its_end() {
        let choice = "130-0026 東京都墨田区両国一丁目一番地, 佐藤 健二, JP  address 5";
        assert_eq!(fitted(choice, 40), "130-0026 東京都墨田区両国一…  address 5");
        assert_eq!(fitted("Street  a long line of a street", 16), "Street  a long …");
        assert!((20..80).all(|room| measure_text_width(&fitted(choice, room)) <= room));
        assert_eq!(fitted(choice, 80), choice);
    }

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
