//! Lines of bytes, found many bytes at a time: inputs and journals have millions of them.

use std::io::{self, BufRead, ErrorKind};

/// Appends the next line to `line`, its newline included, and returns its length: 0 at the end.
///
/// # Errors
/// The reader's errors.
pub fn read_line(input: &mut (impl BufRead + ?Sized), line: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            available => available?,
        };
        let newline = memchr::memchr(b'\n', available);
        let taken = newline.map_or(available.len(), |at| at + 1);
        line.extend_from_slice(&available[..taken]);
        input.consume(taken);
        length += taken;
        if newline.is_some() || taken == 0 {
            return Ok(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::read_line;

    #[test]
    fn lines_are_whole_however_little_is_read_at_a_time() {
        let text = "one\n\ntwo and more\nlast";
        for capacity in 1..text.len() + 2 {
            let mut input = BufReader::with_capacity(capacity, text.as_bytes());
            let mut lines = Vec::new();
            loop {
                let mut line = b"> ".to_vec();
                let length = read_line(&mut input, &mut line).unwrap();
                assert_eq!(length, line.len() - 2);
                if length == 0 {
                    break;
                }
                lines.push(String::from_utf8(line).unwrap());
            }
            assert_eq!(lines, ["> one\n", "> \n", "> two and more\n", "> last"], "{capacity}");
        }
    }
}
