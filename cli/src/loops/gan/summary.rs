//! Describes a run of `gan`. Its JSON keys are a public interface: one meaning has one key in all loops.

use serde_json::{Value, json};
use skilltune_phases::loops::gan::contract::Contract;
use skilltune_phases::loops::gan::{Answer, Run};
use skilltune_phases::runs::event::PlacedBy;

use crate::loops::gan::progress;
use crate::loops::gan::report::words;
use crate::report::summary::{Data, Head, Summary};
use crate::report::words::changes;
use crate::text::{figures, plain};

pub fn summary(run: &Run) -> Summary {
    let (plan, best) = (&run.plan, run.best());
    let round = format!("{} of {}", run.state.sprints.len(), run.last_sprint());
    let mut facts = vec![("round", round.clone())];
    facts.extend(best.map(|best| {
        ("best", format!("round {}, {}", run.number_of(best), words::measured(best.evaluation())))
    }));
    facts.extend(words::result(run).map(|path| ("result", plain::one_line(&path))));
    facts.extend(words::destination(run).map(|destination| ("into", destination)));
    Summary {
        kind: plan.kind.word(),
        subject: words::subject(run),
        head: Head::new("gan ", words::subject(run), words::aim(run)),
        sentence: words::outcome_text(run),
        progress: format!("round {round}"),
        result: figures::score(best.map(|best| best.evaluation().score)),
        facts,
        cast: plan.roles.clone(),
        notes: words::notes(plan),
        found: changes(run).collect(),
        next: progress::advice(run),
        data: Data { subject: subject(run), result: result(run), details: sprints(run), ..Data::default() },
    }
}

fn subject(run: &Run) -> Value {
    let (task, state) = (&run.plan.task, &run.state);
    json!({
        "name": task.name,
        "brief": task.brief.file,
        "level": task.level,
        "profile": task.profile,
        "outcome": run.outcome(),
        "answered_by": state.course.answers.last().map(|answered| answered.by),
        "note": state.end.as_ref().and_then(|end| end.note.as_ref()),
    })
}

/// Only the file of the original names a folder for the sprints, so other runs have no such key.
fn sprints(run: &Run) -> Value {
    words::sprints(run).map_or(Value::Null, |path| json!({ "sprints": path }))
}

fn result(run: &Run) -> Value {
    let (task, state, best) = (&run.plan.task, &run.state, run.best());
    json!({
        "score": best.map(|best| best.evaluation().score),
        "passed_share": best.map(|best| best.evaluation().share),
        // A score above that of the best round, and why it did not count.
        "higher_score": run.higher_score().map(|higher| {
            let why: Vec<String> = higher.why.iter().map(ToString::to_string).collect();
            json!({ "round": run.number_of(higher.round), "score": higher.score, "did_not_count": why })
        }),
        "threshold": task.rules.threshold,
        "contract": state.contract().map(Contract::hash),
        "rounds": state.course.rounds.len(),
        "max_rounds": task.rules.max_rounds,
        "result": words::result(run),
        "into": task.into,
        "promoted": matches!(run.handed_over(), Some(Answer::Promoted)),
        "rolled_back": run.placed == Some(PlacedBy::Rollback),
        "conflict": matches!(run.handed_over(), Some(Answer::Conflict { .. })),
        // The commit of the result, if one was made.
        "proposal": run.proposed().and_then(Result::ok),
    })
}
