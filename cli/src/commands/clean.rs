//! `clean`: deletes runs, and what of the store nobody needs any more. Plan, show, apply.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fs_extra::dir::get_size;
use skilltune_orchestrator::clear::clear;
use skilltune_orchestrator::disk::OnDisk as _;
use skilltune_orchestrator::snapshot::{Node, Objects};
use skilltune_phases::id::Digest;
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
    let runs = Runs::here(around);
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
        clear(runs.home.run(id).root()).map_err(ours)?;
        Births::new(around).forget(id);
        // The workspaces of a run that never ended; one that stays is no harm.
        let _ = clear(&session::work(around, id));
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
        .map(|id| (get_size(runs.home.run(&id).root()).unwrap_or(0), id))
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
///
/// Nothing is swept while anybody adds to the store: what they have just put there is not named yet.
fn sweep(runs: &Runs) -> Result<usize, Complaint> {
    let Some(_alone) = runs.home.hold_alone().map_err(ours)? else { return Ok(0) };
    let known: Result<Vec<_>, _> = runs.all().iter().map(|id| runs.outline(id)).collect();
    // A run that cannot be read may need anything.
    let Ok(known) = known else { return Ok(0) };
    let objects = Objects::at(runs.home.objects());
    let needed = needed(&objects, &known);
    let swept = objects.sweep(&needed).map_err(ours)?;
    let calls = known.iter().flat_map(|outline| &outline.calls);
    let answered: HashSet<String> = calls.map(ToString::to_string).collect();
    for path in files(&runs.home.cache()) {
        if !path.file_stem().is_some_and(|key| answered.contains(&*key.to_string_lossy())) {
            std::fs::remove_file(&path).on_disk("remove", &path).map_err(ours)?;
        }
    }
    Ok(swept)
}

/// Every object that a run's trees are made of.
fn needed(objects: &Objects, known: &[Outline]) -> HashSet<Digest> {
    let mut needed = HashSet::new();
    for &tree in known.iter().flat_map(|outline| &outline.trees) {
        if !needed.insert(tree.0) {
            continue;
        }
        let Ok(manifest) = objects.manifest(tree) else { continue };
        needed.extend(manifest.entries().iter().filter_map(|entry| match &entry.node {
            Node::File { blob, .. } => Some(blob.0),
            Node::Folder { .. } | Node::Link { .. } => None,
        }));
    }
    needed
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path)
}
