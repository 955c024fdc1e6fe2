//! `iteration-N-eval.md`: the findings of a round's judges, the verdicts with their evidence, and what failed.

use skilltune_phases::judging::contract::{Dimension, Verdict};
use skilltune_phases::judging::judgement::{Assessment, Finding, Judgement, Kind, Suggestion};
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::results::notes::Notes;
use skilltune_phases::loops::tune::trial::measure::{self, SEARCH};
use skilltune_phases::loops::tune::{Measured, Round, Run, Step, Trial};

use crate::loops::tune::report::{troubles, uses};
use crate::text::figures;
use crate::text::markdown::{MarkdownPage, code, code_cell, fence, words};

pub fn evaluation(run: &Run, round: &Round) -> String {
    let judged = judgements(run, round);
    let text = measure::text_judgement(run, round.candidate, round.era).filter(|_| !judged.is_empty());
    let mut page = MarkdownPage::titled(&format!("Iteration {} Evaluation", round.number));
    page.paragraph(head(round));
    if let Some(unused) = uses::text(uses::of_round(run, round)) {
        page.paragraph(unused);
    }
    if let Some(measured) = &round.measured {
        dimensions(&mut page, run, measured, &judged, text);
        chain(&mut page, run, measured);
    }
    // Notes on a candidate that is measured again come from later judges; a round without judges must not show them.
    let notes = if judged.is_empty() { Notes::default() } else { Notes::of(run, round.candidate, round.era) };
    page.section("Strengths");
    page.list(notes.strengths.iter().map(|strength| words(strength)));
    page.section("Weaknesses");
    page.list(notes.weaknesses.iter().map(|weakness| words(weakness)));
    page.section("Improvement Suggestions");
    suggestions(&mut page, &notes.suggestions);
    page.section("Verdicts and Evidence");
    verdicts(&mut page, run, &judged);
    if let Some(judgement) = text {
        verdict(&mut page, run, "The text", judgement);
    }
    failed(&mut page, run, round);
    page.finish()
}

/// Returns the judgements made in this round, in the order of the plan's scenarios.
fn judgements<'a>(run: &'a Run, round: &Round) -> Vec<(usize, &'a Judgement)> {
    let given_up: Vec<usize> = troubles::measuring(run, round.number)
        .iter()
        .filter(|trouble| trouble.given_up())
        .filter_map(|trouble| scenario_of(run, round, trouble.step))
        .collect();
    let scenarios = (0..run.plan.task.scenarios.len()).filter(|scenario| !given_up.contains(scenario));
    scenarios
        .filter_map(|scenario| {
            let trial = Trial { scenario, ordinal: SEARCH, era: round.era };
            Some((scenario, panel::judgement(run, round.candidate, trial)?))
        })
        .collect()
}

/// Returns the scenario that a step of this round's measurement is about.
fn scenario_of(run: &Run, round: &Round, step: &Step) -> Option<usize> {
    let is_its = match step {
        Step::SetUp { scenario, .. } => return Some(*scenario),
        Step::Exercise { member, skill, .. } => {
            run.candidate(round.candidate)?.trees.get(member.0) == Some(skill)
        }
        step => step.judged().is_none_or(|candidate| candidate == round.candidate),
    };
    step.trial().filter(|_| is_its).map(|trial| trial.scenario)
}

fn head(round: &Round) -> String {
    let mut lines = vec![format!("**Composite Score**: {}", composite(round))];
    let quality = round.measured.as_ref().and_then(|measured| measured.quality);
    lines.extend(quality.map(|quality| format!("**Quality of the text**: {quality}/100 ({GUARD})")));
    let claim = round.measured.as_ref().and_then(|measured| measured.claim);
    lines.extend(
        claim.map(|claim| format!("**The evaluator's own number**: {claim}/100 (not used for any decision)")),
    );
    lines.push(format!("**Date**: {:.0}", round.scored_at.unwrap_or(round.started_at)));
    lines.push(format!("**Candidate**: {}", code(&round.candidate.short())));
    lines.join("  \n")
}

/// The purpose of the text's own score.
const GUARD: &str = "not part of the score: it breaks ties, and drops a version whose text is much worse";

fn composite(round: &Round) -> String {
    let Some(measured) = &round.measured else { return "no score yet".to_owned() };
    let claimed = if measured.claimed { " (claimed: numbers without evidence)" } else { "" };
    match measured.score {
        Some(score) => format!("{score}/100{claimed}"),
        None => format!("incomplete ({} of {} scenarios judged)", measured.judged, measured.of),
    }
}

fn dimensions(
    page: &mut MarkdownPage,
    run: &Run,
    measured: &Measured,
    judged: &[(usize, &Judgement)],
    text: Option<&Judgement>,
) {
    let all = judged.iter().map(|(_, one)| *one).chain(text);
    let findings: Vec<Finding<'_>> = all.flat_map(|one| one.whole.findings.iter()).collect();
    if measured.dimensions.iter().all(Option::is_none) && run.plan.task.has_demands() {
        return;
    }
    let rows =
        run.plan.task.contract.dimensions.iter().zip(&measured.dimensions).map(|(dimension, score)| {
            vec![
                words(&dimension.name),
                figures::score(*score),
                format!("{:.2}", dimension.weight),
                feedback(run, dimension, *score, &findings),
            ]
        });
    page.section("Dimension Scores");
    page.table(&["Dimension", "Score", "Weight", "Feedback"], rows);
}

