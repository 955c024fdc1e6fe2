//! The journal of a run, one line per event.

use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::{Done, Event, Record, Signal};
use skilltune_phases::runs::run::Run;

use crate::report::ui::Ui;
use crate::report::{ceilings, machines, words};
use crate::text::{figures, plain};

/// Describes an event; `run` is the state after it.
pub fn line<L: Ui>(run: &Run<L>, record: &Record<L>) -> String {
    let text = match &record.event {
        Event::Started(plan) => format!("run {} started: {}", plan.run, L::summary(run, None).subject),
        Event::Done(done) => {
            let outcome = match &done.outcome {
                Ok(answer) => L::answered(answer),
                Err(failure) => format!("{}: {}", words::failure(failure.kind), failure.why),
            };
            format!("{}: {outcome}{}", L::step(run, &done.step), cost(done))
        }
        Event::Decided(decision) => L::decided(run, decision),
        Event::Noted(signal) => noted(run, signal),
    };
    let time = record.at.strftime("%Y-%m-%d %H:%M:%S");
    format!("{:>5}  {time}  {}", record.seq, plain::one_line(&text))
}

/// Describes the cost of an agent call, its model and its machine; a step of skilltune itself shows no cost.
fn cost<L: Loop>(done: &Done<L>) -> String {
    let model = done.model.as_ref().map_or(String::new(), |model| format!(", {model}"));
    match (done.call, done.spent.cached) {
        (None, true) => " (taken over from an older run)".to_owned(),
        (None, false) => String::new(),
        (Some(_), true) => format!(" (from the cache{model})"),
        (Some(_), false) => {
            let machine = done.machine.as_ref().map(|machine| format!(", {}", machines::of_call(machine)));
            let time = figures::milliseconds(done.spent.ms);
            format!(" ({time}{model}{})", machine.unwrap_or_default())
        }
    }
}

fn noted<L: Ui>(run: &Run<L>, signal: &Signal) -> String {
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
        Signal::Workers(names) => words::workers(names),
        Signal::WorkerRefused { worker, why } => words::refused(worker, why),
        Signal::Held => "the run waits for your answer".to_owned(),
        Signal::Waiting { until } => format!("waiting until {}", figures::moment(*until)),
        Signal::Waited => "wait ended".to_owned(),
        Signal::Placing { from, by, .. } => {
            format!("{}; the replaced version is {}", words::placing::<L>(*by), L::displaced(from))
        }
        Signal::Placed { by, .. } => words::placed::<L>(*by),
        Signal::Proposed(proposal) => words::proposed(proposal),
    }
}
