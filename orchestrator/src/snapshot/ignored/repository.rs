//! The git repository around a folder, as far as its ignore rules go. No git runs.

use std::path::{Path, PathBuf};

use crate::disk;

/// A line that names a folder.
const LONGEST_LINE: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Repository {
    root: PathBuf,
    /// The folder of this working tree, and the one that all working trees share.
    git: PathBuf,
    common: PathBuf,
}

impl Repository {
    pub(super) fn around(folder: &Path) -> Option<Self> {
        let root = folder.ancestors().find(|folder| folder.join(super::GIT).symlink_metadata().is_ok())?;
        let dot_git = root.join(super::GIT);
        // In a further working tree and in a submodule it is a file that names the folder.
        let git = line(&dot_git)
            .and_then(|line| Some(root.join(line.strip_prefix("gitdir:")?.trim())))
            .unwrap_or(dot_git);
        let common = line(&git.join("commondir")).map_or_else(|| git.clone(), |line| git.join(line.trim()));
        Some(Self { root: root.to_path_buf(), git, common })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn git(&self) -> &Path {
        &self.git
    }

    /// The rules that are no part of the project.
    pub(super) fn exclude(&self) -> Option<Vec<u8>> {
        let file = disk::open(&self.common.join("info/exclude")).ok()?;
        disk::read_first(&file, super::LARGEST + 1).ok()
    }
}

/// The first line of a small file.
fn line(file: &Path) -> Option<String> {
    let text = String::from_utf8(disk::read(file, LONGEST_LINE).ok()?).ok()?;
    text.lines().next().map(str::to_owned)
}
