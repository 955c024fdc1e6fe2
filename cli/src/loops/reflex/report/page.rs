//! The report of a run: its course, and the evidence for every verdict.

use skilltune_phases::loops::reflex::answers::{Issue, PlanStep};
use skilltune_phases::loops::reflex::checks::{Check, CheckKind};
use skilltune_phases::loops::reflex::verdict::{By, RuleResult, Verdict};
use skilltune_phases::loops::reflex::{Confirmed, Judged, PAGE, Run};
use skilltune_phases::suites::checks::RunThem;

use crate::loops::reflex::report::{advice, changes, words};
use crate::report::document::{
    Block, Report, Row, Section, Span, Text, code, list, locations, paragraph, plain, strong, table,
    words as safe,
};
use crate::settings::proposed;
use crate::text::figures;

pub fn report(run: &Run) -> Report {
    let (task, folder) = (&run.plan.task, &run.plan.folder);
    let mut sections = vec![self::task(run)];
    sections.extend(plan(run));
    sections.extend([progression(run), rules(run)]);
    sections.extend(fixes(run));
    sections.push(checks(run));
    let lead = paragraph([strong(words::label(run)), plain(". "), safe(&words::outcome_text(run))]);
    let places = vec![
        ("Artifact", words::artifact_path(run)),
        ("The original's files", format!("{}/{}/{}/", task.project, task.evolution, task.alias)),
        ("Judged versions", format!("{folder}/iterations/iteration-N/{PAGE}")),
    ];
    Report {
        title: [plain("Final Report: "), safe(&task.alias)].into(),
        lead: [lead].into_iter().chain(advice::use_of_it(run).map(paragraph)).collect(),
        about: vec![
            ("Criteria", safe(&words::aim(run)).into()),
            ("Confirmed By", confirmed(task.confirmed).into()),
        ],
        more: more(run),
        sections,
        unit: "iteration",
        tail: vec![locations(run, places)],
        ..Report::default()
    }
}

fn more(run: &Run) -> Vec<Row> {
    let state = &run.state;
    let mut rows: Vec<Row> = vec![
        ("Commands as Checks", commands(run).into()),
        (
            "Iterations",
            format!("{} of at most {}", state.iteration, run.plan.task.rules.max_iterations).into(),
        ),
        ("Artifact", safe(&words::artifact(run, None)).into()),
    ];
    rows.extend(run.result().map(|artifact| ("SHA-256", code(&artifact.hash).into())));
    rows.extend(words::score(run, None).map(|score| ("Score", safe(&score).into())));
    rows.extend(words::distance(run, None).map(|distance| ("Distance to Success", safe(&distance).into())));
    rows.extend([
        ("Status", run.status().word().into()),
        ("Reason", state.stop.as_ref().map_or("not ended yet", |stop| stop.reason.word()).into()),
        ("Completed Phases", figures::milliseconds(state.clock.completed_ms).into()),
    ]);
    rows
}

fn confirmed(by: Option<Confirmed>) -> &'static str {
    match by {
        None => "no answer yet",
        Some(Confirmed::Person) => "a person",
        Some(Confirmed::Declared) => "a flag, without asking",
    }
}

fn commands(run: &Run) -> String {
    let policy = match proposed::in_effect(run.plan.task.commands.run, run.plan.unattended) {
        RunThem::Always => "run without asking",
        RunThem::Ask => "run after a person allowed them",
        RunThem::Never => "never run; the judge decides instead",
    };
    let walls = if run.plan.task.commands.confined { "" } else { "; not confined by the kernel" };
    format!("{policy}{walls}")
}

fn task(run: &Run) -> Section {
    let mut blocks = vec![Block::Verbatim(run.plan.task.prompt.clone())];
    let ideal = &run.plan.task.ideal;
    if !ideal.trim().is_empty() {
        blocks.extend([paragraph("The ideal result:"), Block::Verbatim(ideal.clone())]);
    }
    Section { title: "Task", blocks }
}

/// Returns the last plan.
fn plan(run: &Run) -> Option<Section> {
    let step = |step: &PlanStep| [code(step.rule.as_str()), plain(": "), safe(&step.step)].into();
    let blocks = vec![list(run.state.plan.iter().map(step))];
    (!run.state.plan.is_empty()).then_some(Section { title: "Plan", blocks })
}

