//! Command lines and all they print, one table a topic: `tests/cmd`. `SNAPSHOTS=overwrite` writes what they print anew.
//!
//! - `## TITLE` begins a part: a new home without a service. `# TEXT` is a comment.
//! - `$ [NAME=VALUE…] storefront ARGUMENTS [< FILE | <<< TEXT | > FILE]` runs the program; `> ` continues a line. What it prints follows. A code
//!   other than 0 comes first, `? 3`, and `? 3 no changes` is one that says so. Where standard output and standard error
//!   both have something, each has a heading. What clap adds to each of its errors is left out.
//! - `$ serve marketplace|magento [FAULT…]` sets the environment for a sandbox that is reached over HTTP; `$URL` is its
//!   address. `$ requests` prints those that arrived since it was last asked; `$ requests | sort` is for those of which several
//!   are sent at a time.
//! - `$ export NAME=VALUE`, `$ unset NAME`, `$ cat FILE`, `$ edit FILE OLD NEW`, `$ ls DIRECTORY`, `$ rm FILE`, `$ ln FILE
//!   LINK`, `$ mkdir DIRECTORY`, `$ chmod MODE FILE`: as in a shell. `$ printf TEXT > FILE` makes the directory, too, `$ mode
//!   FILE` prints the permission bits, and `$ attributes COUNT > FILE` writes a CSV of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::batch::attributes;
use crate::support::raw_http::{ADMIN, CUSTOMER};
use crate::support::snapshot::{assert_file, redacted, without_no_changes};
use crate::support::storefront::Outcome;
use crate::support::test_env::TestEnv;

/// What one part runs in.
struct Shell {
    env: TestEnv,
    variables: BTreeMap<String, String>,
}

/// Runs a table; the whole of it is compared, so that a difference shows where it is.
fn run(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd").join(name).with_extension("txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut shell, mut actual, mut is_output) = (Shell::new(), String::new(), false);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("## ") {
            shell = Shell::new();
            actual.push_str(if actual.is_empty() { "" } else { "\n" });
        }
        is_output = !line.starts_with('#') && (is_output || line.starts_with("$ "));
        if !line.starts_with("$ ") {
            if !is_output && !line.is_empty() {
                writeln!(actual, "{line}").unwrap();
            }
            continue;
        }
        let (mut command, mut shown) = (line[2..].to_owned(), line.to_owned());
        while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
            command.push_str(&more[1..]);
            write!(shown, "\n{more}").unwrap();
        }
        writeln!(actual, "{shown}").unwrap();
        for printed in redacted(&shell.run(&command)).trim_end_matches('\n').lines() {
            let begins_like_a_line = printed.starts_with('#') || printed.starts_with("$ ");
            writeln!(actual, "{}{printed}", if begins_like_a_line { "\\" } else { "" }).unwrap();
        }
    }
    assert_file(&actual, &path);
    // Where texts are not compared, codes are.
    let codes = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("? ")).map(str::to_owned).collect()
    };
    assert!(std::env::var_os("SNAPSHOTS").is_some() || codes(&actual) == codes(&text), "{name}: {actual}");
}

impl Shell {
    fn new() -> Self {
        Self { env: TestEnv::new(), variables: BTreeMap::new() }
    }

    /// A file of the home directory. On Windows tokens are not beside the configuration.
    fn file(&self, name: &str) -> PathBuf {
        let home = &self.env.home;
        name.strip_prefix("config/storefront/")
            .map_or_else(|| home.dir.path().join(name), |name| home.path(name))
    }

    /// What a command prints.
    fn run(&mut self, line: &str) -> String {
        let words = shell_words::split(&line.replace("$URL", &self.env.url())).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let file = |name: &str| self.file(name);
        match words[..] {
            ["serve", api, ref faults @ ..] => self.serve(api, faults),
            ["requests"] => return self.env.requests().join(", "),
            ["requests", "|", "sort"] => {
                let mut requests = self.env.requests();
                requests.sort();
                return requests.join(", ");
            }
            ["export", setting] => {
                let (name, value) = setting.split_once('=').unwrap();
                self.variables.insert(name.to_owned(), value.to_owned());
            }
            ["unset", name] => {
                self.variables.remove(name).unwrap();
            }
            ["printf", text, ">", name] => {
                std::fs::create_dir_all(file(name).parent().unwrap()).unwrap();
                std::fs::write(file(name), unescaped(text)).unwrap();
            }
            ["chmod", mode, name] => chmod(&file(name), mode),
            ["mode", name] => return mode(&file(name)),
            ["cat", name] => return std::fs::read_to_string(file(name)).unwrap().replace('\r', "\\r"),
            ["edit", name, old, new] => {
                let text = std::fs::read_to_string(file(name)).unwrap();
                assert!(text.contains(old), "{name} has no {old}: {text}");
                std::fs::write(file(name), text.replace(old, new)).unwrap();
            }
            ["attributes", count, ">", name] => {
                std::fs::write(file(name), attributes(count.parse().unwrap())).unwrap();
            }
            ["ln", name, link] => std::fs::hard_link(file(name), file(link)).unwrap(),
            ["rm", name] => std::fs::remove_file(file(name)).unwrap(),
            ["mkdir", name] => std::fs::create_dir_all(file(name)).unwrap(),
            ["ls", name] => {
                let entries = std::fs::read_dir(file(name)).into_iter().flatten();
                let mut names: Vec<_> =
                    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
                names.retain(|name| !name.starts_with("service.db"));
                names.sort();
                return names.join("\n");
            }
            _ => return self.storefront(&words),
        }
        String::new()
    }

