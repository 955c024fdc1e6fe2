//! The words for a run of `reflex` and its parts.

use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::reflex::answers::{Issue, PlanStep};
use skilltune_phases::loops::reflex::criteria::{Level, RuleId};
use skilltune_phases::loops::reflex::original::short;
use skilltune_phases::loops::reflex::verdict::{Distance, Verdict};
use skilltune_phases::loops::reflex::{ArtifactStatus, Judged, PAGE, Reason, Run, Step, Stop};

use crate::text::{figures, plain};

/// Returns the task on one line.
pub fn task(run: &Run) -> String {
    plain::one_line(&run.plan.task.prompt)
}

/// Returns the path in the task's folder where the original's readers look for the artifact.
pub fn artifact_path(run: &Run) -> String {
    let task = &run.plan.task;
    format!("{}/{}/{}/{PAGE}", task.project, task.evolution, task.alias)
}

/// Returns how a text is judged, up to which score, and for how long.
pub fn aim(run: &Run) -> String {
    let (task, rules) = (&run.plan.task, &run.plan.task.rules);
    let seconds = rules.max_seconds.map(|seconds| figures::milliseconds(seconds.saturating_mul(1000)));
    let limits = [
        Some(figures::count(rules.max_iterations as usize, "iteration")),
        seconds.map(|time| format!("{time} of completed phases")),
    ];
    let limits: Vec<_> = limits.into_iter().flatten().collect();
    let thresholds = &task.criteria.thresholds;
    format!(
        "{} rules, level A from {}, level B from {}; {} at most",
        plain::one_line(&task.criteria.name),
        thresholds.a.typed(),
        thresholds.b.typed(),
        limits.join(", ")
    )
}

/// Returns the time that its completed phases took, and its limit.
pub fn time(run: &Run) -> String {
    let most = run.plan.task.rules.max_seconds;
    let most = most.map(|seconds| format!(" of {}", figures::milliseconds(seconds.saturating_mul(1000))));
    format!("{}{}", figures::milliseconds(run.state.clock.completed_ms), most.unwrap_or_default())
}

/// Returns what a step does, and to what.
pub fn step(run: &Run, step: &Step) -> String {
    match step {
        Step::Propose => "proposing rules for the task".to_owned(),
        Step::Agree => "asking whether to start with these rules and limits".to_owned(),
        Step::Plan { .. } => "planning".to_owned(),
        Step::Produce { from: None, .. } => "writing the artifact".to_owned(),
        Step::Produce { from: Some(_), .. } => "rewriting the artifact".to_owned(),
        Step::Prepare { level } => format!("preparing the checks of level {level}"),
        Step::Allow { level } => format!("asking whether to run the commands of level {level}"),
        Step::Match { .. } => "matching patterns".to_owned(),
        Step::Check { check, .. } => {
            let rule = run.state.checks.get(*check).map_or("an unknown rule", |check| check.rule.as_str());
            format!("running a command for {rule}")
        }
        Step::Judge { level, category, .. } => format!("judging {category} of level {level}"),
        Step::Critique { .. } => "criticising the artifact".to_owned(),
        Step::Refine { .. } => "refining the artifact".to_owned(),
    }
}

/// Returns the steps of a plan on one line.
pub fn plan(steps: &[PlanStep]) -> String {
    let steps: Vec<_> = steps.iter().map(|step| plain::one_line(step.step.trim_end_matches('.'))).collect();
    steps.join("; ")
}

/// Returns an issue on one line: the rule that is not met, and the fix.
pub fn fix(issue: &Issue) -> String {
    plain::one_line(&format!("{}: {}", issue.rule, issue.fix_instruction))
}

/// Returns the result of the run in a sentence, with the original's words for those who look for them.
pub fn outcome_text(run: &Run) -> String {
    match &run.state.stop {
        Some(stop) => {
            let (status, word) = (stop.reason.status().word(), stop.reason.word());
            format!("The run is {status} ({word}): {}.", reason(run, stop).trim_end_matches('.'))
        }
        None if run.held && run.plan.task.confirmed.is_none() => {
            "The run waits for you to confirm its rules and limits.".to_owned()
        }
        None if run.held => "The run waits for your answer: run the commands of its checks?".to_owned(),
        None => "The run has not ended; `skilltune resume` continues it.".to_owned(),
    }
}

