//! An agent's edit of its copy of a person's folder: what it got, what it left, and what is kept without being placed.

use std::path::Path;

use skilltune_phases::asking::order::{Order, Placement};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::refusal::link_outside;
use super::{AgentOutput, EngineError, ReadError, Services, call_dir, unreadable};
use crate::snapshot::{
    Captured, IgnoreRules, Manifest, ManifestError, Node, Objects, RelPath, RulesError, capture_edited,
    scan_edited,
};

pub(super) struct EditedCopy {
    /// The whole folder before the edit.
    whole: Manifest,
    /// The part of the folder that the agent got.
    pub(super) base: Manifest,
    /// The copy as the agent left it.
    pub(super) made: Captured,
    at: String,
    /// The paths that were not placed, and what the folder has there.
    withheld: Vec<RelPath>,
    kept: Manifest,
}

impl EditedCopy {
    pub(super) fn read(services: &Services, copy: &Placement, space: &Path) -> Result<Self, ReadError> {
        Self::read_by(services, copy, space, |_| Ok(None))
    }

    /// Reads the copy of a project: what the project's own rules ignore is no part of the edit, and neither are files that
    /// a person brought, nor what a setup command made and the agent left as it was.
    pub(super) fn of_project(
        services: &Services,
        order: &Order,
        output: &AgentOutput<'_>,
    ) -> Result<Self, ReadError> {
        let copy = order.draft().ok_or(EngineError::Stuck)?;
        let root = output.space.join(&copy.at);
        let rules = |base: &Manifest| IgnoreRules::of_copy(&root, base).map(Some);
        let read = Self::read_by(services, copy, output.space, rules)?;
        read.without_theirs(&services.objects, order.brought.as_ref(), output.after_setup)
    }

    /// Reads an edit that a worker returned, with the parts that were not placed.
    pub(super) fn returned(objects: &Objects, copy: &Placement, tree: TreeId) -> Result<Self, ReadError> {
        let whole = objects.manifest(copy.tree)?;
        let withheld = call_dir::withheld(&whole, copy);
        let (base, kept) = whole.split(&withheld);
        let (manifest, also) = objects.manifest(tree)?.split(&withheld);
        if also != kept {
            return Err(gate("a worker returned an edit of files that it must leave alone").into());
        }
        let made = Captured { tree: objects.put_manifest(&manifest)?, manifest };
        Ok(Self { whole, base, made, at: copy.at.clone(), withheld, kept })
    }

    /// Leaves out the files that a person brought, and what a setup command made. Fails if the content of a brought file is
    /// at another path.
    pub(super) fn without_theirs(
        mut self,
        objects: &Objects,
        brought: Option<&Placement>,
        after_setup: Option<&Manifest>,
    ) -> Result<Self, ReadError> {
        if brought.is_none() && after_setup.is_none() {
            return Ok(self);
        }
        let brought = brought.map(|brought| objects.manifest(brought.tree));
        let brought = brought.transpose()?.unwrap_or_default();
        let manifest = own_changes(&self.made.manifest, &self.base, after_setup, &brought);
        let manifest = manifest.map_err(|why| gate(why.to_string()))?;
        if let Some((path, from)) = disclosed(&self.base, &manifest, &brought) {
            return Err(
                gate(format!("{path} has the content of {from}, which must stay out of the result")).into()
            );
        }
        self.made = Captured { tree: objects.put_manifest(&manifest)?, manifest };
        Ok(self)
    }

    /// Returns a copy of a project as `of_project` would read it now, without storing anything.
    pub(super) fn scan_project(
        services: &Services,
        copy: &Placement,
        space: &Path,
    ) -> Result<Manifest, ReadError> {
        let whole = services.objects.manifest(copy.tree)?;
        let (base, _) = whole.split(&call_dir::withheld(&whole, copy));
        let rules = IgnoreRules::of_copy(&space.join(&copy.at), &base);
        let rules = rules.map_err(|error| gate(error.to_string()))?;
        let limits = services.limits.artifacts.besides(&base);
        let now = scan_edited(space, &copy.at, (&base, Some(rules)), limits);
        now.map_err(|error| unreadable(error, space))
    }

    fn read_by(
        services: &Services,
        copy: &Placement,
        space: &Path,
        rules: impl FnOnce(&Manifest) -> Result<Option<IgnoreRules>, RulesError>,
    ) -> Result<Self, ReadError> {
        let whole = services.objects.manifest(copy.tree)?;
        let withheld = call_dir::withheld(&whole, copy);
        let (base, kept) = whole.split(&withheld);
        let rules = rules(&base).map_err(|error| gate(error.to_string()))?;
        let (objects, limits) = (&services.objects, services.limits.artifacts);
        // A project may be larger than what an agent may make.
        let limits = if rules.is_some() { limits.besides(&base) } else { limits };
        let made = capture_edited(objects, space, &copy.at, (&base, rules), limits);
        let made = made.map_err(|error| unreadable(error, space))?;
        Ok(Self { whole, base, made, at: copy.at.clone(), withheld, kept })
    }

    /// Adds the parts that were not placed to an edit. Fails if the edit has a file at one of their paths.
    pub(super) fn completed(&self, edited: &Manifest) -> Result<Manifest, Failure> {
        if let Some(entry) = edited.split(&self.withheld).1.entries().first() {
            let why = match self.whole.get(&entry.path) {
                Some(Node::Link { .. }) => "is a symlink out of the folder, which stays as it is",
                _ => "belongs to the suite that the skill is tried on",
            };
            return Err(gate(format!("{} {why}; leave it alone", entry.path)));
        }
        let completed = edited.joined(&self.kept, &self.base).map_err(|why| gate(why.to_string()))?;
        match link_outside(&self.whole, &completed) {
            Some(path) => Err(gate(format!("the link {path} leads outside of `{}/`", self.at))),
            None => Ok(completed),
        }
    }
}

/// Returns a copy with the changes of its agent alone.
fn own_changes(
    made: &Manifest,
    base: &Manifest,
    after_setup: Option<&Manifest>,
    brought: &Manifest,
) -> Result<Manifest, ManifestError> {
    let is_file = |path: &RelPath| brought.get(path).is_some_and(|node| !node.is_folder());
    let is_brought = |path: &RelPath, now: Option<&Node>| {
        let is_above = now.is_some_and(Node::is_folder) && brought.get(path).is_some();
        is_above || path.lineage().any(|above| is_file(&above))
    };
    let is_setups =
        |path: &RelPath, now: Option<&Node>| after_setup.is_some_and(|after| after.get(path) == now);
    made.without_theirs(base, |path, now| is_brought(path, now) || is_setups(path, now))
}

/// Returns a new or changed file with the content of a brought file, and that file.
fn disclosed<'a>(
    base: &Manifest,
    made: &'a Manifest,
    brought: &'a Manifest,
) -> Option<(&'a RelPath, &'a RelPath)> {
    let holds = |of: &Manifest, node: &Node| of.entries().iter().any(|entry| entry.node.same_content(node));
    let is_secret = |node: &Node| matches!(node, Node::File { size: 1.., .. }) && !holds(base, node);
    let secrets: Vec<_> = brought.entries().iter().filter(|entry| is_secret(&entry.node)).collect();
    made.entries().iter().find_map(|entry| {
        let from = secrets.iter().find(|secret| secret.node.same_content(&entry.node))?;
        Some((&entry.path, &from.path))
    })
}

pub(super) fn gate(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Gate, why.into())
}

#[cfg(test)]
pub(super) mod tests;
