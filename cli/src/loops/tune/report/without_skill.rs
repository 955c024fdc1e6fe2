//! The result of a run that tried scenarios without a skill, in words and as a page.

use serde_json::{Value, json};
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::aims::without_skill::{self, WithoutSkill};
use skilltune_phases::loops::tune::{Aim, Plan, Run, Tune};
use skilltune_phases::runs::plan::Roles;

use crate::loops::tune::report::troubles::{self, Trouble};
use crate::loops::tune::words as phrases;
use crate::report::costs;
use crate::text::figures::{self, count};
use crate::text::markdown::{MarkdownPage, code_cell, words};
use crate::text::plain::one_line;

/// Returns whether a run tries scenarios without a skill.
pub fn is_one(run: &Run) -> bool {
    match run.plan.task.aim {
        Aim::Improve | Aim::Calibrate { .. } | Aim::Compare(_) => false,
        Aim::Try { .. } => true,
    }
}

/// Returns the suite, or its skill.
pub fn subject(run: &Run) -> String {
    format!("{} without a skill", phrases::target(run))
}

/// Returns how many of its trials have a score.
pub fn progress(run: &Run) -> String {
    let all = without_skill::results(run);
    let judged: usize = all.iter().map(|one| one.scores.len()).sum();
    let Aim::Try { trials } = run.plan.task.aim else { return String::new() };
    format!("{judged} of {}", count(run.plan.task.scenarios.len() * trials as usize, "trial"))
}

pub fn facts(run: &Run) -> Vec<(&'static str, String)> {
    vec![("tried", progress(run)), ("shown", shown(run).join(" "))]
}

/// Returns how many scenarios pass, for a table.
pub fn result(run: &Run) -> String {
    let passing = passing(&without_skill::results(run)).count();
    if passing == 1 { "1 passes".to_owned() } else { format!("{passing} pass") }
}

/// Returns what it has shown, and what it could not.
pub fn shown(run: &Run) -> Vec<String> {
    let all = without_skill::results(run);
    let of = count(run.plan.task.scenarios.len(), "scenario");
    let passing: Vec<_> = passing(&all).map(|one| one_line(&one.scenario.id)).collect();
    let unknown = all.iter().filter(|one| one.passes().is_none());
    let unknown: Vec<_> = unknown.map(|one| one_line(&one.scenario.id)).collect();
    let mut lines = vec![match passing.as_slice() {
        [] => format!("0 of {of} pass without a skill."),
        passing => format!("{} of {of} pass without a skill: {}.", passing.len(), passing.join(", ")),
    }];
    lines.extend(
        (!unknown.is_empty()).then(|| format!("Unknown, trials are missing: {}.", unknown.join(", "))),
    );
    lines
}

fn passing<'a>(all: &'a [WithoutSkill<'a>]) -> impl Iterator<Item = &'a WithoutSkill<'a>> {
    all.iter().filter(|one| one.passes() == Some(true))
}

/// Returns the roles that take part.
pub fn roles(plan: &Plan) -> Roles {
    let callable = Tune::callable(plan);
    let is_called = |role: &Role| callable.iter().any(|spec| spec.role == *role);
    let parts = plan.roles.iter().filter(|(role, _)| **role != Role::IMPROVER && is_called(role));
    parts.map(|(role, cast)| (role.clone(), cast.clone())).collect()
}

pub fn json(run: &Run) -> Value {
    let one = |one: &WithoutSkill<'_>| {
        json!({
            "scenario": one.scenario.id,
            "passes": one.passes(),
            "scores": one.scores,
            "trials": one.trials,
        })
    };
    without_skill::results(run).iter().map(one).collect()
}

/// Returns `final-report.md`.
pub fn page(run: &Run) -> String {
    let plan = &run.plan;
    let mut page = MarkdownPage::titled(&format!("Without a Skill: {}", words(&phrases::target(run))));
    page.paragraph(words(&shown(run).join(" ")));
    page.section("Summary");
    let suite = plan.task.suite.as_ref().map_or("-".to_owned(), |suite| code_cell(&suite.path));
    let mut rows = vec![
        ("Run", format!("{} (try)", code_cell(plan.run.as_str()))),
        ("Suite", suite),
        ("Agents", words(&phrases::roles(&roles(plan)))),
    ];
    let notes =
        phrases::notes(plan).into_iter().chain(phrases::changes(run)).chain(phrases::answers_found(run));
    rows.extend(phrases::models(run).map(|models| ("Models", words(&models))));
    rows.extend(notes.map(|note| ("Note", words(&note))));
    rows.extend([
        ("Rights of Roles", phrases::rights(&roles(plan))),
        ("Trials", progress(run)),
        ("Started", format!("{:.0}", run.started_at)),
        ("Completed", run.closed_at.map_or("not yet".to_owned(), |at| format!("{at:.0}"))),
    ]);
    page.table(&["Field", "Value"], rows.into_iter().map(|(field, value)| vec![field.to_owned(), value]));
    page.section("Scenarios");
    page.table(&["Scenario", "Passes", "Scores"], without_skill::results(run).iter().map(row));
    page.paragraph(format!(
        "Verdicts and evidence of each scenario's first trial: {}",
        code_cell(&format!("{}/iterations/iteration-1/iteration-1-eval.md", plan.folder))
    ));
    costs::costs(&mut page, run);
    costs::errors(&mut page, run, "round");
    page.finish()
}

fn row(one: &WithoutSkill<'_>) -> Vec<String> {
    let passes = match one.passes() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let scores: Vec<_> = one.scores.iter().map(|score| figures::score(Some(*score))).collect();
    let missing = one.trials - one.scores.len();
    let missing = (missing > 0).then(|| format!("{missing} missing"));
    let scores: Vec<_> = scores.into_iter().chain(missing).collect();
    vec![words(&one.scenario.id), passes.to_owned(), scores.join(", ")]
}

/// Returns why trials are missing.
pub fn troubles(run: &Run) -> Vec<String> {
    let troubles = troubles::measuring(run, run.round_number()).into_iter().chain(troubles::finishing(run));
    troubles.filter(Trouble::given_up).map(|trouble| trouble.line(run)).collect()
}
