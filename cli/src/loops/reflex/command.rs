//! `skilltune reflex`: agrees on a task and starts a run.

use std::ops::ControlFlow;

use serde_json::Value;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::{Plan, Reflex, Run, Task};

use crate::args::runs::RunCommand;
use crate::casting;
use crate::loops::reflex::args::{ReflexArgs, ReflexCommand};
use crate::loops::reflex::invocation::Invocation;
use crate::loops::reflex::report::json;
use crate::loops::reflex::{planning, terms};
use crate::loops::start::{self, Common, Planner, Ready, Sketched, Start, Starts};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::{ceilings, words};
use crate::runs::{RunStatus, Runs};
use crate::settings::proposed;
use crate::terminal::columns::talk_width;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::figures::count;
use crate::text::plain;
use crate::text::width::wrapped;
use crate::trust::pinned::Pins;
use crate::trust::{self, Consent, Named, TrustStore};

impl LoopArgs for ReflexArgs {
    fn run(self, env: &Environment, printer: Printer, on_runs: OnRuns) -> Result<Exit, Complaint> {
        match self.command {
            ReflexCommand::New(args) => {
                let start = Start::of(&args.run, args.trust, env, printer);
                start::start::<Reflex>(Invocation::new(&args, env)?, &start)
            }
            ReflexCommand::Run(command) => on_runs(command, Some(Reflex::KIND), env, printer),
        }
    }

    fn on_runs(&self) -> Option<&RunCommand> {
        match &self.command {
            ReflexCommand::New(_) => None,
            ReflexCommand::Run(command) => Some(command),
        }
    }
}

impl Starts for Reflex {
    type Invocation = Invocation;

    const PLAN: Planner<Self> = planning::plan;

    fn ready(mut invocation: Invocation, home: &Home, start: &Start<'_>) -> Result<Ready<Self>, Complaint> {
        let (env, printer) = (start.env, start.printer);
        let sketch = |invocation: &Invocation| start::plan::<Self>(invocation, home, env, None);
        if start.person().is_none() && !start.yes {
            printer.warn(&terms_lines(&sketch(&invocation)?, talk_width(env)).join("\n"));
            return Err(Complaint::input("cannot ask you to confirm these criteria and limits: no terminal")
                .hint("pass --yes to confirm them"));
        }
        invocation.common.pinned = ensure_trusted(&invocation, env, start.consent())?;
        mention(&invocation, env, printer);
        let sketch = sketch(&invocation)?;
        Ok(ControlFlow::Continue((invocation, sketch)))
    }

    fn missing(invocation: &Invocation, start: &Start<'_>) -> Vec<Complaint> {
        ensure_trusted(invocation, start.env, start.unasked().consent()).err().into_iter().collect()
    }

    /// The terms that a person agrees to already name the limits.
    fn prints_estimate(_: &Plan) -> bool {
        false
    }

    /// Returns the terms to agree on, and the upper limits of the run.
    fn sketch_text(run: &Run, sketched: &Sketched<'_>) -> String {
        let (plan, roles) = (&run.plan, &run.plan.roles);
        let mut lines = vec![format!("reflex {}: {}", plan.task.alias, plain::one_line(&plan.task.prompt))];
        lines.extend(terms_lines(plan, sketched.width));
        lines.push(words::most_calls(sketched.most, roles));
        lines.push(ceilings::line(run));
        lines.extend(sketched.estimate.lines());
        lines.extend(words::remarks(roles).iter().map(|remark| format!("note: {remark}")));
        lines.join("\n")
    }

    fn sketch_json(run: &Run, sketched: &Sketched<'_>) -> Value {
        json::sketch(run, sketched.most, sketched.estimate)
    }
}

/// Asks for trust in a project's agents and in the commands of rules. Returns the files that they are, or read.
fn ensure_trusted(
    invocation: &Invocation,
    env: &Environment,
    consent: Consent<'_>,
) -> Result<Vec<Pins>, Complaint> {
    let Common { casting, settings, .. } = &invocation.common;
    let of_agents = casting::ensure_trusted(casting, settings, env, None, consent)?;
    let rules = invocation.rules_file.as_ref().filter(|rules| !rules.programs().is_empty());
    let of_rules = rules.map(|rules| {
        let (scripts, programs) = (rules.scripts(env)?, rules.programs());
        let store = TrustStore::new(env);
        trust::ensure(&rules.file, &scripts, Named::Programs(&programs), &store, consent)?;
        Ok::<_, Complaint>(Pins::of(&rules.file, scripts, env))
    });
    Ok(of_agents.into_iter().chain(of_rules.transpose()?).collect())
}

/// Mentions an unfinished run on the same task; the new run is a separate one.
fn mention(invocation: &Invocation, env: &Environment, printer: Printer) {
    let Ok(runs) = Runs::of(&invocation.common.project, env) else { return };
    let known = runs.ids(Some(Reflex::KIND)).into_iter().filter_map(|id| runs.load::<Reflex>(&id).ok());
    let mut left = known.filter(|known| {
        known.run.plan.task.prompt == invocation.prompt
            && matches!(runs.status(&known.run), RunStatus::Open | RunStatus::Held)
    });
    if let Some(left) = left.next() {
        let id = &left.run.plan.run;
        printer.talk(&format!(
            "an unfinished run of the same task exists; `skilltune resume {id}` continues it"
        ));
    }
}

/// Returns the terms as they are before rules are proposed, and a note that some will be.
fn terms_lines(plan: &Plan, width: usize) -> Vec<String> {
    let mut task = plan.task.clone();
    task.commands.run = proposed::in_effect(task.commands.run, plan.unattended);
    let Task { criteria, setup, .. } = &task;
    let mut lines = terms::lines(&task, criteria, width);
    if let Some(bounds) = setup.proposals {
        let proposed =
            format!("and up to {} that the evaluator proposes for the task", count(bounds.most, "rule"));
        lines.extend(wrapped(&proposed, width, "  "));
    }
    lines
}
