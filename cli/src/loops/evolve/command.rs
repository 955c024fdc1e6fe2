//! `skilltune evolve`: reads a specification, or has one drafted, and begins a run.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::{Evolve, Plan, Run};
use skilltune_phases::loops::expert::Expert;

use crate::casting;
use crate::loops::evolve::args::{EvolveArgs, EvolveCommand};
use crate::loops::evolve::invocation::{Invocation, listed};
use crate::loops::evolve::{again, drafting, planning, repeated, verify, words};
use crate::loops::gan::planning::require_proposable;
use crate::loops::start::{self, Planner, Ready, Sketched, Start, Starts};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::estimate::most_calls;
use crate::report::{ceilings, json as shared_json, words as shared_words};
use crate::runs::runtime_options::RuntimeOptions;
use crate::settings::proposed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::one_line;
use crate::trust::pinned::{Pins, programs, scripts};
use crate::trust::{self, Named, TrustStore};

impl LoopArgs for EvolveArgs {
    fn run(self, env: &Environment, printer: Printer, _: OnRuns) -> Result<Exit, Complaint> {
        let (invocation, flags) = match self.command {
            Some(EvolveCommand::Draft(args)) => {
                let start = Start::of(&args.play.run, args.play.trust, env, printer);
                return start::start::<Expert>(drafting::of_text(&args, &start)?, &start);
            }
            Some(EvolveCommand::Rerun(mut args)) => {
                // No answer of the earlier run is taken.
                args.flags.run.fresh = true;
                (Invocation::about(again::subject(&args, env, printer)?, &args.flags, env)?, args.flags)
            }
            Some(EvolveCommand::Verify(args)) => {
                let start = args.start(env, printer);
                return start::start::<Evolve>(verify::invocation(&args, env, printer)?, &start);
            }
            None => {
                let start = Start::of(&self.flags.run, self.flags.trust, env, printer);
                let given = self.spec.clone().map(ControlFlow::Continue);
                let spec = match given.map_or_else(|| drafting::agreed(&self, &start), Ok)? {
                    ControlFlow::Continue(spec) => spec,
                    ControlFlow::Break(exit) => return Ok(exit),
                };
                (Invocation::new(&self, &spec, env)?, self.flags)
            }
        };
        let start = Start::of(&flags.run, flags.trust, env, printer);
        start::start::<Evolve>(invocation, &start)
    }
}

impl Starts for Evolve {
    type Invocation = Invocation;

    const PLAN: Planner<Self> = planning::plan;

    fn ready(mut invocation: Invocation, home: &Home, start: &Start<'_>) -> Result<Ready<Self>, Complaint> {
        if invocation.verify.is_some() {
            verify::agree(&mut invocation, start)?;
            ensure_commands_trusted(&invocation, start)?;
            let sketch = start::plan::<Self>(&invocation, home, start.env, None)?;
            return Ok(ControlFlow::Continue((invocation, sketch)));
        }
        ensure_proposable(&invocation, start)?;
        agree(&mut invocation, start)?;
        invocation.common.pinned = ensure_trusted(&invocation, start)?;
        let sketch = start::plan::<Self>(&invocation, home, start.env, None)?;
        Ok(ControlFlow::Continue((invocation, sketch)))
    }

    fn missing(invocation: &Invocation, start: &Start<'_>) -> Vec<Complaint> {
        let start = &start.unasked();
        if invocation.verify.is_some() {
            return ensure_commands_trusted(invocation, start).err().into_iter().collect();
        }
        let (git, trust) = (ensure_proposable(invocation, start), ensure_trusted(invocation, start));
        git.err().into_iter().chain(trust.err()).collect()
    }

    /// An earlier run of the same specification on the same folder shows what one costs.
    fn is_like(planned: &Plan, earlier: &Plan) -> bool {
        let of = |plan: &Plan| plan.task.verify.is_some();
        of(planned) == of(earlier)
            && (&planned.task.root, &planned.task.name) == (&earlier.task.root, &earlier.task.name)
    }

    /// Without an agent, there is nothing to estimate.
    fn prints_estimate(plan: &Plan) -> bool {
        plan.task.verify.is_none()
    }

