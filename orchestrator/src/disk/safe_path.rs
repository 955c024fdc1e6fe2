//! A path below a folder that the user chose, whose content may come from somebody else.
//!
//! A repository can contain a `.skilltune` with symlinks, FIFOs and huge files. Everything that is read, written or
//! deleted there is named by a [`SafePath`]: it is reached from the open root without following a symlink, only regular
//! files of bounded size are read, and new folders are private to their owner.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};

use super::atomic::{self, Durability};
use super::error::{DiskError, OnDisk as _};
use super::file::{read_first, require_regular};
use super::folder::{Folder, OWNERS, SHARED, plainly};

#[derive(Clone, Debug)]
pub struct SafePath {
    root: Arc<Root>,
    /// Plain names only.
    below: PathBuf,
    full: PathBuf,
}

#[derive(Debug)]
struct Root {
    path: PathBuf,
    folder: OnceLock<Folder>,
}

impl SafePath {
    /// Returns the path of `name` in a folder that the user chose. Opens nothing yet.
    pub fn below(root: &Path, name: impl AsRef<Path>) -> Self {
        let root = Root { path: root.to_path_buf(), folder: OnceLock::new() };
        let full = root.path.clone();
        Self { root: Arc::new(root), below: PathBuf::new(), full }.join(name)
    }

