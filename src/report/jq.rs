//! `--jq`: an expression of the jq language, applied to each result.

use crate::exact_json;
use crate::failure::{Applied, Failure};
use jaq_core::data::JustLut;
use jaq_core::load::parse::Def;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars};
use jaq_json::{Val, read};

/// Definitions of the standard library that stand on what is not built in: regular expressions, dates, encodings,
/// mathematics beyond arithmetic, and whatever writes or ends the program by itself.
const LEFT_OUT: &[&str] = &[
    "@base64",
    "@base64d",
    "@html",
    "@htmld",
    "@uri",
    "@urid",
    "capture",
    "debug",
    "drem",
    "fromdate",
    "gamma",
    "gsub",
    "halt",
    "halt_error",
    "logb",
    "match",
    "nexttoward",
    "pow10",
    "scalb",
    "scan",
    "scan_",
    "significand",
    "splits",
    "stderr",
    "sub",
    "test",
    "todate",
];

/// A compiled expression.
pub struct Filter(jaq_core::Filter<JustLut<Val>>);

impl std::fmt::Debug for Filter {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Filter")
    }
}

impl Filter {
    /// Compiles an expression.
    ///
    /// # Errors
    /// `usage`, with what is wrong with it.
    pub fn compile(expression: &str) -> Result<Self, Failure> {
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).filter(is_built_in);
        let natives = jaq_core::funs().chain(jaq_std::base_funs()).chain(jaq_json::funs());
        let natives = natives.filter(|(name, ..)| *name != "halt");
        let arena = Arena::default();
        let program = File { code: expression, path: () };
        let modules = Loader::new(definitions).load(&arena, program).map_err(|errors| {
            refused(expression, errors.into_iter().flat_map(|(_, error)| syntax(error)).collect())
        })?;
        let filter = Compiler::default().with_funs(natives).compile(modules).map_err(|errors| {
            let undefined = errors.into_iter().flat_map(|(_, errors)| errors);
            let problem = |(name, kind): (&str, jaq_core::compile::Undefined)| {
                format!("unknown {} `{name}`", kind.as_str())
            };
            refused(expression, undefined.map(problem).collect())
        })?;
        Ok(Self(filter))
    }

    /// What the expression makes of a result, which is JSON text, each output on a line: text as it is, anything else as JSON.
    ///
    /// # Errors
    /// `internal` when it fails, telling whether what the result tells of was applied, and the result itself.
    pub fn apply(&self, result: &str) -> Result<String, Failure> {
        self.lines(result).map_err(|problem| {
            let told = exact_json::parse(result.as_bytes()).unwrap_or_default();
            let applied = match told["applied"].as_str() {
                Some("yes") => Applied::Yes,
                Some("unknown") => Applied::Unknown,
                _ => Applied::No,
            };
            Failure::internal(format!("--jq failed: {problem}"))
                .applied(applied)
                .hint(format!("full result: {result}"))
        })
    }

    fn lines(&self, result: &str) -> Result<String, String> {
        let input = read::parse_single(result.as_bytes()).map_err(|error| error.to_string())?;
        let context = Ctx::<JustLut<Val>>::new(&self.0.lut, Vars::new([]));
        let mut lines = String::new();
        for output in self.0.id.run((context, input)) {
            match output.map_err(problem)? {
                Val::TStr(text) => lines.push_str(&String::from_utf8_lossy(&text)),
                value => lines.push_str(&value.to_string()),
            }
            lines.push('\n');
        }
        Ok(lines)
    }
}

fn is_built_in(definition: &Def) -> bool {
    let regex_split = definition.name == "split" && definition.args.len() > 1;
    !regex_split && !LEFT_OUT.contains(&definition.name)
}

fn problem(exception: jaq_core::Exn<'_, Val>) -> String {
    exception.get_err().map_or_else(|_| "`halt`".to_owned(), |error| error.to_string())
}

fn syntax(error: jaq_core::load::Error<&str>) -> Vec<String> {
    use jaq_core::load::Error;
    let before =
        |rest: &str| if rest.is_empty() { "at end of expression".to_owned() } else { format!("at {rest:?}") };
    match error {
        Error::Io(modules) => modules.into_iter().map(|(name, why)| format!("{name}: {why}")).collect(),
        Error::Lex(errors) => errors
            .into_iter()
            .map(|(expected, rest)| format!("expected {} {}", expected.as_str(), before(rest)))
            .collect(),
        Error::Parse(errors) => errors
            .into_iter()
            .map(|(expected, rest)| format!("expected {} {}", expected.as_str(), before(rest)))
            .collect(),
    }
}

fn refused(expression: &str, problems: Vec<String>) -> Failure {
    Failure::usage(format!("--jq {expression:?}: {}", problems.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::Filter;
    use crate::failure::{Applied, FailureKind};

    fn made(expression: &str, result: &str) -> String {
        Filter::compile(expression).unwrap().apply(result).unwrap()
    }

    #[test]
    fn each_output_is_a_line_and_numbers_keep_their_text() {
        assert_eq!(
            made(".a, .b", r#"{"a": 1.50, "b": 12345678901234567890.10}"#),
            "1.50\n12345678901234567890.10\n"
        );
        assert_eq!(
            made(".a,.", r#"{"a":1E2,"$serde_json::private::Number":"1"}"#),
            "1E2\n{\"a\":1E2,\"$serde_json::private::Number\":\"1\"}\n"
        );
        assert_eq!(
            made(".", r#"{"b":99999999999999999999,"a":"é"}"#),
            "{\"b\":99999999999999999999,\"a\":\"é\"}\n"
        );
        assert_eq!(made(".[] | select(. != 2)", "[1,2,\"x y\"]"), "1\nx y\n");
        assert_eq!(made("map(tostring) | join(\",\")", "[1,2]"), "1,2\n");
        assert_eq!(made("to_entries[] | .key", r#"{"a":1}"#), "a\n");
        assert_eq!(made("empty", "1"), "");
    }

    #[test]
    fn a_wrong_expression_is_refused_with_its_fault() {
        for (expression, fault) in [
            (".[", "expected"),
            ("foo", "unknown filter `foo`"),
            ("$x", "unknown variable `$x`"),
            (".a | if", "expected"),
            ("env", "env"),
            ("halt(0)", "halt"),
        ] {
            let failure = Filter::compile(expression).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Usage);
            assert!(failure.message.contains(fault), "{failure}");
        }
    }

    #[test]
    fn a_failing_expression_does_not_hide_what_was_applied() {
        let filter = Filter::compile(".applied.x").unwrap();
        for (applied, told) in [("yes", Applied::Yes), ("no", Applied::No), ("unknown", Applied::Unknown)] {
            let failure = filter.apply(&format!("{{\"applied\":\"{applied}\"}}")).unwrap_err();
            assert_eq!((failure.kind, failure.applied), (FailureKind::Internal, told));
            assert!(failure.hint.unwrap().contains(applied));
        }
    }
}
