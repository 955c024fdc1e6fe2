//! Describes each scenario: the trials of the start next to those of the candidate.
//!
//! ```text
//! trials::sides(run) -> by scenario -> with texts    -> `cases`, for the pages in `data/`
//!                                  \-> without texts -> `figures`, for `report.json`
//! ```

use std::time::Duration;

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::{self, Objects};
use skilltune_phases::base::id::{CandidateId, TreeId};
use skilltune_phases::judging::judgement::{Findings, Judgement};
use skilltune_phases::judging::score::{self, Score};
use skilltune_phases::loops::tune::results::trials;
use skilltune_phases::loops::tune::trial::measure::{self, Execution};
use skilltune_phases::loops::tune::{Answer, Run, Step, Trial};

use crate::loops::tune::report::trial_results::{self, Cost, TrialEnd};
use crate::loops::tune::verdicts;
use crate::text::plain::beginning;

/// The keys that only the pages have.
const TEXTS: [&str; 5] = ["expectations", "question", "evidence", "digest", "diff"];

/// The most letters of a task in `report.json`, and of each text of an agent on a page.
const LONGEST_TASK: usize = 200;
const LONGEST: usize = 2000;

/// The most bytes of a difference, of each side of a file in it, and of any other long text on a page.
const LONGEST_PAGE: usize = 32 << 10;
/// The most trials of a scenario whose artifacts are compared.
const MOST_DIFFS: usize = 8;

/// Returns the scenarios in the order of the suite, with texts.
pub fn cases(run: &Run, objects: &Objects) -> Vec<Value> {
    let with_diffs = |case: Case<'_>| {
        let mut value = case.value(objects);
        for (nth, trial) in value["trials"].as_array_mut().into_iter().flatten().enumerate() {
            trial["diff"] = json!((nth < MOST_DIFFS).then(|| case.diff(objects, nth)).flatten());
        }
        value
    };
    all(run).map(with_diffs).collect()
}

/// Returns the same without texts.
pub fn figures(run: &Run, objects: &Objects) -> Vec<Value> {
    let without_texts = |case: Case<'_>| {
        let mut value = case.value(objects);
        remove_texts(&mut value);
        value["task"] = first(&run.plan.task.scenarios[case.nth].description, LONGEST_TASK).into();
        value
    };
    all(run).map(without_texts).collect()
}

fn remove_texts(value: &mut Value) {
    match value {
        Value::Object(keys) => {
            keys.retain(|key, _| !TEXTS.contains(&key.as_str()));
            keys.values_mut().for_each(remove_texts);
        }
        Value::Array(entries) => entries.iter_mut().for_each(remove_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A scenario with the trials of both versions.
struct Case<'a> {
    run: &'a Run,
    nth: usize,
    sides: [Vec<(CandidateId, Trial)>; 2],
}

fn all(run: &Run) -> impl Iterator<Item = Case<'_>> {
    let sides = trials::sides(run);
    (0..run.plan.task.scenarios.len()).map(move |nth| {
        let own = |side: &Vec<(CandidateId, Trial)>| {
            side.iter().copied().filter(|(_, trial)| trial.scenario == nth).collect()
        };
        Case { run, nth, sides: sides.each_ref().map(own) }
    })
}

impl Case<'_> {
    fn value(&self, objects: &Objects) -> Value {
        let (task, number) = (&self.run.plan.task, self.nth + 1);
        let scenario = &task.scenarios[self.nth];
        let [start, candidate] = self.sides.each_ref().map(|side| {
            let shown = side.iter().map(|&(id, trial)| ShownTrial::of(self.run, objects, id, trial));
            shown.collect::<Vec<_>>()
        });
        let scores = self.scores(&start, &candidate);
        let difference =
            |(start, candidate): (Score, Score)| verdicts::tenths(candidate.points() - start.points());
        let trials = (0..start.len().max(candidate.len())).map(|nth| {
            let side = |side: &[ShownTrial]| side.get(nth).map(|shown| shown.value.clone());
            json!({ "trial": nth + 1, "start": side(&start), "candidate": side(&candidate) })
        });
        let expectation = |demand| {
            let id = scenario.criterion(demand);
            json!({ "id": id, "question": first(&task.question(&id), LONGEST) })
        };
        json!({
            "id": scenario.id,
            "task": beginning(&scenario.description, LONGEST_PAGE),
            "expectations": scenario.demands.iter().map(expectation).collect::<Value>(),
            "held_out": scenario.held_out,
            "page": format!("data/scenario-{number:03}.html"),
            "start": sum(&start, scores[0]),
            "candidate": sum(&candidate, scores[1]),
            "difference": scores[0].zip(scores[1]).map(difference),
            "trials": trials.collect::<Value>(),
        })
    }

    /// Returns the means that the comparison used or, without one, those of all trials.
    fn scores(&self, start: &[ShownTrial], candidate: &[ShownTrial]) -> [Option<Score>; 2] {
        let shipment = self.run.state.shipment.as_ref();
        let pair = shipment.and_then(|shipment| shipment.pairs.iter().find(|pair| pair.scenario == self.nth));
        if let Some(pair) = pair {
            return [Some(pair.start), Some(pair.challenger)];
        }
        let samples = shipment.and_then(|shipment| shipment.unpaired.as_ref());
        let samples = samples.map(|samples| [&samples.start, &samples.challenger]);
        let used = |side: usize| {
            let own = samples?[side].iter().find(|(scenario, _)| *scenario == self.nth);
            own.map(|(_, score)| *score)
        };
        let mean = |trials: &[ShownTrial]| {
            score::mean(&trials.iter().filter_map(|trial| trial.score).collect::<Vec<_>>())
        };
        [used(0).or_else(|| mean(start)), used(1).or_else(|| mean(candidate))]
    }

    /// Returns how the artifacts of the candidate differ from those of the start. A page must not end a run, so trees
    /// that the store has lost are not compared.
    fn diff(&self, objects: &Objects, nth: usize) -> Option<String> {
        let [start, candidate] = self.sides.each_ref().map(|side| {
            let &(id, trial) = side.get(nth)?;
            let version = self.run.candidate(id)?;
            let all: Vec<TreeId> = measure::artifacts(self.run, version, trial);
            all.get(version.trees.len().checked_sub(1)?).copied()
        });
        let (start, candidate) = start.zip(candidate).filter(|(start, candidate)| start != candidate)?;
        let (start, candidate) = (objects.manifest(start).ok()?, objects.manifest(candidate).ok()?);
        let within = (LONGEST_PAGE as u64, LONGEST_PAGE);
        let text = snapshot::unified_within(objects, &start, &candidate, within).ok()?;
        Some(beginning(&text, LONGEST_PAGE))
    }
}

