//! The crash test, with four tasks side by side, oracles and measurements. However their calls take turns, the number of
//! durable steps is the same.

use super::Built;
use crate::crash::crash_everywhere;

#[test]
fn four_tasks_with_oracles_aborted_at_any_durable_step_end_as_if_they_had_not_been() {
    let story = Built { slow: false, has_oracles: true, jobs: "4" };
    crash_everywhere(&story).report("an evolve run with oracles", 600);
}
