//! The lines that a person reads of a run of `reflex`: plain text, never wider than the given width.

use skilltune_phases::loops::reflex::answers::Issue;
use skilltune_phases::loops::reflex::verdict::Verdict;
use skilltune_phases::loops::reflex::{Judged, Run};

use crate::loops::reflex::report::{changes, words};
use crate::progress::lines::{COLUMN, item, to_copy};
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

/// Returns a line that separates text that is not ours.
pub fn rule(title: &str, width: usize) -> String {
    let title = around("--- ", &plain::one_line(title), " ", width);
    let rest = width.min(80).saturating_sub(columns(&title));
    format!("{title}{}", "-".repeat(rest))
}
