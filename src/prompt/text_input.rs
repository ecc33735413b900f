//! Typing a line on the terminal, and what counts as an answer.

use dialoguer::console::{Key, measure_text_width, style};
use dialoguer::theme::Theme;

use super::block::{Block, wrapped};
use super::device::Device;
use super::keyboard::Keyboard;
use super::keys::Event;
use super::{Objection, Question, file_name, rendered};
use crate::prompt::line_editor::{KeyOutcome, LineEditor};

const NOT_TYPED: &str = "type the answer, then press Enter";

/// How a question was left.
#[derive(Debug, PartialEq, Eq)]
pub enum TextInput {
    /// With this text.
    Text(String),
    /// By Esc.
    Back,
    /// By Ctrl-C.
    Interrupted,
}

/// How a line is answered.
#[derive(Clone, Copy)]
pub enum Mode {
    /// A line of text.
    Text,
    /// One of several lines; a paste may hold many.
    Lines,
    /// The name of a file, which Tab completes.
    FileName,
    /// A text that is not shown.
    Secret,
    /// A yes that counts only if it was typed after the question appeared; the function recognises a no, which always counts.
    Confirmation(fn(&str) -> bool),
}

/// A line that is being asked for.
pub struct Field<'a> {
    pub device: &'a Device,
    pub theme: &'a dyn Theme,
    pub question: &'a Question<'a>,
    pub mode: Mode,
    /// What is said of a text, if it is not taken.
    pub check: &'a dyn Fn(&str) -> Result<(), Objection>,
}

/// The line and what is known of how it came about.
struct Entry {
    line: LineEditor,
    complaint: Option<String>,
    /// A text that was objected to once, and may be kept.
    doubted: Option<String>,
    pasted: bool,
    /// The reading of the last character.
    reading: Option<u64>,
}

impl Entry {
    fn new(initial: &str) -> Self {
        Self { line: LineEditor::new(initial), complaint: None, doubted: None, pasted: false, reading: None }
    }
}

impl Field<'_> {
    /// Asks until what is typed passes the check. Gives the rows that are left on the screen too.
    pub fn ask(&self, keyboard: &mut Keyboard<'_>) -> std::io::Result<(TextInput, usize)> {
        let mut block = Block::new(self.device);
        let mut entry = Entry::new(self.question.initial);
        let mut done = match self.mode {
            Mode::Confirmation(is_no) => said_ahead(keyboard.typed_ahead()?, is_no),
            _ => None,
        };
        loop {
            self.draw(&mut block, &entry);
            if let Some(done) = done {
                let rows = match &done {
                    TextInput::Text(text) => block.close(&self.answered(text)),
                    TextInput::Back => block.close(""),
                    TextInput::Interrupted => {
                        block.leave();
                        0
                    }
                };
                return Ok((done, rows));
            }
            let event = match keyboard.next() {
                Ok(event) => event,
                Err(error) => {
                    block.leave();
                    return Err(error);
                }
            };
            done = self.take(&mut entry, event, keyboard.reading);
        }
    }

    fn take(&self, entry: &mut Entry, event: Event, reading: u64) -> Option<TextInput> {
        let key = match event {
            Event::Paste(text) if matches!(self.mode, Mode::Lines) && text.trim().contains(['\r', '\n']) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                let before = if entry.line.is_untouched() { String::new() } else { entry.line.text() };
                return self.judge(entry, before + &text);
            }
            Event::Paste(text) => {
                entry.line.paste(&text);
                entry.pasted = true;
                // A no counts however it came.
                let text = entry.line.text();
                let is_no = matches!(self.mode, Mode::Confirmation(is_no) if is_no(&text));
                return is_no.then_some(TextInput::Text(text));
            }
            Event::Key(key) => key,
        };
        if let (Key::Tab, Mode::FileName) = (&key, self.mode) {
            entry.line = LineEditor::edited(&file_name::completed(&entry.line.text()));
        }
        if let Key::Char(_) = key {
            entry.reading = Some(reading);
        }
        match entry.line.press(&key) {
            KeyOutcome::Edited => None,
            KeyOutcome::Back => Some(TextInput::Back),
            KeyOutcome::Interrupted => Some(TextInput::Interrupted),
            KeyOutcome::Done => self.finish(entry, reading),
        }
    }

    /// Enter was pressed.
    fn finish(&self, entry: &mut Entry, reading: u64) -> Option<TextInput> {
        let text = entry.line.text();
        if let Mode::Confirmation(is_no) = self.mode
            && !is_no(&text)
            && (entry.pasted || entry.reading == Some(reading))
        {
            *entry = Entry { complaint: Some(NOT_TYPED.to_owned()), ..Entry::new("") };
            return None;
        }
        // An empty line that was read along with the line before it is part of a paste, and ends nothing.
        if matches!(self.mode, Mode::Lines) && text.is_empty() && reading == 0 {
            return None;
        }
        self.judge(entry, text)
    }

    fn judge(&self, entry: &mut Entry, text: String) -> Option<TextInput> {
        let objection = match (self.check)(&text) {
            Err(Objection::Doubt(_)) if entry.doubted.as_ref() == Some(&text) => {
                return Some(TextInput::Text(text));
            }
            Ok(()) => return Some(TextInput::Text(text)),
            Err(objection) => objection,
        };
        entry.complaint = Some(match objection {
            Objection::Wrong(wrong) => wrong,
            Objection::Doubt(doubt) => {
                entry.doubted = Some(text.clone());
                format!("{doubt} (press Enter again to keep it)")
            }
        });
        // What was refused is replaced by what is typed next.
        entry.line = LineEditor::new(&text);
        entry.pasted = false;
        None
    }

    fn draw(&self, block: &mut Block<'_>, entry: &Entry) {
        let columns = self.device.size().0;
        let mut lines = Vec::new();
        if !self.question.note.is_empty() {
            lines.extend(wrapped(self.question.note, columns));
        }
        if let Some(complaint) = &entry.complaint {
            let complaint = wrapped(complaint, columns.saturating_sub(8));
            let rest = complaint.iter().skip(1).map(|line| format!("  {line}"));
            lines.push(rendered(|out| self.theme.format_error(out, &complaint[0])));
            lines.extend(rest);
        }
        let prompt = format!("{}{}", self.question.text, self.question.choices);
        let mut prompt = rendered(|out| self.theme.format_input_prompt(out, &prompt, None));
        // A long question leaves no room next to it.
        if measure_text_width(&prompt) > columns / 2 {
            lines.push(prompt.trim_end().to_owned());
            prompt = String::from("  ");
        }
        let (text, before_end) =
            self.shown(entry, columns.saturating_sub(measure_text_width(&prompt) + 1).max(1));
        lines.push(prompt + &text);
        block.draw(&lines, before_end);
    }

    /// The part of the line that fits, and the columns of it after the cursor. What typing replaces is marked.
    fn shown(&self, entry: &Entry, columns: usize) -> (String, usize) {
        if matches!(self.mode, Mode::Secret) {
            return (String::new(), 0);
        }
        let window = entry.line.window(columns);
        let is_marked = entry.line.is_untouched() && !window.text.is_empty();
        let marked = || style(&window.text).for_stderr().reverse().to_string();
        (if is_marked { marked() } else { window.text.clone() }, window.after_cursor)
    }

    /// What stays of a question that was answered.
    fn answered(&self, text: &str) -> String {
        let question = self.question.text;
        match self.mode {
            _ if text.trim().is_empty() => String::new(),
            Mode::Lines => {
                let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
                let text = LineEditor::new(&lines.join(", ")).window(usize::MAX).text;
                rendered(|out| self.theme.format_input_prompt_selection(out, question, &text))
            }
            Mode::Secret => rendered(|out| self.theme.format_password_prompt_selection(out, question)),
            _ => {
                let text =
                    LineEditor::new(if self.question.choices.is_empty() { text } else { in_full(text) });
                let text = text.window(usize::MAX).text;
                rendered(|out| self.theme.format_input_prompt_selection(out, question, text.trim()))
            }
        }
    }
}

