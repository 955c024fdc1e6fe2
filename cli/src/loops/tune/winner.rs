//! A winner that its run did not apply: where it is, and whether the skill or its repository has it by now.
//!
//! Everything follows from the run's journal, the folders and git; nothing is recorded. The journal names the folders,
//! so callers first check that the run is the user's own.

use skilltune_orchestrator::git::ProposalState;
use skilltune_orchestrator::snapshot::{Objects, Presence};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::{Tune, Verdict};
use skilltune_phases::runs::event::PlacedBy;
use skilltune_phases::runs::proposal::Proposal;

use crate::casting::git;
use crate::loops::tune::apply::newest_proposal;
use crate::runs::{Known, commit};
use crate::terminal::environment::Environment;

/// What happened to a winner since its run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits for a decision.
    Waits,
    /// It waits, but its branch was deleted or has other commits.
    Branchless,
    /// The skill has it.
    Taken,
    /// A person decided against it: by a rollback, or by closing its pull request.
    Declined,
    /// The skill was changed at the same place, so that the winner does not merge.
    Outdated,
}

/// A winner that its run did not apply.
#[derive(Clone, Copy, Debug)]
pub struct Winner<'a> {
    known: &'a Known<Tune>,
    trees: &'a [TreeId],
}

impl<'a> Winner<'a> {
    /// Returns none if the run has no winner, or applied it.
    pub fn of(known: &'a Known<Tune>) -> Option<Self> {
        let run = &known.run;
        let shipment = run.state.shipment.as_ref().filter(|shipment| shipment.verdict == Verdict::Won)?;
        let waits = matches!(run.outcome(), RunOutcome::Kept | RunOutcome::Proposed | RunOutcome::Conflict);
        let champion = run.candidate(shipment.champion).filter(|one| waits && one.id != run.start())?;
        Some(Self { known, trees: &champion.trees })
    }

    /// Returns its newest commit, if it was proposed.
    pub fn proposal(&self) -> Option<&'a Proposal> {
        newest_proposal(self.known)
    }

    /// Finds out what happened to it. What cannot be read counts as unchanged.
    pub fn fate(&self, objects: &Objects, env: &Environment) -> Fate {
        match self.known.run.placed {
            Some(PlacedBy::Apply) => return Fate::Taken,
            Some(PlacedBy::Rollback) => return Fate::Declined,
            None => {}
        }
        let presence = self.presence(objects);
        if presence == Some(Presence::Present) {
            return Fate::Taken;
        }
        match self.proposal_state(env) {
            Some(ProposalState::Merged) => Fate::Taken,
            Some(ProposalState::Closed) => Fate::Declined,
            Some(ProposalState::Open | ProposalState::Gone) | None
                if presence == Some(Presence::Conflicting) =>
            {
                Fate::Outdated
            }
            Some(ProposalState::Gone) => Fate::Branchless,
            Some(ProposalState::Open) | None => Fate::Waits,
        }
    }

    /// Returns whether a later winner of the same skill has this change too.
    pub fn is_in(&self, later: &Self, objects: &Objects) -> bool {
        let mut members = self.changes().zip(later.trees);
        self.known.targets() == later.known.targets()
            && members.all(|((from, to), &tree)| {
                from == to
                    || Presence::in_tree(objects, tree, from, to).is_ok_and(|one| one == Presence::Present)
            })
    }

    /// Returns how much of the change the skill has. None if that cannot be read.
    fn presence(&self, objects: &Objects) -> Option<Presence> {
        let targets = self.known.targets();
        let changed = targets.iter().zip(self.changes()).filter(|(_, (from, to))| from != to);
        let all = changed.map(|(path, (from, to))| Presence::in_folder(objects, path, from, to).ok());
        all.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    fn proposal_state(&self, env: &Environment) -> Option<ProposalState> {
        let (proposal, program) = (self.proposal()?.clone(), git(env).ok()?);
        let targets = self.known.targets();
        let mut changed = targets.into_iter().zip(self.changes()).filter(|(_, (from, to))| from != to);
        let (folder, _) = changed.next()?;
        let found = commit::with_git(&program, move |git| {
            ProposalState::of(git, &folder, &proposal).map_err(Into::into)
        });
        found.ok()?.ok()
    }

    /// Returns for each member its tree at the start, and that of the winner.
    fn changes(&self) -> impl Iterator<Item = (TreeId, TreeId)> {
        let start = &self.known.run.state.candidates[0].trees;
        start.iter().copied().zip(self.trees.iter().copied())
    }
}
