//! How the executor receives a candidate, and how its use is counted.

use serde_json::{Value, json};
use skilltune_phases::base::delivery::{Delivery, SkillUse};
use skilltune_phases::base::ending::Class;
use skilltune_phases::judging::judgement::Assessment;
use skilltune_phases::judging::stop::Reason;
use skilltune_phases::judging::{contract, rubric};
use skilltune_phases::loops::tune::{AgentRequest, Answer, Ending, Outcome, Plan, Run, Step, Uses, Verdict};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::skills::target::Place;

use crate::drive::bare_prompt;
use crate::world::{Drive, failed, improved, judged, nth, plan, points, ran, well};

fn installed(members: usize, scenarios: usize) -> Plan {
    let mut plan = plan(members, scenarios);
    plan.task.delivery = Delivery::Installed { at: ".claude/skills".into() };
    plan.task.rules.max_iterations = 2;
    plan
}

fn left(name: &str, skill: SkillUse) -> Outcome {
    match ran(name) {
        Ok(Answer::Exercised { artifacts, files, digest, kept, .. }) => {
            Ok(Answer::Exercised { artifacts, files, skill: Some(skill), digest, kept, opened: None })
        }
        other => other,
    }
}

fn places(request: &AgentRequest) -> Vec<&str> {
    request.as_ref().placements.iter().map(|placement| placement.at.as_str()).collect()
}

#[test]
fn a_member_is_installed_in_its_own_trial_and_in_no_other() {
    let mut drive = Drive::start(installed(2, 1));
    let first = drive.due(1).remove(0);
    let order = AgentRequest::of(&drive.run, &first).unwrap();
    assert_eq!(places(&order), [".claude/skills/skill-0"]);
    assert_eq!(order.as_ref().installed.as_ref().unwrap().at, ".claude/skills/skill-0");
    drive.done(first, left("one", SkillUse::Used));
    let second = drive.due(1).remove(0);
    let order = AgentRequest::of(&drive.run, &second).unwrap();
    assert_eq!(places(&order), [".claude/skills/skill-1", "input"]);
    assert!(bare_prompt(&order).unwrap().contains("left its output in `input`"));
    drive.done(second, left("two", SkillUse::Used));
    let third = drive.due(1).remove(0);
    let judge = AgentRequest::of(&drive.run, &third).unwrap();
    assert!(judge.as_ref().installed.is_none());
    assert_eq!(places(&judge)[0], "skill/skill-0", "who judges finds it where it always is");
}

#[test]
fn a_second_try_asks_the_same_and_a_call_by_name_calls_this_member() {
    let mut plan = installed(1, 1);
    let prompt = |plan: &Plan, tries: usize| {
        let mut drive = Drive::start(plan.clone());
        let step = drive.due(1).remove(0);
        (0..tries).for_each(|_| drive.done(step.clone(), failed(FailureKind::Crashed)));
        bare_prompt(&AgentRequest::of(&drive.run, &step).unwrap()).unwrap()
    };
    let task = |prompt: &str| prompt.lines().filter(|line| !line.starts_with("<<<")).collect::<String>();
    assert_eq!(task(&prompt(&plan, 0)), task(&prompt(&plan, 1)));
    assert!(!prompt(&plan, 0).contains("skill-0"));
    plan.task.delivery = Delivery::Slash { at: ".claude/skills".into() };
    assert!(prompt(&plan, 0).starts_with("/skill-0\n"));
    plan.task.delivery = Delivery::Inline;
    assert!(prompt(&plan, 0).contains("`skill-0`, in the folder"));
}

#[test]
fn uses_are_counted_where_they_are_known_and_told_to_the_improver() {
    let mut drive = Drive::start(installed(1, 3));
    let mut uses = [left("a", SkillUse::Used), left("b", SkillUse::Offered), ran("c")].into_iter();
    let mut prompts = Vec::new();
    while let Some(step) = drive.due(1).pop() {
        let outcome = match &step {
            Step::Exercise { .. } => uses.next().unwrap_or_else(|| ran("later")),
            Step::Judge { .. } => judged(&drive.run, 50, &[]),
            Step::Improve { .. } => {
                let order = AgentRequest::of(&drive.run, &step).unwrap();
                prompts.push(bare_prompt(&order).unwrap());
                improved("better")
            }
            _ => break,
        };
        drive.done(step, outcome);
    }
    let uses = Uses::of(&drive.run, drive.run.start(), None, 0..=0);
    assert_eq!(uses, Uses { used: 1, offered: 1, ..Uses::default() });
    assert!(uses.is_wanting() && uses.trials() == 2);
    assert_eq!(Uses::of(&drive.run, drive.run.start(), Some(Place(1)), 0..=0).trials(), 0);
    assert!(prompts[0].contains("In 1 of 2 trials the agent saw"), "{}", prompts[0]);
}

/// Plays a run in which every edit is judged better and every trial uses the skill in this way.
fn rising(plan: Plan, skill: impl Fn(&Run, &Step) -> Option<SkillUse>) -> Run {
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Exercise { skill: tree, .. } => match skill(run, step) {
            Some(skill) => left(&tree.to_string(), skill),
            None => ran(&tree.to_string()),
        },
        Step::Judge { candidate, .. } => judged(run, 50 + 20 * nth(run, *candidate), &[]),
        Step::Improve { round, .. } => improved(&format!("draft {round}")),
        _ => well(run, step, 0),
    });
    drive.run
}

fn came_to(run: &Run) -> (Verdict, Ending) {
    let shipment = run.state.shipment.as_ref().expect("the run has come to its end");
    (shipment.verdict, run.state.closed.expect("the run has come to its end"))
}

