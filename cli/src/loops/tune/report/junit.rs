//! `junit.xml`: the scenarios that the end of a run is based on as test cases, for CI systems. `docs/schemas/junit.xsd`
//! describes it.
//!
//! The tested version is the one that the run leaves. A missed demand is a failure; a trial that could not be made or
//! judged is an error; a scenario that the comparison did not need is skipped. A call that failed and then succeeded
//! makes its scenario flaky.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::judging::judgement::Judgement;
use skilltune_phases::judging::score::{self, Score};
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::results::trials;
use skilltune_phases::loops::tune::{Run, StepState, Trial, Tune};
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::runs::run::FailedCall;

use crate::loops::tune::report::trial_results::{self, TrialEnd, failed};
use crate::loops::tune::{verdicts, words};
use crate::text::plain;

/// The most characters of an agent's text that one demand shows.
const LONGEST: usize = 2000;

pub fn junit(run: &Run) -> String {
    let target = safe(&words::target(run));
    let mut report = Report::new(format!("skilltune {}", run.plan.kind.word()));
    report.add_test_suite(suite(run, &target));
    report.to_string().expect("safe characters are valid in XML")
}

fn suite(run: &Run, target: &str) -> TestSuite {
    let mut suite = TestSuite::new(target);
    let versions = trials::last(run);
    let left = run.state.shipment.as_ref().map(|shipment| shipment.champion);
    let tested = versions.iter().find(|(id, _)| left.is_none_or(|left| left == *id)).or(versions.first());
    suite.add_property(("run", run.plan.run.as_str()));
    if let Some(shipment) = &run.state.shipment {
        suite.add_property(("verdict", safe(&verdicts::verdict(run, shipment)).as_str()));
    }
    let Some((id, all)) = tested else { return suite };
    suite.add_property(("version", if *id == run.start() { "start" } else { "candidate" }));
    suite.add_property(("candidate", id.to_string().as_str()));
    for trials in all.chunk_by(|one, next| one.scenario == next.scenario) {
        let mut case = case(run, *id, trials);
        case.set_classname(target);
        suite.add_test_case(case);
    }
    suite
}

fn case(run: &Run, candidate: CandidateId, trials: &[Trial]) -> TestCase {
    let scenario = &run.plan.task.scenarios[trials[0].scenario];
    let results: Vec<TrialResult> = trials.iter().map(|trial| trial_result(run, candidate, *trial)).collect();
    let mut status = status(&results);
    status.add_reruns(retried(run, candidate, trials));
    let mut case = TestCase::new(scenario.id.as_str(), status);
    let scores: Vec<Score> =
        trials.iter().filter_map(|trial| panel::score_of(run, candidate, *trial)).collect();
    if let Some(score) = score::mean(&scores) {
        case.add_property(("score", score.to_string().as_str()));
    }
    if !scenario.demands.is_empty() {
        case.set_assertions(scenario.demands.len());
    }
    case
}

/// The result of one trial.
enum TrialResult {
    Passed,
    Failed {
        kind: String,
        /// The first line says the most.
        lines: Vec<String>,
    },
    Missing {
        kind: String,
        why: String,
    },
    NotNeeded,
}

fn trial_result(run: &Run, candidate: CandidateId, trial: Trial) -> TrialResult {
    match trial_results::end(run, candidate, trial) {
        TrialEnd::Judged(judgement) => judged(run, trial, judgement),
        TrialEnd::Failed(failure) => {
            TrialResult::Failed { kind: word(failure.kind), lines: vec![said(failure)] }
        }
        TrialEnd::Missing(failure) => TrialResult::Missing { kind: word(failure.kind), why: said(failure) },
        TrialEnd::NotNeeded => TrialResult::NotNeeded,
    }
}

