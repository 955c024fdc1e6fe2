//! Where `reflex` continues: from the best draft, at two levels, with rules that were not evaluated.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::reflex::criteria::{Criteria, Level, Template, Weights};
use skilltune_phases::loops::reflex::{Answer, Decision, Event, Plan, Reason, Step};
use skilltune_phases::runs::event::FailureKind;

use super::world::{Drive, Met, answer, draft, plan, play, play_with, prompt, written};
use crate::drive::{failed, recast};

fn reason(drive: &Drive) -> Reason {
    drive.run.state.stop.as_ref().expect("the run has ended").reason
}

/// Returns the steps in order, with the prompts of agents.
fn steps(plan: Plan, met: Met<'_>) -> (Drive, Vec<(Step, String)>) {
    let mut steps = Vec::new();
    let drive = play_with(plan, met, |run, step| {
        steps.push((step.clone(), prompt(run, step)));
        None
    });
    (drive, steps)
}

const ACCURACY: &str = "a.correctness.accuracy";
const SECTIONS: &str = "a.completeness.sections";

#[test]
fn a_worse_artifact_is_dropped_and_the_best_is_planned_and_written_anew() {
    let missed = [&[ACCURACY][..], &[SECTIONS, "a.quality.clarity"], &[]];
    let (drive, steps) = steps(plan(Template::Docs), &|nth, rule| Some(!missed[nth].contains(&rule)));
    let best = draft("draft 0");
    assert!(
        drive.decisions().contains(&&Decision::Drop { hash: draft("draft 1").hash, best: best.hash.clone() })
    );
    let (_, planning) = steps.iter().find(|(step, _)| *step == Step::Plan { iteration: 3 }).unwrap();
    let failures = planning.split("What was not met before").nth(1).unwrap();
    assert!(failures.contains(ACCURACY) && !failures.contains(SECTIONS), "{failures}");
    let (_, producing) = steps
        .iter()
        .find(|(step, _)| *step == Step::Produce { iteration: 3, from: Some(best.tree) })
        .expect("the best is gone on from");
    assert!(producing.contains(&best.tree.0.short()));
    assert!(
        !steps
            .iter()
            .any(|(step, _)| matches!(step, Step::Critique { artifact, .. } if *artifact != best.tree))
    );
    assert_eq!((reason(&drive), drive.run.result()), (Reason::ThresholdReached, Some(&draft("draft 2"))));
}

#[test]
fn another_judge_drops_nothing_for_what_the_one_before_it_said() {
    let missed = [&[ACCURACY][..], &[SECTIONS, "a.quality.clarity"], &[]];
    let met = |nth: usize, rule: &str| Some(!missed[nth].contains(&rule));
    for (role, dropped) in [(Role::EVALUATOR, 0), (Role::EXECUTOR, 1)] {
        let mut drive = Drive::start(plan(Template::Docs));
        while drive.run.state.judged.is_empty() {
            match drive.due(1).pop() {
                Some(step) => {
                    let outcome = answer(&drive.run, &step, &met);
                    drive.done(step, outcome);
                }
                None => panic!("it ends before anything is judged"),
            }
        }
        recast(&mut drive, &role);
        drive.finish_alone(|run, step| answer(run, step, &met));
        let drops = drive.decisions().into_iter().filter(|one| matches!(one, Decision::Drop { .. }));
        assert_eq!((drops.count(), reason(&drive)), (dropped, Reason::ThresholdReached), "{role:?}");
    }
}

#[test]
fn the_result_is_the_best_and_not_the_last() {
    let mut plan = plan(Template::Docs);
    plan.task.rules.max_iterations = 2;
    let drive = play(plan, &|nth, rule| Some(rule != ACCURACY && (nth == 0 || rule != SECTIONS)));
    assert_eq!((reason(&drive), drive.run.result()), (Reason::IterationLimit, Some(&draft("draft 0"))));
}

