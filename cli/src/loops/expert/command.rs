//! `skilltune expert`: lists experts, asks one, or drafts a new one.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::expert::{Expert, Plan, Run};

use crate::casting;
use crate::loops::expert::args::{ExpertArgs, ExpertCommand};
use crate::loops::expert::invocation::Invocation;
use crate::loops::expert::roster::Roster;
use crate::loops::expert::ui::{draft_file, head, notes, opening};
use crate::loops::expert::{convert, listed, planning};
use crate::loops::start::{self, Common, Planner, Ready, Sketched, Start, Starts};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::estimate::most_calls;
use crate::report::{ceilings, json as shared_json, words};
use crate::settings::values::{Format, Streamed};
use crate::terminal::columns::data_width;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::trust::pinned::Pins;
use crate::trust::{self, Named, TrustStore};

impl LoopArgs for ExpertArgs {
    fn run(self, env: &Environment, printer: Printer, _: OnRuns) -> Result<Exit, Complaint> {
        match (self.command, &self.ask.name) {
            (Some(ExpertCommand::New(args)), _) => {
                let start = Start::of(&args.play.run, args.play.trust, env, printer);
                start::start::<Expert>(Invocation::drafting(&args, env, printer)?, &start)
            }
            (Some(ExpertCommand::List { format }), _) => list(format, env, printer),
            (Some(ExpertCommand::Convert(args)), _) => convert::run(&args, env, printer),
            (None, None) => list(of_stream(self.ask.play.run.format), env, printer),
            (None, Some(name)) => {
                let start = Start::of(&self.ask.play.run, self.ask.play.trust, env, printer);
                start::start::<Expert>(Invocation::new(&self.ask, name, env, printer)?, &start)
            }
        }
    }
}

fn of_stream(format: Streamed) -> Format {
    match format {
        Streamed::Human => Format::Human,
        Streamed::Json | Streamed::Jsonl => Format::Json,
    }
}

fn list(format: Format, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let project = env.project_here();
    let roster = Roster::read(&project, &project, &crate::loops::settings(&project, env)?, env);
    match format {
        Format::Json => printer.json(&listed::json(&roster))?,
        Format::Human => {
            for line in listed::skipped(&roster) {
                printer.talk(&line);
            }
            printer.data(&listed::list(&roster, data_width(env)))?;
        }
    }
    Ok(Exit::Reached)
}

impl Starts for Expert {
    type Invocation = Invocation;

    const PLAN: Planner<Self> = planning::plan;

    fn ready(mut invocation: Invocation, home: &Home, start: &Start<'_>) -> Result<Ready<Self>, Complaint> {
        invocation.common.pinned = ensure_trusted(&invocation, start)?;
        let sketch = start::plan::<Self>(&invocation, home, start.env, None)?;
        Ok(ControlFlow::Continue((invocation, sketch)))
    }

    fn missing(invocation: &Invocation, start: &Start<'_>) -> Vec<Complaint> {
        ensure_trusted(invocation, &start.unasked()).err().into_iter().collect()
    }

    /// One call needs no estimate.
    fn prints_estimate(_: &Plan) -> bool {
        false
    }

    fn sketch_text(run: &Run, sketched: &Sketched<'_>) -> String {
        let mut lines = vec![
            opening(run).concat(),
            head(run),
            words::most_calls(sketched.most, &run.plan.roles),
            ceilings::line(run),
        ];
        lines.extend(sketched.estimate.lines());
        lines.extend(notes(run).iter().map(|note| format!("note: {note}")));
        lines.join("\n")
    }

    fn sketch_json(run: &Run, sketched: &Sketched<'_>) -> Value {
        let task = &run.plan.task;
        let keys = json!({
            "expert": task.expert.name,
            "origin": task.expert.origin,
            "digest": task.expert.digest,
            "task": task.task,
            "folder": task.reads,
            "file": draft_file(run),
            "limits": ceilings::all(run),
            "most_calls": most_calls(sketched.most),
        });
        shared_json::sketch(run, &keys, sketched.estimate)
    }
}

/// Ensures that a person trusts the agents and the expert that the project describes. Returns the files that the agents
/// run.
fn ensure_trusted(invocation: &Invocation, start: &Start<'_>) -> Result<Vec<Pins>, Complaint> {
    let Common { casting, settings, .. } = &invocation.common;
    let pinned = casting::ensure_trusted(casting, settings, start.env, None, start.consent())?;
    if let Some((file, what)) = &invocation.foreign {
        let named = Named::Experts(std::slice::from_ref(what));
        trust::ensure(file, &[], named, &TrustStore::new(start.env), start.consent())?;
    }
    Ok(pinned.into_iter().collect())
}
