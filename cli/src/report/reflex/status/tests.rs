use super::*;
use crate::report::reflex::world::{Play, TO_THE_THRESHOLD, missing, plan, play};

#[test]
fn a_result_has_the_score_of_what_is_there() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    let begun = Play::begin(plan());
    let rows = [result(&play.run, None), result(&play.run, Some("0badc0de")), result(&begun.run, None)];
    assert_eq!(rows, ["  100 at B", "    - at B", "    - at A"]);
}
