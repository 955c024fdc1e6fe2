//! `apply` and `rollback`: replace the target with a version, or restore what the run found there.
//!
//! All checks run before the target is touched. A target with edits of the user is left alone, and both versions are
//! kept.

mod merging;
mod propose;
pub mod words;

use skilltune_orchestrator::promote::{self, Expected, Move, PromoteError, Promotion};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::{Locks, TargetLock};
use skilltune_phases::base::id::{CandidateId, TreeId};
use skilltune_phases::loops::evolve::Evolve;
use skilltune_phases::loops::tune::{Aim, Answer, Event, Run, Tune};
use skilltune_phases::runs::event::{PlacedBy, Signal};
use skilltune_phases::runs::plan::{LoopKind, RunId};
use skilltune_phases::skills::candidate::Candidate;

use crate::args::runs::{ApplyArgs, RollbackArgs};
use crate::report::outcome;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::runs::{CHAMPION, Known, session, store_check};
use crate::settings::values::Format;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;

pub use propose::newest as newest_proposal;

pub fn run(args: &ApplyArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let known = with_target(scope, args.run.run.as_deref())?;
    let to = known.version(args.candidate.as_deref().unwrap_or(CHAMPION))?;
    if let Some(form) = args.form {
        return propose::run(scope, &known, &to, (form.into(), args.format));
    }
    let by = if to.id == known.run.start() { PlacedBy::Rollback } else { PlacedBy::Apply };
    let command = format!("skilltune apply {} {}", known.run.plan.run, to.id.short());
    let edits = Edits::of(args.force, args.merge);
    let placing = Placing { to, by, edits, merged: None, command, format: args.format };
    if args.candidate.is_none() && known.run.state.candidates.len() == 1 {
        let object = words::json(&known, None, &placing);
        return outcome::print(args.format, scope.printer, &[words::nothing(&known)], &object);
    }
    place(scope, &known, placing)
}

pub fn rollback(args: &RollbackArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let known = with_target(scope, args.run.run.as_deref())?;
    let to = known.run.state.candidates[0].clone();
    let command = format!("skilltune rollback {}", known.run.plan.run);
    let edits = Edits::of(args.force, false);
    let (by, format) = (PlacedBy::Rollback, args.format);
    let exit = place(scope, &known, Placing { to, by, edits, merged: None, command, format })?;
    // A commit belongs to the user as soon as it is made.
    if let Some(proposal) = propose::newest(&known) {
        scope.printer.talk(&words::undo_proposal(&known, proposal));
    }
    Ok(exit)
}

/// Returns the named run, or the newest one that has a target.
fn with_target(scope: &Scope<'_>, name: Option<&str>) -> Result<Known<Tune>, Complaint> {
    let id = match name {
        Some(_) => scope.named(name)?,
        None => newest_with_target(scope)?,
    };
    if scope.runs.kind(&id) == LoopKind::Tune {
        let known = scope.runs.load::<Tune>(&id)?;
        return if known.run.plan.task.searches() { Ok(known) } else { Err(no_target(&known.run)) };
    }
    let copies = format!("`skilltune export {id} {CHAMPION} DIR` copies it");
    let what = match scope.runs.kind(&id) {
        LoopKind::Gan => format!("it built files; {copies}"),
        LoopKind::Tune | LoopKind::Reflex => format!("it wrote a text; {copies}"),
        LoopKind::Expert => format!("it asked an expert; `skilltune show {id} answer` shows the answer"),
        LoopKind::Evolve if is_written(scope, &id) => {
            format!("it wrote its result into the project; `skilltune rollback {id}` undoes that")
        }
        LoopKind::Evolve => format!("it changed a copy of a project; {copies}"),
        LoopKind::Review => format!("it reviewed files; `skilltune report {id}` shows what it found"),
    };
    Err(Complaint::input(format!("run {id} has no target to replace: {what}")))
}

/// Returns whether a run of `evolve` wrote its result into the project.
fn is_written(scope: &Scope<'_>, id: &RunId) -> bool {
    scope.runs.load::<Evolve>(id).is_ok_and(|known| known.run.is_in_folder())
}

/// Returns whether a run has a skill to replace, as far as its journal can be read.
pub fn may_have_target(scope: &Scope<'_>, id: &RunId) -> bool {
    match scope.runs.load::<Tune>(id) {
        Ok(known) => known.run.plan.task.searches(),
        // The command that uses it reports the error.
        Err(_) => true,
    }
}

fn newest_with_target(scope: &Scope<'_>) -> Result<RunId, Complaint> {
    let only = scope.only.unwrap_or(LoopKind::Tune);
    let newest = scope.runs.named(None, Some(only))?;
    if only != LoopKind::Tune || may_have_target(scope, &newest) {
        return Ok(newest);
    }
    let Known { run, .. } = scope.runs.load::<Tune>(&newest)?;
    let mut others = scope.runs.ids(Some(only)).into_iter();
    others.find(|id| may_have_target(scope, id)).ok_or_else(|| no_target(&run))
}

