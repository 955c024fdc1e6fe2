//! Reads the outcome of a finished run from its journal, for the journal of nights.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use skilltune_phases::base::ending::Class;
use skilltune_phases::base::role::Role;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::aims::calibrate::{self, Calibration};
use skilltune_phases::loops::tune::results::ending;
use skilltune_phases::loops::tune::{Run, Shipment, Tune, Verdict};
use skilltune_phases::nights::drift::Trial;
use skilltune_phases::nights::night::{Decided, End, Halt, JobOutcome, Place, Spent};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::runs::proposal::Proposal;
use skilltune_phases::runs::remedy::Remedy;

use crate::loops::tune::report::json;
use crate::loops::tune::{dangers, price, verdicts};
use crate::nights::cause;
use crate::nights::jobs::{Ready, key};
use crate::report::ceilings;
use crate::runs::Runs;
use crate::runs::session::IN_USE;
use crate::terminal::environment::Environment;
use crate::text::figures;
use crate::text::plain::one_line;

/// The output and exit code of a job's program.
#[derive(Clone, Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

pub fn outcome(ended: &Ended, ready: &Ready, env: &Environment) -> JobOutcome {
    let object = last_object(&ended.stdout);
    let run = object.as_ref().and_then(|object| object["run_id"].as_str()?.parse::<RunId>().ok());
    let none = |end| JobOutcome {
        run: run.clone(),
        key: None,
        end,
        spent: Spent::default(),
        without_windows: BTreeSet::new(),
        cause: None,
    };
    if let Some(error) = object.as_ref().map(|object| &object["error"]).filter(|error| error.is_object()) {
        let (why, cause) = failure(error);
        let known = run.as_ref().and_then(|run| load(run, &ready.project, env));
        let spent = known.as_ref().map(spent).unwrap_or_default();
        return JobOutcome { spent, cause, ..none(End::Failed { why }) };
    }
    let Some(known) = run.as_ref().and_then(|run| load(run, &ready.project, env)) else {
        let why = said(&ended.stderr);
        return none(match ended.code {
            // Another process works on it; the next night tries again.
            Some(2) if why.contains(IN_USE) => End::Unjudged { why },
            Some(2) => End::Refused { why },
            _ => End::Failed { why },
        });
    };
    let mut key = key(known.start().0, ready.wish.key.suite, &known.plan.roles);
    key.models = models(&known);
    let without_windows = known.without_windows().into_iter().map(Into::into).collect();
    let end = end(&known);
    let cause = cause::of(&known, &end);
    JobOutcome { run, key: Some(key), end, spent: spent(&known), without_windows, cause }
}

/// Returns why skilltune failed, and the innermost cause: that is the same for each job on a full disk.
fn failure(error: &Value) -> (Box<str>, Option<Box<str>>) {
    let text = |value: &Value| value.as_str().map(one_line);
    let what = text(&error["what"]).unwrap_or_else(|| "skilltune failed".to_owned());
    let causes: Vec<String> = error["causes"].as_array().into_iter().flatten().filter_map(text).collect();
    let innermost = causes.last().map(|cause| cause.as_str().into());
    let why = std::iter::once(what).chain(causes).collect::<Vec<_>>().join(": ");
    (why.into(), innermost)
}

fn load(run: &RunId, project: &Path, env: &Environment) -> Option<Run> {
    Some(Runs::of(project, env).ok()?.load::<Tune>(run).ok()?.run)
}

/// Returns the last line that is an object.
fn last_object(stdout: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(stdout).ok()?;
    let value: Value =
        serde_json::from_str(text.trim().lines().last()?).or_else(|_| serde_json::from_str(text)).ok()?;
    value.is_object().then_some(value)
}

/// Returns the first line of a complaint, without its prefix.
fn said(stderr: &[u8]) -> Box<str> {
    let text = String::from_utf8_lossy(stderr);
    let error = text.lines().find(|line| line.starts_with("error"));
    let line = error.or_else(|| text.lines().last()).unwrap_or("it printed no error");
    one_line(line.trim_start_matches("error: ")).chars().take(400).collect::<String>().into()
}

fn spent(run: &Run) -> Spent {
    let total = run.ledger.total();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of one run")]
    let seconds = total.ms as f64 / 1000.0;
    Spent {
        calls: u64::from(total.calls),
        tokens: total.tokens(),
        usd: total.usd,
        seconds,
        unpriced: u64::from(total.unpriced),
        estimated: u64::from(total.estimated),
    }
}

/// Returns the model that answered most, for executor and judge.
fn models(run: &Run) -> std::collections::BTreeMap<String, String> {
    let most = |role: &Role| {
        let models = run.models.get(role)?;
        let (model, _) = models.iter().max_by_key(|(_, count)| **count)?;
        Some((role.as_str().to_owned(), model.as_str().to_owned()))
    };
    [Role::EXECUTOR, Role::EVALUATOR].iter().filter_map(most).collect()
}

