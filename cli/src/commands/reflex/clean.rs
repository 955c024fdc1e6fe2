//! `reflex clean`: deletes what runs have left, beside our journal and among the original's files. One that is under way
//! stays.

use std::path::Path;

use skilltune_orchestrator::evolution::Evolution;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::loops::reflex::original::{Alias, artifact_hash};
use skilltune_phases::loops::reflex::{Reflex, Task};
use skilltune_phases::plan::RunId;

use super::find::{self, Either};
use crate::args::ReflexCleanArgs;
use crate::births::Births;
use crate::commands::clean::{DELETE, agree, delete};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::reflex::files::{self, Found, refused};
use crate::runs::{Known, Runs, Standing};
use crate::settings::Settings;

pub fn run(args: &ReflexCleanArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let (ours, theirs) = match &args.alias {
        Some(name) => named(&runs, name, around)?,
        None => (ended(&runs, args.all), if args.all { find::theirs(&runs, around)? } else { Vec::new() }),
    };
    if ours.is_empty() && theirs.is_empty() {
        printer.talk("nothing to clean");
        return Ok(Exit::Reached);
    }
    for known in &ours {
        printer.talk(known.run.plan.run.as_str());
    }
    for found in &theirs {
        printer.talk(&format!("{}  (written by another program)", found.alias));
    }
    if args.dry_run {
        printer.talk("these would be deleted, and what of the store nothing else needs");
        return Ok(Exit::Reached);
    }
    agree(DELETE, args.yes, around)?;
    for known in &ours {
        tidy(known, around, printer)?;
    }
    let project = runs.home.project();
    let settings = Settings::load(project, around)?;
    for found in &theirs {
        remove(project, &settings.reflex.evolution.value, &found.alias, |_| true, printer)?;
    }
    let ids: Vec<RunId> = ours.iter().map(|known| known.run.plan.run.clone()).collect();
    if !ids.is_empty() {
        printer.talk(&delete(&ids, &runs, around)?);
    }
    Ok(Exit::Reached)
}

fn named(
    runs: &Runs,
    name: &str,
    around: &Surroundings,
) -> Result<(Vec<Known<Reflex>>, Vec<Found>), Complaint> {
    match find::either(runs, Some(name), around)? {
        Either::Theirs(found) => Ok((Vec::new(), vec![*found])),
        Either::Ours(known) => match runs.standing(&known.run) {
            Standing::Running { pid } => {
                let what = format!("run {} is under way in process {pid}", known.run.plan.run);
                Err(Complaint::input(what).hint("stop it first: `skilltune reflex stop`"))
            }
            Standing::Held | Standing::Open | Standing::Ended => Ok((vec![*known], Vec::new())),
        },
    }
}

/// Those that have ended; with all, those too that could be taken up.
fn ended(runs: &Runs, all: bool) -> Vec<Known<Reflex>> {
    let known = runs.ids::<Reflex>().into_iter().filter_map(|id| runs.load::<Reflex>(&id).ok());
    let goes = |known: &Known<Reflex>| match runs.standing(&known.run) {
        Standing::Ended => true,
        Standing::Held | Standing::Open => all,
        Standing::Running { .. } => false,
    };
    known.filter(goes).collect()
}

/// Removes what a run of ours has left among the original's files. A journal that came with a repository could name any
/// folder: nothing is removed for its sake.
fn tidy(known: &Known<Reflex>, around: &Surroundings, printer: Printer) -> Result<(), Complaint> {
    if Births::new(around).require(known).is_err() {
        return Ok(());
    }
    let Task { project, evolution, alias, .. } = &known.run.plan.task;
    let Some(alias) = Alias::parse(alias) else { return Ok(()) };
    let artifacts = &known.run.course.artifacts;
    let ours = |bytes: &[u8]| artifacts.iter().any(|artifact| artifact.hash == artifact_hash(bytes));
    remove(Path::new(project), &files::below(evolution)?, &alias, ours, printer)
}

fn remove(
    project: &Path,
    evolution: &RelPath,
    alias: &Alias,
    is_ours: impl Fn(&[u8]) -> bool,
    printer: Printer,
) -> Result<(), Complaint> {
    let Some(folder) = Evolution::open(project, evolution).map_err(refused)? else {
        return Ok(());
    };
    if !folder.remove(alias, is_ours).map_err(refused)? {
        printer.talk(&format!("{}/{alias} holds files of yours, and stays", evolution.as_path().display()));
    }
    Ok(())
}