/// Judges a trial by its demands. Without any, a trial passes if it reaches the goal.
fn judged(run: &Run, trial: Trial, judgement: &Judgement) -> TrialResult {
    let Some(score) = judgement.whole.scored.composite else {
        let why = "not evaluated".to_owned();
        return TrialResult::Missing { kind: "unverified".to_owned(), why };
    };
    let unmet = judgement.whole.findings.iter().filter(|finding| finding.verdict != Verdict::Pass);
    let unmet: Vec<String> = unmet
        .map(|finding| {
            let question = safe(&run.plan.task.question(finding.criterion));
            let evidence = below(finding.evidence);
            let id = finding.criterion.as_str();
            let id = id.split_once('/').map_or(id, |(_, demand)| demand);
            format!("{id} {}: {question}{evidence}", fate(finding.verdict))
        })
        .collect();
    if run.plan.task.is_graded(trial.scenario) {
        let kind = "demand".to_owned();
        return if unmet.is_empty() {
            TrialResult::Passed
        } else {
            TrialResult::Failed { kind, lines: unmet }
        };
    }
    let goal = run.plan.task.rules.threshold;
    if score >= goal {
        return TrialResult::Passed;
    }
    let head = format!("the score {score} is below the goal {}", goal.typed());
    TrialResult::Failed { kind: "score".to_owned(), lines: std::iter::once(head).chain(unmet).collect() }
}

fn fate(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "passed",
        Verdict::Partial => "is partly met",
        Verdict::Fail => "failed",
        Verdict::Unverified => "could not be verified",
    }
}

/// Returns the worst status of a scenario's trials.
fn status(results: &[TrialResult]) -> TestCaseStatus {
    let mut failures = results.iter().filter_map(|one| match one {
        TrialResult::Failed { kind, lines } => Some((kind, lines)),
        TrialResult::Passed | TrialResult::Missing { .. } | TrialResult::NotNeeded => None,
    });
    let mut missing = results.iter().filter_map(|one| match one {
        TrialResult::Missing { kind, why } => Some((kind, why)),
        TrialResult::Passed | TrialResult::Failed { .. } | TrialResult::NotNeeded => None,
    });
    let needed = results.iter().any(|one| !matches!(one, TrialResult::NotNeeded));
    if let Some((kind, lines)) = failures.next() {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        let others = failures.flat_map(|(_, lines)| lines);
        let all: Vec<&str> = lines.iter().chain(others).map(String::as_str).collect();
        let first = all.first().and_then(|line| line.lines().next()).unwrap_or_default();
        status.set_type(kind).set_message(first).set_description(all.join("\n"));
        status
    } else if let Some((kind, why)) = missing.next() {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type(kind).set_message(why);
        status
    } else if needed {
        TestCaseStatus::success()
    } else {
        let mut status = TestCaseStatus::skipped();
        status.set_message("not tried: the comparison was decided without it");
        status
    }
}

/// Returns the calls for these trials that failed at first and then succeeded.
fn retried(run: &Run, candidate: CandidateId, trials: &[Trial]) -> Vec<TestRerun> {
    let failed = trials.iter().flat_map(|trial| failed(run, candidate, *trial));
    let retried = failed.filter(|failed| matches!(run.state_of(&failed.step), StepState::Answered(_)));
    let rerun = |failed: &FailedCall<Tune>| {
        let mut rerun = TestRerun::new(NonSuccessKind::Failure);
        rerun.set_type(word(failed.failure.kind)).set_message(said(&failed.failure));
        rerun
    };
    retried.map(rerun).collect()
}

fn said(failure: &Failure) -> String {
    safe(&trial_results::why(failure))
}

/// Returns the word that the journal uses.
fn word(kind: FailureKind) -> String {
    serde_json::to_value(kind).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}

/// Puts evidence below its demand, line by line.
fn below(evidence: &str) -> String {
    let shown = evidence.char_indices().nth(LONGEST).map_or(evidence, |(end, _)| &evidence[..end]);
    let shown = allowed(&plain::pictured(shown));
    shown.lines().fold(String::new(), |text, line| text + "\n  " + line)
}

/// Returns the text on one line, in characters that XML can hold.
pub fn safe(text: &str) -> String {
    allowed(&plain::one_line(text))
}

/// Replaces two more characters: they are not control characters, which are already replaced, but XML does not allow
/// them.
fn allowed(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests;
