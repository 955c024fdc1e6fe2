//! A candidate of a run as a commit.

use skilltune_phases::candidate::Candidate;
use skilltune_phases::id::CandidateId;
use skilltune_phases::loops::tune::proposing::Words;
use skilltune_phases::loops::tune::{Answer, Run};
use skilltune_phases::proposal::{Form, Proposal};

use super::moves;
use crate::engine::{Context, EngineError};
use crate::git::{self, Git, ProposeError, Wanted};
use crate::process::Canceller;
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
) -> Result<Answer, EngineError> {
    let shop = &*context.shop;
    let candidate = run.candidate(candidate).ok_or(EngineError::Stuck)?;
    let Some(program) = &shop.git else { return Ok(none("git is not installed")) };
    context.journal.barrier()?;
    let room = shop.work.join("git");
    room.fresh()?;
    let canceller = Canceller::new()?;
    let ear = canceller.ear();
    let git = Git::new(program, room.path(), room.path(), &shop.pool, &ear);
    match propose_candidate(run, candidate, form, (&shop.objects, &shop.folder), &git) {
        Ok(proposal) => Ok(Answer::Proposed(Box::new(proposal))),
        Err(ProposeError::Refused { why, hint }) => Ok(none(&format!("{why}; {hint}"))),
        Err(error @ ProposeError::Git(_)) => Ok(none(&error.to_string())),
        Err(error) => Err(error.into()),
    }
}

fn none(why: &str) -> Answer {
    Answer::NotProposed { why: why.into() }
}
