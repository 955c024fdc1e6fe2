//! `iteration-N-changes.md`: what a round's edit did, or why it failed.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::{Edit, Round, Run};
use skilltune_phases::runs::event::Failure;
use skilltune_phases::skills::candidate::Origin;
use skilltune_phases::skills::edit::Change;
use skilltune_phases::skills::target::Place;

use crate::loops::tune::dangers;
use crate::loops::tune::report::troubles;
use crate::loops::tune::words as phrases;
use crate::text::markdown::{MarkdownPage, code, words};

/// The difference that an edit made, from a caller that can read the store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Diff<'a> {
    /// Such as `M SKILL.md`.
    pub files: &'a [String],
    pub unified: &'a str,
}

pub fn changes(run: &Run, round: &Round, diff: &Diff<'_>) -> String {
    let mut page = MarkdownPage::titled(&format!("Iteration {} Changes", round.number));
    match &round.edit {
        None => page.paragraph(unedited(run, round)),
        Some(Edit::Nothing { member, failure }) => nothing(&mut page, run, *member, failure),
        Some(Edit::Draft { candidate, origin }) => drafted(&mut page, run, *candidate, origin, diff),
    }
    let troubles = troubles::improving(run, round.number);
    if !troubles.is_empty() {
        page.section("What Failed");
        page.list(troubles.iter().map(|trouble| words(&trouble.line(run))));
    }
    page.finish()
}

fn unedited(run: &Run, round: &Round) -> String {
    let newest = round.number == run.round_number();
    match (run.state.stopped.filter(|_| newest), &round.measured) {
        (Some(reason), _) => {
            format!("No edit: the search stopped here: {}.", phrases::reason(&run.plan, reason))
        }
        (None, None) => "No edit yet: the round has no score.".to_owned(),
        (None, Some(measured)) if measured.score.is_none() => {
            "No edit: the round has no score, so its candidate is tried again.".to_owned()
        }
        (None, Some(_)) => "No edit yet.".to_owned(),
    }
}

fn nothing(page: &mut MarkdownPage, run: &Run, member: Place, failure: &Failure) {
    page.paragraph(format!(
        "No change: the edit of {} failed. The improver {}: {}",
        words(phrases::member(run, member)),
        phrases::failure(failure.kind),
        words(&failure.why)
    ));
}

fn drafted(page: &mut MarkdownPage, run: &Run, draft: CandidateId, origin: &Origin, diff: &Diff<'_>) {
    let report = &origin.report;
    if !origin.dangers.is_empty() {
        page.section("Dangerous Changes");
        page.list(origin.dangers.iter().map(|danger| words(&dangers::line("", danger))));
    }
    page.section("Applied Suggestions");
    page.list(report.changes.iter().map(applied));
    page.section("Files Modified");
    page.list(diff.files.iter().map(|file| code(file)));
    page.section("Skipped Suggestions");
    page.list(report.skipped.iter().map(|skipped| words(skipped)));
    page.section("Notes");
    page.list(notes(run, draft, origin));
    page.section("Diff");
    if diff.unified.is_empty() {
        page.paragraph("None.");
    } else {
        page.fenced("diff", diff.unified);
    }
}

fn applied(change: &Change) -> String {
    let priority = change.priority.map_or(String::new(), |priority| format!("[{priority}] "));
    let file = change.file.as_ref().map_or(String::new(), |file| format!(": {}", code(file)));
    format!("{priority}{}{file}", words(&change.description))
}

fn notes(run: &Run, draft: CandidateId, origin: &Origin) -> Vec<String> {
    let mut notes: Vec<String> = origin.report.summary.as_deref().map(words).into_iter().collect();
    notes.push(format!(
        "Candidate {}: an edit of {2}{3} in candidate {1}.",
        code(&draft.short()),
        code(&origin.parent.short()),
        words(phrases::member(run, origin.member)),
        phrases::kinds_after(&origin.kinds)
    ));
    if run.candidate(draft).is_some_and(|candidate| candidate.origin.as_ref() != Some(origin)) {
        notes.push("The edit restored the content of an earlier candidate.".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests;
