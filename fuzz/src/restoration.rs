//! Putting a snapshot back: its laws on any two profiles.

use arbitrary::Unstructured;
use crate::merge::{customer, ids, list, told, verified};
use storefront::plan::profile::restore::{restore, Extent};


/// Puts one profile back over another, both made of the bytes, and sees the laws kept.
pub fn hold(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (Ok(stored), Ok(snapshot)) = (customer(&mut bytes), customer(&mut bytes)) else { return };
    for delete_newer in [false, true] {
        let Ok(merged) = restore(&stored, &snapshot, &stored, Extent::All, delete_newer) else { return };
        let there = ids(&merged.customer);
        let lost: Vec<i64> = ids(&stored).into_iter().filter(|id| !there.contains(id)).collect();
        assert_eq!(lost, merged.tally.removed);
        assert!(delete_newer || lost.is_empty(), "nothing is deleted unless that is asked");
        assert!(lost.iter().all(|id| !ids(&snapshot).contains(id)), "what the snapshot has stays");
        let back = ids(&snapshot).iter().filter(|id| !there.contains(id)).count();
        assert!(merged.tally.added <= back, "only what is gone comes back");
        assert!(list(&merged.customer).len() >= list(&snapshot).len(), "as many as there were");
        told(&stored, &merged);
        verified(&stored, &merged);
    }
}
