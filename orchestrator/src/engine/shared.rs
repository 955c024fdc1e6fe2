//! Carries out the steps that loops share: asks a person, and promotes or proposes the result.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use skilltune_phases::loops::shared::step::{Handover, Move, Propose, Shared};
use skilltune_phases::runs::proposal::Proposal;
use skilltune_phases::runs::run::Run;

use super::call::UNLIKELY_CANCEL_GRACE;
use super::{Context, EngineError, LocalOutcome, LoopEngine, Person};
use crate::disk::{DiskError, OnDisk as _};
use crate::git::{self, Git, ProposeError, Wanted};
use crate::promote::{self, Promotion};
use crate::snapshot::Objects;
use crate::store::RunFolder;

/// Carries out a step that is not a call, or returns the work to run for it.
pub(super) fn local<L: LoopEngine>(
    run: &Run<L>,
    step: &L::Step,
    context: &Context,
    person: &mut dyn Person<L>,
) -> Result<LocalOutcome<L::Answer>, EngineError> {
    let answer = match L::shared(run, step) {
        Some(Shared::Ask) => return Ok(person.ask(run, step).map_or(LocalOutcome::Held, LocalOutcome::Done)),
        Some(Shared::Promote { moves, makes_folders }) => {
            L::of_handover(promote(run.plan.run.as_str(), &moves, makes_folders, context)?)
        }
        Some(Shared::Propose(propose)) => return self::propose::<L>(propose, context),
        None => L::machine_checks(&context.services.objects, run, step)?,
    };
    answer.map(LocalOutcome::Done).ok_or(EngineError::Stuck)
}

fn promote(
    run: &str,
    moves: &[Move],
    makes_folders: bool,
    context: &Context,
) -> Result<Handover, EngineError> {
    context.journal.barrier()?;
    for one in moves.iter().filter(|_| makes_folders) {
        make_folder(Path::new(&one.path))?;
    }
    // This stays on the main thread: nothing else is running, and a promotion must not be interrupted.
    let promotion = promote::promote(
        &context.locks,
        &context.lock,
        &context.services.objects,
        &context.indexes,
        run,
        &on_disk(moves),
    )?;
    Ok(match promotion {
        Promotion::Done => Handover::Promoted,
        Promotion::Conflict { found } => Handover::Conflict { found },
    })
}

/// Makes the person's folder and its parents. Their path was real when the run began: a symlink on it is newer.
fn make_folder(path: &Path) -> Result<(), DiskError> {
    let there = path.ancestors().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(path);
    if there.canonicalize().on_disk("access", there)? != there {
        return Err(io::Error::other("it is a symlink, or inside one")).on_disk("write", there);
    }
    fs::create_dir_all(path).on_disk("create", path)
}

/// Proposes the result as a step of a run. A problem that a person can fix is an answer, not an error.
fn propose<L: LoopEngine>(
    propose: Propose,
    context: &Context,
) -> Result<LocalOutcome<L::Answer>, EngineError> {
    let answer = |handover| L::of_handover(handover).ok_or(EngineError::Stuck);
    if context.services.git.is_none() {
        let why = "git is not installed".into();
        return answer(Handover::NotProposed { why }).map(LocalOutcome::Done);
    }
    context.journal.barrier()?;
    let services = Arc::clone(&context.services);
    Ok(LocalOutcome::Work(Box::new(move |cancel_token| {
        let room = services.work.join("git");
        room.fresh()?;
        let program = services.git.as_ref().ok_or(EngineError::Stuck)?;
        let git = Git::new(program, room.path(), room.path(), &services.pool, cancel_token);
        let made = propose_now(propose, (&services.objects, &services.folder), &git);
        // The signal that stops us may also have gone to the programs, which may have ended first.
        if !is_whole(&made) && cancel_token.cancelled_within(UNLIKELY_CANCEL_GRACE) {
            return Ok(None);
        }
        let handover = match made {
            Ok(proposal) => Handover::Proposed(Box::new(proposal)),
            Err(ProposeError::Refused { why, hint }) => {
                Handover::NotProposed { why: format!("{why}; {hint}").into() }
            }
            Err(error @ ProposeError::Git(_)) => Handover::NotProposed { why: error.to_string().into() },
            Err(error) => return Err(error.into()),
        };
        answer(handover).map(Some)
    })))
}

/// Makes the commits.
pub fn propose_now(
    Propose { moves, earlier, form, words, committed, version }: Propose,
    (objects, folder): (&Objects, &RunFolder),
    git: &Git<'_>,
) -> Result<Proposal, ProposeError> {
    let patch = folder.place().join(format!("{version}.patch"));
    git::propose(git, objects, &Wanted { form, moves: on_disk(&moves), earlier, words, committed, patch })
}

/// Whether nothing failed on the way: a note may report a failure.
fn is_whole(made: &Result<Proposal, ProposeError>) -> bool {
    made.as_ref().is_ok_and(|proposal| proposal.notes.is_empty())
}

fn on_disk(moves: &[Move]) -> Vec<promote::Move> {
    moves.iter().map(|one| promote::Move { path: (&one.path).into(), from: one.from, to: one.to }).collect()
}
