//! The source layout: modules import only modules below them, and there are no import cycles between files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules from bottom to top. A module may import only modules before it.
const MODULES: [&str; 18] = [
    "system",
    "log",
    "journal",
    "cli",
    "input",
    "config",
    "report",
    "prompt",
    "client",
    "state",
    "write",
    "ops",
    "plan",
    "completion",
    "past",
    "batch",
    "commands",
    "lib",
];

/// The crates.
const CRATES: [&str; 3] = ["src", "crates/core/src", "crates/sandbox/src"];

/// Every module of a crate with its file's text, without what is compiled only for tests.
fn modules(root: &str) -> BTreeMap<Vec<String>, String> {
    fn visit(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut files = Vec::new();
    visit(&root, &mut files);
    let mut modules = BTreeMap::new();
    let mut tests = BTreeSet::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap().with_extension("");
        let mut name: Vec<String> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if name.last().is_some_and(|last| last == "mod") {
            name.pop();
        }
        match name.first().map(String::as_str) {
            Some("main") => continue,
            Some("lib") if name.len() == 1 => name.clear(),
            _ => {}
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            if pair[0] == "#[cfg(test)]" && pair[1].ends_with(';') {
                let child = pair[1].trim_end_matches(';').rsplit(' ').next().unwrap();
                tests.insert([name.clone(), vec![child.to_owned()]].concat());
            }
        }
        let tests_begin = text.match_indices("\n#[cfg(test)]\n").map(|(at, _)| at);
        let end = tests_begin.filter(|at| text[*at..].contains("mod tests {")).last().unwrap_or(text.len());
        let kept = text[..end].to_owned();
        modules.insert(name, kept);
    }
    // What is compiled for tests only may use everything.
    modules.retain(|name, _| (1..=name.len()).all(|length| !tests.contains(&name[..length])));
    modules
}

/// The paths that `use` declarations name, groups spread out.
fn imports(text: &str) -> Vec<String> {
    fn spread(prefix: &str, tree: &str, found: &mut Vec<String>) {
        let tree = tree.trim();
        let Some((head, rest)) = tree.split_once('{') else {
            let path = tree.split(" as ").next().unwrap();
            found.push(format!("{prefix}{path}"));
            return;
        };
        let prefix = format!("{prefix}{head}");
        let (mut depth, mut start) = (0, 0);
        let inside = &rest[..rest.rfind('}').unwrap()];
        for (at, sign) in inside.char_indices() {
            match sign {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    spread(&prefix, &inside[start..at], found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        if !inside[start..].trim().is_empty() {
            spread(&prefix, &inside[start..], found);
        }
    }
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for declaration in code.split(';') {
        let declaration =
            declaration.rsplit('}').next().filter(|_| !declaration.contains("use ")).unwrap_or(declaration);
        if let Some(at) = declaration.find("use crate::").or_else(|| declaration.find("use super::")) {
            spread("", &declaration[at + 4..], &mut found);
        }
    }
    // Paths that are written out where they are used.
    for piece in code.split("crate::").skip(1) {
        let end = piece
            .find(|sign: char| !sign.is_alphanumeric() && sign != '_' && sign != ':')
            .unwrap_or(piece.len());
        found.push(format!("crate::{}", piece[..end].trim_end_matches(':')));
    }
    found
}

/// Which module each module of a crate imports; an item is its module.
fn graph(root: &str) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let modules = modules(root);
    let mut graph = BTreeMap::new();
    for (name, text) in &modules {
        let mut targets = BTreeSet::new();
        for path in imports(text) {
            let mut parts: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
            let mut target = if parts[0] == "crate" { Vec::new() } else { name.clone() };
            if parts[0] == "crate" {
                parts.remove(0);
            }
            while parts.first().is_some_and(|part| part == "super") {
                target.pop();
                parts.remove(0);
            }
            target.extend(parts.into_iter().filter(|part| part != "self"));
            while !target.is_empty() && !modules.contains_key(&target) {
                target.pop();
            }
            if target != *name && !target.is_empty() {
                targets.insert(target);
            }
        }
        graph.insert(name.clone(), targets);
    }
    assert!(graph.len() > 40, "{} modules", graph.len());
    graph
}

fn rank(module: &[String]) -> usize {
    let name = module.first().map_or("lib", String::as_str);
    MODULES
        .iter()
        .position(|module| *module == name)
        .unwrap_or_else(|| panic!("{name} has no place in the layout"))
}

#[test]
fn modules_import_only_modules_below_them() {
    let upward: Vec<String> = graph("src")
        .iter()
        .flat_map(|(from, targets)| targets.iter().map(move |to| (from.clone(), to.clone())))
        .filter(|(from, to)| rank(to) > rank(from))
        .map(|(from, to)| format!("{} imports {}", from.join("::"), to.join("::")))
        .collect();
    assert_eq!(upward, Vec::<String>::new());
}

#[test]
fn no_files_import_each_other() {
    for root in CRATES {
        assert_eq!(circle(root), Vec::<String>::new(), "{root}");
    }
}

/// The modules of a crate that are in a cycle, or between two.
fn circle(root: &str) -> Vec<String> {
    // A directory's own file names its children, and they name it: that is one module, not a cycle.
    let family = |one: &[String], other: &[String]| one.starts_with(other) || other.starts_with(one);
    let mut graph = graph(root);
    for (from, targets) in &mut graph {
        targets.retain(|to| !family(from, to));
    }
    // A module that imports no remaining one is in no cycle; what remains at the end is.
    loop {
        let leaves: BTreeSet<_> =
            graph.iter().filter(|(_, targets)| targets.is_empty()).map(|(name, _)| name.clone()).collect();
        if leaves.is_empty() {
            break;
        }
        graph.retain(|name, _| !leaves.contains(name));
        for targets in graph.values_mut() {
            targets.retain(|to| !leaves.contains(to));
        }
    }
    // Modules that only import a cycle are not part of it.
    loop {
        let named: BTreeSet<_> = graph.values().flatten().cloned().collect();
        let before = graph.len();
        graph.retain(|name, _| named.contains(name));
        if graph.len() == before {
            break;
        }
    }
    graph.keys().map(|name| name.join("::")).collect()
}

/// Calls of the client's sender.
const SENDS: [&str; 5] = [
    "service.send(",
    "service.attempt(",
    "service.send_preparation(",
    ".log_before_send(",
    ".log_before_change(",
];

/// The only files that send writes, but for the client and the journal. What goes out by another one is not written down, looked for
/// nor reported as the rest.
const SENDERS: [&str; 2] = ["write", "write/gate"];

#[test]
fn writes_are_sent_by_the_one_way_to_write_alone() {
    let sends = |(name, text): &(Vec<String>, String)| {
        let is_below = matches!(name.first().map(String::as_str), Some("client" | "journal"));
        !is_below && SENDS.iter().any(|call| text.contains(call))
    };
    let found: Vec<String> =
        modules("src").into_iter().filter(sends).map(|(name, _)| name.join("/")).collect();
    assert_eq!(found, SENDERS, "give `write` a call with its effect and its owner");
}
