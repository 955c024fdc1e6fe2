//! What decides about a review: settings, experts, suppressions and manifests, as they were before the change.
//!
//! Nothing of the change decides about itself. Files of a project that is not under review are read as they are.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::git::{Content, Git, Kind, files_of};
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::loops::review::finding::Suppression;
use skilltune_phases::loops::shared::commands::MANIFESTS;
use tempfile::TempDir;

use crate::loops;
use crate::loops::expert::roster::{Roster, expert_folders};
use crate::loops::review::subject::{Commit, Subject, refused, with_git};
use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::{Environment, SETTINGS_FILE};
use crate::trust::file::TextFile;

/// The file in which a person suppresses findings.
const SUPPRESSIONS: &str = "skilltune-review.toml";
/// A larger file is not one that decides.
const LARGEST: u64 = 1 << 20;

/// Where the files that decide come from.
#[derive(Clone, Debug)]
pub struct Base {
    project: PathBuf,
    /// The project's path in the files under review; none if it is elsewhere.
    reviewed: Option<PathBuf>,
    commit: Option<Commit>,
    /// The settings, the suppressions and the manifests that there are.
    texts: BTreeMap<String, String>,
}

impl Base {
    pub fn read(subject: &Subject, project: &Path, env: &Environment) -> Result<Self, Complaint> {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let reviewed = project.strip_prefix(&subject.root).ok().map(Path::to_owned);
        let base = Self { reviewed, commit: subject.decides.clone(), project, texts: BTreeMap::new() };
        let names: Vec<&str> = MANIFESTS.into_iter().chain([SETTINGS_FILE, SUPPRESSIONS]).collect();
        Ok(Self { texts: base.read_texts(&names, env)?, ..base })
    }

    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Whether the whole project is under review, so that its commands run at its root.
    pub fn has_whole_project(&self) -> bool {
        self.reviewed.as_deref() == Some(Path::new(""))
    }

    /// Returns whether a path of the files under review is one that decides.
    pub fn is_deciding(&self, path: &Path, settings: &Settings) -> bool {
        let Some(Ok(path)) = self.reviewed.as_ref().map(|below| path.strip_prefix(below)) else {
            return false;
        };
        path == Path::new(SETTINGS_FILE)
            || path == Path::new(SUPPRESSIONS)
            || expert_folders(settings).any(|folder| path.starts_with(folder))
    }

    pub fn settings(&self, env: &Environment) -> Result<Settings, Complaint> {
        if self.reviewed.is_none() {
            return Ok(loops::settings(&self.project, env)?);
        }
        let text = self.text(SETTINGS_FILE).cloned();
        let file = text.map(|text| TextFile::drafted(&self.project.join(SETTINGS_FILE), text));
        Ok(loops::settings_of(file, env)?)
    }

    pub fn roster(&self, settings: &Settings, env: &Environment) -> Result<Roster, Complaint> {
        if self.reviewed.is_none() {
            return Ok(Roster::read(&self.project, &self.project, settings, env));
        }
        let place = TempDir::new()
            .map_err(|error| Complaint::ours("cannot make a temporary folder").caused_by(error))?;
        let folders: Vec<&Path> = expert_folders(settings).collect();
        for (path, content) in self.files(&folders, env)? {
            if let Kind::File { .. } = content.kind {
                let folder = path.parent().map(|parent| SafePath::below(place.path(), parent.as_path()));
                folder.map(|folder| folder.make()).transpose().map_err(ours)?;
                SafePath::below(place.path(), path.as_path()).create(&content.bytes).map_err(ours)?;
            }
        }
        Ok(Roster::read(place.path(), &self.project, settings, env))
    }

    pub fn suppressions(&self) -> Result<Vec<Suppression>, Complaint> {
        let Some(text) = self.text(SUPPRESSIONS).cloned() else { return Ok(Vec::new()) };
        let file = TextFile::drafted(&self.project.join(SUPPRESSIONS), text);
        let page: Page = file.toml().map_err(|why| {
            Complaint::input(format!("cannot read {SUPPRESSIONS}: {why}"))
                .hint("write [[suppress]] with fingerprint = \"...\" and reason = \"...\"")
        })?;
        Ok(page.suppress)
    }

    /// Returns a manifest or another such file of the project as it was before the change.
    pub fn text(&self, name: &str) -> Option<&String> {
        self.texts.get(name)
    }

    /// Reads those of some text files of the project that there were before the change.
    fn read_texts(&self, names: &[&str], env: &Environment) -> Result<BTreeMap<String, String>, Complaint> {
        if self.reviewed.is_some() {
            let paths: Vec<&Path> = names.iter().map(Path::new).collect();
            let text = |(path, content): (RelPath, Content)| match content.kind {
                Kind::File { .. } => Some((path.to_string(), content.text()?.to_owned())),
                Kind::Link => None,
            };
            return Ok(self.files(&paths, env)?.into_iter().filter_map(text).collect());
        }
        let text = |name: &&str| {
            let bytes = SafePath::below(&self.project, name).read(LARGEST).ok()??;
            Some(((*name).to_owned(), String::from_utf8(bytes).ok()?))
        };
        Ok(names.iter().filter_map(text).collect())
    }

    /// Returns the files at and below these paths of the project, by their path in it.
    fn files(&self, paths: &[&Path], env: &Environment) -> Result<BTreeMap<RelPath, Content>, Complaint> {
        let Some(Commit { repository, id }) = self.commit.clone() else { return Ok(BTreeMap::new()) };
        let Ok(below) = self.project.strip_prefix(&repository) else { return Ok(BTreeMap::new()) };
        let inside = |path: &Path| RelPath::parse(path.as_os_str().as_bytes()).ok();
        let wanted: Vec<RelPath> = paths.iter().filter_map(|path| inside(&below.join(path))).collect();
        let work = {
            let repository = repository.clone();
            move |git: &Git<'_>| files_of(git, &repository, &id, &wanted)
        };
        let words = format!("files of {}", self.project.display());
        let read = with_git(env, work)?.map_err(|error| refused(&words, &error))?;
        let own = |(path, content): (RelPath, Content)| {
            Some((inside(path.as_path().strip_prefix(below).ok()?)?, content))
        };
        Ok(read.into_iter().filter_map(own).collect())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(default)]
    suppress: Vec<Suppression>,
}
