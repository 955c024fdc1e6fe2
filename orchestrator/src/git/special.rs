//! Finds files that git would wait for forever: a FIFO or a device in a repository from elsewhere.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::disk::{self, Folder};

/// The search stops at these limits; git then waits until its timeout.
const DEEPEST: usize = 16;
const MOST: usize = 1_000_000;
/// The longest line that names a folder.
const LONGEST_LINE: u64 = 64 << 10;

/// Returns the first FIFO or device in the repository of this folder, or in one that contains it.
pub(super) fn find(folder: &Path) -> Option<PathBuf> {
    let mut left = MOST;
    folder.ancestors().find_map(|above| {
        let git = above.join(".git");
        let meta = fs::metadata(&git).ok()?;
        if is_special(meta.file_type()) {
            return Some(git);
        }
        let git = if meta.is_dir() { git } else { above.join(line(&git)?.strip_prefix("gitdir:")?.trim()) };
        let common = line(&git.join("commondir")).map(|line| git.join(line.trim()));
        [Some(git), common].into_iter().flatten().find_map(|git| within(&git, 0, &mut left))
    })
}

/// The type of an entry, as far as a directory listing reports it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Listed {
    File,
    Folder,
    Other,
}

fn within(folder: &Path, depth: usize, left: &mut usize) -> Option<PathBuf> {
    let listed = |name: &std::ffi::OsStr, kind| match kind {
        FileType::RegularFile => (name.to_owned(), Listed::File),
        FileType::Directory => (name.to_owned(), Listed::Folder),
        _ => (name.to_owned(), Listed::Other),
    };
    let entries: Vec<(OsString, Listed)> = Folder::open(folder).ok()?.sorted(*left, listed).ok()?;
    *left -= entries.len().min(*left);
    entries.into_iter().find_map(|(name, listed)| {
        let path = folder.join(name);
        let is_folder = match listed {
            Listed::File => return None,
            Listed::Folder => true,
            // Git follows symlinks.
            Listed::Other => {
                let kind = fs::metadata(&path).ok()?.file_type();
                if is_special(kind) {
                    return Some(path);
                }
                kind.is_dir()
            }
        };
        (is_folder && depth < DEEPEST).then(|| within(&path, depth + 1, left)).flatten()
    })
}

/// Returns true for FIFOs and devices, but not for sockets: those cannot be opened, and git's own daemon has one.
fn is_special(kind: fs::FileType) -> bool {
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

/// Reads the first line of a small file.
fn line(file: &Path) -> Option<String> {
    let text = String::from_utf8(disk::read(file, LONGEST_LINE).ok()?).ok()?;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mknodat};

    use super::*;

    #[test]
    fn a_fifo_is_found_wherever_git_may_open_it() {
        let place = tempfile::tempdir().unwrap();
        let (root, at) = (place.path(), |name: &str| place.path().join(name));
        fs::create_dir_all(at(".git/refs/heads")).unwrap();
        fs::create_dir_all(at("elsewhere/objects")).unwrap();
        fs::create_dir_all(at("sub/deep")).unwrap();
        fs::write(at(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        symlink("../elsewhere", at(".git/info")).unwrap();
        std::os::unix::net::UnixListener::bind(at(".git/daemon.ipc")).unwrap();
        assert_eq!(find(root), None);
        for name in [".git/config", ".git/refs/heads/main", "elsewhere/objects/x"] {
            mknodat(CWD, at(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
            assert!(find(root).is_some(), "{name}");
            assert!(find(&at("sub/deep")).is_some(), "{name}");
            fs::remove_file(at(name)).unwrap();
        }
        fs::write(at("sub/.git"), "gitdir: ../elsewhere\n").unwrap();
        mknodat(CWD, at("elsewhere/index"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert_eq!(find(&at("sub")), Some(at("sub/../elsewhere/index")));
    }
}
