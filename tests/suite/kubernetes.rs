//! The Job of docs/scripts.md: each exit code has its action.

use std::path::Path;

use serde_json::Value;
use storefront_core::failure::{FailureKind, KINDS};

fn manifest() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scripts.md");
    let page = std::fs::read_to_string(path).unwrap();
    let block = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let job = block.filter(|block| block.contains("kind: Job")).collect::<Vec<_>>();
    let [job] = job[..] else { panic!("one Job is expected: {job:?}") };
    serde_yaml_ng::from_str(job).unwrap()
}

#[test]
fn only_what_time_mends_is_tried_again_by_the_documented_job() {
    let job = manifest();
    let rules = job.pointer("/spec/podFailurePolicy/rules").unwrap().as_array().unwrap();
    let [rule] = &rules[..] else { panic!("{rules:?}") };
    assert_eq!((&rule["action"], &rule["onExitCodes"]["operator"]), (&"FailIndex".into(), &"In".into()));
    let failing: Vec<u64> =
        rule["onExitCodes"]["values"].as_array().unwrap().iter().map(|code| code.as_u64().unwrap()).collect();
    let again = [FailureKind::Unavailable, FailureKind::Interrupted].map(|kind| u64::from(kind.exit_code()));
    let codes = KINDS.iter().map(|kind| u64::from(kind.1));
    let expected: Vec<u64> = codes.filter(|code| !again.contains(code)).collect();
    assert_eq!(failing, expected);
    // With another policy a pod is started again in place, and no rule is looked at.
    assert_eq!(job.pointer("/spec/template/spec/restartPolicy").unwrap(), "Never");
}