#[test]
fn no_score_makes_up_for_a_rule_that_must_hold() {
    let mut plan = plan(Template::Docs);
    let weights = Weights { fail: 1, warn: 3, info: 0 };
    plan.task.criteria = Criteria::of(Template::Docs, weights, Template::Docs.thresholds());
    plan.task.rules.max_iterations = 2;
    let missed = [ACCURACY, "a.quality.clarity"];
    let drive = play(plan, &|nth, rule| Some(rule != missed[nth]));
    let [blocked, sound] = &drive.run.state.judged[..] else { panic!("two were judged") };
    assert!(blocked.evaluation.score > sound.evaluation.score && !sound.dropped);
    assert_eq!(drive.run.best(), Some(sound));
}

#[test]
fn what_was_settled_for_is_the_result_though_the_last_one_broke_it() {
    let mut plan = plan(Template::Api);
    (plan.task.rules.max_iterations, plan.task.rules.settle) = (2, 9);
    let drive = play(plan, &|nth, rule| {
        Some(match nth {
            0 => !["b.style.naming", "b.completeness.pagination"].contains(&rule),
            _ => rule != "b.completeness.auth",
        })
    });
    assert_eq!((reason(&drive), drive.run.result()), (Reason::NoMajorIssues, Some(&draft("draft 0"))));
}

#[test]
fn level_b_judges_the_same_artifact_and_asks_nobody_about_level_a_again() {
    let (drive, steps) = steps(plan(Template::Docs), &|_, _| Some(true));
    let judged = steps.iter().filter_map(|(step, _)| match step {
        Step::Judge { artifact, level, category, .. } => {
            assert_eq!(*artifact, draft("draft 0").tree);
            Some((*level, category.as_str()))
        }
        _ => None,
    });
    let (a, b) = (Level::A, Level::B);
    let expected = [
        (a, "completeness"),
        (a, "correctness"),
        (a, "quality"),
        (b, "completeness"),
        (b, "quality"),
        (b, "style"),
    ];
    assert_eq!(judged.collect::<Vec<_>>(), expected);
    let last = drive.run.state.judged.last().unwrap();
    assert_eq!((last.evaluation.level, last.evaluation.results.len()), (b, 8));
}

#[test]
fn a_drop_at_level_b_goes_back_to_what_was_best_there_and_stays_at_b() {
    let missed = [
        &["b.quality.structure", "b.style.consistency"][..],
        &["b.quality.structure", "b.style.consistency", ACCURACY],
        &[],
    ];
    let mut plan = plan(Template::Docs);
    plan.task.rules.settle = 9;
    let (drive, steps) = steps(plan, &|nth, rule| Some(!missed[nth].contains(&rule)));
    let anew = Step::Produce { iteration: 3, from: Some(draft("draft 0").tree) };
    let (_, planning) = steps.iter().find(|(step, _)| *step == Step::Plan { iteration: 3 }).unwrap();
    assert!(planning.contains("level B") && planning.contains("b.quality.audience"));
    assert!(steps.iter().any(|(step, _)| *step == anew));
    assert_eq!(steps.iter().filter(|(step, _)| matches!(step, Step::Prepare { .. })).count(), 2);
    let levels = drive.run.state.judged.iter().map(|judged| judged.evaluation.level);
    assert_eq!(levels.collect::<Vec<_>>(), [Level::A, Level::B, Level::B, Level::B]);
    assert_eq!((reason(&drive), drive.run.result()), (Reason::ThresholdReached, Some(&draft("draft 2"))));
}

#[test]
fn a_judge_that_verifies_nothing_gives_no_score_and_passes_nothing() {
    let (drive, steps) = steps(plan(Template::Docs), &|_, _| None);
    assert!(drive.run.state.judged.iter().all(|judged| judged.evaluation.score.is_none()));
    assert_eq!((reason(&drive), drive.run.stagnation()), (Reason::IterationLimit, 0), "nothing stands still");
    let (_, critique) = steps.iter().find(|(step, _)| matches!(step, Step::Critique { .. })).unwrap();
    assert!(
        critique.contains(&format!("{ACCURACY} (unverified)")),
        "what could be told is put right in the text"
    );
    for template in Template::ALL.into_iter().filter(|template| *template != Template::Other) {
        let at_a = |_: usize, rule: &str| rule.starts_with("a.").then_some(true);
        let drive = play(plan(template), &at_a);
        assert_eq!(reason(&drive), Reason::IterationLimit, "{template}: nobody could tell of level B");
        assert_eq!(drive.run.state.level, Level::B);
    }
}

