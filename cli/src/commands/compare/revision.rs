//! Reads a skill from a git revision: `REVISION:PATH`, as git writes it.

use std::path::Path;

use skilltune_orchestrator::git::{Files, Git, GitError, Program, Revision, RevisionError};

use crate::casting::git;
use crate::loops::tune::versions::Version;
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

pub(super) fn read(revision: &str, folder: &str, env: &Environment) -> Result<Version, Complaint> {
    let called = format!("{revision}:{folder}");
    // Git would read it as an option.
    if revision.is_empty() || revision.starts_with('-') {
        return Err(Complaint::input(format!("{called:?} is not a git revision"))
            .hint("write REVISION:PATH, such as HEAD~1:skills/writer"));
    }
    let git = git(env).map_err(|_| {
        Complaint::input(format!("cannot read {called}: `git` is not installed"))
            .hint("check the revision out, and pass its folder")
    })?;
    let repository = env.project.clone().unwrap_or_else(|| env.cwd.clone());
    let folder = folder.trim_end_matches('/').to_owned();
    let name = name(&folder, env)?;
    let revision = Revision { revision: revision.to_owned(), folder };
    let files = files(&revision, &git, &repository)?.map_err(|error| refused(&called, &error))?;
    check(&files, &called)?;
    Ok(Version::Revision { name, files })
}

/// Returns the folder's name, or the project's name at the root of a repository.
fn name(folder: &str, env: &Environment) -> Result<String, Complaint> {
    let project = env.project_here();
    let name = Path::new(folder).file_name().or_else(|| project.file_name()).and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Complaint::input("the folder of the skill has no name"))?;
    Ok(name.to_owned())
}

fn files(
    revision: &Revision,
    git: &Program,
    repository: &Path,
) -> Result<Result<Files, RevisionError>, Complaint> {
    let lost = || {
        let said = "it was interrupted".to_owned();
        Err(RevisionError::Git(GitError::Failed { code: None, said }))
    };
    let mut read = under_guard(1, lost, |_, room| {
        let (revision, git, repository) = (revision.clone(), git.clone(), repository.to_owned());
        move |pool, cancel_token| revision.read(&Git::new(&git, &repository, &room, &pool, &cancel_token))
    })?;
    Ok(read.remove(0))
}

fn check(files: &Files, called: &str) -> Result<(), Complaint> {
    let wrong = |why: String| Err(Complaint::input(format!("{called} is not a skill")).caused_by(why));
    let Some(page) = files.top("SKILL.md") else { return wrong("it has no SKILL.md".to_owned()) };
    let Ok(page) = std::str::from_utf8(page) else { return wrong("SKILL.md is not UTF-8".to_owned()) };
    match skilltune_phases::skills::skill::check(page) {
        Ok(_) => Ok(()),
        Err(error) => wrong(format!("SKILL.md: {error}")),
    }
}

fn refused(called: &str, error: &RevisionError) -> Complaint {
    let (kind, hint) = match error {
        RevisionError::Git(GitError::Failed { said, .. }) if said.contains("dubious ownership") => (
            ErrorKind::Input,
            "if you trust the repository, add it to safe.directory in your git configuration",
        ),
        RevisionError::Git(GitError::Special { .. }) => (ErrorKind::Input, "delete it"),
        RevisionError::Git(GitError::Failed { .. }) => {
            (ErrorKind::Input, "check that `git ls-tree REVISION:PATH` shows the skill")
        }
        RevisionError::Submodule(_) | RevisionError::TooLarge | RevisionError::Manifest(_) => {
            (ErrorKind::Input, "check the revision out, and pass its folder")
        }
        RevisionError::Garbled | RevisionError::Git(_) => {
            (ErrorKind::Ours, "check the revision out, and pass its folder")
        }
    };
    let complaint = Complaint { what: format!("cannot read {called}"), ..Complaint::of(kind, error) };
    let why = one_line(&error.to_string());
    Complaint { causes: [vec![why], complaint.causes].concat(), ..complaint }.hint(hint)
}
