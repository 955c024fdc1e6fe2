//! What each step's prompt contains and omits, and how an unusable answer is handled.

use skilltune_phases::asking::order::Question as _;
use skilltune_phases::base::role::Rights;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::criteria::{Level, Template};
use skilltune_phases::loops::reflex::{Answers, Plan, Reflex, Run, Step};
use skilltune_phases::runs::event::FailureKind;

use super::world::{Drive, answer, code, draft, failed_once, plan, prompt, unagreed};
use crate::drive::{failed, tree};

/// Plays a run with a drop at A, then B; returns every step with the run at that time.
fn played(plan: Plan) -> Vec<(Run, Step)> {
    let mut asked = Vec::new();
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| {
        asked.push((run.clone(), step.clone()));
        let missed = [&["a.correctness.accuracy"][..], &["a.correctness.accuracy", "a.quality.clarity"], &[]];
        answer(run, step, &|nth, rule| Some(!missed[nth.min(2)].contains(&rule)))
    });
    asked
}

fn placed(run: &Run, step: &Step) -> Vec<String> {
    let order = Reflex::request(run, step).expect("an agent is asked");
    order.as_ref().placements.iter().map(|placement| placement.at.clone()).collect()
}

#[test]
fn each_step_is_told_what_it_needs_and_nothing_that_would_sway_it() {
    let mut plan = unagreed(2);
    plan.task.context = Some(tree("context"));
    for (run, step) in &played(plan) {
        if Reflex::role(step).is_none() {
            continue;
        }
        let text = prompt(run, step);
        let artifact = run.state.artifact.as_ref().map(|artifact| artifact.tree.0.short());
        let shows = artifact.as_ref().is_some_and(|artifact| text.contains(artifact));
        let scored =
            text.contains("score 6") || text.contains("of 100") || text.contains("as the judge saw it");
        let places = placed(run, step);
        match step {
            Step::Plan { iteration } => {
                assert!(!shows && places == ["context"]);
                assert_eq!(scored, *iteration > 1, "the planner hears what was found");
                assert!(text.contains("a.quality.clarity (severity warn, weight 1)"));
            }
            Step::Produce { from, .. } => {
                assert_eq!((shows, places.len()), (from.is_some(), 1 + usize::from(from.is_some())));
                assert!(
                    !scored && text.contains("Write it.") && text.contains("For a.correctness.accuracy.")
                );
            }
            Step::Prepare { level } => {
                assert!(!shows && !scored && places == ["context"], "checks are made without the artifact");
                assert_eq!(text.contains("b.style.consistency"), *level == Level::B);
                assert_eq!(text.contains("a.quality.clarity"), *level == Level::A, "those of A are frozen");
                assert!(text.contains("at most 2"));
            }
            Step::Judge { category, .. } => {
                assert!(shows && !scored, "the judge sees no earlier verdict");
                assert_eq!(places, ["", "context"]);
                assert_eq!(text.contains("a.correctness.accuracy"), category == "correctness");
                assert!(text.contains("Question: Is it so?"));
            }
            Step::Critique { .. } => {
                assert!(shows && places == [""]);
                assert!(
                    text.contains("a.correctness.accuracy (fail)") && text.contains("as the judge saw it")
                );
                assert!(!text.contains("a.completeness.sections"), "what is met needs no mending");
            }
            Step::Refine { .. } => {
                assert!(shows && places == [""]);
                assert!(text.contains("it is not there") && text.contains("write it"));
            }
            Step::Propose => {
                assert!(!shows && !scored && places == ["context"]);
                assert!(
                    text.contains("a.quality.clarity (severity warn, weight 1)")
                        && text.contains("at most 2 rules")
                );
            }
            Step::Agree | Step::Allow { .. } | Step::Match { .. } | Step::Check { .. } => {}
        }
    }
}

#[test]
fn whoever_is_asked_only_reads() {
    for (run, step) in &played(plan(Template::Docs)) {
        let Some(order) = Reflex::request(run, step) else {
            assert_eq!(Reflex::role(step), None);
            continue;
        };
        assert_eq!(
            (order.as_ref().rights, Some(order.as_ref().role.clone())),
            (Rights::Read, Reflex::role(step))
        );
        let writes = matches!(step, Step::Produce { .. } | Step::Refine { .. });
        assert_eq!(order.answers() == Answers::Page, writes);
        assert!(order.as_ref().draft().is_none());
        assert_eq!(order.as_ref().step, serde_json::to_string(step).unwrap());
        assert!(order.as_ref().fixed().all(|placement| !placement.at.is_empty()));
    }
}

