use super::*;
use crate::loops::reflex::world::{TO_THE_THRESHOLD, missing, plan};
use crate::loops::tune::world::{Play, play};

#[test]
fn a_result_has_the_score_of_what_is_there() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    let begun = Play::begin(plan());
    let rows = [result(&play.run, None), result(&play.run, Some("0badc0de")), result(&begun.run, None)];
    assert_eq!(rows, ["100.0 at B", "    - at B", "    - at A"]);
}
