//! `skilltune gan`: reads a brief and starts a run.

use std::ops::ControlFlow;

use serde_json::Value;
use skilltune_orchestrator::snapshot::Limits;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::gan::{Apply, Gan, Run};

use crate::casting;
use crate::loops::gan::args::GanArgs;
use crate::loops::gan::invocation::Invocation;
use crate::loops::gan::planning;
use crate::loops::gan::report::{json, words};
use crate::loops::start::{self, Common, Planner, Ready, Sketched, Start, Starts};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::{ceilings, words as shared_words};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain;

impl LoopArgs for GanArgs {
    fn run(self, env: &Environment, printer: Printer, _: OnRuns) -> Result<Exit, Complaint> {
        let start = Start::of(&self.run, self.trust, env, printer);
        start::start::<Gan>(Invocation::new(&self, env)?, &start)
    }
}

impl Starts for Gan {
    type Invocation = Invocation;

    const PLAN: Planner<Self> = planning::plan;

    fn ready(mut invocation: Invocation, home: &Home, start: &Start<'_>) -> Result<Ready<Self>, Complaint> {
        let env = start.env;
        ensure_proposable(&invocation, env)?;
        let Common { casting, settings, .. } = &invocation.common;
        let pinned = casting::ensure_trusted(casting, settings, env, None, start.consent())?;
        invocation.common.pinned = pinned.into_iter().collect();
        let sketch = start::plan::<Self>(&invocation, home, env, None)?;
        Ok(ControlFlow::Continue((invocation, sketch)))
    }

    fn missing(invocation: &Invocation, start: &Start<'_>) -> Vec<Complaint> {
        let git = ensure_proposable(invocation, start.env).err();
        git.into_iter().chain(start::agents_missing(&invocation.common, start)).collect()
    }

    /// Returns what would be built and judged, and the upper limits of the run.
    fn sketch_text(run: &Run, sketched: &Sketched<'_>) -> String {
        let (plan, task) = (&run.plan, &run.plan.task);
        let mut lines = vec![format!("gan {}: {}", words::subject(run), words::aim(run))];
        lines.push("criteria of the profile:".to_owned());
        lines.extend(task.asked.criteria.iter().map(|criterion| {
            let gate = if criterion.must_pass { " (must pass)" } else { "" };
            format!("  {}", plain::one_line(&format!("{}{gate}: {}", criterion.id, criterion.criterion)))
        }));
        if !task.given.sections.is_empty() {
            let sections = task.given.sections.join(", ");
            lines.push(plain::one_line(&format!("sections of the brief: {sections}")));
        }
        if !task.given.copy.is_empty() {
            let texts: Vec<&str> = task.given.copy.iter().map(|text| &*text.text).collect();
            lines.push(plain::one_line(&format!("given texts: {}", texts.join(" | "))));
        }
        lines.extend(words::machines(task));
        lines.push(words::planned_result(task));
        lines.push(shared_words::most_calls(sketched.most, &plan.roles));
        lines.push(ceilings::line(run));
        lines.extend(sketched.estimate.lines());
        lines.extend(words::notes(plan).iter().map(|remark| format!("note: {remark}")));
        lines.join("\n")
    }

    fn sketch_json(run: &Run, sketched: &Sketched<'_>) -> Value {
        json::sketch(run, sketched.most, sketched.estimate)
    }
}

const OTHERWISE: &str = "pass --apply auto to put the result into the folder itself";

/// Ensures that the result can become a commit, if it is to.
fn ensure_proposable(invocation: &Invocation, env: &Environment) -> Result<(), Complaint> {
    if let (Some(into), Apply::Propose(_)) = (&invocation.into, invocation.apply) {
        planning::require_proposable(into, Limits::default(), OTHERWISE, env)?;
    }
    Ok(())
}
