//! Describes a run of `tune` with any aim. Its JSON keys are a public interface.

use serde_json::{Value, json};
use skilltune_phases::loops::tune::{Aim, Run};

use crate::loops::tune::report::json::{fail_on, target, verdict_word};
use crate::loops::tune::report::{calibrating, comparing, without_skill};
use crate::loops::tune::{advice, dangers, verdicts, words};
use crate::report::summary::{Data, Head, Line, Summary};
use crate::text::{figures, plain};

pub fn summary(run: &Run) -> Summary {
    let search = of_search(run);
    match &run.plan.task.aim {
        Aim::Improve => search,
        Aim::Try { .. } => without_skill::summary(run, search),
        Aim::Calibrate { trials } => calibrating::summary(run, *trials, search),
        Aim::Compare(two) => comparing::summary(run, two, search),
    }
}

/// Returns the summary of a search; the other aims change what differs.
fn of_search(run: &Run) -> Summary {
    let plan = &run.plan;
    Summary {
        kind: plan.kind.word(),
        subject: words::target(run),
        head: head(run),
        sentence: if run.held {
            "waits for your answer: apply the champion?".to_owned()
        } else {
            verdicts::outcome_text(run)
        },
        progress: progress(run),
        result: change(run),
        facts: facts(run),
        cast: if plan.task.searches() { plan.roles.clone() } else { without_skill::roles(plan) },
        notes: words::notes(plan),
        found: words::changes(run).chain(words::answers_found(run)).collect(),
        next: advice::next(run),
        data: data(run),
    }
}

fn head(run: &Run) -> Head {
    let (plan, name) = (&run.plan, plain::one_line(&words::target(run)));
    let goal = format!(": {} in up to {}", words::goal(plan), words::budget(plan));
    let lines = vec![Line::Named(["tune ".to_owned(), name, goal])];
    let legend = words::is_by_single_trials(plan).then_some(LEGEND);
    Head { lines, size: Some(words::scenarios(plan)), legend }
}

const LEGEND: &str = "7% = how likely the skill now meets a statement, by all trials and edits";

/// Returns the progress so far and its limit.
pub fn progress(run: &Run) -> String {
    match &run.plan.task.aim {
        Aim::Improve => words::place(run, run.round_number(), false),
        Aim::Try { trials } => without_skill::progress(run, *trials),
        Aim::Calibrate { trials } => calibrating::progress(run, *trials),
        Aim::Compare(_) => comparing::progress(run),
    }
}

/// Returns the scores before and after a search.
fn change(run: &Run) -> String {
    let (from, to) = (figures::score(run.initial_score()), figures::score(run.final_score()));
    format!("{from:>5} -> {to}")
}

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let rules = &run.plan.task.rules;
    let mut facts = vec![("search", words::place(run, run.round_number(), false))];
    let compared = run.state.shipment.as_ref().filter(|shipment| shipment.is_compared());
    facts.extend(compared.map(|shipment| ("verdict", verdicts::verdict(run, shipment))));
    // The score that the search claims is not shown after a comparison.
    let score = match compared {
        Some(shipment) => run.final_score().map(|score| ("score", shipment.champion, score)),
        None => run.best().map(|(best, score)| ("best", best, score)),
    };
    facts.extend(score.map(|(name, of, score)| {
        (name, format!("{score}, goal {}  (candidate {})", rules.threshold.typed(), of.short()))
    }));
    facts
}

/// For a run with an internal error (exit code 1), outcome and reason are `error`, and `error` has the cause: see
/// `failure`.
fn data(run: &Run) -> Data {
    let plan = &run.plan;
    let is_search = plan.task.searches();
    Data {
        first: json!({
            // The result of the final comparison comes first.
            "verdict": verdict_word(run),
            // The dangers in the champion's edits, which a person has to look at before it is applied.
            "dangers": dangers::json(run),
        }),
        subject: json!({ "target": target(run), "outcome": run.outcome(), "reason": run.state.stopped }),
        result: json!({
            "initial_score": run.initial_score(),
            "final_score": run.final_score(),
            "threshold": plan.task.rules.threshold,
            // Whether it passes the pipeline's condition, which replaces the goal; null if there is none.
            "fail_on": fail_on(run),
        }),
        details: json!({
            // Whether scores show the structure of the skill alone, because nothing ran.
            "structural": plan.is_structural(),
            "delivery": plan.task.delivery.word(),
            // Whether an executor could run commands, in any scenario.
            "tools": if plan.task.has_shell() { "shell" } else { "files" },
            // Null if there is no search; the maximum of executor runs is null in rounds.
            "search": is_search.then(|| words::search(plan)),
            "runs": is_search.then(|| words::runs(plan)).flatten(),
            "iterations": run.state.rounds.len(),
            "accepted": run.accepted(),
            "rejected": run.rejected(),
            "champion": run.state.shipment.as_ref().map(|shipment| shipment.champion),
            // The commit of the champion, if one was made.
            "proposal": run.proposed().and_then(Result::ok),
        }),
        last: Value::Null,
    }
}