    fn serve(&mut self, api: &str, faults: &[&str]) {
        self.env = TestEnv::with_faults(faults);
        let (rest, more) = match api {
            "marketplace" => ("", ("STOREFRONT_STORE_VIEW", "default")),
            "magento" => ("/rest", ("STOREFRONT_API", "magento")),
            other => panic!("no interface {other}"),
        };
        let url = self.env.url() + rest;
        let all = [
            ("STOREFRONT_BASE_URL", url.as_str()),
            ("STOREFRONT_TOKEN", CUSTOMER),
            ("STOREFRONT_ADMIN_TOKEN", ADMIN),
            more,
        ];
        self.variables = all.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    }

    fn storefront(&self, words: &[&str]) -> String {
        let program = words.iter().position(|word| *word == "storefront");
        let (settings, arguments) =
            words.split_at(program.unwrap_or_else(|| panic!("no command: {words:?}")));
        let file = |name: &str| self.file(name);
        let (arguments, input, target) = match &arguments[1..] {
            [arguments @ .., "<", name] => (arguments, std::fs::read(file(name)).unwrap(), None),
            [arguments @ .., "<<<", text] => (arguments, unescaped(text), None),
            [arguments @ .., ">", name] => (arguments, Vec::new(), Some(*name)),
            arguments => (arguments, Vec::new(), None),
        };
        let settings = settings.iter().map(|setting| setting.split_once('=').unwrap());
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let program = self.env.home.storefront(arguments).stdin(input);
        let program =
            variables.chain(settings).fold(program, |program, (name, value)| program.env(name, value));
        let mut outcome = program.run();
        if let Some(name) = target {
            std::fs::write(file(name), std::mem::take(&mut outcome.stdout)).unwrap();
        }
        shown(&outcome)
    }
}

/// The code and the outputs as a table has them.
fn shown(outcome: &Outcome) -> String {
    assert!(!outcome.stderr.contains("panicked"), "{outcome:?}");
    assert!(outcome.stderr.is_empty() || outcome.stderr.ends_with('\n'), "{outcome:?}");
    let (stderr, has_no_changes) = without_no_changes(outcome);
    let ends = ["\n\nUsage: ", "\n\nFor more information, try '--help'."];
    let end = ends.iter().filter_map(|end| stderr.find(end)).min();
    let stderr = end.map_or(&*stderr, |end| &stderr[..=end]);
    let code = match (outcome.code, has_no_changes) {
        (0, _) => String::new(),
        (code, true) => format!("? {code} no changes\n"),
        (code, false) => format!("? {code}\n"),
    };
    let stdout = &outcome.stdout;
    match (outcome.code, stdout.is_empty(), stderr.is_empty()) {
        (0, _, true) => stdout.clone(),
        (1.., true, _) => code + stderr,
        (_, true, _) => format!("{code}[stderr]\n{stderr}"),
        _ => format!("{code}[stdout]\n{stdout}[stderr]\n{stderr}"),
    }
}

#[cfg(unix)]
fn chmod(file: &Path, mode: &str) {
    let mode = u32::from_str_radix(mode, 8).unwrap();
    std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn mode(file: &Path) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    format!("{:o}", std::fs::metadata(file).unwrap().permissions().mode() & 0o777)
}

/// Windows has no permission bits.
#[cfg(windows)]
fn chmod(_: &Path, _: &str) {}

#[cfg(windows)]
fn mode(_: &Path) -> String {
    String::new()
}

/// The bytes of a text with the escapes of printf(1).
fn unescaped(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'\\', [b'n', after @ ..]) => {
                bytes.push(b'\n');
                after
            }
            (b'\\', [b'r', after @ ..]) => {
                bytes.push(b'\r');
                after
            }
            (b'\\', [b't', after @ ..]) => {
                bytes.push(b'\t');
                after
            }
            (b'\\', digits) if digits.len() >= 3 && digits[..3].iter().all(u8::is_ascii_digit) => {
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits[..3]).unwrap(), 8).unwrap());
                &digits[3..]
            }
            (first, after) => {
                bytes.push(*first);
                after
            }
        };
    }
    bytes
}

macro_rules! tables {
    ($($(#[$when:meta])? $name:ident),* $(,)?) => {
        $($(#[$when])?
        #[test]
        fn $name() {
            run(stringify!($name));
        })*

        /// A table that nothing runs would hide its rules.
        #[test]
        fn every_table_is_run() {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd");
            let mut names: Vec<_> = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
            names.sort();
            let names: Vec<_> = names.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

tables!(
    attribute,
    attribute_exchange,
    attribute_sets,
    auth_login,
    auth_status,
    column_titles,
    config,
    config_edit,
    config_invalid,
    #[cfg(unix)]
    config_private,
    csv_input,
    customer_addresses,
    customer_base_file,
    customer_check,
    customer_input,
    customer_region,
    customer_restore,
    global_flags,
    input,
    input_batch,
    journal,
    jq,
    magento,
    order,
    order_update,
    plan,
    product_set,
    quote_add_item,
    quote_clear,
    quote_remove_item,
    quote_set_item,
    quote_ship,
    store_view,
    usage_errors,
);
