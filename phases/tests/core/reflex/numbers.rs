//! Every number in a plan of `reflex` has an effect: changing it changes the run.

use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::criteria::{Criteria, Severity, Template, Weights};
use skilltune_phases::loops::reflex::{Answer, Plan, Reflex, Step};
use skilltune_phases::suites::checks::RunThem;

use super::world::{Drive, Met, code, command, failed_once, plan, play_with, prompt, written};
use crate::drive::points;

/// Summarizes a run in one line.
fn went(plan: Plan, met: Met<'_, bool>) -> String {
    let drive = play_with(plan, met, |_, _| None);
    summary(&drive)
}

fn summary(drive: &Drive) -> String {
    let state = &drive.run.state;
    let reason = state.stop.as_ref().expect("the run has ended").reason.word();
    let best = drive.run.best().and_then(|best| best.evaluation.score);
    format!("{reason}, {} evaluations, best {best:?}", state.judged.len())
}

/// With docs, the best score rises by a sixth per draft, and no draft is sound.
fn rising(nth: usize, rule: &str) -> bool {
    let order = ["a.correctness.accuracy", "a.quality.clarity", "a.completeness.examples"];
    order.iter().rev().skip(nth).all(|missed| *missed != rule) && rule != order[0]
}

fn flat(_: usize, rule: &str) -> bool {
    rule != "a.correctness.accuracy"
}

fn warned_at_b(_: usize, rule: &str) -> bool {
    !["b.quality.structure", "b.style.consistency"].contains(&rule)
}

fn warned_at_a(_: usize, rule: &str) -> bool {
    rule != "a.quality.clarity"
}

