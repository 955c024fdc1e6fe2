//! What a person may want to type after a run of `tune`.

use skilltune_phases::event::PlacedBy;
use skilltune_phases::loops::tune::ending::Outcome;
use skilltune_phases::loops::tune::{Choice, Run};

pub use crate::report::advice::*;

const RESUME: &str = "resume";
const FORCED: &str = "apply --force";

/// What a person may want to type now.
pub fn next(run: &Run) -> Vec<Next> {
    let choices: &[(&str, &'static str)] = match run.outcome() {
        Outcome::Paused => &[(RESUME, "continue")],
        Outcome::Held => return [Choice::Apply, Choice::Keep].map(|choice| answer(run, choice)).into(),
        Outcome::Improved | Outcome::Kept | Outcome::Conflict | Outcome::Unchanged | Outcome::Unjudged
            if run.placed == Some(PlacedBy::Apply) =>
        {
            &[("diff", "see the champion's changes"), ("rollback", "restore the skill")]
        }
        Outcome::Improved | Outcome::Conflict if run.placed == Some(PlacedBy::Rollback) => {
            &[("diff", "see the champion's changes"), ("apply", "apply it")]
        }
        Outcome::Improved => &[("diff", "see what changed"), ("rollback", "undo it")],
        Outcome::Kept => &[("diff", "see what would change"), ("apply", "apply it")],
        Outcome::Conflict => &[("diff", "see the champion's changes"), (FORCED, "apply it anyway")],
        Outcome::Unchanged | Outcome::Unjudged => &[("show", "see why")],
    };
    let next = |&(verb, purpose): &(&str, &'static str)| {
        let command = format!("skilltune {verb} {}", run.plan.run);
        Next { command, purpose }
    };
    choices.iter().map(next).collect()
}

/// Whether anything was ever brought into the target: else there is nothing to go back from.
pub fn was_replaced(run: &Run) -> bool {
    run.outcome() == Outcome::Improved || run.placed.is_some()
}

/// What brings the champion into the target as that stands by what we know: a person's edit needs their word.
pub fn apply(run: &Run) -> &'static str {
    if run.outcome() == Outcome::Conflict && run.placed.is_none() { FORCED } else { "apply" }
}

fn answer(run: &Run, choice: Choice) -> Next {
    let purpose = match choice {
        Choice::Apply => "apply the champion",
        Choice::Keep => "leave the skill unchanged",
    };
    let command = format!("skilltune resume {} --answer {}", run.plan.run, choice.word());
    Next { command, purpose }
}
