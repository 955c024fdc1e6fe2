//! Random kills of a run with four tasks side by side.

use super::{Built, assert_untouched};
use crate::kill::kill_again_and_again;
use crate::story::Story as _;
use crate::tier::Tier;

fn kills() -> usize {
    match Tier::of_this_run() {
        Tier::First => 4,
        Tier::Ci | Tier::All => 100,
    }
}

#[test]
fn four_tasks_killed_again_and_again_end_as_if_they_had_not_been() {
    killed(false);
}

#[test]
fn oracles_and_measurements_killed_again_and_again_end_as_if_they_had_not_been() {
    killed(true);
}

fn killed(has_oracles: bool) {
    let story = Built { slow: true, has_oracles, jobs: "4" };
    let figures = kill_again_and_again(&story, &story.whole(), kills(), |scene, _| {
        assert_untouched(scene, "killed");
    });
    let with = if has_oracles { " with oracles" } else { "" };
    eprintln!("random kills: {figures:?} of evolve{with}, 0 runs lost, 0 projects changed");
}
