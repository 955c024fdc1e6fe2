//! The steps that loops share. Each loop writes them into its journal in its own words; here they have one form.

use crate::base::id::TreeId;
use crate::runs::proposal::{Form, Proposal, Words};

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
    pub form: Form,
    pub words: Words,
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
