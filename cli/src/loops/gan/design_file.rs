//! `.moai/config/sections/design.yaml`: the settings of the original loop in a project.
//!
//! They are found without a flag and named in the notes of a run. They are used only if a person trusts the file, or
//! names one with `--profile`.

use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::gan::original::Original;
use skilltune_phases::loops::gan::{ArtifactDir, Level};
use skilltune_phases::skills::edit::acts_by_itself;
use toml::de::DeValue;

use crate::loops::gan::settings::GanSettings;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::range::ANY;
use crate::settings::setting::{Readable as _, Setting};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::{one_line, shell_path};
use crate::trust::TrustStore;
use crate::trust::file::TextFile;

/// The path of the file in a project.
const PLACE: &str = ".moai/config/sections/design.yaml";
const LARGEST: u64 = 256 << 10;
const NO_PART: &str = "it has no gan_loop";
/// File systems refuse longer names.
const LONGEST_NAME: usize = 255;

/// The settings that a run takes from the original's file, if it uses one.
#[derive(Debug, Default)]
pub struct DesignFile {
    original: Original,
    /// The name of the file for a person, and the origin of the settings that it sets.
    source: Option<(String, Origin)>,
    /// Notes about the file for a person.
    pub remarks: Vec<String>,
}

impl DesignFile {
    /// Uses the settings of a file that `--profile` names.
    pub fn named(path: &str, original: Original) -> Self {
        Self::used(path.to_owned(), Origin::Flag("--profile"), original)
    }

    /// Uses the settings of the project's file, if it has one that a person trusts.
    pub fn found(project: &Path, is_trusted: bool, env: &Environment) -> Result<Self, Complaint> {
        let file = match read(project) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Self::default()),
            Err(why) => return Ok(Self::unused(&format!(": {why}"))),
        };
        // An unreadable record of trust trusts nothing.
        let doubts = TrustStore::new(env).doubts(&file, &[]).unwrap_or_else(|_| Some(Vec::new()));
        match (Original::read(file.text()), doubts.filter(|_| !is_trusted)) {
            (Ok(None), _) => Ok(Self::unused(&format!(": {NO_PART}"))),
            (Ok(Some(original)), None) => {
                Ok(Self::used(PLACE.to_owned(), Origin::Project(file.path), original))
            }
            (Err(why), None) => Err(unusable(&file.path, &why.to_string())),
            (Err(why), Some(_)) => Ok(Self::unused(&format!(": {why}"))),
            (Ok(Some(original)), Some(doubts)) => {
                let is_new = doubts.is_empty();
                let doubt = if is_new { "you do not trust it" } else { "it changed since you trusted it" };
                let keys = set_keys(&original);
                let sets = keys.first().map(|_| format!(": it sets {}", keys.join(", "))).unwrap_or_default();
                let trust = format!("`skilltune trust {}` allows it", shell_path(&file.path));
                Ok(Self::unused(&format!(", because {doubt}{sets}; {trust}")))
            }
        }
    }

    fn used(name: String, origin: Origin, original: Original) -> Self {
        let keys = set_keys(&original);
        let closer = if origin.is_projects() { "the project's skilltune.toml and flags" } else { "flags" };
        let sets = (!keys.is_empty())
            .then(|| format!("{name} sets {}; {closer} override what they set", keys.join(", ")));
        let remarks = sets.into_iter().chain(idle_keys(&name, &original));
        let remarks = remarks.map(|remark| one_line(&remark)).collect();
        Self { remarks, source: Some((name, origin)), original }
    }

    fn unused(why: &str) -> Self {
        Self { remarks: vec![one_line(&format!("{PLACE} is not used{why}"))], ..Self::default() }
    }

    /// Returns the name of the file, if the run uses one.
    pub fn name(&self) -> Option<&str> {
        self.source.as_ref().map(|(name, _)| name.as_str())
    }

    pub fn original(&self) -> &Original {
        &self.original
    }

    /// Overrides the user's settings. Flags are applied later, and override it.
    pub fn apply(&self, settings: &mut Settings) {
        let (Some((_, origin)), original) = (&self.source, &self.original) else { return };
        let gan = settings.of_mut::<GanSettings>();
        put(&mut gan.max_rounds, original.max_iterations, origin);
        put(&mut gan.threshold, original.threshold, origin);
        put(&mut gan.escalate_after, original.escalation_after, origin);
        put(&mut gan.gain, original.gain, origin);
        put(&mut gan.strict, original.strict, origin);
        put(&mut gan.negotiation_rounds, original.negotiation_rounds, origin);
        // A contract that is only allowed is still not asked for.
        put(&mut gan.contract, original.contract.filter(|is_on| !is_on), origin);
    }

    /// Returns the folder in the project for the sprints, if the file names one. Fails before anything is paid for if
    /// it cannot be written.
    pub fn artifact_dir(
        &mut self,
        project: &Path,
        into: Option<&Path>,
    ) -> Result<Option<ArtifactDir>, Complaint> {
        let Some(given) = self.original.artifact_dir.as_deref() else { return Ok(None) };
        let name = self.name().unwrap_or(PLACE);
        let refused = |why: &str| {
            Complaint::input(format!("cannot write sprints to {given:?} (artifact_dir of {name}): {why}"))
                .hint("change it there, or remove it; without it, sprints are only in the run's folder")
        };
        let path = given.trim_start_matches("./").trim_end_matches('/');
        let below = RelPath::read(&DeValue::String(path.into()), ANY).ok_or_else(|| {
            refused(&format!("it must be {}, as a plain relative path", RelPath::must_be(ANY)))
        })?;
        if acts_by_itself(&format!("{path}/")) {
            return Err(refused("agents, editors or shells read files there by themselves"));
        }
        if below.as_path().iter().any(|name| name.len() > LONGEST_NAME) {
            return Err(refused("a name in it is too long"));
        }
        let project = real(project);
        let mut places = below.lineage().map(|part| SafePath::below(&project, part.as_path()));
        if let Some(place) = places.find(|place| place.exists() && !place.is_folder()) {
            return Err(refused(&format!("{} is a symlink or a file", place.path().display())));
        }
        let whole = project.join(below.as_path());
        let there = whole.ancestors().find(|folder| folder.is_dir()).unwrap_or(&project);
        access(there, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|error| refused(&format!("{}: {}", there.display(), io::Error::from(error))))?;
        // A file that appears in the folder for the result would look like an edit of the user.
        if into.is_some_and(|into| whole.starts_with(into)) {
            let why = "it is inside the folder for the result";
            self.remarks.push(one_line(&format!("sprints are not written to {path} (artifact_dir): {why}")));
            return Ok(None);
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok(Some(ArtifactDir { project: text(&project), below: text(below.as_path()) }))
    }
}