/// Explains why a run has no skill to replace: only a search may replace one.
fn no_target(run: &Run) -> Complaint {
    let id = &run.plan.run;
    let (what, hint) = match &run.plan.task.aim {
        Aim::Compare(two) if let Some(of) = two.regraded.as_ref().filter(|of| of.searched) => (
            "it regraded another run",
            format!("`skilltune apply {}` applies a candidate of that run", of.run),
        ),
        Aim::Compare(_) => (
            "it compared two versions",
            format!("`skilltune export {id} {CHAMPION} DIR` copies the better one"),
        ),
        Aim::Calibrate { .. } => ("it calibrated a suite", ANOTHER.to_owned()),
        Aim::Improve | Aim::Try { .. } => ("it tried a suite without a skill", ANOTHER.to_owned()),
    };
    Complaint::input(format!("run {id} has no target to replace: {what}")).hint(hint)
}

const ANOTHER: &str = "name another run; `skilltune list` shows them";

#[derive(Debug)]
pub struct Placing {
    to: Candidate,
    by: PlacedBy,
    edits: Edits,
    /// The candidate that is part of the version to place, if that is a merge.
    merged: Option<CandidateId>,
    /// The typed command, without its flags about the user's edits.
    command: String,
    format: Format,
}

/// What to do with the user's edits in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edits {
    /// Keep them, and fail.
    Refuse,
    /// Replace them; the store keeps a copy.
    Replace,
    /// Merge them with the candidate.
    Merge,
}

impl Edits {
    fn of(force: bool, merge: bool) -> Self {
        match (force, merge) {
            (true, _) => Self::Replace,
            (false, true) => Self::Merge,
            (false, false) => Self::Refuse,
        }
    }
}

impl Placing {
    fn begun(&self, from: &[TreeId]) -> Signal {
        Signal::Placing { from: from.to_vec(), to: self.to.trees.clone(), by: self.by }
    }

    fn done(&self, from: &[TreeId]) -> Signal {
        Signal::Placed { from: from.to_vec(), to: self.to.trees.clone(), by: self.by }
    }
}

fn place(scope: &Scope<'_>, known: &Known<Tune>, placing: Placing) -> Result<Exit, Complaint> {
    let (runs, env, printer) = (&scope.runs, scope.env, scope.printer);
    Ownership::new(env).require(known)?;
    words::refuse_what_is_gone(known, &placing)?;
    let (id, targets) = (&known.run.plan.run, known.targets());
    let locks = session::lock(env, printer, &targets, id.as_str())?;
    // The journal may have grown while we waited for the lock.
    let mut known = runs.load(id)?;
    let _in_use = runs.home.hold().map_err(ours)?;
    let objects = scope.objects();
    let found = found(&known, &placing, &objects, env).map_err(ours)?;
    let placing = &match placing.edits {
        Edits::Merge if !is_candidate(&known, &found) => merging::merged(&known, &objects, &found, placing)?,
        Edits::Merge | Edits::Refuse | Edits::Replace => placing,
    };
    let settle = |known: &Known<Tune>| session::settle(env, printer, &runs.home, &known.run);
    if found == placing.to.trees {
        let displaced = note_if_nobody_has(&mut known, placing)?;
        let lines = if let Some(displaced) = &displaced {
            words::done(&known, displaced, placing)
        } else {
            let older = earlier(scope, &known).filter(|_| placing.by == PlacedBy::Rollback);
            let older = older.map(|id| format!("`skilltune rollback {id}` undoes the run before it"));
            [words::already(&known, placing)].into_iter().chain(older).collect()
        };
        settle(&known)?;
        let object = words::json(&known, displaced, placing);
        return outcome::print(placing.format, printer, &lines, &object);
    }
    if placing.edits == Edits::Refuse && !is_ours(&known, &found) {
        return Err(words::edited(&known, &found, placing));
    }
    store_check::require(&objects, &placing.to.trees)?;
    let mut journal = known.open_journal()?;
    // Noted before anything is replaced: a command that is killed later leaves a name for the old version.
    known.note(&mut journal, placing.begun(&found))?;
    replace(&known, &found, placing, &locks, &objects, env)?;
    known
        .note(&mut journal, placing.done(&found))
        .map_err(|complaint| words::changed(complaint, "the run's journal does not record it", placing))?;
    settle(&known)
        .map_err(|complaint| words::changed(complaint, "the run's pages do not show it", placing))?;
    let lines = words::done(&known, &found, placing);
    outcome::print(placing.format, printer, &lines, &words::json(&known, Some(found), placing))
}

/// Returns the newest older run that changed the same skills into what this one began with.
fn earlier(scope: &Scope<'_>, known: &Known<Tune>) -> Option<RunId> {
    let start = &known.run.state.candidates[0].trees;
    let older = scope.runs.ids(Some(LoopKind::Tune)).into_iter();
    let mut older = older.skip_while(|id| *id != known.run.plan.run).skip(1);
    older.find(|id| {
        scope.runs.load::<Tune>(id).is_ok_and(|older| {
            let own = &older.run.state.candidates[0].trees;
            older.targets() == known.targets() && left(&older) == *start && own != start
        })
    })
}