/// What type-ahead says to a confirmation: it may only refuse.
fn said_ahead(events: Vec<Event>, is_no: fn(&str) -> bool) -> Option<TextInput> {
    let mut line = LineEditor::default();
    for event in events {
        match event {
            Event::Paste(text) => line.paste(&text),
            Event::Key(key) => match line.press(&key) {
                KeyOutcome::Edited => continue,
                KeyOutcome::Back => return Some(TextInput::Back),
                KeyOutcome::Interrupted => return Some(TextInput::Interrupted),
                KeyOutcome::Done => {}
            },
        }
        let text = std::mem::take(&mut line).text();
        if is_no(&text) {
            return Some(TextInput::Text(text));
        }
    }
    None
}

/// `y` as the answer `yes`.
fn in_full(text: &str) -> &str {
    match text.trim().to_lowercase().as_str() {
        "y" => "yes",
        "n" => "no",
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use dialoguer::console::Key;

    use super::{Event, said_ahead};
    use crate::prompt::text_input::TextInput;

    #[test]
    fn what_was_typed_ahead_may_refuse_and_never_agree() {
        let is_no = |text: &str| text == "n";
        let keys = |text: &str| {
            let key = |it| match it {
                '\r' => Key::Enter,
                '\u{1b}' => Key::Escape,
                '\u{3}' => Key::CtrlC,
                it => Key::Char(it),
            };
            said_ahead(text.chars().map(|it| Event::Key(key(it))).collect(), is_no)
        };
        assert_eq!(keys("y\r"), None);
        assert_eq!(keys("n"), None, "it was not ended by Enter");
        assert_eq!(keys("y\rn\r"), Some(TextInput::Text("n".to_owned())));
        assert_eq!(keys("y\r\u{1b}"), Some(TextInput::Back));
        assert_eq!(keys("no, \u{3}"), Some(TextInput::Interrupted));
        assert_eq!(
            said_ahead(vec![Event::Paste("n\n".to_owned())], is_no),
            Some(TextInput::Text("n".to_owned()))
        );
    }
}
