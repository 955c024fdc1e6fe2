//! The git repository around a folder, as far as its ignore rules need it. Does not run git.

use std::path::{Path, PathBuf};

use crate::disk;

/// The longest line that names a folder.
const LONGEST_LINE: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Repository {
    root: PathBuf,
    /// The git folder of this working tree, and the one that all working trees share.
    git: PathBuf,
    common: PathBuf,
}

/// Returns the git folder of the working tree around a folder, and the one that all its working trees share.
pub fn git_folders(folder: &Path) -> Vec<PathBuf> {
    let found = Repository::around(folder).map(|one| [one.git, one.common]);
    found.into_iter().flatten().collect()
}

impl Repository {
    pub(super) fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// Returns the repository with this root. As in git, a `.git` folder without the parts of a repository is not one,
    /// and the search continues.
    fn at(root: &Path) -> Option<Self> {
        let dot_git = root.join(super::GIT);
        let is_folder = dot_git.metadata().ok()?.is_dir();
        // In a linked working tree and in a submodule, it is a file that names the folder.
        let git = line(&dot_git)
            .and_then(|line| Some(root.join(line.strip_prefix("gitdir:")?.trim())))
            .unwrap_or(dot_git);
        let common = line(&git.join("commondir")).map_or_else(|| git.clone(), |line| git.join(line.trim()));
        if is_folder
            && !(names_commit(&git.join("HEAD"))
                && ["objects", "refs"].iter().all(|part| common.join(part).is_dir()))
        {
            return None;
        }
        Some(Self { root: root.to_path_buf(), git, common })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn git(&self) -> &Path {
        &self.git
    }

    /// Returns the rules that are not part of the project.
    pub(super) fn exclude(&self) -> Option<Vec<u8>> {
        let file = disk::open(&self.common.join("info/exclude")).ok()?;
        disk::read_first(&file, super::LARGEST + 1).ok()
    }
}

/// Returns true if a `HEAD` names a branch or a commit. In very old repositories it is a symlink.
fn names_commit(head: &Path) -> bool {
    if let Ok(target) = head.read_link() {
        return target.starts_with("refs");
    }
    let is_commit = |line: &str| line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    line(head).is_some_and(|line| match line.strip_prefix("ref:") {
        Some(name) => name.trim_start().starts_with("refs/"),
        None => is_commit(line.trim_end()),
    })
}

/// Returns the first line of a small file.
fn line(file: &Path) -> Option<String> {
    let text = String::from_utf8(disk::read(file, LONGEST_LINE).ok()?).ok()?;
    text.lines().next().map(str::to_owned)
}
