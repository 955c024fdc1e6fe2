use clap::Parser as _;

use super::*;
use crate::args::{Cli, Command};
use crate::questions::scripted::Script;
use crate::settings::Row;

fn args(line: &[&str]) -> InitArgs {
    match Cli::try_parse_from(["skilltune", "init"].iter().chain(line)).unwrap().command {
        Command::Init(args) => args,
        other => panic!("not an init: {other:?}"),
    }
}

fn set(settings: &Settings) -> Vec<(String, String)> {
    let row = |row: Row| (row.key, format!("{} by {}", row.value, row.origin));
    let rows = settings.rows().into_iter();
    rows.filter(|row| matches!(row.origin, "flag" | "answer")).map(row).collect()
}

fn told(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_person_is_asked_for_the_goal_and_for_each_role() {
    let person = Script { agent: Some("claude".to_owned()), ..Script::default() };
    let chosen = chosen(&args(&[]), &["claude".to_owned()], Some(&person)).unwrap();
    assert_eq!(
        *person.asked.borrow(),
        ["preset, Standard", "agent, executor", "agent, evaluator", "agent, improver"]
    );
    let expected = [
        ("tune.preset", "\"quick\" by answer"),
        ("roles.executor", "\"claude\" by answer"),
        ("roles.evaluator", "\"claude\" by answer"),
        ("roles.improver", "\"claude\" by answer"),
    ];
    assert_eq!(set(&chosen), told(&expected));
}

#[test]
fn what_a_flag_says_is_not_asked() {
    let person = Script::default();
    let line = ["--threshold", "85", "--agent", "a", "--improver", "b:large", "--apply", "never"];
    let chosen = chosen(&args(&line), &["claude".to_owned()], Some(&person)).unwrap();
    assert!(person.asked.borrow().is_empty(), "{:?}", person.asked);
    let expected = [
        ("tune.threshold", "85.0 by flag"),
        ("tune.apply", "\"never\" by flag"),
        ("roles.executor", "\"a\" by flag"),
        ("roles.evaluator", "\"a\" by flag"),
        ("roles.improver", "\"b:large\" by flag"),
    ];
    assert_eq!(set(&chosen), told(&expected));
}

#[test]
fn nobody_is_asked_for_agents_that_nobody_has_described() {
    let person = Script::default();
    chosen(&args(&["--preset", "thorough"]), &[], Some(&person)).unwrap();
    assert!(person.asked.borrow().is_empty());
    assert_eq!(set(&chosen(&args(&[]), &[], None).unwrap()), []);
}
