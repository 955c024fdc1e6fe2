//! The names that files have on their way into a live folder.
//!
//! A capture skips them and the next replacement clears them away, so nobody else's file may have one by chance: each holds a
//! hash of the folder's real path.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use skilltune_phases::id::Digest;

use crate::disk::atomic::TEMP_PREFIX;

#[derive(Clone, Debug)]
pub(super) struct Temporaries {
    /// A copy of stored bytes, perhaps cut short, that never had a place in the folder.
    draft: String,
    /// What is ready, or was taken out of its place and may be a person's.
    aside: String,
}

impl Temporaries {
    pub(super) fn of(root: &Path) -> Self {
        // A root that has no real path cannot be walked either.
        let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        Self::named(&Digest::of(real.as_os_str().as_bytes()).short())
    }

    /// The same, where the short hash of the real path is known.
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
