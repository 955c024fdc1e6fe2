//! Refuses edits of a person's folder that add keys, symlinks to the outside, repositories or settings.

use std::collections::BTreeSet;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::skills::edit::{acts_by_itself, is_git};
use skilltune_phases::skills::keys::Keys;

use super::{ReadError, Services};
use crate::snapshot::{Entry, Manifest, Node, ObjectError, Objects, RelPath, changes};

/// Refuses an edit that adds a key to the versions that it was made from: people publish what they edit.
pub(super) fn check_keys(services: &Services, base: &[TreeId], made: &[TreeId]) -> Result<(), ReadError> {
    match added_key(&services.objects, &services.keys, base, made)? {
        None => Ok(()),
        Some(place) => {
            let why =
                format!("{place} has a key that was not there before; write a placeholder in its place");
            Err(Failure::new(FailureKind::Gate, why).into())
        }
    }
}

/// Returns the first place with a key that is nowhere in the base. A key that only moves is not added.
fn added_key(
    objects: &Objects,
    keys: &Keys,
    base: &[TreeId],
    made: &[TreeId],
) -> Result<Option<String>, ObjectError> {
    let manifests =
        |trees: &[TreeId]| trees.iter().map(|&tree| objects.manifest(tree)).collect::<Result<Vec<_>, _>>();
    let (base, made) = (manifests(base)?, manifests(made)?);
    let is_new = |entry: &&Entry| base.iter().all(|base| base.get(&entry.path) != Some(&entry.node));
    let mut found = Vec::new();
    for entry in made.iter().flat_map(Manifest::entries).filter(is_new) {
        found.extend(keys_of(objects, keys, entry)?);
    }
    if found.is_empty() {
        return Ok(None);
    }
    let mut known = BTreeSet::new();
    for entry in base.iter().flat_map(Manifest::entries) {
        known.extend(keys_of(objects, keys, entry)?.into_iter().map(|(_, key)| key));
    }
    Ok(found.into_iter().find(|(_, key)| !known.contains(key)).map(|(place, _)| place))
}

/// Returns the keys in the name and in the content of an entry, each with its place.
fn keys_of(
    objects: &Objects,
    keys: &Keys,
    Entry { path, node }: &Entry,
) -> Result<Vec<(String, String)>, ObjectError> {
    let content = match node {
        Node::File { blob, .. } => objects.read(*blob)?,
        Node::Link { target } => target.clone(),
        Node::Folder { .. } => Vec::new(),
    };
    let (name, content) = (path.to_string(), String::from_utf8_lossy(&content));
    let in_name = keys.find(&name).into_iter().map(|(_, key)| (name.clone(), key.to_owned()));
    let (mut line, mut counted) = (1, 0);
    let in_content = keys.find(&content).into_iter().map(|(at, key)| {
        line += content[counted..at].matches('\n').count();
        counted = at;
        (format!("{name}:{line}"), key.to_owned())
    });
    Ok(in_name.chain(in_content).collect())
}

/// Returns the first symlink that leads out of the folder and did not before. One that led outside before is the
/// person's own; an unchanged symlink may still lead elsewhere now.
pub(super) fn link_outside<'a>(base: &Manifest, edited: &'a Manifest) -> Option<&'a RelPath> {
    let was_so = |link: &Entry| base.get(&link.path) == Some(&link.node) && base.leads_outside(link);
    edited.links_outside().find(|link| !was_so(link)).map(|link| &link.path)
}

/// Returns the first new path of a git repository: git would run what its configuration names, wherever a person opens
/// it.
pub(super) fn new_repository<'a>(base: &Manifest, draft: &'a Manifest) -> Option<&'a RelPath> {
    let mut new = draft.entries().iter().map(|entry| &entry.path).filter(|path| base.get(path).is_none());
    // A folder with any name is a repository if it holds these.
    let beside = |path: &RelPath, name: &str| {
        RelPath::below(path.parent().as_ref(), name.as_ref()).is_ok_and(|path| draft.get(&path).is_some())
    };
    new.find(|path| {
        path.as_path().iter().any(|part| is_git(&part.to_string_lossy()))
            || ["HEAD", "objects", "refs"].iter().any(|name| path.name() == *name)
                && ["HEAD", "objects", "refs"].iter().all(|name| beside(path, name))
    })
}

/// Returns the first changed path in one of these folders, which are repositories of their own: no commit of the project
/// can take the change.
pub(super) fn in_other_repository(base: &Manifest, made: &Manifest, apart: &[String]) -> Option<RelPath> {
    if apart.is_empty() {
        return None;
    }
    let is_within = |path: &RelPath| path.lineage().any(|above| apart.contains(&above.to_string()));
    changes(base, made).into_iter().map(|change| change.path).find(is_within)
}

