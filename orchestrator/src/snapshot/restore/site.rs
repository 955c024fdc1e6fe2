//! The live folder while it is changed: removes and writes entries without losing bytes.
//!
//! An entry that is taken out of its place first gets a temporary name and is inspected there, where no editor finds
//! it. It is removed only if it is the expected entry; otherwise it is moved back.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::ReplaceError;
use super::plan::{Action, Replacement, Step};
use crate::disk::{Exchange, Folder, OnDisk, set_mode};
use crate::snapshot::look::{CaptureError, Reading, look};
use crate::snapshot::manifest::Node;
use crate::snapshot::objects::{Content, Objects};
use crate::snapshot::path::RelPath;
use crate::snapshot::place::{Descent, descend};
use crate::snapshot::temporary::Temporaries;

pub(super) struct Site<'a> {
    pub(super) objects: &'a Objects,
    root: Folder,
    /// Paths at which a folder may be missing because the plan removes it.
    vanishing: BTreeSet<&'a RelPath>,
    pub(super) temporaries: Temporaries,
    names: Cell<u64>,
}

impl<'a> Site<'a> {
    pub(super) fn open(
        objects: &'a Objects,
        root: &Path,
        plan: &'a Replacement,
    ) -> Result<Self, ReplaceError> {
        let removals = plan.actions().iter().filter(|action| action.step == Step::Remove);
        let vanishing = removals.map(|action| &action.path).collect();
        let temporaries = Temporaries::of(root);
        Ok(Self { objects, root: Folder::open(root)?, vanishing, temporaries, names: Cell::new(0) })
    }

    /// Returns the parent folder of the action's path; `None` if it was removed with the path, as planned.
    pub(super) fn folder_of(&self, action: &Action) -> Result<Option<Folder>, ReplaceError> {
        match descend(&self.root, action.path.parent().as_ref())? {
            Descent::Arrived(folder) => Ok(Some(folder)),
            Descent::Blocked(at) if action.step == Step::Remove && self.vanishing.contains(&at) => Ok(None),
            Descent::Blocked(path) => Err(ReplaceError::Edited { path }),
        }
    }

    /// Returns the folder at `path`, if it exists.
    pub(super) fn folder_at(&self, path: Option<&RelPath>) -> Result<Option<Folder>, ReplaceError> {
        match descend(&self.root, path)? {
            Descent::Arrived(folder) => Ok(Some(folder)),
            Descent::Blocked(_) => Ok(None),
        }
    }

    pub(super) fn remove(&self, folder: &Folder, action: &Action) -> Result<(), ReplaceError> {
        let (name, aside) = (action.path.name(), self.temporaries.aside(self.number()));
        if !folder.rename_new(name, &aside)? {
            return Err(action.edited());
        }
        let displaced = self.is_displaced(folder, &aside, action);
        if let Ok(true) = displaced {
            return Ok(folder.remove_file(&aside)?);
        }
        // If the name is taken again, both stay: the next apply rescues the entry that was set aside.
        folder.rename_new(&aside, name)?;
        displaced.and_then(|_| Err(action.edited()))
    }

    pub(super) fn write(&self, folder: &Folder, action: &Action, to: &Node) -> Result<(), ReplaceError> {
        let ready = self.prepare(folder, to)?;
        let written = self.put_in_place(folder, &ready, action);
        if written.is_err() {
            // The first error matters more; the next apply clears what is left.
            let _ = self.discard(folder, &ready, action);
        }
        written
    }

    fn put_in_place(&self, folder: &Folder, ready: &OsStr, action: &Action) -> Result<(), ReplaceError> {
        let name = action.path.name();
        if action.displaces().is_none() {
            let placed = folder.rename_new(ready, name)?;
            return if placed { Ok(()) } else { Err(action.edited()) };
        }
        match folder.exchange(ready, name)? {
            Exchange::Done => self.keep_or_exchange_back(folder, ready, action),
            Exchange::Unsupported if self.is_displaced(folder, name, action)? => {
                Ok(folder.rename(ready, name)?)
            }
            Exchange::Gone | Exchange::Unsupported => Err(action.edited()),
        }
    }

