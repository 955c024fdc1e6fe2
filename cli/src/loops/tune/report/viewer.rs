//! `viewer/`: the trials that the end of a run is based on, in the layout that skill-creator's aggregator and viewer
//! read.
//!
//! ```text
//! viewer/benchmark.json
//! viewer/eval-1/eval_metadata.json
//! viewer/eval-1/with_skill/{eval_metadata.json, run-1/{grading.json, timing.json, outputs/}}
//! viewer/eval-1/without_skill/...
//! ```
//!
//! Only scenarios with demands have such gradings. The viewer knows two configurations by these names alone: here
//! `with_skill` is the candidate, and `without_skill` the skill as it was. It puts all texts into a script of its page,
//! so no text may end that script.

mod benchmark;
mod outputs;

use serde_json::{Value, json};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::engine::EngineError;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::{CandidateId, TreeId};
use skilltune_phases::base::json;
use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::judging::judgement::Finding;
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::results::trials;
use skilltune_phases::loops::tune::trial::measure::{self, Unit};
use skilltune_phases::loops::tune::{Answer, Run, Trial};
use skilltune_phases::suites::checks::Usage;
use skilltune_phases::suites::scenario::Scenario;

use crate::loops::tune::report::trial_results;
use crate::report::replace;
use crate::text::plain;

use outputs::Room;

/// The most characters of one text that are shown.
const LONGEST: usize = 4000;

const CANDIDATE: &str = "with_skill";
const START: &str = "without_skill";

pub fn write(objects: &Objects, place: &SafePath, run: &Run) -> Result<(), EngineError> {
    let evals = evals(objects, run);
    if evals.is_empty() {
        return Ok(());
    }
    let mut room = Room::default();
    for eval in &evals {
        let at = place.join(format!("eval-{}", eval.id));
        put(&at, "eval_metadata.json", &eval.metadata())?;
        for (configuration, runs) in &eval.configurations {
            let at = at.join(configuration);
            put(&at, "eval_metadata.json", &eval.metadata())?;
            for one in runs {
                let at = at.join(format!("run-{}", one.number));
                put(&at, "grading.json", &one.grading())?;
                put(&at, "timing.json", &one.timing())?;
                outputs::write(objects, &at.join("outputs"), one.artifacts, &mut room)?;
            }
        }
    }
    put(place, "benchmark.json", &benchmark::benchmark(run, &evals))
}

fn put(place: &SafePath, name: &str, value: &Value) -> Result<(), EngineError> {
    place.make()?;
    replace(&place.join(name), &json::page(value))
}

/// A scenario, and its graded trials by configuration: the candidate's first.
struct Eval<'a> {
    id: usize,
    scenario: &'a Scenario,
    configurations: Vec<(&'static str, Vec<Graded>)>,
}

/// A trial whose demands were all answered, or whose agent failed.
struct Graded {
    number: usize,
    expectations: Vec<Value>,
    passed: usize,
    usage: Usage,
    artifacts: Option<TreeId>,
}

fn evals<'a>(objects: &Objects, run: &'a Run) -> Vec<Eval<'a>> {
    let mut versions = trials::last(run);
    // The start comes first, unless it is the only version.
    versions.reverse();
    let eval = |(nth, scenario): (usize, &'a Scenario)| {
        let of_version = |((id, trials), name): (&(CandidateId, Vec<Trial>), &'static str)| {
            let own = trials.iter().filter(|trial| trial.scenario == nth);
            let graded = own.zip(1..).filter_map(|(trial, number)| graded(objects, run, *id, *trial, number));
            (name, graded.collect::<Vec<_>>())
        };
        let configurations: Vec<_> = versions.iter().zip([CANDIDATE, START]).map(of_version).collect();
        Eval { id: nth + 1, scenario, configurations }
    };
    let scenarios = run.plan.task.scenarios.iter().enumerate();
    let demanding = scenarios.filter(|(_, scenario)| !scenario.demands.is_empty());
    demanding.map(eval).filter(|eval| eval.configurations.iter().any(|(_, runs)| !runs.is_empty())).collect()
}

