//! One line at the end of a terminal's standard error that is drawn again and again: how far a batch is, or what is
//! waited for. It is gone from the screen when it goes out of scope.

use std::cell::RefCell;

use dialoguer::console::{Term, truncate_str};

/// Columns that stay free: for the `^C` that a terminal shows, and the last one, after which some begin a new line.
const RESERVED: usize = 3;

/// The line and what it shows. It is decoration: where it cannot be drawn, the work goes on without it.
#[derive(Debug)]
pub(super) struct StatusLine {
    terminal: Term,
    text: RefCell<String>,
}

impl StatusLine {
    /// Shows nothing yet.
    pub(super) fn new() -> Self {
        Self { terminal: Term::buffered_stderr(), text: RefCell::default() }
    }

    /// Draws a text in place of the one before, cut where the terminal ends.
    pub(super) fn show(&self, text: String) {
        self.text.replace(text);
        let _ = self.draw();
    }

    /// Writes to the terminal while the line stands aside.
    pub(super) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        let _ = self.clear();
        let written = write();
        let _ = self.draw();
        written
    }

    fn draw(&self) -> std::io::Result<()> {
        let columns = usize::from(self.terminal.size().1);
        self.terminal.clear_line()?;
        let text = self.text.borrow();
        self.terminal.write_str(&truncate_str(&text, columns.saturating_sub(RESERVED), "…"))?;
        self.terminal.flush()
    }

    fn clear(&self) -> std::io::Result<()> {
        self.terminal.clear_line()?;
        self.terminal.flush()
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}
