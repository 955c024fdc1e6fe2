//! A folder that is held open, so that no symlink can redirect an operation in it.
//!
//! Paths are walked one component at a time, refusing symlinks. Every change names an entry of a folder that is already
//! open. All changes to a target and their crash points are in this module.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::entries;
use super::error::{DiskError, OnDisk as _};
use super::file::{read_all, require_regular};
use super::remove_tree;
use crate::crash;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Non-blocking: opening a FIFO that replaced a file must not wait for a writer.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
/// A new file can be read back.
const CREATE: OFlags = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);
/// The mode without the file type.
const MODE_BITS: u32 = 0o7777;

/// The mode of a new file that everyone may use, subject to the umask.
pub(crate) const SHARED: Mode = Mode::from_raw_mode(0o666);
/// The mode of a new file that only its owner may use.
pub(crate) const OWNERS: Mode = Mode::from_raw_mode(0o600);

#[derive(Debug)]
pub(crate) struct Folder {
    handle: File,
    path: PathBuf,
}

/// The file system's answer to an exchange of two names.
#[derive(PartialEq, Eq)]
pub(crate) enum Exchange {
    Done,
    Gone,
    Unsupported,
}

impl Folder {
    /// Opens the root. Its own path may contain symlinks, because the user chose it.
    pub(crate) fn open(path: &Path) -> Result<Self, DiskError> {
        let handle = rustix::fs::open(path, FOLDER, Mode::empty()).on_disk("open", path)?;
        Ok(Self { handle: handle.into(), path: path.to_path_buf() })
    }

    /// Opens the root; `None` if it is a symlink or missing.
    pub(crate) fn open_itself(path: &Path) -> Result<Option<Self>, DiskError> {
        Self::unless_led(CWD, path.as_os_str(), path.to_path_buf())
    }

    /// Opens the folder with that name; `None` if it is missing, a symlink or not a folder.
    pub(crate) fn child(&self, name: &OsStr) -> Result<Option<Self>, DiskError> {
        Self::unless_led(&self.handle, name, self.path_of(name))
    }

