//! Paths that a person types, which must stay below the base URL.

use percent_encoding::percent_decode_str;

/// A path below the base URL, with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativePath(String);

impl RelativePath {
    /// Takes a path as the user wrote it.
    ///
    /// # Errors
    /// What is wrong with it: another host, a step up, a fragment, or a character that must be encoded.
    pub fn new(typed: &str) -> Result<Self, String> {
        let path = typed.split('?').next().unwrap_or_default();
        if path.contains("://") || path.starts_with("//") {
            return Err("must be relative to the base URL".to_owned());
        }
        if typed.contains('#') {
            return Err("`#` is not allowed; use %23".to_owned());
        }
        // A backslash would be read as a slash, and tabs and line breaks would vanish.
        if let Some(odd) = typed.chars().find(|one| *one == '\\' || one.is_whitespace() || one.is_control()) {
            return Err(format!("`{odd}` is not allowed in a path; percent-encode it"));
        }
        if path.split('/').any(is_dots) {
            return Err("`.` and `..` segments are not allowed".to_owned());
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self(format!("{slash}{typed}")))
    }

    /// The path, from its slash on.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a segment means "here" or "one up", encoded or not.
fn is_dots(segment: &str) -> bool {
    matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..")
}

#[cfg(test)]
mod tests {
    use super::RelativePath;

    #[test]
    fn a_path_stays_below_the_base_url() {
        for (typed, sent) in [
            ("/V1/store", "/V1/store"),
            ("V1/store?a=/../b&c=http://x", "/V1/store?a=/../b&c=http://x"),
            ("V1/..a/...", "/V1/..a/..."),
            ("V1/caf%C3%A9/%2F", "/V1/caf%C3%A9/%2F"),
        ] {
            assert_eq!(RelativePath::new(typed).unwrap().as_str(), sent);
        }
        for typed in [
            "https://evil.example/V1",
            "//evil.example/V1",
            "/V1/../../admin",
            "/V1/%2e%2E/admin",
            "/V1/.%2e",
            "..",
            "/V1/./x",
            "/V1\\..\\x",
            "/V1/.\t./x",
            "/V1/x y",
            "/V1/x#y",
            "/V1/x\u{1b}",
        ] {
            assert!(RelativePath::new(typed).is_err(), "{typed:?}");
        }
    }
}
