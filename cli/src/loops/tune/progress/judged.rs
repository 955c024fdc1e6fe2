//! The findings of a round in at most four lines: each member of a chain, missed demands, unverified demands, then
//! strengths and weaknesses.

use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::loops::tune::results::notes::{self, CriterionResult, Notes};
use skilltune_phases::loops::tune::{Round, Run};
use skilltune_phases::skills::target::Place;

use crate::loops::tune::words;
use crate::progress::lines::ROOMY;
use crate::text::width::{columns, cut, shortened};
use crate::text::{figures, plain};

/// Returns the lines of a round. A round without a score says elsewhere what failed, so only unverified demands are
/// added.
pub fn judged(run: &Run, round: &Round, width: usize) -> Vec<String> {
    if round.score().is_none() {
        return unclear(run, round, width).into_iter().collect();
    }
    let lines = members(run, round, width).into_iter();
    if words::is_by_single_trials(&run.plan) {
        // The missed statements follow, with what is done about each.
        return lines.chain(unclear(run, round, width)).collect();
    }
    let lines = lines.chain(missed(run, round, width)).chain(unclear(run, round, width));
    lines.chain(notes(run, round, width)).collect()
}

/// Returns the demands of scenarios that were missed.
fn missed(run: &Run, round: &Round, width: usize) -> Option<String> {
    let is_demanded =
        |result: &CriterionResult<'_>| run.plan.task.contract.criterion(result.worst.criterion).is_none();
    let demanded =
        notes::criterion_results(run, round.candidate, round.era, None).into_iter().filter(is_demanded);
    let missed: Vec<_> = demanded.filter(|result| result.met < result.of).collect();
    let names: Vec<_> = missed.iter().map(|result| result.worst.criterion.as_str()).collect();
    (!names.is_empty()).then(|| cut(&format!("{LEAD}missed ({}): {}", names.len(), names.join(", ")), width))
}

/// Returns the unverified demands, which cost as much as missed ones, and the reason if it is the same for all.
fn unclear(run: &Run, round: &Round, width: usize) -> Option<String> {
    let judged = notes::judgements(run, round.candidate, round.era);
    let graded = judged.filter(|(scenario, _)| run.plan.task.is_graded(*scenario));
    let unclear: Vec<_> = graded
        .flat_map(|(_, judgement)| judgement.whole.findings.iter())
        .filter(|finding| finding.verdict == Verdict::Unverified)
        .collect();
    let first = unclear.first()?;
    let names: Vec<_> = unclear.iter().map(|finding| finding.criterion.as_str()).collect();
    let is_same = unclear.iter().all(|finding| finding.evidence == first.evidence);
    let why = if is_same { format!(": {}", plain::one_line(first.evidence)) } else { String::new() };
    Some(cut(&format!("{LEAD}unverified ({}): {}{why}", names.len(), names.join(", ")), width))
}

/// Returns the score of each member, and which outputs are of an earlier round. Names are shortened, scores never.
fn members(run: &Run, round: &Round, width: usize) -> Option<String> {
    let measured = round.measured.as_ref().filter(|_| run.plan.is_chain())?;
    let reused = reused(run, round);
    let scores: Vec<String> = measured
        .members
        .iter()
        .enumerate()
        .map(|(at, &score)| {
            // A dash would look like one more arrow.
            let score = score.map_or_else(|| "?".to_owned(), |score| score.to_string());
            format!(" {score}{}", if at < reused { NOT_RUN } else { "" })
        })
        .collect();
    let fixed = LEAD.len() + ARROW.len() * (scores.len() - 1) + scores.iter().map(String::len).sum::<usize>();
    let room = (width.saturating_sub(fixed) / scores.len()).max(LEAST);
    let name = |at| shortened(&plain::one_line(&run.plan.member(Place(at)).name), room);
    let mut scores: Vec<String> =
        scores.iter().enumerate().map(|(at, score)| format!("{}{score}", name(at))).collect();
    let mut line = format!("{LEAD}{}", scores.join(ARROW));
    // The rest of a long chain is in the round's evaluation.
    while columns(&line) > width && scores.len() > 1 {
        scores.pop();
        line = format!("{LEAD}{}{ARROW}…", scores.join(ARROW));
    }
    Some(cut(&line, width))
}

const LEAD: &str = "  ";
const ARROW: &str = " -> ";
const NOT_RUN: &str = " (reused)";
/// A shorter part of a name says nothing.
const LEAST: usize = 7;

/// Returns how many leading members have not run in this round: after the same skills they would do the same.
fn reused(run: &Run, round: &Round) -> usize {
    let trees = |round: &Round| run.candidate(round.candidate).map(|candidate| candidate.trees.as_slice());
    let Some(own) = trees(round) else { return 0 };
    let earlier =
        run.state.rounds.iter().filter(|other| other.number < round.number && other.era == round.era);
    let whole = earlier.filter(|other| other.measured.as_ref().is_some_and(|all| all.judged == all.of));
    let same = whole.filter_map(trees).map(|other| own.iter().zip(other).take_while(|(a, b)| a == b).count());
    same.max().unwrap_or(0)
}

/// Returns the number of suggestions, and the first strength and weakness that the judges name.
fn notes(run: &Run, round: &Round, width: usize) -> Option<String> {
    let notes = Notes::of(run, round.candidate, round.era);
    let suggestions = Some(notes.suggestions.len()).filter(|&number| number > 0);
    let mut parts: Vec<String> =
        suggestions.map(|number| figures::count(number, "suggestion")).into_iter().collect();
    let first = |label: &str, texts: &[Box<str>]| Some(format!("{label}{}", plain::one_line(texts.first()?)));
    let labels = if width < ROOMY { ["+ ", "- "] } else { ["strength: ", "weakness: "] };
    let strength = first(labels[0], &notes.strengths);
    let weakness = first(labels[1], &notes.weaknesses);
    if let Some(strength) = strength {
        // Each gets half of the line, plus what the other leaves.
        let room = width
            .saturating_sub(LEAD.len() + parts.iter().map(|part| columns(part) + GAP.len()).sum::<usize>());
        let beside = weakness.as_deref().map_or(0, |weakness| (columns(weakness) + GAP.len()).min(room / 2));
        parts.push(cut(&strength, room - beside));
    }
    parts.extend(weakness);
    (!parts.is_empty()).then(|| cut(&format!("{LEAD}{}", parts.join(GAP)), width))
}

const GAP: &str = "; ";