/// Returns the verdicts of a dimension by kind, and which criteria were not met everywhere.
fn feedback(run: &Run, dimension: &Dimension, score: Option<Score>, findings: &[Finding<'_>]) -> String {
    let contract = &run.plan.task.contract;
    let of = |finding: &&Finding<'_>| {
        contract.criterion(finding.criterion).is_some_and(|criterion| criterion.dimension == dimension.id)
    };
    let verdicts: Vec<_> = findings.iter().filter(of).collect();
    if verdicts.is_empty() {
        return if score.is_some() { "claimed without evidence" } else { "not judged" }.to_owned();
    }
    let of = |verdict| verdicts.iter().filter(move |finding| finding.verdict == verdict);
    let count =
        |verdict, word| Some(of(verdict).count()).filter(|&count| count > 0).map(|count| (count, word));
    // An unverified criterion has not failed.
    let counts = [
        count(Verdict::Pass, "passed"),
        count(Verdict::Partial, "partial"),
        count(Verdict::Fail, "failed"),
        count(Verdict::Unverified, "unverified"),
    ];
    let counts: Vec<_> =
        counts.into_iter().flatten().map(|(count, word)| format!("{count} {word}")).collect();
    let mut open: Vec<_> =
        of(Verdict::Fail).chain(of(Verdict::Partial)).map(|finding| finding.criterion).collect();
    open.sort();
    open.dedup();
    let names: Vec<_> = open.into_iter().map(|criterion| code_cell(criterion.as_str())).collect();
    let counts = counts.join(", ");
    if names.is_empty() { counts } else { format!("{counts}; not met: {}", names.join(", ")) }
}

fn chain(page: &mut MarkdownPage, run: &Run, measured: &Measured) {
    if !run.plan.is_chain() {
        return;
    }
    let members = run.plan.task.target.members.iter().zip(&measured.members).enumerate();
    page.section("Chain Scores");
    page.table(
        &["Skill", "Score", "Chain Position"],
        members.map(|(at, (member, score))| {
            vec![words(&member.name), figures::score(*score), (at + 1).to_string()]
        }),
    );
}

fn suggestions(page: &mut MarkdownPage, suggestions: &[Suggestion]) {
    if suggestions.is_empty() {
        page.paragraph("None.");
    }
    for (at, suggestion) in suggestions.iter().enumerate() {
        page.subsection(&format!("{}. [{}] {}", at + 1, suggestion.priority, words(&suggestion.description)));
        let member = suggestion.member.as_ref().map(|member| format!("{}: ", words(member)));
        let target = format!("{}{}", member.unwrap_or_default(), code(&suggestion.target_file));
        let rationale =
            if suggestion.rationale.is_empty() { "-".to_owned() } else { words(&suggestion.rationale) };
        page.list([format!("**Target**: {target}"), format!("**Rationale**: {rationale}")]);
        if let Some(snippet) = &suggestion.snippet {
            page.fenced("", snippet);
        }
    }
}

fn verdicts(page: &mut MarkdownPage, run: &Run, judged: &[(usize, &Judgement)]) {
    if judged.is_empty() {
        page.paragraph("Nothing was judged.");
    }
    for (scenario, judgement) in judged {
        let scenario = &run.plan.task.scenarios[*scenario];
        verdict(page, run, &words(&scenario.id), judgement);
    }
}

fn verdict(page: &mut MarkdownPage, run: &Run, name: &str, judgement: &Judgement) {
    page.subsection(&format!("{name}: {}", score_text(&judgement.whole, judgement)));
    assessment(page, run, &judgement.whole);
    for (name, own) in in_order(run, judgement) {
        page.paragraph(format!("**{}**: {}", words(name), score_text(own, judgement)));
        assessment(page, run, own);
    }
}

/// Returns the assessment of each member, in the order of the chain.
fn in_order<'a>(run: &'a Run, judgement: &'a Judgement) -> impl Iterator<Item = (&'a str, &'a Assessment)> {
    let members = run.plan.task.target.members.iter();
    members.filter_map(|member| {
        judgement.members.get(member.name.as_str()).map(|own| (member.name.as_str(), own))
    })
}

fn score_text(assessment: &Assessment, judgement: &Judgement) -> String {
    let score = assessment.scored.composite.map_or("incomplete".to_owned(), |score| format!("{score}/100"));
    match judgement.kind {
        Kind::Evidenced => score,
        Kind::Claimed => format!("{score} (claimed)"),
    }
}

fn assessment(page: &mut MarkdownPage, run: &Run, assessment: &Assessment) {
    if assessment.findings.is_empty() {
        page.paragraph("The evaluator gave only numbers, without evidence.");
        return;
    }
    page.list(assessment.findings.iter().map(|finding| {
        let question = run.plan.task.question(finding.criterion);
        let question = if question.is_empty() { question } else { format!(": {}", words(&question)) };
        let lead = format!("**{}** {}{question}", finding.verdict, code(finding.criterion.as_str()));
        if finding.evidence.is_empty() {
            return lead;
        }
        format!("{lead}\n{}", fence("text", finding.evidence))
    }));
}

fn failed(page: &mut MarkdownPage, run: &Run, round: &Round) {
    let troubles = troubles::measuring(run, round.number);
    if !troubles.is_empty() {
        page.section("What Failed");
        page.list(troubles.iter().map(|trouble| words(&trouble.line(run))));
    }
}

#[cfg(test)]
mod tests;
