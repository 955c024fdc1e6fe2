//! The files that scenarios and their checks bring: below the suite's folder, without following symlinks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{
    Brought, CaptureError, GatherError, Gathering, Limits, Objects, RelPath, weigh,
};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::name::Name;
use skilltune_phases::suites::checks::{Check, How};
use skilltune_phases::suites::scenario::{Scenario, SkillFile};

use crate::inputs::find::Skill;
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::trust::pinned::Pinned;

/// The files that scenarios bring, by scenario id.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// The folder that contains all of them.
    pub(super) base: PathBuf,
    pub(super) files: BTreeMap<Name, Vec<Brought>>,
    /// The files that are not placed.
    pub(super) omitted: BTreeMap<Name, Vec<RelPath>>,
    /// The files that come from the version of a skill on trial.
    pub(super) own: BTreeMap<Name, Vec<Own>>,
    pub(super) graders: BTreeMap<(Name, Name), Grader>,
}

/// A file that is part of a skill: its `SKILL.md`, a page that it names, or a script.
#[derive(Clone, Debug)]
pub(super) struct Own {
    /// The path from the suite's base.
    pub from: RelPath,
    /// The skill's folder.
    pub skill: PathBuf,
    pub file: SkillFile,
}

/// The files that a check's command needs, as they were when the suite was read.
#[derive(Clone, Debug)]
pub(super) struct Grader {
    pub paths: Vec<RelPath>,
    tree: TreeId,
    pinned: Vec<Pinned>,
}

/// The limits for all files of a suite's scenarios and graders: they are read before the suite is trusted.
const MOST: Limits = Limits { files: 20_000, bytes: 256 << 20 };

/// Fails if these files of a suite are too many or too large, before any of them is read.
pub(super) fn require_bounded<'a>(
    base: &Path,
    paths: impl IntoIterator<Item = &'a RelPath>,
) -> Result<(), String> {
    weigh(base, paths, MOST).map_err(|error| match error {
        CaptureError::TooLarge(path) => format!(
            "{} is too large: a suite can have at most {} files and {} MiB",
            path.display(),
            MOST.files,
            MOST.bytes >> 20
        ),
        error => error.to_string(),
    })
}

impl Starts {
    /// Returns the scenarios with their current files, and with their graders, which must be unchanged since they were
    /// read.
    pub fn scenarios(&self, scenarios: &[Scenario], objects: &Objects) -> Result<Vec<Scenario>, Complaint> {
        let mut scenarios = scenarios.to_vec();
        for scenario in &mut scenarios {
            let id = scenario.id.clone();
            if let Some(gathering) = self.gathering(&id) {
                let tree = gathering.store(objects);
                let tree = tree.map_err(|error| unusable(&error, &format!("`files` of scenario `{id}`")))?;
                scenario.files = Some(tree).filter(|tree| *tree != TreeId::EMPTY);
            }
            scenario.of_skill = self.of_skill(&id);
            for demand in &mut scenario.demands {
                let Some(brought) = self.graders.get(&(id.clone(), demand.id.clone())) else { continue };
                let How::Check(Check::Command { grader, .. }) = &mut demand.how else { continue };
                let place = format!("`grader` of check `{}` of scenario `{id}`", demand.id);
                let tree = self.grading(&flat(&brought.paths)).store(objects);
                let tree = tree.map_err(|error| unusable(&error, &place))?;
                if tree != brought.tree {
                    return Err(Complaint::input(format!("{place} changed after it was read"))
                        .hint("run the command again"));
                }
                *grader = Some(tree);
            }
        }
        Ok(scenarios)
    }

    /// Returns a scenario as a run would plan it, without storing anything. Leaves out unreadable files.
    pub fn as_planned(&self, scenario: &Scenario) -> Scenario {
        let mut planned = scenario.clone();
        let manifest = self.gathering(&scenario.id).and_then(|gathering| gathering.manifest().ok());
        planned.files = manifest.map(|manifest| manifest.tree()).filter(|tree| *tree != TreeId::EMPTY);
        planned.of_skill = self.of_skill(&scenario.id);
        for demand in &mut planned.demands {
            let brought = self.graders.get(&(scenario.id.clone(), demand.id.clone()));
            if let (Some(brought), How::Check(Check::Command { grader, .. })) = (brought, &mut demand.how) {
                *grader = Some(brought.tree);
            }
        }
        planned
    }

    /// Returns the files of a scenario, from the suite's folder, placed or not.
    pub fn of(&self, scenario: &Name) -> &[Brought] {
        self.files.get(scenario).map_or(&[], Vec::as_slice)
    }

