//! Tests of [`super`].

mod deletion_guard {
    use crate::plan::profile::patch::check;
    use crate::plan::profile::patch::{AddressSummary, ProfilePatch};

    #[test]
    fn only_the_exact_number_opens_the_gate() {
        let patch = ProfilePatch { replace: true, ..ProfilePatch::default() };
        let summary = AddressSummary { removed: vec![3, 4], ..AddressSummary::default() };
        for refused in [None, Some(0), Some(1), Some(3)] {
            assert!(check(&patch, &summary, refused, true).is_err(), "{refused:?}");
        }
        assert!(check(&patch, &summary, Some(2), false).is_ok());
    }

    #[test]
    fn a_removal_by_name_needs_a_yes_or_its_number() {
        let patch = ProfilePatch { remove: vec![3], ..ProfilePatch::default() };
        let summary = AddressSummary { removed: vec![3], ..AddressSummary::default() };
        assert!(check(&patch, &summary, None, true).is_ok());
        assert!(check(&patch, &summary, None, false).is_err());
        assert!(check(&patch, &summary, Some(1), false).is_ok());
        assert!(check(&patch, &summary, Some(2), true).is_err());
    }
}
