use skilltune_phases::loops::gan::Level;
use skilltune_phases::loops::gan::contract::Change;
use skilltune_phases::loops::gan::evaluation::Verdict;
use skilltune_phases::runs::event::FailureKind;
use skilltune_worlds::drive::failed_as;
use skilltune_worlds::gan::{
    Drive, answer, at, everything, into_folder, nothing, plan, play_with, points, rising,
};

use super::*;

/// Returns a run without a pass, in which a person answers so.
fn answered(choice: &Choice) -> Run {
    let drive = play_with(into_folder(plan()), &nothing, |_, step| {
        let Step::Ask { .. } = step else { return None };
        Some(Ok(Answer::Chosen { choice: choice.clone(), by: Who::Person }))
    });
    drive.run
}

#[test]
fn every_end_has_its_sentence() {
    let kept = |met| play_with(into_folder(plan()), met, |_, _| None).run;
    let mute =
        play_with(plan(), &nothing, |_, _| Some(failed_as(FailureKind::Empty, "it said\nnothing"))).run;
    let mut runs = vec![kept(&everything), kept(&nothing), kept(&rising), mute, Drive::start(plan()).run];
    runs.extend([Choice::Force, Choice::Accept, Choice::Stop, Choice::Abort].map(|choice| answered(&choice)));
    let told: Vec<_> = runs.iter().map(|run| format!("{}: {}", label(run), outcome_text(run))).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    PASSED: Passed with 100 (75 needed).
    STALLED: Not passed with 25 (75 needed): 2 rounds in a row gained less than 5 points. The best round is kept.
    MAX ROUNDS: Not passed with 62.5 (75 needed): 5 rounds built, and none passed. The best round is kept.
    FAILED: The run ended without a judgement: it said nothing.
    NOT ENDED: The run has not ended; `skilltune resume` continues it.
    FORCED: Not passed with 25 (75 needed): a person treated the result as passed.
    ACCEPTED AS IT IS: Not passed with 25 (75 needed): a person accepted the result as it is.
    STALLED: Not passed with 25 (75 needed): 2 rounds in a row gained less than 5 points. The best round is kept.
    ABORTED: Aborted: the run has no result.
    ");
}

#[test]
fn a_score_above_the_best_one_is_named_with_what_kept_it_from_counting() {
    let fallen = play_with(plan(), &|nth, id| (nth == 0) == (id == "a.runs"), |_, _| None).run;
    insta::assert_snapshot!(higher_score(&fallen).unwrap(), @"highest score: round 2, 62.5; it did not count: a.runs must pass, but failed; a.runs passed before, but no longer does; the score is 62.5, but must reach 75");
    let doubted = play_with(at(Level::Thorough, false), &everything, |run, step| {
        let Ok(Answer::Judged(mut verdicts)) = answer(run, step, &everything) else { return None };
        if matches!(step, Step::Judge { reading: Reading::Second, .. }) {
            verdicts.findings[3].verdict = Verdict::Failed;
        }
        Some(Ok(Answer::Judged(verdicts)))
    });
    insta::assert_snapshot!(higher_score(&doubted.run).unwrap(), @"highest score: round 1, 100; it did not count: another judgement gave it 87.5");
    let amended = play_with(plan(), &|_, id| id != "a.runs", |run, step| {
        let Step::Ask { .. } = step else { return None };
        let changes = vec![Change::Drop { criterion: "a.quick".into() }];
        let is_first = run.state.course.answers.is_empty();
        let choice = if is_first { Choice::Amend { changes } } else { Choice::Abort };
        Some(Ok(Answer::Chosen { choice, by: Who::Person }))
    });
    insta::assert_snapshot!(higher_score(&amended.run).unwrap(), @"highest score: round 1, 62.5; it did not count: the contract has changed since; a.runs must pass, but failed; the score is 62.5, but must reach 75");
    for run in [play_with(plan(), &everything, |_, _| None).run, play_with(plan(), &nothing, |_, _| None).run]
    {
        assert_eq!(higher_score(&run), None);
    }
}

#[test]
fn a_round_names_the_first_reasons_for_not_passing_and_counts_the_others() {
    let mut exacting = plan();
    exacting.task.rules.minimums = ["a", "b"].map(|id| (id.into(), points(100))).into();
    let of_first = |run: &Run| why_not(run, &run.state.course.rounds[0]);
    let run = play_with(exacting, &nothing, |_, _| None).run;
    insta::assert_snapshot!(of_first(&run).trim_start(), @"(a.runs must pass, but failed; a is at 25, but must reach 100; b is at 25, but must reach 100; and 1 more)");
    assert_eq!(of_first(&play_with(plan(), &everything, |_, _| None).run), "");
}

#[test]
fn the_aim_names_the_rules_that_decide() {
    let mut strict = at(Level::Thorough, true);
    strict.task.rules.strict = true;
    insta::assert_snapshot!(aim(&Drive::start(strict).run), @"profile test, a contract agreed on first, strict, a pass judged twice; passes from 75, 5 rounds at most");
    insta::assert_snapshot!(aim(&Drive::start(plan()).run), @"profile test; passes from 75, 5 rounds at most");
}

#[test]
fn a_destination_is_named_when_the_result_is_not_in_it() {
    let ended = |answer: fn() -> Answer| {
        let drive = play_with(into_folder(plan()), &everything, |_, step| {
            matches!(step, Step::Promote { .. }).then(|| Ok(answer()))
        });
        destination(&drive.run).unwrap_or_default()
    };
    assert_eq!(ended(|| Answer::Promoted), "");
    insta::assert_snapshot!(ended(|| Answer::Conflict { found: Vec::new() }), @"/project/site changed during the run, so skilltune did not write to it; copy the result yourself");
    insta::assert_snapshot!(destination(&answered(&Choice::Stop)).unwrap(), @"nothing was written to /project/site");
}