/// Sums up a version's trials of a scenario; nothing if it has none.
fn sum(trials: &[ShownTrial], score: Option<Score>) -> Option<Value> {
    let cost = trials.iter().filter_map(|trial| trial.cost).reduce(Cost::plus).unwrap_or_default();
    let judged = trials.iter().filter(|trial| trial.score.is_some()).count();
    (!trials.is_empty()).then(|| {
        json!({
            "score": score,
            "judged": judged,
            "of": trials.len(),
            "usd": cost.usd,
            "seconds": seconds(cost),
            "tokens": cost.tokens,
        })
    })
}

/// One trial of one version.
struct ShownTrial {
    score: Option<Score>,
    /// `None` if nothing was run.
    cost: Option<Cost>,
    value: Value,
}

impl ShownTrial {
    fn of(run: &Run, objects: &Objects, id: CandidateId, trial: Trial) -> Self {
        let version = run.candidate(id);
        let executions = version.map(|version| measure::executions(run, version, trial)).unwrap_or_default();
        let cost = Cost::of(run, objects, &executions);
        let known = cost.unwrap_or_default();
        let (state, score, why, verdicts) = match trial_results::end(run, id, trial) {
            TrialEnd::Judged(judgement) => {
                let score = judgement.whole.scored.composite;
                let (state, why) = if score.is_some() {
                    ("judged", None)
                } else {
                    ("missing", Some("not evaluated".into()))
                };
                (state, score, why, verdicts_of(run, judgement))
            }
            TrialEnd::Failed(failure) => {
                ("failed", Some(Score::ZERO), Some(trial_results::why(failure)), Vec::new())
            }
            TrialEnd::Missing(failure) => ("missing", None, Some(trial_results::why(failure)), Vec::new()),
            TrialEnd::NotNeeded => {
                let is_open = run.closed_at.is_none();
                ("not_needed", None, is_open.then(|| "not tried so far".into()), Vec::new())
            }
        };
        let value = json!({
            "score": score,
            "state": state,
            "why": why.map(|why| first(&why, LONGEST)),
            "usd": known.usd,
            "seconds": seconds(known),
            "tokens": known.tokens,
            "verdicts": verdicts,
            "call": call(run, id, trial, &executions),
            "digest": digest(run, &executions),
        });
        Self { score, cost, value }
    }
}

fn seconds(cost: Cost) -> Option<f64> {
    cost.ms.map(|ms| Duration::from_millis(ms).as_secs_f64())
}

/// Returns the verdicts on the whole, then those on each member of a chain.
fn verdicts_of(run: &Run, judgement: &Judgement) -> Vec<Value> {
    let of = |member: Option<&str>, findings: &Findings| {
        let verdict = findings.iter().map(|finding| {
            json!({
                "member": member,
                "id": finding.criterion,
                "verdict": finding.verdict,
                "question": first(&run.plan.task.question(finding.criterion), LONGEST),
                "evidence": first(finding.evidence, LONGEST),
            })
        });
        verdict.collect::<Vec<_>>()
    };
    let members = judgement.members.iter().flat_map(|(name, own)| of(Some(name), &own.findings));
    of(None, &judgement.whole.findings).into_iter().chain(members).collect()
}

/// Returns the folder of the executor's last call for a trial. An answer from the cache has none.
fn call(run: &Run, id: CandidateId, trial: Trial, executions: &[Execution<'_>]) -> Option<String> {
    let ended = executions.last().and_then(|(step, _)| run.last_call(step));
    let failed = trial_results::failed(run, id, trial);
    let failed = || failed.filter(|call| matches!(call.step, Step::Exercise { .. })).last();
    let key = match ended {
        Some(ended) => ended.key.filter(|_| !ended.spent.cached),
        None => failed().and_then(|failed| failed.call),
    };
    key.map(|key| format!("agents/{}", key.short()))
}

/// Returns what the agent did as its judge reads it; of a chain with the name of each member.
fn digest(run: &Run, executions: &[Execution<'_>]) -> Option<String> {
    let members = run.plan.task.target.members.iter().zip(executions);
    let digests = members.filter_map(|(member, (_, outcome))| match outcome {
        Ok(Answer::Exercised { digest: Some(digest), .. }) if run.plan.is_chain() => {
            Some(format!("{}:\n{digest}", member.name))
        }
        Ok(Answer::Exercised { digest: Some(digest), .. }) => Some(digest.to_string()),
        _ => None,
    });
    let all = digests.collect::<Vec<_>>().join("\n\n");
    (!all.is_empty()).then(|| beginning(&all, LONGEST_PAGE))
}

/// Returns the first letters of a text.
fn first(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests;
