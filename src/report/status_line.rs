//! One line at the end of a terminal's standard error that is drawn again and again: how far a batch is, or what is
//! waited for. It is gone from the screen when it goes out of scope.

use std::cell::RefCell;
use std::rc::Rc;

use dialoguer::console::{Term, truncate_str};

/// Columns that stay free: for the `^C` that a terminal shows, and the last one, after which some begin a new line.
const RESERVED: usize = 3;

thread_local! {
    /// The terminal is one, and so is the line on it: everything written to it meanwhile has to know of the line.
    static LINE: RefCell<Option<Rc<StatusLine>>> = const { RefCell::new(None) };
}

/// The line on the terminal, as long as this lives.
#[derive(Debug)]
pub(super) struct ShownLine(Rc<StatusLine>);

impl ShownLine {
    /// Shows nothing yet.
    pub(super) fn new() -> Self {
        let line = Rc::new(StatusLine { terminal: Term::buffered_stderr(), text: RefCell::default() });
        LINE.set(Some(line.clone()));
        Self(line)
    }

    /// Draws a text in place of the one before, cut where the terminal ends.
    pub(super) fn show(&self, text: String) {
        self.0.text.replace(text);
        let _ = self.0.draw();
    }
}

impl Drop for ShownLine {
    fn drop(&mut self) {
        LINE.take();
        let _ = self.0.clear();
    }
}

/// Writes to the terminal while the line, if there is one, stands aside.
pub(super) fn suspend<T>(write: impl FnOnce() -> T) -> T {
    let Some(line) = LINE.with_borrow(Clone::clone) else { return write() };
    let _ = line.clear();
    let written = write();
    let _ = line.draw();
    written
}

/// The line and what it shows. It is decoration: where it cannot be drawn, the work goes on without it.
#[derive(Debug)]
struct StatusLine {
    terminal: Term,
    text: RefCell<String>,
}

impl StatusLine {
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
