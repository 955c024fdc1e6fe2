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

/// Trees and drafts for the tests of gates.
#[cfg(test)]
pub(super) mod stand {
    use skilltune_phases::asking::order::Access;

    use super::*;

    pub(in super::super) fn tree(objects: &Objects, files: &[(&str, &str)]) -> TreeId {
        let file = |(path, text): &(&str, &str)| {
            let blob = objects.put(text.as_bytes()).unwrap();
            let node = Node::File { blob, size: text.len() as u64, mode: 0o644 };
            (RelPath::parse(path.as_bytes()).unwrap(), node)
        };
        objects.put_manifest(&Manifest::of_files(files.iter().map(file))).unwrap()
    }

    pub(in super::super) fn draft(at: &str, tree: TreeId) -> Placement {
        Placement {
            at: at.into(),
            tree,
            access: Access::Draft,
            hidden: Vec::new(),
            picked: Vec::new(),
            links_outside: false,
        }
    }

    /// Returns why these gates refuse files in place of others, if they do.
    pub(in super::super) fn refusal(
        from: &[(&str, &str)],
        to: &[(&str, &str)],
        gates: impl FnOnce(&Objects, &EditedCopy) -> Result<TreeId, ReadError>,
    ) -> Option<String> {
        let store = tempfile::tempdir().unwrap();
        let objects = Objects::at(store.path());
        let made = tree(&objects, to);
        let placed = draft("copy", tree(&objects, from));
        let copy = EditedCopy::returned(&objects, &placed, made).unwrap();
        match gates(&objects, &copy) {
            Ok(stored) => {
                assert_eq!(stored, made);
                None
            }
            Err(ReadError::Agent(failure)) => Some(failure.why),
            Err(ReadError::Ours(error)) => panic!("{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::snapshot::{Limits, scan};

    #[test]
    fn what_a_setup_command_did_and_the_agent_left_is_no_part_of_the_edit() {
        let space = tempfile::tempdir().unwrap();
        let at = |name: &str| space.path().join(name);
        let write = |name: &str, text: &str| {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        };
        for name in ["lock", "old/only", "both", "work", "gone"] {
            write(name, "base");
        }
        let look = || scan(space.path(), None, Limits::default()).unwrap();
        let base = look();
        // The setup command.
        write("lock", "setup");
        write("both", "setup");
        write("made/left", "setup");
        write("made/changed", "setup");
        write("empty/left", "setup");
        fs::remove_dir_all(at("old")).unwrap();
        let after = look();
        // The agent.
        write("both", "agent");
        write("work", "agent");
        write("made/changed", "agent");
        fs::remove_file(at("gone")).unwrap();
        let edit = own_changes(&look(), &base, Some(&after), &Manifest::default()).unwrap();
        let names: Vec<String> = edit.entries().iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["both", "lock", "made", "made/changed", "old", "old/only", "work"]);
        let get = |of: &Manifest, name: &str| of.get(&RelPath::parse(name.as_bytes()).unwrap()).cloned();
        assert_eq!(get(&edit, "lock"), get(&base, "lock"));
        assert_eq!(get(&edit, "both"), get(&look(), "both"));
    }

    #[test]
    fn a_brought_file_is_in_no_edit_and_its_content_at_no_other_path() {
        let space = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = space.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let look = || scan(space.path(), None, Limits::default()).unwrap();
        write(".env", "secret");
        write("conf/local/key", "other secret");
        write("conf/known", "known");
        write("conf/empty", "");
        let brought = look();
        fs::remove_dir_all(space.path().join("conf")).unwrap();
        fs::remove_file(space.path().join(".env")).unwrap();
        write("a", "known");
        let base = look();
        write(".env", "changed");
        write("conf/local/key/below", "replaced");
        write("conf/local/new", "new");
        let edit = own_changes(&look(), &base, None, &brought).unwrap();
        let names: Vec<String> = edit.entries().iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, ["a", "conf", "conf/local", "conf/local/new"]);
        for (name, text, refused) in
            [("b", "secret", Some(".env")), ("b", "known", None), ("b", "", None), ("b", "other", None)]
        {
            write(name, text);
            let edit = own_changes(&look(), &base, None, &brought).unwrap();
            let found = disclosed(&base, &edit, &brought);
            let found = found.map(|(path, from)| (path.to_string(), from.to_string()));
            assert_eq!(found, refused.map(|from| (name.to_owned(), from.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_returned_edit_leaves_alone_what_was_not_placed_and_shows_no_brought_file() {
        let store = tempfile::tempdir().unwrap();
        let objects = Objects::at(store.path());
        let tree = |files: &[(&str, &str)]| stand::tree(&objects, files);
        let copy = stand::draft("copy", tree(&[("a", "1"), ("evals/x", "key")]));
        let copy = Placement { hidden: vec!["evals".into()], ..copy };
        let brought = stand::draft("copy", tree(&[(".env", "secret")]));
        let returned = |files: &[(&str, &str)]| {
            let made = tree(files);
            let copy = EditedCopy::returned(&objects, &copy, made)
                .and_then(|copy| copy.without_theirs(&objects, Some(&brought), None));
            let copy = match copy {
                Ok(copy) => copy,
                Err(ReadError::Agent(failure)) => return failure.why,
                Err(ReadError::Ours(error)) => panic!("{error}"),
            };
            let whole = copy.completed(&copy.made.manifest).unwrap();
            if objects.put_manifest(&whole).unwrap() == made { "same".to_owned() } else { "other".to_owned() }
        };
        assert_eq!(returned(&[("a", "2"), ("b", "3"), ("evals/x", "key")]), "same");
        let alone = "a worker returned an edit of files that it must leave alone";
        for evals in [&[][..], &[("evals/x", "other")], &[("evals/x", "key"), ("evals/y", "more")]] {
            assert_eq!(returned(&[&[("a", "2")], evals].concat()), alone);
        }
        assert_eq!(returned(&[("a", "2"), (".env", "x"), ("evals/x", "key")]), "other", "it is left out");
        let disclosed = returned(&[("a", "secret"), ("evals/x", "key")]);
        assert_eq!(disclosed, "a has the content of .env, which must stay out of the result");
    }

    #[test]
    fn a_scan_of_a_copy_is_what_would_be_stored_of_it() {
        let (space, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let copy = space.path().join("copy");
        fs::create_dir_all(copy.join("node_modules")).unwrap();
        fs::create_dir_all(copy.join("logs")).unwrap();
        let base =
            scan_edited(space.path(), "copy", (&Manifest::default(), None), Limits::default()).unwrap();
        fs::write(copy.join(".gitignore"), "*.o\n").unwrap();
        for name in ["a.c", "a.o", "node_modules/x", "logs/b.o"] {
            fs::write(copy.join(name), "text").unwrap();
        }
        let rules = || Some(IgnoreRules::of_copy(&copy, &base).unwrap());
        let scanned = scan_edited(space.path(), "copy", (&base, rules()), Limits::default()).unwrap();
        let objects = Objects::at(store.path());
        let stored = capture_edited(&objects, space.path(), "copy", (&base, rules()), Limits::default());
        assert_eq!(scanned, stored.unwrap().manifest);
        let names: Vec<String> = scanned.entries().iter().map(|entry| entry.path.to_string()).collect();
        assert_eq!(names, [".gitignore", "a.c", "logs"], "a folder of the start stays");
    }
}
