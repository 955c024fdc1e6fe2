//! `status`: shows the state of a run, and what to type next.

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::runs::run::Run;

use crate::args::runs::ViewArgs;
use crate::loops::LoopCommands;
use crate::report::summary::Next;
use crate::report::ui::with_loop;
use crate::report::{advice, ceilings, json, words};
use crate::runs::scope::Scope;
use crate::runs::{Known, RunStatus};
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;
use crate::text::{figures, plain};

pub fn run(args: &ViewArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(scope, args.format, &scope.runs.load(&id)?))
}

fn tell<L: LoopCommands>(scope: &Scope<'_>, format: Format, known: &Known<L>) -> Result<Exit, Complaint> {
    let (status, printer) = (scope.runs.status(&known.run), scope.printer);
    match format {
        Format::Human => printer.data(&lines(&known.run, status, &scope.objects()).join("\n")),
        Format::Json => printer.json(&object(&known.run, status, &scope.objects())),
    }?;
    if known.torn > 0 && status == RunStatus::Open {
        printer.talk(&format!(
            "the last journal line is incomplete ({} bytes); `resume` removes it",
            known.torn
        ));
    }
    Ok(Exit::Reached)
}

/// Returns the object of `list` with the state of the run.
pub fn object<L: LoopCommands>(run: &Run<L>, status: RunStatus, objects: &Objects) -> Value {
    let summary = L::summary(run, Some(objects));
    let mut object = json::object(run, &summary);
    object["standing"] = status.word(run).into();
    object["started_at"] = json!(run.started_at);
    object["updated_at"] = json!(run.updated_at);
    object["failed_calls"] = run.errors.len().into();
    object["next"] = next(run, status, summary.next).into_iter().map(|next| next.command).collect();
    object
}

pub fn lines<L: LoopCommands>(run: &Run<L>, status: RunStatus, objects: &Objects) -> Vec<String> {
    let summary = L::summary(run, Some(objects));
    let (kind, subject) = (summary.kind, plain::one_line(&summary.subject));
    let mut facts = vec![
        ("run", format!("{}  {kind} of {subject}", run.plan.run)),
        ("status", word(run, status, summary.sentence)),
    ];
    facts.extend(summary.facts);
    facts.push(("updated", figures::moment(run.updated_at)));
    if let (Some(failed), None) = (&run.blocked, run.closed_at) {
        facts.push(("blocked", words::failed(run, &failed.step, &failed.failure)));
        facts.push(("hint", advice::unblock(run, failed)));
    }
    if let Some(ceiling) = ceilings::paused(run) {
        facts.push(("paused", ceilings::describe(run, ceiling)));
    }
    if !run.errors.is_empty() {
        facts.push(("errors", figures::count(run.errors.len(), "failed call")));
    }
    facts.extend(run.placed.map(|by| ("since", words::placed::<L>(by))));
    let next = next(run, status, summary.next).into_iter();
    facts.extend(next.map(|next| ("next", format!("{}   ({})", next.command, next.purpose))));
    let column = facts.iter().map(|(name, _)| name.len()).fold(8, usize::max);
    // One line per fact, so that no value can forge another line.
    facts.iter().map(|(name, text)| format!("{name:<column$} {}", plain::unbroken(text))).collect()
}

fn word<L: LoopCommands>(run: &Run<L>, status: RunStatus, sentence: String) -> String {
    match status {
        RunStatus::Running { pid } => match run.waits.until {
            Some(until) => format!("waiting until {} (process {pid})", figures::moment(until)),
            None => format!("running (process {pid})"),
        },
        RunStatus::Open if run.paused.is_some() => "paused; can be resumed".to_owned(),
        RunStatus::Open => "cut off; can be resumed".to_owned(),
        RunStatus::Held | RunStatus::Ended => sentence,
    }
}

fn next<L: LoopCommands>(run: &Run<L>, status: RunStatus, advised: Vec<Next>) -> Vec<Next> {
    match status {
        RunStatus::Running { .. } => {
            let command = format!("skilltune stop {}", run.plan.run);
            vec![Next { command, purpose: "stop it after its current steps" }]
        }
        RunStatus::Held | RunStatus::Open | RunStatus::Ended => advised,
    }
}

#[cfg(test)]
mod tests;
