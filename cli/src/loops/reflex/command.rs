//! `skilltune reflex`: agrees on a task and starts a run.

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::loops::reflex::{Event, Plan, Record, Reflex, Run, Task};
use skilltune_phases::loops::{Loop as _, MostCalls};
use skilltune_phases::runs::plan::RunId;

use crate::args::runs::RunCommand;
use crate::loops::ask::Respondent;
use crate::loops::reflex::args::new::NewArgs;
use crate::loops::reflex::args::{ReflexArgs, ReflexCommand};
use crate::loops::reflex::invocation::Invocation;
use crate::loops::reflex::report::json;
use crate::loops::reflex::{context, planning, terms};
use crate::loops::{LoopArgs, LoopCommands as _, OnRuns};
use crate::report::estimate::Estimate;
use crate::report::ui::Ui as _;
use crate::report::{ceilings, words};
use crate::runs::ownership::Ownership;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::scope::Scope;
use crate::runs::{RunStatus, Runs, failure, session, strange};
use crate::settings::values::Streamed;
use crate::terminal::columns::{data_width, talk_width};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::figures::count;
use crate::text::plain;
use crate::text::width::wrapped;
use crate::trust::pinned::Pins;
use crate::trust::{self, Consent, Named, TrustStore};
use crate::{casting, progress};

impl LoopArgs for ReflexArgs {
    fn run(self, env: &Environment, printer: Printer, on_runs: OnRuns) -> Result<Exit, Complaint> {
        match self.command {
            ReflexCommand::New(args) => run(&args, env, printer),
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

fn run(args: &NewArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let invocation = Invocation::new(args, env)?;
    invocation.settings.overs().iter().for_each(|over| printer.talk(over));
    if args.run.only_shows() {
        let plan = sketch(&invocation, env)?;
        let most = Reflex::most_calls(&plan);
        let start = Record { seq: 0, at: Timestamp::UNIX_EPOCH, event: Event::Started(Box::new(plan)) };
        let run = Run::begin(&start).map_err(ours)?;
        // Each task is different, so all earlier runs of `reflex` here are used.
        let earlier = Runs::of(&invocation.project, env)?.like(|_| true);
        let estimate = Estimate::new(&run, &earlier, invocation.settings.calls.jobs.value);
        match (args.run.format, args.run.dry_run) {
            (Streamed::Human, false) => printer.data(&estimate.lines().join("\n")),
            (Streamed::Human, true) => printer.data(&plan_text(&run, &most, &estimate, data_width(env))),
            (Streamed::Json | Streamed::Jsonl, _) => {
                printer.json(&json::sketch(&run, &most, &estimate).to_string())
            }
        }?;
        return Ok(Exit::Reached);
    }
    let person = Person::present(env).filter(|_| !args.run.yes);
    if person.is_none() && !args.run.yes {
        printer.talk(&terms_lines(&sketch(&invocation, env)?, talk_width(env)).join("\n"));
        return Err(Complaint::input("cannot ask you to confirm these criteria and limits: no terminal")
            .hint("pass --yes to confirm them"));
    }
    let pinned = ensure_trusted(&invocation, env, Consent::of(args.trust, person))?;
    let invocation = Invocation { pinned, ..invocation };
    mention(&invocation, env, printer);
    begin(args, &invocation, env, printer)
}

/// Asks for trust in a project's agents and in the commands of rules. Returns the files that they are, or read.
fn ensure_trusted(
    invocation: &Invocation,
    env: &Environment,
    consent: Consent<'_>,
) -> Result<Vec<Pins>, Complaint> {
    let of_agents = casting::ensure_trusted(&invocation.casting, &invocation.settings, env, None, consent)?;
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
    let Ok(runs) = Runs::of(&invocation.project, env) else { return };
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

fn begin(
    args: &NewArgs,
    invocation: &Invocation,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let home = Home::of(&invocation.project);
    let named = planning::name(invocation, Timestamp::now(), &Ownership::new(env))?;
    let id = named.1.clone();
    let went = drive(args, invocation, (&home, named), env, printer);
    let exit = failure::report::<Reflex, _>(went, args.run.format, &home, &id, printer)?;
    let person = Person::present(env).filter(|_| !args.run.yes);
    let scope = Scope { runs: Runs::of(&invocation.project, env)?, only: None, env, printer };
    Reflex::hand_over(&scope, &id, person)?;
    Ok(exit)
}

/// Drives the run from the first line of its journal until it ends or pauses.
fn drive(
    args: &NewArgs,
    invocation: &Invocation,
    (home, named): (&Home, (Alias, RunId)),
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    home.create().map_err(strange)?;
    let _in_use = home.hold().map_err(ours)?;
    let objects = Objects::at(home.objects());
    let context = context::store(&objects, &context::pages(&invocation.project, &invocation.context))?;
    let folder = home.run(&named.1);
    let plan = planning::plan(invocation, named, context, folder.root())?;
    let locks = session::lock(env, printer, &Reflex::targets(&plan), plan.run.as_str())?;
    if args.trust {
        casting::trust_for_run(&invocation.casting, &invocation.settings, env, &plan.run)?;
    }
    let begun = session::begin(env, home, plan, Vec::new(), &invocation.pinned)?;
    let reporter = progress::reporter(args.run.format, objects.clone(), env, printer);
    let options = RuntimeOptions::of(&invocation.casting, &invocation.settings, invocation.pinned.clone());
    let mut person = Respondent::<Reflex>::new(args.run.yes, objects, env, printer);
    session::drive(env, home, begun, locks, options, reporter, &mut person)
}

/// Makes the plan without writing anything, as shown by a dry run.
fn sketch(invocation: &Invocation, env: &Environment) -> Result<Plan, Complaint> {
    let home = Home::of(&invocation.project);
    let named = planning::name(invocation, Timestamp::now(), &Ownership::new(env))?;
    let folder = home.run(&named.1);
    planning::plan(invocation, named, None, folder.root())
}

/// Returns the terms as they are before rules are proposed, and a note that some will be.
fn terms_lines(plan: &Plan, width: usize) -> Vec<String> {
    let Task { criteria, setup, .. } = &plan.task;
    let mut lines = terms::lines(&plan.task, criteria, width);
    if let Some(bounds) = setup.proposals {
        let proposed =
            format!("and up to {} that the evaluator proposes for the task", count(bounds.most, "rule"));
        lines.extend(wrapped(&proposed, width, "  "));
    }
    lines
}

/// Returns the terms to agree on, and the upper limits of the run.
fn plan_text(run: &Run, most: &MostCalls, estimate: &Estimate, width: usize) -> String {
    let (plan, roles) = (&run.plan, &run.plan.roles);
    let mut lines = vec![format!("reflex {}: {}", plan.task.alias, plain::one_line(&plan.task.prompt))];
    lines.extend(terms_lines(plan, width));
    lines.push(words::most_calls(most, roles));
    lines.push(ceilings::line(run));
    lines.extend(estimate.lines());
    lines.extend(words::remarks(roles).iter().map(|remark| format!("note: {remark}")));
    lines.join("\n")
}
