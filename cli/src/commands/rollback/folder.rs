//! `rollback` of a run that put its result into one folder: restores what was there before.
//!
//! All checks run before the folder is touched. A folder with edits of the user is left alone, and its content is kept.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use skilltune_orchestrator::promote::{self, Expected, PromoteError, Promotion};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::{Locks, TargetLock};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::{self, Evolve};
use skilltune_phases::loops::gan::{self, Gan};
use skilltune_phases::loops::shared::step::Move;
use skilltune_phases::runs::event::{Event, PlacedBy, Signal};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::runs::proposal::Proposal;
use skilltune_phases::runs::run::Run;

use crate::args::runs::RollbackArgs;
use crate::loops::LoopCommands;
use crate::loops::gan::progress::discard;
use crate::report::outcome;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::runs::{CHAMPION, Known, session, store_check};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::text::plain::{one_line, shell_path};

/// A loop whose runs may put their result into one folder.
pub trait WritesFolder: LoopCommands {
    /// Returns the versions that a run made. The folder loses nothing if one of them is replaced.
    fn made(run: &Run<Self>) -> Vec<TreeId>;

    /// Returns the commit that a run made instead.
    fn committed(run: &Run<Self>) -> Option<&Proposal>;
}

impl WritesFolder for Gan {
    fn made(run: &gan::Run) -> Vec<TreeId> {
        run.state.sprints.iter().filter_map(|sprint| sprint.artifact).collect()
    }

    fn committed(run: &gan::Run) -> Option<&Proposal> {
        run.proposed()?.ok()
    }
}

impl WritesFolder for Evolve {
    /// The result alone: comparing a large project with the tree after each task takes long.
    fn made(_: &evolve::Run) -> Vec<TreeId> {
        Vec::new()
    }

    fn committed(run: &evolve::Run) -> Option<&Proposal> {
        run.proposed()?.ok()
    }
}

/// Returns whether the run put its result into a folder, as far as its journal can be read.
pub fn may_have_folder<L: WritesFolder>(scope: &Scope<'_>, id: &RunId) -> bool {
    match scope.runs.load::<L>(id) {
        Ok(known) => put_into(&known.run).is_some(),
        // The command that uses it reports the error.
        Err(_) => true,
    }
}

pub fn run<L: WritesFolder>(args: &RollbackArgs, scope: &Scope<'_>, id: &RunId) -> Result<Exit, Complaint> {
    let (runs, env, printer) = (&scope.runs, scope.env, scope.printer);
    let known: Known<L> = runs.load(id)?;
    let put = put_into(&known.run).ok_or_else(|| put_nowhere(&known.run))?;
    let print = |lines: &[String], replaced: Option<TreeId>| {
        let outcome = if replaced.is_some() { "restored" } else { "unchanged" };
        let object = json!({
            "run_id": id, "outcome": outcome, "version": put.from, "replaced": replaced, "paths": [put.path],
        });
        outcome::print(args.format, printer, lines, &object)
    };
    Ownership::new(env).require(&known)?;
    if is_away(&known, &put)? {
        return print(&[format!("{} does not exist, as before the run", put.path)], None);
    }
    let locks = session::lock(env, printer, &known.targets(), id.as_str())?;
    // The journal may have grown while we waited for the lock.
    let mut known: Known<L> = runs.load(id)?;
    let _in_use = runs.home.hold().map_err(ours)?;
    let objects = scope.objects();
    let (start, recorded) = (put.from, recorded(&known, &put));
    let found = found(&known, &put, &objects, env).map_err(ours)?;
    let placed = |from: TreeId| Signal::Placed { from: vec![from], to: vec![start], by: PlacedBy::Rollback };
    let settle = |known: &Known<L>| session::settle(env, printer, &runs.home, &known.run);
    if found == start {
        // An earlier command may have been killed before it could note what it did.
        if recorded != start {
            let mut journal = known.open_journal()?;
            known.note(&mut journal, placed(recorded))?;
        }
        settle(&known)?;
        return print(&[format!("{} is already in its state before run {id}", put.path)], None);
    }
    if !args.force && !versions(&known, &put).any(|version| version == found) {
        return Err(edited(&known, &put, found));
    }
    store_check::require(&objects, &[start])?;
    let mut journal = known.open_journal()?;
    // Noted before anything is replaced: a command that is killed later leaves a name for the old version.
    known
        .note(&mut journal, Signal::Placing { from: vec![found], to: vec![start], by: PlacedBy::Rollback })?;
    replace(&known, &put, found, &locks, &objects, env)?;
    known
        .note(&mut journal, placed(found))
        .map_err(|complaint| unfinished(complaint, id, "the run's journal does not record it"))?;
    settle(&known).map_err(|complaint| unfinished(complaint, id, "the run's pages do not show it"))?;
    print(&done(&known, &put, found), Some(found))
}

/// Returns the folder that the run put its result into, with the versions before and after.
fn put_into<L: WritesFolder>(run: &Run<L>) -> Option<Move> {
    run.promoted().into_iter().next()
}