    fn sketch_text(run: &Run, sketched: &Sketched<'_>) -> String {
        let (plan, task) = (&run.plan, &run.plan.task);
        if task.verify.is_some() {
            return repeated::sketch(run);
        }
        let mut lines = vec![one_line(&format!("evolve {}: {}", task.name, words::aim(run)))];
        lines.push("criteria:".to_owned());
        lines.extend(task.spec.criteria.iter().map(|one| {
            let check = one.check.as_ref().map(|argv| format!(" (check: {})", argv.join(" ")));
            format!("  {}", one_line(&format!("{}: {}{}", one.id, one.text, check.unwrap_or_default())))
        }));
        let set = task.set.iter();
        lines.extend(set.map(|set| one_line(&format!("{}: {}", set.stage.word(), set.argv.join(" ")))));
        lines.push(shared_words::most_calls(sketched.most, &plan.roles));
        lines.push(ceilings::line(run));
        lines.extend(sketched.estimate.lines());
        lines.extend(words::notes(plan).iter().map(|note| format!("note: {note}")));
        lines.join("\n")
    }

    fn sketch_json(run: &Run, sketched: &Sketched<'_>) -> Value {
        let task = &run.plan.task;
        let keys = json!({
            "name": task.name,
            "specification": task.file,
            "folder": task.root,
            "criteria": task.spec.criteria,
            "constraints": task.spec.constraints,
            "plan": task.plan,
            "plan_only": task.plan_only,
            "commands": task.set,
            "finds_commands": task.finds,
            "checks": task.checks,
            "oracles": task.has_oracles,
            "strength": task.has_strength,
            "control": task.has_control,
            "tools": words::tools(task),
            "apply": words::apply(task.apply),
            "rules": task.rules,
            "limits": ceilings::all(run),
            "most_calls": most_calls(sketched.most),
        });
        shared_json::sketch(run, &keys, sketched.estimate)
    }
}

const OTHERWISE: &str =
    "pass --apply never to leave the result in the run, or --apply tree to write it into the folder";

/// Asks a person about the commands that are found and not set. Without a person they do not run. Fails if no command may.
fn agree(invocation: &mut Invocation, start: &Start<'_>) -> Result<(), Complaint> {
    if let (None, Some(person)) = (invocation.finds, start.person()) {
        invocation.finds = Some(person.agree(question(invocation, start))?);
    }
    invocation.finds = invocation.finds.or(Some(false));
    invocation.require_commands()
}

/// Shows the commands that were found, and returns the question about them.
fn question(invocation: &Invocation, start: &Start<'_>) -> &'static str {
    let head = "these commands were found, and run after each layer of tasks; tasks may add others and change what they do";
    let confined = invocation.checks.confined;
    if invocation.found.is_empty() {
        start.printer.warn(&proposed::shown("no command was found yet; tasks may add some", confined, []));
        "Run the commands that are found later?"
    } else {
        let found = invocation.found.iter().map(listed);
        start.printer.warn(&proposed::shown(head, confined, found));
        "Run these commands?"
    }
}

/// Ensures that the result can become commits, if it is to.
fn ensure_proposable(invocation: &Invocation, start: &Start<'_>) -> Result<(), Complaint> {
    if let (false, Apply::Propose(_)) = (invocation.plan_only, invocation.apply) {
        let limits = RuntimeOptions::artifacts(&invocation.common.settings);
        require_proposable(&invocation.root, limits, OTHERWISE, start.env)?;
    }
    Ok(())
}

/// Ensures that a person trusts the agents and the commands that the project names. Returns the files that the agents
/// run.
fn ensure_trusted(invocation: &Invocation, start: &Start<'_>) -> Result<Vec<Pins>, Complaint> {
    let (env, store) = (start.env, TrustStore::new(start.env));
    let settings = &invocation.common.settings;
    let pinned = casting::ensure_trusted(&invocation.common.casting, settings, env, None, start.consent())?;
    for (file, name) in &invocation.advisers.foreign {
        trust::ensure(file, &[], Named::Experts(std::slice::from_ref(name)), &store, start.consent())?;
    }
    ensure_commands_trusted(invocation, start)?;
    Ok(pinned.into_iter().collect())
}

/// Ensures that a person trusts the commands that the project's settings name.
fn ensure_commands_trusted(invocation: &Invocation, start: &Start<'_>) -> Result<(), Complaint> {
    let (env, store) = (start.env, TrustStore::new(start.env));
    let settings = &invocation.common.settings;
    let set = invocation.set.iter().filter(|_| !invocation.plan_only);
    let theirs = set.filter(|one| settings.commands.of(one.stage).origin.is_projects());
    let setup = invocation.setup.iter().filter(|_| !invocation.plan_only);
    let setup = setup.filter(|_| settings.commands.setup.origin.is_projects());
    let commands: Vec<&Vec<String>> = theirs.map(|one| &one.argv).chain(setup).collect();
    if let Some(file) = settings.project_file.as_ref().filter(|_| !commands.is_empty()) {
        let files = scripts(file, commands.iter().copied(), env)?;
        let names = programs(commands.iter().copied());
        trust::ensure(file, &files, Named::Programs(&names), &store, start.consent())?;
    }
    Ok(())
}
