//! `skilltune review`: reviews a change.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::review::{Plan, Review, Run};

use crate::casting;
use crate::loops::review::args::ReviewArgs;
use crate::loops::review::invocation::Invocation;
use crate::loops::review::machines::{self, Need, Planned};
use crate::loops::review::planning;
use crate::loops::review::ui::{aim, notes};
use crate::loops::start::{self, Planner, Ready, Sketched, Start, Starts};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::estimate::most_calls;
use crate::report::{ceilings, json as shared_json, words};
use crate::settings::proposed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::trust::pinned::{Pins, programs, scripts};
use crate::trust::{self, Named, TrustStore};

impl LoopArgs for ReviewArgs {
    fn run(self, env: &Environment, printer: Printer, _: OnRuns) -> Result<Exit, Complaint> {
        let start = Start::of(&self.run, self.trust, env, printer);
        start::start::<Review>(Invocation::new(&self, env, printer)?, &start)
    }
}

impl Starts for Review {
    type Invocation = Invocation;

    const PLAN: Planner<Self> = planning::plan;

    fn ready(mut invocation: Invocation, home: &Home, start: &Start<'_>) -> Result<Ready<Self>, Complaint> {
        agree(&mut invocation, start)?;
        invocation.common.pinned = ensure_trusted(&invocation, start)?;
        let sketch = start::plan::<Self>(&invocation, home, start.env, None)?;
        Ok(ControlFlow::Continue((invocation, sketch)))
    }

    fn missing(invocation: &Invocation, start: &Start<'_>) -> Vec<Complaint> {
        ensure_trusted(invocation, &start.unasked()).err().into_iter().collect()
    }

    /// An earlier review of the same folder shows what one costs.
    fn is_like(planned: &Plan, earlier: &Plan) -> bool {
        planned.task.root == earlier.task.root
    }

    fn sketch_text(run: &Run, sketched: &Sketched<'_>) -> String {
        let roles = &run.plan.roles;
        let mut lines = vec![aim(run), words::most_calls(sketched.most, roles), ceilings::line(run)];
        lines.extend(run.machine_lines());
        lines.extend(sketched.estimate.lines());
        lines.extend(notes(run).iter().map(|note| format!("note: {note}")));
        lines.join("\n")
    }

    fn sketch_json(run: &Run, sketched: &Sketched<'_>) -> Value {
        let task = &run.plan.task;
        let keys = json!({
            "subject": task.subject,
            "files": task.changed.iter().map(|changed| &changed.path).collect::<Vec<_>>(),
            "left_out": task.left_out,
            "parts": task.parts.len(),
            "reviewers": task.reviewers.iter().map(|one| &one.expert.name).collect::<Vec<_>>(),
            "machines": task.machines,
            "limits": ceilings::all(run),
            "most_calls": most_calls(sketched.most),
        });
        shared_json::sketch(run, &keys, sketched.estimate)
    }
}

/// Asks a person about the commands that were found and not set, and about those whose files the change alters.
fn agree(invocation: &mut Invocation, start: &Start<'_>) -> Result<(), Complaint> {
    let run = invocation.commands.run;
    let needs_person = |planned: &Planned| {
        let needs = planned.needs.as_ref().filter(|_| planned.machine.skipped.is_none());
        needs.is_some_and(|needs| machines::unattended(needs, run).is_some())
    };
    let open: Vec<String> =
        invocation.machines.iter().filter(|one| needs_person(one)).map(machines::question).collect();
    let Some(person) = start.person().filter(|_| !open.is_empty()) else {
        invocation.settle_unattended(run);
        return Ok(());
    };
    let head = "these commands look at a copy of the change before agents do";
    start.printer.warn(&proposed::shown(head, invocation.commands.confined, open));
    if !person.agree("Run these commands?")? {
        for planned in invocation.machines.iter_mut().filter(|one| needs_person(one)) {
            planned.machine.skipped = Some("you declined it".into());
        }
    }
    Ok(())
}

/// Ensures that a person trusts the agents, the experts and the commands that the project names. Returns the files that
/// the agents run.
fn ensure_trusted(invocation: &Invocation, start: &Start<'_>) -> Result<Vec<Pins>, Complaint> {
    let (env, store) = (start.env, TrustStore::new(start.env));
    let common = &invocation.common;
    let pinned = casting::ensure_trusted(&common.casting, &common.settings, env, None, start.consent())?;
    for (file, name) in &invocation.foreign {
        trust::ensure(file, &[], Named::Experts(std::slice::from_ref(name)), &store, start.consent())?;
    }
    let set = invocation
        .machines
        .iter()
        .filter(|one| one.needs == Some(Need::Trust) && one.machine.skipped.is_none());
    let commands: Vec<&Vec<String>> = set.map(|one| &one.machine.argv).collect();
    if let Some(file) = common.settings.project_file.as_ref().filter(|_| !commands.is_empty()) {
        let files = scripts(file, commands.iter().copied(), env)?;
        let names = programs(commands.iter().copied());
        trust::ensure(file, &files, Named::Programs(&names), &store, start.consent())?;
    }
    Ok(pinned.into_iter().collect())
}
