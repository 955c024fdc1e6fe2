//! Git repositories of the user: what a revision holds is read, and what a run made is handed back as a commit.
//!
//! Only the `git` program touches a repository, by commands that leave the user's index, working tree, stash and HEAD
//! unchanged. No hook runs, and no program that the repository's own configuration names.
//!
//! ```text
//! propose -> change (three-way, a file at a time) -> commit (a temporary index) -> branch | patch
//! publish -> remote (from a repository of ours) -> pull_request (`gh`)
//! changed: which files are not as a revision has them
//! ```

mod address;
mod branch;
mod change;
mod changed;
mod commit;
mod config;
mod error;
mod patch;
mod propose;
mod publish;
mod pull_request;
mod remote;
mod repository;
mod revision;
mod runner;
mod special;
mod tree;

pub use changed::{Changed, ChangedError, root};
pub use error::ProposeError;
pub use propose::{Wanted, propose, require_repository};
pub use revision::{Files, Revision, RevisionError};
pub use runner::{Git, GitError, Program};
