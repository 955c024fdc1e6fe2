//! A candidate of a run as a commit.

use std::sync::Arc;

use skilltune_phases::candidate::Candidate;
use skilltune_phases::id::CandidateId;
use skilltune_phases::loops::tune::proposing::Words;
use skilltune_phases::loops::tune::{Answer, Run};
use skilltune_phases::proposal::{Form, Proposal};

use super::moves;
use crate::engine::call::WHISPER;
use crate::engine::{Context, EngineError, Own};
use crate::git::{self, Git, ProposeError, Wanted};
use crate::snapshot::Objects;
use crate::store::RunFolder;

/// Proposes what the candidate changes of the version that the run started from.
pub fn propose_candidate(
    run: &Run,
    candidate: &Candidate,
    form: Form,
    (objects, folder): (&Objects, &RunFolder),
    git: &Git<'_>,
) -> Result<Proposal, ProposeError> {
    let Words { branch, message, at } = Words::of(run, candidate);
    let moves = moves(run, &run.state.candidates[0], candidate);
    let patch = folder.place().join(format!("{}.patch", candidate.id.short()));
    let (branch, message) = (branch.as_str(), message.as_str());
    git::propose(git, objects, &Wanted { form, moves: &moves, branch, message, at, patch: &patch })
}

/// The same as a step of a run. What a person can put right is an answer, and ends the run.
pub(super) fn propose(
    run: &Run,
    candidate: CandidateId,
    form: Form,
    context: &Context,
) -> Result<Own<Answer>, EngineError> {
    let candidate = run.candidate(candidate).ok_or(EngineError::Stuck)?.clone();
    if context.shop.git.is_none() {
        return Ok(Own::Done(none("git is not installed")));
    }
    context.journal.barrier()?;
    let (shop, run) = (Arc::clone(&context.shop), run.clone());
    Ok(Own::Work(Box::new(move |ear| {
        let room = shop.work.join("git");
        room.fresh()?;
        let program = shop.git.as_ref().ok_or(EngineError::Stuck)?;
        let git = Git::new(program, room.path(), room.path(), &shop.pool, ear);
        let made = propose_candidate(&run, &candidate, form, (&shop.objects, &shop.folder), &git);
        // Whoever told us to end may have told the programs at once, and they may have been quicker.
        if !is_whole(&made) && ear.hears_within(WHISPER) {
            return Ok(None);
        }
        match made {
            Ok(proposal) => Ok(Some(Answer::Proposed(Box::new(proposal)))),
            Err(ProposeError::Refused { why, hint }) => Ok(Some(none(&format!("{why}; {hint}")))),
            Err(error @ ProposeError::Git(_)) => Ok(Some(none(&error.to_string()))),
            Err(error) => Err(error.into()),
        }
    })))
}

/// Whether nothing has failed on the way: a note may say what did.
fn is_whole(made: &Result<Proposal, ProposeError>) -> bool {
    made.as_ref().is_ok_and(|proposal| proposal.notes.is_empty())
}

fn none(why: &str) -> Answer {
    Answer::NotProposed { why: why.into() }
}
