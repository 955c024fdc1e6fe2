//! The setup before the first plan: an agent proposes rules, and a person agrees to criteria and limits.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::criteria::{Level, Severity, Template, Weights};
use skilltune_phases::loops::reflex::verdict::By;
use skilltune_phases::loops::reflex::{Answer, Confirmed, Plan, Reason, Reflex, Step, Terms};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::RunThem;

use super::world::{Drive, answer, play, play_with, proposed, terms, unagreed};
use crate::drive::failed;

const PROPOSED: &str = "a.completeness.harbours";

/// Returns a run in which every rule is met, with its steps and command checks.
fn asked(plan: Plan) -> (Drive, Vec<Step>) {
    let mut steps = Vec::new();
    let drive = play_with(plan, &|_, _| Some(true), |_, step| {
        steps.push(step.clone());
        None
    });
    (drive, steps)
}

#[test]
fn nothing_is_planned_before_somebody_has_agreed_to_the_rules_that_were_proposed() {
    let (drive, steps) = asked(unagreed(2));
    assert_eq!(steps[..3], [Step::Propose, Step::Agree, Step::Plan { iteration: 1 }]);
    let task = &drive.run.plan.task;
    assert_eq!((task.criteria.rules.len(), task.confirmed), (9, Some(Confirmed::Person)));
    let levels: Vec<_> = task.criteria.rules.iter().map(|rule| rule.level).collect();
    assert!(levels.is_sorted(), "a rule of level A stands before those of level B");
    let last = drive.run.state.judged.last().expect("an artifact was judged");
    assert!(last.evaluation.results.iter().any(|result| result.rule.as_str() == PROPOSED));
}

#[test]
fn a_run_that_was_agreed_to_beforehand_asks_nobody() {
    let (_, steps) = asked(super::world::plan(Template::Docs));
    assert_eq!(steps[0], Step::Plan { iteration: 1 });
    let mut without = unagreed(2);
    without.task.setup.proposals = None;
    let (drive, steps) = asked(without);
    assert_eq!(steps[..2], [Step::Agree, Step::Plan { iteration: 1 }]);
    assert_eq!(drive.run.plan.task.criteria.rules.len(), 8);
}

#[test]
fn what_a_person_agrees_to_is_what_the_run_is_judged_and_ended_by() {
    let drive = play_with(unagreed(2), &|_, _| Some(false), |run, step| {
        let Step::Agree = step else { return None };
        let mut terms = Terms { max_iterations: 2, max_seconds: Some(90), ..terms(run) };
        terms.criteria.rules.truncate(3);
        terms.criteria.rules[0].description = "It is short.".into();
        Some(Ok(Answer::Agreed(Box::new(terms))))
    });
    let task = &drive.run.plan.task;
    assert_eq!((task.criteria.rules.len(), &*task.criteria.rules[0].description), (3, "It is short."));
    assert_eq!((task.rules.max_iterations, task.rules.max_seconds), (2, Some(90)));
    let stop = drive.run.state.stop.as_ref().map(|stop| stop.reason);
    assert_eq!((drive.run.state.iteration, stop), (2, Some(Reason::IterationLimit)));
}

#[test]
fn a_run_whose_rules_nobody_could_propose_ends_with_the_reason() {
    let drive = play_with(unagreed(2), &|_, _| Some(true), |_, step| match step {
        Step::Propose => Some(failed(FailureKind::OffSchema)),
        _ => None,
    });
    assert_eq!(drive.run.state.stop.as_ref().map(|stop| stop.reason), Some(Reason::PhaseError));
    assert!(drive.run.state.artifact.is_none());
}