fn reason(run: &Run, stop: &Stop) -> String {
    let note = stop.note.as_ref().map(|note| plain::one_line(note));
    let with_note = |text: &str| note.as_ref().map_or(text.to_owned(), |note| format!("{text}: {note}"));
    match stop.reason {
        Reason::ThresholdReached => "level B passed".to_owned(),
        Reason::NoMajorIssues => format!(
            "it is below the goal of level B{}, and only warnings are left",
            last_gap(run).map_or(String::new(), |gap| format!(" by {gap}"))
        ),
        Reason::UserStop => with_note("a person stopped it"),
        Reason::PhaseError => with_note("a phase gave no usable answer"),
        Reason::Oscillation => "the artifact returned to an earlier version twice".to_owned(),
        Reason::Stagnation => "the score stopped rising".to_owned(),
        Reason::BudgetExceeded => overspent(run),
        Reason::IterationLimit => {
            format!(
                "maximum of {} reached",
                figures::count(run.plan.task.rules.max_iterations as usize, "iteration")
            )
        }
    }
}

/// Returns the gap of the last evaluation: such an end is about it, even if it is not the best.
fn last_gap(run: &Run) -> Option<String> {
    let last = run.state.judged.last()?;
    Distance::of(&run.plan.task.criteria, &last.evaluation).gap.map(|gap| gap.to_string())
}

fn overspent(run: &Run) -> String {
    let duration = |seconds: u64| figures::milliseconds(seconds.saturating_mul(1000));
    let most = run.plan.task.rules.max_seconds.unwrap_or_default();
    format!("its phases took {}, and the limit is {}", duration(run.state.clock.seconds()), duration(most))
}

/// Returns one word for a report's head.
pub fn label(run: &Run) -> &'static str {
    match run.state.stop.as_ref().map(|stop| stop.reason) {
        None => "NOT ENDED",
        Some(Reason::ThresholdReached) => "PASSED",
        Some(Reason::NoMajorIssues) => "WARNINGS LEFT",
        Some(Reason::UserStop) => "STOPPED",
        Some(Reason::PhaseError) => "FAILED",
        Some(Reason::Oscillation) => "OSCILLATING",
        Some(Reason::Stagnation) => "STALLED",
        Some(Reason::BudgetExceeded) => "BUDGET SPENT",
        Some(Reason::IterationLimit) => "MAX ITERATIONS",
    }
}

/// Returns the status of the artifact, given the hash of its file.
pub fn artifact(run: &Run, on_disk: Option<&str>) -> String {
    let status = run.artifact_status(on_disk);
    let word = status.word();
    let Some(result) = run.result() else { return word.to_owned() };
    let size = figures::bytes(result.bytes);
    match (status, on_disk) {
        (ArtifactStatus::Stale, Some(there)) => {
            format!("{word}: {} was judged, but the file contains {}", result.name(), short(there))
        }
        (ArtifactStatus::Unevaluated, _) => format!("{word}: {}, {size}, not judged", result.name()),
        (ArtifactStatus::NotCreated | ArtifactStatus::Stale | ArtifactStatus::Evaluated, _) => {
            format!("{word}: {}, {size}", result.name())
        }
    }
}

/// Returns the score, if the artifact is what was judged; for any other it means nothing.
pub fn score(run: &Run, on_disk: Option<&str>) -> Option<String> {
    let best = run.best().filter(|_| run.artifact_status(on_disk) == ArtifactStatus::Evaluated)?;
    let (level, threshold) =
        (best.evaluation.level, run.plan.task.criteria.thresholds.at(best.evaluation.level).typed());
    Some(match best.evaluation.score {
        Some(score) => format!("{score} at level {level}, goal {threshold}"),
        None => format!("none at level {level}: too few rules could be verified"),
    })
}

/// Returns what is missing for a pass, under the same condition.
pub fn distance(run: &Run, on_disk: Option<&str>) -> Option<String> {
    let distance = run.distance().filter(|_| run.artifact_status(on_disk) == ArtifactStatus::Evaluated)?;
    let gap = match distance.gap {
        None => "no score".to_owned(),
        Some(below) if below > Score::ZERO => format!("{below} below"),
        Some(_) => "no gap".to_owned(),
    };
    let blocking = match distance.blocking.as_slice() {
        [] => "no blocking rule".to_owned(),
        rules => format!("blocked by {}", ids(rules)),
    };
    let untried = match run.best().map(|best| (best.evaluation.level, best.evaluation.passed)) {
        Some((Level::A, true)) => "; level B was not judged",
        _ => "",
    };
    Some(format!("{gap}, {blocking}, {} of {} rules met{untried}", distance.passed, distance.of))
}

fn ids(rules: &[RuleId]) -> String {
    let ids: Vec<_> = rules.iter().map(|id| plain::one_line(id.as_str())).collect();
    ids.join(", ")
}

/// Returns the rules of an evaluation with one verdict, if there are any.
pub fn with_verdict(judged: &Judged, verdict: Verdict) -> Option<String> {
    let results = judged.evaluation.results.iter().filter(|result| result.verdict == verdict);
    let rules: Vec<_> = results.map(|result| result.rule.clone()).collect();
    (!rules.is_empty()).then(|| ids(&rules))
}

#[cfg(test)]
mod tests;