    /// Returns the copies that the trials of a scenario get, if it brings files.
    pub(super) fn gathering(&self, scenario: &Name) -> Option<Gathering<'_>> {
        let brought = self.files.get(scenario)?;
        let omitted = self.omitted.get(scenario).map_or(&[][..], Vec::as_slice);
        Some(Gathering { base: &self.base, brought, omitted, limits: MOST })
    }

    fn grading<'a>(&'a self, brought: &'a [Brought]) -> Gathering<'a> {
        Gathering { base: &self.base, brought, omitted: &[], limits: MOST }
    }

    fn of_skill(&self, scenario: &Name) -> Vec<SkillFile> {
        self.own.get(scenario).into_iter().flatten().map(|own| own.file.clone()).collect()
    }

    /// Returns whether a scenario is about files of a skill in such a folder.
    pub fn is_about(&self, scenario: &Name, is_skill: impl Fn(&Path) -> bool) -> bool {
        self.own.get(scenario).into_iter().flatten().any(|own| is_skill(&own.skill))
    }

    /// Assigns the files for a run of these skills: files of the first come from the version on trial, those of other
    /// skills in the chain are not placed, and those of any other skill are data. Returns the files that are not
    /// placed.
    pub fn claim(&mut self, skills: &[Skill], suite: Option<&Path>) -> Vec<RelPath> {
        let mut left_out = Vec::new();
        let place = |folder: &Path| {
            let is_one = |skill: &Skill| {
                skill.path == folder || folder.file_name().is_some_and(|name| name == skill.name.as_str())
            };
            let contains_suite = || suite.is_some_and(|suite| suite.starts_with(folder)).then_some(0);
            skills.iter().position(is_one).or_else(contains_suite)
        };
        for (scenario, all) in &mut self.own {
            all.retain(|own| match place(&own.skill) {
                Some(0) => true,
                Some(_) => {
                    left_out.push(own.from.clone());
                    false
                }
                None => {
                    self.omitted.entry(scenario.clone()).or_default().retain(|path| *path != own.from);
                    false
                }
            });
        }
        left_out
    }

    /// Returns the paths of a check's grader, from the suite's folder.
    pub fn grader(&self, scenario: &Name, demand: &Name) -> &[RelPath] {
        let key = (scenario.clone(), demand.clone());
        self.graders.get(&key).map_or(&[], |grader| grader.paths.as_slice())
    }

    /// Returns all paths that scenarios and checks bring, from the suite's folder.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        let graders = self.graders.values().flat_map(|grader| &grader.paths);
        self.files.values().flatten().map(|brought| &brought.from).chain(graders)
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the graders that trust is bound to. A folder counts with all its content.
    pub(super) fn pinned(&self) -> impl Iterator<Item = &Pinned> {
        self.graders.values().flat_map(|grader| &grader.pinned)
    }

    pub(super) fn add_grader(
        &mut self,
        scenario: &Name,
        demand: &Name,
        paths: Vec<RelPath>,
    ) -> Result<(), GatherError> {
        let tree = |paths: &[RelPath]| self.grading(&flat(paths)).manifest().map(|manifest| manifest.tree());
        let pin = |path: &RelPath| {
            let digest = tree(std::slice::from_ref(path))?.0;
            Ok(Pinned { path: self.base.join(path.as_path()), digest })
        };
        let pinned = paths.iter().map(pin).collect::<Result<Vec<_>, GatherError>>()?;
        let grader = Grader { tree: tree(&paths)?, paths, pinned };
        self.graders.insert((scenario.clone(), demand.clone()), grader);
        Ok(())
    }
}

pub(super) fn flat(paths: &[RelPath]) -> Vec<Brought> {
    paths.iter().cloned().map(Brought::flat).collect()
}

fn unusable(error: &GatherError, place: &str) -> Complaint {
    Complaint::of(ErrorKind::Input, error).hint(format!("check {place}"))
}

/// Parses a path below a folder; none if it leads out of it.
pub(super) fn inside(name: &str) -> Option<RelPath> {
    let plain = name.trim_start_matches("./").trim_end_matches('/');
    RelPath::parse(plain.as_bytes()).ok().filter(|path| !path.is_reserved())
}

/// Returns whether there is a file or a folder that is reached without symlinks. Nothing else is accepted, because the
/// suite may have come with a repository.
pub(super) fn is_there(base: &Path, path: &RelPath) -> bool {
    let place = SafePath::below(base, path.as_path());
    place.is_file() || place.is_folder()
}

/// Reads the text of a file below a folder.
pub(super) fn text_below(base: &Path, name: &str) -> Result<String, String> {
    /// More than any prompt or schema has.
    const LARGEST: u64 = 1 << 20;
    let path = inside(name).ok_or_else(|| format!("{name:?} is outside the suite's folder"))?;
    let bytes = SafePath::below(base, path.as_path()).read(LARGEST);
    let bytes = bytes.map_err(|error| format!("cannot read {name:?}: {error}"))?;
    let bytes = bytes.ok_or_else(|| format!("{name:?} does not exist below the suite's folder"))?;
    String::from_utf8(bytes).map_err(|_| format!("{name:?} is not text in UTF-8"))
}
