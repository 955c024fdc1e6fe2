//! `clean`: deletes runs, and what of the store nobody needs any more. Plan, show, apply.

use fs_extra::dir::get_size;
use skilltune_orchestrator::store::Needed;
use skilltune_phases::id::TreeId;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::plan::{LoopKind, RunId};

use crate::args::CleanArgs;
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::questions::Person;
use crate::report::{figures, plain};
use crate::runs::{Outline, Runs, Standing};
use crate::session::{self, ours};

use super::apply;

pub fn run(args: &CleanArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let plan = plan(args, &runs, around)?;
    for Planned { id, why, .. } in &plan.kept {
        printer.talk(&format!(
            "{id} is kept: {} (`skilltune clean {id}` deletes it)",
            why.as_deref().unwrap_or("")
        ));
    }
    if plan.goes.is_empty() {
        printer.talk("nothing to clean");
        return Ok(Exit::Reached);
    }
    for Planned { id, bytes, why } in &plan.goes {
        let why = why.as_ref().map(|why| format!("  ({why})")).unwrap_or_default();
        printer.talk(&format!("{id}  {} KiB{why}", bytes.div_ceil(1024)));
    }
    let lost = plan.goes.iter().filter(|planned| planned.why.is_some()).count();
    if args.dry_run {
        printer.talk(&format!(
            "{} would be deleted, and what of the store nothing else needs",
            figures::count(plan.goes.len(), "run")
        ));
        return Ok(Exit::Reached);
    }
    agree(&question(lost), args.yes, around)?;
    let ids: Vec<RunId> = plan.goes.into_iter().map(|planned| planned.id).collect();
    printer.talk(&delete(&ids, &runs, around)?);
    Ok(Exit::Reached)
}

fn question(lost: usize) -> String {
    match lost {
        0 => DELETE.to_owned(),
        lost => format!("Delete them, and with them the only way back of {}?", figures::count(lost, "run")),
    }
}

pub const DELETE: &str = "Delete them?";

/// A person says that it may be done, or a flag does.
pub fn agree(question: &str, yes: bool, around: &Surroundings) -> Result<(), Complaint> {
    let agreed = match Person::present(around) {
        _ if yes => true,
        Some(person) => person.agree(question)?,
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

/// What is to be done, and what only a word of the person's would add to it.
struct Plan {
    goes: Vec<Planned>,
    kept: Vec<Planned>,
}

struct Planned {
    id: RunId,
    bytes: u64,
    /// What could not be brought back without this run.
    why: Option<String>,
}

fn plan(args: &CleanArgs, runs: &Runs, around: &Surroundings) -> Result<Plan, Complaint> {
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
    let planned = ids.into_iter().map(|id| Planned {
        bytes: get_size(runs.home.run(&id).root()).unwrap_or(0),
        why: way_back(runs, &id, around),
        id,
    });
    // Whoever names a run, or says all, has said that.
    let is_told = args.run.is_some() || args.all;
    let (goes, kept) = planned.partition(|planned| is_told || planned.why.is_none());
    Ok(Plan { goes, kept })
}

/// What only this run can bring back: what its champion has replaced, and what its commands have displaced.
fn way_back(runs: &Runs, id: &RunId, around: &Surroundings) -> Option<String> {
    if runs.kind(id)? != LoopKind::Tune {
        return None;
    }
    let known = runs.load::<Tune>(id).ok().filter(|known| Births::new(around).require(known).is_ok())?;
    let names = known.run.plan.task.target.members.iter().map(|member| member.name.as_str());
    let names = plain::one_line(&names.collect::<Vec<_>>().join(", "));
    let candidates = &known.run.course.candidates;
    if apply::left(&known) != candidates[0].trees {
        return Some(format!("its champion is in {names}, and only this run can roll that back"));
    }
    let is_made = |from: &[TreeId]| candidates.iter().any(|candidate| candidate.trees == from);
    let displaced = known.placings().any(|(from, _)| !is_made(from));
    displaced.then(|| format!("only this run holds an edit of {names} that it has displaced"))
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