/// Refuses a run that has changed no folder, and says how to discard what it made instead.
fn put_nowhere<L: WritesFolder>(run: &Run<L>) -> Complaint {
    let id = &run.plan.run;
    let proposal = L::committed(run).filter(|_| run.closed_at.is_some());
    let refusal = Complaint::input(format!("run {id} put nothing into a folder"));
    match proposal.and_then(discard) {
        Some(command) => refusal.hint(format!("its result is a commit; `{command}` discards it")),
        None => refusal.hint("name another run; `skilltune list` shows them"),
    }
}

/// Returns whether the folder is missing, as it was before the run. Fails if something else is in its place, or if
/// another command has to restore it.
fn is_away<L: WritesFolder>(known: &Known<L>, put: &Move) -> Result<bool, Complaint> {
    let (id, into) = (&known.run.plan.run, Path::new(&put.path));
    let export = format!("skilltune export {id} {} {}", name(known, put.from), shell_path(into));
    let cannot = |why: &str| Complaint::input(format!("cannot restore: {} {why}", into.display()));
    match into.symlink_metadata() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(cannot("cannot be read").caused_by(error))
        }
        Err(_) if put.from == TreeId::EMPTY => Ok(true),
        Err(_) => Err(cannot("does not exist").hint(format!("to restore it, run `{export}`"))),
        Ok(meta) if !meta.is_dir() => {
            Err(cannot("is not a folder").hint(format!("move it away, then run `{export}`")))
        }
        // Its path was real when the run began, so a symlink on it is newer.
        Ok(_) if into.canonicalize().is_ok_and(|real| real != into) => {
            Err(cannot("is behind a symlink").hint(format!("remove the symlink, then run `{export}`")))
        }
        Ok(_) => Ok(false),
    }
}

/// Returns what the folder holds. What it held before the run is compared first, then the versions of the run.
fn found<L: WritesFolder>(
    known: &Known<L>,
    put: &Move,
    objects: &Objects,
    env: &Environment,
) -> Result<TreeId, PromoteError> {
    let versions = [put.from, recorded(known, put)].into_iter().chain(versions(known, put)).collect();
    let folder = Expected { path: Path::new(&put.path), versions };
    let trees = promote::found(objects, &env.indexes(), [folder])?;
    Ok(trees.first().copied().unwrap_or(put.from))
}

/// Returns the versions that the run made or put into the folder.
fn versions<L: WritesFolder>(known: &Known<L>, put: &Move) -> impl Iterator<Item = TreeId> {
    let placed = known.placings().flat_map(|(_, to)| to.iter().copied());
    [put.to].into_iter().chain(L::made(&known.run)).chain(placed)
}

/// Returns what the folder contains according to the journal.
fn recorded<L: WritesFolder>(known: &Known<L>, put: &Move) -> TreeId {
    let placed = known.records.iter().rev().find_map(|record| match &record.event {
        Event::Noted(Signal::Placed { to, .. }) => to.first().copied(),
        Event::Noted(_) | Event::Done(_) | Event::Started(_) | Event::Decided(_) => None,
    });
    placed.unwrap_or(put.to)
}

fn replace<L: WritesFolder>(
    known: &Known<L>,
    put: &Move,
    found: TreeId,
    (locks, lock): &(Locks, TargetLock),
    objects: &Objects,
    env: &Environment,
) -> Result<(), Complaint> {
    let id = &known.run.plan.run;
    let moves = [promote::Move { path: PathBuf::from(&put.path), from: found, to: put.from }];
    match promote::promote(locks, lock, objects, &env.indexes(), id.as_str(), &moves).map_err(ours)? {
        Promotion::Done => Ok(()),
        Promotion::Conflict { found } => Err(edited(known, put, found.first().copied().unwrap_or(put.from))),
    }
}

/// Reports an edited folder. The user's version stays there, and is kept.
fn edited<L: WritesFolder>(known: &Known<L>, put: &Move, found: TreeId) -> Complaint {
    let (id, before) = (&known.run.plan.run, name(known, put.from));
    Complaint::conflict(format!("{} changed since run {id}", put.path))
        .caused_by(format!("nothing was replaced; the edited version is kept as {}", found.short()))
        .hint(format!("to replace it anyway, run `skilltune rollback {id} --force`"))
        .hint(format!("to look at the version before the run, run `skilltune export {id} {before} DIR`"))
}

/// Returns the name of a version for `export`.
fn name<L: WritesFolder>(known: &Known<L>, tree: TreeId) -> String {
    let is_it = |name: &&str| L::version(known, name).is_ok_and(|version| version.trees == [tree]);
    ["start", CHAMPION].into_iter().find(is_it).map_or_else(|| tree.short(), str::to_owned)
}

/// Reports an error after the folder was restored.
fn unfinished(complaint: Complaint, id: &RunId, missing: &str) -> Complaint {
    complaint
        .after(format!("the folder was restored, but {missing}"))
        .hint(format!("fix the cause, then run `skilltune rollback {id}` to finish"))
}

/// Returns what was done, and how to get what was replaced.
fn done<L: WritesFolder>(known: &Known<L>, put: &Move, found: TreeId) -> [String; 2] {
    let (id, version, restored) = (&known.run.plan.run, name(known, found), one_line(&put.path));
    [
        format!("{restored} restored to its state before the run"),
        format!("the replaced version is kept; `skilltune export {id} {version} DIR` copies it"),
    ]
}
