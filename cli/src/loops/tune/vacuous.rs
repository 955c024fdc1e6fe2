//! The words for scenarios and demands that prove nothing.

use skilltune_phases::loops::vacuous::{Trials, Vacuous, Why};

use crate::text::plain::one_line;
use crate::text::width::shortened;

/// Names the scenario and the demand, and says why it proves nothing.
pub fn describe(one: &Vacuous) -> String {
    let demand = match (&one.demand, &one.why) {
        (Some(demand), _) => format!(", {demand}"),
        (None, Why::NamesAnswer(_)) => ", expected output".to_owned(),
        (None, _) => String::new(),
    };
    format!("{}{demand}: {}", one.scenario, why(one))
}

pub fn why(one: &Vacuous) -> String {
    match &one.why {
        Why::Duplicate(other) => format!("the same task as {other}"),
        Why::NamesAnswer(answer) => format!("the task itself says {:?}", shortened(&one_line(answer), 80)),
        Why::MetAtStart => "the scenario's own files meet it before the agent begins".to_owned(),
        Why::MetByNothing => "an agent that does nothing meets all of it".to_owned(),
        Why::AlwaysMet => "every result meets it".to_owned(),
        Why::NeverMet => "no result can meet it".to_owned(),
        Why::NeverFails(shown) => format!("met in {}", trials(*shown)),
        Why::NeverPasses(shown) => format!("not met in {}", trials(*shown)),
        Why::PassesWithout { trials: 1 } => "passes without a skill".to_owned(),
        Why::PassesWithout { trials } => format!("passes without a skill, in all {trials} trials"),
        Why::NoDemand => "it asks nothing of the result: add `expectations` or checks".to_owned(),
    }
}

fn trials(Trials { trials, versions }: Trials) -> String {
    format!("all {trials} trials of {versions} versions")
}