#[test]
fn a_refiner_that_changes_nothing_is_asked_twice_and_then_the_text_is_written_anew() {
    let refused = |step: &Step| matches!(step, Step::Refine { .. }).then(|| failed(FailureKind::Gate));
    let missed = [&[ACCURACY][..], &[]];
    let met = |nth: usize, rule: &str| Some(!missed[nth.min(1)].contains(&rule));
    let drive = play_with(plan(Template::Docs), &met, |_, step| refused(step));
    assert_eq!((reason(&drive), drive.run.state.iteration), (Reason::ThresholdReached, 2));
    let asked = |of: fn(&Step) -> bool| {
        let steps = drive.records.iter().filter_map(|record| match &record.event {
            Event::Done(done) => Some(&done.step),
            _ => None,
        });
        steps.filter(|step| of(step)).count()
    };
    assert_eq!(asked(|step| matches!(step, Step::Refine { .. })), 2);
    assert_eq!(asked(|step| matches!(step, Step::Produce { iteration: 2, .. })), 1);
    let story: Vec<_> = drive.run.state.story.iter().map(|line| line.note.words()).collect();
    let words = format!("the refinement of artifact {} changed nothing", draft("draft 0").name());
    assert!(story.contains(&words), "{story:?}");
}

#[test]
fn nothing_that_changes_ends_a_run_as_a_stagnation_and_not_as_an_error() {
    let drive = play_with(plan(Template::Docs), &|_, rule| Some(rule != ACCURACY), |_, step| match step {
        Step::Refine { .. } => Some(failed(FailureKind::Gate)),
        Step::Produce { .. } => Some(written("draft 0")),
        _ => None,
    });
    assert_eq!((reason(&drive), drive.run.state.iteration), (Reason::Stagnation, 3));
    let failing = play_with(plan(Template::Docs), &|_, rule| Some(rule != ACCURACY), |_, step| {
        matches!(step, Step::Refine { .. }).then(|| failed(FailureKind::Empty))
    });
    assert_eq!(reason(&failing), Reason::PhaseError, "no text at all is an error as before");
}

#[test]
fn an_equal_artifact_is_gone_on_from() {
    let (drive, _) = steps(plan(Template::Docs), &|nth, rule| Some(rule != [ACCURACY, SECTIONS, ""][nth]));
    assert!(!drive.decisions().iter().any(|decision| matches!(decision, Decision::Drop { .. })));
    let refined = drive.decisions().into_iter().filter(|decision| matches!(decision, Decision::Refined(_)));
    assert_eq!((refined.count(), reason(&drive)), (2, Reason::ThresholdReached));
}

#[test]
fn a_given_up_step_ends_its_phase_when_the_others_have_come_to_an_end() {
    let mut drive = Drive::start(plan(Template::Docs));
    let planned = super::world::planned(&drive.run.plan.task.criteria);
    drive.due(1);
    drive.done(Step::Plan { iteration: 1 }, Ok(Answer::Planned(planned)));
    let both = drive.due(9);
    let produce = both[0].clone();
    drive.done(produce.clone(), crate::drive::failed(FailureKind::Refused));
    assert_eq!(drive.due(9), both, "both are still open");
    drive.done(produce, crate::drive::failed(FailureKind::Refused));
    assert_eq!(drive.due(9), both[1..], "the other one is under way");
    assert_eq!(drive.run.state.stop, None);
    drive.done(both[1].clone(), Ok(Answer::Prepared(Vec::new())));
    assert_eq!((drive.due(9), reason(&drive)), (Vec::new(), Reason::PhaseError));
}
