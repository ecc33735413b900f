//! Choosing one of several with the arrow keys, or by typing a part of it.

use dialoguer::console::Key;
use dialoguer::theme::Theme;

use super::block::{Block, wrapped};
use super::device::Device;
use super::keyboard::Keyboard;
use super::keys::Event;
use super::rendered;

/// How a list was left.
pub enum Chosen {
    /// With the choice at this position.
    Position(usize),
    /// By Esc.
    Back,
    /// By Ctrl-C.
    Left,
}

/// A list that is being shown.
pub struct List<'a> {
    pub device: &'a Device,
    pub theme: &'a dyn Theme,
    pub question: &'a str,
    pub choices: &'a [String],
    /// Whether typing narrows the list.
    pub is_searched: bool,
    /// What stays on the screen of this choice; a menu that comes again leaves nothing.
    pub answered: &'a dyn Fn(&str) -> String,
}

/// What was typed, the choices it leaves, and which of those the cursor is on.
struct Selection {
    typed: String,
    shown: Vec<usize>,
    at: usize,
}

impl List<'_> {
    /// Asks, `present` chosen at first. Gives the rows that are left on the screen too.
    pub fn ask(&self, keyboard: &mut Keyboard<'_>, present: usize) -> std::io::Result<(Chosen, usize)> {
        let mut block = Block::new(self.device);
        let shown: Vec<usize> = (0..self.choices.len()).collect();
        let mut selection =
            Selection { typed: String::new(), at: present.min(shown.len().saturating_sub(1)), shown };
        // The cursor is shown again by the keyboard.
        self.device.write("\x1b[?25l");
        loop {
            block.draw(&self.lines(&selection), 0);
            let event = match keyboard.next() {
                Ok(event) => event,
                Err(error) => {
                    block.leave();
                    return Err(error);
                }
            };
            match event {
                Event::Key(Key::Enter) => {
                    if let Some(position) = selection.shown.get(selection.at) {
                        let rows = block.close(&(self.answered)(&self.choices[*position]));
                        return Ok((Chosen::Position(*position), rows));
                    }
                }
                Event::Key(Key::Escape) => return Ok((Chosen::Back, block.close(""))),
                Event::Key(Key::CtrlC | Key::Char('\u{4}')) => {
                    block.leave();
                    return Ok((Chosen::Left, 0));
                }
                event => self.take(&mut selection, event),
            }
        }
    }

    /// Moves the cursor, or narrows the list.
    fn take(&self, selection: &mut Selection, event: Event) {
        let last = selection.shown.len().saturating_sub(1);
        match event {
            Event::Key(Key::ArrowUp) => selection.at = selection.at.checked_sub(1).unwrap_or(last),
            Event::Key(Key::ArrowDown | Key::Tab) => {
                selection.at = if selection.at == last { 0 } else { selection.at + 1 };
            }
            Event::Key(Key::Home | Key::PageUp) => selection.at = 0,
            Event::Key(Key::End | Key::PageDown) => selection.at = last,
            // In a list that is not searched a paste chooses nothing, and no letter does.
            _ if !self.is_searched => {}
            Event::Key(Key::Char(character)) if !character.is_control() => {
                selection.typed.push(character);
                self.narrow(selection);
            }
            Event::Key(Key::Backspace) => {
                selection.typed.pop();
                self.narrow(selection);
            }
            Event::Paste(text) => {
                selection.typed.push_str(text.lines().next().unwrap_or_default());
                self.narrow(selection);
            }
            Event::Key(_) => {}
        }
    }

    fn narrow(&self, selection: &mut Selection) {
        selection.shown = matching(self.choices, &selection.typed);
        selection.at = 0;
    }

    /// The question and as many choices around the chosen one as fit the screen.
    fn lines(&self, selection: &Selection) -> Vec<String> {
        let (columns, rows) = self.device.size();
        let choices: Vec<Vec<String>> = selection
            .shown
            .iter()
            .map(|position| wrapped(&self.choices[*position], columns.saturating_sub(3).max(1)))
            .collect();
        let room = rows.saturating_sub(2);
        let at = selection.at;
        let taken = |from: usize| choices[from..=at].iter().map(Vec::len).sum::<usize>();
        let from = (0..choices.len().min(at + 1)).find(|from| taken(*from) <= room).unwrap_or(at);
        let question = rendered(|out| self.theme.format_select_prompt(out, self.question));
        let mut lines = vec![if selection.typed.is_empty() {
            question
        } else {
            format!("{question} {}", selection.typed)
        }];
        for (position, choice) in choices.iter().enumerate().skip(from) {
            if position > at && lines.len() + choice.len() > room + 1 {
                break;
            }
            lines.push(rendered(|out| self.theme.format_select_prompt_item(out, &choice[0], position == at)));
            lines.extend(choice[1..].iter().map(|rest| format!("  {rest}")));
        }
        if choices.is_empty() {
            lines.push("  no match".to_owned());
        }
        lines
    }
}

/// The choices that have the typed text in them: first those of which a part, set off by two blanks, is that text, then
/// those of which a part begins with it.
fn matching(choices: &[String], typed: &str) -> Vec<usize> {
    let typed = typed.trim().to_lowercase();
    let rank = |choice: &String| {
        let choice = choice.to_lowercase();
        let mut parts = choice.split("  ").map(str::trim);
        match () {
            () if parts.clone().any(|part| part == typed) => Some(0),
            () if parts.any(|part| part.starts_with(&typed)) => Some(1),
            () => choice.contains(&typed).then_some(2),
        }
    };
    let mut found: Vec<(u8, usize)> =
        choices.iter().enumerate().filter_map(|(position, choice)| Some((rank(choice)?, position))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, position)| position).collect()
}

#[cfg(test)]
mod tests {
    use super::matching;

    #[test]
    fn a_code_comes_before_a_name_that_begins_with_it_and_before_one_that_has_it() {
        let choices = ["Armed Forces Africa  AF", "North Carolina  NC", "Cadiz  CZ", "California  CA"];
        let choices = choices.map(str::to_owned);
        assert_eq!(matching(&choices, "ca"), [3, 2, 0, 1]);
        assert_eq!(matching(&choices, "carolina"), [1]);
        assert_eq!(matching(&choices, ""), [0, 1, 2, 3]);
        assert!(matching(&choices, "x").is_empty());
    }
}