type Case = (&'static str, fn(usize, &str) -> bool, fn(&mut Plan));

const CASES: [Case; 10] = [
    ("max_iterations", rising, |plan| plan.task.rules.max_iterations = 2),
    ("stall.window", flat, |plan| plan.task.rules.stall.window = 1),
    ("stall.gain", rising, |plan| plan.task.rules.stall.gain = 40.0),
    ("settle", warned_at_b, |plan| plan.task.rules.settle = 0),
    ("max_seconds", flat, |plan| plan.task.rules.max_seconds = Some(20)),
    ("thresholds.a", warned_at_a, |plan| plan.task.criteria.thresholds.a = points(90.0)),
    ("thresholds.b", warned_at_a, |plan| plan.task.criteria.thresholds.b = points(95.0)),
    ("weights.fail", flat, |plan| weigh(plan, Weights { fail: 1, ..Weights::default() })),
    ("weights.warn", warned_at_a, |plan| weigh(plan, Weights { warn: 2, ..Weights::default() })),
    ("weights.info", warned_at_a, |plan| {
        let weights = Weights { info: 4, ..Weights::default() };
        for rule in plan.task.criteria.rules.iter_mut().filter(|rule| rule.id.as_str().ends_with("clarity")) {
            (rule.severity, rule.weight) = (Severity::Info, weights.of(Severity::Info));
        }
    }),
];

fn weigh(plan: &mut Plan, weights: Weights) {
    plan.task.criteria = Criteria::of(Template::Docs, weights, Template::Docs.thresholds());
}

#[test]
fn a_number_that_is_another_makes_another_run() {
    let lines = CASES.map(|(number, met, change)| {
        let mut changed = plan(Template::Docs);
        change(&mut changed);
        let [before, after] = [plan(Template::Docs), changed].map(|plan| went(plan, &met));
        assert_ne!(before, after, "{number}");
        format!("{number}: {before} -> {after}")
    });
    insta::assert_snapshot!(lines.join("\n"), @r"
    max_iterations: iteration_limit, 4 evaluations, best Some(66.7) -> iteration_limit, 2 evaluations, best Some(50)
    stall.window: stagnation, 3 evaluations, best Some(66.7) -> stagnation, 2 evaluations, best Some(66.7)
    stall.gain: iteration_limit, 4 evaluations, best Some(66.7) -> stagnation, 3 evaluations, best Some(66.7)
    settle: no_major_issues, 3 evaluations, best Some(80) -> no_major_issues, 2 evaluations, best Some(80)
    max_seconds: stagnation, 3 evaluations, best Some(66.7) -> budget_exceeded, 2 evaluations, best Some(66.7)
    thresholds.a: threshold_reached, 2 evaluations, best Some(90) -> stagnation, 3 evaluations, best Some(83.3)
    thresholds.b: threshold_reached, 2 evaluations, best Some(90) -> no_major_issues, 3 evaluations, best Some(90)
    weights.fail: stagnation, 3 evaluations, best Some(66.7) -> stagnation, 3 evaluations, best Some(75)
    weights.warn: threshold_reached, 2 evaluations, best Some(90) -> threshold_reached, 2 evaluations, best Some(87.5)
    weights.info: threshold_reached, 2 evaluations, best Some(90) -> stagnation, 3 evaluations, best Some(55.6)
    ");
}

#[test]
fn a_rise_of_just_the_gain_is_enough_where_it_is_told_so() {
    for (reaching, expected) in [(true, "iteration_limit, 4"), (false, "stagnation, 3")] {
        let mut plan = plan(Template::Docs);
        (plan.task.rules.stall.gain, plan.task.rules.stall.reaching) = (0.0, reaching);
        assert!(went(plan, &flat).starts_with(expected), "{reaching}");
    }
}

#[test]
fn as_many_answers_are_asked_for_again_as_told() {
    for (retries, reason) in [(0, "phase_error"), (1, "stagnation")] {
        let mut plan = plan(Template::Docs);
        plan.task.rules.retries = retries;
        let drive = play_with(plan, &flat, failed_once);
        assert!(summary(&drive).starts_with(reason), "{retries}");
    }
}

/// Returns the first step that `is_it` accepts; all goes well except the missed rules.
fn asked(plan: Plan, is_it: fn(&Step) -> bool) -> (Drive, Step) {
    let mut drive = Drive::start(plan);
    loop {
        let step = drive.due(9).into_iter().next().expect("the step is asked for");
        if is_it(&step) {
            return (drive, step);
        }
        let outcome = match &step {
            Step::Prepare { level } => {
                Ok(Answer::Prepared(drive.run.plan.task.criteria.at(*level).map(command).collect()))
            }
            Step::Check { check, .. } => {
                Ok(Answer::Checked(vec![super::world::check_result(*check, Some(*check > 1))]))
            }
            Step::Refine { .. } => written("draft 0"),
            _ => super::world::answer(&drive.run, &step, &flat),
        };
        drive.done(step, outcome);
    }
}

/// Returns whether the answer to a step can be read.
fn is_read(plan: Plan, is_it: fn(&Step) -> bool, answer: &str) -> bool {
    let (drive, step) = asked(plan, is_it);
    let answer = answer.replace("CODE", &code(&prompt(&drive.run, &step)));
    let order = Reflex::request(&drive.run, &step).expect("an agent is asked");
    order.read(&answer).is_ok()
}

#[test]
fn a_plan_has_as_many_steps_as_told() {
    let step = r#"{"step": "write", "rule_id": "a.quality.clarity"}"#;
    let answer =
        |steps: usize| format!(r#"{{"answer_to": "CODE", "plan": [{}]}}"#, vec![step; steps].join(","));
    for (least, most, steps, expected) in
        [(3, 5, 3, true), (4, 5, 3, false), (3, 5, 5, true), (3, 4, 5, false)]
    {
        let mut plan = plan(Template::Docs);
        (plan.task.rules.plan_steps.least, plan.task.rules.plan_steps.most) = (least, most);
        let read = is_read(plan, |step| matches!(step, Step::Plan { .. }), &answer(steps));
        assert_eq!(read, expected, "{steps} of {least} to {most}");
    }
}

#[test]
fn a_critique_has_as_many_issues_and_a_rule_as_many_checks_as_told() {
    let issue = |rule: &str| {
        format!(
            r#"{{"rule_id": "{rule}", "problem": "no port", "fix_instruction": "add it", "expected_effect": "there"}}"#
        )
    };
    let issues = [issue("a.correctness.accuracy"), issue("a.completeness.sections")].join(",");
    let critique = format!(r#"{{"answer_to": "CODE", "issues": [{issues}]}}"#);
    let check = |rule: &str| format!(r#"{{"rule_id": "{rule}", "type": "judge", "question": "Is it so?"}}"#);
    let rules = plan(Template::Docs).task.criteria.rules;
    let checks: Vec<_> = rules.iter().take(4).map(|rule| check(rule.id.as_str())).collect();
    let twice = [&checks[..], &checks[..1]].concat().join(",");
    let prepared = format!(r#"{{"answer_to": "CODE", "checks": [{twice}]}}"#);
    for (most, expected) in [(1, false), (2, true)] {
        let mut plan = plan(Template::Docs);
        (plan.task.rules.most_issues, plan.task.rules.checks_per_rule) = (most, most);
        plan.task.commands.run = RunThem::Always;
        assert_eq!(is_read(plan.clone(), |step| matches!(step, Step::Critique { .. }), &critique), expected);
        let is_prepare = |step: &Step| matches!(step, Step::Prepare { .. });
        let (mut drive, step) = asked(plan.clone(), |step| matches!(step, Step::Produce { .. }));
        let prepare = drive.due(9).into_iter().find(is_prepare).expect("it is asked for beside it");
        assert_ne!(prepare, step);
        let answer = prepared.replace("CODE", &code(&prompt(&drive.run, &prepare)));
        let read = Reflex::request(&drive.run, &prepare).unwrap().read(&answer);
        assert_eq!(read.is_ok(), expected, "{read:?}");
    }
}

#[test]
fn the_planner_is_told_as_many_events_and_a_command_has_as_long_as_told() {
    for limit in [1, 3] {
        let mut plan = plan(Template::Docs);
        plan.task.rules.latest_events = limit;
        (plan.task.rules.check_seconds, plan.task.commands.run) = (limit as u64, RunThem::Always);
        let (drive, step) = asked(plan.clone(), |step| matches!(step, Step::Check { .. }));
        let order = Reflex::request(&drive.run, &step).unwrap();
        let command = order.as_ref().command.as_ref().unwrap();
        assert_eq!((command.seconds, command.confined), (limit as u64, true));

        let mut drive = Drive::start(plan);
        let mut events = String::new();
        drive.finish_alone(|run, step| {
            if matches!(step, Step::Plan { iteration: 3 }) {
                events = prompt(run, step);
            }
            super::world::answer(run, step, &|nth, rule| {
                flat(nth, rule) && (nth == 0 || rule != "a.quality.clarity")
            })
        });
        assert!(events.contains("the next iteration began"));
        assert_eq!(events.contains("evaluated: score"), limit == 3, "{events}");
    }
}