    fn unless_led(at: impl AsFd, name: &OsStr, path: PathBuf) -> Result<Option<Self>, DiskError> {
        match rustix::fs::openat(at, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(handle) => Ok(Some(Self { handle: handle.into(), path })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => Err(errno).on_disk("open", path),
        }
    }

    pub(crate) fn again(&self) -> Result<Self, DiskError> {
        let again =
            rustix::fs::openat(&self.handle, c".", FOLDER, Mode::empty()).on_disk("open", &self.path)?;
        Ok(Self { handle: again.into(), path: self.path.clone() })
    }

    pub(crate) fn handle(&self) -> &File {
        &self.handle
    }

    /// Opens the folder at a relative path of plain names; `None` if it is missing, not a folder, or behind a symlink.
    pub(crate) fn folder_below(&self, path: &Path) -> Result<Option<Self>, DiskError> {
        let full = self.path.join(path);
        match self.open_below(path, FOLDER, Mode::empty()) {
            Ok(handle) => Ok(Some(Self { handle: handle.into(), path: full })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => Err(errno).on_disk("open", full),
        }
    }

    /// Opens the regular file at a relative path of plain names for reading; `None` if it is missing.
    pub(crate) fn file_below(&self, path: &Path) -> Result<Option<File>, DiskError> {
        let full = self.path.join(path);
        let file = match self.open_below(path, READ, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => File::from(opened.map_err(plainly).on_disk("open", &full)?),
        };
        require_regular(&file).on_disk("read", &full)?;
        Ok(Some(file))
    }

    /// Reads that file. Fails if it has more than `most` bytes, before allocating memory.
    pub(crate) fn read_below(&self, path: &Path, most: u64) -> Result<Option<Vec<u8>>, DiskError> {
        let Some(file) = self.file_below(path)? else { return Ok(None) };
        read_all(&file, most).on_disk("read", self.path.join(path)).map(Some)
    }

    /// Opens a relative path without following a symlink, not even for the last name. Refuses all but plain names.
    pub(crate) fn open_below(&self, path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Errno::INVAL);
        }
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&self.handle, path, flags, mode, within) {
                // A kernel before 5.6, or a seccomp filter that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return opened,
            }
        }
        let mut here: Option<OwnedFd> = None;
        let mut names = path.iter().peekable();
        while let Some(name) = names.next() {
            let (flags, mode) = match names.peek() {
                Some(_) => (FOLDER | OFlags::NOFOLLOW, Mode::empty()),
                None => (flags, mode),
            };
            let at = here.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
            here = Some(rustix::fs::openat(at, name, flags, mode)?);
        }
        here.ok_or(Errno::NOENT)
    }

    pub(crate) fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names in the folder, sorted, at most `at_most` of them.
    pub(crate) fn names(&self, at_most: usize) -> Result<Vec<OsString>, DiskError> {
        self.sorted(at_most, |name, _| name.to_owned())
    }

    /// Returns the entries mapped by a function of name and file type, if known. The results must sort like the names.
    pub(crate) fn sorted<T: Ord>(
        &self,
        at_most: usize,
        of: impl Fn(&OsStr, FileType) -> T,
    ) -> Result<Vec<T>, DiskError> {
        let mut names = Vec::new();
        let listed = entries::each(&self.handle, |name, kind| {
            names.push(of(OsStr::from_bytes(name.to_bytes()), kind));
            if names.len() < at_most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let _ = listed.on_disk("list", &self.path)?;
        names.sort();
        Ok(names)
    }

    /// Returns the metadata of the entry with that name, if it exists.
    pub(crate) fn stat(&self, name: &OsStr) -> Result<Option<Stat>, DiskError> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno).on_disk("access", self.path_of(name)),
        }
    }

    pub(crate) fn mode(&self) -> Result<u32, DiskError> {
        let metadata = self.handle.metadata().on_disk("access", &self.path)?;
        Ok(metadata.mode() & MODE_BITS)
    }

    pub(crate) fn read_link(&self, name: &OsStr) -> Result<Vec<u8>, DiskError> {
        let target = rustix::fs::readlinkat(&self.handle, name, Vec::new());
        Ok(target.on_disk("read the symlink", self.path_of(name))?.into_bytes())
    }

    pub(crate) fn open_file(&self, name: &OsStr) -> Result<File, DiskError> {
        let opened = rustix::fs::openat(&self.handle, name, READ, Mode::empty());
        Ok(opened.on_disk("open", self.path_of(name))?.into())
    }

    /// Creates a new file; `mode` is subject to the umask. No crash point: nothing can be lost yet.
    pub(crate) fn create_new(&self, name: &OsStr, mode: Mode) -> Result<File, DiskError> {
        let created = rustix::fs::openat(&self.handle, name, CREATE, mode);
        Ok(created.on_disk("create a file in", &self.path)?.into())
    }

    /// Removes a temporary file.
    pub(crate) fn unlink(&self, name: &OsStr) -> rustix::io::Result<()> {
        rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())
    }

    /// Renames into a folder, replacing any existing entry, without a crash point.
    pub(crate) fn rename_to(&self, from: &OsStr, folder: &Self, to: &OsStr) -> Result<(), DiskError> {
        let renamed = rustix::fs::renameat(&self.handle, from, &folder.handle, to);
        renamed.on_disk("write", folder.path_of(to))
    }

    /// Creates an empty file that only its owner may use for now.
    pub(crate) fn create_file(&self, name: &OsStr) -> Result<File, DiskError> {
        self.change("create", name, || rustix::fs::openat(&self.handle, name, CREATE, OWNERS)).map(File::from)
    }

    /// Opens the folder with that name. Creates it for its owner alone if it is missing.
    pub(crate) fn make_child(&self, name: &OsStr) -> Result<Self, DiskError> {
        match rustix::fs::mkdirat(&self.handle, name, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => made.on_disk("create", self.path_of(name))?,
        }
        self.made(name)
    }

    /// Creates a new folder for its owner alone. Removes an existing entry of that name with its contents.
    pub(crate) fn fresh_child(&self, name: &OsStr) -> Result<Self, DiskError> {
        let make = || rustix::fs::mkdirat(&self.handle, name, Mode::RWXU);
        let first = make();
        let done = if first == Err(Errno::EXIST) {
            self.remove_tree(name)?;
            make()
        } else {
            first
        };
        done.on_disk("create", self.path_of(name))?;
        self.made(name)
    }

    /// Opens the folder at a relative path of plain names and creates missing folders. An empty path is this folder.
    pub(crate) fn make_below(&self, path: &Path) -> Result<Self, DiskError> {
        path.iter().try_fold(self.again()?, |here, name| here.make_child(name))
    }

    fn made(&self, name: &OsStr) -> Result<Self, DiskError> {
        let blocked = || io::Error::other("another file is in its place");
        self.child(name)?.ok_or_else(blocked).on_disk("create the folder", self.path_of(name))
    }

    /// Writes a new file that is not read before it is complete.
    pub(crate) fn write_new(&self, name: &OsStr, bytes: &[u8]) -> Result<(), DiskError> {
        self.create_new(name, OWNERS)?.write_all(bytes).on_disk("write", self.path_of(name))
    }

    pub(crate) fn create_folder(&self, name: &OsStr) -> Result<(), DiskError> {
        self.change("create", name, || rustix::fs::mkdirat(&self.handle, name, Mode::RWXU))
    }

    /// Creates a folder or file of a project, with permissions from the user's umask.
    pub(crate) fn make_folder(&self, name: &OsStr) -> Result<(), DiskError> {
        let all = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        self.change("create", name, || rustix::fs::mkdirat(&self.handle, name, all))
    }

    pub(crate) fn make_file(&self, name: &OsStr) -> Result<File, DiskError> {
        self.change("create", name, || rustix::fs::openat(&self.handle, name, CREATE, SHARED)).map(File::from)
    }

    pub(crate) fn create_link(&self, name: &OsStr, target: &[u8]) -> Result<(), DiskError> {
        self.change("create", name, || rustix::fs::symlinkat(target, &self.handle, name))
    }

    pub(crate) fn remove_file(&self, name: &OsStr) -> Result<(), DiskError> {
        self.change("remove", name, || rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()))
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> Result<(), DiskError> {
        self.change("remove", name, || rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR))
    }

    /// Removes the entry with that name and its contents. A missing entry is not an error.
    pub(crate) fn remove_tree(&self, name: &OsStr) -> Result<(), DiskError> {
        remove_tree::remove(self.handle.as_fd(), name).on_disk("remove", self.path_of(name))
    }

    /// Renames an entry, replacing any existing entry with the new name.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<(), DiskError> {
        self.change("replace", to, || rustix::fs::renameat(&self.handle, from, &self.handle, to))
    }

    /// Renames an entry into another folder, replacing any existing entry.
    pub(crate) fn move_into(&self, from: &OsStr, folder: &Self, to: &OsStr) -> Result<(), DiskError> {
        crash::around(["before a move", "after a move"], || self.rename_to(from, folder, to))
    }

    /// Renames an entry unless the new name is taken. Returns false in that case.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> Result<bool, DiskError> {
        let here = &self.handle;
        self.change("rename", from, || {
            match rustix::fs::renameat_with(here, from, here, to, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => Ok(false),
                Err(errno) if lacks_flags(errno) => self.rename_if_free(from, to),
                renamed => renamed.map(|()| true),
            }
        })
    }

    /// Exchanges the entries of two names atomically.
    pub(crate) fn exchange(&self, ours: &OsStr, theirs: &OsStr) -> Result<Exchange, DiskError> {
        let here = &self.handle;
        self.change("replace", theirs, || {
            match rustix::fs::renameat_with(here, ours, here, theirs, RenameFlags::EXCHANGE) {
                Ok(()) => Ok(Exchange::Done),
                Err(Errno::NOENT) => Ok(Exchange::Gone),
                Err(errno) if lacks_flags(errno) => Ok(Exchange::Unsupported),
                Err(errno) => Err(errno),
            }
        })
    }

    pub(crate) fn set_mode(&self, mode: u32) -> Result<(), DiskError> {
        set_mode(&self.handle, mode, &self.path)
    }

    pub(crate) fn sync(&self) -> Result<(), DiskError> {
        self.handle.sync_all().on_disk("sync", &self.path)
    }

    pub(crate) fn sync_file(&self, file: &File, name: &OsStr) -> Result<(), DiskError> {
        file.sync_all().on_disk("sync", self.path_of(name))
    }

    /// Renames on file systems without rename flags: there is a race between the check and the rename.
    fn rename_if_free(&self, from: &OsStr, to: &OsStr) -> rustix::io::Result<bool> {
        match rustix::fs::statat(&self.handle, to, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => rustix::fs::renameat(&self.handle, from, &self.handle, to).map(|()| true),
            found => found.map(|_| false),
        }
    }

    #[track_caller]
    fn change<T>(
        &self,
        op: &'static str,
        name: &OsStr,
        act: impl FnOnce() -> rustix::io::Result<T>,
    ) -> Result<T, DiskError> {
        crash::around(["before a change", "after a change"], || act().on_disk(op, self.path.join(name)))
    }
}

