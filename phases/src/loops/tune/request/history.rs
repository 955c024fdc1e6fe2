//! The improver's input about earlier edits that its version has: what each of them changed, and what was met before and
//! after it.

use std::collections::BTreeMap;

use super::improving::{SILENT, targets};
use crate::asking::prompt::{Asked, EarlierChange};
use crate::base::id::CandidateId;
use crate::judging::contract::CriterionId;
use crate::loops::tune::results::notes;
use crate::loops::tune::search::explanation::Fault;
use crate::loops::tune::{Run, Search};
use crate::skills::candidate::Origin;
use crate::skills::edit::EditReport;
use crate::skills::target::Place;

/// More names in one line are noise.
const MOST_NAMED: usize = 8;

/// Returns the edits of this member that led to the base, oldest first. A search by drafts measures no edit by itself,
/// so only those are returned that fixed a target.
pub(super) fn kept_changes(run: &Run, base: CandidateId, member: Place) -> Vec<EarlierChange> {
    let own = run.lineage(base).filter(|(_, origin)| origin.member == member);
    let changes = own.filter_map(|(edited, origin)| {
        let outcome = match run.plan.task.rules.search {
            Search::Rounds => Some(measured(run, origin.parent, edited, member)),
            Search::Draft { .. } => fixed(run, origin),
        };
        Some(EarlierChange { summary: described(&origin.report), outcome: outcome? })
    });
    let mut changes: Vec<EarlierChange> = changes.collect();
    changes.reverse();
    changes
}

/// Returns the improver's own summary of an edit, and the files that it names.
fn described(report: &EditReport) -> String {
    let summary = report.summary.as_deref().unwrap_or(SILENT);
    let mut files: Vec<&str> = report.changes.iter().filter_map(|change| change.file.as_deref()).collect();
    files.sort_unstable();
    files.dedup();
    if files.is_empty() { summary.to_owned() } else { format!("{summary}\nChanged: {}", named(&files)) }
}

/// Describes what was met before an edit and after it, in criteria: an improver must not work for a score.
fn measured(run: &Run, parent: CandidateId, edited: CandidateId, member: Place) -> String {
    let (before, after) = (results(run, parent, member), results(run, edited, member));
    // Results of different judges are not comparable.
    if run.era_of(parent) != run.era_of(edited) || before.is_empty() || after.is_empty() {
        return "It was kept.".to_owned();
    }
    let count = |results: &Results| {
        let met = results.values().filter(|is_met| **is_met).count();
        format!("{met} of {}", results.len())
    };
    let turned = |is_met: bool| -> Vec<&str> {
        let turned = after.iter().filter(|(id, now)| **now == is_met && before.get(*id) == Some(&!is_met));
        turned.map(|(id, _)| id.as_str()).collect()
    };
    let counts = format!("Criteria met before it: {}; after it: {}.", count(&before), count(&after));
    let turns = [("Met since", turned(true)), ("Missed since", turned(false))];
    let turns = turns.into_iter().filter(|(_, ids)| !ids.is_empty());
    let turns = turns.map(|(what, ids)| format!("{what}: {}", named(&ids)));
    std::iter::once(counts).chain(turns).collect::<Vec<_>>().join("\n")
}

/// The criteria with a verdict, each with true if it is met in all trials.
type Results = BTreeMap<CriterionId, bool>;

fn results(run: &Run, candidate: CandidateId, member: Place) -> Results {
    let own = run.plan.is_chain().then_some(member);
    let results = notes::criterion_results(run, candidate, run.era_of(candidate), own);
    results.into_iter().map(|one| (one.worst.criterion.clone(), one.met == one.of)).collect()
}

/// Describes the targets of an edit that were met in the next trial and are no targets now, if there are any.
fn fixed(run: &Run, origin: &Origin) -> Option<String> {
    let again = targets(run);
    let round = run.state.rounds.iter().find(|round| round.number == origin.round)?;
    let is_fixed =
        |fault: &&Fault| fault.next.is_some_and(|next| next.is_met) && !again.contains(&fault.statement);
    let met = round.aims().filter(is_fixed);
    let lines: Vec<String> = met
        .map(|fault| {
            let Asked { id, question } = run.plan.task.asked(&fault.criterion);
            format!("{id}: {question}\nIt was missed before the edit, and met in the next trial.")
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn named(names: &[&str]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names[..names.len().min(MOST_NAMED)].join(", ") + &more
}
