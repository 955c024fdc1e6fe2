//! `suite add`: turns a failed trial of a run, or a scenario of another suite, into a draft for review.

mod from_suite;

use std::path::{Path, PathBuf};

use serde_json::json;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::tune::results::trials::{self, JudgedTrial, Short, worst};
use skilltune_phases::loops::tune::{Run, Tune};
use skilltune_phases::runs::plan::LoopKind;
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::Scenario;

use crate::args::suite::SuiteAddArgs;
use crate::inputs::suite::{Appended, SUITE_FILE, append, appendable, from_trial};
use crate::report::outcome;
use crate::runs::scope::Scope;
use crate::runs::{Known, store_check};
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::figures::{self, count};
use crate::text::plain::one_line;

pub(super) fn run(args: &SuiteAddArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    match args.suite() {
        Some(path) => from_suite::run(path, args, env, printer),
        None => from_run(args, env, printer),
    }
}

fn from_run(args: &SuiteAddArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let (run, trial) = (args.from.first(), args.from.get(1));
    let scope = Scope::here(Some(LoopKind::Tune), env, printer)?;
    let id = scope.named(run.map(String::as_str))?;
    let known: Known<Tune> = scope.runs.load(&id)?;
    let short = trials::short(&known.run);
    let chosen = choose(&known.run, &short, trial.map(String::as_str), env)?;
    let (scenario, origin) = from_trial(&known.run, chosen);
    let of = &known.run.plan.task.scenarios[chosen.judged.trial.scenario];
    let note = of.held_out.then(|| {
        let (of, id) = (one_line(&of.id), &scenario.id);
        format!("`{of}` was held out in that run; once `{id}` counts, the search sees its task")
    });
    let to = destination(args, &known.run, env);
    add(New { scenario, origin, note }, &to, &scope.objects(), (args.format, printer))
}

/// The scenario to add, and its description.
struct New {
    scenario: Scenario,
    origin: String,
    note: Option<String>,
}

fn add(
    new: New,
    to: &Path,
    objects: &Objects,
    (format, printer): (Format, Printer),
) -> Result<Exit, Complaint> {
    let New { scenario, origin, note } = new;
    let suite = appendable(to)?;
    store_check::require(objects, &scenario.trees())?;
    let path = one_line(&suite.0.display().to_string());
    let (outcome, id, lines) = match append(&suite, &scenario, &origin, objects)? {
        Appended::Known(known) => {
            let line = format!("{path} already has this as `{known}`; nothing was added");
            ("unchanged", known, vec![line])
        }
        Appended::Added(id) => {
            let mut lines = vec![format!("added `{id}` to {path} as a draft that requires:")];
            lines.extend(scenario.demands.iter().map(|demand| format!("  {}", asked(demand))));
            lines.extend(note.map(|note| format!("note: {note}")));
            lines.push("review it, then remove `draft = true`; runs do not count drafts".to_owned());
            ("added", id, lines)
        }
    };
    let object = json!({ "outcome": outcome, "paths": [path], "id": id });
    outcome::print(format, printer, &[lines.join("\n")], &object)
}

/// Returns the worst trial with that name, and the newest of equals. Without a name it asks at a terminal.
fn choose<'a>(
    run: &Run,
    short: &'a [Short<'a>],
    name: Option<&str>,
    env: &Environment,
) -> Result<&'a Short<'a>, Complaint> {
    let id = &run.plan.run;
    if short.is_empty() {
        return Err(Complaint::input(format!("run {id} has no trials with faults"))
            .hint(format!("`skilltune show {id}` shows its results")));
    }
    let lines: Vec<String> = short.iter().map(|short| line(run, short)).collect();
    let Some(name) = name else {
        let Some(person) = Person::present(env) else {
            return Err(listing(SHORT, &lines, "no trial given".to_owned())
                .hint(format!("`skilltune suite add --from {id} TRIAL` adds one of them")));
        };
        let options: Vec<&str> = lines.iter().map(String::as_str).collect();
        return Ok(&short[person.pick("Which trial should become a scenario?", &options, 0)?]);
    };
    let (scenario, round) = name.split_once('@').map_or((name, None), |(id, round)| (id, Some(round)));
    let is_meant = |short: &&Short<'_>| {
        run.plan.task.scenarios[short.judged.trial.scenario].id == scenario
            && round.is_none_or(|round| of_round(&short.judged) == round)
    };
    let worst = worst(short.iter().filter(is_meant));
    worst.ok_or_else(|| listing(SHORT, &lines, format!("run {id} has no trial {name:?} with faults")))
}

/// Returns the second part of a trial's name as users type it.
fn of_round(judged: &JudgedTrial<'_>) -> String {
    judged.round.map_or_else(|| "final".to_owned(), |round| round.to_string())
}

/// The title of the list.
const SHORT: &str = "trials with faults";

/// The most trials that are listed.
const LISTED: usize = 30;

fn listing(title: &str, all: &[String], what: String) -> Complaint {
    let lines = all.iter().take(LISTED).map(|line| format!("\n  {line}"));
    let more = all.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    Complaint::input(what).hint(format!("{title}:{}{more}", lines.collect::<String>()))
}

fn line(run: &Run, short: &Short<'_>) -> String {
    let scenario = one_line(&run.plan.task.scenarios[short.judged.trial.scenario].id);
    let score = figures::score(short.judged.judgement.whole.scored.composite);
    let faults = count(short.demands.len(), "fault");
    format!(
        "{scenario}@{}  {score}  {faults}  version {}",
        of_round(&short.judged),
        short.judged.candidate.short()
    )
}

/// Returns the named suite, else the run's suite if it is a `suite.toml` in this project, else the project's suite.
fn destination(args: &SuiteAddArgs, run: &Run, env: &Environment) -> PathBuf {
    if let Some(to) = &args.to {
        return env.cwd.join(to);
    }
    let project = env.project_here();
    let used = run.plan.task.suite.as_ref().map(|suite| PathBuf::from(&suite.path));
    // The run may come from another person, and name any of the user's files.
    let is_here = |path: &PathBuf| {
        let real = path.canonicalize().ok().zip(project.canonicalize().ok());
        real.is_some_and(|(path, project)| path.starts_with(project))
    };
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    used.filter(|path| is_toml(path) && is_here(path)).unwrap_or_else(|| project.join(SUITE_FILE))
}

fn asked(demand: &Demand) -> String {
    match &demand.how {
        How::Question { text } => one_line(text),
        How::Check(_) => format!("{} (`{}`)", demand.improver_text(), one_line(&demand.id)),
    }
}
