//! A candidate of a run as a commit.

use skilltune_phases::candidate::Candidate;
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::proposing::Words;
use skilltune_phases::proposal::{Form, Proposal};

use super::moves;
use crate::git::{Git, ProposeError, Wanted, propose};
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
    propose(git, objects, &Wanted { form, moves: &moves, branch, message, at, patch: &patch })
}
