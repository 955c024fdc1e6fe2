//! The files that scenarios and their checks bring: below the suite's folder, reached through no link.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{GatherError, Limits, Objects, RelPath, gather, gathered};
use skilltune_phases::checks::{Check, How};
use skilltune_phases::id::TreeId;
use skilltune_phases::name::Name;
use skilltune_phases::scenario::Scenario;

use crate::terminal::complaint::{Complaint, Kind};
use crate::trust::pinned::Pinned;

/// The files that scenarios bring, by the scenario's id.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// The folder in which all of them are.
    pub(super) base: PathBuf,
    pub(super) files: BTreeMap<Name, Vec<RelPath>>,
    pub(super) graders: BTreeMap<(Name, Name), Grader>,
}

/// What a command of a check needs, as it was when the suite was read.
#[derive(Clone, Debug)]
pub(super) struct Grader {
    pub paths: Vec<RelPath>,
    tree: TreeId,
    pinned: Vec<Pinned>,
}

/// Graders are programs and their data.
const GRADER: Limits = Limits { files: 10_000, bytes: 1 << 30 };

impl Starts {
    /// The scenarios with what they bring, as it is now; and with their graders, which must be those that were read.
    pub fn scenarios(&self, scenarios: &[Scenario], objects: &Objects) -> Result<Vec<Scenario>, Complaint> {
        let mut scenarios = scenarios.to_vec();
        for scenario in &mut scenarios {
            let id = scenario.id.clone();
            if let Some(paths) = self.files.get(&id) {
                let tree = gather(objects, &self.base, paths, Limits::default())
                    .map_err(|error| unusable(&error, &format!("`files` of scenario `{id}`")))?;
                scenario.files = Some(tree);
            }
            for demand in &mut scenario.demands {
                let Some(brought) = self.graders.get(&(id.clone(), demand.id.clone())) else { continue };
                let How::Check(Check::Command { grader, .. }) = &mut demand.how else { continue };
                let place = format!("`grader` of check `{}` of scenario `{id}`", demand.id);
                let tree = gather(objects, &self.base, &brought.paths, GRADER)
                    .map_err(|error| unusable(&error, &place))?;
                if tree != brought.tree {
                    return Err(Complaint::input(format!("{place} changed after it was read"))
                        .hint("run the command again"));
                }
                *grader = Some(tree);
            }
        }
        Ok(scenarios)
    }

    /// A scenario as the plan of a run would have it, with nothing stored; without files that cannot be read.
    pub fn as_planned(&self, scenario: &Scenario) -> Scenario {
        let mut planned = scenario.clone();
        let brought = self.files.get(&scenario.id);
        let tree = brought.map(|paths| gathered(&self.base, paths, Limits::default()));
        planned.files = tree.and_then(Result::ok).map(|manifest| manifest.tree());
        for demand in &mut planned.demands {
            let brought = self.graders.get(&(scenario.id.clone(), demand.id.clone()));
            if let (Some(brought), How::Check(Check::Command { grader, .. })) = (brought, &mut demand.how) {
                *grader = Some(brought.tree);
            }
        }
        planned
    }

    /// Where the files of a scenario are, from the suite's folder.
    pub fn of(&self, scenario: &Name) -> &[RelPath] {
        self.files.get(scenario).map_or(&[], Vec::as_slice)
    }

    /// The same for the grader of a check.
    pub fn grader(&self, scenario: &Name, demand: &Name) -> &[RelPath] {
        let key = (scenario.clone(), demand.clone());
        self.graders.get(&key).map_or(&[], |grader| grader.paths.as_slice())
    }

    /// All that scenarios and checks bring, from the suite's folder.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        let graders = self.graders.values().flat_map(|grader| &grader.paths);
        self.files.values().flatten().chain(graders)
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The graders that trust is bound to: a folder counts with all that is in it.
    pub(super) fn pinned(&self) -> impl Iterator<Item = &Pinned> {
        self.graders.values().flat_map(|grader| &grader.pinned)
    }

    pub(super) fn add_grader(
        &mut self,
        scenario: &Name,
        demand: &Name,
        paths: Vec<RelPath>,
    ) -> Result<(), GatherError> {
        let tree = |paths: &[RelPath]| Ok::<_, GatherError>(gathered(&self.base, paths, GRADER)?.tree());
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

fn unusable(error: &GatherError, place: &str) -> Complaint {
    Complaint::of(Kind::Input, error).hint(format!("look at {place}"))
}

/// A path below a folder, as text; nothing if it leads out of it.
pub(super) fn inside(name: &str) -> Option<RelPath> {
    let plain = name.trim_start_matches("./").trim_end_matches('/');
    RelPath::parse(plain.as_bytes()).ok().filter(|path| !path.is_reserved())
}

/// Whether there is a file or a folder, reached through no link: a suite that came with a repository hands over nothing
/// else.
pub(super) fn is_there(base: &Path, path: &RelPath) -> bool {
    let place = SafePath::below(base, path.as_path());
    place.is_file() || place.is_folder()
}

/// The text of a file below a folder.
pub(super) fn text_below(base: &Path, name: &str) -> Result<String, String> {
    /// More than any prompt or schema.
    const LARGEST: u64 = 1 << 20;
    let path = inside(name).ok_or_else(|| format!("{name:?} is no path below the suite's folder"))?;
    let bytes = SafePath::below(base, path.as_path()).read(LARGEST);
    let bytes = bytes.map_err(|error| format!("cannot read {name:?}: {error}"))?;
    let bytes = bytes.ok_or_else(|| format!("{name:?} does not exist below the suite's folder"))?;
    String::from_utf8(bytes).map_err(|_| format!("{name:?} is not text in UTF-8"))
}
