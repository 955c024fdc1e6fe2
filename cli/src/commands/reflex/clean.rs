//! `reflex clean`: deletes what runs have left, beside our journal and among the original's files. One that is under way
//! stays.

use std::path::Path;

use skilltune_orchestrator::evolution::Evolution;
use skilltune_phases::loops::reflex::original::{Alias, artifact_hash};
use skilltune_phases::loops::reflex::{Reflex, Task};
use skilltune_phases::plan::RunId;

use super::find::find;
use crate::args::ReflexCleanArgs;
use crate::births::Births;
use crate::commands::clean::{DELETE, agree, delete};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::reflex::files::{self, refused};
use crate::runs::{Known, Runs, Standing};

pub fn run(args: &ReflexCleanArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let goes = match &args.alias {
        Some(name) => vec![named(&runs, name)?],
        None => ended(&runs, args.all),
    };
    if goes.is_empty() {
        printer.talk("nothing to clean");
        return Ok(Exit::Reached);
    }
    for known in &goes {
        printer.talk(known.run.plan.run.as_str());
    }
    if args.dry_run {
        printer.talk("these would be deleted, and what of the store nothing else needs");
        return Ok(Exit::Reached);
    }
    agree(DELETE, args.yes, around)?;
    for known in &goes {
        tidy(known, around, printer)?;
    }
    let ids: Vec<RunId> = goes.iter().map(|known| known.run.plan.run.clone()).collect();
    printer.talk(&delete(&ids, &runs, around)?);
    Ok(Exit::Reached)
}

fn named(runs: &Runs, name: &str) -> Result<Known<Reflex>, Complaint> {
    let known = find(runs, Some(name))?;
    match runs.standing(&known.run) {
        Standing::Running { pid } => {
            let what = format!("run {} is under way in process {pid}", known.run.plan.run);
            Err(Complaint::input(what).hint("stop it first: `skilltune reflex stop`"))
        }
        Standing::Held | Standing::Open | Standing::Ended => Ok(known),
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
    let Some(name) = Alias::parse(alias) else { return Ok(()) };
    let Some(folder) = Evolution::open(Path::new(project), &files::below(evolution)?).map_err(refused)?
    else {
        return Ok(());
    };
    let artifacts = &known.run.course.artifacts;
    let ours = |bytes: &[u8]| artifacts.iter().any(|artifact| artifact.hash == artifact_hash(bytes));
    if !folder.writer(&name, known.run.plan.run.as_str()).remove(ours).map_err(refused)? {
        printer.talk(&format!("kept {evolution}/{alias}: it holds files that this run did not write"));
    }
    Ok(())
}
