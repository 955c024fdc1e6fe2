//! The questions of a run of `evolve`, their answers, and what a person has to see before they answer.

use serde_json::json;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::amendment::Change;
use skilltune_phases::loops::evolve::evaluation::{Evidence, Verdict};
use skilltune_phases::loops::evolve::oracle::Standing;
use skilltune_phases::loops::evolve::step::Question;
use skilltune_phases::loops::evolve::{Answer, Evolve, Run, Step};
use skilltune_phases::loops::{self, Loop as _, Offer};
use skilltune_phases::runs::run::StepState;

use super::{amendment, evidence, measured, weakening};
use crate::loops::evolve::oracles;
use crate::text::plain::one_line;

/// Returns the question that a run waits with.
pub fn asked(run: &Run) -> Option<Step> {
    if !run.held {
        return None;
    }
    let is_question = |step: &Step| matches!(step, Step::Allow | Step::Settle { .. } | Step::Ask { .. });
    match Evolve::next(run) {
        loops::Next::Do(mut steps) => steps.find(is_question),
        loops::Next::Decide(_) | loops::Next::End => None,
    }
}

/// Returns the answers to a question. The default comes first.
pub fn offers(step: &Step) -> Vec<&'static Offer> {
    let names: &[&str] = match step {
        Step::Ask { question: Question::Amendment | Question::Weakened, .. } => &["refuse", "approve"],
        Step::Ask { question: Question::Escalation, .. } => &["end", "guide", "accept"],
        Step::Settle { .. } => &["leave", "holds", "fails"],
        _ => &["skip", "run"],
    };
    names.iter().filter_map(|name| Evolve::OFFERS.iter().find(|offer| offer.name == *name)).collect()
}

pub fn question(run: &Run, step: &Step) -> String {
    let text = match step {
        Step::Ask { question: Question::Amendment, .. } => "May the criteria change?",
        Step::Ask { question: Question::Weakened, .. } => {
            "May the result be handed over? It touches tests or their settings."
        }
        Step::Ask { question: Question::Escalation, .. } => {
            "The specification is not met. How should the run continue?"
        }
        Step::Settle { criterion, .. } => {
            return format!("The oracle of {criterion} fails, and the evaluator finds it met. Is it met?");
        }
        _ if run.plan.task.verify.is_some() => "May the commands of the receipts run?",
        _ if oracles::may_have(run) => "May these checks and oracles run?",
        _ => "May the checks of the specification run?",
    };
    text.to_owned()
}

/// Returns the lines that a person needs to answer a question.
pub fn matter(run: &Run, step: &Step, objects: &Objects) -> Vec<String> {
    let lines = match step {
        Step::Allow => oracles::asked(run, objects),
        Step::Settle { tree, criterion } => disputed(run, *tree, criterion),
        Step::Ask { question: Question::Amendment, round } => {
            let changes = amendment(run, *round).map(|(amendment, ..)| &*amendment.changes);
            changes.unwrap_or_default().iter().flat_map(|change| changed(run, change)).collect()
        }
        Step::Ask { question: Question::Weakened, .. } => {
            run.state.end.iter().flat_map(|end| end.weakened.iter().map(weakening)).collect()
        }
        Step::Ask { question: Question::Escalation, .. } => standing(run),
        _ => Vec::new(),
    };
    lines.iter().map(|line| indented(line)).collect()
}

/// Returns a line as it is shown, with its indent.
fn indented(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}", &line[..line.len() - text.len()], one_line(text))
}

/// Returns a criterion, why the evaluator finds it met, and how its oracle failed.
fn disputed(run: &Run, tree: TreeId, criterion: &str) -> Vec<String> {
    /// The last lines of the oracle's output are shown.
    const MOST: usize = 20;
    let text = run.state.contract.as_ref().and_then(|all| all.criterion(criterion)).map(|one| &*one.text);
    let found = found(run, tree, criterion).map(|found| format!("  evaluator: {}", evidence(found)));
    let mut lines = vec![format!("{criterion}: {}", text.unwrap_or_default())];
    lines.extend(found);
    let Some(Standing::Ready(probe) | Standing::AlreadyMet(probe)) = run.stands(criterion) else {
        return lines;
    };
    lines.push(format!("  oracle: {}", json!(probe.oracle.argv)));
    let end = run.probed(criterion, probe.go, tree).map_or("it did not run to its end", |end| &*end.said);
    let output: Vec<&str> = end.lines().collect();
    let last = output[output.len().saturating_sub(MOST)..].iter();
    lines.extend(last.map(|line| format!("    {line}")));
    lines
}

/// Returns the evidence with which the evaluator finds a criterion met.
fn found<'r>(run: &'r Run, tree: TreeId, criterion: &str) -> Option<&'r Evidence> {
    let contract = run.state.contract.as_ref()?.digest();
    let StepState::Answered(Answer::Judged(judgement)) =
        run.state_of(&Step::Judge { tree, contract, era: run.state.era })
    else {
        return None;
    };
    judgement.criteria.iter().find(|one| *one.id == *criterion)?.evidence.as_ref()
}

/// Returns a change of a criterion or a constraint, in three lines.
fn changed(run: &Run, Change { id, text, why }: &Change) -> [String; 3] {
    let contract = run.state.contract.as_ref();
    let constraint = contract.and_then(|all| all.constraints.iter().find(|one| one.id == *id));
    let old = contract.and_then(|all| all.criterion(id)).map(|one| &*one.text);
    let old = old.or(constraint.map(|one| &*one.text)).unwrap_or_default();
    let new = text.as_ref().map_or_else(|| "  removed".to_owned(), |text| format!("  new: {text}"));
    [format!("{id}: {old}"), new, format!("  why: {why}")]
}

/// Returns what the best result lacks, and what the evaluator recommends.
fn standing(run: &Run) -> Vec<String> {
    let Some(evaluation) = run.basis() else { return vec!["nothing was judged".to_owned()] };
    let unmet = evaluation.unmet().chain(evaluation.broken());
    let unmet = unmet.map(Verdict::missing);
    let suggested = evaluation.judgement.recommendations.iter().map(|one| format!("suggestion: {one}"));
    std::iter::once(measured(run, evaluation)).chain(unmet).chain(suggested).collect()
}
