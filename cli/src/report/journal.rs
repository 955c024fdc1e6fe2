//! The parts of a readable journal line that are the same for every loop.

use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::{Done, Record, Signal};
use skilltune_phases::runs::run::Run;
use skilltune_phases::skills::candidate::Candidate;

use crate::report::{ceilings, words};
use crate::text::{figures, plain};

pub fn line<L: Loop>(record: &Record<L>, text: &str) -> String {
    let time = record.at.strftime("%Y-%m-%d %H:%M:%S");
    format!("{:>5}  {time}  {}", record.seq, plain::one_line(text))
}

/// Describes how a step ended, with the loop's own words for the step and its answer.
pub fn done<L: Loop>(done: &Done<L>, step: &str, answered: impl FnOnce(&L::Answer) -> String) -> String {
    let outcome = match &done.outcome {
        Ok(answer) => answered(answer),
        Err(failure) => format!("{}: {}", words::failure(failure.kind), failure.why),
    };
    format!("{step}: {outcome}{}", cost(done))
}

/// Describes the cost of an agent call and its model; a step of skilltune itself shows no cost.
fn cost<L: Loop>(done: &Done<L>) -> String {
    let model = done.model.as_ref().map_or(String::new(), |model| format!(", {model}"));
    match (done.call, done.spent.cached) {
        (None, true) => " (taken over from an older run)".to_owned(),
        (None, false) => String::new(),
        (Some(_), true) => format!(" (from the cache{model})"),
        (Some(_), false) => format!(" ({}{model})", figures::milliseconds(done.spent.ms)),
    }
}

pub fn noted<L: Loop>(run: &Run<L>, signal: &Signal) -> String {
    match signal {
        Signal::Paused(pause) => format!("run {} {}", run.plan.run, words::pause(*pause)),
        Signal::Resumed { program } => format!("resumed by version {program}"),
        Signal::Recast { role, cast } => {
            format!("the {role} is {} from here on", cast.shown())
        }
        Signal::Ceilings(_) => ceilings::line(run),
        Signal::KeptFree { role, window } => {
            let (used, name) = (window.used, window.name.replace('_', "-"));
            let resets = figures::moment(window.resets_at);
            format!("no call of the {role} before {resets}: {used}% of its {name} window is used")
        }
        Signal::Held => "the run waits for your answer".to_owned(),
        Signal::Waiting { until } => format!("waiting until {}", figures::moment(*until)),
        Signal::Waited => "wait ended".to_owned(),
        Signal::Placing { from, by, .. } => {
            let displaced = Candidate::original(from.clone()).id.short();
            format!("{}; the replaced version is {displaced}", words::placing(*by))
        }
        Signal::Placed { by, .. } => words::placed(*by).to_owned(),
        Signal::Proposed(proposal) => words::proposed(proposal),
    }
}
