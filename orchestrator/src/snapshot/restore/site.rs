//! The live folder while it is changed: how an entry is removed or written so that no bytes are lost on the way.
//!
//! What is taken out of its place gets a temporary name first and is looked at there, where nobody edits it any more.
//! Only when it is what we believed it to be is it removed; else it goes back.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::ReplaceError;
use super::plan::{Action, Replacement, Step};
use crate::disk::{Exchange, Folder, OnDisk, set_mode};
use crate::snapshot::descent::{Descent, descend};
use crate::snapshot::look::{CaptureError, Reading, look};
use crate::snapshot::manifest::Node;
use crate::snapshot::objects::Objects;
use crate::snapshot::path::RelPath;
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

    /// The folder of the action's path; `None` when it is gone and the path with it, as planned.
    pub(super) fn folder_of(&self, action: &Action) -> Result<Option<Folder>, ReplaceError> {
        match descend(&self.root, action.path.parent().as_ref())? {
            Descent::Arrived(folder) => Ok(Some(folder)),
            Descent::Blocked(at) if action.step == Step::Remove && self.vanishing.contains(&at) => Ok(None),
            Descent::Blocked(path) => Err(ReplaceError::Edited { path }),
        }
    }

    /// The folder at `path`, when there is one.
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
        // Where the name is taken again, both stay: the next apply rescues what was set aside.
        folder.rename_new(&aside, name)?;
        displaced.and_then(|_| Err(action.edited()))
    }

    pub(super) fn write(&self, folder: &Folder, action: &Action, to: &Node) -> Result<(), ReplaceError> {
        let ready = self.prepare(folder, to)?;
        let written = self.put_in_place(folder, &ready, action);
        if written.is_err() {
            // The error that matters is the first; what stays is cleared by the next apply.
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
            // The error that matters is the first; a draft that stays is cleared by the next apply.
            let _ = folder.unlink(&draft);
        }
        filled.map(|()| ready)
    }

    fn fill(&self, folder: &Folder, draft: &OsStr, to: &Node) -> Result<(), ReplaceError> {
        match to {
            Node::File { blob, mode, .. } => {
                let path = folder.path_of(draft);
                let mut file = folder.create_file(draft)?;
                self.objects.copy_to(*blob, &mut file, &path)?;
                set_mode(&file, *mode, &path)?;
                Ok(file.sync_all().on_disk("sync", &path)?)
            }
            Node::Link { target } => Ok(folder.create_link(draft, target)?),
            Node::Folder { .. } => Ok(folder.create_folder(draft)?),
        }
    }

    /// Takes our new entry away again, unless a person has edited even that.
    fn discard(&self, folder: &Folder, ready: &OsStr, action: &Action) -> Result<(), ReplaceError> {
        let present = inspect(folder, ready, action, Reading::storing(self.objects))?;
        if present.as_ref() == action.to.as_ref() {
            folder.remove_file(ready)?;
        }
        Ok(())
    }

    /// Whether `name` holds what the action may remove; if it is stored nowhere, it is now.
    fn is_displaced(&self, folder: &Folder, name: &OsStr, action: &Action) -> Result<bool, ReplaceError> {
        let present = inspect(folder, name, action, Reading::storing(self.objects));
        match present {
            Err(ReplaceError::Edited { .. }) => Ok(false),
            present => Ok(present?.as_ref() == action.from.as_ref()),
        }
    }

    /// Another one for each name of ours; a leftover with the same one was cleared before.
    fn number(&self) -> u64 {
        self.names.replace(self.names.get() + 1)
    }
}

/// Removes a folder unless something is in it that nobody planned for, ignored files above all: then it stays. Where a
/// file has to take its place, writing that file finds the folder in the way.
pub(super) fn remove_folder(folder: &Folder, action: &Action) -> Result<(), ReplaceError> {
    match folder.remove_folder(action.path.name()) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(action.edited()),
        removed => Ok(removed?),
    }
}

/// What stands at a name in the folder of the action.
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
        // Whatever else is there, it is not ours.
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
