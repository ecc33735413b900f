//! `--jq`: an expression of the jq language, applied to each result.

use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars};
use jaq_json::{Val, read};
use storefront_core::failure::Failure;

/// The functions that would end the program.
const LEFT_OUT: [&str; 2] = ["halt", "halt_error"];

/// Formats of jq that the standard library here does not have.
const FORMATS: &str = r#"
def @csv: map(if . == null then "" elif isnumber or isboolean then tojson
    else "\"" + (tostring | gsub("\""; "\"\"")) + "\"" end) | join(",");
def @tsv: map(if . == null then "" else tostring end
    | gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") | gsub("\r"; "\\r")) | join("\t");
"#;

/// A compiled expression.
pub struct Filter {
    compiled: jaq_core::Filter<JustLut<Val>>,
}

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
        let formats = jaq_core::load::parse(FORMATS, |parser| parser.defs()).unwrap_or_default();
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(formats);
        let definitions = definitions.filter(|definition| !LEFT_OUT.contains(&definition.name));
        let natives = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
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
        Ok(Self { compiled: filter })
    }

    /// The outputs of the expression for a result, which is JSON text, one on a line: text as it is, other values as
    /// JSON.
    ///
    /// # Errors
    /// `usage` when it fails. The caller says whether what the result is about was applied. The result is not repeated: it
    /// may hold a whole profile.
    pub fn apply(&self, result: &str) -> Result<String, Failure> {
        self.lines(result).map_err(|problem| {
            Failure::usage(format!("`--jq` failed on the result: {problem}"))
                .hint("correct the expression; -o json without --jq prints the result it works on")
        })
    }

    fn lines(&self, result: &str) -> Result<String, String> {
        let input = read::parse_single(result.as_bytes()).map_err(|_| "it is not JSON".to_owned())?;
        let context = Ctx::<JustLut<Val>>::new(&self.compiled.lut, Vars::new([]));
        let mut lines = String::new();
        for output in self.compiled.id.run((context, input)) {
            match output.map_err(problem)? {
                Val::TStr(text) => lines.push_str(&String::from_utf8_lossy(&text)),
                value => lines.push_str(&value.to_string()),
            }
            lines.push('\n');
        }
        Ok(lines)
    }
}

/// The error up to its first value, of which only the type is named: it may be a whole profile.
fn problem(exception: jaq_core::Exn<'_, Val>) -> String {
    let Ok(error) = exception.get_err() else { return "`halt`".to_owned() };
    let text = error.to_string();
    let value = text.find(|one: char| one.is_ascii_digit() || "{[\"".contains(one));
    let Some((what, value)) = value.map(|start| text.split_at(start)) else { return text };
    match value.as_bytes()[0] {
        _ if what.is_empty() => "the expression raised an error".to_owned(),
        b'{' => format!("{what}an object"),
        b'[' => format!("{what}an array"),
        b'"' => format!("{what}a string"),
        _ => format!("{what}a number"),
    }
}

fn syntax(error: jaq_core::load::Error<&str>) -> Vec<String> {
    use jaq_core::load::Error;
    let expected = |what: &str, rest: &str| match rest {
        "" => format!("expected {what} at end of expression"),
        rest => format!("expected {what} at `{rest}`"),
    };
    match error {
        Error::Io(modules) => modules.into_iter().map(|(name, why)| format!("{name}: {why}")).collect(),
        Error::Lex(errors) => errors.iter().map(|(what, rest)| expected(what.as_str(), rest)).collect(),
        Error::Parse(errors) => errors.iter().map(|(what, rest)| expected(what.as_str(), rest)).collect(),
    }
}

fn refused(expression: &str, problems: Vec<String>) -> Failure {
    Failure::usage(format!("invalid `--jq` expression `{expression}`: {}", problems.join("; ")))
        .hint("correct the expression, or leave out `--jq`")
}

#[cfg(test)]
mod tests {
    use super::Filter;
    use storefront_core::failure::FailureKind;

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
            ("halt(0)", "halt"),
        ] {
            let failure = Filter::compile(expression).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Usage);
            assert!(failure.message.contains(fault), "{failure}");
        }
    }

    #[test]
    fn the_standard_library_is_there() {
        assert_eq!(made("map(select(test(\"^P\"))) | .[]", r#"["Paris","Lyon"]"#), "Paris\n");
        assert_eq!(made("sub(\"-\"; \"\")", r#""1-2""#), "12\n");
        assert_eq!(made("todate, @base64", "0"), "1970-01-01T00:00:00Z\nMA==\n");
    }

    #[test]
    fn rows_become_csv_and_tsv() {
        let row = r#"["a \"b\"",1.50,null,false,"c\td\\",{"e":1}]"#;
        assert_eq!(made("@csv", row), "\"a \"\"b\"\"\",1.50,,false,\"c\td\\\",\"{\"\"e\"\":1}\"\n");
        assert_eq!(made("@tsv", row), "a \"b\"\t1.50\t\tfalse\tc\\td\\\\\t{\"e\":1}\n");
    }

    #[test]
    fn an_error_names_the_type_of_the_first_value_and_no_values() {
        let result = r#"{"email":"amina@example.com","id":7,"addresses":[{"city":"Paris"}]}"#;
        for (expression, problem) in [
            (".addresses.city", "cannot index an array"),
            (".id.city", "cannot index a number"),
            (".email + 1", "cannot calculate a string"),
            ("error(.email)", "the expression raised an error"),
            (".email | tonumber", "the expression raised an error"),
            (".email | @csv", "cannot use a string"),
        ] {
            let failure = Filter::compile(expression).unwrap().apply(result).unwrap_err();
            assert_eq!(failure.message, format!("`--jq` failed on the result: {problem}"), "{expression}");
        }
    }

    #[test]
    fn a_failing_expression_is_a_usage_error_that_repeats_no_value_of_the_profile() {
        let filter = Filter::compile(".addresses.x").unwrap();
        let failure = filter.apply(r#"{"email":"amina@example.com","addresses":{"x":1}}"#);
        assert_eq!(failure.unwrap(), "1\n");
        let failure =
            filter.apply(r#"{"email":"amina@example.com","addresses":[{"city":"Paris"}]}"#).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage);
        let printed = format!("{failure} {}", failure.hint.clone().unwrap_or_default());
        assert!(!printed.contains("amina@example.com"), "{printed}");
    }
}
