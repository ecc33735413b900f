//! Options are added to one attribute by two commands of one machine, at once or one after another, which die and whose
//! answers are lost. In the end the default option that was there is there, unless somebody else has changed it.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use super::action::Action;
use super::disk::Disk;
use super::faults::FaultProfile;
use super::job::{Access, BatchFlags, Death, Job, Operation, RunOptions};
use super::machine::Machine;
use super::random::Random;
use super::world::World;

/// Seeds that `cargo test` runs.
const SEEDS: u64 = 200;

/// Two commands, each run a few times, and then once more when everything was made good; what is wrong then.
async fn simulate(seed: u64, is_traced: bool) -> (Option<String>, Vec<String>) {
    let mut random = Random::new(seed);
    let faults = FaultProfile {
        writes: random.pick(&[0, 30, 60]),
        reads: random.pick(&[0, 0, 20]),
        ..FaultProfile::default()
    };
    let mut world = World::new(random.next(), 1, true, faults, is_traced);
    let attribute = json!({"attribute_code": "color", "frontend_input": "select", "default_value": "49",
        "options": [{"label": " ", "value": ""}, {"label": "Black", "value": "49"}, {"label": "Blue", "value": "50"}]});
    world.attributes.insert("color".to_owned(), attribute.as_object().unwrap().clone());
    let labels = [["Orange", "Pink"], ["Pink", "Teal"]].map(|labels| labels.map(str::to_owned).to_vec());
    world.actions = (1..).zip(labels.map(Action::Options)).collect();
    let world = Rc::new(RefCell::new(world));
    let machine = Machine {
        world: world.clone(),
        number: 0,
        disk: Disk::new(random.next(), 0, 0),
        clock_error: Rc::new(Cell::new(0)),
        access: Access::Own,
        timeout: Duration::from_secs(random.pick(&[2, 5])),
        retry: random.pick(&[None, Some(0)]),
    };
    let jobs = [1, 2].map(|tag| Job {
        operation: Operation::AddOptions,
        records: vec![(tag, 0)],
        is_batch: false,
        input: PathBuf::new(),
        jobs: 1,
        token: 0,
        machine: 0,
        is_plan: false,
        is_of_view: false,
        verifies: false,
        base: None,
        batch: BatchFlags::default(),
    });
    let mut is_changed = false;
    for _ in 0..=random.below(3) {
        let options = [death(&mut random), death(&mut random)];
        let [one, other] = [0, 1].map(|at| machine.run(&jobs[at], options[at]));
        if random.chance(40) {
            futures_util::future::join(one, other).await;
        } else {
            one.await;
            if random.chance(70) {
                other.await;
            }
        }
        if random.chance(10) {
            // Somebody else chooses another one.
            let mut world = world.borrow_mut();
            world.catch_up();
            world.attributes.get_mut("color").unwrap().insert("default_value".to_owned(), json!("50"));
            world.log(|| "somebody makes Blue the default".to_owned());
            is_changed = true;
        }
        if random.chance(20) {
            machine.disk.lock().unwrap().lose_power();
        }
        tokio::time::sleep(random.millis(0, 20_000)).await;
    }
    world.borrow_mut().faults = FaultProfile::default();
    tokio::time::sleep(Duration::from_secs(11 * 60)).await;
    world.borrow_mut().catch_up();
    for job in &jobs {
        let code = machine.run(job, RunOptions::default()).await.code;
        if code != Some(0) {
            return (Some(format!("a command does not come to an end: {code:?}")), take_trace(&world));
        }
    }
    let wrong = wrong(&Value::Object(world.borrow().attributes["color"].clone()), is_changed);
    (wrong, take_trace(&world))
}

fn death(random: &mut Random) -> RunOptions {
    let death = match random.below(6) {
        0 | 1 => Death::Polls(u32::try_from(random.below(60)).unwrap()),
        2 => Death::After(random.millis(0, 3_000)),
        3 => Death::Write(random.below(8)),
        _ => Death::Never,
    };
    let interrupt = random.chance(10).then(|| random.millis(0, 2_000));
    RunOptions { death, interrupt, ..RunOptions::default() }
}

fn wrong(attribute: &Value, is_changed: bool) -> Option<String> {
    let default = attribute["default_value"].as_str().unwrap();
    // Who reads before somebody else's change sets back what was read.
    if default != "49" && !(is_changed && default == "50") {
        return Some(format!("the default option is {default:?}"));
    }
    let labels =
        attribute["options"].as_array().unwrap().iter().map(|option| option["label"].as_str().unwrap());
    let mut labels: Vec<&str> = labels.skip(1).collect();
    labels.sort_unstable();
    (labels != ["Black", "Blue", "Orange", "Pink", "Teal"]).then(|| format!("the options are {labels:?}"))
}

fn take_trace(world: &RefCell<World>) -> Vec<String> {
    std::mem::take(&mut world.borrow_mut().trace)
}

#[test]
fn a_default_option_is_there_in_the_end() {
    let one = super::number("STOREFRONT_SEED");
    let seeds = one.map_or(0..super::number("STOREFRONT_SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let mut broken = Vec::new();
    for seed in seeds {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let (wrong, trace) = runtime.block_on(simulate(seed, one.is_some()));
        if one.is_some() {
            super::print(&trace.join("\n"));
        }
        broken.extend(wrong.map(|what| format!("seed {seed}: {what}")));
    }
    assert!(broken.is_empty(), "{} seeds: {}", broken.len(), broken[..broken.len().min(5)].join("\n"));
}
