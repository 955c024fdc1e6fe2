//! Runs git in a repository of the user, outside of any run.

use std::path::Path;

use skilltune_orchestrator::git::{Changed, Git, Program, ProposeError, require_repository, root};
use skilltune_orchestrator::snapshot::{IgnoreRules, Limits, Manifest, scan};

use crate::casting::git;
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

const CANNOT: &str = "cannot make a commit";

/// Runs this work with git, under guard.
pub fn with_git<T: Send + 'static>(
    program: &Program,
    work: impl FnOnce(&Git<'_>) -> Result<T, ProposeError> + Clone + Send + 'static,
) -> Result<Result<T, ProposeError>, Complaint> {
    let lost = || Err(ProposeError::Git("it was interrupted".to_owned()));
    let mut done = under_guard(1, lost, |_, room| {
        let (work, program) = (work.clone(), program.clone());
        move |pool, cancel_token| work(&Git::new(&program, &room, &room, &pool, &cancel_token))
    })?;
    Ok(done.remove(0))
}

pub fn no_git() -> Complaint {
    Complaint::input(format!("{CANNOT}: `git` is not installed"))
}

/// Returns why no change of a folder could become a commit, and the fix, as far as that is known before a run.
pub fn unproposable(folder: &Path, limits: Limits, env: &Environment) -> Option<String> {
    let refusal = match git(env) {
        Err(_) => no_git(),
        Ok(program) => {
            // A folder that cannot be read keeps the run from beginning at all.
            let rules = IgnoreRules::of(folder).ok();
            let now = if folder.is_dir() { scan(folder, rules, limits).ok()? } else { Manifest::default() };
            let folder = folder.to_owned();
            let required = with_git(&program, move |git| require_repository(git, &folder, &now)).ok()?;
            refused(&required.err()?)
        }
    };
    let causes = refusal.causes.iter().flat_map(|cause| [": ", cause]);
    let hints = refusal.hints.iter().flat_map(|hint| ["; ", hint]);
    Some([refusal.what.as_str()].into_iter().chain(causes).chain(hints).collect())
}

/// Returns true if a folder has changes that are not committed. Without an answer from git there are none to name.
pub fn has_uncommitted(folder: &Path, env: &Environment) -> bool {
    let Ok(program) = git(env) else { return false };
    let folder = folder.to_owned();
    let changed = with_git(&program, move |git| {
        let changed = root(git, &folder).and_then(|root| Changed::since(git, &root, "HEAD"));
        Ok(changed.is_ok_and(|changed| changed.touches(&folder)))
    });
    matches!(changed, Ok(Ok(true)))
}

/// Explains why no commit can be made.
pub fn refused(error: &ProposeError) -> Complaint {
    match error {
        ProposeError::Refused { why, hint } => {
            Complaint::input(CANNOT).caused_by(one_line(why)).hint(one_line(hint))
        }
        ProposeError::Git(said) => Complaint::input(CANNOT).caused_by(one_line(said)),
        ProposeError::Ours(_)
        | ProposeError::Objects(_)
        | ProposeError::Disk(_)
        | ProposeError::Process(_) => ours(error),
    }
}
