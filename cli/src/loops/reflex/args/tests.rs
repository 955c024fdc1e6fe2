use clap::{CommandFactory as _, Parser as _};

use super::*;
use crate::commands::cli::{Cli, Command as Word, new_args};
use crate::loops::LoopCommand;
use crate::loops::reflex::args::new::TaskSource;

/// Returns the help of one of the commands, in a window of 80 columns.
fn help(path: &[&str]) -> String {
    let mut program = Cli::command().term_width(80);
    program.build();
    let command = path.iter().fold(&mut program, |command, name| command.find_subcommand_mut(name).unwrap());
    command.render_help().to_string()
}

fn reflex(line: &[&str]) -> Result<ReflexCommand, clap::Error> {
    match Cli::try_parse_from(["skilltune", "reflex"].iter().chain(line))?.command {
        Some(Word::Loop(LoopCommand::Reflex(args))) => Ok(args.command),
        other => panic!("not a reflex: {other:?}"),
    }
}

#[test]
fn the_loops_help_says_what_its_commands_do() {
    insta::assert_snapshot!(help(&["reflex"]), @r#"
    Write a text for a task and refine it until it meets its rules

    Usage: skilltune reflex <COMMAND>
           skilltune reflex [TASK] [OPTIONS]

    Commands:
      new       Write a text for a task, judge it against rules, and refine it
      status    Show the state of a run
      resume    Continue a run that was paused or killed
      stop      Stop a run after its current steps; a reflex run ends for good
      list      List the runs of this project
      history   Show the events of a run in order
      show      Show a run, a round or a version
      diff      Show what a version changes
      apply     Replace the skill with a candidate, or create a commit with it
      rollback  Restore the skill or the folder that a run replaced
      export    Copy a version to a new folder
      report    Print the report of a run, or open it in your browser
      clean     Delete old runs and the files that only they need
      help      Print this message or the help of the given subcommand(s)

    Options:
          --project <DIR>  Project folder [default: the nearest folder above with
                           skilltune.toml or .git]
      -q, --quiet          Print no progress and no notes on stderr; errors keep
                           their hints
      -v, --verbose        Print a line on stderr for each agent call as it ends,
                           except for the calls of a night
      -h, --help           Print help

    A bare TASK means `new` and takes its options.

    Examples:
      skilltune reflex "Write the API reference of the orders service"
      skilltune reflex status
    "#);
}

#[test]
fn the_help_of_a_new_task_says_who_does_what() {
    insta::assert_snapshot!(help(&["reflex", "new"]), @r#"
    Write a text for a task, judge it against rules, and refine it

    Usage: skilltune reflex new [OPTIONS] [TASK]

    Arguments:
      [TASK]  Description of the text to write, or - to read it from stdin

    Options:
          --project <DIR>  Project folder [default: the nearest folder above with
                           skilltune.toml or .git]
      -q, --quiet          Print no progress and no notes on stderr; errors keep
                           their hints
      -v, --verbose        Print a line on stderr for each agent call as it ends,
                           except for the calls of a night
      -h, --help           Print help (see more with '--help')

    Task:
          --task-file <FILE>  Read the task from this file
          --ideal <TEXT>      Description of the ideal result
          --template <KIND>   Kind of text, whose rules judge it [default: guessed
                              from the task] [possible values: api, code, docs,
                              config, other]
          --rules <FILE>      Rules of your own, in TOML or JSON; with --template
                              they replace or extend its rules
          --proposals <N>     Maximum number of rules that the evaluator proposes
                              for the task; 0 for none
          --context <FILE>    A page about the project that the agents read; can be
                              repeated
          --alias <NAME>      Name of the task's folder [default: derived from the
                              task]
          --out <FILE>        Also write the result to this file

    Limits:
          --max-iterations <N>  Maximum number of iterations, including the first
          --thresholds <A,B>    Scores to pass levels A and B, 0 to 100 each
          --max-seconds <TIME>  Maximum total time of completed phases, such as 90,
                                90s or 10m
          --checks <HOW>        What to do with commands that the evaluator proposes
                                as checks [possible values: ask, run, skip]
          --max-usd <USD>       Maximum cost in dollars: the run pauses before a
                                call that might exceed it
          --max-tokens <N>      Maximum number of tokens, input and output together
          --max-calls <N>       Maximum number of agent calls, without cached ones
                                [default: the most that the plan needs]
          --max-minutes <N>     Maximum minutes of work, without pauses
          --keep-free <SHARE>   Share of each usage window of your account that
                                stays free, where the agent reports it, such as 30%
          --unpriced <HOW>      Whether a run with a maximum cost may call agents
                                whose cost would stay unknown [possible values:
                                refuse, allow]

    Agents:
          --agent <AGENT>      Agent for all roles that no other flag sets: NAME or
                               NAME:MODEL
          --executor <AGENT>   Agent that plans and writes
          --evaluator <AGENT>  Agent that prepares the checks and judges the text
          --improver <AGENT>   Agent that criticises and refines the text
          --timeout <TIME>     Timeout of each agent call, such as 90, 90s or 10m
          --isolation <HOW>    How much of your own setup your agents use [possible
                               values: partial, fresh, user]
          --via <WRAPPER>      Wrapper to call claude and gemini with [possible
                               values: direct, ccw, maestro]
          --trust              Trust the project's agents and the rules' commands
                               for this run

    Run:
          --seed <N>         Seed for the codes in prompts [default: a hash of the
                             inputs]
      -y, --yes              Ask no questions and use the defaults
          --jobs <N>         Maximum number of agent calls at a time
          --workers <NAMES>  Machines that make the calls: names of [workers.NAME]
                             in your own settings, comma-separated
          --wait             Wait instead of pausing when a usage limit is reached
                             or a service is down
          --dry-run          Show the first steps, the maximum number of calls and
                             the estimate, then exit
          --estimate         Show what the run is likely to use, from earlier runs
                             of this skill, then exit
          --fresh            Ignore cached answers
          --format <FORMAT>  Output format [default: human] [possible values: human,
                             json, jsonl]

    Examples:
      skilltune reflex new "Write the API reference of the orders service" --out
      docs/orders.md
      skilltune reflex new "Write the release notes of 2.0" --rules rules.toml --yes
      skilltune reflex new --task-file task.md --alias orders-api
    "#);
}

#[test]
fn a_bare_task_is_a_new_one_with_all_its_flags() {
    let same = [
        &["Write the API page", "--alias", "api-page", "--yes", "--jobs", "2"][..],
        &["--yes", "--jobs", "2", "Write the API page", "--alias", "api-page", "--project", "/p"],
        &["new", "Write the API page", "--yes", "--alias", "api-page", "--jobs", "2"],
    ];
    for line in same {
        let ReflexCommand::New(args) = reflex(line).unwrap() else { panic!("not new: {line:?}") };
        assert_eq!(args.source(), TaskSource::Words("Write the API page"));
        assert_eq!(args.alias.unwrap().as_str(), "api-page");
        let mut settings = crate::loops::default_settings();
        settings.apply_flags(&args.given);
        assert_eq!((args.run.yes, settings.calls.jobs.value), (true, 2));
    }
}

#[test]
fn a_task_is_words_a_file_or_standard_input_and_at_most_one_of_them() {
    let source = |line: &[&str]| format!("{:?}", new_args(line).unwrap().source());
    assert_eq!(source(&["  A page\n"]), "Words(\"A page\")");
    assert_eq!(source(&["-"]), "Stdin");
    assert_eq!(source(&["--task-file", "a b.md"]), "File(\"a b.md\")");
    assert_eq!(source(&["list"]), "Words(\"list\")");
    assert_eq!(source(&[]), "Nowhere", "a person is asked");
    let refused = [&["  "][..], &["A page", "--task-file", "a"], &["A", "page"], &["A page", "--ideal", ""]];
    let messages =
        refused.map(|line| new_args(line).unwrap_err().to_string().lines().next().unwrap().to_owned());
    insta::assert_snapshot!(messages.join("\n"), @r"
    error: invalid value '  ' for '[TASK]': must not be empty
    error: the argument '[TASK]' cannot be used with '--task-file <FILE>'
    error: unexpected argument 'page' found
    error: invalid value '' for '--ideal <TEXT>': must not be empty
    ");
}

#[test]
fn a_word_that_is_nearly_a_command_is_not_paid_for_as_a_task() {
    assert!(matches!(reflex(&["list"]), Ok(ReflexCommand::Run(RunCommand::List(_)))));
    let message = |line: &[&str]| {
        let error = reflex(line).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line:?}");
        error.to_string()
    };
    insta::assert_snapshot!(message(&["stauts"]), @r"
    error: unknown command `stauts`; did you mean `skilltune reflex status`?

    hint: if `stauts` is a task, run `skilltune reflex new stauts`

    Usage: skilltune [OPTIONS] [COMMAND]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(message(&["--yes", "list"]), @r"
    error: the command `list` must come before its options: skilltune reflex list

    hint: if `list` is a task, run `skilltune reflex new list`

    Usage: skilltune [OPTIONS] [COMMAND]

    For more information, try '--help'.
    ");
    for line in [&["--", "resume"][..], &["Status"], &["hlep"], &["--jobs", "2", "histroy"]] {
        assert!(message(line).contains("skilltune reflex new"), "{line:?}");
    }
    for line in [&["resume it all"][..], &["Haiku"]] {
        assert!(matches!(reflex(line), Ok(ReflexCommand::New(_))), "{line:?}");
    }
    assert!(message(&["A page", "list"]).contains("cannot be used with"), "{}", message(&["A page", "list"]));
}

#[test]
fn the_loops_numbers_out_of_range_are_refused() {
    let refused = [
        ["a task", "--thresholds", "101,90"],
        ["a task", "--thresholds", "80,nan"],
        ["a task", "--thresholds", "80"],
        ["a task", "--proposals", "21"],
        ["a task", "--max-iterations", "0"],
        ["a task", "--max-seconds", "0"],
        ["a task", "--alias", "../up"],
        ["a task", "--alias", "No"],
        ["a task", "--checks", "always"],
        ["a task", "--template", "prose"],
    ];
    let messages =
        refused.map(|line| new_args(&line).unwrap_err().to_string().lines().next().unwrap().to_owned());
    insta::assert_snapshot!(messages.join("\n"), @r"
    error: invalid value '101,90' for '--thresholds <A,B>': must be a number from 0 to 100
    error: invalid value '80,nan' for '--thresholds <A,B>': must be a number from 0 to 100
    error: invalid value '80' for '--thresholds <A,B>': must be two numbers, such as 80,90
    error: invalid value '21' for '--proposals <N>': must be a whole number from 0 to 20
    error: invalid value '0' for '--max-iterations <N>': must be a whole number from 1 to 100
    error: invalid value '0' for '--max-seconds <TIME>': must be from 1 to 604800 seconds, such as 90, 90s, 10m or 1h
    error: invalid value '../up' for '--alias <NAME>': must be 3 to 64 lower-case letters, digits and inner hyphens
    error: invalid value 'No' for '--alias <NAME>': must be 3 to 64 lower-case letters, digits and inner hyphens
    error: invalid value 'always' for '--checks <HOW>'
    error: invalid value 'prose' for '--template <KIND>'
    ");
}

#[test]
fn a_stop_without_an_alias_may_still_say_why() {
    let parts = |line: &[&str]| match reflex(&[&["stop"], line].concat()).unwrap() {
        ReflexCommand::Run(RunCommand::Stop(args)) => {
            let (alias, reason) = args.parts();
            (alias.map(str::to_owned), reason.map(str::to_owned))
        }
        other => panic!("not a stop: {other:?}"),
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(parts(&[]), (None, None));
    assert_eq!(parts(&["api-page"]), (some("api-page"), None));
    assert_eq!(parts(&["api-page", "good enough"]), (some("api-page"), some("good enough")));
    assert_eq!(parts(&["Good enough."]), (None, some("Good enough.")));
}

#[test]
fn a_clean_is_of_one_task_or_of_all() {
    let conflict = reflex(&["clean", "api-page", "--all"]).unwrap_err();
    assert_eq!(conflict.kind(), ErrorKind::ArgumentConflict);
    let Ok(ReflexCommand::Run(RunCommand::Clean(clean))) = reflex(&["clean", "--all", "--dry-run"]) else {
        panic!("no clean")
    };
    assert!(clean.all && clean.dry_run && clean.run.is_none());
}
