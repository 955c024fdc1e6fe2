//! A folder that skilltune writes into: whether it is writable, how full it is, and what its file system supports.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, RenameFlags, access, renameat_with, statvfs};
use serde::Serialize;
use skilltune_orchestrator::disk::atomic::TEMP_PREFIX;
use skilltune_orchestrator::store::Home;

use crate::nights::check::{About, Check, State};
use crate::terminal::environment::Environment;
use crate::text::figures;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    pub what: &'static str,
    pub path: String,
    pub exists: bool,
    pub writable: bool,
    pub bytes: u64,
    /// Whether there are more entries than were counted.
    pub more: bool,
    pub free_bytes: Option<u64>,
    /// Whether two files can be exchanged in one step; unknown if the folder is not writable.
    pub exchange: Option<bool>,
    /// Whether copies can share their bytes, which only saves space and time.
    pub reflink: Option<bool>,
}

/// Looks at the folders of a run: its project, our folder in it, our state, and the workspaces.
pub fn look(project: &Path, env: &Environment) -> Vec<Place> {
    let store = Home::of(project);
    let own = [("store", store.root()), ("state", &env.state), ("cache", &env.cache)];
    own.map(|(what, path)| Place::look(what, path)).into()
}

impl Place {
    pub fn look(what: &'static str, path: &Path) -> Self {
        let Space { ground, writable, free_bytes } = Space::of(path);
        let (exchange, reflink) = writable.then(|| probe(&ground).ok()).flatten().unzip();
        let (bytes, more) = weigh(path);
        Self {
            what,
            path: path.display().to_string(),
            exists: path.is_dir(),
            writable,
            bytes,
            more,
            free_bytes,
            exchange,
            reflink,
        }
    }

    pub fn check(&self) -> Check {
        let Self { what, path, .. } = self;
        if !self.writable {
            return Check::new(About::Folders, State::Broken, format!("{what}: {path} is not writable"));
        }
        let bytes = figures::bytes(self.bytes);
        let used = match (self.exists, self.more) {
            (true, false) => bytes,
            (true, true) => format!("more than {bytes}"),
            (false, _) => "not created yet".to_owned(),
        };
        let free = self.free_bytes.map_or(String::new(), |free| format!(", {} free", figures::bytes(free)));
        let exchange = if self.exchange == Some(false) { ", no atomic exchange of files" } else { "" };
        let reflink = if self.reflink == Some(true) { ", copies share disk space" } else { "" };
        Check::fine(About::Folders, format!("{what}: {path}: {used}{free}{exchange}{reflink}"))
    }
}

/// The write access to a folder, and the free space of its disk.
pub struct Space {
    ground: PathBuf,
    pub writable: bool,
    pub free_bytes: Option<u64>,
}

impl Space {
    pub fn of(path: &Path) -> Self {
        let ground = ground(path);
        let writable = ground.is_dir() && access(&ground, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        let stat = statvfs(&ground).ok();
        let free_bytes = stat.map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize));
        Self { ground, writable, free_bytes }
    }
}

/// Returns the folder itself, or its nearest existing ancestor, where it would be created.
fn ground(path: &Path) -> PathBuf {
    let there = path.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    there.unwrap_or(Path::new("/")).to_owned()
}

/// Tests the file system in a temporary folder: whether it exchanges files in one step, and whether copies share bytes.
#[expect(clippy::disallowed_methods, reason = "the folder was made for it")]
fn probe(ground: &Path) -> io::Result<(bool, bool)> {
    let room = tempfile::Builder::new().prefix(TEMP_PREFIX).tempdir_in(ground)?;
    let [one, other, copy] = ["one", "other", "copy"].map(|name| room.path().join(name));
    std::fs::write(&one, "1")?;
    std::fs::write(&other, "2")?;
    let exchange = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).is_ok();
    Ok((exchange, clones(&File::open(&one)?, &File::create(&copy)?)))
}

#[cfg(target_os = "linux")]
fn clones(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clones(_: &File, _: &File) -> bool {
    false
}

/// The most entries that are counted, so that `doctor` stays fast.
const WEIGHED: usize = 100_000;

/// Returns the total size of the files below a folder, without following symlinks, and whether there are more.
fn weigh(path: &Path) -> (u64, bool) {
    #[expect(clippy::disallowed_methods, reason = "it follows no link, and opens nothing")]
    let walk = walkdir::WalkDir::new(path).follow_root_links(false);
    let mut entries = walk.into_iter().filter_map(Result::ok);
    let counted = entries.by_ref().take(WEIGHED).filter_map(|entry| entry.metadata().ok());
    let bytes = counted.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum();
    (bytes, entries.next().is_some())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_weighed_without_what_its_links_lead_to() {
        let root = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (root.path().join("folder"), root.path().join("elsewhere"));
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("large"), [0; 9000]).unwrap();
        fs::write(folder.join("a"), [0; 100]).unwrap();
        fs::write(folder.join("sub/b"), [0; 23]).unwrap();
        symlink(&elsewhere, folder.join("link")).unwrap();
        assert_eq!(weigh(&folder), (123, false));
        assert_eq!(weigh(&root.path().join("missing")), (0, false));
    }

    #[test]
    fn a_folder_that_is_not_there_is_judged_by_where_it_would_be_made() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::look("state", &root.path().join("a/b"));
        assert!(!place.exists && place.writable && place.free_bytes.is_some() && place.exchange.is_some());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0, "nothing is left behind");
        fs::write(root.path().join("file"), "").unwrap();
        let place = Place::look("state", &root.path().join("file/below"));
        assert!(!place.writable && place.exchange.is_none());
    }
}
