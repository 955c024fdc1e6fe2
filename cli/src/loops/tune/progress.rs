//! Progress of a `tune` run for people: a few lines per round, then a chart and a summary.

pub mod chart;
pub mod judged;
pub mod lines;
mod targets;

use skilltune_orchestrator::snapshot::{DiffSize, ObjectError, Objects, diff_size};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::{Aim, Apply, Decision, Run, Shipment, Tune};

use chart::chart;
use lines::VerdictLine;

use crate::loops::tune::report::{calibrating, comparing};
use crate::loops::tune::words::RoundStatus;
use crate::loops::tune::{dangers, judges, words};
use crate::progress::layout::Layout;
use crate::progress::lines::{ending, fitted};
use crate::progress::talk::{Narrated, Talk};
use crate::report::summary::Line;
use crate::terminal::style::Style;
use crate::text::figures;

/// The size of the champion's changes to the target, if there is a champion.
pub type Changed = Box<dyn Fn(&Run) -> Option<DiffSize>>;

impl Narrated for Tune {
    type Shelf = Changed;

    /// Reads the store only if the run has a champion; an unreadable store costs one line, not the run.
    fn shelf(objects: Objects) -> Changed {
        Box::new(move |run| {
            let champion = run.candidate(run.state.shipment.as_ref()?.champion)?;
            let start = run.candidate(run.start()).filter(|start| start.id != champion.id)?;
            between(&objects, &start.trees, &champion.trees).ok()
        })
    }

    fn tell_decision(talk: &mut Talk<Self>, run: &Run, decision: &Decision) {
        let is_comparison = run.plan.task.aim.sides().is_some();
        if !is_comparison && !run.plan.task.searches() {
            return;
        }
        match decision {
            // The header names the two versions, and the end gives the verdict.
            Decision::Compare { .. } | Decision::Scored(_) | Decision::Ship(_) if is_comparison => {}
            Decision::Keep(_) | Decision::Drop { .. } => round_ended(talk, run),
            Decision::Scored(measured) if measured.score.is_none() => round_ended(talk, run),
            Decision::Compare { challenger, .. } => {
                let trials = words::fresh_trials(run);
                talk.text(&format!("comparing {} with the start on {trials}", challenger.short()));
            }
            Decision::Dismiss { seat, tally } => talk.text(&judges::dismissal(run, *seat, *tally)),
            Decision::Consult { scenarios } if !scenarios.is_empty() => {
                talk.text(&judges::consulted(run, scenarios.len()));
            }
            Decision::Target { .. } => chosen(talk, run),
            Decision::Stop(_) if !has_chosen(run) => chosen(talk, run),
            Decision::Retry { scenarios, .. } => {
                let fell = figures::count(scenarios.len(), "scenario");
                talk.text(&format!("retrying {fell} that got much worse"));
            }
            // A person who is asked needs the verdict now; otherwise the end shows it first.
            Decision::Ship(shipment) if asks(run, shipment) => {
                talk.text(&lines::shipped(run, shipment));
            }
            Decision::Open { .. }
            | Decision::Scored(_)
            | Decision::Calibrate(_)
            | Decision::Focus(_)
            | Decision::Turn(_)
            | Decision::Draft(_)
            | Decision::NoDraft { .. }
            | Decision::Stop(_)
            | Decision::LookAgain { .. }
            | Decision::Consult { .. }
            | Decision::Ship(_)
            | Decision::Close(_) => {}
        }
    }

    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        let end = match &run.plan.task.aim {
            Aim::Improve => lines::improved(run, scored(run, talk.layout), (talk.shelf)(run)),
            // The findings on the suite are printed later, as data.
            Aim::Try { .. } => {
                let lines = ending(run, lines::without_skill(run));
                return talk.say(&fitted(&lines, talk.layout.width));
            }
            Aim::Calibrate { trials } => lines::shown(run, calibrating::shown(run, *trials)),
            Aim::Compare(_) => lines::shown(run, comparing::shown(run)),
        };
        talk.end(run, end);
    }
}

/// Returns the dangers, which a person looks at first, the verdict, and the scores with their chart.
fn scored(run: &Run, Layout { width, data, letters, .. }: Layout) -> Vec<Line> {
    let dangers = dangers::of_champion(run).into_iter().map(|line| format!("dangerous: {line}"));
    let verdict = run.state.shipment.as_ref().map(|shipment| lines::shipped(run, shipment));
    let texts = dangers.chain(verdict).chain([lines::headline(run, width)]);
    let mut lines: Vec<_> = texts.map(Line::Text).collect();
    if let Some(chart) = chart(run, width, letters) {
        let rows = chart.rows.iter().map(|row| painted(row, data));
        let rows = [String::new()].into_iter().chain(rows).chain(chart.goal.map(|goal| data.dim(&goal)));
        lines.extend(rows.chain([String::new()]).map(Line::Drawn));
    }
    lines
}

fn asks(run: &Run, shipment: &Shipment) -> bool {
    run.plan.task.apply == Apply::Ask && shipment.champion != run.start()
}

fn round_ended(talk: &mut Talk<Tune>, run: &Run) {
    let Some(round) = run.state.rounds.last() else { return };
    let line = lines::round(run, round, talk.layout.width);
    let mut lines: Vec<String> = line.iter().map(|line| painted(line, talk.layout.talk)).collect();
    lines.extend(judged::judged(run, round, talk.layout.width));
    lines.extend(lines::unused(run, round, talk.layout.width));
    talk.say(&lines);
    if words::is_by_single_trials(&run.plan) {
        let results = targets::results(run, round, talk.layout.width);
        say_chances(talk, &results);
    }
}

/// Writes lines with percentages.
fn say_chances(talk: &mut Talk<Tune>, lines: &[targets::Line]) {
    if !lines.is_empty() {
        talk.explain();
        talk.say(&lines.iter().map(|line| line.painted(talk.layout.talk)).collect::<Vec<_>>());
    }
}

/// Returns whether the last round has chosen what to edit; a search may end before that.
fn has_chosen(run: &Run) -> bool {
    run.state.rounds.last().is_some_and(|round| round.targets.is_some())
}

/// Prints what is edited next, and what is left alone.
fn chosen(talk: &mut Talk<Tune>, run: &Run) {
    let lines = targets::chosen(run, talk.layout.width);
    say_chances(talk, &lines);
}

fn between(objects: &Objects, from: &[TreeId], to: &[TreeId]) -> Result<DiffSize, ObjectError> {
    let mut size = DiffSize::default();
    for (&from, &to) in from.iter().zip(to).filter(|(from, to)| from != to) {
        size += diff_size(objects, &objects.manifest(from)?, &objects.manifest(to)?)?;
    }
    Ok(size)
}

fn painted(line: &VerdictLine, style: Style) -> String {
    let VerdictLine { before, verdict, after } = line;
    let word = verdict.word();
    let word = match verdict {
        RoundStatus::Baseline | RoundStatus::Kept => style.green(word),
        RoundStatus::Dropped => style.red(word),
        RoundStatus::Again | RoundStatus::Incomplete => style.yellow(word),
    };
    format!("{before}{word}{after}")
}

#[cfg(test)]
mod tests;