fn end(run: &Run) -> End {
    if run.state.closed.is_none() {
        return paused(run);
    }
    if let Some(shown) = calibrate::of(run) {
        return measured(run, shown);
    }
    match &run.state.shipment {
        Some(shipment) if run.class() != Class::Unjudged => End::Decided(Box::new(decided(run, shipment))),
        Some(_) | None => End::Unjudged { why: unjudged(run) },
    }
}

fn paused(run: &Run) -> End {
    let paused = |why: String, halt| End::Paused { why: why.into(), halt, agent: None };
    if let Some(failed) = &run.blocked {
        let halt = if failed.failure.kind.remedy() == Remedy::Fix { Halt::Person } else { Halt::Away };
        let cast = Tune::role(&failed.step).and_then(|role| run.plan.roles.get(&role));
        let agent = cast.map(|cast| cast.shown().into());
        let resets = failed.failure.until.map(|until| format!("; it resets {}", figures::moment(until)));
        let why = one_line(&failed.failure.why) + &resets.unwrap_or_default();
        return End::Paused { why: why.into(), halt, agent };
    }
    if run.held {
        return paused("it waits for an answer".to_owned(), Halt::Person);
    }
    match ceilings::paused(run) {
        Some(ceiling) => paused(ceilings::describe(run, ceiling), Halt::Budget),
        None => paused("the night was over".to_owned(), Halt::Time),
    }
}

fn measured(run: &Run, shown: Calibration) -> End {
    let of = |(scenario, scores): (&skilltune_phases::suites::scenario::Scenario, Vec<_>)| {
        let trial = |score| Trial { scenario: scenario.id.clone(), score };
        scores.into_iter().map(trial).collect::<Vec<_>>()
    };
    let trials: Vec<Trial> = run.plan.task.scenarios.iter().zip(shown.scores).flat_map(of).collect();
    if trials.is_empty() || run.class() == Class::Unjudged {
        return End::Unjudged { why: unjudged(run) };
    }
    End::Measured { trials }
}

fn unjudged(run: &Run) -> Box<str> {
    let failed = run.errors.last().map(|failed| one_line(&failed.failure.why));
    failed.unwrap_or_else(|| "nothing could be judged".to_owned()).into()
}

fn decided(run: &Run, shipment: &Shipment) -> Decided {
    let is_win = shipment.verdict == Verdict::Won;
    let (before, after) = (run.initial_score(), run.final_score());
    Decided {
        verdict: json::verdict_word(run).unwrap_or("unjudged").into(),
        words: verdicts::verdict(run, shipment).into(),
        is_win,
        is_open: matches!(shipment.verdict, Verdict::Indecisive | Verdict::Unjudged),
        has_retry: Tune::reopening(run).is_some(),
        effect: shipment.effect,
        before,
        after,
        place: if is_win { place(run) } else { Place::Nowhere },
        commit: run.proposed().and_then(Result::ok).map(|proposal| proposal.commit.clone()),
        notes: notes(run),
        champion: is_win.then_some(shipment.champion.0),
        dangers: dangers::of_champion(run).into_iter().map(Into::into).collect(),
        price: price::estimated_text(run).map(Into::into),
    }
}

fn place(run: &Run) -> Place {
    match run.outcome() {
        ending::RunOutcome::Improved => Place::Applied,
        ending::RunOutcome::Conflict => Place::Conflict,
        _ => run.proposed().and_then(Result::ok).map_or(Place::Kept, place_of),
    }
}

/// Returns the place of a commit.
pub fn place_of(proposal: &Proposal) -> Place {
    match (&proposal.pull_request, &proposal.branch, &proposal.patch) {
        (Some(address), _, _) => Place::PullRequest(address.clone()),
        (None, Some(branch), _) => Place::Branch(branch.clone()),
        (None, None, Some(patch)) => Place::Patch(patch.clone()),
        (None, None, None) => Place::Kept,
    }
}

/// Returns why a winner is not where the job wants it.
fn notes(run: &Run) -> Vec<Box<str>> {
    match run.proposed() {
        Some(Ok(proposal)) => proposal.notes.clone(),
        Some(Err(why)) => vec![format!("no commit could be made: {}", one_line(why)).into()],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_of_skilltune_has_its_causes_and_the_innermost_one_alone() {
        let full = "No space left on device (os error 28)";
        let (why, cause) = failure(&json!({ "what": "cannot write /w/x", "causes": ["short write", full] }));
        assert_eq!(&*why, "cannot write /w/x: short write: No space left on device (os error 28)");
        assert_eq!(cause.as_deref(), Some(full));
        assert_eq!(failure(&json!({})), ("skilltune failed".into(), None));
    }
}
