//! Plans. The hashes of their lines are made to fit: without them nothing but the first line would ever be read.
#![no_main]

use std::path::Path;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use storefront::plan::write::NewPlan;
use storefront::plan::{Plan, Planned};
use storefront::system::storage::Disk;
use storefront_core::text::hash::sha256;
use storefront_fuzz::{Case, HOME, commands, mutate, run};

fuzz_target!(|data: &[u8]| {
    let Some(case) = Case::parse(data) else { return };
    HOME.with(|home| {
        let home = home.clear();
        std::fs::write("a.plan", hashed(&String::from_utf8_lossy(&case.file))).unwrap();
        written_again(Path::new("a.plan"));
        run(&case, commands::PLAN, home);
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::into(data, size, max_size, seed, fuzzer_mutate)
});

/// A plan each of whose lines has its hash.
fn hashed(plan: &str) -> String {
    let mut id = None;
    let mut lines = String::new();
    for line in plan.lines() {
        let text = line.rsplit_once(",\"hash\":\"").map_or(line.trim_end_matches('}'), |(text, _)| text);
        let id = id.get_or_insert_with(|| {
            line.split("\"id\":\"").nth(1).unwrap_or("").chars().take(32).collect::<String>()
        });
        let hash = sha256(&mut format!("{id}\n{text}}}").as_bytes()).unwrap();
        lines.push_str(&format!("{text},\"hash\":\"{hash}\"}}\n"));
    }
    lines
}

/// What is read from a plan and written again is read the same.
fn written_again(path: &Path) {
    let records = |path: &Path| -> Option<Vec<String>> {
        let (plan, mut records) = (Plan::read(&Disk, Path::new("."), path).ok()?, Vec::new());
        plan.each(|_, record| Ok(records.push(format!("{record:?}")))).unwrap();
        Some(records)
    };
    let Some(before) = records(path) else { return };
    let plan = Plan::read(&Disk, Path::new("."), path).unwrap();
    let mut again = NewPlan::new("again.plan".into(), plan.header.clone());
    plan.each(|_, record: Planned| again.push(&Disk, &record)).unwrap();
    if again.finish(&Disk).unwrap().is_some() {
        assert_eq!(Some(before), records(Path::new("again.plan")));
    }
}
