use super::*;
use crate::report::reflex::world::{Play, TO_THE_THRESHOLD, missing, plan, play};

#[test]
fn a_row_has_the_score_of_what_is_there() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    let begun = Play::begin(plan());
    let rows = [row(&play.run, None), row(&play.run, Some("0badc0de")), row(&begun.run, None)];
    assert_eq!(rows.map(|(score, _)| score), ["  100 at B", "    - at B", "    - at A"]);
}
