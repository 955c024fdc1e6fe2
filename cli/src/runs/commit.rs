//! Runs git in a repository of the user, outside of any run.

use skilltune_orchestrator::git::{Git, Program, ProposeError};

use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::{Complaint, ours};
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
