//! `suite add`: a trial of a run that fell short becomes a scenario, as a draft that a person reviews.

use std::path::PathBuf;

use skilltune_phases::checks::How;
use skilltune_phases::demand::Demand;
use skilltune_phases::id::Digest;
use skilltune_phases::loops::tune::trials::{Tried, tried, wanting};
use skilltune_phases::loops::tune::{Run, Tune};
use skilltune_phases::plan::LoopKind;
use skilltune_phases::scenario::Scenario;
use skilltune_phases::score::Score;

use crate::args::suite::SuiteAddArgs;
use crate::inputs::suite::{Appended, append, appendable, derived_id};
use crate::runs::scope::Scope;
use crate::runs::{Known, store_check};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::figures::{self, count};
use crate::text::plain::one_line;

pub(super) fn run(args: &SuiteAddArgs, around: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let (run, trial) = (args.from.first(), args.from.get(1));
    let scope = Scope::here(Some(LoopKind::Tune), around, printer)?;
    let id = scope.named(run.map(String::as_str))?;
    let known: Known<Tune> = scope.runs.load(&id)?;
    let short = fell_short(&known.run);
    let chosen = choose(&known.run, &short, trial.map(String::as_str), around)?;
    let (scenario, origin) = drafted(&known.run, chosen);
    let suite = appendable(&destination(args, &known.run, around))?;
    let objects = scope.objects();
    store_check::require(&objects, &scenario.trees())?;
    let path = one_line(&suite.0.display().to_string());
    match append(&suite, &scenario, &origin, &objects)? {
        Appended::Known(known) => {
            printer.talk(&format!("{path} already has this as `{known}`; nothing was added"));
        }
        Appended::Added(id) => {
            let mut lines = vec![format!("added `{id}` to {path}, as a draft that asks:")];
            lines.extend(scenario.demands.iter().map(|demand| format!("  {}", asked(demand))));
            if is_held_out(&known.run, &chosen.tried) {
                let of = one_line(&known.run.plan.task.scenarios[chosen.tried.trial.scenario].id);
                lines.push(format!(
                    "note: `{of}` was held out in that run; once `{id}` counts, its task is known to the search"
                ));
            }
            lines.push("review it, then remove `draft = true`: until then no run counts it".to_owned());
            printer.talk(&lines.join("\n"));
        }
    }
    Ok(Exit::Reached)
}

/// A trial, and what it was found wanting in.
#[derive(Clone, Debug)]
struct Short<'a> {
    tried: Tried<'a>,
    demands: Vec<Demand>,
}

fn fell_short(run: &Run) -> Vec<Short<'_>> {
    let all = tried(run).into_iter().map(|tried| Short { demands: wanting(run, &tried), tried });
    all.filter(|short| !short.demands.is_empty()).collect()
}

/// The worst trial that goes by that name; of equals the newest. Without a name a person at a terminal says which.
fn choose<'a>(
    run: &Run,
    short: &'a [Short<'a>],
    name: Option<&str>,
    around: &Environment,
) -> Result<&'a Short<'a>, Complaint> {
    let id = &run.plan.run;
    if short.is_empty() {
        return Err(Complaint::input(format!("no trial of run {id} fell short"))
            .hint(format!("`skilltune show {id}` shows what came of it")));
    }
    let Some(name) = name else {
        let Some(person) = Person::present(around) else {
            return Err(listing(run, short, "no trial is named".to_owned())
                .hint(format!("`skilltune suite add --from {id} TRIAL` adds one of them")));
        };
        let options: Vec<String> = short.iter().map(|short| line(run, short)).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        return Ok(&short[person.pick("Which trial should become a scenario?", &options, 0)?]);
    };
    let (scenario, round) = name.split_once('@').map_or((name, None), |(id, round)| (id, Some(round)));
    let is_meant = |short: &&Short<'_>| {
        run.plan.task.scenarios[short.tried.trial.scenario].id == scenario
            && round.is_none_or(|round| of_round(&short.tried) == round)
    };
    let points =
        |short: &Short<'_>| short.tried.judgement.whole.scored.composite.map_or(f64::MAX, Score::points);
    let worst = short
        .iter()
        .filter(is_meant)
        .reduce(|worst, next| if points(next) <= points(worst) { next } else { worst });
    worst.ok_or_else(|| listing(run, short, format!("no trial {name:?} of run {id} fell short")))
}

/// How the second part of a trial's name is typed.
fn of_round(tried: &Tried<'_>) -> String {
    tried.round.map_or_else(|| "final".to_owned(), |round| round.to_string())
}

/// More of them are no help.
const LISTED: usize = 30;

fn listing(run: &Run, short: &[Short<'_>], what: String) -> Complaint {
    let lines = short.iter().take(LISTED).map(|short| format!("\n  {}", line(run, short)));
    let more = short.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    Complaint::input(what).hint(format!("trials that fell short:{}{more}", lines.collect::<String>()))
}

fn line(run: &Run, short: &Short<'_>) -> String {
    let scenario = one_line(&run.plan.task.scenarios[short.tried.trial.scenario].id);
    let score = figures::score(short.tried.judgement.whole.scored.composite);
    let faults = count(short.demands.len(), "fault");
    format!(
        "{scenario}@{}  {score}  {faults}  version {}",
        of_round(&short.tried),
        short.tried.candidate.short()
    )
}

/// The scenario that asks what the trial missed, and where it comes from.
fn drafted(run: &Run, Short { tried, demands }: &Short<'_>) -> (Scenario, String) {
    let (id, trial) = (&run.plan.run, tried.trial);
    let of = &run.plan.task.scenarios[trial.scenario];
    let parts = [
        id.as_str(),
        of.id.as_str(),
        &tried.candidate.to_string(),
        &trial.ordinal.to_string(),
        &trial.era.to_string(),
    ];
    let mark = Digest::of_parts(parts.map(str::as_bytes)).hex();
    let scenario = Scenario {
        id: derived_id(&of.id, &mark[..8]),
        demands: demands.clone(),
        held_out: false,
        ..of.clone()
    };
    let round = match tried.round {
        Some(round) => format!("round {round}"),
        None => "the final comparison".to_owned(),
    };
    (scenario, format!("From run {id}: `{}` in {round}, version {}.", of.id, tried.candidate.short()))
}

fn is_held_out(run: &Run, tried: &Tried<'_>) -> bool {
    run.plan.task.scenarios[tried.trial.scenario].held_out
}

/// What a person named; else the suite that the run used, where it is one of ours in this project; else that of the project.
fn destination(args: &SuiteAddArgs, run: &Run, around: &Environment) -> PathBuf {
    if let Some(to) = &args.to {
        return around.cwd.join(to);
    }
    let project = around.project_here();
    let used = run.plan.task.suite.as_ref().map(|suite| PathBuf::from(&suite.path));
    // The run may come from somebody else, and name any file of the person's.
    let is_here = |path: &PathBuf| {
        let real = path.canonicalize().ok().zip(project.canonicalize().ok());
        real.is_some_and(|(path, project)| path.starts_with(project))
    };
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    used.filter(|path| is_toml(path) && is_here(path)).unwrap_or_else(|| project.join("suite.toml"))
}

fn asked(demand: &Demand) -> String {
    match &demand.how {
        How::Question { text } => one_line(text),
        How::Check(_) => format!("{} (`{}`)", demand.told(), one_line(&demand.id)),
    }
}