fn graded(
    objects: &Objects,
    run: &Run,
    candidate: CandidateId,
    trial: Trial,
    number: usize,
) -> Option<Graded> {
    let scenario = &run.plan.task.scenarios[trial.scenario];
    let expectations: Vec<(bool, Value)> = match panel::unit(run, candidate, trial) {
        Unit::Judged(judgement) => {
            let findings = judgement.whole.findings.iter();
            let expectation = |finding: Finding<'_>| {
                let passed = finding.verdict == Verdict::Pass;
                let text = run.plan.task.question(finding.criterion);
                (passed, expectation(&text, passed, finding.evidence))
            };
            findings.map(expectation).collect()
        }
        Unit::Failed { failure, .. } => {
            let why = trial_results::why(failure);
            scenario.demands.iter().map(|demand| (false, expectation(&demand.shown(), false, &why))).collect()
        }
        Unit::Missing(_) | Unit::Next(_) | Unit::Late => return None,
    };
    let version = run.candidate(candidate)?;
    let outcomes = measure::exercised(run, version, trial);
    let artifacts = outcomes.last().and_then(|outcome| match outcome {
        Answer::Exercised { artifacts, .. } => Some(*artifacts),
        _ => None,
    });
    let passed = expectations.iter().filter(|(passed, _)| *passed).count();
    let expectations = expectations.into_iter().map(|(_, expectation)| expectation).collect();
    Some(Graded { number, expectations, passed, usage: usage(objects, &outcomes), artifacts })
}

fn expectation(text: &str, passed: bool, evidence: &str) -> Value {
    json!({ "text": safe(text), "passed": passed, "evidence": safe(evidence) })
}

/// Adds up all members of a chain. Data missing in the store counts as zero.
fn usage(objects: &Objects, outcomes: &[&Answer]) -> Usage {
    let each = outcomes.iter().filter_map(|outcome| trial_results::usage(objects, outcome));
    each.fold(Usage::default(), |all, one| Usage {
        ms: Some(all.ms.unwrap_or(0) + one.ms.unwrap_or(0)),
        tokens: Some(all.tokens.unwrap_or(0) + one.tokens.unwrap_or(0)),
        ..all
    })
}

impl Eval<'_> {
    fn metadata(&self) -> Value {
        let assertions: Vec<String> =
            self.scenario.demands.iter().map(|demand| safe(&demand.shown())).collect();
        json!({
            "eval_id": self.id,
            "eval_name": self.scenario.id.as_str(),
            "prompt": safe(&self.scenario.description),
            "assertions": assertions,
        })
    }
}

impl Graded {
    fn total(&self) -> usize {
        self.expectations.len()
    }

    /// Returns an unweighted share, because the viewer knows no weights.
    #[expect(clippy::cast_precision_loss, reason = "a scenario has few demands")]
    fn pass_rate(&self) -> f64 {
        benchmark::rounded(self.passed as f64 / self.total().max(1) as f64)
    }

    /// Returns seconds, rounded to milliseconds.
    fn seconds(&self) -> f64 {
        std::time::Duration::from_millis(self.usage.ms.unwrap_or(0)).as_secs_f64()
    }

    /// Returns the grading without `timing`: with it, the aggregator would skip `timing.json`.
    fn grading(&self) -> Value {
        json!({
            "expectations": self.expectations,
            "summary": {
                "passed": self.passed,
                "failed": self.total() - self.passed,
                "total": self.total(),
                "pass_rate": self.pass_rate(),
            },
        })
    }

    fn timing(&self) -> Value {
        json!({
            "total_tokens": self.usage.tokens.unwrap_or(0),
            "duration_ms": self.usage.ms.unwrap_or(0),
            "total_duration_seconds": self.seconds(),
        })
    }
}

/// Makes foreign text safe: it must neither drive a terminal nor end the viewer's script.
fn safe(text: &str) -> String {
    let shown = text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end]);
    plain::pictured(shown).replace("</", "< /").replace("<!", "< !")
}

#[cfg(test)]
mod tests;