/// Returns the first new or changed file that an agent, editor or shell reads by itself.
pub(super) fn new_settings<'a>(base: &Manifest, made: &'a Manifest) -> Option<&'a RelPath> {
    let mut new = made.entries().iter().filter(|entry| base.get(&entry.path) != Some(&entry.node));
    let acts = |entry: &&Entry| {
        let path = entry.path.as_path().to_string_lossy();
        match entry.node {
            Node::File { .. } => acts_by_itself(&path),
            // A symlink called `.claude` makes any folder such a folder.
            Node::Link { .. } => acts_by_itself(&path) || acts_by_itself(&format!("{path}/")),
            Node::Folder { .. } => false,
        }
    };
    new.find(acts).map(|entry| &entry.path)
}

/// Refuses a new repository and new settings in work that a person gets: both would run by themselves.
pub(super) fn check_work(base: &Manifest, made: &Manifest) -> Result<(), Failure> {
    let refuse = |why| Err(Failure::new(FailureKind::Gate, why));
    if let Some(path) = new_repository(base, made) {
        return refuse(format!("{path} would make a git repository; leave that to the person"));
    }
    match new_settings(base, made) {
        None => Ok(()),
        Some(path) => {
            refuse(format!("agents, editors or shells read {path} by themselves; do not create or change it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use skilltune_phases::base::id::{BlobId, Digest};

    use super::*;

    fn made(entries: &[(&str, Option<&str>)]) -> Manifest {
        let entry = |(path, target): &(&str, Option<&str>)| {
            let file = Node::File { blob: BlobId(Digest::of(b"x")), size: 1, mode: 0o644 };
            let node = target.map_or(file, |target| Node::Link { target: target.as_bytes().into() });
            Entry { path: RelPath::parse(path.as_bytes()).unwrap(), node }
        };
        let folders = entries.iter().filter_map(|(path, _)| path.rsplit_once('/'));
        let folder = |(path, _): (&str, &str)| Entry {
            path: RelPath::parse(path.as_bytes()).unwrap(),
            node: Node::Folder { mode: 0o755 },
        };
        Manifest::new(folders.map(folder).chain(entries.iter().map(entry)).collect()).unwrap()
    }

    #[test]
    fn a_change_in_another_repository_is_seen_whatever_it_is() {
        let base = made(&[("vendor/lib", None), ("vendored", None)]);
        for (edited, seen) in [
            (made(&[("vendor/lib", None), ("vendored", Some("x"))]), None),
            (made(&[("vendor/lib", Some("x")), ("vendored", None)]), Some("vendor/lib")),
            (made(&[("vendor/new", None), ("vendored", None)]), Some("vendor/lib")),
            (made(&[("vendored", None)]), Some("vendor")),
        ] {
            let found = in_other_repository(&base, &edited, &["vendor".to_owned()]);
            assert_eq!(found.map(|path| path.to_string()).as_deref(), seen);
            assert_eq!(in_other_repository(&base, &edited, &[]), None);
        }
    }

    #[test]
    fn settings_are_seen_in_any_spelling_and_through_a_link_and_those_that_were_there_may_stay() {
        let page = made(&[("index.html", None)]);
        for (path, target) in [
            (".claude/settings.json", None),
            (".CLAUDE/x", None),
            ("a.Code-Workspace", None),
            (".envrc", None),
            (".claude", Some("conf")),
        ] {
            let built = made(&[("index.html", None), (path, target)]);
            let seen = new_settings(&page, &built).map(ToString::to_string);
            assert_eq!(seen.as_deref(), Some(path));
            assert!(new_settings(&built, &built).is_none(), "{path}");
        }
        let built = made(&[("index.html", None), ("hooks/menu.js", None), ("claude", Some("conf"))]);
        assert!(new_settings(&page, &built).is_none());
    }

    #[test]
    fn a_link_that_stays_may_not_come_to_lead_outside_and_what_did_before_is_the_persons_own() {
        let tree = |d, z| made(&[("own", Some("/usr/share")), ("d", d), ("z", Some(z))]);
        let refused = |base, edited| link_outside(&base, &edited).map(ToString::to_string);
        let (outside, inside) = ("d/../../h", "d/../SKILL.md");
        assert_eq!(refused(tree(None, outside), tree(None, outside)), None);
        assert_eq!(refused(tree(None, inside), tree(Some("."), inside)).as_deref(), Some("z"));
        assert_eq!(refused(tree(None, inside), tree(None, "own/doc")).as_deref(), Some("z"));
    }
}
