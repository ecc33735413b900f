//! Whole outputs against snapshots: what differs from run to run is replaced in this one place.

use std::sync::OnceLock;

use regex_lite::Regex;
use snapbox::data::DataFormat;
use snapbox::{Assert, Data, IntoData};

use super::storefront::Outcome;

/// Asserts that `actual` is the snapshot, apart from what [`redacted`] replaces. `SNAPSHOTS=overwrite` writes it anew.
#[track_caller]
pub fn assert_snapshot(actual: &str, expected: impl IntoData) {
    let actual = redacted(actual);
    // The last line ends, which no snapshot needs to show.
    let actual = actual.strip_suffix('\n').unwrap_or(&actual);
    compare(actual, expected.into_data());
}

/// Replaces directories, ports, times, durations, ages and versions by placeholders.
pub fn redacted(text: &str) -> String {
    static RULES: OnceLock<Vec<(Regex, &str)>> = OnceLock::new();
    let rules = RULES.get_or_init(|| {
        let temporary = std::env::temp_dir();
        let temporary = regex_lite::escape(temporary.to_str().unwrap().trim_end_matches(['/', '\\']));
        let home = format!(r"(/private)?{temporary}[/\\]+\.tmp\w{{6}}");
        let rules = [
            (&*home, "[HOME]"),
            // The name of a snapshot directory, which also escapes capital letters.
            (r"sandbox%3A[^/\\]*sandbox\.db", "sandbox%3A[DATABASE]"),
            (r"(127\.0\.0\.1|localhost|\[::1\])(:|%3A)\d{4,5}", "$1$2[PORT]"),
            (r"\.tmp\w{6}", ".tmp[ID]"),
            (r"\b[0-9a-f]{64}\b", "[SHA256]"),
            (r"\b[0-9a-f]{32}\b", "[ID]"),
            (r"\d{8}T\d{6}(\.\d+)?Z(-\d+)?", "[SNAPSHOT]"),
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "[TIME]"),
            (r"\(\d+(\.\d+)? (ms|s)\)", "([DURATION])"),
            (r" bytes, \d+ ms", " bytes, [DURATION]"),
            (r"\bstorefront( |/)\d+\.\d+\.\d+", "storefront$1[VERSION]"),
            (r"\b((\d+ (s|min|h|days?) )+ago|just now)\b", "[AGE] ago"),
            (r"\buntil \d\d:\d\d\b", "until [TIME]"),
            (r"\(os error \d+\)", "(os error [N])"),
            (r"\bError code \d+", "Error code [N]"),
        ];
        rules.map(|(pattern, placeholder)| (Regex::new(pattern).unwrap(), placeholder)).to_vec()
    });
    let mut text = text.to_owned();
    for (pattern, placeholder) in rules {
        text = pattern.replace_all(&text, *placeholder).into_owned();
    }
    text
}

/// On Windows paths, quoting and the texts of the system differ: exit codes are compared there, texts are not.
#[track_caller]
fn compare(actual: &str, expected: Data) {
    if !cfg!(windows) {
        Assert::new().action_env("SNAPSHOTS").normalize_paths(false).eq(Data::text(actual), expected);
    }
}

/// What a write that failed says below its message; no snapshot has it.
pub const NO_CHANGES: &str = "  No changes were made.\n";

/// Standard error without that line, and whether it was there: once, and only where the code says that nothing was sent
/// or that it was refused.
#[track_caller]
pub fn without_no_changes(outcome: &Outcome) -> (String, bool) {
    let (stderr, count) = (&outcome.stderr, outcome.stderr.matches(NO_CHANGES).count());
    let may_say_so = count == 1 && !matches!(outcome.code, 0 | 8 | 9);
    assert!(count == 0 || may_say_so, "{outcome:?}");
    (stderr.replacen(NO_CHANGES, "", 1), count == 1)
}

impl Outcome {
    /// Asserts the exit code and both outputs as a whole.
    #[track_caller]
    pub fn assert(&self, code: i32, stdout: impl IntoData, stderr: impl IntoData) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        assert!(self.stderr.is_empty() || self.stderr.ends_with('\n'), "{self:?}");
        assert_snapshot(&self.stdout, stdout);
        assert_snapshot(&without_no_changes(self).0, stderr);
    }

    /// Asserts a failure: its exit code, its standard error as a whole, and no standard output.
    #[track_caller]
    pub fn assert_failure(&self, code: i32, stderr: impl IntoData) {
        assert_eq!(self.stdout, "", "{self:?}");
        assert_ne!(self.code, 0, "{self:?}");
        self.assert(code, Data::text(""), stderr);
    }

    /// Asserts a success: its standard output as a whole, and no standard error.
    #[track_caller]
    pub fn assert_success(&self, stdout: impl IntoData) {
        assert_eq!(self.stderr, "", "{self:?}");
        self.assert(0, stdout, Data::text(""));
    }

    /// Asserts a success that also reports on standard error: its standard error as a whole, and no standard output.
    #[track_caller]
    pub fn assert_report(&self, stderr: impl IntoData) {
        assert_eq!(self.stdout, "", "{self:?}");
        self.assert(0, Data::text(""), stderr);
    }
}

/// Asserts that `actual` is the text of a file below `tests/snapshots`.
#[track_caller]
pub fn assert_snapshot_file(actual: &str, name: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    assert_file(&redacted(actual), &path);
}

/// Asserts that `actual` is the text of a file.
#[track_caller]
pub fn assert_file(actual: &str, path: &std::path::Path) {
    compare(actual, Data::read_from(path, Some(DataFormat::Text)));
}
