//! `history`: the journal, one line an event.

use skilltune_phases::loops::tune::{Answer, Decision, Event, Outcome, Record, Run};

use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::report::{figures, journal, words};
use crate::runs::Runs;

pub fn run(args: &RunArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let known = Runs::here(around)?.find(args.run.as_deref())?;
    for record in &known.records {
        printer.data(&journal::line(record, &told(&known.run, record)))?;
    }
    Ok(Exit::Reached)
}

fn told(run: &Run, record: &Record) -> String {
    match &record.event {
        Event::Started(plan) => format!("run {} begins on {}", plan.run, words::target(run)),
        Event::Done(done) => {
            format!("{}: {}{}", words::step(run, &done.step), outcome(&done.outcome), journal::cost(done))
        }
        Event::Decided(decision) => decided(run, decision),
        Event::Noted(signal) => journal::noted(run, signal),
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Ok(answer) => answered(answer),
        Err(failure) => format!("{}: {}", words::failure(failure.kind), failure.why),
    }
}

fn answered(answer: &Answer) -> String {
    match answer {
        Answer::Exercised { artifacts, files, skill } => {
            let files = figures::count(usize::try_from(*files).unwrap_or(usize::MAX), "file");
            let skill = skill.map_or(String::new(), |skill| format!("; the skill was {}", skill.word()));
            format!("left {files} ({}){skill}", artifacts.short())
        }
        Answer::Judged(judgement) => match judgement.whole.scored.composite {
            Some(score) => format!("scored {score}"),
            None => "judged, without a score".to_owned(),
        },
        Answer::Improved { tree, .. } => format!("made {}", tree.short()),
        Answer::Chosen(choice) => choice.word().to_owned(),
        Answer::Promoted => "the champion is in the target".to_owned(),
        Answer::Conflict { .. } => "the target had been edited, and was left alone".to_owned(),
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
