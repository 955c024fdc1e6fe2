//! `final-report.md`: the result of the run, its course, and the evidence for every verdict.

use skilltune_phases::loops::reflex::answers::Issue;
use skilltune_phases::loops::reflex::checks::{Check, CheckKind};
use skilltune_phases::loops::reflex::verdict::{By, RuleResult, Verdict};
use skilltune_phases::loops::reflex::{Confirmed, Judged, PAGE, Run};
use skilltune_phases::suites::checks::RunThem;

use crate::loops::reflex::report::{advice, changes, words};
use crate::report::{costs, words as shared_words};
use crate::text::figures;
use crate::text::markdown::{MarkdownPage, code_cell, words as safe};

pub fn report(run: &Run) -> String {
    let mut page = MarkdownPage::titled(&format!("Final Report: {}", safe(&run.plan.task.alias)));
    page.paragraph(format!("**{}**. {}", words::label(run), safe(&words::outcome_text(run))));
    if let Some(next) = advice::use_of_it(run) {
        page.paragraph(next);
    }
    summary(&mut page, run);
    task(&mut page, run);
    plan(&mut page, run);
    progression(&mut page, run);
    page.section("Rules");
    match run.best() {
        Some(best) => rules(&mut page, run, best),
        None => page.paragraph("Nothing was judged."),
    }
    fixes(&mut page, run);
    checks(&mut page, run);
    costs::costs(&mut page, run);
    costs::errors(&mut page, run, "iteration");
    places(&mut page, run);
    page.finish()
}

fn summary(page: &mut MarkdownPage, run: &Run) {
    let (plan, state) = (&run.plan, &run.state);
    let mut rows = vec![
        ("Run", format!("{} ({})", code_cell(plan.run.as_str()), plan.kind.word())),
        ("Criteria", safe(&words::aim(run))),
        ("Confirmed By", confirmed(plan.task.confirmed).to_owned()),
        ("Agents", safe(&shared_words::roles(&plan.roles))),
    ];
    let notes = shared_words::remarks(&plan.roles).into_iter().chain(shared_words::changes(run));
    rows.extend(shared_words::models(run).map(|models| ("Models", safe(&models))));
    rows.extend(notes.map(|note| ("Note", safe(&note))));
    rows.extend([
        ("Rights of Roles", shared_words::rights(&plan.roles)),
        ("Commands as Checks", commands(run)),
        ("Iterations", format!("{} of at most {}", state.iteration, plan.task.rules.max_iterations)),
        ("Artifact", safe(&words::artifact(run, None))),
    ]);
    rows.extend(run.result().map(|artifact| ("SHA-256", code_cell(&artifact.hash))));
    rows.extend(words::score(run, None).map(|score| ("Score", safe(&score))));
    rows.extend(words::distance(run, None).map(|distance| ("Distance to Success", safe(&distance))));
    rows.extend([
        ("Status", run.status().word().to_owned()),
        ("Reason", state.stop.as_ref().map_or("not ended yet", |stop| stop.reason.word()).to_owned()),
        ("Completed Phases", figures::milliseconds(state.clock.completed_ms)),
        ("Started", format!("{:.0}", run.started_at)),
        ("Completed", run.closed_at.map_or("not yet".to_owned(), |at| format!("{at:.0}"))),
    ]);
    page.section("Summary");
    page.table(&["Field", "Value"], rows.into_iter().map(|(field, value)| vec![field.to_owned(), value]));
}

fn confirmed(by: Option<Confirmed>) -> &'static str {
    match by {
        None => "no answer yet",
        Some(Confirmed::Person) => "a person",
        Some(Confirmed::Declared) => "a flag, without asking",
    }
}

fn commands(run: &Run) -> String {
    let policy = match run.plan.task.commands.run {
        RunThem::Always => "run without asking",
        RunThem::Ask => "run after a person allowed them",
        RunThem::Never => "never run; the judge decides instead",
    };
    let walls = if run.plan.task.commands.confined { "" } else { "; not confined by the kernel" };
    format!("{policy}{walls}")
}

fn task(page: &mut MarkdownPage, run: &Run) {
    page.section("Task");
    page.fenced("text", &run.plan.task.prompt);
    if !run.plan.task.ideal.trim().is_empty() {
        page.paragraph("The ideal result:");
        page.fenced("text", &run.plan.task.ideal);
    }
}

/// Writes the last plan.
fn plan(page: &mut MarkdownPage, run: &Run) {
    if run.state.plan.is_empty() {
        return;
    }
    page.section("Plan");
    page.list(
        run.state.plan.iter().map(|step| format!("{}: {}", code_cell(step.rule.as_str()), safe(&step.step))),
    );
}