#[test]
fn a_candidate_whose_skill_was_used_in_none_of_its_fresh_trials_does_not_ship() {
    let fresh = |step: &Step| matches!(step, Step::Exercise { trial, .. } if trial.ordinal > 0);
    for unused in [SkillUse::Offered, SkillUse::NotOffered, SkillUse::Shadowed] {
        let run = rising(installed(1, 2), |_, step| Some(if fresh(step) { unused } else { SkillUse::Used }));
        assert_eq!(came_to(&run), (Verdict::Unused, Ending::Unchanged), "{unused:?}");
        assert_eq!(run.state.shipment.as_ref().unwrap().champion, run.start());
    }
    // If the agent does not report use, it is unknown; one use shows that the skill can be used.
    let once = |step: &Step| match step {
        Step::Exercise { trial, .. } if trial.scenario == 0 => SkillUse::Used,
        _ => SkillUse::Offered,
    };
    assert_eq!(came_to(&rising(installed(1, 2), |_, _| None)), (Verdict::Won, Ending::Kept));
    assert_eq!(came_to(&rising(installed(1, 2), |_, step| Some(once(step)))), (Verdict::Won, Ending::Kept));
}

#[test]
fn of_a_chain_the_member_that_was_changed_has_to_be_used() {
    let second = |step: &Step, skill| match step {
        Step::Exercise { member: Place(1), .. } => Some(skill),
        _ => Some(SkillUse::Offered),
    };
    let run = rising(installed(2, 1), |_, step| second(step, SkillUse::Used));
    assert_eq!(came_to(&run), (Verdict::Unused, Ending::Unchanged), "the first is what was edited");
    let run = rising(installed(2, 1), |_, step| {
        let skill = second(step, SkillUse::Offered)?;
        Some(if matches!(step, Step::Exercise { member: Place(0), .. }) { SkillUse::Used } else { skill })
    });
    assert_eq!(came_to(&run), (Verdict::Won, Ending::Applied));
}

#[test]
fn a_goal_is_not_reached_by_a_skill_that_was_not_used() {
    let mut plan = installed(1, 1);
    plan.task.rules.threshold = points(40.0);
    let run = rising(plan.clone(), |_, _| Some(SkillUse::Used));
    assert_eq!((run.state.stopped, run.class()), (Some(Reason::Reached), Class::Reached));
    let run = rising(plan, |_, _| Some(SkillUse::Offered));
    assert_eq!((run.state.stopped, run.class()), (Some(Reason::Exhausted), Class::Short));
}

/// Returns the answer of a judge that passes every criterion of the prompt.
fn all_passed(prompt: &str, plan: &Plan) -> String {
    let (_, rest) = prompt.rsplit_once("\"verdict_of\": \"").expect("a code is asked for");
    let code = rest.split('"').next().expect("a text has a first part");
    let members = plan.task.target.members.iter().map(|member| member.name.as_str());
    let about = std::iter::once(None).chain(members.filter(|_| plan.is_chain()).map(Some));
    let criteria: Vec<Value> = about
        .flat_map(|member| {
            plan.task.contract.criteria.iter().map(move |criterion| {
                let mut entry =
                    json!({ "id": criterion.id, "verdict": "pass", "evidence": "out.md: \"all of it\"" });
                if let Some(member) = member {
                    entry["member"] = member.into();
                }
                entry
            })
        })
        .collect();
    json!({ "verdict_of": code, "criteria": criteria }).to_string()
}

#[test]
fn a_judge_is_told_what_was_not_used_and_no_verdict_on_its_effect_counts() {
    let judge = |uses: &[Option<SkillUse>]| {
        let mut plan = installed(uses.len(), 1);
        plan.task.contract = rubric::tune();
        let scenario = &mut plan.task.scenarios[0];
        (scenario.requirements, scenario.success_criteria) = (vec!["short".into()], "good".into());
        let mut drive = Drive::start(plan.clone());
        for (nth, skill) in uses.iter().enumerate() {
            let (step, name) = (drive.due(1).remove(0), format!("made {nth}"));
            drive.done(step, skill.map_or_else(|| ran(&name), |skill| left(&name, skill)));
        }
        let step = drive.due(1).remove(0);
        let order = AgentRequest::of(&drive.run, &step).unwrap();
        let prompt = bare_prompt(&order).unwrap();
        let Ok(Answer::Judged(judgement)) = order.read(&all_passed(&prompt, &plan)) else {
            panic!("{prompt}")
        };
        let effects = |assessment: &Assessment| {
            let effects =
                assessment.findings.iter().filter(|one| one.criterion.as_str().starts_with("effectiveness."));
            effects.filter(|one| one.verdict == contract::Verdict::Unverified).count()
        };
        let members = judgement.members.values().map(effects).collect::<Vec<_>>();
        (prompt, effects(&judgement.whole), members, judgement.whole.scored.dimensions[3].1)
    };
    let (prompt, unverified, _, effect) = judge(&[Some(SkillUse::Offered)]);
    let introduction = prompt.split("## The criteria").next().unwrap();
    assert!(introduction.contains("The agent did not use `skill-0` in this trial"), "{introduction}");
    assert!(introduction.contains("`effectiveness.requirements`, `effectiveness.success`"), "{introduction}");
    assert_eq!((unverified, effect), (4, None));
    for known in [Some(SkillUse::Used), None] {
        let (prompt, unverified, _, effect) = judge(&[known]);
        assert!(!prompt.contains("did not use"), "{prompt}");
        assert_eq!((unverified, effect), (0, Some(points(100.0))));
    }
    let (prompt, unverified, members, _) = judge(&[Some(SkillUse::Used), Some(SkillUse::NotOffered)]);
    assert!(prompt.contains("The agent did not use `skill-1` in this trial"), "{prompt}");
    assert_eq!((unverified, members), (4, vec![0, 4]));
}
