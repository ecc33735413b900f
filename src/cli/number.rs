//! Whole numbers as flags take them.

use std::str::FromStr;

/// A whole number. The standard library's errors speak of digits and strings.
///
/// # Errors
/// What was expected, for anything else.
pub fn integer<Number: FromStr>(text: &str) -> Result<Number, String> {
    text.trim().parse().map_err(|_| {
        let is_integer = exact_integer(text.trim());
        if is_integer { "out of range".to_owned() } else { "expected an integer".to_owned() }
    })
}

fn exact_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn an_integer_is_said_to_be_expected() {
        assert_eq!(integer("12"), Ok(12_u32));
        assert_eq!(integer::<i64>("abc"), Err("expected an integer".to_owned()));
        assert_eq!(integer::<u16>("70000"), Err("out of range".to_owned()));
        assert_eq!(integer::<usize>("-1"), Err("out of range".to_owned()));
    }
}
