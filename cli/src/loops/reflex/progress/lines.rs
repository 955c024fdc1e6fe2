//! The lines that a person reads of a run of `reflex`: plain text, never wider than the given width.

use skilltune_phases::loops::reflex::answers::Issue;
use skilltune_phases::loops::reflex::verdict::Verdict;
use skilltune_phases::loops::reflex::{Judged, Outcome, Run, Step};
use skilltune_phases::runs::event::Failure;
use skilltune_phases::runs::remedy::Remedy;
use skilltune_phases::runs::run::StepState;

use crate::loops::reflex::report::{advice, changes, words};
use crate::progress::layout::Layout;
use crate::progress::lines::{advised, cost, to_copy};
use crate::report::words::{mixed, models};
use crate::text::width::{around, columns, cut, wrapped};
use crate::text::{figures, plain};

/// Returns an evaluation in eight lines, if none has to be broken.
pub fn evaluated(run: &Run, judged: &Judged, width: usize) -> Vec<String> {
    let evaluation = &judged.evaluation;
    let threshold = run.plan.task.criteria.thresholds.at(evaluation.level).typed();
    let passed = match (evaluation.score, evaluation.passed) {
        (None, _) => "too few rules could be verified",
        (Some(_), true) => "passed",
        (Some(_), false) => "not passed",
    };
    let most = run.plan.task.rules.max_iterations;
    let head = format!("iteration {} of {most}, level {}: {passed}", judged.iteration, evaluation.level);
    let rules = |verdict| words::with_verdict(judged, verdict);
    let none = || "none".to_owned();
    let unverified =
        rules(Verdict::Unverified).map_or(String::new(), |rules| format!("; unverified: {rules}"));
    let failed = rules(Verdict::Fail).unwrap_or_else(none) + &unverified;
    let items = [
        ("score", format!("{}, threshold {threshold}", figures::score(evaluation.score))),
        ("plan", cut(&words::plan(&judged.plan), width.saturating_sub(COLUMN))),
        ("artifact", judged.artifact.name().to_owned()),
        ("changed", changes::changed(run, judged)),
        ("failed", failed),
        ("warnings", rules(Verdict::Warn).unwrap_or_else(none)),
    ];
    let mut lines = wrapped(&head, width, "  ");
    lines.extend(items.iter().flat_map(|(name, text)| item(name, text, width)));
    let file = to_copy("file     ", &words::artifact_path(run), width.saturating_sub(2));
    lines.extend(file.into_iter().map(|line| format!("  {line}")));
    lines
}

/// Returns what a critique asks for: each rule that is not met, and its fix.
pub fn fixes(issues: &[Issue], width: usize) -> Vec<String> {
    let fix = |issue: &Issue| cut(&words::fix(issue), LONGEST_FIX);
    issues.iter().flat_map(|issue| item("fix", &fix(issue), width)).collect()
}

/// The report has the whole text.
const LONGEST_FIX: usize = 200;

/// The column where the text beside a name starts.
const COLUMN: usize = 12;

/// Returns a name with its text beside it.
fn item(name: &str, text: &str, width: usize) -> Vec<String> {
    let lead = format!("  {name:<10}");
    let text = wrapped(&plain::one_line(text), width.saturating_sub(COLUMN), "");
    let mut lines = text.iter().enumerate();
    let first = lines.next().map_or(lead.trim_end().to_owned(), |(_, first)| format!("{lead}{first}"));
    std::iter::once(first).chain(lines.map(|(_, line)| format!("{:COLUMN$}{line}", ""))).collect()
}

/// Returns a failure that does not stop the run, and whether it is retried.
pub fn failed(run: &Run, step: &Step, outcome: &Outcome, width: usize) -> Vec<String> {
    let goes_on = |failure: &&Failure| matches!(failure.kind.remedy(), Remedy::Tell | Remedy::Repeat);
    let Some(failure) = outcome.as_ref().err().filter(goes_on) else { return Vec::new() };
    let lines = wrapped(&failure_text(run, step, failure), width.saturating_sub(2), "  ");
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

fn failure_text(run: &Run, step: &Step, failure: &Failure) -> String {
    let fate = match run.state_of(step) {
        StepState::GivenUp(_) => "gave up",
        StepState::Answered(_) | StepState::Open => "retried",
    };
    format!("{} ({fate})", words::failed(run, step, failure))
}

/// Returns a line that separates text that is not ours.
pub fn rule(title: &str, width: usize) -> String {
    let title = around("--- ", &plain::one_line(title), " ", width);
    let rest = width.min(80).saturating_sub(columns(&title));
    format!("{title}{}", "-".repeat(rest))
}

/// Returns the result, the distance from success, what it cost, and what to do next.
pub fn story(run: &Run, on_disk: Option<&str>, layout: Layout) -> Vec<String> {
    let width = layout.width;
    let mut lines = wrapped(&words::outcome_text(run), width, "  ");
    lines.extend(item("artifact", &words::artifact(run, on_disk), width));
    lines.extend(words::score(run, on_disk).iter().flat_map(|score| item("score", score, width)));
    let distance = words::distance(run, on_disk);
    lines.extend(distance.iter().flat_map(|distance| item("distance", distance, width)));
    lines.extend(item("effort", &effort(run), width));
    lines.extend(models(run).iter().flat_map(|models| item("models", models, width)));
    lines.extend(mixed(run).flat_map(|mixed| wrapped(&format!("warning: {mixed}"), width, "  ")));
    if run.result().is_some() {
        lines.extend(to_copy("file:", &words::artifact_path(run), width));
    }
    if run.closed_at.is_some() {
        lines.extend(to_copy("report:", &format!("{}/final-report.md", run.plan.folder), width));
    }
    lines.extend(advice::use_of_it(run).iter().flat_map(|next| wrapped(next, width, "  ")));
    lines.extend(advice::next(run).iter().flat_map(|next| advised(next, width)));
    lines
}

fn effort(run: &Run) -> String {
    let dropped = run.state.judged.iter().filter(|judged| judged.dropped).count();
    format!(
        "{}, {dropped} dropped; {}",
        figures::count(run.state.iteration as usize, "iteration"),
        cost(&run.ledger.total())
    )
}
