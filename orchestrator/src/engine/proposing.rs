//! Proposes the result of a run as a commit.

use std::sync::Arc;

use skilltune_phases::runs::proposal::Proposal;

use super::call::UNLIKELY_CANCEL_GRACE;
use super::{Context, EngineError, LocalOutcome};
use crate::git::{self, Git, ProposeError, Wanted};

/// The commit, or why there is none. A problem that a person can fix is an answer, not an error.
pub(super) type Proposed = Result<Box<Proposal>, Box<str>>;

/// Proposes the result as a step of a run.
pub(super) fn propose<A: 'static>(
    wanted: Wanted,
    context: &Context,
    answer: fn(Proposed) -> A,
) -> Result<LocalOutcome<A>, EngineError> {
    if context.services.git.is_none() {
        return Ok(LocalOutcome::Done(answer(Err("git is not installed".into()))));
    }
    context.journal.barrier()?;
    let services = Arc::clone(&context.services);
    Ok(LocalOutcome::Work(Box::new(move |cancel_token| {
        let room = services.work.join("git");
        room.fresh()?;
        let program = services.git.as_ref().ok_or(EngineError::Stuck)?;
        let git = Git::new(program, room.path(), room.path(), &services.pool, cancel_token);
        let made = git::propose(&git, &services.objects, &wanted);
        // The signal that stops us may also have gone to the programs, which may have ended first.
        if !is_whole(&made) && cancel_token.cancelled_within(UNLIKELY_CANCEL_GRACE) {
            return Ok(None);
        }
        match made {
            Ok(proposal) => Ok(Some(answer(Ok(Box::new(proposal))))),
            Err(ProposeError::Refused { why, hint }) => {
                Ok(Some(answer(Err(format!("{why}; {hint}").into()))))
            }
            Err(error @ ProposeError::Git(_)) => Ok(Some(answer(Err(error.to_string().into())))),
            Err(error) => Err(error.into()),
        }
    })))
}

/// Whether nothing failed on the way: a note may report a failure.
fn is_whole(made: &Result<Proposal, ProposeError>) -> bool {
    made.as_ref().is_ok_and(|proposal| proposal.notes.is_empty())
}
