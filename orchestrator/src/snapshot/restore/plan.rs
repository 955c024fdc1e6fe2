//! Plans the actions in an order in which the folder of each action exists and is writable.
//!
//! First everything that is removed or changes between folder and file, innermost first; then everything that is new or
//! changed, outermost first; then the modes of folders, innermost first, because a read-only folder must be filled
//! before.

use std::collections::BTreeSet;
use std::fmt;

use crate::snapshot::manifest::{Manifest, Node};
use crate::snapshot::path::RelPath;

/// The actions that turn one tree into another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a plan changes nothing until it is applied"]
pub struct Replacement {
    actions: Vec<Action>,
}

/// One step at one path, with the old and the new entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub step: Step,
    pub path: RelPath,
    pub from: Option<Node>,
    pub to: Option<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Remove,
    MakeFolder,
    /// A new file or symlink, or the replacement of one.
    Write,
    SetMode,
}

impl Replacement {
    /// Plans the actions that turn a folder with `from` into one with `to`.
    pub fn plan(from: &Manifest, to: &Manifest) -> Self {
        let differences = differences(from, to);
        let removals = differences.iter().rev().filter(|action| action.vanishes());
        let arrivals = differences.iter().filter_map(Action::arrival);
        let mut actions: Vec<Action> = removals.cloned().chain(arrivals).collect();
        actions.extend(folder_modes(from, to, &actions));
        Self { actions }
    }

    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }
}

impl Action {
    /// Returns true if the old entry must be removed first: always if either entry is a folder.
    fn vanishes(&self) -> bool {
        match (&self.from, &self.to) {
            (Some(_), None) => true,
            (Some(from), Some(to)) => from.is_folder() != to.is_folder(),
            (None, _) => false,
        }
    }

    fn arrival(&self) -> Option<Self> {
        let step = match (&self.from, self.to.as_ref()?) {
            (Some(Node::Folder { .. }), Node::Folder { .. }) => return None,
            (_, Node::Folder { .. }) => Step::MakeFolder,
            (Some(from), to) if from.same_content(to) => Step::SetMode,
            (_, Node::File { .. } | Node::Link { .. }) => Step::Write,
        };
        Some(Self { step, ..self.clone() })
    }
}

/// Returns every path at which the two differ, as a removal for now.
fn differences(from: &Manifest, to: &Manifest) -> Vec<Action> {
    let differing = from.beside(to).filter(|(_, from, to)| from != to);
    let action = |(path, from, to): (&RelPath, Option<&Node>, Option<&Node>)| Action {
        step: Step::Remove,
        path: path.clone(),
        from: from.cloned(),
        to: to.cloned(),
    };
    differing.map(action).collect()
}

/// Returns the folders whose mode differs, that are new, or that must be opened temporarily to change their entries.
fn folder_modes(from: &Manifest, to: &Manifest, actions: &[Action]) -> Vec<Action> {
    let entered: BTreeSet<RelPath> = actions.iter().filter_map(|action| action.path.parent()).collect();
    let mut modes = Vec::new();
    for entry in to.entries().iter().rev() {
        let Node::Folder { mode } = entry.node else { continue };
        let before = from.get(&entry.path);
        let opened = entered.contains(&entry.path) && mode & 0o700 != 0o700;
        if before != Some(&entry.node) || opened {
            let (from, to) = (before.cloned(), Some(entry.node.clone()));
            modes.push(Action { step: Step::SetMode, path: entry.path.clone(), from, to });
        }
    }
    modes
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, path, from, to } = self;
        match step {
            Step::Remove => write!(f, "remove {path}"),
            Step::MakeFolder => write!(f, "create folder {path}"),
            Step::Write if from.is_some() => write!(f, "replace {path}"),
            Step::Write => write!(f, "create {path}"),
            Step::SetMode => {
                let mode = to.as_ref().and_then(Node::mode).unwrap_or_default();
                write!(f, "set the mode of {path} to {mode:04o}")
            }
        }
    }
}

impl fmt::Display for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.actions.iter().try_for_each(|action| writeln!(f, "{action}"))
    }
}
