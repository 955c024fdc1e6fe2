use skilltune_phases::loops::gan::test_scenario::{TestScenario, Tool};
use skilltune_phases::loops::gan::{Answer, Event, Level, Plan, Step};
use skilltune_phases::runs::event::{FailureKind, Pause, Signal};
use skilltune_phases::suites::checks::RunThem;
use skilltune_worlds::drive::failed_as;
use skilltune_worlds::gan::{
    Drive, answer, at, everything, held, into_folder, nothing, plan, play_with, points, rising,
};
use skilltune_worlds::reflex::pages::HOSTILE;

use super::*;
use crate::progress::capture::{Captured, follow};
use crate::progress::layout::{Layout, Letters};
use crate::terminal::style::Style;

const PLAIN: Layout =
    Layout { width: 80, live: false, talk: Style::PLAIN, data: Style::PLAIN, letters: Letters::Blocks };

fn capture(drive: &Drive, layout: Layout) -> Captured {
    follow(drive, |streams| Talk::<Gan>::new(streams, layout, ()))
}

#[test]
fn an_accepted_run_is_told_in_rounds_and_its_result_as_data() {
    let plan = into_folder(at(Level::Thorough, true));
    let drive = play_with(plan, &|nth, id| nth > 0 || id == "a.quick", |run, step| match step {
        Step::Build { sprint: 2, .. } if run.attempts(step) == 0 => {
            Some(failed_as(FailureKind::OffSchema, "no files\nin the answer"))
        }
        _ => None,
    });
    let captured = capture(&drive, PLAIN);
    insta::assert_snapshot!(captured.talk(), @"
    gan pump
    profile test, a contract agreed on first, a pass judged twice; passes from 75, 5
      rounds at most
    world in all roles
    run pump-20261121-213000, limits: 40 calls (default)

    contract: 5 criteria, 1 of them must pass
    round 1 of 5: not passed (a.runs must pass, but failed; the score is 43.8, but
      must reach 75); score 43.8, 37.5 % met; a 50, b 25
      a.runs: index.html: seen
      b.clear: index.html: seen
      b.quiet: index.html: seen
      b.polite: index.html: seen
      building, round 2: returned an invalid answer: no files in the answer
        (retried)
    round 2 of 5: passed; score 100, 100 % met; a 100, b 100
    round 2 of 5, judged again: passed; score 100, 100 % met; a 100, b 100
    ");
    insta::assert_snapshot!(captured.data(), @"
    Passed with 100 (75 needed).
      best      round 2, score 100, 100 % met; a 100, b 100
      effort    2 rounds judged; 11 calls, 11s of agent time, $5.50
    result: /project/site
    to undo it: skilltune rollback pump-20261121-213000
    report: /project/.skilltune/runs/pump-20261121-213000/report.html
    ");
}

#[test]
fn a_stalled_run_keeps_its_best_and_leaves_the_folder_alone() {
    let captured = capture(&play_with(into_folder(plan()), &nothing, |_, _| None), PLAIN);
    let talk = captured.talk();
    insta::assert_snapshot!(talk[talk.rfind("round").unwrap()..], @"
    round 3 of 5: not passed (a.runs must pass, but failed; the score is 25, but
      must reach 75); score 25, 0 % met; a 25, b 25
      a.runs: index.html: seen
      a.quick: index.html: seen
      b.clear: index.html: seen
      b.quiet: index.html: seen
      no gain: end (the default)
    ");
    insta::assert_snapshot!(captured.data(), @"
    Not passed with 25 (75 needed): 2 rounds in a row gained less than 5 points. The
      best round is kept.
      best      round 1, score 25, 0 % met; a 25, b 25
      blocked   a.runs must pass, but failed; the score is 25, but must reach 75
      effort    3 rounds judged; 6 calls, 6s of agent time, $3.00
    nothing was written to /project/site
    result:
      /project/.skilltune/runs/pump-20261121-213000/iterations/iteration-1/artifact
    report: /project/.skilltune/runs/pump-20261121-213000/report.html
    ");
}

#[test]
fn a_run_out_of_rounds_says_how_close_it_came() {
    let mut plan = plan();
    plan.task.rules.threshold = points(90);
    let captured = capture(&play_with(plan, &rising, |_, _| None), PLAIN);
    insta::assert_snapshot!(captured.data(), @"
    Not passed with 62.5 (90 needed): 5 rounds built, and none passed. The best
      round is kept.
      best      round 4, score 62.5, 62.5 % met; a 50, b 100
      blocked   a.runs must pass, but failed; the score is 62.5, but must reach 90
      effort    5 rounds judged; 10 calls, 10s of agent time, $5.00
    result:
      /project/.skilltune/runs/pump-20261121-213000/iterations/iteration-4/artifact
    report: /project/.skilltune/runs/pump-20261121-213000/report.html
    ");
}

#[test]
fn an_open_question_is_shown_with_every_answer() {
    insta::assert_snapshot!(capture(&held(into_folder(plan()), &nothing), PLAIN).data(), @"
    The run waits for you. 2 rounds in a row gained less than 5 points. How should
      the run continue?
      best      round 1, score 25, 0 % met; a 25, b 25
      blocked   a.runs must pass, but failed; the score is 25, but must reach 75
      effort    3 rounds judged; 6 calls, 6s of agent time, $3.00
    result:
      /project/.skilltune/runs/pump-20261121-213000/iterations/iteration-1/artifact
    to keep the best round in the run's folder:
      skilltune resume pump-20261121-213000 --answer end
    to continue with another dimension first:
      skilltune resume pump-20261121-213000 --answer refocus --with DIMENSION
    to continue with guidance for the builder:
      skilltune resume pump-20261121-213000 --answer guide --with TEXT
    to change the contract and judge again:
      skilltune resume pump-20261121-213000 --answer amend --with FILE
    to treat the result as passed:
      skilltune resume pump-20261121-213000 --answer force
    to accept the result as it is:
      skilltune resume pump-20261121-213000 --answer accept
    to end the run without a result:
      skilltune resume pump-20261121-213000 --answer abort
    ");
}

/// Plans a contract with a command that decides a criterion.
fn with_command() -> Plan {
    let mut plan = plan();
    plan.task.commands.run = RunThem::Ask;
    let argv = ["sh", "-c", "test -s index.html"].map(str::to_owned);
    plan.task.asked.test_scenarios = vec![TestScenario {
        id: "b.clear.1".into(),
        criterion: "b.clear".into(),
        description: "There is a page.".into(),
        run: Tool::Command(argv.into()),
    }];
    plan
}

#[test]
fn commands_wait_for_a_person_who_sees_them() {
    insta::assert_snapshot!(capture(&held(with_command(), &everything), PLAIN).data(), @r#"
    The run waits for you: may it run the commands of its test scenarios?
      ["sh","-c","test -s index.html"]
      effort    0 rounds judged; 0 calls, 0s of agent time, $0
    to run them: skilltune resume pump-20261121-213000 --answer run
    to let the evaluator decide instead:
      skilltune resume pump-20261121-213000 --answer skip
    "#);
}

#[test]
fn a_run_that_cannot_go_on_says_what_helps() {
    let mut drive = Drive::start(plan());
    while drive.run.blocked.is_none() {
        let limited = |run: &Run, step: &Step| match step {
            Step::Judge { .. } => failed_as(FailureKind::UsageLimit, "You've hit your limit"),
            _ => answer(run, step, &everything),
        };
        drive.advance(&mut { limited }).unwrap();
    }
    drive.record(Event::Noted(Signal::Paused(Pause::Blocked)));
    let captured = capture(&drive, PLAIN);
    insta::assert_snapshot!(captured.talk().split_once("\n\n").unwrap().1, @"
    contract: 4 criteria, 1 of them must pass
    run pump-20261121-213000 is paused; progress is saved
    judging, round 1: reached its usage limit: You've hit your limit
    hint: resume when the limit of world resets; `skilltune resume
        pump-20261121-213000 --wait` waits for it and retries from time to time
    ");
    insta::assert_snapshot!(captured.data(), @"
    The run has not ended; `skilltune resume` continues it.
      effort    0 rounds judged; 2 calls, 1s of agent time, $1.00
    to continue: skilltune resume pump-20261121-213000
    ");
}

#[test]
fn two_judges_that_disagree_are_reported() {
    let drive = play_with(at(Level::Thorough, false), &everything, |run, step| {
        let Ok(Answer::Judged(mut verdicts)) = answer(run, step, &everything) else { return None };
        if matches!(step, Step::Judge { reading: Reading::Second, .. }) {
            verdicts.findings[2].verdict = Verdict::Unverified;
            verdicts.findings[3].verdict = Verdict::Failed;
        }
        Some(Ok(Answer::Judged(verdicts)))
    });
    let talk = capture(&drive, PLAIN).talk();
    insta::assert_snapshot!(talk.split_once("\n\n").unwrap().1, @"
    contract: 4 criteria, 1 of them must pass
    round 1 of 5: passed; score 100, 100 % met; a 100, b 100
    round 1 of 5, judged again: passed; score 81.3, 75 % met; a 100, b 25
      b.clear: index.html: seen
      b.quiet: index.html: seen
      two judgements are 18.7 points apart; the lower one counts
    ");
}

#[test]
fn the_levels_that_a_contract_requires_are_named() {
    let mut plan = plan();
    plan.task.asked.pass_conditions = [("a".into(), points(75)), ("b".into(), points(50))].into();
    let talk = capture(&play_with(plan, &everything, |_, _| None), PLAIN).talk();
    let line = talk.lines().find(|line| line.starts_with("contract")).unwrap();
    insta::assert_snapshot!(line, @"contract: 4 criteria, 1 of them must pass; at least a 75, b 50");
}

#[test]
fn a_level_that_a_judge_does_not_cite_is_named() {
    let drive = play_with(plan(), &everything, |run, step| {
        let Ok(Answer::Judged(mut verdicts)) = answer(run, step, &everything) else { return None };
        verdicts.claims.retain(|claim| claim.dimension.as_str() == "a");
        Some(Ok(Answer::Judged(verdicts)))
    });
    let talk = capture(&drive, PLAIN).talk();
    insta::assert_snapshot!(talk.split_once("\n\n").unwrap().1, @"
    contract: 4 criteria, 1 of them must pass
    round 1 of 5: passed; score 100, 100 % met; a 100, b 100
      the evaluator cited no level with a reason for b
    ");
}

#[test]
fn words_of_models_drive_no_terminal_and_no_line_is_wider_than_told() {
    let mut hostile = into_folder(plan());
    (hostile.task.name, hostile.task.profile) = (HOSTILE.into(), HOSTILE.into());
    let mut drive = play_with(hostile, &nothing, |run, step| match (step, answer(run, step, &nothing)) {
        (Step::Build { .. }, _) if run.attempts(step) == 0 => {
            Some(failed_as(FailureKind::OffSchema, HOSTILE))
        }
        (_, Ok(Answer::Judged(mut verdicts))) => {
            verdicts.findings.iter_mut().for_each(|finding| finding.evidence = HOSTILE.into());
            Some(Ok(Answer::Judged(verdicts)))
        }
        _ => None,
    });
    drive.record(Event::Noted(Signal::Paused(Pause::Interrupted)));
    for width in [40, 80, 100] {
        let output = capture(&drive, Layout { width, ..PLAIN }).all();
        assert!(!output.contains(['\x1b', '\r', '\u{202e}', '\x07']), "{output:?}");
        let copied = |line: &&str| !line.trim_start().starts_with('/') && !line.contains(": /");
        let widest = output.lines().filter(copied).map(crate::text::width::columns).max().unwrap();
        assert!(widest <= width, "{widest} columns of {width}:\n{output}");
        assert!(!output.lines().any(|line| line.starts_with("status ")), "{output}");
    }
}

#[test]
fn a_run_may_be_left_at_any_point() {
    let whole = play_with(into_folder(plan()), &everything, |_, _| None);
    for upto in 1..=whole.records.len() {
        let part = Drive::resume(whole.records[..upto].to_vec());
        let (data, is_over) = (capture(&part, PLAIN).data(), part.run.closed_at.is_some());
        assert_eq!(data.contains("report: /project/"), is_over, "a report that is there");
        assert_eq!(data.contains("skilltune resume"), !is_over, "{data}");
    }
}
