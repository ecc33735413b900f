//! The look of text for a person: width and color.

use std::borrow::Cow;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use comfy_table::Row;
use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};
use textwrap::core::Word;
use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

use crate::system::context::turn_on_escape_sequences;

/// The style of an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputStyle {
    /// Columns of the terminal; `None` without a terminal.
    pub width: Option<u16>,
    /// Whether color is wanted. It is never the only signal.
    pub color: bool,
}

/// The role of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// A failure, or a value that is removed.
    Error,
    /// A text that asks for attention.
    Warning,
    /// A success, or a value that is added.
    Success,
    /// The head of a table, or of a part of it.
    Head,
    /// An ID that other commands take, or the word `hint`.
    Id,
    /// A text that is less important than the text around it.
    Dim,
}

impl TextStyle {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(anstyle::Color::Ansi(color)));
        match self {
            Self::Error => color(AnsiColor::Red).bold(),
            Self::Warning => color(AnsiColor::Yellow).bold(),
            Self::Success => color(AnsiColor::Green),
            Self::Head => Style::new().bold(),
            Self::Id => color(AnsiColor::Cyan),
            Self::Dim => Style::new().dimmed(),
        }
    }
}

impl OutputStyle {
    /// The text in this style, if there is color.
    pub fn paint(self, style: TextStyle, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let escape = style.style();
        format!("{escape}{text}{escape:#}")
    }

    /// The text broken between words to fit the terminal; continued lines are indented. Text in backticks stays whole:
    /// commands have to be copied.
    pub fn wrapped(self, text: &str) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let lines = text.split('\n').map(|line| wrap(line, usize::from(width).max(20), "", "  ").join("\n"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// This style for text that is indented by two columns.
    #[must_use]
    pub fn indented(self) -> Self {
        Self { width: self.width.map(|width| width.saturating_sub(2)), ..self }
    }
}

/// A line broken into lines of at most so many columns, each after its indent.
pub fn wrap<'a>(line: &'a str, columns: usize, first: &'a str, others: &'a str) -> Vec<Cow<'a, str>> {
    let options = textwrap::Options::new(columns).initial_indent(first).subsequent_indent(others);
    let options = options.break_words(false).word_separator(WordSeparator::Custom(words));
    textwrap::wrap(
        line,
        options.word_splitter(WordSplitter::NoHyphenation).wrap_algorithm(WrapAlgorithm::FirstFit),
    )
}

/// The words of a line; text in backticks is one word.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut is_quoted = false;
    let words = line.split_inclusive(move |character| {
        is_quoted ^= character == '`';
        character == ' ' && !is_quoted
    });
    Box::new(words.map(Word::from))
}

/// A time as people say it: `0.4 s`, `45 s`, `12 min`, `3 h 5 min`, `9 days`.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 if time.subsec_millis() > 0 => format!("{:.1} s", time.as_secs_f64()),
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// A table that fits that screen, with these heads, if there are any.
pub fn table(screen: OutputStyle, heads: &[&str], rows: impl IntoIterator<Item = impl Into<Row>>) -> String {
    let rows: Vec<Row> = rows.into_iter().map(Into::into).collect();
    if screen.width.is_some_and(|width| !heads.is_empty() && !fits(heads, &rows, width.into())) {
        return upright(screen, heads, &rows);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).style_text_only();
    if let Some(width) = screen.width {
        table.set_width(width);
    }
    // The library leaves out the styles of cells without a console on Windows, as in a service.
    if screen.color && turn_on_escape_sequences() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    if !heads.is_empty() {
        table.set_header(heads.iter().map(|title| cell(TextStyle::Head, *title)).collect::<Vec<_>>());
    }
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.trim_fmt();
    // Each cell keeps its place next to right-to-left text.
    let in_columns = |line| if screen.width.is_some() { in_columns(line) } else { line.to_owned() };
    lines.lines().map(in_columns).collect::<Vec<_>>().join("\n")
}

/// Whether a table can be read at this width: each column has room for its longest word, or for a good part of it.
fn fits(heads: &[&str], rows: &[Row], width: usize) -> bool {
    const PART: usize = 16;
    let longest =
        |text: &str| text.split_whitespace().map(UnicodeWidthStr::width).max().unwrap_or(0).min(PART);
    let mut columns: Vec<usize> = heads.iter().map(|head| longest(head)).collect();
    for row in rows {
        for (column, cell) in columns.iter_mut().zip(row.cell_iter()) {
            *column = (*column).max(longest(&cell.content()));
        }
    }
    columns.iter().sum::<usize>() + 2 * columns.len().saturating_sub(1) <= width
}

/// The rows of a table that is too wide: each as a list of its values, next to their heads.
fn upright(screen: OutputStyle, heads: &[&str], rows: &[Row]) -> String {
    let list = |row: &Row| {
        let values =
            heads.iter().zip(row.cell_iter()).filter(|(_, value)| !value.content().trim().is_empty());
        table(screen, &[], values.map(|(head, value)| vec![cell(TextStyle::Head, *head), value.clone()]))
    };
    rows.iter().map(list).collect::<Vec<_>>().join("\n\n")
}

