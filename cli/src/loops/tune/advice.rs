//! The commands to suggest after a run of `tune`.

use std::path::Path;

use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::{Apply, Choice, Run, Verdict};
use skilltune_phases::runs::event::PlacedBy;

pub use crate::report::advice::*;
use crate::report::summary::Next;
use crate::text::plain::shell_path;

const MERGED: &str = "apply --merge";

/// Returns the next commands to suggest.
pub fn next(run: &Run) -> Vec<Next> {
    let choices: &[(&str, &'static str)] = match run.outcome() {
        RunOutcome::Exercised => return check(run).into_iter().collect(),
        RunOutcome::Compared => return difference(run).into_iter().chain(apply_there(run)).collect(),
        RunOutcome::Paused => return vec![Next { command: resume(run), purpose: "continue" }],
        RunOutcome::Held => return [Choice::Apply, Choice::Keep].map(|choice| answer(run, choice)).into(),
        RunOutcome::Improved
        | RunOutcome::Kept
        | RunOutcome::Proposed
        | RunOutcome::Conflict
        | RunOutcome::Unchanged
        | RunOutcome::Unjudged
            if run.placed == Some(PlacedBy::Apply) =>
        {
            &[("diff", "see the champion's changes"), ("rollback", "restore the skill")]
        }
        RunOutcome::Improved | RunOutcome::Conflict if run.placed == Some(PlacedBy::Rollback) => {
            &[("diff", "see the champion's changes"), ("apply", "apply it")]
        }
        RunOutcome::Improved => &[("diff", "see what changed"), ("rollback", "undo it")],
        RunOutcome::Kept | RunOutcome::Proposed => {
            &[("diff", "see what would change"), ("apply", "apply it")]
        }
        RunOutcome::Conflict => &[("diff", "see the champion's changes"), (MERGED, "merge it with the edit")],
        RunOutcome::Unchanged | RunOutcome::Unjudged => &[("report", "see why")],
    };
    let next = |&(verb, purpose): &(&str, &'static str)| {
        let command = format!("skilltune {verb} {}", run.plan.run);
        Next { command, purpose }
    };
    choices.iter().map(next).collect()
}

/// Returns the command that makes the commit which the run could not make.
pub fn propose_again(run: &Run) -> Option<Next> {
    let Apply::Propose(form) = run.plan.task.apply else { return None };
    run.proposed()?.err()?;
    let command = format!("skilltune apply {} --as {}", run.plan.run, form.word());
    Some(Next { command, purpose: "make the commit, once that is fixed" })
}

/// Returns the command that shows the difference between the two compared versions.
fn difference(run: &Run) -> Option<Next> {
    let challenger = run.state.shipment.as_ref()?.challenger?;
    let command = format!("skilltune diff {} {}", run.plan.run, challenger.short());
    Some(Next { command, purpose: "see what B changes" })
}

/// Returns the command that applies the winner, through the run that made it.
fn apply_there(run: &Run) -> Option<Next> {
    let of = run.plan.task.regraded().filter(|of| of.searched)?;
    let won = run.state.shipment.as_ref().filter(|shipment| shipment.verdict == Verdict::Won)?;
    let command = format!("skilltune apply {} {}", of.run, won.champion.short());
    Some(Next { command, purpose: "apply B" })
}

/// Returns the command that checks the suite, now that it was tried without a skill.
fn check(run: &Run) -> Option<Next> {
    let suite = run.plan.task.suite.as_ref()?;
    let command = format!("skilltune suite check {}", shell_path(Path::new(&suite.path)));
    Some(Next { command, purpose: "see which checks prove nothing" })
}

/// Returns whether the target was ever replaced. If not, there is nothing to roll back.
pub fn was_replaced(run: &Run) -> bool {
    run.outcome() == RunOutcome::Improved || run.placed.is_some()
}

/// Returns the command that applies the champion to the target as we know it and keeps the user's edits.
pub fn apply(run: &Run) -> &'static str {
    if run.outcome() == RunOutcome::Conflict && run.placed.is_none() { MERGED } else { "apply" }
}

fn answer(run: &Run, choice: Choice) -> Next {
    let purpose = match choice {
        Choice::Apply => "apply the champion",
        Choice::Keep => "leave the skill unchanged",
    };
    let command = format!("skilltune resume {} --answer {}", run.plan.run, choice.word());
    Next { command, purpose }
}