/// Returns the names in a folder that the user named.
pub fn names(path: &Path) -> Result<Vec<OsString>, DiskError> {
    Folder::open(path)?.names(usize::MAX)
}

/// Replaces the system's error for a symlink that was not followed, which sounds like a loop.
pub(crate) fn plainly(errno: Errno) -> io::Error {
    match errno {
        Errno::LOOP => io::Error::other("it is a symlink, or inside one"),
        Errno::NXIO => io::Error::other("it is not a regular file"),
        errno => errno.into(),
    }
}

/// Sets all twelve mode bits of an open file or folder, ignoring the umask.
pub(crate) fn set_mode(handle: &File, mode: u32, path: &Path) -> Result<(), DiskError> {
    let change = || handle.set_permissions(Permissions::from_mode(mode)).on_disk("set the mode of", path);
    crash::around(["before a mode is set", "after a mode is set"], change)
}

fn lacks_flags(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_has_plain_names_only() {
        let scene = tempfile::tempdir().unwrap();
        std::fs::write(scene.path().join("page"), "x").unwrap();
        let folder = Folder::open(scene.path()).unwrap();
        assert!(folder.file_below("page".as_ref()).unwrap().is_some());
        for path in ["./page", "../page", "a/../page", "/page"] {
            assert!(folder.file_below(path.as_ref()).is_err(), "{path}");
        }
    }
}
