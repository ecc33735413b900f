//! The rows a question takes on the screen, drawn over again as it changes. The cursor stays in the last one.

use dialoguer::console::measure_text_width;

use super::device::Device;

/// What is drawn at present.
pub struct Block<'a> {
    device: &'a Device,
    /// Rows of the screen above the one with the cursor.
    above: usize,
    drawn: Option<String>,
}

impl<'a> Block<'a> {
    /// Nothing is drawn yet.
    pub const fn new(device: &'a Device) -> Self {
        Self { device, above: 0, drawn: None }
    }

    /// Shows these lines, the cursor so many columns before the end of the last. What was only added to is not drawn
    /// anew: a screen reader would read all of it again.
    pub fn draw(&mut self, lines: &[String], before_end: usize) {
        let text = lines.join("\r\n");
        let added = self.drawn.as_deref().and_then(|drawn| text.strip_prefix(drawn));
        if let Some(added) = added.filter(|_| before_end == 0) {
            self.device.write(added);
        } else {
            let back = if before_end > 0 { format!("\x1b[{before_end}D") } else { String::new() };
            self.device.write(&format!("{}{text}{back}", self.erasing()));
        }
        self.above = rows(&text, self.device.size().0) - 1;
        self.drawn = (before_end == 0).then_some(text);
    }

    /// Leaves this text, if any, in its place; gives the rows it takes.
    pub fn close(self, text: &str) -> usize {
        let columns = self.device.size().0;
        let line = if text.is_empty() { String::new() } else { format!("{text}\r\n") };
        self.device.write(&format!("{}{line}", self.erasing()));
        if text.is_empty() { 0 } else { rows(text, columns) }
    }

    /// Leaves it is; what comes next stands on a line of its own.
    pub fn leave(self) {
        self.device.write("\r\n");
    }

    fn erasing(&self) -> String {
        let up = if self.above > 0 { format!("\x1b[{}A", self.above) } else { String::new() };
        format!("{up}\r\x1b[J")
    }
}

/// Rows that lines take on a screen that breaks them at its edge.
pub fn rows(text: &str, columns: usize) -> usize {
    text.split('\n')
        .map(|line| measure_text_width(line.trim_end_matches('\r')).div_ceil(columns).max(1))
        .sum()
}

/// Text broken between words into lines of so many columns. A word that is longer is broken where it must be.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let line = lines.last().map_or(0, |line| measure_text_width(line));
        if line > 0 && line + measure_text_width(word.trim_end()) > columns {
            lines.push(String::new());
        }
        for character in word.chars() {
            let mut bytes = [0; 4];
            let width = measure_text_width(character.encode_utf8(&mut bytes));
            let is_full = |line: &String| measure_text_width(line) + width > columns;
            if character != ' ' && lines.last().is_some_and(is_full) {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                line.push(character);
            }
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{rows, wrapped};

    #[test]
    fn text_is_broken_between_words_and_long_words_at_the_edge() {
        assert_eq!(wrapped("Name one", 20), ["Name one"]);
        assert_eq!(wrapped("Postcode   75002  (was 75001)", 20), ["Postcode   75002", "(was 75001)"]);
        assert_eq!(wrapped("東京都墨田区両国", 7), ["東京都", "墨田区", "両国"]);
        assert_eq!(wrapped("", 7), [""]);
    }

    #[test]
    fn a_line_as_wide_as_the_screen_takes_one_row() {
        assert_eq!((rows("", 10), rows("0123456789", 10), rows("0123456789a", 10)), (1, 1, 2));
        assert_eq!(rows("\u{1b}[1mbold\u{1b}[0m\r\nb", 4), 2);
    }
}
