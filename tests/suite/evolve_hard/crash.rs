//! The crash test, with four tasks side by side. However their calls take turns, the number of durable steps is the same.

use super::Built;
use crate::crash::crash_everywhere;

#[test]
fn four_tasks_aborted_at_any_durable_step_end_as_if_they_had_not_been() {
    crash_everywhere(&Built { slow: false, jobs: "4" }).report("an evolve run", 500);
}