#[test]
fn what_is_data_has_a_form_of_the_rules_that_are_asked_about_and_a_page_has_none() {
    for (run, step) in &played(plan(Template::Docs)) {
        let Some(order) = Reflex::request(run, step).filter(|order| order.as_ref().command.is_none()) else {
            continue;
        };
        let form = order.schema();
        assert_eq!(form.is_some(), order.answers() == Answers::Data, "{step:?}");
        let form = form.unwrap_or_default();
        let names = |rule: &str| form.contains(&format!("\"{rule}\""));
        let (accuracy, style) = (names("a.correctness.accuracy"), names("b.style.consistency"));
        match step {
            Step::Plan { .. } => assert!(accuracy && !style, "level B was not reached"),
            Step::Prepare { level } => {
                assert_eq!((accuracy, style), (*level == Level::A, *level == Level::B));
            }
            Step::Judge { category, .. } => {
                assert_eq!((accuracy, style), (category == "correctness", category == "style"));
            }
            Step::Critique { .. } => assert!(accuracy && !style, "it is the one that was missed"),
            Step::Propose | Step::Produce { .. } | Step::Refine { .. } => {}
            Step::Agree | Step::Allow { .. } | Step::Match { .. } | Step::Check { .. } => {
                unreachable!("no agent is asked")
            }
        }
    }
}

#[test]
fn an_answer_that_keeps_no_contract_is_told_what_is_wrong_with_it() {
    let mut refusals = std::collections::BTreeSet::new();
    for (run, step) in &played(plan(Template::Docs)) {
        let Some(order) = Reflex::request(run, step) else { continue };
        let (text, name) = (prompt(run, step), format!("{step:?}"));
        let name = name.split(' ').next().unwrap().to_owned();
        let failure = match order.answers() {
            Answers::Page => order.page(" \n").unwrap_err(),
            Answers::Data => {
                let foreign = r#"{"answer_to": "x", "verdict_of": "x", "plan": [], "checks": [], "issues": [], "criteria": []}"#;
                let Err(failure) = order.read(foreign) else { panic!("{name} was taken") };
                assert!(failure.why.contains("is missing or is not the code given"), "{}", failure.why);
                let Err(prose) = order.read("I had rather not.") else { panic!("{name} was taken") };
                assert_eq!(prose.kind, FailureKind::OffSchema);
                let ours = foreign.replace("\"x\"", &format!("\"{}\"", code(&text)));
                let Err(failure) = order.read(&ours) else { panic!("{name} was taken") };
                failure
            }
        };
        assert_eq!(failure.kind, FailureKind::OffSchema);
        let wrong = failure.why.split(": ").next().unwrap().to_owned();
        refusals.insert(format!("{name}: {wrong}"));
    }
    insta::assert_snapshot!(refusals.into_iter().collect::<Vec<_>>().join("\n"), @r"
    Critique: 0 issues were given; give 1 to 5
    Judge: not answered
    Plan: 0 steps were given; give 3 to 5
    Prepare: not answered
    Produce: the artifact says nothing
    Refine: the artifact says nothing
    ");
}

#[test]
fn the_second_try_is_told_why_the_first_could_not_be_used_and_has_a_code_of_its_own() {
    let mut prompts = std::collections::HashMap::<Step, Vec<String>>::new();
    let mut drive = Drive::start(plan(Template::Docs));
    drive.finish_alone(|run, step| {
        if Reflex::role(step).is_some() {
            prompts.entry(step.clone()).or_default().push(prompt(run, step));
        }
        failed_once(run, step)
            .unwrap_or_else(|| answer(run, step, &|nth, rule| Some(nth > 0 || rule != "a.quality.clarity")))
    });
    for (step, texts) in &prompts {
        let [first, second] = &texts[..] else { panic!("{step:?} was asked {} times", texts.len()) };
        assert!(!first.contains("Once more") && second.contains("Once more"));
        assert!(second.contains("the world would not"), "{second}");
        if !matches!(step, Step::Produce { .. } | Step::Refine { .. }) {
            assert_ne!(code(first), code(second));
        }
    }
}

#[test]
fn the_planner_hears_of_decisions_and_not_of_answers_that_could_not_be_used() {
    let mut planning = String::new();
    let mut drive = Drive::start(plan(Template::Docs));
    drive.run.plan = std::sync::Arc::new({
        let mut plan = plan(Template::Docs);
        plan.task.rules.latest_events = 9;
        plan
    });
    drive.finish_alone(|run, step| {
        if matches!(step, Step::Plan { iteration: 3 }) {
            planning = prompt(run, step);
        }
        if matches!(step, Step::Judge { .. }) && run.attempts(step) == 0 {
            return failed(FailureKind::OffSchema);
        }
        let missed = [&["a.correctness.accuracy"][..], &["a.correctness.accuracy", "a.quality.clarity"], &[]];
        answer(run, step, &|nth, rule| Some(!missed[nth.min(2)].contains(&rule)))
    });
    assert!(planning.contains(&format!("artifact {} was refined", draft("draft 0").name())), "{planning}");
    assert!(!planning.contains("could not be used"));
}
