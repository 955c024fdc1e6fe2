//! The words for answers and decisions in the journal of a run.

use skilltune_phases::loops::gan::course::{Choice, Who};
use skilltune_phases::loops::gan::evaluation::Verdict;
use skilltune_phases::loops::gan::{Answer, Decision, Run};

use crate::loops::gan::report::words;
use crate::report::words::made;
use crate::text::figures::count;
use crate::text::plain;

pub fn answered(answer: &Answer) -> String {
    match answer {
        Answer::Drafted(draft) => format!("drafted criteria: {}", draft.criteria.len()),
        Answer::Proposed(proposals) if proposals.is_empty() => "accepted it".to_owned(),
        Answer::Proposed(proposals) => count(proposals.len(), "proposal"),
        Answer::Ruled(rulings) => {
            let accepted = rulings.iter().filter(|ruling| ruling.is_accepted).count();
            format!("accepted {accepted} of {}", count(rulings.len(), "proposal"))
        }
        Answer::Built { artifact, .. } => format!("made {}", artifact.short()),
        Answer::Inspected { inspection, .. } => {
            let all = || {
                let checks = inspection.checks.iter().map(|result| result.verdict);
                checks.chain(inspection.scenarios.iter().map(|result| result.verdict))
            };
            let of = |verdict| all().filter(|other| *other == verdict).count();
            format!(
                "{} passed, {} failed, {} unverified",
                of(Verdict::Passed),
                of(Verdict::Failed),
                of(Verdict::Unverified)
            )
        }
        Answer::Judged(verdicts) => {
            let passed = verdicts.findings.iter().filter(|one| one.verdict == Verdict::Passed).count();
            format!("{passed} of {} passed", verdicts.findings.len())
        }
        Answer::Allowed(true) => "a person allowed the commands".to_owned(),
        Answer::Allowed(false) => "the commands are not run".to_owned(),
        Answer::Chosen { choice, by } => chosen(choice, *by),
        Answer::Promoted => "done".to_owned(),
        Answer::Committed(proposal) => made(proposal),
        Answer::NotCommitted { why } => format!("could not make a commit: {why}"),
        Answer::Conflict { .. } => "the folder was edited during the run, so nothing was written".to_owned(),
    }
}

/// Returns an answer to a question of the run, and who gave it.
pub fn chosen(choice: &Choice, by: Who) -> String {
    let by = match by {
        Who::Person => "a person",
        Who::Default => "the default",
    };
    let said = match choice {
        Choice::Refocus { dimension } => format!(" on {dimension}"),
        Choice::Guide { text } => format!(": {}", plain::one_line(text)),
        Choice::Amend { changes } => format!(", {}", count(changes.len(), "change")),
        Choice::Force | Choice::Accept | Choice::Stop | Choice::Abort => String::new(),
    };
    format!("{}{said} ({by})", words::choice(choice))
}

pub fn decided(run: &Run, decision: &Decision) -> String {
    match decision {
        Decision::Drafted(_) | Decision::Proposed(_) | Decision::Ruled(_) => "still negotiating".to_owned(),
        Decision::Agreed(contract) => {
            let (criteria, hash) = (contract.criteria.len(), contract.hash().hex());
            format!("the contract has {criteria} criteria ({})", &hash[..8])
        }
        Decision::Sprint { number, from, focus } => {
            format!("round {number} builds on {}, {} first", from.short(), focus.priority)
        }
        Decision::Built { artifact } => format!("judge {}", artifact.short()),
        Decision::Again { artifact } => format!("judge {} again", artifact.short()),
        Decision::Judged { evaluation, .. } => {
            let round = run.state.course.rounds.last();
            let why = round.map(|round| words::why_not(run, round)).filter(|why| !why.is_empty());
            let why = why.map_or(String::new(), |why| format!("; not passed{why}"));
            format!("{}{why}", words::measured(evaluation))
        }
        Decision::Answered { choice, by, .. } => chosen(choice, *by),
        Decision::Ended(_) => format!("the run ends: {}", words::label(run).to_lowercase()),
        Decision::Close => "run ended".to_owned(),
    }
}

#[cfg(test)]
mod tests;
