//! Typing a line on the terminal. `dialoguer`'s own input takes no Esc, and loses its place in wide characters.

use dialoguer::console::{Term, measure_text_width};
use dialoguer::theme::Theme;

use super::line::{Line, Pressed};

/// How a question was left.
pub enum Typed {
    /// With this text.
    Text(String),
    /// By Esc.
    Back,
    /// By Ctrl-C.
    Left,
}

/// Asks until what is typed passes `check`, which answers with what is wrong.
pub fn ask(
    theme: &dyn Theme,
    question: &str,
    initial: &str,
    check: &dyn Fn(&str) -> Result<(), String>,
) -> std::io::Result<Typed> {
    let term = Term::buffered_stderr();
    let mut line = Line::new(initial);
    let mut field = Field::new(&term, rendered(|out| theme.format_input_prompt(out, question, None)))?;
    loop {
        field.draw(&line)?;
        match line.press(&term.read_key_raw()?) {
            Pressed::Edited => {}
            Pressed::Done => match check(&line.text()) {
                Ok(()) => {
                    let text = line.text();
                    let end = match text.as_str() {
                        "" => String::new(),
                        text => rendered(|out| theme.format_input_prompt_selection(out, question, text)),
                    };
                    field.close(&end)?;
                    return Ok(Typed::Text(text));
                }
                Err(wrong) => field.complain(&rendered(|out| theme.format_error(out, &wrong)))?,
            },
            Pressed::Back => return field.close("").map(|()| Typed::Back),
            Pressed::Left => return term.write_line("").and_then(|()| term.flush()).map(|()| Typed::Left),
        }
    }
}

/// The place on the screen where the line is typed.
struct Field<'a> {
    term: &'a Term,
    prompt: String,
    columns: usize,
    /// Whether the prompt stands on a line of its own, being too long to leave room beside it.
    apart: bool,
    drawn: Option<String>,
}

impl<'a> Field<'a> {
    fn new(term: &'a Term, prompt: String) -> std::io::Result<Self> {
        let columns = usize::from(term.size().1).max(20);
        let width = measure_text_width(&prompt);
        let apart = width > columns / 2;
        if apart {
            term.write_line(prompt.trim_end())?;
        }
        let room = if apart { columns - 3 } else { columns - width - 1 };
        let prompt = if apart { "  ".to_owned() } else { prompt };
        Ok(Self { term, prompt, columns: room, apart, drawn: None })
    }

    /// Shows the line. What was only added to is not drawn anew: a screen reader would read all of it again.
    fn draw(&mut self, line: &Line) -> std::io::Result<()> {
        let window = line.window(self.columns);
        let added = self.drawn.as_deref().and_then(|drawn| window.text.strip_prefix(drawn));
        match added {
            Some(added) if window.after_cursor == 0 => self.term.write_str(added)?,
            _ => {
                self.term.clear_line()?;
                self.term.write_str(&self.prompt)?;
                self.term.write_str(&window.text)?;
                self.term.move_cursor_left(window.after_cursor)?;
            }
        }
        self.drawn = (window.after_cursor == 0).then_some(window.text);
        self.term.flush()
    }

    fn complain(&mut self, wrong: &str) -> std::io::Result<()> {
        self.drawn = None;
        self.term.clear_line()?;
        self.term.write_line(wrong)
    }

    /// Leaves `end` where the field was.
    fn close(&self, end: &str) -> std::io::Result<()> {
        self.term.clear_line()?;
        if self.apart {
            self.term.clear_last_lines(1)?;
        }
        if !end.is_empty() {
            self.term.write_line(end)?;
        }
        self.term.flush()
    }
}

fn rendered(format: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = format(&mut text);
    text
}
