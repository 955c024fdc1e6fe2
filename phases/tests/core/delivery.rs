//! How a candidate comes to its executor, and what is counted of what became of it.

use skilltune_phases::delivery::{Delivery, SkillUse};
use skilltune_phases::event::FailureKind;
use skilltune_phases::loops::tune::Order;
use skilltune_phases::loops::tune::{Outcome, Plan, Step, Uses};
use skilltune_phases::material::Folder;
use skilltune_phases::order::Order as _;
use skilltune_phases::target::Place;

use crate::world::{Drive, failed, improved, judged, plan, ran, tree};

fn installed(members: usize, scenarios: usize) -> Plan {
    let mut plan = plan(members, scenarios);
    plan.task.delivery = Delivery::Installed { at: ".claude/skills".into() };
    plan.task.rules.max_iterations = 2;
    plan
}

fn left(name: &str, skill: SkillUse) -> Outcome {
    match ran(name) {
        Outcome::Exercised { artifacts, files, .. } => {
            Outcome::Exercised { artifacts, files, skill: Some(skill) }
        }
        other => other,
    }
}

fn places(order: &Order) -> Vec<&str> {
    order.placements().iter().map(|placement| placement.at.as_str()).collect()
}

#[test]
fn a_member_is_installed_in_its_own_trial_and_in_no_other() {
    let mut drive = Drive::start(installed(2, 1));
    let first = drive.due(1).remove(0);
    let order = Order::of(&drive.run, &first).unwrap();
    assert_eq!(places(&order), [".claude/skills/skill-0"]);
    assert_eq!(order.installed().unwrap().at, ".claude/skills/skill-0");
    drive.done(first, left("one", SkillUse::Used));
    let second = drive.due(1).remove(0);
    let order = Order::of(&drive.run, &second).unwrap();
    assert_eq!(places(&order), [".claude/skills/skill-1", "input"]);
    assert!(order.prompt(&[Folder::default(), Folder::default()]).unwrap().contains("is in `input`"));
    drive.done(second, left("two", SkillUse::Used));
    let third = drive.due(1).remove(0);
    let judge = Order::of(&drive.run, &third).unwrap();
    assert!(judge.installed().is_none());
    assert_eq!(places(&judge)[0], "skill/skill-0", "who judges finds it where it always is");
}

#[test]
fn a_second_try_asks_the_same_and_a_call_by_name_calls_this_member() {
    let mut plan = installed(1, 1);
    let prompt = |plan: &Plan, tries: usize| {
        let mut drive = Drive::start(plan.clone());
        let step = drive.due(1).remove(0);
        (0..tries).for_each(|_| drive.done(step.clone(), failed(FailureKind::Crashed)));
        Order::of(&drive.run, &step).unwrap().prompt(&[Folder::default()]).unwrap()
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
                let order = Order::of(&drive.run, &step).unwrap();
                let folder = Folder { at: "skill/skill-0".into(), files: Vec::new() };
                prompts.push(order.prompt(&[folder]).unwrap());
                improved("better")
            }
            Step::Ask(_) | Step::Promote { .. } => break,
        };
        drive.done(step, outcome);
    }
    let uses = Uses::of(&drive.run, drive.run.start(), None, 0..=0);
    assert_eq!(uses, Uses { used: 1, offered: 1, ..Uses::default() });
    assert!(uses.is_wanting() && uses.trials() == 2);
    assert_eq!(Uses::of(&drive.run, drive.run.start(), Some(Place(1)), 0..=0).trials(), 0);
    assert!(prompts[0].contains("In 1 of 2 trials the agent saw"), "{}", prompts[0]);
}

#[test]
fn a_journal_from_before_there_was_a_choice_is_read_as_inline() {
    let mut plan = serde_json::to_value(plan(1, 1)).unwrap();
    plan.as_object_mut().unwrap().remove("delivery").unwrap();
    assert_eq!(serde_json::from_value::<Plan>(plan).unwrap().task.delivery, Delivery::Inline);
    let old = serde_json::json!({ "exercised": { "artifacts": tree("a"), "files": 1 } });
    assert_eq!(serde_json::from_value::<Outcome>(old.clone()).unwrap(), ran("a"));
    assert_eq!(serde_json::to_value(ran("a")).unwrap(), old);
    let new =
        serde_json::json!({ "exercised": { "artifacts": tree("a"), "files": 1, "skill": "not_offered" } });
    assert_eq!(serde_json::from_value::<Outcome>(new).unwrap(), left("a", SkillUse::NotOffered));
}
