//! Finds the jobs whose skill or suite changed since a git revision; only these can have a different result.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use skilltune_orchestrator::git::{Changed, ChangedError, Git, GitError, Program, root};
use skilltune_phases::base::name::Name;

use crate::casting::git;
use crate::inputs::find;
use crate::inputs::suite::{Format, Suite};
use crate::nights::file::NightPlan;
use crate::nights::jobs::Job;
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

/// The parts of a job.
struct Parts {
    skills: Vec<PathBuf>,
    suites: Vec<Suite>,
    /// The files and folders of its suites.
    files: Vec<PathBuf>,
}

/// The changes of each repository, by its root.
type Repositories = BTreeMap<PathBuf, Changed>;

/// Returns the jobs whose parts are all unchanged.
pub fn unchanged(
    jobs: &[Job],
    revision: &str,
    plan: &NightPlan,
    env: &Environment,
) -> Result<BTreeSet<Name>, Complaint> {
    let git = git(env).map_err(|_| {
        Complaint::input("cannot find what changed: `git` is not installed")
            .hint("run the night without --changed-since")
    })?;
    let env = Environment { cwd: plan.folder.clone(), ..env.clone() };
    // The night reports why an unreadable job cannot run.
    let known: Vec<(&Name, Parts)> =
        jobs.iter().filter_map(|job| Some((&job.name, parts(job, &env).ok()?))).collect();
    let folders: BTreeSet<PathBuf> = known.iter().flat_map(|(_, parts)| parts.folders()).collect();
    let folders = if folders.is_empty() { BTreeSet::from([plan.folder.clone()]) } else { folders };
    let repositories = compare(&git, &folders, revision)?.map_err(|error| refused(revision, &error))?;
    let is_same = |parts: &Parts| !repositories.values().any(|changed| parts.are_touched(changed));
    Ok(known.iter().filter(|(_, parts)| is_same(parts)).map(|(name, _)| (*name).clone()).collect())
}

fn parts(job: &Job, env: &Environment) -> Result<Parts, Complaint> {
    let skills: Vec<PathBuf> = find::skills(&job.skills, env)?.into_iter().map(|skill| skill.path).collect();
    let suites = match &job.entry.suite {
        Some(path) => vec![Suite::read(&env.cwd.join(path))?],
        None => {
            skills.iter().filter_map(|skill| Suite::beside(skill).transpose()).collect::<Result<_, _>>()?
        }
    };
    let mut files = Vec::new();
    for suite in &suites {
        let brought = suite.starts.paths().map(|path| suite.starts.base().join(path.as_path()));
        files.extend(std::iter::once(suite.path.clone()).chain(brought));
        files.extend(suite.scripts(env)?.into_iter().map(|script| script.path));
    }
    Ok(Parts { skills, suites, files })
}

impl Parts {
    fn folders(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let bases = self.suites.iter().map(|suite| suite.starts.base().to_owned());
        self.skills.iter().cloned().chain(bases)
    }

    fn are_touched(&self, changed: &Changed) -> bool {
        self.skills.iter().chain(&self.files).any(|path| changed.touches(path))
            || self.suites.iter().any(|suite| changed.paths().any(|path| names(suite, path)))
    }
}

/// Returns whether a suite can have read the file as part of its own text, such as a schema or a prompt.
fn names(suite: &Suite, changed: &Path) -> bool {
    let Ok(below) = changed.strip_prefix(suite.starts.base()) else { return false };
    match (suite.format, &suite.file) {
        // Its file names may be patterns.
        (Format::Promptfoo, _) => true,
        (_, Some(file)) => below.to_str().is_some_and(|below| file.text().contains(below)),
        (_, None) => false,
    }
}

fn compare(
    git: &Program,
    folders: &BTreeSet<PathBuf>,
    revision: &str,
) -> Result<Result<Repositories, ChangedError>, Complaint> {
    let lost = || {
        let said = "it was interrupted".to_owned();
        Err(ChangedError::Git(GitError::Failed { code: None, said }))
    };
    let mut compared = under_guard(1, lost, |_, room| {
        let (git, folders, revision) = (git.clone(), folders.clone(), revision.to_owned());
        move |pool, cancel_token| {
            let mut repositories = Repositories::new();
            let git = Git::new(&git, &room, &room, &pool, &cancel_token);
            for folder in folders {
                let root = root(&git, &folder)?;
                if let Entry::Vacant(place) = repositories.entry(root) {
                    let changed = Changed::since(&git, place.key(), &revision)?;
                    place.insert(changed);
                }
            }
            Ok(repositories)
        }
    })?;
    Ok(compared.remove(0))
}

fn refused(revision: &str, error: &ChangedError) -> Complaint {
    let hint = match error {
        ChangedError::NoRepository(_) => "run the night without --changed-since",
        ChangedError::NoRevision(_) => {
            "`git log` lists revisions; in a shallow clone, fetch more of the history first"
        }
        ChangedError::TooMany => "name a newer revision",
        ChangedError::Git(GitError::Failed { said, .. }) if said.contains("dubious ownership") => {
            "if you trust the repository, add it to safe.directory in your git configuration"
        }
        ChangedError::Git(_) => "check that `git diff` works there",
    };
    let what = format!("cannot find what changed since {:?}", one_line(revision));
    let complaint = Complaint { what, ..Complaint::of(ErrorKind::Input, error) };
    Complaint { causes: [vec![one_line(&error.to_string())], complaint.causes].concat(), ..complaint }
        .hint(hint)
}
