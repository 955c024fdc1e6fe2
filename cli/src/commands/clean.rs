//! `clean`: deletes runs, and what of the store nobody needs any more. Plan, show, apply.

use skilltune_orchestrator::store::Needed;
use skilltune_phases::plan::RunId;

use crate::args::CleanArgs;
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::questions::Person;
use crate::report::figures;
use crate::runs::{Outline, Runs, Standing};
use crate::session::{self, ours};

pub fn run(args: &CleanArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let plan = plan(args, &runs)?;
    if plan.is_empty() {
        printer.talk("nothing to clean");
        return Ok(Exit::Reached);
    }
    for (id, bytes) in &plan {
        printer.talk(&format!("{id}  {} KiB", bytes.div_ceil(1024)));
    }
    if args.dry_run {
        printer.talk(&format!(
            "{} would be deleted, and what of the store nothing else needs",
            figures::count(plan.len(), "run")
        ));
        return Ok(Exit::Reached);
    }
    agree(args.yes, around)?;
    let ids: Vec<RunId> = plan.into_iter().map(|(id, _)| id).collect();
    printer.talk(&delete(&ids, &runs, around)?);
    Ok(Exit::Reached)
}

/// A person says that it may be done, or a flag does.
pub fn agree(yes: bool, around: &Surroundings) -> Result<(), Complaint> {
    let agreed = match Person::present(around) {
        _ if yes => true,
        Some(person) => person.agree("Delete them?")?,
        None => false,
    };
    let refused = || Complaint::input("nothing was deleted").hint("add --yes to delete without a question");
    if agreed { Ok(()) } else { Err(refused()) }
}

/// Deletes runs, and what of the store nobody needs any more; how much that was, in words.
pub fn delete(ids: &[RunId], runs: &Runs, around: &Surroundings) -> Result<String, Complaint> {
    for id in ids {
        runs.home.run(id).place().remove().map_err(ours)?;
        Births::new(around).forget(id);
        // The workspaces of a run that never ended; one that stays is no harm.
        let _ = session::work(around, id).remove();
    }
    let swept = sweep(runs)?;
    Ok(format!("deleted {} and {}", figures::count(ids.len(), "run"), figures::count(swept, "stored object")))
}

fn plan(args: &CleanArgs, runs: &Runs) -> Result<Vec<(RunId, u64)>, Complaint> {
    let ids = match (&args.run, args.keep) {
        (Some(prefix), _) => {
            let id = runs.find_any(prefix)?;
            if let Ok(Outline { standing: Standing::Running { pid }, .. }) = runs.outline(&id) {
                return Err(
                    Complaint::input(format!("run {id} is under way in process {pid}")).hint("stop it first")
                );
            }
            vec![id]
        }
        (None, keep) => {
            let old = runs.all().into_iter().skip(keep.unwrap_or(0));
            old.filter(|id| may_go(runs, id, args.all)).collect()
        }
    };
    Ok(ids
        .into_iter()
        .map(|id| (runs.home.run(&id).place().size().unwrap_or(0), id))
        .map(|(size, id)| (id, size))
        .collect())
}

/// A run that can still be taken up goes only when asked for by name, or with all.
fn may_go(runs: &Runs, id: &RunId, all: bool) -> bool {
    match runs.outline(id).map(|outline| outline.standing) {
        Ok(Standing::Ended) => true,
        Ok(Standing::Open | Standing::Held) | Err(_) => all,
        Ok(Standing::Running { .. }) => false,
    }
}

/// Removes objects and answers that no remaining run names.
fn sweep(runs: &Runs) -> Result<usize, Complaint> {
    let known: Result<Vec<_>, _> = runs.all().iter().map(|id| runs.outline(id)).collect();
    // A run that cannot be read may need anything.
    let Ok(known) = known else { return Ok(0) };
    let needed = Needed {
        calls: known.iter().flat_map(|outline| &outline.calls).copied().collect(),
        trees: known.iter().flat_map(|outline| &outline.trees).copied().collect(),
    };
    runs.home.sweep(&needed).map_err(ours)
}
