//! The lines that a person reads, one by one: plain text, never wider than the given width.

use std::path::Path;

use skilltune_orchestrator::snapshot::DiffSize;
use skilltune_phases::judging::proof::Effect;
use skilltune_phases::judging::score::Score;
use skilltune_phases::judging::stop::Reason;
use skilltune_phases::loops::tune::{Round, Run, Shipment, Verdict};
use skilltune_phases::skills::edit::EditKind;

use crate::loops::tune::report::final_report::weaknesses;
use crate::loops::tune::report::{uses, without_skill};
use crate::loops::tune::verdicts;
use crate::loops::tune::words::RoundStatus;
use crate::loops::tune::{advice, price, words};
use crate::progress::lines::{End, ROOMY};
use crate::report::summary::Line;
use crate::text::width::{around, columns, cut, shortened, wrapped};
use crate::text::{figures, plain};

/// Returns the results of a run that does not search, one by one.
pub fn shown(run: &Run, results: Vec<String>) -> End {
    let lines = results.into_iter().map(Line::Text).collect();
    End { lines, rounds: None, places: Vec::new(), next: advice::next(run) }
}

/// Returns the result of a run without a skill. The findings on its suite follow a run that has ended.
pub fn without_skill(run: &Run) -> End {
    let next = if run.closed_at.is_some() { Vec::new() } else { advice::next(run) };
    End { next, ..shown(run, without_skill::shown(run)) }
}

/// A line with a verdict that may be coloured.
#[derive(Debug, PartialEq)]
pub struct VerdictLine {
    pub before: String,
    pub verdict: RoundStatus,
    pub after: String,
}

/// Returns the line of a measured round: its score, the change since the best before, its verdict, the edited member.
pub fn round(run: &Run, round: &Round, width: usize) -> Option<VerdictLine> {
    let verdict = RoundStatus::of(run, round)?;
    // Scores on different scenarios cannot be compared.
    let before = best_before(run, round.number).filter(|_| !words::is_by_single_trials(&run.plan));
    let score = round.score().map_or("-".to_owned(), |score| figures::score_since(score, before));
    let mut place = words::place(run, round.number, true);
    if width < ROOMY {
        place = place.replace("round ", "").replace("run ", "").replace(" of ", "/");
    }
    let (score_columns, verdict_columns) = if width < ROOMY { (0, 0) } else { (14, 10) };
    let before = format!("{place}  {score:<score_columns$}  ");
    let gap = " ".repeat(verdict_columns.max(verdict.word().len()) - verdict.word().len() + 2);
    let room = width.saturating_sub(columns(&before) + verdict.word().len() + gap.len());
    let (member, more, idea) = aside(run, round, verdict, width);
    // A long idea is cut, and does not shorten the member's name before it.
    let after = cut(&(around("", &member, &more, room) + &idea), room);
    let after = if after.is_empty() { after } else { gap + &after };
    Some(VerdictLine { before, verdict, after })
}

/// Returns the best score of the rounds before this one.
fn best_before(run: &Run, number: u32) -> Option<Score> {
    run.state.rounds.iter().filter(|round| round.number < number).filter_map(Round::score).max()
}

/// Returns the member that was edited for this round, if there are several, other remarks, and the idea of a dropped
/// edit.
fn aside(run: &Run, round: &Round, verdict: RoundStatus, width: usize) -> (String, String, String) {
    let origin = run.candidate(round.candidate).and_then(|candidate| candidate.origin.as_ref());
    let member =
        origin.filter(|_| run.plan.is_chain()).map_or("", |origin| words::member(run, origin.member));
    let mut more = Vec::new();
    if words::is_by_single_trials(&run.plan) {
        more.push(format!("on {}", words::tried(run, &round.scenarios)));
    }
    let kinds = origin.map(|origin| origin.kinds.as_slice());
    let kinds = kinds.filter(|kinds| shows_kinds(kinds, verdict, width)).map(words::kinds);
    more.extend(kinds.map(|kinds| format!("edit of {kinds}")));
    if let Some(measured) = &round.measured {
        let partly = measured.judged < measured.of;
        more.extend(partly.then(|| format!("{} of {} judged", measured.judged, measured.of)));
        more.extend(measured.claimed.then(|| "claimed".to_owned()));
        more.extend(measured.quality.map(|quality| format!("text quality {quality}")));
    }
    let comma = if member.is_empty() || more.is_empty() { "" } else { ", " };
    let more = format!("{comma}{}", more.join(", "));
    // Nothing else on the terminal says what a dropped edit tried.
    let dropped = origin.filter(|_| verdict == RoundStatus::Dropped && width >= ROOMY);
    let idea = dropped.and_then(|origin| words::idea(&origin.report));
    let colon = if member.is_empty() && more.is_empty() { "" } else { ": " };
    let idea = idea.map(|idea| format!("{colon}{}", plain::one_line(idea)));
    (plain::one_line(member), more, idea.unwrap_or_default())
}

/// Returns whether the line of a round says what its edit changed. A version that is tried again has no edit, and the
/// idea of a dropped edit says more than "wording".
fn shows_kinds(kinds: &[EditKind], verdict: RoundStatus, width: usize) -> bool {
    match verdict {
        RoundStatus::Again => false,
        RoundStatus::Kept if width >= ROOMY => !kinds.is_empty(),
        RoundStatus::Baseline | RoundStatus::Kept | RoundStatus::Dropped | RoundStatus::Incomplete => {
            !kinds.is_empty() && *kinds != [EditKind::Wording]
        }
    }
}

