//! Git repositories of the user: reads the content of a revision, and returns the result of a run as a commit.
//!
//! Only the `git` program accesses a repository, with commands that leave the user's index, working tree, stash and
//! HEAD unchanged. No hook runs, and no program that the repository's own configuration names.
//!
//! ```text
//! propose -> change (three-way, a file at a time) -> commit (a temporary index) -> branch | patch
//! publish -> remote (from a repository of ours) -> pull_request (`gh`)
//! changed: finds the files that differ from a revision; range: reads both sides of them
//! history: finds the commit that last changed a file, and those before it
//! state: finds out what a person did with a proposal
//! ```

mod address;
mod branch;
mod change;
mod changed;
mod commit;
mod config;
mod error;
mod history;
mod listed;
mod propose;
mod publish;
mod pull_request;
mod range;
mod remote;
mod repository;
mod revision;
mod runner;
mod special;
mod state;
mod tree;

pub use changed::{Changed, ChangedError, commit, root};
pub use error::ProposeError;
pub use history::{Ancestor, first_parents, last_change, own_branches};
pub use listed::{Content, Kind, RevisionError, link_text};
pub use propose::{Wanted, propose, rehearse, require_repository};
pub use range::{
    ChangeSet, FileChange, Part, Range, RangeError, files_of, on_disk, store_commit, store_part,
};
pub use revision::{Files, Revision};
pub use runner::{Git, GitError, Program};
pub use state::ProposalState;
