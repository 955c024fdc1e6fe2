//! The commands to suggest after a run or during one.

use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::loops::reflex::{Artifact, Reason, Run};

use crate::report::advice::resume;
use crate::report::summary::Next;

/// Returns the next commands to suggest.
pub fn next(run: &Run) -> Vec<Next> {
    let next = |verb, purpose| vec![Next { command: format!("skilltune {verb} {}", run.plan.run), purpose }];
    let answer = |flags: &str, purpose| {
        let command = format!("skilltune resume {} {flags}", run.plan.run);
        Next { command, purpose }
    };
    match run.state.stop.as_ref().map(|stop| stop.reason) {
        // Without a terminal, `resume` alone would only ask again.
        None if run.held && run.plan.task.confirmed.is_none() => {
            let asked = next("resume", "answer its question in a terminal");
            asked.into_iter().chain([answer("--yes", "agree to the proposed rules")]).collect()
        }
        None if run.held => {
            vec![answer("--answer run", "run them"), answer("--answer skip", "let the judge decide instead")]
        }
        None => vec![Next { command: resume(run), purpose: "continue" }],
        Some(Reason::ThresholdReached | Reason::NoMajorIssues) => Vec::new(),
        Some(Reason::UserStop) if head(run) != run.result() => {
            vec![Next {
                command: format!("skilltune show {} head", run.plan.run),
                purpose: "read the last version, which was not judged",
            }]
        }
        Some(
            Reason::UserStop
            | Reason::PhaseError
            | Reason::Oscillation
            | Reason::Stagnation
            | Reason::BudgetExceeded
            | Reason::IterationLimit,
        ) => next("history", "see what happened"),
    }
}

fn head(run: &Run) -> Option<&Artifact> {
    run.state.artifact.as_ref()
}

/// Returns what to do with an artifact of this kind, if a run has left one that its own rules accept.
pub fn use_of_it(run: &Run) -> Option<&'static str> {
    let stop = run.state.stop.as_ref()?;
    if !matches!(stop.reason, Reason::ThresholdReached | Reason::NoMajorIssues) {
        return None;
    }
    let name = &*run.plan.task.criteria.name;
    Some(match Template::ALL.into_iter().find(|template| template.as_str() == name) {
        Some(Template::Api) => {
            "Next: review it with the people who will call it, then build it, and test what you build \
             against its schemas and examples."
        }
        Some(Template::Code) => {
            "Next: move the code into place, then build it and run its tests before you merge it."
        }
        Some(Template::Docs) => {
            "Next: ask someone who knows the subject to read it, then publish it next to what it describes."
        }
        Some(Template::Config) => {
            "Next: try it in a test environment before you replace the current configuration."
        }
        Some(Template::Other) | None => "Next: read it, and move it into place.",
    })
}
