//! Progress of a `tune` run for people: a few lines a round, then a chart and a summary.

pub mod chart;
pub mod judged;
pub mod lines;

use skilltune_orchestrator::snapshot::{DiffSize, ObjectError, Objects, diff_size};
use skilltune_phases::event::{Failure, FailureKind};
use skilltune_phases::id::TreeId;
use skilltune_phases::loops::tune::{Decision, Run, Tune};
use skilltune_phases::target::Place;

use chart::chart;
use lines::Told;

use crate::loops::tune::words;
use crate::loops::tune::words::Standing;
use crate::progress::look::Look;
use crate::progress::talk::{Narrated, Talk};
use crate::terminal::style::Style;
use crate::text::width::{around, cut, wrapped};
use crate::text::{figures, plain};

/// How much of the target a run's champion changes, if there is one.
pub type Changed = Box<dyn Fn(&Run) -> Option<DiffSize>>;

impl Narrated for Tune {
    type Shelf = Changed;

    /// Reads the store only when the run has a champion; a store that cannot be read costs a line and no run.
    fn shelf(objects: Objects) -> Changed {
        Box::new(move |run| {
            let champion = run.candidate(run.state.shipment.as_ref()?.champion)?;
            let start = run.candidate(run.start()).filter(|start| start.id != champion.id)?;
            between(&objects, &start.trees, &champion.trees).ok()
        })
    }

    fn header(run: &Run, width: usize) -> Vec<String> {
        lines::header(run, width)
    }

    fn tell_decision(talk: &mut Talk<Self>, run: &Run, decision: &Decision) {
        let width = talk.look.width;
        match decision {
            Decision::Keep(_) | Decision::Drop { .. } => round_ended(talk, run),
            Decision::Scored(measured) if measured.score.is_none() => round_ended(talk, run),
            Decision::NoDraft { member, failure } => no_draft(talk, run, *member, failure),
            Decision::Compare(contestants) => {
                let contestants = figures::count(contestants.len(), "candidate");
                let told = format!("comparing {contestants} on {}", words::fresh_trials(&run.plan));
                talk.say(&wrapped(&told, width, "  "));
            }
            Decision::Ship(shipment) => talk.say(&lines::shipped(run, shipment, width)),
            Decision::Open { .. }
            | Decision::Scored(_)
            | Decision::Focus(_)
            | Decision::Draft(_)
            | Decision::Stop(_)
            | Decision::Close(_) => {}
        }
    }

    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        let Look { width, data, letters, .. } = talk.look;
        let mut told = lines::headline(run, width);
        if let Some(first) = told.first_mut() {
            *first = data.bold(first);
        }
        if let Some(chart) = chart(run, width, letters) {
            told.push(String::new());
            told.extend(chart.rows.iter().map(|row| painted(row, data)));
            told.extend(chart.goal.iter().map(|goal| data.dim(goal)));
            told.push(String::new());
        }
        told.extend(lines::story(run, (talk.shelf)(run), talk.look));
        talk.data(&told);
    }
}

fn round_ended(talk: &mut Talk<Tune>, run: &Run) {
    let Some(round) = run.state.rounds.last() else { return };
    let line = lines::round(run, round, talk.look.width);
    let mut told: Vec<String> = line.iter().map(|line| painted(line, talk.look.talk)).collect();
    if round.score().is_none() {
        told.extend(lines::missing(run, round, talk.look.width));
    }
    told.extend(judged::judged(run, round, talk.look.width));
    told.extend(lines::unused(run, round, talk.look.width));
    talk.say(&told);
}

fn no_draft(talk: &mut Talk<Tune>, run: &Run, member: Place, failure: &Failure) {
    let what = match failure.kind {
        FailureKind::Gate => "dropped an idea".to_owned(),
        FailureKind::TimedOut
        | FailureKind::NoResponse
        | FailureKind::Crashed
        | FailureKind::Empty
        | FailureKind::OffSchema
        | FailureKind::TooLarge
        | FailureKind::Refused
        | FailureKind::TurnLimit
        | FailureKind::BudgetLimit
        | FailureKind::DeniedTool
        | FailureKind::RateLimited
        | FailureKind::UsageLimit
        | FailureKind::Overloaded
        | FailureKind::Network
        | FailureKind::Authentication
        | FailureKind::ModelNotFound
        | FailureKind::PromptTooLong
        | FailureKind::Breach
        | FailureKind::UsageError
        | FailureKind::NotSetUp => format!("the improver {}", words::failure(failure.kind)),
    };
    let name = plain::one_line(words::member(run, member));
    let after = format!(": {what}: {}", plain::one_line(&failure.why));
    // A reason may be long: the name keeps its place, and the end of the reason gives way.
    let name = around("  ", &name, "", talk.look.width / 3);
    talk.say(&[cut(&format!("{name}{after}"), talk.look.width)]);
}

fn between(objects: &Objects, from: &[TreeId], to: &[TreeId]) -> Result<DiffSize, ObjectError> {
    let mut size = DiffSize::default();
    for (&from, &to) in from.iter().zip(to).filter(|(from, to)| from != to) {
        size += diff_size(objects, &objects.manifest(from)?, &objects.manifest(to)?)?;
    }
    Ok(size)
}

fn painted(told: &Told, style: Style) -> String {
    let Told { before, verdict, after } = told;
    let word = verdict.word();
    let word = match verdict {
        Standing::Baseline | Standing::Kept => style.green(word),
        Standing::Dropped => style.red(word),
        Standing::Again | Standing::Incomplete => style.yellow(word),
    };
    format!("{before}{word}{after}")
}

#[cfg(test)]
mod tests;
