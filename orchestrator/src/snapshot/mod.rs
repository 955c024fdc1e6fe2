//! Folders as values: captured by content, compared, written, and restored exactly.
//!
//! ```text
//! a folder -- capture, scan --> Manifest + Objects -- place ----------------> a folder of our own
//!                  |                |    |        \-- Replacement::apply --> a folder of a person
//!         Indexes, IgnoreRules   changes, unified, merge, census, integrate, Presence
//! ```

mod blame;
mod capture;
mod census;
mod diff;
mod encoding;
mod gather;
mod ignored;
mod index;
mod integrate;
mod lines;
mod look;
mod manifest;
mod merge;
mod objects;
mod outside;
mod path;
mod place;
mod presence;
mod recent;
mod reflink;
mod renames;
mod restore;
mod seal;
mod stamp;
mod temporary;
#[cfg(test)]
mod trees;

pub use blame::{BlamedKind, BlamedLine, blame};
pub(crate) use capture::LEFT_BY_TOOLS;
pub use capture::{
    Captured, FolderState, Limits, capture, capture_edited, capture_left, scan, scan_edited, scan_left,
};
pub use census::{Loss, LossKind, census};
pub use diff::{
    Change, ChangeKind, DiffSize, LineChanges, changes, diff_size, line_diff, readable, unified,
    unified_within,
};
pub use gather::{Brought, GatherError, Gathering, weigh};
pub use ignored::{IgnoreRules, RulesError, git_folders};
pub use index::Indexes;
pub use integrate::{
    Accepted, Deleted, Integrated, Refusal, Work, WorkResult, deleted_lines, integrate, listed_conflicts,
};
pub use lines::added_lines;
pub use look::CaptureError;
pub use manifest::{Entry, Manifest, ManifestError, Node};
pub use merge::{Conflict, ConflictKind, Merged, merge, rebase};
pub(crate) use merge::{MOST_MERGED, merge_lines};
pub use objects::{Content, ObjectError, Objects};
pub use path::{BadPath, RESERVED, RelPath};
pub(crate) use place::fill;
pub use place::{PlaceError, place, place_at};
pub use presence::Presence;
pub use restore::{Action, Applied, ReplaceError, Replacement, Rescued, Step, verify};
pub use stamp::Stamp;
