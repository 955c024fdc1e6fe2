//! `apply --merge`: merges the user's edits and a candidate into one version.

use skilltune_orchestrator::snapshot::{Merged, Objects, merge};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::{Step, Tune};
use skilltune_phases::loops::{Loop as _, Next};
use skilltune_phases::skills::candidate::Candidate;

use super::{Placing, is_candidate, left, unfinished, words};
use crate::runs::{Known, store_check};
use crate::terminal::complaint::{Complaint, ours};

/// Merges the content of the target with the candidate. Both are based on the version that the run left there.
pub(super) fn merged(
    known: &Known<Tune>,
    objects: &Objects,
    found: &[TreeId],
    placing: Placing,
) -> Result<Placing, Complaint> {
    if may_be_replaced(known) {
        return Err(words::no_known_base(known, &placing));
    }
    let base = left(known);
    if !is_candidate(known, &base) {
        return Err(words::no_base(known, &placing));
    }
    for trees in [&base, &placing.to.trees] {
        store_check::require(objects, trees)?;
    }
    let (mut trees, mut conflicts) = (Vec::new(), Vec::new());
    let versions = base.iter().zip(found.iter().zip(&placing.to.trees));
    for (member, (&base, (&edited, &theirs))) in known.run.plan.task.target.members.iter().zip(versions) {
        match merge(objects, base, edited, theirs).map_err(ours)? {
            Merged::Clean(tree) => trees.push(tree),
            Merged::Conflicts(all) => conflicts.extend(all.into_iter().map(|one| (member, one))),
        }
    }
    if !conflicts.is_empty() {
        return Err(words::conflicts(known, &conflicts, found, &placing));
    }
    Ok(Placing { merged: Some(placing.to.id), to: Candidate::original(trees), ..placing })
}

/// Returns whether a command or the run was to replace the skill and was killed before it noted that it had.
fn may_be_replaced(known: &Known<Tune>) -> bool {
    let promotes = || match Tune::next(&known.run) {
        Next::Do(mut steps) => steps.any(|step| matches!(step, Step::Promote { .. })),
        Next::Decide(_) | Next::End => false,
    };
    unfinished(known).is_some() || known.run.placed.is_none() && promotes()
}
