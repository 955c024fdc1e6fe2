use skilltune_phases::loops::reflex::Step;
use skilltune_phases::runs::event::FailureKind;

use crate::loops::reflex::world::{HOSTILE, TO_THE_THRESHOLD, missing, plan};
use crate::loops::tune::world::{failed, play};
use crate::report::journal;

#[test]
fn every_event_is_one_line() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    let lines: Vec<_> = play.records.iter().map(|record| journal::line(&play.run, record)).collect();
    insta::assert_snapshot!(lines[..13].join("\n"), @r"
          0  2023-11-14 22:13:20  run courses-api-20260218-120000 started: Write the API of a course catalogue
          1  2023-11-14 22:13:21  PLAN begins
          2  2023-11-14 22:13:22  planning: 3 steps
          3  2023-11-14 22:13:23  the plan has 3 steps
          4  2023-11-14 22:13:24  PRODUCE_PREPARE begins
          5  2023-11-14 22:13:25  writing the artifact: 56c18f3a, 50 B
          6  2023-11-14 22:13:26  preparing the checks of level A: 4 checks
          7  2023-11-14 22:13:27  wrote artifact 56c18f3a, 4 checks prepared
          8  2023-11-14 22:13:28  EVALUATE begins
          9  2023-11-14 22:13:29  matching patterns: 0 of 0 checks met
         10  2023-11-14 22:13:30  judging completeness of level A: 1 of 2 rules met
         11  2023-11-14 22:13:31  judging correctness of level A: 1 of 2 rules met
         12  2023-11-14 22:13:32  level A: score 42.9, not passed
        ");
    insta::assert_snapshot!(lines[lines.len() - 3..].join("\n"), @r"
        49  2023-11-14 22:14:09  level B: score 100.0, passed
        50  2023-11-14 22:14:10  the run ends (threshold_reached)
        51  2023-11-14 22:14:11  run ended
        ");
}

#[test]
fn words_of_models_stay_on_their_line() {
    let mut hostile = plan();
    hostile.task.prompt = HOSTILE.into();
    let play = play(hostile, |_, step| {
        assert!(matches!(step, Step::Plan { .. }));
        failed(FailureKind::OffSchema, HOSTILE)
    });
    for record in &play.records {
        let line = journal::line(&play.run, record);
        assert!(!line.contains(['\n', '\r', '\x1b', '\u{202e}']), "{line:?}");
    }
}
