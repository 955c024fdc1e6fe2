//! `final-report.md`: the result of the run, its course, and the evidence for every verdict.

use skilltune_phases::loops::gan::course::Round;
use skilltune_phases::loops::gan::evaluation::{By, Finding, Verdict};
use skilltune_phases::loops::gan::{Run, Sprint, projection};

use crate::loops::gan::report::words;
use crate::report::{costs, words as shared_words};
use crate::text::markdown::{MarkdownPage, code_cell, words as safe};

pub fn report(run: &Run) -> String {
    let mut page = MarkdownPage::titled(&format!("Final Report: {}", safe(&run.plan.task.name)));
    page.paragraph(format!("**{}**. {}", words::label(run), safe(&words::outcome_text(run))));
    summary(&mut page, run);
    progression(&mut page, run);
    if let Some(best) = run.best() {
        best_round(&mut page, run, best);
    }
    answers(&mut page, run);
    notes(&mut page, run);
    costs::costs(&mut page, run);
    costs::errors(&mut page, run, "round");
    places(&mut page, run);
    page.finish()
}

fn summary(page: &mut MarkdownPage, run: &Run) {
    let (plan, task) = (&run.plan, &run.plan.task);
    let mut rows = vec![
        ("Run", format!("{} ({})", code_cell(plan.run.as_str()), plan.kind.word())),
        ("Brief", code_cell(&task.brief.file)),
        ("Judged By", safe(&words::aim(run))),
        ("Agents", safe(&shared_words::roles(&plan.roles))),
    ];
    rows.extend(shared_words::models(run).map(|models| ("Models", safe(&models))));
    let notes = words::notes(plan).into_iter().chain(shared_words::changes(run));
    rows.extend(notes.map(|note| ("Note", safe(&note))));
    rows.push(("Rights of Roles", shared_words::rights(&plan.roles)));
    rows.extend(words::destination(run).map(|destination| ("Destination", safe(&destination))));
    rows.push(("Started", format!("{:.0}", run.started_at)));
    rows.push(("Completed", run.closed_at.map_or("not yet".to_owned(), |at| format!("{at:.0}"))));
    page.section("Summary");
    page.table(&["Field", "Value"], rows.into_iter().map(|(field, value)| vec![field.to_owned(), value]));
}

fn progression(page: &mut MarkdownPage, run: &Run) {
    page.section("Progression");
    let row = |(number, round): (usize, &Round)| {
        let found = round.evaluation();
        let disagreement = round.disagreement(&run.plan.task.rules);
        let disagreement = disagreement
            .map_or(String::new(), |disagreement| format!("; two judgements {} apart", disagreement.typed()));
        vec![
            number.to_string(),
            format!("{}{disagreement}", found.score.typed()),
            format!("{} %", found.share.typed()),
            words::verdict(run, round).to_owned(),
            run.blocks(round).iter().map(|block| safe(&block.to_string())).collect::<Vec<_>>().join("; "),
        ]
    };
    let rows: Vec<_> = (1..).zip(&run.state.course.rounds).map(row).collect();
    if rows.is_empty() {
        return page.paragraph("Nothing was judged.");
    }
    page.table(&["Round", "Score", "Met", "Verdict", "Blocked By"], rows);
}

/// Writes every verdict on the best round, with its basis.
fn best_round(page: &mut MarkdownPage, run: &Run, best: &Round) {
    let found = best.evaluation();
    page.section("Criteria");
    page.paragraph(format!("Verdicts on round {}: {}.", run.number_of(best), words::measured(found)));
    let contract = run.contract_of(found.contract);
    let row = |finding: &Finding| {
        let criterion = contract.and_then(|contract| contract.criterion(&finding.criterion));
        let must = criterion.is_some_and(|criterion| criterion.must_pass);
        vec![
            code_cell(finding.criterion.as_str()),
            if must { "must pass" } else { "" }.to_owned(),
            verdict(finding.verdict),
            by(finding.by).to_owned(),
            safe(&finding.evidence),
            finding.fix.as_deref().map(safe).unwrap_or_default(),
        ]
    };
    page.table(&["Criterion", "Gate", "Verdict", "By", "Evidence", "Fix"], found.findings.iter().map(row));
    if !found.patterns.is_empty() {
        page.subsection("Anti-Patterns");
        let seen = found.patterns.iter();
        page.list(seen.map(|one| format!("{}: {}", code_cell(one.pattern.as_str()), safe(&one.evidence))));
    }
    if !found.extra.is_empty() {
        page.subsection("Beyond the Contract");
        page.paragraph("These are shown but not scored.");
        page.table(&["Item", "Gate", "Verdict", "By", "Evidence", "Fix"], found.extra.iter().map(row));
    }
    let limits: Vec<_> = run.limits(best.artifact).map(safe).collect();
    if !limits.is_empty() {
        page.subsection("Not Checked by Machine");
        page.list(limits);
    }
}

fn verdict(verdict: Verdict) -> String {
    let word = projection::word(verdict);
    if verdict == Verdict::Passed { word.to_owned() } else { format!("**{word}**") }
}

fn by(by: By) -> &'static str {
    match by {
        By::Machine => "a machine",
        By::Judge => "the evaluator",
    }
}

fn answers(page: &mut MarkdownPage, run: &Run) {
    let answers = &run.state.course.answers;
    if answers.is_empty() {
        return;
    }
    page.section("Questions");
    page.list(answers.iter().map(|answered| {
        let (hold, by) = (words::hold(answered.hold), words::by(answered.by));
        format!("after round {}, {hold}: {}, by {by}", answered.after, words::choice(&answered.choice))
    }));
}

/// Writes the builder's notes on each round.
fn notes(page: &mut MarkdownPage, run: &Run) {
    page.section("The Builder's Notes");
    let said = |sprint: &Sprint| {
        let notes = run.notes(sprint)?;
        (!notes.notes.trim().is_empty()).then(|| format!("round {}: {}", sprint.number, safe(&notes.notes)))
    };
    page.list(run.state.sprints.iter().filter_map(said));
}

fn places(page: &mut MarkdownPage, run: &Run) {
    let ours = [
        ("Rounds: artifact, screens, changes, evaluation", "iterations/iteration-N/"),
        ("Sprints and the contract", "sprints/sprint-N.json"),
        ("Journal", "history.jsonl"),
        ("State", "iteration-state.json"),
        ("Calls of agents", "agents/"),
        ("This report", "final-report.md"),
        ("This report as data", "report.json"),
    ];
    let result = words::result(run).map(|path| vec!["Result".to_owned(), code_cell(&path)]);
    let folder = &run.plan.folder;
    let ours = ours.map(|(what, path)| vec![what.to_owned(), code_cell(&format!("{folder}/{path}"))]);
    page.section("Locations");
    page.table(&["What", "Path"], result.into_iter().chain(ours));
}

#[cfg(test)]
mod tests;