/// Returns what each critique asked for.
fn fixes(run: &Run) -> Option<Section> {
    let asked =
        run.state.judged.iter().flat_map(|judged| judged.issues.iter().map(move |issue| (judged, issue)));
    let row = |(judged, issue): (&Judged, &Issue)| {
        vec![
            judged.iteration.to_string().into(),
            judged.evaluation.level.to_string().into(),
            code(issue.rule.as_str()).into(),
            safe(&issue.problem).into(),
            safe(&issue.fix_instruction).into(),
        ]
    };
    let rows: Vec<_> = asked.map(row).collect();
    let head = ["Iteration", "Level", "Rule", "Problem", "Fix"];
    (!rows.is_empty()).then(|| Section { title: "Fixes", blocks: vec![table(&head, rows)] })
}

fn progression(run: &Run) -> Section {
    let row = |judged: &Judged| {
        let evaluation = &judged.evaluation;
        let threshold = run.plan.task.criteria.thresholds.at(evaluation.level).typed();
        vec![
            judged.iteration.to_string().into(),
            evaluation.level.to_string().into(),
            format!("{} of {threshold}", figures::score(evaluation.score)).into(),
            standing(run, judged).into(),
            code(judged.artifact.name()).into(),
            safe(&changes::changed(run, judged)).into(),
        ]
    };
    let rows: Vec<_> = run.state.judged.iter().map(row).collect();
    let block = if rows.is_empty() {
        paragraph(NOTHING)
    } else {
        table(&["Iteration", "Level", "Score", "Verdict", "Artifact", "Changed"], rows)
    };
    Section { title: "Progression", blocks: vec![block] }
}

const NOTHING: &str = "Nothing was judged.";

fn standing(run: &Run, judged: &Judged) -> &'static str {
    match (judged.dropped, judged.evaluation.passed, run.best() == Some(judged)) {
        (true, ..) => "dropped",
        (false, true, _) => "passed",
        (false, false, true) => "not passed, the best",
        (false, false, false) => "not passed",
    }
}

/// Returns every verdict on the best artifact, with its basis.
fn rules(run: &Run) -> Section {
    let row = |result: &RuleResult| {
        let rule = run.plan.task.criteria.rule(&result.rule);
        vec![
            code(result.rule.as_str()).into(),
            rule.map_or("-".to_owned(), |rule| format!("{}, {}", rule.severity, rule.weight)).into(),
            verdict(result.verdict).into(),
            by(result.by).into(),
            safe(&result.details).into(),
        ]
    };
    let blocks = match run.best() {
        None => vec![paragraph(NOTHING)],
        Some(best) => {
            let level = plain(format!(" at level {}.", best.evaluation.level));
            let head = ["Rule", "Severity, Weight", "Verdict", "By", "Evidence"];
            vec![
                paragraph([plain("Judged: "), code(&best.artifact.hash), level]),
                table(&head, best.evaluation.results.iter().map(row)),
            ]
        }
    };
    Section { title: "Rules", blocks }
}

fn verdict(verdict: Verdict) -> Span {
    match verdict {
        Verdict::Pass => plain(verdict.to_string()),
        Verdict::Fail | Verdict::Warn | Verdict::Unverified => strong(&verdict.to_string()),
    }
}

fn by(by: By) -> &'static str {
    match by {
        By::Pattern => "a pattern",
        By::Command => "a command",
        By::Judge => "the judge",
    }
}

fn checks(run: &Run) -> Section {
    let text =
        "The evaluator prepared these once per level, without seeing the artifact; they do not change.";
    let checks = list(run.state.checks.iter().filter_map(check));
    Section { title: "Checks", blocks: vec![paragraph(text), checks] }
}

fn check(check: &Check) -> Option<Text> {
    let (kind, what, after) = match check.kind()? {
        CheckKind::Command { argv, exit, .. } => {
            ("command ", code(&format!("{argv:?}")), format!(", exit code {exit}"))
        }
        CheckKind::Pattern { pattern, is_present } => {
            ("pattern ", code(pattern), if is_present { ", present" } else { ", absent" }.to_owned())
        }
        CheckKind::Question(text) => ("question: ", safe(text), String::new()),
    };
    Some([code(check.rule.as_str()), plain(format!(": {kind}")), what, plain(after)].into())
}

#[cfg(test)]
mod tests;
