//! The temporary names of files on their way into a live folder.
//!
//! A capture skips them and the next replacement removes them, so no other file may have such a name by chance: each
//! contains a hash of the folder's real path.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use skilltune_phases::base::id::Digest;

use crate::disk::atomic::TEMP_PREFIX;

#[derive(Clone, Debug)]
pub(super) struct Temporaries {
    /// A copy of stored bytes, perhaps incomplete, that never was in its final place.
    draft: String,
    /// A file that is ready, or one that was taken out of its place and may be the user's.
    aside: String,
}

impl Temporaries {
    pub(super) fn of(root: &Path) -> Self {
        // A root without a real path cannot be walked either.
        let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        Self::named(&Digest::of(real.as_os_str().as_bytes()).short())
    }

    /// Returns the names for a known short hash of the real path.
    pub(super) fn named(hash: &str) -> Self {
        Self { draft: format!("{TEMP_PREFIX}{hash}-draft-"), aside: format!("{TEMP_PREFIX}{hash}-aside-") }
    }

    pub(super) fn own(&self, name: &OsStr) -> bool {
        self.is_draft(name) || name.as_bytes().starts_with(self.aside.as_bytes())
    }

    pub(super) fn is_draft(&self, name: &OsStr) -> bool {
        name.as_bytes().starts_with(self.draft.as_bytes())
    }

    pub(super) fn draft(&self, number: u64) -> OsString {
        format!("{}{}-{number}", self.draft, std::process::id()).into()
    }

    pub(super) fn aside(&self, number: u64) -> OsString {
        format!("{}{}-{number}", self.aside, std::process::id()).into()
    }
}