/// Returns whether a file is at the place of the original's settings in a project.
pub fn is_one(path: &Path) -> bool {
    path.ends_with(PLACE)
}

/// Reads a project's file as a run does. Returns it, and what a person trusts with it, one setting a line.
pub fn to_trust(path: &Path) -> Result<(TextFile, String), Complaint> {
    let refused = |why: &str| unusable(path, why);
    let project = path.ancestors().nth(Path::new(PLACE).iter().count()).expect("the path ends with it");
    let file = read(project).map_err(|why| refused(&why))?.ok_or_else(|| refused("it does not exist"))?;
    let original = Original::read(file.text()).map_err(|why| refused(&why.to_string()))?;
    let original = original.ok_or_else(|| refused(NO_PART))?;
    let mut lines = set_keys(&original);
    if lines.is_empty() {
        lines.push("no settings".to_owned());
    }
    lines.extend(idle_keys("it", &original));
    let mut design = DesignFile::used(PLACE.to_owned(), Origin::Project(file.path.clone()), original);
    design.artifact_dir(project, None)?;
    let line = |text: &String| format!("\n  {}", one_line(text));
    Ok((file, lines.iter().map(line).collect()))
}

/// Refuses a file of the original's settings.
pub fn unusable(path: &Path, why: &str) -> Complaint {
    Complaint::input(format!("cannot use {}: {why}", path.display()))
        .hint("docs/gan.md says which of its keys are read")
}

/// Sets a value. A project's `skilltune.toml` is closer to this program than the original's file beside it.
fn put<T: Clone>(setting: &mut Setting<T>, value: Option<T>, origin: &Origin) {
    let is_closer = origin.is_projects() && setting.origin.is_projects();
    if let Some(value) = value.filter(|_| !is_closer) {
        setting.set(value, origin.clone());
    }
}

/// Reads the project's file. It follows no symlink, because a repository must not choose which file is read.
fn read(project: &Path) -> Result<Option<TextFile>, String> {
    let place = SafePath::below(&real(project), PLACE);
    match place.read(LARGEST) {
        Ok(None) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
        Ok(Some(bytes)) => {
            let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
            Ok(Some(TextFile::drafted(place.path(), text)))
        }
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns remarks about the keys that have no effect.
fn idle_keys(name: &str, original: &Original) -> Vec<String> {
    let unknown = (!original.unknown.is_empty())
        .then(|| format!("{name} has unknown keys, which do nothing: {}", first(&original.unknown)));
    let memory = original.memory.as_ref().map(|scope| {
        let why = "which does nothing: a new evaluator judges each round";
        format!("{name} sets evaluator.memory_scope {scope}, {why}")
    });
    unknown.into_iter().chain(memory).collect()
}

/// Returns as many keys as a person wants to read, and the number of the others.
fn first(keys: &[String]) -> String {
    const MOST: usize = 12;
    let (first, rest) = keys.split_at(keys.len().min(MOST));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    first.join(", ") + &more
}

/// Returns the keys that the file sets, each with its value as in the file.
fn set_keys(original: &Original) -> Vec<String> {
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    // Divided once, so that 57 of 100 is 0.57.
    let part = |score: Option<Score>| score.map(|score| ((score.points() * 1e6).round() / 1e8).to_string());
    let truth = |truth: Option<bool>| truth.map(|truth| truth.to_string());
    let levels = |levels: Option<&[Level]>| {
        let words: Vec<_> = levels?.iter().map(|level| level.word()).collect();
        Some(format!("[{}]", words.join(", ")))
    };
    let rounds = original.negotiation_rounds.map(|rounds| rounds.to_string());
    let settings = [
        ("max_iterations", number(original.max_iterations)),
        ("pass_threshold", part(original.threshold)),
        ("escalation_after", number(original.escalation_after)),
        ("improvement_threshold", part(original.gain)),
        ("strict_mode", truth(original.strict)),
        ("sprint_contract.enabled", truth(original.contract)),
        ("sprint_contract.max_negotiation_rounds", rounds),
        ("sprint_contract.required_harness_levels", levels(original.required_levels.as_deref())),
        ("sprint_contract.optional_harness_levels", levels(original.optional_levels.as_deref())),
        ("sprint_contract.artifact_dir", original.artifact_dir.as_deref().map(str::to_owned)),
    ];
    settings.into_iter().filter_map(|(key, value)| Some(format!("{key} {}", value?))).collect()
}

#[cfg(test)]
mod tests;