    /// Appends a name or a path of names. A name that could lead elsewhere is a bug and panics. An empty path is the
    /// entry itself.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> Self {
        let name = name.as_ref();
        let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
        assert!(is_plain, "{} is not a plain name", name.display());
        if name.as_os_str().is_empty() {
            return self.clone();
        }
        Self { root: Arc::clone(&self.root), below: self.below.join(name), full: self.full.join(name) }
    }

    /// Returns the full path, to display or to pass to a child process.
    pub fn path(&self) -> &Path {
        &self.full
    }

    /// Returns the entry's metadata without following a symlink; `None` if it is missing or not reached through plain
    /// folders.
    pub(crate) fn stat(&self) -> Result<Option<Stat>, DiskError> {
        match self.parent()? {
            Some(parent) => parent.stat(self.name()),
            None => Ok(None),
        }
    }

    pub fn exists(&self) -> bool {
        self.stat().is_ok_and(|stat| stat.is_some())
    }

    pub fn is_file(&self) -> bool {
        self.root().and_then(|root| root.file_below(&self.below)).is_ok_and(|file| file.is_some())
    }

    pub fn is_folder(&self) -> bool {
        self.folder().is_ok_and(|folder| folder.is_some())
    }

    /// Reads at most the first `most` bytes of the file as text. A missing file is empty.
    pub(crate) fn text(&self, most: u64) -> Result<String, DiskError> {
        let file = self.open()?;
        let bytes = file
            .map_or_else(|| Ok(Vec::new()), |file| read_first(&file, most))
            .on_disk("read", &self.full)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Opens the folder, if it is a folder and not behind a symlink.
    pub(crate) fn folder(&self) -> Result<Option<Folder>, DiskError> {
        match self.root() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            root => root?.folder_below(&self.below),
        }
    }

    /// Returns the names in the folder, sorted; empty if there is no folder.
    pub fn names(&self) -> Result<Vec<OsString>, DiskError> {
        self.folder()?.map_or_else(|| Ok(Vec::new()), |folder| folder.names(usize::MAX))
    }

    /// Opens the regular file for reading; `None` if it is missing.
    pub fn open(&self) -> Result<Option<File>, DiskError> {
        match self.root() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            root => root?.file_below(&self.below),
        }
    }

    /// Reads the file. Fails if it has more than `most` bytes, before allocating memory.
    pub fn read(&self, most: u64) -> Result<Option<Vec<u8>>, DiskError> {
        match self.root() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            root => root?.read_below(&self.below, most),
        }
    }

    /// Returns the target of a symlink; `None` if there is none.
    pub(crate) fn link_target(&self) -> Result<Option<Vec<u8>>, DiskError> {
        let Some(parent) = self.parent()? else { return Ok(None) };
        let is_link = |stat: Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
        let is_link = parent.stat(self.name())?.is_some_and(is_link);
        if is_link { parent.read_link(self.name()).map(Some) } else { Ok(None) }
    }

    /// Returns true if this is a regular file with exactly these bytes.
    pub fn holds(&self, bytes: &[u8]) -> bool {
        self.read(bytes.len() as u64).is_ok_and(|read| read.is_some_and(|read| read == bytes))
    }

    /// Opens an existing regular file for appending.
    pub fn open_append(&self) -> Result<File, DiskError> {
        self.open_for(OFlags::WRONLY | OFlags::APPEND)
    }

    /// Opens a file for locking and creates it if it is missing.
    pub(super) fn open_lock(&self) -> Result<File, DiskError> {
        self.open_for(OFlags::RDWR | OFlags::CREATE)
    }

    fn open_for(&self, flags: OFlags) -> Result<File, DiskError> {
        let owner = if flags.contains(OFlags::CREATE) { OWNERS } else { Mode::empty() };
        let opened = self.root()?.open_below(&self.below, flags | OFlags::NONBLOCK, owner);
        let file = File::from(opened.map_err(plainly).on_disk("open", &self.full)?);
        require_regular(&file).on_disk("open", &self.full)?;
        Ok(file)
    }

    /// Replaces the file with `bytes` atomically. Replaces a symlink instead of following it.
    #[track_caller]
    pub fn replace(&self, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
        atomic::replace_in(&self.above()?, self.name(), bytes, durability)
    }

    /// Overwrites the start of an existing regular file in place, which needs no free space on the disk.
    pub fn overwrite(&self, bytes: &[u8]) -> Result<(), DiskError> {
        let mut file = self.open_for(OFlags::WRONLY)?;
        file.write_all(bytes).and_then(|()| file.sync_data()).on_disk("write", &self.full)
    }

    /// Creates the file with `bytes` atomically; fails if the name is taken.
    pub fn create(&self, bytes: &[u8]) -> Result<(), DiskError> {
        atomic::create_in(&self.above()?, self.name(), bytes, SHARED)
    }

    /// Creates the file with `bytes`, readable by its owner alone.
    pub(crate) fn create_private(&self, bytes: &[u8]) -> Result<(), DiskError> {
        atomic::create_in(&self.above()?, self.name(), bytes, OWNERS)
    }

    /// Creates the folder and its parents, for their owner alone.
    pub fn make(&self) -> Result<(), DiskError> {
        self.make_folder().map(|_| ())
    }

    /// Creates the folder and opens it.
    pub(crate) fn make_folder(&self) -> Result<Folder, DiskError> {
        if let Some(folder) = self.folder()? {
            return Ok(folder);
        }
        self.above_made()?.make_child(self.name())
    }

    /// Creates an empty folder for its owner alone and opens it. Removes what was there before.
    pub(crate) fn fresh(&self) -> Result<Folder, DiskError> {
        self.above_made()?.fresh_child(self.name())
    }

    fn above_made(&self) -> Result<Folder, DiskError> {
        match self.up() {
            Some(up) => up.make_folder(),
            None => self.root_made()?.again(),
        }
    }

    /// Creates a hard link to the file.
    pub(crate) fn link_to(&self, other: &Self) -> Result<(), DiskError> {
        let (from, to) = (self.above()?, other.above()?);
        rustix::fs::linkat(from.handle(), self.name(), to.handle(), other.name(), AtFlags::empty())
            .on_disk("link", &other.full)
    }

    /// Renames the entry within its folder.
    pub(crate) fn rename(&self, to: &str) -> Result<(), DiskError> {
        let folder = self.above()?;
        folder.rename_to(self.name(), &folder, OsStr::new(to))
    }

    /// Removes the entry with its contents. A symlink is removed, not its target.
    pub fn remove(&self) -> Result<(), DiskError> {
        self.parent()?.map_or(Ok(()), |parent| parent.remove_tree(self.name()))
    }

    /// Removes files that a killed program has not finished in this folder.
    pub fn remove_unfinished(&self) -> Result<(), DiskError> {
        let Some(folder) = self.folder()? else { return Ok(()) };
        let is_ours = |name: &OsString| name.as_encoded_bytes().starts_with(atomic::TEMP_PREFIX.as_bytes());
        folder
            .names(usize::MAX)?
            .iter()
            .filter(|name| is_ours(name))
            .try_for_each(|name| folder.remove_file(name))
    }

    /// Makes everything written to its file system durable.
    pub fn sync_everything(&self) -> Result<(), DiskError> {
        atomic::sync_everything(self.root()?)
    }

    fn name(&self) -> &OsStr {
        self.below.file_name().expect("a path of names has a last one")
    }

    fn up(&self) -> Option<Self> {
        let below = self.below.parent().filter(|below| !below.as_os_str().is_empty())?.to_path_buf();
        let full = self.full.parent()?.to_path_buf();
        Some(Self { root: Arc::clone(&self.root), below, full })
    }

    /// Opens the parent folder; `None` if it is missing or behind a symlink.
    fn parent(&self) -> Result<Option<Folder>, DiskError> {
        match self.up() {
            Some(up) => up.folder(),
            None => match self.root() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                root => root?.again().map(Some),
            },
        }
    }

    /// Opens the parent folder; fails if it is missing.
    fn above(&self) -> Result<Folder, DiskError> {
        let missing = || io::Error::other("its folder is missing, or is a symlink");
        self.parent()?.ok_or_else(missing).on_disk("write", &self.full)
    }

    /// Opens the root. Creates it if it is missing, as the user's cache and state folders are when first needed.
    fn root_made(&self) -> Result<&Folder, DiskError> {
        match self.root() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let path = &self.root.path;
                DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(path)
                    .on_disk("create the folder", path)?;
                self.root()
            }
            root => root,
        }
    }

    fn root(&self) -> Result<&Folder, DiskError> {
        let Root { path, folder } = &*self.root;
        if let Some(folder) = folder.get() {
            return Ok(folder);
        }
        let opened = Folder::open(path)?;
        Ok(folder.get_or_init(|| opened))
    }
}

