use skilltune_phases::loops::gan::Level;
use skilltune_phases::runs::event::FailureKind;
use skilltune_worlds::drive::failed_as;
use skilltune_worlds::gan::{
    Drive, at, everything, held, into_folder, nothing, plan, play_with, rising, with_browser,
};
use skilltune_worlds::reflex::pages::HOSTILE;

use crate::report::journal;

fn lines(drive: &Drive) -> Vec<String> {
    drive.records.iter().map(|record| journal::line(&drive.run, record)).collect()
}

#[test]
fn every_event_is_one_line() {
    let plan = into_folder(with_browser(at(Level::Thorough, true)));
    let drive = play_with(plan, &everything, |_, _| None);
    insta::assert_snapshot!(lines(&drive).join("\n"), @"
     0  2023-11-14 22:13:20  run pump-20261121-213000 started: pump
     1  2023-11-14 22:13:21  drafting the contract: drafted criteria: 1
     2  2023-11-14 22:13:22  still negotiating
     3  2023-11-14 22:13:23  reading the contract as the builder, exchange 1: 1 proposal
     4  2023-11-14 22:13:24  still negotiating
     5  2023-11-14 22:13:25  ruling on the builder's proposals, exchange 1: accepted 0 of 1 proposal
     6  2023-11-14 22:13:26  still negotiating
     7  2023-11-14 22:13:27  reading the contract as the builder, exchange 2: 1 proposal
     8  2023-11-14 22:13:28  still negotiating
     9  2023-11-14 22:13:29  ruling on the builder's proposals, exchange 2: accepted 0 of 1 proposal
    10  2023-11-14 22:13:30  still negotiating
    11  2023-11-14 22:13:31  the contract has 5 criteria (c7639302)
    12  2023-11-14 22:13:32  round 1 builds on 800500a00344, a first
    13  2023-11-14 22:13:33  building, round 1: made 1f66b0727c48
    14  2023-11-14 22:13:34  judge 1f66b0727c48
    15  2023-11-14 22:13:35  reading the source: 0 passed, 0 failed, 1 unverified
    16  2023-11-14 22:13:36  looking at the result in a browser: 1 passed, 0 failed, 0 unverified
    17  2023-11-14 22:13:37  judging, round 1: 5 of 5 passed
    18  2023-11-14 22:13:38  score 100, 100 % met; a 100, b 100
    19  2023-11-14 22:13:39  judging again, round 1: 5 of 5 passed
    20  2023-11-14 22:13:40  score 100, 100 % met; a 100, b 100
    21  2023-11-14 22:13:41  the run ends: passed
    22  2023-11-14 22:13:42  writing the result to its folder: done
    23  2023-11-14 22:13:43  run ended
    ");
}

#[test]
fn a_question_and_its_answer_are_in_the_journal() {
    let told = lines(&play_with(plan(), &rising, |_, _| None));
    let told: Vec<_> =
        told.into_iter().filter(|line| line.contains("to continue") || line.contains("default")).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    20  2023-11-14 22:13:40  asking how to continue: refocus on a (the default)
    21  2023-11-14 22:13:41  refocus on a (the default)
    34  2023-11-14 22:13:54  asking how to continue: end (the default)
    35  2023-11-14 22:13:55  end (the default)
    ");
    let told = lines(&held(plan(), &nothing));
    insta::assert_snapshot!(told[told.len() - 2..].join("\n"), @"
    19  2023-11-14 22:13:39  score 25, 0 % met; a 25, b 25; not passed (a.runs must pass, but failed; the score is 25, but must reach 75)
    20  2023-11-14 22:13:40  the run waits for your answer
    ");
}

#[test]
fn words_of_models_stay_on_their_line() {
    let mut hostile = plan();
    hostile.task.name = HOSTILE.into();
    let drive = play_with(hostile, &everything, |_, _| Some(failed_as(FailureKind::OffSchema, HOSTILE)));
    for line in lines(&drive) {
        assert!(!line.contains(['\n', '\r', '\x1b', '\u{202e}']), "{line:?}");
    }
}
