//! Choosing one of several with the arrow keys.

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
    /// What stays on the screen of this choice; a menu that comes again leaves nothing.
    pub answered: &'a dyn Fn(&str) -> String,
}

impl List<'_> {
    /// Asks, `present` chosen at first. Gives the rows that are left on the screen too.
    pub fn ask(&self, keyboard: &mut Keyboard<'_>, present: usize) -> std::io::Result<(Chosen, usize)> {
        let mut block = Block::new(self.device);
        let last = self.choices.len().saturating_sub(1);
        let mut at = present.min(last);
        // The cursor is shown again by the keyboard.
        self.device.write("\x1b[?25l");
        loop {
            block.draw(&self.lines(at), 0);
            let key = match keyboard.next() {
                Ok(Event::Key(key)) => key,
                // A paste chooses nothing.
                Ok(Event::Paste(_)) => continue,
                Err(error) => {
                    block.leave();
                    return Err(error);
                }
            };
            match key {
                Key::ArrowUp => at = at.checked_sub(1).unwrap_or(last),
                Key::ArrowDown | Key::Tab => at = if at == last { 0 } else { at + 1 },
                Key::Home | Key::PageUp => at = 0,
                Key::End | Key::PageDown => at = last,
                Key::Enter => {
                    let rows = block.close(&(self.answered)(&self.choices[at]));
                    return Ok((Chosen::Position(at), rows));
                }
                Key::Escape => return Ok((Chosen::Back, block.close(""))),
                Key::CtrlC | Key::Char('\u{4}') => {
                    block.leave();
                    return Ok((Chosen::Left, 0));
                }
                _ => {}
            }
        }
    }

    /// The question and as many choices around the chosen one as fit the screen.
    fn lines(&self, at: usize) -> Vec<String> {
        let (columns, rows) = self.device.size();
        let choices: Vec<Vec<String>> =
            self.choices.iter().map(|choice| wrapped(choice, columns.saturating_sub(3).max(1))).collect();
        let room = rows.saturating_sub(2);
        let taken = |from: usize| choices[from..=at].iter().map(Vec::len).sum::<usize>();
        let from = (0..=at).find(|from| taken(*from) <= room).unwrap_or(at);
        let mut lines = vec![rendered(|out| self.theme.format_select_prompt(out, self.question))];
        for (position, choice) in choices.iter().enumerate().skip(from) {
            if position > at && lines.len() + choice.len() > room + 1 {
                break;
            }
            lines.push(rendered(|out| self.theme.format_select_prompt_item(out, &choice[0], position == at)));
            lines.extend(choice[1..].iter().map(|rest| format!("  {rest}")));
        }
        lines
    }
}
