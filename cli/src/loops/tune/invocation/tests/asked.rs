//! Tests of the questions on a terminal.

use super::*;
use crate::loops::tune::scenarios::GENERAL;

const MODE: &str = "How should these 2 skills be tuned? single: each skill by itself (recommended)";
const PRESET: &str =
    "How much may the search spend? standard: up to 48 runs or 5 rounds, goal 80 (recommended)";

#[test]
fn on_a_terminal_the_mode_of_several_is_asked_then_the_task_and_then_the_preset() {
    let world = World::usual();
    let person = Script { picks: vec![("How much may", 0), ("How should these", 1)], ..Script::default() };
    let chain = world.ask(Some(&person), &["./a,./b"]).unwrap();
    let task = "What should these 2 skills be tried on? a task that you type";
    assert_eq!(*person.asked.borrow(), [MODE, task, "Which task?", PRESET]);
    assert_eq!((chain.len(), chain[0].rules.max_iterations), (1, 3));
    assert_eq!(chain[0].scenarios[0].description, GENERAL, "enter");
    let person = Script { line: Some("Write a haiku".to_owned()), ..Script::default() };
    let asked = world.ask(Some(&person), &["./a", "--threshold", "75"]).unwrap().remove(0);
    let task = "What should a be tried on? a task that you type";
    assert_eq!(*person.asked.borrow(), [task, "Which task?", PRESET]);
    assert_eq!((asked.scenarios.len(), asked.scenarios[0].description.as_str()), (1, "Write a haiku"));
}

#[test]
fn the_skills_own_suite_and_the_projects_are_offered_and_used() {
    let world = World::usual();
    let at = |path: &str| world.env().cwd.join(path);
    fs::create_dir(at("a/evals")).unwrap();
    let evals = r#"{"evals": [{"id": 1, "prompt": "Write a page", "expectations": ["It is short."]}]}"#;
    fs::write(at("a/evals/evals.json"), evals).unwrap();
    let suite = "[[scenarios]]\ndescription = \"Write a list\"\ntools = \"files\"\n";
    fs::write(at("suite.toml"), suite).unwrap();
    for (picked, task, found) in
        [(0, "Write a page", Some(true)), (1, "Write a list", Some(false)), (3, GENERAL, None)]
    {
        let person = Script { picks: vec![("be tried on", picked)], ..Script::default() };
        let line = ["./a", "--preset", "quick", "--tools", "files"];
        let asked = world.ask(Some(&person), &line).unwrap().remove(0);
        assert_eq!(*person.asked.borrow(), ["What should a be tried on? its own suite, evals/evals.json"]);
        assert_eq!((asked.scenarios.len(), asked.scenarios[0].description.as_str()), (1, task));
        assert_eq!(asked.suite.map(|suite| suite.found), found);
        assert_eq!(asked.scenarios[0].tools, None, "a flag goes over a suite");
    }
}

#[test]
fn a_suite_that_is_to_be_drafted_comes_before_everything_else() {
    let world = World::usual();
    let person = Script { picks: vec![("be tried on", 1)], ..Script::default() };
    let args = tune_args(&["./a", "--trust"]).unwrap();
    let draft = super::super::invocations(&args, &world.env(), Some(&person)).unwrap().break_value().unwrap();
    assert_eq!((draft.skill.as_str(), draft.trust), ("./a", true));
    assert_eq!(draft.agent.unwrap().agent, "other", "the improver drafts it");
    assert_eq!(person.asked.borrow().len(), 1);
}

#[test]
fn no_task_is_asked_for_where_none_is_done() {
    let person = Script::default();
    World::usual().ask(Some(&person), &["./a", "--agent", "offline", "--preset", "quick"]).unwrap();
    assert!(person.asked.borrow().is_empty());
}

#[test]
fn an_answer_goes_over_the_files_and_under_the_flags() {
    let world = World::new(&format!("{AGENTS}{ROLES}"), "[tune]\npreset = \"thorough\"\n");
    let person = Script { picks: vec![("How much may", 0)], ..Script::default() };
    let asked = world.ask(Some(&person), &["./a", "write a page", "--threshold", "75"]).unwrap().remove(0);
    assert_eq!(
        *person.asked.borrow(),
        ["How much may the search spend? thorough: up to 128 runs or 8 rounds, goal 90"]
    );
    assert_eq!((asked.rules.max_iterations, asked.rules.threshold.points()), (3, 75.0));
}

#[test]
fn nothing_is_asked_with_yes_or_with_the_flags_concerned() {
    let world = World::usual();
    let rounds = ["--max-iterations", "2", "--mode", "single"];
    let runs = ["--runs", "20", "--mode", "single"];
    for flags in [&["-y"][..], &["--preset", "quick", "--mode", "single"], &rounds, &runs] {
        let person = Script::default();
        world.ask(Some(&person), &[&["./a,./b", "write a page"], flags].concat()).unwrap();
        assert!(person.asked.borrow().is_empty());
    }
}

#[test]
fn a_bad_skill_or_agent_is_told_before_anything_is_asked() {
    let person = Script::default();
    assert!(World::usual().ask(Some(&person), &["./a", "--agent", "nobody"]).is_err());
    assert!(World::usual().ask(Some(&person), &["./a,./missing"]).is_err());
    assert!(person.asked.borrow().is_empty());
}

#[test]
fn without_an_agent_the_built_in_one_is_offered_once_and_never_taken_in_silence() {
    let world = World::new("", "");
    let person = Script::default();
    let invocations = world.ask(Some(&person), &["./a,./b", "--preset", "quick"]).unwrap();
    let names: Vec<_> = invocations
        .iter()
        .flat_map(|one| one.common.casting.values().map(|part| part.agent.name.as_str()))
        .collect();
    assert_eq!(names, ["offline"; 6]);
    assert_eq!(
        *person.asked.borrow(),
        [OFFER, "How should these 2 skills be tuned? single: each skill by itself (recommended)"]
    );
    let refused = Script { agrees: false, ..Script::default() };
    assert!(world.ask(Some(&refused), &["./a"]).is_err());
    assert!(world.ask(None, &["./a"]).is_err(), "unattended");
    assert!(world.ask(Some(&person), &["./a", "--yes"]).is_err(), "with --yes nothing is asked");
    let some = world.one(&["./a", "--agent", "offline"]);
    assert!(some.common.casting.values().all(|part| part.agent.is_built_in()));
}
