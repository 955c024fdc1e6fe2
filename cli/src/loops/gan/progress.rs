//! Progress of a `gan` run for people: the contract, each round, questions and their answers, and the result.

use std::path::Path;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::Offer;
use skilltune_phases::loops::gan::course::Round;
use skilltune_phases::loops::gan::evaluation::{Finding, Verdict};
use skilltune_phases::loops::gan::{Decision, Gan, Reading, Run};
use skilltune_phases::runs::proposal::Proposal;

use crate::loops::gan::report::history::chosen;
use crate::loops::gan::report::words;
use crate::progress::lines::{End, below};
use crate::progress::talk::{Narrated, Talk};
use crate::report::advice::resume;
use crate::report::summary::{Line, Next};
use crate::report::words::{branch, patch, pull_request};
use crate::text::width::{cut, wrapped};
use crate::text::{figures, plain};

impl Narrated for Gan {
    type Shelf = ();

    fn shelf(_: Objects) {}

    fn tell_decision(talk: &mut Talk<Self>, run: &Run, decision: &Decision) {
        match decision {
            Decision::Agreed(contract) => {
                let must = contract.criteria.iter().filter(|criterion| criterion.must_pass).count();
                let levels = words::pass_conditions(contract).unwrap_or_default();
                talk.text(&format!(
                    "contract: {} criteria, {must} of them must pass{levels}",
                    contract.criteria.len()
                ));
            }
            Decision::Judged { reading, .. } => {
                if let Some(round) = run.state.course.rounds.last() {
                    judged(talk, run, round, *reading);
                }
            }
            Decision::Answered { hold, choice, by } => {
                let answer = format!("{}: {}", words::hold(*hold), chosen(choice, *by));
                talk.below(&cut(&answer, LONGEST));
            }
            Decision::Again { .. } => {
                talk.below("the contract or the evaluator has changed: judging the best round again");
            }
            Decision::Built { artifact } => {
                if run.state.sprints.last().is_some_and(|sprint| sprint.from == *artifact) {
                    talk.below("the builder has changed nothing");
                }
            }
            Decision::Drafted(_)
            | Decision::Proposed(_)
            | Decision::Ruled(_)
            | Decision::Sprint { .. }
            | Decision::Ended(_)
            | Decision::Close => {}
        }
    }

    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        talk.end(run, end(run));
    }
}

/// The most criteria of a round that are shown at once; all are in its report.
const SHOWN: usize = 5;
const LONGEST: usize = 200;

fn judged(talk: &mut Talk<Gan>, run: &Run, round: &Round, reading: Reading) {
    let (width, style) = (talk.layout.width, talk.layout.talk);
    let found = match reading {
        Reading::First => &round.first,
        Reading::Second => round.second.as_ref().unwrap_or(&round.first),
    };
    let again = if reading == Reading::Second { ", judged again" } else { "" };
    let most = run.last_sprint();
    let head = format!(
        "round {} of {most}{again}: {}{}; {}",
        run.number_of(round),
        words::verdict(run, round),
        words::why_not(run, round),
        words::measured(found)
    );
    let mut lines = wrapped(&head, width, "  ");
    let is_passed = run.blocks(round).is_empty();
    if let Some(first) = lines.first_mut() {
        *first = if is_passed { style.green(first) } else { style.red(first) };
    }
    let unmet: Vec<&Finding> =
        found.findings.iter().filter(|finding| finding.verdict != Verdict::Passed).collect();
    for finding in unmet.iter().take(SHOWN) {
        let line = format!("{}: {}", finding.criterion, cut(&plain::one_line(&finding.evidence), LONGEST));
        lines.extend(below(&line, width));
    }
    if unmet.len() > SHOWN {
        lines.push(format!("  and {} more", unmet.len() - SHOWN));
    }
    if let Some(uncited) = words::uncited(found) {
        lines.extend(below(&uncited, width));
    }
    if let Some(disagreement) = round.disagreement(&run.plan.task.rules) {
        let remark =
            format!("two judgements are {} points apart; the lower one counts", disagreement.typed());
        lines.extend(below(&remark, width));
    }
    talk.say(&lines);
}

/// Returns the result, where it is, and what to do next.
fn end(run: &Run) -> End {
    let mut lines = vec![Line::Text(words::outcome_text(run))];
    if run.held && run.has_to_ask_for_commands() {
        lines.extend(words::commands(run).map(|command| Line::Copy(" ".to_owned(), command)));
    }
    if let Some(best) = run.best() {
        let measured = words::measured(best.evaluation());
        lines.push(Line::Item("best", format!("round {}, {measured}", run.number_of(best))));
        let blocks: Vec<_> = run.blocks(best).iter().map(ToString::to_string).collect();
        lines.extend((!blocks.is_empty()).then(|| Line::Item("blocked", blocks.join("; "))));
    }
    lines.extend(words::higher_score(run).map(Line::Text));
    let rounds = figures::count(run.state.course.rounds.len(), "round");
    let destination = words::destination(run).map(Line::Text);
    let result = words::result(run).map(|path| Line::Copy("result:".to_owned(), path));
    let sprints = words::sprints(run).map(|path| Line::Copy("sprints:".to_owned(), path));
    let places = destination.into_iter().chain(result).chain(sprints).collect();
    End { lines, rounds: Some(format!("{rounds} judged")), places, next: advice(run) }
}

/// Returns the next commands to suggest.
pub fn advice(run: &Run) -> Vec<Next> {
    let id = &run.plan.run;
    if run.closed_at.is_some() && run.is_in_folder() {
        return vec![Next { command: format!("skilltune rollback {id}"), purpose: "undo it" }];
    }
    if run.closed_at.is_some() {
        return run
            .proposed()
            .and_then(Result::ok)
            .map_or_else(Vec::new, |made| merging(&run.plan.folder, made));
    }
    if run.held && run.has_to_ask_for_commands() {
        let answer =
            |name: &str, purpose| Next { command: format!("skilltune resume {id} --answer {name}"), purpose };
        return vec![answer("run", "run them"), answer("skip", "let the evaluator decide instead")];
    }
    if run.held {
        let answer = |offer: &Offer| {
            let detail = offer.detail.map_or_else(String::new, |detail| format!(" --with {detail}"));
            let command = format!("skilltune resume {id} --answer {}{detail}", offer.name);
            Next { command, purpose: offer.about }
        };
        return run
            .asks()
            .map_or_else(Vec::new, |hold| words::choices(hold).into_iter().map(answer).collect());
    }
    vec![Next { command: resume(run), purpose: "continue" }]
}

/// Returns how to take a commit, and how to discard it. A patch is in the folder of the run.
pub fn merging(folder: &str, proposal: &Proposal) -> Vec<Next> {
    let take = if let Some(address) = pull_request(proposal) {
        Some(format!("gh pr merge {address}"))
    } else if let Some(branch) = branch(proposal) {
        Some(format!("git merge {branch}"))
    } else {
        patch(proposal, Path::new(folder)).map(|path| format!("git am {path}"))
    };
    let next = |(command, purpose): (Option<String>, _)| Some(Next { command: command?, purpose });
    [(take, "take it"), (discard(proposal), "discard it")].into_iter().filter_map(next).collect()
}

/// Returns the command that discards a commit. A patch needs none.
pub fn discard(proposal: &Proposal) -> Option<String> {
    if let Some(address) = pull_request(proposal) {
        return Some(format!("gh pr close --delete-branch {address}"));
    }
    branch(proposal).map(|branch| format!("git branch -D {branch}"))
}

#[cfg(test)]
mod tests;
