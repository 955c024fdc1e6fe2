use clap::Parser as _;

use super::*;
use crate::commands::cli::{Cli, Command};
use crate::settings::show::Row;
use crate::terminal::questions::scripted::Script;

fn args(line: &[&str]) -> InitArgs {
    match Cli::try_parse_from(["skilltune", "init"].iter().chain(line)).unwrap().command {
        Some(Command::Init(args)) => args,
        other => panic!("not an init: {other:?}"),
    }
}

fn set(settings: &Settings) -> Vec<(String, String)> {
    let row = |row: Row| (row.key, format!("{} by {}", row.value, row.origin));
    let rows = settings.rows().into_iter();
    rows.filter(|row| matches!(row.origin, "flag" | "answer")).map(row).collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_person_is_asked_for_the_goal_and_for_each_role() {
    let person = Script { picks: vec![("How much may", 0)], ..Script::default() };
    let chosen = chosen(&args(&[]), &["claude".to_owned()], Some(&person)).unwrap();
    assert_eq!(
        *person.asked.borrow(),
        [
            "How much may the search spend? standard: up to 48 runs or 5 rounds, goal 80 (recommended)",
            "Which agent is the executor? claude",
            "Which agent is the evaluator? claude",
            "Which agent is the improver? claude"
        ]
    );
    let expected = [
        ("roles.executor", "\"claude\" by answer"),
        ("roles.evaluator", "\"claude\" by answer"),
        ("roles.improver", "\"claude\" by answer"),
        ("tune.preset", "\"quick\" by answer"),
    ];
    assert_eq!(set(&chosen), owned(&expected));
}

#[test]
fn what_a_flag_says_is_not_asked() {
    let person = Script::default();
    let line = ["--threshold", "85", "--agent", "a", "--improver", "b:large", "--apply", "never"];
    let chosen = chosen(&args(&line), &["claude".to_owned()], Some(&person)).unwrap();
    assert!(person.asked.borrow().is_empty(), "{:?}", person.asked);
    let expected = [
        ("roles.executor", "\"a\" by flag"),
        ("roles.evaluator", "\"a\" by flag"),
        ("roles.improver", "\"b:large\" by flag"),
        ("tune.threshold", "85.0 by flag"),
        ("tune.apply", "\"never\" by flag"),
    ];
    assert_eq!(set(&chosen), owned(&expected));
}

#[test]
fn where_no_agent_is_described_the_built_in_one_is_offered_and_taken_only_when_chosen() {
    let person = Script { picks: vec![("Which agent", 1)], ..Script::default() };
    let none = chosen(&args(&["--preset", "thorough"]), &[], Some(&person)).unwrap();
    let asked = [
        "Which agent is the executor? offline: built in, no model, checks structure only",
        "Which agent is the evaluator? offline: built in, no model, checks structure only",
        "Which agent is the improver? offline: built in, no model, checks structure only",
    ];
    assert_eq!(*person.asked.borrow(), asked);
    assert_eq!(none.roles.required().map(|role| role.value.clone()), [None, None, None]);
    assert_eq!(set(&chosen(&args(&[]), &[], None).unwrap()), []);
}

#[test]
fn the_task_of_a_first_suite_is_asked_for_unless_a_flag_says_it() {
    let person = Script { line: Some("answered".to_owned()), ..Script::default() };
    assert_eq!(task(&args(&["--suite", " given "]), Some(&person)).unwrap().as_deref(), Some("given"));
    assert!(person.asked.borrow().is_empty());
    assert_eq!(task(&args(&[]), Some(&person)).unwrap().as_deref(), Some("answered"));
    assert_eq!(task(&args(&[]), None).unwrap(), None);
}
