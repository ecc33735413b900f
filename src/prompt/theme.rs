//! How questions look without drawing: in `TERM=dumb`, and for screen readers. `dialoguer`'s plain theme puts a colon
//! after a question mark.

use std::fmt;

use dialoguer::theme::Theme;

/// Words only: no marks, no color.
pub struct PlainTheme;

impl Theme for PlainTheme {
    fn format_prompt(&self, out: &mut dyn fmt::Write, prompt: &str) -> fmt::Result {
        let is_question = ["?", "/n)", "/N)"].iter().any(|end| prompt.ends_with(end));
        write!(out, "{prompt}{}", if is_question { "" } else { ":" })
    }

    fn format_input_prompt(&self, out: &mut dyn fmt::Write, prompt: &str, _: Option<&str>) -> fmt::Result {
        self.format_prompt(out, prompt)?;
        out.write_char(' ')
    }
}

#[cfg(test)]
mod tests {
    use dialoguer::theme::Theme;

    use super::PlainTheme;

    #[test]
    fn a_question_has_no_colon_and_a_field_has_one() {
        let shown = |prompt: &str| {
            let mut text = String::new();
            PlainTheme.format_input_prompt(&mut text, prompt, None).unwrap();
            text
        };
        assert_eq!(shown("Another change?"), "Another change? ");
        assert_eq!(shown("Send it? (y/n)"), "Send it? (y/n) ");
        assert_eq!(shown("Company (optional)"), "Company (optional): ");
    }
}