/// Returns what the members' folders hold. The wanted version is compared first, then those that the run knows.
fn found(
    known: &Known<Tune>,
    placing: &Placing,
    objects: &Objects,
    env: &Environment,
) -> Result<Vec<TreeId>, PromoteError> {
    let wanted = std::iter::once(placing.to.trees.clone()).chain([left(known)]);
    let candidates = known.run.state.candidates.iter().map(|candidate| candidate.trees.clone());
    let placed = known.placings().flat_map(|(from, to)| [from.to_vec(), to.to_vec()]);
    let versions: Vec<Vec<TreeId>> = wanted.chain(candidates).chain(placed).collect();
    let targets = known.targets();
    let expected = targets.iter().enumerate().map(|(member, path)| Expected {
        path,
        versions: versions.iter().filter_map(|trees| trees.get(member).copied()).collect(),
    });
    promote::found(objects, &env.indexes(), expected)
}

fn replace(
    known: &Known<Tune>,
    found: &[TreeId],
    placing: &Placing,
    (locks, lock): &(Locks, TargetLock),
    objects: &Objects,
    env: &Environment,
) -> Result<(), Complaint> {
    let (id, targets, indexes) = (&known.run.plan.run, known.targets(), env.indexes());
    let moves = targets.iter().zip(found.iter().zip(&placing.to.trees));
    let moves: Vec<_> = moves.map(|(path, (&from, &to))| Move { path: path.clone(), from, to }).collect();
    match promote::promote(locks, lock, objects, &indexes, id.as_str(), &moves) {
        Ok(Promotion::Done) => Ok(()),
        Ok(Promotion::Conflict { found }) => Err(words::edited(known, &found, placing)),
        Err(error) => {
            // The replacement may have failed after all files were in place.
            let now = self::found(known, placing, objects, env);
            let is_changed = now.is_ok_and(|now| now == placing.to.trees);
            let is_undone = matches!(error, PromoteError::Undone(_));
            let complaint = ours(error);
            let again = format!("fix the cause, then run `{}` again", placing.command);
            let complaint = if is_undone { complaint.hint(again) } else { complaint };
            Err(if is_changed { words::changed(complaint, "cleaning up failed", placing) } else { complaint })
        }
    }
}

/// Notes a version that is already in place because an earlier command was killed before it could note it. Returns what
/// that command displaced.
fn note_if_nobody_has(known: &mut Known<Tune>, placing: &Placing) -> Result<Option<Vec<TreeId>>, Complaint> {
    let begun = unfinished(known).filter(|(_, to)| *to == placing.to.trees).map(|(from, _)| from.to_vec());
    let left = left(known);
    if begun.is_none() && left == placing.to.trees {
        return Ok(None);
    }
    let mut journal = known.open_journal()?;
    known.note(&mut journal, placing.done(begun.as_ref().unwrap_or(&left)))?;
    Ok(begun)
}

/// Returns what the user's last command found and what it was to place, if it has not noted a replacement.
fn unfinished(known: &Known<Tune>) -> Option<(&[TreeId], &[TreeId])> {
    let last = known.records.iter().rev().find_map(|record| match &record.event {
        Event::Noted(Signal::Placing { from, to, .. }) => Some(Some((from.as_slice(), to.as_slice()))),
        Event::Noted(Signal::Placed { .. }) => Some(None),
        Event::Done(done) if done.outcome == Ok(Answer::Promoted) => Some(None),
        Event::Done(_) | Event::Started(_) | Event::Decided(_) | Event::Noted(_) => None,
    });
    last.flatten()
}

/// Returns what the target contains according to the journal.
pub fn left(known: &Known<Tune>) -> Vec<TreeId> {
    let last = known.records.iter().rev().find_map(|record| match &record.event {
        Event::Noted(Signal::Placed { to, .. }) => Some(to.clone()),
        Event::Done(done) if done.outcome == Ok(Answer::Promoted) => promoted(&known.run),
        Event::Done(_) | Event::Started(_) | Event::Decided(_) | Event::Noted(_) => None,
    });
    last.unwrap_or_else(|| known.run.state.candidates[0].trees.clone())
}

fn promoted(run: &Run) -> Option<Vec<TreeId>> {
    Some(run.candidate(run.state.shipment.as_ref()?.champion)?.trees.clone())
}

/// Returns whether this run made the version or placed it before: replacing it loses nothing.
fn is_ours(known: &Known<Tune>, found: &[TreeId]) -> bool {
    is_candidate(known, found) || known.placings().any(|(_, to)| to == found)
}

fn is_candidate(known: &Known<Tune>, trees: &[TreeId]) -> bool {
    known.run.state.candidates.iter().any(|candidate| candidate.trees == trees)
}
