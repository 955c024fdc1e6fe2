//! `rollback` of a run of `gan`: restores the folder that it put its result into.
//!
//! All checks run before the folder is touched. A folder with edits of the user is left alone, and its content is kept.

use std::io;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::promote::{self, Expected, Move, PromoteError, Promotion};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::{Locks, TargetLock};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::gan::{Answer, Event, Gan, Run};
use skilltune_phases::runs::event::{PlacedBy, Signal};
use skilltune_phases::runs::plan::RunId;

use crate::loops::gan::progress;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::runs::{CHAMPION, Known, session, store_check};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::text::plain::{one_line, shell_path};

/// Returns whether the run put its result into a folder, as far as its journal can be read.
pub fn may_have_folder(scope: &Scope<'_>, id: &RunId) -> bool {
    match scope.runs.load::<Gan>(id) {
        Ok(known) => put_into(&known.run).is_some(),
        // The command that uses it reports the error.
        Err(_) => true,
    }
}

pub fn run(force: bool, scope: &Scope<'_>, id: &RunId) -> Result<Exit, Complaint> {
    let (runs, env, printer) = (&scope.runs, scope.env, scope.printer);
    let known: Known<Gan> = runs.load(id)?;
    let into = put_into(&known.run).ok_or_else(|| put_nowhere(&known.run))?;
    Ownership::new(env).require(&known)?;
    if is_away(&known.run, &into)? {
        printer.talk(&format!("{} does not exist, as before the run", into.display()));
        return Ok(Exit::Reached);
    }
    let locks = session::lock(env, printer, &known.targets(), id.as_str())?;
    // The journal may have grown while we waited for the lock.
    let mut known: Known<Gan> = runs.load(id)?;
    let _in_use = runs.home.hold().map_err(ours)?;
    let objects = scope.objects();
    let (start, recorded) = (known.run.plan.task.start, recorded(&known));
    let found = found(&known, &into, &objects, env).map_err(ours)?;
    let placed = |from: TreeId| Signal::Placed { from: vec![from], to: vec![start], by: PlacedBy::Rollback };
    let settle = |known: &Known<Gan>| session::settle(env, printer, &runs.home, &known.run);
    if found == start {
        // An earlier command may have been killed before it could note what it did.
        if recorded != start {
            let mut journal = known.open_journal()?;
            known.note(&mut journal, placed(recorded))?;
        }
        settle(&known)?;
        printer.talk("the folder is already in its state before the run");
        return Ok(Exit::Reached);
    }
    if !force && !is_ours(&known, found) {
        return Err(edited(&known.run, &into, found));
    }
    store_check::require(&objects, &[start])?;
    let mut journal = known.open_journal()?;
    // Noted before anything is replaced: a command that is killed later leaves a name for the old version.
    known
        .note(&mut journal, Signal::Placing { from: vec![found], to: vec![start], by: PlacedBy::Rollback })?;
    replace(&known, &into, found, &locks, &objects, env)?;
    known
        .note(&mut journal, placed(found))
        .map_err(|complaint| unfinished(complaint, id, "the run's journal does not record it"))?;
    settle(&known).map_err(|complaint| unfinished(complaint, id, "the run's pages do not show it"))?;
    for line in done(&known.run, &into, found) {
        printer.talk(&line);
    }
    Ok(Exit::Reached)
}

/// Returns the folder that the run put its result into.
fn put_into(run: &Run) -> Option<PathBuf> {
    let into = run.plan.task.into.as_ref().map(PathBuf::from);
    into.filter(|_| matches!(run.handed_over(), Some(Answer::Promoted)))
}

/// Refuses a run that has changed no folder, and says how to discard what it made instead.
fn put_nowhere(run: &Run) -> Complaint {
    let id = &run.plan.run;
    let proposal = run.proposed().and_then(Result::ok).filter(|_| run.closed_at.is_some());
    let refusal = Complaint::input(format!("run {id} put nothing into a folder"));
    match proposal.and_then(progress::discard) {
        Some(command) => refusal.hint(format!("its result is a commit; `{command}` discards it")),
        None => refusal.hint("name another run; `skilltune list` shows them"),
    }
}

