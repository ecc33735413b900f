use std::io::{BufReader, Cursor};

use super::CsvReader;

/// The rows with their lines, or what is wrong after them.
fn rows(text: &str) -> (Vec<(u64, Vec<String>)>, String) {
    // A reader that gives a byte at a time finds every seam.
    let input = BufReader::with_capacity(1, Cursor::new(text.as_bytes().to_vec()));
    let mut reader = CsvReader::open(input).unwrap();
    let (mut found, mut row) = (Vec::new(), csv::ByteRecord::new());
    loop {
        match reader.read(&mut row) {
            Ok(None) => return (found, String::new()),
            Ok(Some(line)) => {
                let cells = row.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
                found.push((line, cells.collect()));
            }
            Err(error) => return (found, error.to_string()),
        }
    }
}

fn lines(text: &str) -> Vec<u64> {
    let (rows, error) = rows(text);
    assert_eq!(error, "", "{text:?}");
    rows.into_iter().map(|(line, _)| line).collect()
}

#[test]
fn lines_are_those_of_an_editor_for_every_line_end() {
    let text = "a,b\n1,\"x\ny\"\n\n\n\"\n\",2\n3,4";
    for end in ["\n", "\r\n", "\r"] {
        assert_eq!(lines(&text.replace('\n', end)), [1, 2, 6, 8], "{end:?}");
        assert_eq!(lines(&format!("sep=;{end}a;b{end}1;2{end}")), [2, 3], "{end:?}");
    }
    assert_eq!(lines("a\r\n\r\nb\r\n"), [1, 3]);
}

#[test]
fn cells_are_what_the_csv_crate_reads_in_sound_files() {
    for text in [
        "a,b\n\"x\"\"y\",\" z\"\n",
        "a,b\r\n,\r\n\"\",x\"y\"\r\n",
        "a,b\n1,2,3\n4\n\"5\"",
        "a\n\"line\r\nbreak\"\n é, \"\n",
    ] {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let expected: Vec<Vec<String>> =
            reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
        let (rows, error) = rows(text);
        assert_eq!(rows.into_iter().map(|(_, cells)| cells).collect::<Vec<_>>(), expected, "{text:?}");
        assert_eq!(error, "");
    }
}

#[test]
fn a_quote_in_the_wrong_place_is_named_by_the_line_where_it_opens() {
    for end in ["\n", "\r\n", "\r"] {
        let (before, error) = rows(&"a,b\n1,2\n3,\"x\n4,5\n6,7\n".replace('\n', end));
        assert_eq!((before.len(), error.as_str()), (2, "line 3: unclosed quoted cell"));
        let (before, error) = rows(&"a,b\n1,\"x\ny\"z\n3,4\n".replace('\n', end));
        let expected = "line 2: text after the closing quote of a cell";
        assert_eq!((before.len(), error.as_str()), (1, expected));
    }
    assert_eq!(rows("a\n\"x\" \n").1.split(':').next(), Some("line 2"));
    assert_eq!(rows("\"a\n").1, "line 1: unclosed quoted cell");
}

#[test]
fn an_open_quote_in_a_large_file_is_refused_without_holding_it() {
    let text = format!("a\n1\n\"2\n{}", "3\n".repeat(9 << 20));
    let mut reader = CsvReader::open(BufReader::new(text.as_bytes())).unwrap();
    let mut row = csv::ByteRecord::new();
    let error = loop {
        match reader.read(&mut row) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end was read as if it were sound"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("line 3: ") && error.contains("16 MiB"), "{error}");
}

#[test]
fn delimiters_are_recognised() {
    for (text, cells) in [
        ("a;b\n", 2),
        ("a\tb\tc\n", 3),
        ("a,b;c\n", 2),
        ("\"a,b\";c;d\n", 3),
        ("sep=;\na;b\n", 2),
        ("\"sep=|\"\r\na|b\r\n", 2),
        ("SEP=\t\na\tb,c\n", 2),
        ("a\n", 1),
    ] {
        assert_eq!(rows(text).0[0].1.len(), cells, "{text:?}");
    }
}
