//! `regrade`: grades the final comparison of a run again, with the current suite and judge. Nothing is executed again.

use std::path::PathBuf;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::aims::regrade::{NoComparison, Regrading, regrade};
use skilltune_phases::loops::tune::{Aim, Run, Tune};
use skilltune_phases::runs::plan::LoopKind;
use skilltune_phases::skills::target::Member;

use crate::inputs::find::Skill;
use crate::inputs::suite::Suite;
use crate::loops::tune::older::Older;
use crate::loops::tune::regrading;
use crate::loops::tune::trial_flags::RegradeArgs;
use crate::loops::tune::without_skill;
use crate::runs::Runs;
use crate::runs::ownership::Ownership;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

const ANOTHER: &str =
    "name a run of `tune` or `compare` that ended with a comparison; `skilltune list` shows the runs";

pub(super) fn run(args: &RegradeArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(env)?;
    let id = runs.named(Some(&args.run), None)?;
    if runs.kind(&id) != LoopKind::Tune {
        return Err(Complaint::input(format!("regrade cannot judge run {id}: it wrote a text")).hint(ANOTHER));
    }
    let known = runs.load::<Tune>(&id)?;
    Ownership::new(env).require(&known)?;
    regrade(&known.run, &[]).map_err(|why| no_comparison(&known.run, why))?;
    let (suite, found) = suite(args, &known.run, env)?;
    let regrading = taken_over(&known.run, &suite)?;
    require_stored(&Objects::at(runs.home.objects()), &known.run, &regrading)?;
    let older = Older { plan: known.run.plan, regrading };
    regrading::run(args, older, (suite, found), (runs.home.project(), env, printer))
}

/// Returns the named suite, or the current version of the run's suite.
fn suite(args: &RegradeArgs, run: &Run, env: &Environment) -> Result<(Suite, bool), Complaint> {
    if let Some(path) = &args.suite {
        return Ok((Suite::read(&env.cwd.join(path))?, false));
    }
    let Some(used) = &run.plan.task.suite else {
        return Err(Complaint::input(format!("run {} used no suite", run.plan.run))
            .hint("pass --suite FILE with the same tasks under the same ids"));
    };
    let suite = Suite::read(&PathBuf::from(&used.path));
    let suite = suite.map_err(|complaint| complaint.hint("pass --suite FILE to judge by another suite"))?;
    Ok((suite, used.found))
}

fn taken_over(run: &Run, suite: &Suite) -> Result<Regrading, Complaint> {
    let is_without = run.state.candidates.iter().any(|candidate| candidate.trees == [TreeId::EMPTY]);
    let members = run.plan.task.target.members.iter();
    let skill = |member: &Member| Skill { name: member.name.to_string(), path: PathBuf::from(&member.path) };
    let skills: Vec<Skill> = members.map(skill).collect();
    let scenarios =
        if is_without { without_skill::asked(suite, &skills[0].name)?.0 } else { suite.scenarios.clone() };
    let mut starts = suite.starts.clone();
    starts.claim(&skills, Some(&suite.path));
    let planned: Vec<_> = scenarios.iter().map(|scenario| starts.as_planned(scenario)).collect();
    regrade(run, &planned).map_err(|why| no_comparison(run, why))
}

fn no_comparison(run: &Run, why: NoComparison) -> Complaint {
    let id = &run.plan.run;
    let why = match (why, &run.plan.task.aim) {
        (NoComparison::Open, _) => {
            return Complaint::input(format!("run {id} has not ended"))
                .hint(format!("`skilltune resume {id}` continues it"));
        }
        (NoComparison::None, Aim::Improve) if run.state.challenger.is_none() => {
            "its search found no better candidate"
        }
        (NoComparison::None, Aim::Improve) => "its start was not tried on the scenarios of the comparison",
        (NoComparison::None, Aim::Try { .. }) => "it tried a suite without a skill",
        (NoComparison::None, Aim::Calibrate { .. }) => "it calibrated a suite",
        (NoComparison::None, Aim::Compare(_)) => "it has no trials",
    };
    Complaint::input(format!("regrade cannot judge run {id}: {why}")).hint(ANOTHER)
}

fn require_stored(objects: &Objects, run: &Run, regrading: &Regrading) -> Result<(), Complaint> {
    if regrading.trees().into_iter().all(|tree| objects.contains_tree(tree)) {
        return Ok(());
    }
    let what = format!("the store is missing output of the trials of run {}", run.plan.run);
    Err(Complaint::input(what).hint("restore the store from a backup, or compare the versions again"))
}
