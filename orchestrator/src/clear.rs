//! Removes a folder of ours with all that an agent has left in it.
//!
//! No link is followed, what an agent has locked up is opened, and however deep a tree is, or full a folder, it takes no
//! more open files and memory than any other.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, chmodat, fchmod, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, Result};

use crate::disk::{DiskError, OnDisk};
use crate::listing;
use crate::snapshot::Folder;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Each level holds a folder open: what is deeper is brought to the top first.
const DEEPEST: usize = 64;
/// How many names are held at a time.
const HELD: usize = 1024;

/// Removes a path of ours with everything in it; a missing one is removed already.
///
/// A symlink that an agent put in place of a folder is removed; its target is not touched.
pub fn clear(path: &Path) -> std::result::Result<(), DiskError> {
    clear_at(CWD, path).on_disk("remove", path)
}

/// The same for an entry of an open folder.
pub(crate) fn clear_in(folder: &Folder, name: &OsStr) -> std::result::Result<(), DiskError> {
    clear_at(folder.handle().as_fd(), name).on_disk("remove", folder.path_of(name))
}

fn clear_at(
    parent: BorrowedFd<'_>,
    name: impl rustix::path::Arg + Copy,
) -> std::result::Result<(), io::Error> {
    match remove(parent, name) {
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(unlinkat(parent, name, AtFlags::empty())?),
        Err(Errno::NOENT) => Ok(()),
        removed => Ok(removed?),
    }
}

fn remove(parent: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<()> {
    let open = || openat(parent, name, FOLDER, Mode::empty());
    let root = if_forbidden(open(), || unlock(parent, name).and_then(|()| open()))?;
    let mut clearing = Clearing { root: root.as_fd(), brought: 0 };
    loop {
        let before = clearing.brought;
        clearing.empty(root.as_fd(), 1)?;
        if clearing.brought == before {
            return unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
    }
}

struct Clearing<'a> {
    root: BorrowedFd<'a>,
    /// How many folders were brought to the top.
    brought: u64,
}

impl Clearing<'_> {
    fn empty(&mut self, folder: BorrowedFd<'_>, depth: usize) -> Result<()> {
        loop {
            let mut names = Vec::new();
            let listed = listing::each(folder, |name, kind| {
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
            // Not every file system tells.
            FileType::Directory | FileType::Unknown => child(folder, name)?,
            _ => None,
        };
        match child {
            None => within(folder, || unlinkat(folder, name, AtFlags::empty())),
            Some(child) if depth < DEEPEST => {
                self.empty(child.as_fd(), depth + 1)?;
                within(folder, || unlinkat(folder, name, AtFlags::REMOVEDIR))
            }
            Some(_) => self.bring_up(folder, name),
        }
    }

    /// Gives a folder a place at the top, under a name that nothing has.
    fn bring_up(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> Result<()> {
        loop {
            self.brought += 1;
            let at_top = CString::new(self.brought.to_string()).expect("digits have no end of text in them");
            match within(folder, || renameat(folder, name, self.root, &at_top)) {
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                renamed => return renamed,
            }
        }
    }
}

/// The folder of that name; none, if it is something else.
fn child(folder: BorrowedFd<'_>, name: &CStr) -> Result<Option<OwnedFd>> {
    let open = || openat(folder, name, FOLDER, Mode::empty());
    match if_forbidden(within(folder, open), || unlock(folder, name).and_then(|()| open())) {
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Does what the rights on a folder may forbid: then once more, with all of them.
fn within<T>(folder: BorrowedFd<'_>, act: impl Fn() -> Result<T>) -> Result<T> {
    if_forbidden(act(), || fchmod(folder, Mode::RWXU).and_then(|()| act()))
}

fn if_forbidden<T>(done: Result<T>, otherwise: impl FnOnce() -> Result<T>) -> Result<T> {
    if matches!(done, Err(Errno::ACCESS)) { otherwise() } else { done }
}

/// Takes back the rights on a folder that we may not open.
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

    use super::*;

    fn scene() -> (tempfile::TempDir, std::path::PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("desk");
        fs::create_dir(&folder).unwrap();
        (place, folder)
    }

    #[test]
    fn a_tree_deeper_than_anybody_may_open_files_is_removed() {
        let (_place, folder) = scene();
        // A name that is wanted at the top, taken once by a file and once by a folder.
        fs::write(folder.join("1"), "").unwrap();
        fs::create_dir_all(folder.join("2/full")).unwrap();
        let mut here = openat(CWD, &folder, FOLDER, Mode::empty()).unwrap();
        for _ in 0..30_000 {
            rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
            here = openat(&here, "d", FOLDER, Mode::empty()).unwrap();
        }
        clear(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_with_more_names_than_are_held_is_removed() {
        let (_place, folder) = scene();
        for nth in 0..=HELD * 2 {
            fs::write(folder.join(nth.to_string()), "").unwrap();
        }
        clear(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_is_removed_and_what_it_leads_to_is_not() {
        let (place, folder) = scene();
        fs::create_dir(place.path().join("other")).unwrap();
        fs::write(place.path().join("other/precious"), "").unwrap();
        symlink(place.path().join("other"), folder.join("link")).unwrap();
        symlink("nowhere", folder.join("dangling")).unwrap();
        clear(&folder).unwrap();
        assert!(!folder.exists() && place.path().join("other/precious").exists());
        symlink(place.path().join("other"), &folder).unwrap();
        clear(&folder).unwrap();
        assert!(folder.symlink_metadata().is_err(), "a link in the place of the folder goes");
        assert!(place.path().join("other/precious").exists());
    }

    /// Root may do anything, and shows nothing here; CI's other half does.
    #[test]
    fn what_was_locked_up_is_opened() {
        for mode in [0o000, 0o400, 0o500, 0o300] {
            let (_place, folder) = scene();
            fs::create_dir_all(folder.join("locked/within")).unwrap();
            fs::write(folder.join("locked/within/file"), "").unwrap();
            for at in ["locked/within", "locked", ""] {
                fs::set_permissions(folder.join(at), Permissions::from_mode(mode)).unwrap();
            }
            clear(&folder).unwrap();
            assert!(!folder.exists(), "{mode:o}");
        }
    }

    #[test]
    fn what_is_not_there_is_removed_already() {
        let (_place, folder) = scene();
        clear(&folder.join("nothing")).unwrap();
    }
}
