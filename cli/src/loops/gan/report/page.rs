//! The report of a run: its course, and the evidence for every verdict.

use skilltune_phases::loops::gan::course::{Answered, Round};
use skilltune_phases::loops::gan::evaluation::{By, Evaluation, Finding, Verdict};
use skilltune_phases::loops::gan::{Run, Sprint, projection};

use crate::loops::gan::report::words;
use crate::report::document::{
    Block, Report, Section, Span, Text, code, joined, list, locations, paragraph, plain, strong, table,
    words as safe,
};
use crate::text::plain::capitalised;

pub fn report(run: &Run) -> Report {
    let (task, folder) = (&run.plan.task, &run.plan.folder);
    let mut sections = vec![progression(run)];
    sections.extend(run.best().map(|best| best_round(run, best)));
    sections.extend(answers(run));
    sections.push(notes(run));
    let result = words::result(run).map(|path| ("Result", path));
    let ours = [
        ("Rounds: artifact, screens, changes, evaluation", format!("{folder}/iterations/iteration-N/")),
        ("Sprints and the contract", format!("{folder}/sprints/sprint-N.json")),
    ];
    let in_project = words::sprints(run).map(|path| ("The same in the project", format!("{path}/")));
    Report {
        title: [plain("Final Report: "), safe(&task.name)].into(),
        lead: vec![paragraph([strong(words::label(run)), plain(". "), safe(&words::outcome_text(run))])],
        about: vec![("Brief", code(&task.brief.file).into()), ("Judged By", safe(&words::aim(run)).into())],
        more: words::destination(run).map(|text| ("Destination", safe(&text).into())).into_iter().collect(),
        sections,
        unit: "round",
        tail: vec![locations(run, result.into_iter().chain(ours).chain(in_project).collect())],
        ..Report::default()
    }
}

fn progression(run: &Run) -> Section {
    let row = |(number, round): (usize, &Round)| {
        let found = round.evaluation();
        let disagreement = round.disagreement(&run.plan.task.rules);
        let disagreement = disagreement
            .map_or(String::new(), |disagreement| format!("; two judgements {} apart", disagreement.typed()));
        let blocks = run.blocks(round).into_iter().map(|block| safe(&block.to_string()));
        vec![
            number.to_string().into(),
            format!("{}{disagreement}", found.score.typed()).into(),
            format!("{} %", found.share.typed()).into(),
            words::verdict(run, round).into(),
            joined(blocks, "; "),
        ]
    };
    let rows: Vec<_> = (1..).zip(&run.state.course.rounds).map(row).collect();
    let block = if rows.is_empty() {
        paragraph("Nothing was judged.")
    } else {
        table(&["Round", "Score", "Met", "Verdict", "Blocked By"], rows)
    };
    let higher = words::higher_score(run).map(|text| paragraph(safe(&capitalised(&text))));
    Section { title: "Progression", blocks: std::iter::once(block).chain(higher).collect() }
}

/// Returns every verdict on the best round, with its basis.
fn best_round(run: &Run, best: &Round) -> Section {
    let found = best.evaluation();
    let row = |finding: &Finding| finding_row(run, found, finding);
    let verdicts = format!("Verdicts on round {}: {}.", run.number_of(best), words::measured(found));
    let mut blocks = vec![
        paragraph(verdicts),
        table(&["Criterion", "Gate", "Verdict", "By", "Evidence", "Fix"], found.findings.iter().map(row)),
    ];
    let heading = |title: &str| Block::Heading(title.to_owned());
    blocks.extend([
        heading("Levels"),
        paragraph("The level follows from the criteria. What the evaluator cites is shown but not counted."),
        levels(run, best),
    ]);
    if !found.patterns.is_empty() {
        let patterns = found.patterns.iter();
        let patterns =
            patterns.map(|one| [code(one.pattern.as_str()), plain(": "), safe(&one.evidence)].into());
        blocks.extend([heading("Anti-Patterns"), list(patterns)]);
    }
    if !found.extra.is_empty() {
        blocks.extend([
            heading("Beyond the Contract"),
            paragraph("These are shown but not scored."),
            table(&["Item", "Gate", "Verdict", "By", "Evidence", "Fix"], found.extra.iter().map(row)),
        ]);
    }
    let limits: Vec<Text> = run.limits(best.artifact).map(|limit| safe(limit).into()).collect();
    if !limits.is_empty() {
        blocks.extend([heading("Not Checked by Machine"), list(limits)]);
    }
    Section { title: "Criteria", blocks }
}

/// Returns the level of each dimension, the level of the rubric that the evaluator cites, and its reason.
fn levels(run: &Run, round: &Round) -> Block {
    let cited = run.cited_in(round);
    let rows = round.evaluation().dimensions.iter().map(|dimension| {
        let claim = cited.iter().find(|claim| claim.dimension == dimension.id);
        let none = || "none, or without a reason".to_owned();
        vec![
            safe(dimension.id.as_str()).into(),
            dimension.level.typed().into(),
            claim.map_or_else(none, |claim| claim.level.typed()).into(),
            claim.map_or("".into(), |claim| safe(&claim.why).into()),
        ]
    });
    table(&["Dimension", "Level", "Cited by the Evaluator", "Reason"], rows)
}

fn finding_row(run: &Run, found: &Evaluation, finding: &Finding) -> Vec<Text> {
    let contract = run.contract_of(found.contract);
    let criterion = contract.and_then(|contract| contract.criterion(&finding.criterion));
    let must = criterion.is_some_and(|criterion| criterion.must_pass);
    vec![
        code(finding.criterion.as_str()).into(),
        if must { "must pass" } else { "" }.into(),
        verdict(finding.verdict).into(),
        by(finding.by).into(),
        safe(&finding.evidence).into(),
        finding.fix.as_deref().map_or("".into(), |fix| safe(fix).into()),
    ]
}

fn verdict(verdict: Verdict) -> Span {
    let word = projection::word(verdict);
    if verdict == Verdict::Passed { plain(word) } else { strong(word) }
}

fn by(by: By) -> &'static str {
    match by {
        By::Machine => "a machine",
        By::Judge => "the evaluator",
    }
}

fn answers(run: &Run) -> Option<Section> {
    let answers = &run.state.course.answers;
    let answer = |answered: &Answered| {
        let (hold, by) = (words::hold(answered.hold), words::by(answered.by));
        format!("after round {}, {hold}: {}, by {by}", answered.after, words::choice(&answered.choice)).into()
    };
    let blocks = vec![list(answers.iter().map(answer))];
    (!answers.is_empty()).then_some(Section { title: "Questions", blocks })
}

/// Returns the builder's notes on each round.
fn notes(run: &Run) -> Section {
    let note = |sprint: &Sprint| {
        let notes = &run.notes(sprint)?.notes;
        let round = plain(format!("round {}: ", sprint.number));
        (!notes.trim().is_empty()).then(|| [round, safe(notes)].into())
    };
    Section { title: "The Builder's Notes", blocks: vec![list(run.state.sprints.iter().filter_map(note))] }
}

#[cfg(test)]
mod tests;
