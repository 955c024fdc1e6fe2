//! What changed since the last verdict is tuned again, once for each change.

use super::*;

#[test]
fn what_changed_is_tuned_again() {
    let mut journal = TestJournal::new();
    journal.whole_night(&wish("skill"), |_| 70.0);
    assert!(journal.whole_night(&wish("edited"), |_| 70.0).1, "a person has edited the skill");
    let mut other_suite = wish("edited");
    other_suite.key.suite = Digest::of(b"another");
    assert!(journal.whole_night(&other_suite, |_| 70.0).1);
    let mut updated = other_suite.clone();
    updated.key.agents = key("", "2").agents;
    assert!(journal.whole_night(&updated, |_| 70.0).1);
    assert!(!journal.whole_night(&updated, |_| 70.0).1);
}

fn reports(model: &str) -> Key {
    let mut key = wish("skill").key;
    key.models = BTreeMap::from([("executor".to_owned(), model.to_owned())]);
    key
}

/// Returns the days with a search, of nights that measure these models. `searches` reports the one of a search.
fn tuned(models: &[&str], searches: impl Fn(&str) -> Key) -> Vec<i64> {
    let (mut journal, mut tuned) = (TestJournal::new(), Vec::new());
    for &model in models {
        journal.night(&["a"]);
        let before = tuned.len();
        while let Some((_, work)) = journal.next(&[("a", wish("skill"))]) {
            if work == Work::Tune {
                journal.tuned("a", searches(model), false);
                tuned.push(journal.day);
            } else {
                journal.measured("a", work, reports(model), |_| 70.0);
            }
        }
        assert!(tuned.len() <= before + 1);
    }
    tuned
}

#[test]
fn a_job_whose_search_reports_other_models_than_its_measurements_is_tuned_once_for_each_change() {
    assert_eq!(tuned(&["old", "old", "new", "new", "new"], |_| reports("old")), [1, 3]);
}

#[test]
fn a_service_that_switches_between_two_models_costs_no_search_at_each_switch() {
    assert_eq!(tuned(&["x", "y", "x", "y", "x", "z", "y"], reports), [1, 2, 6]);
}