/// Returns whether the folder is missing, as it was before the run. Fails if something else is in its place, or if
/// another command has to restore it.
fn is_away(run: &Run, into: &Path) -> Result<bool, Complaint> {
    let export = format!("skilltune export {} start {}", run.plan.run, shell_path(into));
    let cannot = |why: &str| Complaint::input(format!("cannot restore: {} {why}", into.display()));
    match into.symlink_metadata() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(cannot("cannot be read").caused_by(error))
        }
        Err(_) if run.plan.task.start == TreeId::EMPTY => Ok(true),
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
fn found(
    known: &Known<Gan>,
    into: &Path,
    objects: &Objects,
    env: &Environment,
) -> Result<TreeId, PromoteError> {
    let start = known.run.plan.task.start;
    let versions = [start, recorded(known)].into_iter().chain(versions(known)).collect();
    let trees = promote::found(objects, &env.indexes(), [Expected { path: into, versions }])?;
    Ok(trees.first().copied().unwrap_or(start))
}

/// Returns the versions that the run made or put into the folder.
fn versions(known: &Known<Gan>) -> impl Iterator<Item = TreeId> {
    let built = known.run.state.sprints.iter().filter_map(|sprint| sprint.artifact);
    built.chain(known.placings().flat_map(|(_, to)| to.iter().copied()))
}

/// Returns whether replacing this version loses nothing.
fn is_ours(known: &Known<Gan>, found: TreeId) -> bool {
    versions(known).any(|version| version == found)
}

/// Returns what the folder contains according to the journal.
fn recorded(known: &Known<Gan>) -> TreeId {
    let placed = known.records.iter().rev().find_map(|record| match &record.event {
        Event::Noted(Signal::Placed { to, .. }) => to.first().copied(),
        Event::Noted(_) | Event::Done(_) | Event::Started(_) | Event::Decided(_) => None,
    });
    placed.or(known.run.result()).unwrap_or(known.run.plan.task.start)
}

fn replace(
    known: &Known<Gan>,
    into: &Path,
    found: TreeId,
    (locks, lock): &(Locks, TargetLock),
    objects: &Objects,
    env: &Environment,
) -> Result<(), Complaint> {
    let (id, start) = (&known.run.plan.run, known.run.plan.task.start);
    let moves = [Move { path: into.to_owned(), from: found, to: start }];
    match promote::promote(locks, lock, objects, &env.indexes(), id.as_str(), &moves).map_err(ours)? {
        Promotion::Done => Ok(()),
        Promotion::Conflict { found } => {
            Err(edited(&known.run, into, found.first().copied().unwrap_or(start)))
        }
    }
}

/// Reports an edited folder. The user's version stays there, and is kept.
fn edited(run: &Run, into: &Path, found: TreeId) -> Complaint {
    let id = &run.plan.run;
    Complaint::conflict(format!("{} changed since run {id}", into.display()))
        .caused_by(format!("nothing was replaced; the edited version is kept as {}", found.short()))
        .hint(format!("to replace it anyway, run `skilltune rollback {id} --force`"))
        .hint(format!("to look at the version before the run, run `skilltune export {id} start DIR`"))
}

/// Reports an error after the folder was restored.
fn unfinished(complaint: Complaint, id: &RunId, missing: &str) -> Complaint {
    complaint
        .after(format!("the folder was restored, but {missing}"))
        .hint(format!("fix the cause, then run `skilltune rollback {id}` to finish"))
}

/// Returns what was done, and how to get what was replaced.
fn done(run: &Run, into: &Path, found: TreeId) -> [String; 2] {
    let id = &run.plan.run;
    let version = if run.result() == Some(found) { CHAMPION.to_owned() } else { found.short() };
    let restored = one_line(&into.display().to_string());
    [
        format!("{restored} restored to its state before the run"),
        format!("the replaced version is kept; `skilltune export {id} {version} DIR` copies it"),
    ]
}
