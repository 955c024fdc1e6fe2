//! The result of a run that tried scenarios without a skill, in words and as a page.

use serde_json::{Value, json};
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::aims::try_::{self, WithoutSkill};
use skilltune_phases::loops::tune::{Plan, Run, Tune};
use skilltune_phases::runs::plan::Roles;

use crate::loops::tune::words as phrases;
use crate::report::document::{Report, Row, Section, Text, code, paragraph, plain, table, words};
use crate::report::summary::{Data, Head, Line, Summary};
use crate::text::figures::{self, count};
use crate::text::plain::one_line;

/// Returns the summary of a run without a skill, from that of a search.
pub fn summary(run: &Run, search: Summary) -> Summary {
    // The name of the suite, or of its skill.
    let (name, without) = (phrases::target(run), " without a skill");
    let all = try_::results(run);
    let passing = passing(&all).count();
    Summary {
        kind: "try",
        subject: format!("{name}{without}"),
        head: Head {
            lines: vec![Line::Named(["try ".to_owned(), one_line(&name), without.to_owned()])],
            size: Some(count(run.plan.task.scenarios.len(), "scenario")),
            ..search.head
        },
        result: if passing == 1 { "1 passes".to_owned() } else { format!("{passing} pass") },
        facts: vec![("tried", search.progress.clone()), ("shown", shown(run).join(" "))],
        data: Data { last: json!({ "without_skill": json(&all) }), ..search.data },
        ..search
    }
}

/// Returns how many of its trials have a score.
pub fn progress(run: &Run, trials: u32) -> String {
    let all = try_::results(run);
    let judged: usize = all.iter().map(|one| one.scores.len()).sum();
    format!("{judged} of {}", count(run.plan.task.scenarios.len() * trials as usize, "trial"))
}

/// Returns what it has shown, and what it could not.
pub fn shown(run: &Run) -> Vec<String> {
    let all = try_::results(run);
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

fn json(results: &[WithoutSkill<'_>]) -> Value {
    let one = |one: &WithoutSkill<'_>| {
        json!({
            "scenario": one.scenario.id,
            "passes": one.passes(),
            "scores": one.scores,
            "trials": one.trials,
        })
    };
    results.iter().map(one).collect()
}

/// Returns the report of a run without a skill.
pub fn report(run: &Run, trials: u32) -> Report {
    let results = try_::results(run);
    let evaluation = format!("{}/iterations/iteration-1/iteration-1-eval.md", run.plan.folder);
    let verdicts = plain("Verdicts and evidence of each scenario's first trial: ");
    let scenarios = vec![
        table(&["Scenario", "Passes", "Scores"], results.iter().map(row)),
        paragraph([verdicts, code(&evaluation)]),
    ];
    Report {
        title: [plain("Without a Skill: "), words(&phrases::target(run))].into(),
        lead: vec![paragraph(words(&shown(run).join(" ")))],
        about: vec![suite(run)],
        more: vec![("Trials", progress(run, trials).into())],
        sections: vec![Section { title: "Scenarios", blocks: scenarios }],
        unit: "round",
        ..Report::default()
    }
}

/// Returns the row about the suite.
pub fn suite(run: &Run) -> Row {
    ("Suite", run.plan.task.suite.as_ref().map_or("-".into(), |suite| code(&suite.path).into()))
}

fn row(one: &WithoutSkill<'_>) -> Vec<Text> {
    let passes = match one.passes() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let scores: Vec<_> = one.scores.iter().map(|score| figures::score(Some(*score))).collect();
    let missing = one.trials - one.scores.len();
    let missing = (missing > 0).then(|| format!("{missing} missing"));
    let scores: Vec<_> = scores.into_iter().chain(missing).collect();
    vec![words(&one.scenario.id).into(), passes.into(), scores.join(", ").into()]
}
