//! The versions that a run tries: looked up, checked, and ready to be stored.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::git::Files;
use skilltune_orchestrator::skill_files::load_captured;
use skilltune_orchestrator::snapshot::{Manifest, Node, Objects};
use skilltune_phases::loops::tune::{Aim, Sides};
use skilltune_phases::skills::target::{Member, Plugin};
use skilltune_phases::suites::scenario::Scenario;

use crate::inputs::find::Skill;
use crate::inputs::plugin;
use crate::loops::tune::member::{self, Content};
use crate::runs::store_check;
use crate::terminal::complaint::{Complaint, ours};

#[derive(Clone, Debug)]
pub enum Version {
    /// No skill at all.
    Nothing,
    Folder(Skill),
    /// A candidate of a run, which is in the store.
    Candidate {
        name: String,
        manifest: Manifest,
        hidden: Vec<String>,
        /// Its `SKILL.md`.
        page: String,
        /// The part of its plugin that its run holds.
        plugin: Option<Plugin>,
    },
    /// A folder of a git revision.
    Revision {
        name: String,
        files: Files,
    },
}

impl Version {
    /// Returns the skill's own name, if there is a skill.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Folder(skill) => Some(&skill.name),
            Self::Candidate { name, .. } | Self::Revision { name, .. } => Some(name),
        }
    }

    pub fn is_nothing(&self) -> bool {
        self.name().is_none()
    }

    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(skill) => Some(&skill.path),
            Self::Nothing | Self::Candidate { .. } | Self::Revision { .. } => None,
        }
    }

    /// Returns the part of this version's plugin that trials get. Unknown for a revision.
    pub fn plugin(&self, member: &Member, store: Option<&Objects>) -> Result<Option<Plugin>, Complaint> {
        match self {
            Self::Folder(skill) => plugin::of(&skill.path, member, store),
            Self::Candidate { plugin, .. } => Ok(plugin.clone()),
            Self::Nothing | Self::Revision { .. } => Ok(None),
        }
    }

    /// Stores a version that is not in a folder.
    pub fn store(&self, objects: &Objects) -> Result<(), Complaint> {
        match self {
            Self::Nothing => objects.put_manifest(&Manifest::default()).map(drop).map_err(ours),
            Self::Folder(_) => Ok(()),
            Self::Candidate { manifest, .. } => store_check::require(objects, &[manifest.tree()]),
            Self::Revision { files, .. } => files.store(objects).map(drop).map_err(ours),
        }
    }

    /// Returns its content, and the files that are not part of the skill.
    pub fn content(
        &self,
        tests: &[PathBuf],
        objects: &Objects,
        look: &impl Fn(&Skill) -> Result<Content, Complaint>,
    ) -> Result<(Content, Vec<String>), Complaint> {
        Ok(match self {
            Self::Nothing => (Content::default(), Vec::new()),
            Self::Folder(skill) => {
                let content = look(skill)?;
                let hidden = member::hidden(&skill.path, tests, &content.manifest);
                (content, hidden)
            }
            Self::Candidate { name, manifest, hidden, .. } => {
                let own = [hidden.clone(), like_tests(name, tests, manifest)].concat();
                let files = load_captured(manifest, name, objects).map_err(ours)?;
                (Content { manifest: manifest.clone(), files }, member::with_evals(own, manifest))
            }
            Self::Revision { name, files, .. } => {
                let manifest = files.manifest();
                let hidden = member::with_evals(like_tests(name, tests, manifest), manifest);
                (Content { manifest: manifest.clone(), files: files.texts(name) }, hidden)
            }
        })
    }
}

/// Returns the files of a foreign version whose paths match the tests in the skill's folder.
fn like_tests(name: &str, tests: &[PathBuf], manifest: &Manifest) -> Vec<String> {
    let is_test = |path: &Path| tests.iter().any(|test| test.ends_with(Path::new(name).join(path)));
    let entries = manifest.entries().iter().filter(|entry| !matches!(entry.node, Node::Link { .. }));
    let own = entries.filter(|entry| is_test(entry.path.as_path()));
    own.filter_map(|entry| entry.path.as_path().to_str().map(str::to_owned)).collect()
}

/// Returns the first version as the start of the target's only member, and the second as its challenger.
pub fn compared(
    two: &Sides,
    [start, challenger]: [&Version; 2],
    of: &Member,
    scenarios: &[Scenario],
    content: impl Fn(&Version) -> Result<(Content, Vec<String>), Complaint>,
) -> Result<(Member, Aim, Vec<String>), Complaint> {
    let (from, from_hidden) = content(start)?;
    let (to, to_hidden) = content(challenger)?;
    if from.manifest == to.manifest {
        let what = format!("{} and {} are the same version", two.start, two.challenger);
        return Err(Complaint::input(what).hint("name two versions that differ"));
    }
    let mut hidden = [from_hidden, to_hidden].concat();
    let keys = [&from, &to].map(|content| member::withheld(&content.files, &hidden, scenarios));
    let mut notes: Vec<String> = keys.iter().flat_map(|keys| keys.notes.clone()).collect();
    notes.dedup();
    hidden.extend(keys.into_iter().flat_map(|keys| keys.paths));
    hidden.sort_unstable();
    hidden.dedup();
    let describe = |content: &Content| member::described(of.clone(), content, hidden.clone());
    let (old, new) = (describe(&from), describe(&to));
    let described = if start.is_nothing() { new.clone() } else { old.clone() };
    let member = Member {
        start: old.start,
        has_scripts: old.has_scripts || new.has_scripts,
        too_long: old.too_long.max(new.too_long),
        ..described
    };
    let two = Sides { trees: vec![new.start], ..two.clone() };
    Ok((member, Aim::Compare(Box::new(two)), notes))
}
