//! Files that a crash left under temporary names, and their removal without losing a byte.
//!
//! A draft is a copy of stored bytes, perhaps incomplete, that never was in its final place. A file that was set aside
//! may be the user's: it is stored before it is removed.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use super::plan::{Replacement, Step};
use super::site::Site;
use super::{ReplaceError, Rescued};
use crate::disk::Folder;
use crate::snapshot::look::{CaptureError, Reading, look};
use crate::snapshot::manifest::Node;
use crate::snapshot::path::RelPath;

/// Cleans the folders that the plan changes; a plan and its reverse change the same ones.
pub(super) fn sweep(site: &Site<'_>, plan: &Replacement) -> Result<Vec<Rescued>, ReplaceError> {
    let mut rescued = Vec::new();
    for path in folders(plan) {
        let Some(folder) = site.folder_at(path.as_ref())? else { continue };
        for name in folder.names(usize::MAX)?.iter().filter(|name| site.temporaries.own(name)) {
            rescued.extend(clear(site, plan, &folder, path.as_ref(), name)?);
        }
    }
    Ok(rescued)
}

fn folders(plan: &Replacement) -> BTreeSet<Option<RelPath>> {
    let actions = plan.actions().iter();
    let removed = actions.clone().filter(|action| action.step == Step::Remove).map(|action| &action.path);
    actions.map(|action| action.path.parent()).chain(removed.cloned().map(Some)).collect()
}

fn clear(
    site: &Site<'_>,
    plan: &Replacement,
    folder: &Folder,
    at: Option<&RelPath>,
    name: &OsStr,
) -> Result<Option<Rescued>, ReplaceError> {
    if site.temporaries.is_draft(name) {
        folder.remove_file(name)?;
        return Ok(None);
    }
    let node = match look(folder, name, Reading::storing(site.objects)) {
        Ok(Some(node)) => node,
        Err(CaptureError::Object(error)) => return Err(error.into()),
        Err(CaptureError::Disk(error)) => return Err(error.into()),
        // It is gone, or not ours: leave it.
        Ok(None) | Err(_) => return Ok(None),
    };
    let blob = match &node {
        Node::File { blob, .. } => *blob,
        Node::Link { target } => site.objects.put(target)?,
        // A folder that the user put in place of a file: they find it under this name.
        Node::Folder { .. } => return Ok(None),
    };
    folder.remove_file(name)?;
    let known = plan
        .actions()
        .iter()
        .any(|action| [&action.from, &action.to].into_iter().flatten().any(|ours| ours.same_content(&node)));
    let path = RelPath::below(at, name).expect("a listed name is a single component");
    Ok((!known).then_some(Rescued { path, blob }))
}
