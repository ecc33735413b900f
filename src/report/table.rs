//! Tables without lines, fit for the terminal.

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

use crate::report::terminal::{OutputStyle, TextStyle};

/// An empty table for that screen.
pub fn new_table(screen: OutputStyle) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).style_text_only();
    if let Some(width) = screen.width {
        table.set_width(width);
    }
    if screen.color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

/// A cell in that ink, where the table has colour.
pub fn cell(ink: TextStyle, text: impl Into<String>) -> Cell {
    let cell = Cell::new(text.into());
    match ink {
        TextStyle::Before | TextStyle::Error => cell.fg(Color::DarkRed),
        TextStyle::After => cell.fg(Color::DarkGreen),
        TextStyle::Head => cell.add_attribute(Attribute::Bold),
        TextStyle::Warning => cell.fg(Color::DarkYellow),
        TextStyle::Hint | TextStyle::Id => cell.fg(Color::DarkCyan),
        TextStyle::Dim => cell.add_attribute(Attribute::Dim),
    }
}

/// The heads of the columns.
pub fn header(titles: &[&str]) -> Vec<Cell> {
    titles.iter().map(|title| cell(TextStyle::Head, *title)).collect()
}

/// The table's text without the blanks at its edges, each cell keeping its place next to right-to-left text.
pub fn render(table: &Table) -> String {
    let text = table.to_string();
    let indent = text.lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = text.lines().map(|line| line[indent..].trim_end());
    if table.width().is_none() {
        return lines.collect::<Vec<_>>().join("\n");
    }
    lines.map(in_columns).collect::<Vec<_>>().join("\n")
}

/// Ends each stretch of right-to-left text with a mark that has no width. Without it a terminal that reorders such
/// text takes the cell after it, a postcode say, for part of it, and shows it on the wrong side.
fn in_columns(line: &str) -> String {
    const LEFT_TO_RIGHT_MARK: char = '\u{200e}';
    let mut marked = String::with_capacity(line.len());
    for (index, part) in line.split("  ").enumerate() {
        if index > 0 {
            marked.push_str("  ");
        }
        marked.push_str(part);
        if part.chars().any(is_right_to_left) {
            marked.push(LEFT_TO_RIGHT_MARK);
        }
    }
    marked
}

/// The blocks that Unicode keeps for right-to-left scripts.
fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::in_columns;
    use crate::report::table::{header, new_table, render};
    use crate::report::terminal::OutputStyle;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_cell_stays_on_its_side_of_right_to_left_text() {
        assert_eq!(in_columns("3  بيروت   1103"), "3  بيروت\u{200e}   1103");
        assert_eq!(in_columns("3  Paris   1103"), "3  Paris   1103");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut table = new_table(OutputStyle { width: Some(40), color: false });
        table.set_header(header(&["ADDRESS", "STREET", "CITY"]));
        table.add_row(["5", "東京都墨田区両国一丁目一番地 両国マンション三〇一号室", "墨田区"]);
        table.add_row(["3", "شارع الحمرا ١٢ الطابق الثالث بناية الحمرا سنتر", "بيروت"]);
        let text = render(&table);
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        assert!(text.lines().count() > 3, "{text}");
    }

    #[test]
    fn without_colour_there_is_no_escape_and_with_it_no_blank_at_the_end() {
        let on = |color| {
            let mut table = new_table(OutputStyle { width: Some(60), color });
            table.set_header(header(&["A", "B"]));
            render(&table)
        };
        assert_eq!(on(false), "A  B");
        assert!(on(true).contains("\u{1b}[1mA") && !on(true).ends_with(' '), "{:?}", on(true));
    }
}