impl PartialEq for SafePath {
    fn eq(&self, other: &Self) -> bool {
        self.full == other.full
    }
}

impl Eq for SafePath {}

/// A path that the user chose: only its last name is checked for a symlink.
impl From<&Path> for SafePath {
    fn from(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default();
        Self::below(path.parent().unwrap_or(path), name)
    }
}

impl From<PathBuf> for SafePath {
    fn from(path: PathBuf) -> Self {
        path.as_path().into()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// A state folder from a hostile repository, next to a folder of the user.
    fn scene() -> (tempfile::TempDir, SafePath) {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("project/state/sub")).unwrap();
        fs::create_dir(place.path().join("own")).unwrap();
        fs::write(place.path().join("own/file"), "precious").unwrap();
        let state = SafePath::below(&place.path().join("project"), "state");
        (place, state)
    }

    #[test]
    fn nothing_is_read_written_or_removed_through_a_link_on_the_way() {
        let (place, state) = scene();
        symlink("../../own", state.path().join("way")).unwrap();
        let through = state.join("way").join("file");
        assert!(through.read(100).is_err() && through.open().is_err());
        assert!(!through.exists() && !through.is_file());
        assert!(through.replace(b"new", Durability::Order).is_err());
        assert!(through.create(b"new").is_err());
        assert!(state.join("way").join("made").make().is_err());
        assert_eq!(state.join("way").names().unwrap(), Vec::<OsString>::new());
        through.remove().unwrap();
        state.join("way").remove().unwrap();
        assert!(!state.path().join("way").is_symlink(), "the link itself goes");
        assert_eq!(fs::read(place.path().join("own/file")).unwrap(), b"precious");
        assert_eq!(fs::read_dir(place.path().join("own")).unwrap().count(), 1);
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_read_and_is_replaced() {
        let (place, state) = scene();
        let file = state.join("file");
        symlink(place.path().join("own/file"), file.path()).unwrap();
        assert!(file.read(100).is_err() && file.open_append().is_err() && file.open_lock().is_err());
        file.replace(b"new", Durability::Order).unwrap();
        assert_eq!(file.read(100).unwrap().unwrap(), b"new");
        assert_eq!(fs::read(place.path().join("own/file")).unwrap(), b"precious");
        symlink(place.path().join("own/made"), state.path().join("lock")).unwrap();
        assert!(state.join("lock").open_lock().is_err(), "a dangling link makes no file elsewhere");
        assert!(!place.path().join("own/made").exists());
    }

    #[test]
    fn what_is_no_regular_file_or_is_too_large_is_refused_unread() {
        let (_place, state) = scene();
        let owner = rustix::fs::Mode::RWXU;
        let fifo = state.join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, fifo.path(), rustix::fs::FileType::Fifo, owner, 0).unwrap();
        assert!(fifo.read(100).is_err() && fifo.open().is_err(), "a FIFO has no end");
        assert!(state.join("sub").read(100).is_err());
        fs::File::create(state.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(state.join("huge").read(100).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(state.join("missing").read(100).unwrap(), None);
        assert_eq!(SafePath::below(Path::new("/nowhere"), "at all").read(100).unwrap(), None);
    }

    #[test]
    fn a_folder_is_made_for_its_owner_alone() {
        let (_place, state) = scene();
        state.join("a").join("b").make().unwrap();
        for made in ["a", "a/b"] {
            let mode = state.path().join(made).metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o700, "{made}");
        }
        fs::write(state.path().join("taken"), "").unwrap();
        assert!(state.join("taken").make().is_err());
    }

    #[test]
    #[should_panic(expected = "is not a plain name")]
    fn a_name_that_leads_out_is_a_mistake_of_ours() {
        let (_place, state) = scene();
        let _ = state.join("../../own");
    }
}