/// A person's command checks every version, without other checks of its rule and without asking for permission.
#[test]
fn a_rule_that_comes_with_a_command_is_checked_by_that_alone_and_without_asking() {
    for run_them in [RunThem::Never, RunThem::Ask] {
        let mut plan = unagreed(2);
        (plan.task.setup.proposals, plan.task.commands.run) = (None, run_them);
        let mut given = proposed("a.completeness.given");
        given.command = Some(vec!["grep".to_owned(), "port".to_owned(), "artifact.md".to_owned()]);
        plan.task.criteria.set(given);
        let mut prepared = Vec::new();
        let drive = play_with(plan, &|_, _| Some(true), |run, step| {
            if let Step::Prepare { .. } = step {
                prepared.push(super::world::prompt(run, step));
            }
            assert!(!matches!(step, Step::Allow { .. }), "a person's command needs no leave");
            None
        });
        assert!(!prepared.is_empty() && prepared.iter().all(|prompt| !prompt.contains("completeness.given")));
        let results = &drive.run.state.judged[0].evaluation.results;
        let result = results.iter().find(|result| result.rule.as_str() == "a.completeness.given").unwrap();
        assert_eq!(result.by, By::Command);
    }
}

#[test]
fn a_level_all_of_whose_rules_come_with_commands_asks_nobody_for_checks_or_verdicts() {
    let mut plan = unagreed(2);
    plan.task.setup.proposals = None;
    for rule in &mut plan.task.criteria.rules {
        rule.command = Some(vec!["true".to_owned()]);
    }
    let (drive, steps) = asked(plan);
    let is_asked = |step: &Step| matches!(step, Step::Prepare { .. } | Step::Judge { .. });
    assert!(!steps.iter().any(is_asked), "{steps:?}");
    assert_eq!(drive.run.state.stop.as_ref().map(|stop| stop.reason), Some(Reason::ThresholdReached));
}

#[test]
fn no_run_asks_more_often_than_was_told_before_its_rules_were_known() {
    let most = |plan: &Plan| Reflex::most_calls(plan).get(&Role::EVALUATOR).copied().unwrap_or(0);
    let limit = most(&unagreed(2));
    assert!(limit > most(&super::world::plan(Template::Docs)));
    let mut calls = 0;
    let categories = ["a.security.x", "b.security.y"].map(proposed);
    play_with(unagreed(2), &|_, _| Some(false), |run, step| {
        calls += u64::from(matches!(step, Step::Propose | Step::Prepare { .. } | Step::Judge { .. }));
        match step {
            Step::Propose => Some(Ok(Answer::Proposed(categories.to_vec()))),
            _ => Some(answer(run, step, &|_, _| Some(false))),
        }
    });
    assert!(calls <= limit, "{calls} of {limit}");
}

#[test]
fn criteria_that_could_judge_nothing_are_at_fault() {
    let mut criteria = super::world::plan(Template::Docs).task.criteria;
    assert_eq!(criteria.fault(), None);
    for rule in &mut criteria.rules {
        *rule = rule.clone().of_severity(Severity::Info, Weights::default());
    }
    assert_eq!(criteria.fault(), Some("no rule has a weight above 0"));
    let many = (0..61).map(|nth| proposed(&format!("a.style.x{nth}"))).collect();
    criteria.rules = many;
    assert_eq!(criteria.fault(), Some("there are more than 60 rules"));
    criteria.rules.clear();
    assert_eq!(criteria.fault(), Some("there is no rule"));
}

#[test]
fn a_rule_of_the_same_id_takes_the_place_of_the_first() {
    let drive = play::<bool>(super::world::plan(Template::Docs), &|_, _| true);
    let mut criteria = drive.run.plan.task.criteria.clone();
    let places: Vec<_> = criteria.rules.iter().map(|rule| rule.id.clone()).collect();
    let mut other = proposed("a.correctness.accuracy");
    other.description = "Another.".into();
    criteria.set(other);
    assert_eq!(criteria.rules.iter().map(|rule| rule.id.clone()).collect::<Vec<_>>(), places);
    assert_eq!(&*criteria.rules[0].description, "Another.");
    criteria.set(proposed("a.style.new"));
    assert_eq!((criteria.rules[4].id.as_str(), criteria.rules[4].level), ("a.style.new", Level::A));
}
