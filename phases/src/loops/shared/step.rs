//! The steps that loops share. Each loop writes them into its journal in its own words; here they have one form.
//!
//! A run also finds here whether the commands that an agent proposed may run, and what follows its end: a question, then
//! the result is promoted, proposed or left.

use crate::base::id::TreeId;
use crate::loops::Loop;
use crate::runs::event::PlacedBy;
use crate::runs::proposal::{EarlierCommit, Form, Proposal, Words};
use crate::runs::run::{Run, StepState};
use crate::suites::checks::{Commands, RunThem};

/// How the engine carries out a step that loops share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shared {
    /// Ask a person. The run waits if no person is there.
    Ask,
    /// Write the result into a person's folders, all of them or none. Only some loops make a missing folder.
    Promote { moves: Vec<Move>, makes_folders: bool },
    /// Commit the result, and leave the folders unchanged.
    Propose(Propose),
}

/// The change of one folder of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub path: String,
    pub from: TreeId,
    pub to: TreeId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Propose {
    pub moves: Vec<Move>,
    /// The commits below the last one, the first one first. Most loops make a single commit.
    pub earlier: Vec<EarlierCommit>,
    pub form: Form,
    pub words: Words,
    /// What the last commit has of each folder, if a patch has to be for the folders as the run found them, with what a
    /// person has not committed; otherwise empty.
    pub committed: Vec<TreeId>,
    /// The short name of the version, which names a patch file.
    pub version: String,
}

/// What became of a result that was promoted or proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handover {
    Promoted,
    /// A folder has changed since the run began. The content found there is kept.
    Conflict {
        found: Vec<TreeId>,
    },
    Proposed(Box<Proposal>),
    NotProposed {
        why: Box<str>,
    },
}

impl<L: Loop> Run<L> {
    /// Returns whether commands may run; none if a person has to be asked first, in this step. A question that failed
    /// too often allows nothing.
    pub(in crate::loops) fn may_run(&self, commands: Commands, allow: &L::Step) -> Option<bool> {
        match commands.run {
            RunThem::Always => Some(true),
            RunThem::Never => Some(false),
            RunThem::Ask => match self.state_of(allow) {
                StepState::Open => None,
                StepState::Answered(answer) => Some(L::is_yes(answer)),
                StepState::GivenUp(_) => Some(false),
            },
        }
    }

    /// Returns the last answer of the tail, or the step that it still needs. The tail ends early with a step that failed
    /// too often, or with a question that a person declined.
    pub(in crate::loops) fn tail(&self) -> Result<Option<&L::Answer>, L::Step> {
        let mut last = None;
        for step in L::tail(self) {
            match self.state_of(&step) {
                StepState::Open => return Err(step),
                StepState::GivenUp(_) => return Ok(None),
                StepState::Answered(answer) => last = Some(answer),
            }
            if !last.is_some_and(L::is_yes) {
                break;
            }
        }
        Ok(last)
    }

    /// Returns the answer to the step that promoted or proposed the result.
    pub fn handed_over(&self) -> Option<&L::Answer> {
        self.tail().ok().flatten()
    }

    /// Returns the changes of the folders that the run wrote its result into; none if it wrote it nowhere.
    pub fn promoted(&self) -> Vec<Move> {
        let is_promoted = self.handed_over().is_some_and(|answer| {
            L::of_handover(Handover::Promoted).is_some_and(|promoted| promoted == *answer)
        });
        let moves = |step: &L::Step| match L::shared(self, step)? {
            Shared::Promote { moves, .. } => Some(moves),
            Shared::Ask | Shared::Propose(_) => None,
        };
        let steps = if is_promoted { L::tail(self) } else { Vec::new() };
        steps.iter().rev().find_map(moves).unwrap_or_default()
    }

    /// Returns whether the result is in the person's folder: the run put it there, and no rollback removed it.
    pub fn is_in_folder(&self) -> bool {
        self.placed != Some(PlacedBy::Rollback) && !self.promoted().is_empty()
    }
}
