//! `history`: the journal, one line an event.

use skilltune_phases::event::Signal;
use skilltune_phases::loops::tune::{Decision, Done, Event, Outcome, Record, Run};

use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::report::{figures, plain, words};
use crate::runs::Runs;

pub fn run(args: &RunArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let known = Runs::here(around).find(args.run.as_deref())?;
    for record in &known.records {
        let time = record.at.strftime("%Y-%m-%d %H:%M:%S");
        printer.data(&format!(
            "{:>5}  {time}  {}",
            record.seq,
            plain::one_line(&told(&known.run, record))
        ))?;
    }
    Ok(Exit::Reached)
}

fn told(run: &Run, record: &Record) -> String {
    match &record.event {
        Event::Started(plan) => format!("run {} begins on {}", plan.run, words::target(run)),
        Event::Done(done) => {
            format!("{}: {}{}", words::step(run, &done.step), outcome(&done.outcome), cost(done))
        }
        Event::Decided(decision) => decided(run, decision),
        Event::Noted(signal) => noted(run, signal),
    }
}

/// What a call of an agent took; a step of our own takes nothing worth telling.
fn cost(done: &Done) -> String {
    match (done.call, done.spent.cached) {
        (None, _) => String::new(),
        (Some(_), true) => " (from the cache)".to_owned(),
        (Some(_), false) => format!(" ({})", figures::milliseconds(done.spent.ms)),
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exercised { artifacts, files, skill } => {
            let files = figures::count(usize::try_from(*files).unwrap_or(usize::MAX), "file");
            let skill = skill.map_or(String::new(), |skill| format!("; the skill was {}", skill.word()));
            format!("left {files} ({}){skill}", artifacts.short())
        }
        Outcome::Judged(judgement) => match judgement.whole.scored.composite {
            Some(score) => format!("scored {score}"),
            None => "judged, without a score".to_owned(),
        },
        Outcome::Improved { tree, .. } => format!("made {}", tree.short()),
        Outcome::Chosen(choice) => choice.word().to_owned(),
        Outcome::Promoted => "the champion is in the target".to_owned(),
        Outcome::Conflict { .. } => "the target had been edited, and was left alone".to_owned(),
        Outcome::Failed(failure) => format!("{}: {}", words::failure(failure.kind), failure.why),
    }
}

fn decided(run: &Run, decision: &Decision) -> String {
    match decision {
        Decision::Open { round, candidate } => format!("round {round}: measure {}", candidate.short()),
        Decision::Scored(measured) => match measured.score {
            Some(score) => format!("the round's score is {score}"),
            None => format!(
                "no score: {} of {} judged",
                measured.judged,
                figures::count(measured.of as usize, "scenario")
            ),
        },
        Decision::Keep(candidate) => format!("keep {}", candidate.short()),
        Decision::Drop { candidate, why } => format!("drop {}: {why}", candidate.short()),
        Decision::Focus(place) => format!("work on {}", words::member(run, *place)),
        Decision::Draft(candidate) => format!("draft {}", candidate.id.short()),
        Decision::NoDraft { failure, .. } => format!("no draft: {}", failure.why),
        Decision::Stop(reason) => format!("the search is over, since {}", words::reason(*reason)),
        Decision::Compare(contestants) => {
            format!("compare {} on fresh trials", figures::count(contestants.len(), "candidate"))
        }
        Decision::Ship(shipment) => {
            format!("comparison {} ({})", words::verdict(shipment.verdict), shipment.champion.short())
        }
        Decision::Close(ending) => format!("the run is over: {}", words::ending(*ending)),
    }
}

fn noted(run: &Run, signal: &Signal) -> String {
    match signal {
        Signal::Paused(pause) => format!("run {} {}", run.plan.run, words::pause(*pause)),
        Signal::Resumed { program } => format!("taken up again by version {program}"),
        Signal::Held => "the run waits for an answer".to_owned(),
        Signal::Waiting { until } => format!("waits until {}", figures::moment(*until)),
        Signal::Waited => "the wait is over".to_owned(),
        Signal::Placed { by, .. } => words::placed(*by).to_owned(),
    }
}
