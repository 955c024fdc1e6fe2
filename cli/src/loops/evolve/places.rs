//! Where the result of a run of `evolve` is, and what to do next.

use std::path::Path;

use skilltune_phases::loops::Offer;
use skilltune_phases::loops::evolve::view::Ended;
use skilltune_phases::loops::evolve::{Answer, Run};

use crate::loops::evolve::words;
use crate::loops::gan::progress::merging;
use crate::report::advice::resume;
use crate::report::summary::Next;
use crate::report::words::commit;
use crate::runs::CHAMPION;
use crate::text::plain::{capitalised, one_line, shell_path};

/// Returns the result in a sentence, or the question that the run waits with.
pub fn sentence(run: &Run) -> String {
    match words::asked(run) {
        Some(step) => format!("The run waits for you. {}", words::question(run, &step)),
        None => one_line(&format!("{}.", capitalised(&run.verdict()))),
    }
}

/// Returns where the result went, or why it is still in the run.
pub fn destination(run: &Run) -> Option<String> {
    let root = &run.plan.task.root;
    let text = match run.handed_over() {
        Some(Answer::Promoted) if run.is_in_folder() => format!("it was written into {root}"),
        Some(Answer::Promoted) => format!("{root} was restored to its state before the run"),
        Some(Answer::Conflict { .. }) => {
            format!("{root} changed during the run, so skilltune did not write to it")
        }
        Some(Answer::Committed(proposal)) => {
            let notes: String = proposal.notes.iter().flat_map(|note| ["; ", note]).collect();
            format!("{}{notes}", commit(proposal))
        }
        Some(Answer::NotCommitted { why }) => format!("no commit could be made: {why}"),
        _ if run.closed_at.is_some() && run.result().is_some() => "it is only in the run".to_owned(),
        _ => return None,
    };
    Some(one_line(&text))
}

/// Returns the paths of the run's own files.
pub fn files(run: &Run) -> Vec<(&'static str, String)> {
    let plan = run.state.plan.as_ref().map(|_| ("Plan", format!("{}/plan.json", run.plan.folder)));
    plan.into_iter().collect()
}

/// Returns the next commands to suggest.
pub fn next(run: &Run) -> Vec<Next> {
    let (id, task) = (&run.plan.run, &run.plan.task);
    let one = |command: String, purpose| vec![Next { command, purpose }];
    if run.closed_at.is_none() {
        let answer = |offer: &Offer| {
            let detail = offer.detail.map_or_else(String::new, |detail| format!(" --with {detail}"));
            let command = format!("skilltune resume {id} --answer {}{detail}", offer.name);
            Next { command, purpose: offer.about }
        };
        return match words::asked(run) {
            Some(step) => words::offers(&step).into_iter().map(answer).collect(),
            None => one(resume(run), "continue"),
        };
    }
    let mut steps = disputed(run).into_iter().collect::<Vec<_>>();
    match (run.handed_over(), run.outcome()) {
        (Some(Answer::Committed(proposal)), _) => {
            steps.extend(merging(&run.plan.folder, proposal));
            steps
        }
        _ if run.is_in_folder() => one(format!("skilltune rollback {id}"), "undo it"),
        (_, Ended::Planned) => {
            let [file, plan] = [task.file.clone(), format!("{}/plan.json", run.plan.folder)]
                .map(|path| shell_path(Path::new(&path)));
            one(format!("skilltune evolve {file} --plan {plan}"), "carry out the plan")
        }
        _ if run.result().is_some() => {
            one(format!("skilltune export {id} {CHAMPION} DIR"), "copy the project with the result")
        }
        (_, Ended::Incomplete) => one(format!("skilltune history {id}"), "see what happened"),
        _ => Vec::new(),
    }
}

/// Returns how a person decides on disputed criteria of a run that has ended: a new run finds the answers of this one.
fn disputed(run: &Run) -> Option<Next> {
    let criteria = &run.evaluation()?.judgement.criteria;
    if !criteria.iter().any(|one| one.is_disputed) {
        return None;
    }
    let file = shell_path(Path::new(&run.plan.task.file));
    Some(Next {
        command: format!("skilltune evolve {file}"),
        purpose: "decide on the disputed criteria at a terminal",
    })
}
