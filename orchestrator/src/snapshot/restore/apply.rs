//! Performs a plan: each action checks the current entry just before it changes it, and does what is still due.

use std::path::Path;

use super::plan::{Action, Replacement, Step};
use super::site::{Site, inspect, remove_folder};
use super::{Applied, ReplaceError, leftover};
use crate::disk::{Folder, set_mode};
use crate::snapshot::look::Reading;
use crate::snapshot::manifest::Node;
use crate::snapshot::objects::{ObjectError, Objects};

/// The permissions that an owner needs to change the entries of a folder.
const OWNER: u32 = 0o700;

impl Replacement {
    /// Makes `root` match the plan. After an error or a crash, apply it again or apply the reverse plan.
    pub fn apply(&self, objects: &Objects, root: &Path) -> Result<Applied, ReplaceError> {
        self.check_objects(objects)?;
        let site = Site::open(objects, root, self)?;
        let rescued = leftover::sweep(&site, self)?;
        self.actions().iter().try_for_each(|action| perform(&site, action))?;
        site.sync(self)?;
        Ok(Applied { rescued })
    }

    /// Fails if an object is missing, so that this does not stop us half-way.
    fn check_objects(&self, objects: &Objects) -> Result<(), ObjectError> {
        for action in self.actions() {
            match (action.step, &action.to) {
                (Step::Write, Some(Node::File { blob, .. })) if !objects.contains(*blob) => {
                    return Err(ObjectError::Missing(blob.0));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Action {
    /// Returns true if nothing is left to do for this action.
    fn is_settled(&self, present: Option<&Node>) -> bool {
        match self.step {
            Step::Remove => present.is_none() || self.has_arrived(present),
            Step::MakeFolder => present.is_some_and(Node::is_folder),
            Step::Write | Step::SetMode => present == self.to.as_ref(),
        }
    }

    /// Returns true if the current entry may be changed because it is the expected one.
    fn may_touch(&self, present: Option<&Node>) -> bool {
        match self.step {
            Step::Remove => match self.from {
                Some(Node::Folder { .. }) => present.is_some_and(Node::is_folder),
                _ => present == self.from.as_ref(),
            },
            Step::MakeFolder => present.is_none(),
            Step::Write => present == self.displaces(),
            Step::SetMode => self.may_set_mode(present),
        }
    }

    /// Returns the entry that a written file replaces. A folder at that path is removed by then.
    pub(super) fn displaces(&self) -> Option<&Node> {
        self.from.as_ref().filter(|node| !node.is_folder())
    }

    /// Returns true if a path that changes its kind has its new entry already.
    fn has_arrived(&self, present: Option<&Node>) -> bool {
        match (&self.to, present) {
            (Some(Node::Folder { .. }), Some(present)) => present.is_folder(),
            (Some(to), Some(present)) => to == present,
            (None, _) | (_, None) => false,
        }
    }

    /// A folder may have its old mode, or its old or new mode opened for the owner; a new folder may have any.
    fn may_set_mode(&self, present: Option<&Node>) -> bool {
        match (&self.from, &self.to, present) {
            (Some(Node::Folder { mode: from }), Some(Node::Folder { mode: to }), Some(present)) => {
                let ours = [*from, from | OWNER, to | OWNER];
                present.is_folder() && present.mode().is_some_and(|mode| ours.contains(&mode))
            }
            (_, Some(Node::Folder { .. }), _) => present.is_some_and(Node::is_folder),
            (from, _, _) => present == from.as_ref(),
        }
    }

    pub(super) fn edited(&self) -> ReplaceError {
        ReplaceError::Edited { path: self.path.clone() }
    }
}

fn perform(site: &Site<'_>, action: &Action) -> Result<(), ReplaceError> {
    let Some(folder) = site.folder_of(action)? else { return Ok(()) };
    let present = inspect(&folder, action.path.name(), action, Reading::HASHING)?;
    if action.is_settled(present.as_ref()) {
        return Ok(());
    }
    if !action.may_touch(present.as_ref()) {
        return Err(action.edited());
    }
    open_for_owner(&folder, action)?;
    match (action.step, &action.to) {
        (Step::Remove, _) if present.is_some_and(|node| node.is_folder()) => remove_folder(&folder, action),
        (Step::Remove, _) => site.remove(&folder, action),
        (Step::MakeFolder, _) => Ok(folder.create_folder(action.path.name())?),
        (Step::Write, Some(to)) => site.write(&folder, action, to),
        (Step::SetMode, Some(to)) => change_mode(&folder, action, to),
        (Step::Write | Step::SetMode, None) => Ok(()),
    }
}

/// Opens a read-only folder for its owner; the end of the plan sets its final mode.
fn open_for_owner(folder: &Folder, action: &Action) -> Result<(), ReplaceError> {
    let mode = folder.mode()?;
    let is_root = action.path.parent().is_none();
    if action.step != Step::SetMode && !is_root && mode & OWNER != OWNER {
        folder.set_mode(mode | OWNER)?;
    }
    Ok(())
}

fn change_mode(folder: &Folder, action: &Action, to: &Node) -> Result<(), ReplaceError> {
    let name = action.path.name();
    match to {
        Node::Folder { mode } => {
            let child = folder.child(name)?.ok_or_else(|| action.edited())?;
            child.set_mode(*mode)?;
            child.sync()?;
        }
        Node::File { mode, .. } => {
            let file = folder.open_file(name)?;
            set_mode(&file, *mode, &folder.path_of(name))?;
            folder.sync_file(&file, name)?;
        }
        Node::Link { .. } => {}
    }
    Ok(())
}