/// Writes what each critique asked for.
fn fixes(page: &mut MarkdownPage, run: &Run) {
    let asked =
        run.state.judged.iter().flat_map(|judged| judged.issues.iter().map(move |issue| (judged, issue)));
    let row = |(judged, issue): (&Judged, &Issue)| {
        let (iteration, level) = (judged.iteration.to_string(), judged.evaluation.level.to_string());
        vec![
            iteration,
            level,
            code_cell(issue.rule.as_str()),
            safe(&issue.problem),
            safe(&issue.fix_instruction),
        ]
    };
    let rows: Vec<_> = asked.map(row).collect();
    if !rows.is_empty() {
        page.section("Fixes");
        page.table(&["Iteration", "Level", "Rule", "Problem", "Fix"], rows);
    }
}

fn progression(page: &mut MarkdownPage, run: &Run) {
    page.section("Progression");
    if run.state.judged.is_empty() {
        page.paragraph("Nothing was judged.");
        return;
    }
    let row = |judged: &Judged| {
        let evaluation = &judged.evaluation;
        let threshold = run.plan.task.criteria.thresholds.at(evaluation.level).typed();
        vec![
            judged.iteration.to_string(),
            evaluation.level.to_string(),
            format!("{} of {threshold}", figures::score(evaluation.score)),
            standing(run, judged).to_owned(),
            code_cell(judged.artifact.name()),
            safe(&changes::changed(run, judged)),
        ]
    };
    page.table(
        &["Iteration", "Level", "Score", "Verdict", "Artifact", "Changed"],
        run.state.judged.iter().map(row),
    );
}

fn standing(run: &Run, judged: &Judged) -> &'static str {
    match (judged.dropped, judged.evaluation.passed, run.best() == Some(judged)) {
        (true, ..) => "dropped",
        (false, true, _) => "passed",
        (false, false, true) => "not passed, the best",
        (false, false, false) => "not passed",
    }
}

/// Writes every verdict on the best artifact, with its basis.
fn rules(page: &mut MarkdownPage, run: &Run, best: &Judged) {
    page.paragraph(format!("Judged: {} at level {}.", code_cell(&best.artifact.hash), best.evaluation.level));
    let row = |result: &RuleResult| {
        let rule = run.plan.task.criteria.rule(&result.rule);
        vec![
            code_cell(result.rule.as_str()),
            rule.map_or("-".to_owned(), |rule| format!("{}, {}", rule.severity, rule.weight)),
            verdict(result.verdict),
            by(result.by).to_owned(),
            safe(&result.details),
        ]
    };
    page.table(
        &["Rule", "Severity, Weight", "Verdict", "By", "Evidence"],
        best.evaluation.results.iter().map(row),
    );
}

fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Pass => verdict.to_string(),
        Verdict::Fail | Verdict::Warn | Verdict::Unverified => format!("**{verdict}**"),
    }
}

fn by(by: By) -> &'static str {
    match by {
        By::Pattern => "a pattern",
        By::Command => "a command",
        By::Judge => "the judge",
    }
}

fn checks(page: &mut MarkdownPage, run: &Run) {
    page.section("Checks");
    page.paragraph(
        "The evaluator prepared these once per level, without seeing the artifact; they do not change.",
    );
    page.list(run.state.checks.iter().filter_map(check));
}

fn check(check: &Check) -> Option<String> {
    let how = match check.kind()? {
        CheckKind::Command { argv, exit, .. } => {
            format!("command {}, exit code {exit}", code_cell(&format!("{argv:?}")))
        }
        CheckKind::Pattern { pattern, is_present: true } => {
            format!("pattern {}, present", code_cell(pattern))
        }
        CheckKind::Pattern { pattern, is_present: false } => {
            format!("pattern {}, absent", code_cell(pattern))
        }
        CheckKind::Question(text) => format!("question: {}", safe(text)),
    };
    Some(format!("{}: {how}", code_cell(check.rule.as_str())))
}

fn places(page: &mut MarkdownPage, run: &Run) {
    let task = &run.plan.task;
    let evolution = format!("{}/{}/{}", task.project, task.evolution, task.alias);
    let versions = format!("iterations/iteration-N/{PAGE}");
    let ours = [
        ("Judged versions", versions.as_str()),
        ("Journal", "history.jsonl"),
        ("State", "iteration-state.json"),
        ("Calls of agents", "agents/"),
        ("This report", "final-report.md"),
        ("This report as data", "report.json"),
    ];
    let mut rows = vec![vec!["Artifact".to_owned(), code_cell(&words::artifact_path(run))]];
    rows.push(vec!["The original's files".to_owned(), code_cell(&format!("{evolution}/"))]);
    let folder = &run.plan.folder;
    rows.extend(ours.map(|(what, path)| vec![what.to_owned(), code_cell(&format!("{folder}/{path}"))]));
    page.section("Locations");
    page.table(&["What", "Path"], rows);
}

#[cfg(test)]
mod tests;