/// A line, and below it a table without heads, indented.
pub fn block(head: &str, screen: OutputStyle, rows: impl IntoIterator<Item = impl Into<Row>>) -> String {
    match table(screen.indented(), &[], rows) {
        none if none.is_empty() => head.to_owned(),
        rows => format!("{head}\n  {}", rows.replace('\n', "\n  ")),
    }
}

/// A cell in that style, if the table has color.
pub fn cell(style: TextStyle, text: impl Into<String>) -> Cell {
    let cell = Cell::new(text.into());
    match style {
        TextStyle::Error => cell.fg(Color::DarkRed),
        TextStyle::Success => cell.fg(Color::DarkGreen),
        TextStyle::Head => cell.add_attribute(Attribute::Bold),
        TextStyle::Warning => cell.fg(Color::DarkYellow),
        TextStyle::Id => cell.fg(Color::DarkCyan),
        TextStyle::Dim => cell.add_attribute(Attribute::Dim),
    }
}

/// Ends each part of right-to-left text with a mark of no width. Without it, a terminal that reorders such text takes the
/// next cell, such as a postcode, for part of it, and shows it on the wrong side.
fn in_columns(line: &str) -> String {
    const LEFT_TO_RIGHT_MARK: &str = "\u{200e}";
    let marked = |part: &str| if part.contains(is_right_to_left) { LEFT_TO_RIGHT_MARK } else { "" };
    let parts = line.split("  ").map(|part| format!("{part}{}", marked(part)));
    parts.collect::<Vec<_>>().join("  ")
}

/// The blocks of Unicode for right-to-left scripts.
fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::in_columns;
    use crate::report::style::{OutputStyle, TextStyle, table};
    use crate::system::context::turn_on_escape_sequences;

    #[test]
    fn lines_break_between_words_and_only_where_there_is_a_terminal() {
        let screen = OutputStyle { width: Some(20), color: true };
        assert_eq!(screen.wrapped("warning: 両国 is no code\nat all"), "warning: 両国 is no\n  code\nat all");
        assert_eq!(OutputStyle::default().wrapped("a  b"), "a  b");
        assert_eq!(screen.wrapped(&"x".repeat(30)), "x".repeat(30));
        assert_eq!(
            screen.wrapped("run `a bb ccc dddd eeeee`, or wait"),
            "run\n  `a bb ccc dddd eeeee`,\n  or wait"
        );
    }

    #[test]
    fn a_table_without_room_for_its_columns_is_a_list_for_each_row() {
        let screen = |width| OutputStyle { width: Some(width), color: false };
        let rows = || [["1", "amina.haddad@example.com", "Paris"], ["2", "sato@a.jp", ""]];
        let heads = ["CUSTOMER", "EMAIL", "CITY"];
        assert!(table(screen(40), &heads, rows()).starts_with("CUSTOMER  EMAIL"));
        let list = "CUSTOMER  1\nEMAIL     amina.haddad\n          @example.com\nCITY      Paris\n\n\
                    CUSTOMER  2\nEMAIL     sato@a.jp";
        assert_eq!(table(screen(24), &heads, rows()).replace(" \n", "\n"), list);
    }

    #[test]
    fn color_surrounds_the_text_and_only_where_it_is_wanted() {
        let screen = OutputStyle { width: None, color: true };
        assert_eq!(screen.paint(TextStyle::Success, "75001"), "\u{1b}[32m75001\u{1b}[0m");
        assert_eq!(screen.paint(TextStyle::Error, ""), "");
        assert_eq!(OutputStyle::default().paint(TextStyle::Error, "error"), "error");
    }

    #[test]
    fn a_cell_stays_on_its_side_of_right_to_left_text() {
        assert_eq!(in_columns("3  بيروت   1103"), "3  بيروت\u{200e}   1103");
        assert_eq!(in_columns("3  Paris   1103"), "3  Paris   1103");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let rows = [
            ["5", "東京都墨田区両国一丁目一番地 両国マンション三〇一号室", "墨田区"],
            ["3", "شارع الحمرا ١٢ الطابق الثالث بناية الحمرا سنتر", "بيروت"],
        ];
        let text = table(OutputStyle { width: Some(40), color: false }, &["ADDRESS", "STREET", "CITY"], rows);
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        assert!(text.lines().count() > 3, "{text}");
    }

    #[test]
    fn without_color_there_is_no_escape_and_with_it_no_blank_at_the_end() {
        let on =
            |color| table(OutputStyle { width: Some(60), color }, &["A", "B"], Vec::<Vec<String>>::new());
        assert_eq!(on(false), "A  B");
        // A service of Windows has no console that obeys.
        let head = if turn_on_escape_sequences() { "\u{1b}[1mA" } else { "A" };
        assert!(on(true).starts_with(head) && !on(true).ends_with(' '), "{:?}", on(true));
    }
}
