//! How a candidate gets into a person's folders, or into a commit whose message has the verdict, the figures and the run.

use crate::base::id::CandidateId;
use crate::judging::score::Score;
use crate::loops::shared::step::{Move, Propose, Shared};
use crate::loops::tune::{Run, Shipment, Step, Verdict};
use crate::runs::proposal::{Form, Trailers, Words, plain};
use crate::skills::candidate::Candidate;
use crate::skills::edit::Danger;
use crate::skills::target::Place;

/// Returns how the engine carries out a step that asks about the result, promotes it or proposes it.
pub(crate) fn shared(run: &Run, step: &Step) -> Option<Shared> {
    match step {
        Step::Ask(_) => Some(Shared::Ask),
        Step::Promote { from, to } => {
            let moves = moves(run, run.candidate(*from)?, run.candidate(*to)?);
            Some(Shared::Promote { moves, makes_folders: false })
        }
        Step::Propose { candidate, form } => {
            Some(Shared::Propose(propose(run, run.candidate(*candidate)?, *form)))
        }
        _ => None,
    }
}

/// Returns the commit of a candidate's changes against the version that the run started from.
pub fn propose(run: &Run, candidate: &Candidate, form: Form) -> Propose {
    let moves = moves(run, &run.state.candidates[0], candidate);
    let (words, version) = (words(run, candidate), candidate.id.short());
    Propose { moves, earlier: Vec::new(), form, words, committed: Vec::new(), version }
}

/// Returns the change of each member's folder between two versions. Unchanged members are included, so that all are
/// checked.
fn moves(run: &Run, from: &Candidate, to: &Candidate) -> Vec<Move> {
    let members = run.plan.task.target.members.iter().zip(from.trees.iter().zip(&to.trees));
    members.map(|(member, (&from, &to))| Move { path: member.path.clone(), from, to }).collect()
}

/// Returns the commit message of a candidate.
pub fn words(run: &Run, candidate: &Candidate) -> Words {
    // Keeps each on one line, whatever a folder is called.
    let names: Vec<_> = run.plan.task.target.members.iter().map(|member| plain(&member.name)).collect();
    let what = if run.plan.is_chain() { "skills" } else { "skill" };
    let subject = format!("Improve the {what} {}", names.join(", "));
    let shipment = run.state.shipment.as_ref().filter(|one| one.challenger == Some(candidate.id));
    let (compared, verdict) = match shipment {
        Some(shipment) => (compared(run, shipment, candidate.id), word(run, shipment)),
        None => ("No final comparison shows that this candidate is better.".to_owned(), "none"),
    };
    let body = format!("{compared}{}", dangers(run, candidate.id));
    let trailers = Trailers { run: &run.plan.run, version: &candidate.id.short(), verdict };
    Words::new(&names, (&subject, &body), trailers, run.state.shipped_at.unwrap_or(run.started_at))
}

/// The reports list all dangers.
const MOST_DANGERS: usize = 20;

/// Lists the dangers that the reviewer of the commit must check first.
fn dangers(run: &Run, candidate: CandidateId) -> String {
    let all = run.dangers(candidate);
    if all.is_empty() {
        return String::new();
    }
    let line = |(member, danger): &(Place, &Danger)| {
        let member = run.plan.task.target.members.get(member.0).filter(|_| run.plan.is_chain());
        let folder = member.map_or_else(String::new, |member| format!("{}/", member.name));
        format!("- {}", plain(&danger.text(&folder)))
    };
    let more = all.len().saturating_sub(MOST_DANGERS);
    let more = (more > 0).then(|| format!("- and {more} more"));
    let lines: Vec<_> = all.iter().take(MOST_DANGERS).map(line).chain(more).collect();
    format!(
        "\n\nLook at these lines before you merge it. They let the skill do more than before:\n\n{}",
        lines.join("\n")
    )
}

fn compared(run: &Run, shipment: &Shipment, candidate: CandidateId) -> String {
    let verdict = match shipment.verdict {
        Verdict::Won if shipment.effect.is_some() => "The final comparison shows that it is better.",
        Verdict::Won => "It scored higher than the version before it, which is weak evidence.",
        Verdict::Lost => "It did not score higher than the version before it.",
        Verdict::Tied => "It is no better than the version before it.",
        Verdict::Indecisive | Verdict::Unjudged => "The final comparison does not show whether it is better.",
        Verdict::Regressed => "It is better on the whole and much worse on some scenario.",
        Verdict::Unused => "No trial used it, so nothing shows that it is better.",
        Verdict::Unchallenged => "No final comparison shows that this candidate is better.",
    };
    let of = |id| {
        let found = shipment.scores.iter().find(|(one, _)| *one == id);
        found.and_then(|(_, score)| *score).map(Score::points)
    };
    let scores = of(run.start()).zip(of(candidate));
    let scores = scores.map(|(before, after)| format!("\nScore: {before:.1} before, {after:.1} after."));
    let effect = shipment.effect.map(|effect| {
        format!(
            "\nDifference: {:+.1} points, between {:+.1} and {:+.1} at confidence {}.",
            effect.points, effect.lower, effect.upper, run.plan.task.rules.confidence
        )
    });
    format!("{verdict}{}{}", scores.unwrap_or_default(), effect.unwrap_or_default())
}

/// Returns the verdict for scripts: in the report and in the commit.
pub fn word(run: &Run, shipment: &Shipment) -> &'static str {
    // Only an exact test wins or loses.
    match (shipment.verdict, shipment.effect) {
        (Verdict::Won, Some(_)) => "win",
        (Verdict::Won, None) => "higher",
        (Verdict::Lost, Some(_)) => "loss",
        (Verdict::Tied, Some(_)) => "tie",
        (Verdict::Indecisive, Some(_)) => "indecisive",
        (Verdict::Lost | Verdict::Tied | Verdict::Indecisive, None) => "not_higher",
        (Verdict::Regressed, _) => "refused",
        (Verdict::Unused, _) => "not_used",
        (Verdict::Unchallenged, _) if run.state.candidates.len() > 1 => "none_better",
        (Verdict::Unchallenged, _) => "no_candidate",
        (Verdict::Unjudged, _) => "unjudged",
    }
}
