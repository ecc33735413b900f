//! The environment variables the program reads: one table, which `help environment` prints.

/// A variable.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// One line of meaning.
    pub doc: &'static str,
}

macro_rules! variables {
    ($($constant:ident = $name:literal: $doc:literal;)*) => {
        $(#[doc = $doc] pub const $constant: &str = $name;)*
        /// All of them, the most used first.
        pub const ALL: &[Variable] = &[$(Variable { name: $name, doc: $doc }),*];
    };
}

variables! {
    PROFILE = "STOREFRONT_PROFILE": "Profile to use (overridden by --profile)";
    BASE_URL = "STOREFRONT_BASE_URL": "Base URL (overrides the profile's base-url)";
    TOKEN = "STOREFRONT_TOKEN": "Customer token";
    ADMIN_TOKEN = "STOREFRONT_ADMIN_TOKEN": "Administrator token [default: the customer token]";
    STORE_VIEW = "STOREFRONT_STORE_VIEW": "Store view code (overridden by --store-view)";
    API = "STOREFRONT_API": "Interface, marketplace or magento (overridden by --api)";
    WRITES = "STOREFRONT_WRITES": "Who may write: yes, ask or no (the stricter of it and the profile's counts)";
    CONFIG = "STOREFRONT_CONFIG": "Configuration file [default: config.toml in the configuration directory]";
    OUTPUT = "STOREFRONT_OUTPUT": "Output format, table or json (overridden by --output)";
    ACCESSIBLE = "STOREFRONT_ACCESSIBLE": "Set to 1 for screen-reader-friendly prompts (numbered choices, no animation)";
    COMPLETE = "STOREFRONT_COMPLETE": "Internal: set by the completion scripts";
    NO_COLOR = "NO_COLOR": "Set to 1 to disable color (overridden by --color)";
    CLICOLOR_FORCE = "CLICOLOR_FORCE": "Set to 1 to force color";
    TERM = "TERM": "dumb: no color, and prompts as with STOREFRONT_ACCESSIBLE";
    HTTPS_PROXY = "HTTPS_PROXY": "Proxy for https:// (HTTP_PROXY, ALL_PROXY and NO_PROXY also apply)";
    SSL_CERT_FILE = "SSL_CERT_FILE": "PEM file of the certificates to trust [default: the system's]";
}

/// The variables of Linux and macOS for directories of programs.
const UNIX_DIRECTORIES: &[Variable] = &[
    Variable { name: "XDG_CONFIG_HOME", doc: "Base directory for config.toml and credentials.toml" },
    Variable { name: "XDG_DATA_HOME", doc: "Base directory for the sandbox database" },
    Variable { name: "XDG_STATE_HOME", doc: "Base directory for the log of what was written, and locks" },
];

/// The variables of Windows for directories of programs.
const WINDOWS_DIRECTORIES: &[Variable] = &[
    Variable { name: "APPDATA", doc: "Base directory for config.toml" },
    Variable {
        name: "LOCALAPPDATA",
        doc: "Base directory for credentials.toml, the log of what was written, locks and the sandbox database",
    },
];

/// The variables of this system that decide where the program's directories are.
pub const DIRECTORIES: &[Variable] = if cfg!(windows) { WINDOWS_DIRECTORIES } else { UNIX_DIRECTORIES };

/// The variable that decides where the log and locks are.
pub const STATE_HOME: &str = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" };

/// The hint without a known home directory.
pub fn set_home() -> &'static str {
    if cfg!(windows) {
        "set USERPROFILE, or APPDATA and LOCALAPPDATA"
    } else {
        "set HOME, or XDG_CONFIG_HOME, XDG_DATA_HOME and XDG_STATE_HOME"
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, DIRECTORIES, STATE_HOME, UNIX_DIRECTORIES, WINDOWS_DIRECTORIES};

    fn sources(directory: &std::path::Path, found: &mut Vec<(std::path::PathBuf, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }

    #[test]
    fn every_variable_the_code_names_is_in_the_table_and_only_there() {
        let mut texts = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
        for (_, text) in texts {
            for (start, _) in text.match_indices("STOREFRONT_") {
                let end = text[start..].find(|one: char| !one.is_ascii_uppercase() && one != '_');
                let name = &text[start..end.map_or(text.len(), |end| start + end)];
                // The commit is named while the program is built.
                let known = ["STOREFRONT_", "STOREFRONT_COMMIT"].contains(&name)
                    || ALL.iter().any(|variable| variable.name == name);
                assert!(known, "{name} is in no table");
            }
        }
    }

    #[test]
    fn each_system_names_its_own_directories_only() {
        let named = |variables: &[super::Variable]| variables.iter().any(|one| one.name.starts_with("XDG_"));
        assert!(named(UNIX_DIRECTORIES) && !named(WINDOWS_DIRECTORIES));
        assert!(DIRECTORIES.iter().any(|variable| variable.name == STATE_HOME));
        let mut texts = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
        let prefix = ["XDG", "_"].concat();
        let naming: Vec<_> = texts.iter().filter(|(_, text)| text.contains(&prefix)).collect();
        assert!(
            naming.len() == 1 && naming[0].0.ends_with("environment.rs"),
            "messages take the names from there"
        );
    }

    #[test]
    fn only_the_context_reads_the_environment() {
        let mut texts = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
        let read = ["env::", "var"].concat();
        let readers: Vec<_> = texts.iter().filter(|(_, text)| text.contains(&read)).collect();
        assert_eq!(readers.len(), 1, "{:?}", readers.iter().map(|(path, _)| path).collect::<Vec<_>>());
        assert!(readers[0].0.ends_with("context.rs"));
    }
}