    fn keep_or_exchange_back(
        &self,
        folder: &Folder,
        ready: &OsStr,
        action: &Action,
    ) -> Result<(), ReplaceError> {
        let displaced = self.is_displaced(folder, ready, action);
        if let Ok(true) = displaced {
            return Ok(folder.remove_file(ready)?);
        }
        folder.exchange(ready, action.path.name())?;
        displaced.and_then(|_| Err(action.edited()))
    }

    /// Makes all names in the folders of the plan durable.
    pub(super) fn sync(&self, plan: &Replacement) -> Result<(), ReplaceError> {
        let folders: BTreeSet<_> = plan.actions().iter().map(|action| action.path.parent()).collect();
        for path in &folders {
            if let Some(folder) = self.folder_at(path.as_ref())? {
                folder.sync()?;
            }
        }
        Ok(())
    }

    /// Writes the new entry under a temporary name, with its bytes on the disk.
    fn prepare(&self, folder: &Folder, to: &Node) -> Result<OsString, ReplaceError> {
        let (draft, ready) = (self.temporaries.draft(self.number()), self.temporaries.aside(self.number()));
        let filled = self.fill(folder, &draft, to).and_then(|()| Ok(folder.rename(&draft, &ready)?));
        if filled.is_err() {
            // The first error matters more; the next apply clears a leftover draft.
            let _ = folder.unlink(&draft);
        }
        filled.map(|()| ready)
    }

    fn fill(&self, folder: &Folder, draft: &OsStr, to: &Node) -> Result<(), ReplaceError> {
        match to {
            Node::File { blob, size, mode } => {
                let path = folder.path_of(draft);
                let mut file = folder.create_file(draft)?;
                self.objects.copy_to(Content { blob: *blob, size: *size }, &mut file, &path)?;
                set_mode(&file, *mode, &path)?;
                Ok(file.sync_all().on_disk("sync", &path)?)
            }
            Node::Link { target } => Ok(folder.create_link(draft, target)?),
            Node::Folder { .. } => Ok(folder.create_folder(draft)?),
        }
    }

    /// Removes our new entry again, unless the user has edited it.
    fn discard(&self, folder: &Folder, ready: &OsStr, action: &Action) -> Result<(), ReplaceError> {
        let present = inspect(folder, ready, action, Reading::storing(self.objects))?;
        if present.as_ref() == action.to.as_ref() {
            folder.remove_file(ready)?;
        }
        Ok(())
    }

    /// Returns true if `name` is the entry that the action may remove. Stores it if it is not stored yet.
    fn is_displaced(&self, folder: &Folder, name: &OsStr, action: &Action) -> Result<bool, ReplaceError> {
        let present = inspect(folder, name, action, Reading::storing(self.objects));
        match present {
            Err(ReplaceError::Edited { .. }) => Ok(false),
            present => Ok(present?.as_ref() == action.from.as_ref()),
        }
    }

    /// Returns a new number for each temporary name. Leftovers with the same number were cleared before.
    fn number(&self) -> u64 {
        self.names.replace(self.names.get() + 1)
    }
}

/// Removes a folder unless it contains entries that are not in the plan, usually ignored files: then it stays. If a
/// file has to replace it, writing that file fails because of the folder.
pub(super) fn remove_folder(folder: &Folder, action: &Action) -> Result<(), ReplaceError> {
    match folder.remove_folder(action.path.name()) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(action.edited()),
        removed => Ok(removed?),
    }
}

/// Returns the entry with a name in the folder of the action.
pub(super) fn inspect(
    folder: &Folder,
    name: &OsStr,
    action: &Action,
    reading: Reading<'_>,
) -> Result<Option<Node>, ReplaceError> {
    match look(folder, name, reading) {
        Ok(present) => Ok(present),
        Err(CaptureError::Object(error)) => Err(error.into()),
        Err(CaptureError::Disk(error)) => Err(error.into()),
        // Any other entry is not ours.
        Err(
            CaptureError::Special(_)
            | CaptureError::Changing(_)
            | CaptureError::TooLarge(_)
            | CaptureError::TooDeep(_)
            | CaptureError::Replaced(_)
            | CaptureError::Rules(_),
        ) => Err(action.edited()),
    }
}
