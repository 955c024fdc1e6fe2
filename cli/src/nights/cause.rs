//! Says in a few words what kept a run from being judged. The words are the same for each job with this cause, so the
//! morning can say it once.

use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::tune::{Run, Tune};
use skilltune_phases::nights::night::End;
use skilltune_phases::runs::event::Failure;

use crate::report::words;
use crate::text::plain::one_line;

/// Returns which agent failed, and how; None if no agent did.
pub fn of(run: &Run, end: &End) -> Option<Box<str>> {
    let failed = match end {
        End::Paused { .. } => run.blocked.as_ref(),
        End::Unjudged { .. } => run.errors.last(),
        End::Decided(_) | End::Measured { .. } | End::Refused { .. } | End::Failed { .. } => None,
    }?;
    let cast = Tune::role(&failed.step).and_then(|role| run.plan.roles.get(&role))?;
    Some(agent_failed(&cast.shown(), &failed.failure).into())
}

fn agent_failed(agent: &str, failure: &Failure) -> String {
    let how = failure
        .exit_code
        .map_or_else(|| words::failure(failure.kind).to_owned(), |code| format!("exits with {code}"));
    format!("agent {} {how}", one_line(agent))
}

#[cfg(test)]
mod tests {
    use skilltune_phases::runs::event::FailureKind;

    use super::*;

    #[test]
    fn an_agent_is_named_with_what_it_did_and_without_its_own_words() {
        let failure = |kind, why: &str, exit_code| Failure { exit_code, ..Failure::new(kind, why) };
        let crashed = failure(FailureKind::Crashed, "exit code 9: at 03:12:44", Some(9));
        assert_eq!(agent_failed("w2", &crashed), "agent w2 exits with 9");
        let silent = failure(FailureKind::OffSchema, "no JSON", None);
        assert_eq!(agent_failed("claude:opus", &silent), "agent claude:opus returned an invalid answer");
    }
}