/// Warns at once if the skill was not used, so that a waiting person knows what the scores cannot show.
pub fn unused(run: &Run, round: &Round, width: usize) -> Vec<String> {
    let warning = (round.number == 1).then(|| uses::text(uses::of_round(run, round))).flatten();
    warning.map_or_else(Vec::new, |warning| wrapped(&format!("  {warning}"), width, "    "))
}

/// Returns the final comparison's verdict. The report says how it was found.
pub fn shipped(run: &Run, shipment: &Shipment) -> String {
    let verdict = verdicts::verdict(run, shipment);
    let [(_, Some(start)), (_, Some(challenger))] = shipment.scores[..] else {
        return format!("verdict: {verdict}");
    };
    let scores = verdicts::compared(run, shipment, [start, challenger]);
    match (shipment.verdict, shipment.effect) {
        (Verdict::Won, Some(Effect { lower, .. })) => {
            let in_all = run.plan.task.rules.confidence.one_in();
            format!(
                "verdict: WIN, {scores}: better by at least {lower:.1} (at most 1 useless candidate in {in_all} gets this far)"
            )
        }
        _ => format!("verdict: {verdict} ({scores})"),
    }
}

/// Returns the end of a search, after the lines about its scores.
pub fn improved(run: &Run, mut lines: Vec<Line>, changed: Option<DiffSize>) -> End {
    // Without one score, the search has tried nothing, whatever its rule to stop was.
    let is_judged = run.best().is_some();
    let stopped = run.state.stopped.map(|reason| match reason {
        Reason::Finished if !is_judged => "no trial could be judged",
        reason => words::reason(&run.plan, reason),
    });
    let texts = [
        Some(verdicts::outcome_text(run)),
        verdicts::fail_on(run),
        verdicts::unproved(run),
        stopped.map(|reason| format!("The search stopped: {reason}{}.", reserved(run))),
        price::text(run),
        verdicts::caution(run),
        verdicts::held_out_reuse(run),
        uses::text(uses::of_champion(run)),
        changed.map(|size| format!("The champion changes {}.", figures::size(&size))),
        remaining_findings(run),
    ];
    lines.extend(texts.into_iter().flatten().map(Line::Text));
    let rounds = Some(rounds(run));
    let next = advice::next(run).into_iter().chain(advice::propose_again(run)).collect();
    End { lines, rounds, places: patch(run).into_iter().collect(), next }
}

/// Explains why a search whose runs are used up made fewer of them than the run may make.
fn reserved(run: &Run) -> String {
    let left = words::runs_left(run).filter(|_| run.state.stopped == Some(Reason::Exhausted));
    left.map_or_else(String::new, |left| format!("; {left} are kept for the final comparison"))
}

/// Counts the rounds by their results. A failed edit has no round of its own.
fn rounds(run: &Run) -> String {
    let rounds = figures::count(run.state.rounds.len(), "round");
    let dropped = run.dropped().iter().filter(|edit| edit.draft.is_some()).count();
    let failed: usize = run.state.rounds.iter().map(|round| round.failed_edits.len()).sum();
    let failed = match failed {
        0 => String::new(),
        failed => format!(", {} failed", figures::count(failed, "edit")),
    };
    format!("{rounds}, {} kept, {dropped} dropped{failed}", run.accepted())
}

/// Returns the path of the patch that the run made.
fn patch(run: &Run) -> Option<Line> {
    let proposal = run.proposed()?.ok()?;
    let path = words::patch(proposal, Path::new(&run.plan.folder))?;
    Some(Line::Copy("patch:".to_owned(), path))
}

/// Names the findings that are left after a search without a task: a person has to decide how to fix them.
fn remaining_findings(run: &Run) -> Option<String> {
    const SHOWN: usize = 3;
    let has_left = run.plan.is_structural() && run.final_score()? < run.plan.task.rules.threshold;
    let all = if has_left { weaknesses(run) } else { Vec::new() };
    let mut shown: Vec<String> = all.iter().take(SHOWN).map(|one| plain::one_line(one)).collect();
    if all.len() > SHOWN {
        shown.push(format!("and {} more", all.len() - SHOWN));
    }
    (!shown.is_empty()).then(|| format!("Left for you: {}.", shown.join("; ")))
}

/// Returns what was tuned and its scores before and after, with a name that is short enough for one line. Numbers are
/// never cut.
pub fn headline(run: &Run, width: usize) -> String {
    let (name, scores) = (plain::one_line(&words::target(run)), scores(run));
    let room = width.saturating_sub(columns(&scores)).max(width / 2);
    format!("{}{scores}", shortened(&name, room))
}

fn scores(run: &Run) -> String {
    let threshold = run.plan.task.rules.threshold;
    let typed = threshold.typed();
    match (run.initial_score(), run.final_score()) {
        (Some(initial), Some(last)) if run.plan.is_structural() => {
            let change = figures::score_since(last, Some(initial));
            let left =
                if last >= threshold { "no structural findings left" } else { "structural findings left" };
            format!(": {initial} -> {change}, {left}; the task was not run")
        }
        (Some(initial), Some(last)) => {
            // Without a test, a difference would look like a gain.
            let change = figures::score_since(last, Some(initial).filter(|_| verdicts::is_tested(run)));
            let goal = if last >= threshold { "reached" } else { "not reached" };
            format!(": {initial} -> {change}, goal {typed} {goal}")
        }
        (None, _) | (_, None) => format!(": no score, goal {typed} not reached"),
    }
}
