//! Removes a folder with everything that an agent left in it.
//!
//! It follows no symlink and opens folders that the agent made unreadable. Open files and memory are bounded for any
//! depth of the tree and any number of entries.

use std::ffi::{CStr, CString};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, chmodat, fchmod, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, Result};

use super::entries;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Each level holds a folder open, so folders deeper than this are moved to the top first.
const DEEPEST: usize = 64;
/// The number of names held in memory at a time.
const HELD: usize = 1024;

/// Removes the entry with that name and its contents. A missing entry is not an error.
///
/// A symlink that an agent put in place of a folder is removed; its target is not touched.
pub(super) fn remove(parent: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<()> {
    match remove_folder(parent, name) {
        Err(Errno::NOTDIR | Errno::LOOP) => unlinkat(parent, name, AtFlags::empty()),
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

fn remove_folder(parent: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<()> {
    let open = || openat(parent, name, FOLDER, Mode::empty());
    let root = if_forbidden(open(), || unlock(parent, name).and_then(|()| open()))?;
    let mut removal = Removal { root: root.as_fd(), moved: 0 };
    loop {
        let before = removal.moved;
        removal.empty(root.as_fd(), 1)?;
        if removal.moved == before {
            return unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
    }
}

struct Removal<'a> {
    root: BorrowedFd<'a>,
    /// The number of folders that were moved to the top.
    moved: u64,
}

impl Removal<'_> {
    fn empty(&mut self, folder: BorrowedFd<'_>, depth: usize) -> Result<()> {
        loop {
            let mut names = Vec::new();
            let listed = entries::each(folder, |name, kind| {
                names.push((name.to_owned(), kind));
                if names.len() < HELD { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            for (name, kind) in &names {
                self.remove(folder, name, *kind, depth)?;
            }
            if listed.is_continue() {
                return Ok(());
            }
        }
    }

    fn remove(&mut self, folder: BorrowedFd<'_>, name: &CStr, kind: FileType, depth: usize) -> Result<()> {
        let child = match kind {
            // Some file systems do not report the type.
            FileType::Directory | FileType::Unknown => child(folder, name)?,
            _ => None,
        };
        match child {
            None => within(folder, || unlinkat(folder, name, AtFlags::empty())),
            Some(child) if depth < DEEPEST => {
                self.empty(child.as_fd(), depth + 1)?;
                within(folder, || unlinkat(folder, name, AtFlags::REMOVEDIR))
            }
            Some(_) => self.move_up(folder, name),
        }
    }

    /// Moves a folder to the top, under an unused name.
    fn move_up(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> Result<()> {
        loop {
            self.moved += 1;
            let at_top = CString::new(self.moved.to_string()).expect("digits have no end of text in them");
            match within(folder, || renameat(folder, name, self.root, &at_top)) {
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                renamed => return renamed,
            }
        }
    }
}

/// Opens the folder with that name; `None` if it is not a folder.
fn child(folder: BorrowedFd<'_>, name: &CStr) -> Result<Option<OwnedFd>> {
    let open = || openat(folder, name, FOLDER, Mode::empty());
    match if_forbidden(within(folder, open), || unlock(folder, name).and_then(|()| open())) {
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Retries an action with all permissions on the folder if they forbid it.
fn within<T>(folder: BorrowedFd<'_>, act: impl Fn() -> Result<T>) -> Result<T> {
    if_forbidden(act(), || fchmod(folder, Mode::RWXU).and_then(|()| act()))
}

fn if_forbidden<T>(done: Result<T>, otherwise: impl FnOnce() -> Result<T>) -> Result<T> {
    if matches!(done, Err(Errno::ACCESS)) { otherwise() } else { done }
}

/// Restores the permissions on a folder that we cannot open.
fn unlock(parent: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<()> {
    let stat = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => chmodat(&parent, name, Mode::RWXU, AtFlags::empty()),
        _ => Err(Errno::NOTDIR),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use rustix::fs::CWD;

    use super::*;

    fn remove_path(path: &Path) -> Result<()> {
        remove(CWD, path)
    }

    fn scene() -> (tempfile::TempDir, std::path::PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("call");
        fs::create_dir(&folder).unwrap();
        (place, folder)
    }

    #[test]
    fn a_tree_deeper_than_anybody_may_open_files_is_removed() {
        let (_place, folder) = scene();
        // A name that is needed at the top, taken once by a file and once by a folder.
        fs::write(folder.join("1"), "").unwrap();
        fs::create_dir_all(folder.join("2/full")).unwrap();
        let mut here = openat(CWD, &folder, FOLDER, Mode::empty()).unwrap();
        for _ in 0..30_000 {
            rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
            here = openat(&here, "d", FOLDER, Mode::empty()).unwrap();
        }
        remove_path(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_with_more_names_than_are_held_is_removed() {
        let (_place, folder) = scene();
        for nth in 0..=HELD * 2 {
            fs::write(folder.join(nth.to_string()), "").unwrap();
        }
        remove_path(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_is_removed_and_what_it_leads_to_is_not() {
        let (place, folder) = scene();
        fs::create_dir(place.path().join("other")).unwrap();
        fs::write(place.path().join("other/precious"), "").unwrap();
        symlink(place.path().join("other"), folder.join("link")).unwrap();
        symlink("nowhere", folder.join("dangling")).unwrap();
        remove_path(&folder).unwrap();
        assert!(!folder.exists() && place.path().join("other/precious").exists());
        symlink(place.path().join("other"), &folder).unwrap();
        remove_path(&folder).unwrap();
        assert!(folder.symlink_metadata().is_err(), "a link in the place of the folder goes");
        assert!(place.path().join("other/precious").exists());
    }

    /// Root may do anything, so this test shows nothing as root; CI also runs it as another user.
    #[test]
    fn what_was_locked_up_is_opened() {
        for mode in [0o000, 0o400, 0o500, 0o300] {
            let (_place, folder) = scene();
            fs::create_dir_all(folder.join("locked/within")).unwrap();
            fs::write(folder.join("locked/within/file"), "").unwrap();
            for at in ["locked/within", "locked", ""] {
                fs::set_permissions(folder.join(at), Permissions::from_mode(mode)).unwrap();
            }
            remove_path(&folder).unwrap();
            assert!(!folder.exists(), "{mode:o}");
        }
    }

    #[test]
    fn what_is_not_there_is_removed_already() {
        let (_place, folder) = scene();
        remove_path(&folder.join("nothing")).unwrap();
    }
}
