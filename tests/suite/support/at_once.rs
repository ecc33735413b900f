//! Many cells of a table at once.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many run at once: most of their time they wait.
const WORKERS: usize = 10;

/// Maps with several workers, in order.
pub fn at_once<Item: Sync, Made: Send>(items: &[Item], make: impl Fn(&Item) -> Made + Sync) -> Vec<Made> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(items.len()) {
            scope.spawn(|| {
                while let Some((at, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
                {
                    let one = make(item);
                    made.lock().unwrap().insert(at, one);
                }
            });
        }
    });
    made.into_inner().unwrap().into_values().collect()
}
