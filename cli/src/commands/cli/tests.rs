use clap::CommandFactory as _;
use clap::error::ErrorKind;

use super::*;
use crate::args::lint;
use crate::args::runs::{RunArgs, ShowArgs, ViewArgs};
use crate::settings::values;
use crate::settings::values::{AgentSpec, Streamed};

fn refusal(line: &[&str]) -> String {
    let error = tune_args(line).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    error.to_string().lines().next().unwrap().to_owned()
}

fn command(line: &str) -> Command {
    Cli::try_parse_from(line.split(' ')).unwrap().command.unwrap()
}

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn help_ends_with_the_exit_codes_and_does_not_know_the_guardian() {
    let help = Cli::command().render_help().to_string();
    insta::assert_snapshot!(help.split_once("Exit codes").map(|(_, table)| table).unwrap(), @r"
    :
        0  success: goal reached, or nothing left to do
        1  skilltune itself failed
        2  bad input
        3  goal or --fail- condition missed, lint or suite found problems, or doctor is not ready
        4  not judged: an agent failed or gave an incomplete answer
        5  paused at a limit: --max-usd, --max-tokens, --max-calls or --max-minutes
      130  interrupted (Ctrl-C)
      143  terminated
    ");
    assert!(!help.contains("guardian"));
}

#[test]
fn a_scenario_is_text_or_flags_under_either_name() {
    let args = tune_args(&["a,b", "Write", "a haiku", "--test", "one", "--scenario", "two"]).unwrap();
    assert_eq!(args.skills.as_deref(), Some("a,b"));
    assert_eq!(args.text, ["Write", "a haiku"]);
    assert_eq!(args.scenarios, ["one", "two"]);
}

#[test]
fn requirements_are_repeated_or_separated_by_commas() {
    let args = tune_args(&["a", "--requirements", "x,y", "--requirements", "z"]).unwrap();
    assert_eq!(args.requirements, ["x", "y", "z"]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let refused = [
        ["a", "--threshold", "101"],
        ["a", "--threshold", "nan"],
        ["a", "--max-iterations", "0"],
        ["a", "--max-iterations", "101"],
        ["a", "--jobs", "257"],
        ["a", "--timeout", "0"],
        ["a", "--timeout", "99999h"],
    ];
    insta::assert_snapshot!(refused.map(|line| refusal(&line)).join("\n"), @r"
    error: invalid value '101' for '--threshold <SCORE>': must be a number from 0 to 100
    error: invalid value 'nan' for '--threshold <SCORE>': must be a number from 0 to 100
    error: invalid value '0' for '--max-iterations <N>': must be a whole number from 1 to 100
    error: invalid value '101' for '--max-iterations <N>': must be a whole number from 1 to 100
    error: invalid value '257' for '--jobs <N>': must be a whole number from 1 to 256
    error: invalid value '0' for '--timeout <TIME>': must be from 1 to 604800 seconds, such as 90, 90s, 10m or 1h
    error: invalid value '99999h' for '--timeout <TIME>': must be from 1 to 604800 seconds, such as 90, 90s, 10m or 1h
    ");
}

#[test]
fn times_have_units() {
    let seconds = |text| tune_args(&["a", "--timeout", text]).unwrap().calls.timeout;
    assert_eq!(["90", "90s", "10m", "2h"].map(seconds), [90, 90, 600, 7200].map(Some));
}

#[test]
fn an_agent_has_a_name_and_maybe_a_model() {
    let spec = |text: &str| text.parse::<AgentSpec>().map(|spec| (spec.agent, spec.model));
    assert_eq!(spec("claude"), Ok(("claude".into(), None)));
    assert_eq!(spec("local:qwen:7b"), Ok(("local".into(), Some("qwen:7b".into()))));
    assert_eq!(spec(":opus"), Err(values::BadSpec::Name));
    assert_eq!(spec("../x"), Err(values::BadSpec::Name));
    assert_eq!(spec("a:"), Err(values::BadSpec::Model));
    assert_eq!(spec("a:--yolo"), Err(values::BadSpec::Model));
    assert_eq!("a:b:c".parse::<AgentSpec>().unwrap().to_string(), "a:b:c");
}

#[test]
fn commands_on_runs_take_what_they_need() {
    assert!(matches!(
        command("skilltune status"),
        Command::Run(RunCommand::Status(ViewArgs { run: RunArgs { run: None }, .. }))
    ));
    assert!(matches!(
        command("skilltune show ab 2"),
        Command::Run(RunCommand::Show(ShowArgs { part: Some(_), .. }))
    ));
    assert!(matches!(
        command("skilltune export ab cd out --project /p"),
        Command::Run(RunCommand::Export(_))
    ));
    let Command::Run(RunCommand::Resume(resume)) =
        command("skilltune resume ab --answer keep -y --jobs 2 --format jsonl")
    else {
        panic!("not a resume");
    };
    assert_eq!(resume.answer.as_deref(), Some("keep"));
    assert_eq!(resume.going.format, Streamed::Jsonl);
    let conflict = Cli::try_parse_from(["skilltune", "clean", "ab", "--all"]).unwrap_err();
    assert_eq!(conflict.kind(), ErrorKind::ArgumentConflict);
    let unknown = Cli::try_parse_from(["skilltune", "resume", "--answer", "maybe"]).unwrap_err();
    assert!(unknown.to_string().contains(
        "[possible values: apply, keep, run, skip, refocus, amend, guide, force, accept, end, abort, approve, refuse, leave, holds, fails]"
    ));
}

#[test]
fn a_fix_is_safe_unless_all_is_asked_for() {
    let lint = |line: &str| match command(line) {
        Command::Lint(args) => args,
        other => panic!("not a lint: {other:?}"),
    };
    assert_eq!(lint("skilltune lint a b").fix, None);
    let safe = lint("skilltune lint --fix a b");
    assert_eq!((safe.fix, safe.skills), (Some(lint::Fix::Safe), vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(lint("skilltune lint a --fix=all --rule contents-missing").fix, Some(lint::Fix::All));
}
